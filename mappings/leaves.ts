/**
 * Fields that mappings leave out on purpose (`leaves` of a mapping), where several of them do so for the same reason.
 */

/** Ids that the platform gave to the parts of an invoice: lines are told by what they say. */
const PART_IDS = [
  "lineItems.id",
  "lineItems.invoiceId",
  "taxLines.id",
  "taxLines.invoiceId",
] as const;

/** What the seller paid and earns, which is not billed; and the tax rate once more, as text. */
const NOT_BILLED = ["lineItems.margin", "lineItems.rackPrice", "taxLines.rateDisplay"] as const;

/** Of an invoice that we issued. The issuer is our own company. */
export const ISSUED = ["companyId", ...PART_IDS, ...NOT_BILLED] as const;

/** Of an invoice that we must pay. The payer is our own company. */
export const PAYABLE = ["payerCompanyId", ...PART_IDS, ...NOT_BILLED] as const;

/**
 * Of an invoice in books: notes change after posting, and the booked text does not; a place and a specification have no
 * field; taxes are booked by their amount; `updatedAt` dates only what became void.
 */
export const NOT_BOOKED = [
  "notes",
  "orderId",
  "lineItems.location",
  "lineItems.spec",
  "taxLines.gallons",
  "taxLines.rate",
  "updatedAt",
] as const;

/** Of an order: how it is put out to bid and hauled stays on the platform; `lines.gallons` and `lines.unit` are older names. */
export const HAUL = [
  "bidDeadline",
  "lines.gallons",
  "lines.id",
  "lines.lat",
  "lines.lng",
  "lines.orderId",
  "lines.unit",
  "maxRate",
  "pricingType",
  "requirements",
] as const;

/** Of a payment: the ids and reasons of the card processor. */
export const PROCESSOR = ["processorChargeId", "failureReason"] as const;

/** Of an invoice of the platform: what no invoice of an ERP tells. */
export const NOT_INVOICED = [
  "contractNumber",
  "orderId",
  "lineItems.carrier",
  "lineItems.deliveredDate",
  "lineItems.deliveryTicket",
  "lineItems.grossGallons",
  "lineItems.location",
  "lineItems.netGallons",
  "lineItems.spec",
  "taxLines.authority",
  "taxLines.gallons",
  "taxLines.rate",
] as const;

/** Of a company of the platform: an ERP's party has no contact person by name, and no place on a map. */
export const NOT_A_PARTY = ["contactName", "lat", "lng"] as const;
