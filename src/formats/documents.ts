/**
 * The documents that an ERP imports from files, one schema each. Where their fields stand in a file is said by a profile;
 * the shipped one of each has every field. Platform ids stay beside ERP codes, so that either can be matched.
 */
import { z } from "zod";
import { sortableInstant } from "../core/keys.ts";
import { faultOfDay, namedDay } from "../core/time.ts";
import { decimal, decimalOrNone, members } from "../ledger/documents.ts";

const text = z.string();
const textOrNone = text.nullable();
export const instant = z
  .string()
  .refine((value) => sortableInstant(value) !== null, "not an ISO 8601 date-time with a zone");

/** An instant, or none, of which the file shows the calendar day in the company's time zone: when something happened. */
export const dayOfInstant = instant.nullable();
/** A day that people named (due, requested, delivered), or none: an instant whose midnight is that day (`namedDay`). */
export const dayNamed = z
  .string()
  .refine(
    (value) => sortableInstant(value) !== null || faultOfDay(value) === null,
    "not an ISO 8601 date-time with a zone",
  )
  .overwrite(namedDay)
  .nullable();

/** Every document begins with these. `version` is the platform's updatedAt: the greatest one of an id counts. */
const head = { id: text, number: text, version: instant, status: text };

const OrderLine = z.object({
  ...members(text, "item product"),
  ...members(textOrNone, "productCode terminal terminalCode supplierId"),
  quantity: decimal,
  unit: text,
  /** US gallons: the quantity where the unit is gallons, else none. Nothing is converted. */
  gallons: decimalOrNone,
  rate: decimal,
  ...members(decimalOrNone, "buyPrice sellPrice"),
  lineLoadingNumber: textOrNone,
});

export const OrderDocument = z.object({
  ...head,
  ...members(text, "orderType urgency companyId"),
  ...members(textOrNone, "locationId carrierId loadingNumber"),
  ...members(dayNamed, "requestedDate deliveryDate"),
  ...members(textOrNone, "deliveryStart deliveryEnd notes"),
  lines: z.array(OrderLine),
});

const TicketLine = z.object({
  ...members(text, "item product"),
  spec: textOrNone,
  ...members(decimalOrNone, "grossGallons netGallons"),
  /** As on the ticket; the platform names no unit. */
  ...members(decimalOrNone, "temperature apiGravity"),
});

const DeliveryTicketDocument = z.object({
  ...head,
  ...members(textOrNone, "orderId supplierId receiverId bolNumber"),
  deliveryDate: dayNamed,
  ...members(textOrNone, "driver carrier terminal destination"),
  lines: z.array(TicketLine),
});

const InvoiceLine = z.object({
  /** None for a charge without a product (freight, a fee): the description says what it is. */
  ...members(textOrNone, "item product"),
  description: text,
  spec: textOrNone,
  ...members(decimalOrNone, "gallons grossGallons netGallons rate"),
  amount: decimal,
  ...members(textOrNone, "bolNumber deliveryTicket location carrier"),
  deliveredDate: dayNamed,
});

/** The one place that all lines with a place were delivered to; null: there are several, or none is told. */
export function onlyPlace(lines: readonly { readonly location: string | null }[]): string | null {
  const [place, ...others] = new Set(lines.flatMap(({ location }) => location?.trim() || []));
  return others.length > 0 ? null : (place ?? null);
}

const InvoiceTax = z.object({
  ...members(text, "taxCode taxType"),
  ...members(textOrNone, "authority product"),
  ...members(decimalOrNone, "gallons rate"),
  amount: decimal,
});

const invoiceHead = {
  orderId: textOrNone,
  invoiceDate: dayOfInstant,
  dueDate: dayNamed,
  paidDate: dayOfInstant,
  ...members(textOrNone, "poNumber contractNumber"),
  ...members(decimal, "subtotal taxTotal total"),
  notes: textOrNone,
};
const invoiceBody = { lines: z.array(InvoiceLine), taxes: z.array(InvoiceTax) };

/** An invoice we issued: `customer` is the payer's account in the ERP, `payerId` the platform's name for it. */
export const CustomerInvoiceDocument = z.object({
  ...head,
  ...members(text, "customer payerId"),
  ...invoiceHead,
  ...invoiceBody,
});

/** An invoice we pay: `vendor` is the issuer's account in the ERP, `issuerId` the platform's name for it. */
export const SupplierInvoiceDocument = z.object({
  ...head,
  ...members(text, "vendor issuerId"),
  ...invoiceHead,
  ...invoiceBody,
});

/**
 * Each tax with the line that it is levied on, in the order of the lines: that of its product, with its gallons where there
 * are several; else the first line with a product, else the first. No amount is divided.
 */
export function taxesByLine({
  lines,
  taxes,
}: Pick<SupplierInvoiceDocument, "lines" | "taxes">): SupplierInvoiceDocument["taxes"][] {
  const of = taxes.map(({ product, gallons }) => {
    const own = lines.filter((line) => product !== null && line.product === product);
    const all = own.length > 0 ? own : lines.filter((line) => line.product !== null);
    return (
      all.find((line) => gallons !== null && line.gallons?.equals(gallons)) ?? all[0] ?? lines[0]
    );
  });
  return lines.map((line) => taxes.filter((_, at) => of[at] === line));
}

/** `HHMM` of a time of the day that people wrote (`6:00`, `06:00`, `0600`); null: it is none. */
export function hoursOf(text: string | null): string | null {
  const [, hours = "", minutes = ""] = /^(\d{1,2}):?(\d{2})$/.exec(text?.trim() ?? "") ?? [];
  const isTime = hours !== "" && Number(hours) < 24 && Number(minutes) < 60;
  return isTime ? hours.padStart(2, "0") + minutes : null;
}

/** A payment that went through, of an invoice that was delivered. Its `version` is the moment it was paid. */
export const PaymentDocument = z.object({
  ...head,
  /** `received`: of an invoice that we issued; `made`: of one that we pay. */
  direction: z.enum(["received", "made"]),
  invoiceId: text,
  paidDate: dayOfInstant,
  method: text,
  reference: textOrNone,
  amount: decimal,
  surcharge: decimalOrNone,
});

const unstated = { id: text, number: text, version: instant };

/** A rack price: `terminal` is the platform's name of it, `item` the ERP's code. `price` per `unit`, without tax. */
const RackPriceDocument = z.object({
  ...unstated,
  ...members(text, "terminal item product"),
  price: decimal,
  unit: text,
  /** Instants, as the platform wrote them. */
  effectiveAt: instant,
  expiresAt: instant.nullable(),
  indexSource: textOrNone,
});

const place = members(textOrNone, "city state zip country");
const position = members(decimalOrNone, "latitude longitude");

/** `number` is the terminal's code, `status` ACTIVE or INACTIVE. */
const TerminalDocument = z.object({
  ...head,
  name: text,
  ...place,
  ...position,
  operatingHours: textOrNone,
  /** As on the platform, which names no unit. */
  capacity: decimalOrNone,
});

const AssetLine = z.object({
  ...members(text, "assetId name assetType"),
  ...members(textOrNone, "item product"),
  /** In `unit`; percentages 0 to 100. */
  ...members(decimal, "capacity currentLevel"),
  unit: text,
  fillMethod: textOrNone,
  maxFillPercent: decimal,
  reorderPercent: decimalOrNone,
});

/** A site; `lines` are its tanks and other assets. */
const LocationDocument = z.object({
  ...head,
  ...members(text, "companyId name"),
  ...members(textOrNone, "locationType street"),
  ...place,
  gateCode: textOrNone,
  ...position,
  lines: z.array(AssetLine),
});

/** What a supplier grants at a terminal. Quantities as on the platform, which names no unit. */
const AllocationDocument = z.object({
  ...unstated,
  ...members(text, "companyId connectionId"),
  supplierId: textOrNone,
  ...members(text, "terminal item product"),
  brand: textOrNone,
  period: text,
  dailyAllocation: decimalOrNone,
  dailyUsed: decimal,
  weeklyAllocation: decimalOrNone,
  weeklyUsed: decimal,
  monthlyAllocation: decimalOrNone,
  monthlyUsed: decimal,
});

/** A connection that another company and we have, which did not come from the ERP. */
const ConnectionDocument = z.object({
  ...head,
  ...members(text, "fromCompanyId toCompanyId"),
  ...members(textOrNone, "message paymentTerms"),
  creditLimit: decimalOrNone,
});

export type OrderDocument = z.infer<typeof OrderDocument>;
type DeliveryTicketDocument = z.infer<typeof DeliveryTicketDocument>;
export type CustomerInvoiceDocument = z.infer<typeof CustomerInvoiceDocument>;
export type SupplierInvoiceDocument = z.infer<typeof SupplierInvoiceDocument>;
export type PaymentDocument = z.infer<typeof PaymentDocument>;

/** The status of a document that counts no more, or not yet; else "". What no file says of it is for a person. */
export const endedAs = ({ status }: { readonly status: string }): string =>
  ["VOID", "CANCELLED", "DRAFT"].includes(status) ? status : "";

/** What its receiver books: two files of one are two documents there, unless each says which version of which one it is. */
const BOOKED: ReadonlySet<DocumentName> = new Set([
  "orders",
  "delivery-tickets",
  "customer-invoices",
  "supplier-invoices",
  "payments",
]);
export const isBooked = (name: DocumentName): boolean => BOOKED.has(name);

/** By the name that the configuration and the file names use; the operation enters every key, and never changes. */
export const documents = {
  orders: { schema: OrderDocument, operation: "file.order.deliver" },
  "delivery-tickets": { schema: DeliveryTicketDocument, operation: "file.delivery-ticket.deliver" },
  "customer-invoices": {
    schema: CustomerInvoiceDocument,
    operation: "file.customer-invoice.deliver",
  },
  "supplier-invoices": {
    schema: SupplierInvoiceDocument,
    operation: "file.supplier-invoice.deliver",
  },
  payments: { schema: PaymentDocument, operation: "file.payment.deliver" },
  "rack-prices": { schema: RackPriceDocument, operation: "file.rack-price.deliver" },
  terminals: { schema: TerminalDocument, operation: "file.terminal.deliver" },
  locations: { schema: LocationDocument, operation: "file.location.deliver" },
  allocations: { schema: AllocationDocument, operation: "file.allocation.deliver" },
  connections: { schema: ConnectionDocument, operation: "file.connection.deliver" },
} as const;

export type DocumentName = keyof typeof documents;
