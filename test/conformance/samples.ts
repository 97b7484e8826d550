/** Bodies that the platform accepts, and the fields of part 2, written down a second time on purpose. */
import { randomUUID } from "node:crypto";
import type { Row } from "./support.ts";

export const nowhere = "99999999-9999-4999-8999-999999999999";

export const orderLine = (fields: Row = {}): Row => ({ product: "ULSD", gallons: 7500, ...fields });
export const order = (fields: Row = {}): Row => ({ lines: [orderLine()], ...fields });
export const ticket = (fields: Row = {}): Row => ({ bolNumber: "BOL-1", ...fields });
export const lineItem = (fields: Row = {}): Row => ({
  description: "ULSD delivered",
  rate: 2.5,
  gallons: 1000,
  ...fields,
});
export const invoice = (fields: Row = {}): Row => ({
  invoiceNumber: `INV-${randomUUID().slice(0, 8)}`,
  subtotal: 2500,
  total: 2500,
  lineItems: [lineItem()],
  ...fields,
});
export const price = (fields: Row = {}): Row => ({
  terminalId: "HOU-1",
  product: "ULSD",
  price: 2.4567,
  ...fields,
});
export const prices = (...items: Row[]): Row => ({
  prices: items.length === 0 ? [price()] : items,
});
export const freight = (fields: Row = {}): Row => ({
  originTerminalId: "HOU-1",
  destinationZip: "77002",
  product: "ULSD",
  gallons: 7500,
  ratePerMile: 3.25,
  distanceMiles: 100,
  ...fields,
});
export const freightRate = (connectionId: unknown, fields: Row = {}): Row => ({
  connectionId,
  ratePerMile: 3.25,
  ...fields,
});
export const party = (fields: Row = {}): Row => ({ name: "Bayou Trucking", ...fields });
export const terminal = (fields: Row = {}): Row => ({
  terminalCode: "T-76-TX-2780",
  name: "Houston",
  ...fields,
});

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Resource name → fields that are always in its answer. */
export const fields = {
  Order:
    words(`id companyId locationId status orderType pricingType urgency notes requirements requestedDate
    deliveryDate deliveryStart deliveryEnd carrierCompanyId maxRate bidDeadline loadingNumber lines createdAt updatedAt`),
  OrderLine:
    words(`id orderId product terminal supplierId gallons unit quantity unitCode rate buyPrice sellPrice
    loadingNumber lat lng productCode terminalCode`),
  PublicOrderNote: words("id orderId content authorName createdAt"),
  Invoice:
    words(`id companyId orderId invoiceNumber status subtotal tax total dueDate paidAt notes payerCompanyId
    contractNumber poNumber lineItems taxLines createdAt updatedAt`),
  InvoiceLineItem:
    words(`id invoiceId description product location spec bolNumber deliveryTicket carrier gallons
    grossGallons netGallons rate rackPrice margin amount deliveredDate`),
  InvoiceTaxLine: words(
    "id invoiceId taxType authority productRef rateDisplay rate gallons amount",
  ),
  Payment: words(
    `id invoiceId amount method reference processorChargeId status failureReason surchargeAmount paidAt`,
  ),
  RackPrice:
    words(`id companyId terminalId product price unit spread indexSource effectiveAt expiresAt createdAt
    updatedAt`),
  FreightQuote: words(
    "totalFreight distanceMiles ratePerMile fuelSurcharge additionalFees baseCost",
  ),
  Connection: words(
    `id fromCompanyId toCompanyId status message erpId paymentTerms creditLimit createdAt updatedAt`,
  ),
  ConnectionFreightRate:
    words(`id connectionId originTerminalId originCity originState destinationZipPrefix
    destinationZip destinationCity destinationState product notes ratePerMile flatFee minCharge fuelSurchargePercent
    distanceUnit effectiveAt customFees createdAt updatedAt`),
  DeliveryTicket:
    words(`id ticketNumber orderId supplierCompanyId receiverCompanyId status bolNumber driverName
    carrierCompanyName loadingTerminalName destinationName deliveryDate productLines createdAt updatedAt`),
  Location:
    words(`id companyId name locationType street city state zip gateCode country lat lng isActive contacts
    assets createdAt updatedAt`),
  Asset: words(
    `id locationId name assetType product capacity currentLevel unit fillMethod maxFillPct autoReorderPct`,
  ),
  SupplierTerminal:
    words(`id companyId terminalCode name city state zip country operatingHours lat lng products
    capacity isActive createdAt updatedAt`),
  Allocation:
    words(`id companyId connectionId terminalId product dailyAllocation weeklyAllocation monthlyAllocation
    dailyUsed weeklyUsed monthlyUsed period brand supplierId createdAt updatedAt`),
  CompanyProfile:
    words(`id name type dba phone website logoUrl billingStreet billingCity billingState billingZip
    createdAt`),
  NetworkParty: words("id name type connectionId connectionStatus"),
} as const;
