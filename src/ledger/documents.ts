/**
 * The documents that mappings make for books that can be asked, one schema each. Everything is named by the codes that
 * people use there (party code, product code, account code, unit symbol); the connector turns codes into database ids.
 * Money and quantities are exact decimals; days are `YYYY-MM-DD` in the company's time zone.
 */
import { z } from "zod";
import { day, dayOrNone, decimal, decimalOrNone, text, textOrNone } from "./fields.ts";

/** A company of the platform as a party in the books; it is created when its code is not there yet. */
export const Party = z.object({
  code: text,
  name: text,
  /** The platform's UUID of the company, kept as an identifier of the party. */
  companyId: text,
});

/** `id` is the platform's UUID: what every document is found again by. */
const head = { id: text, number: text, party: Party };

const InvoiceLine = z.object({
  /** None for a charge without a product (freight, a fee). */
  product: textOrNone,
  /** The account of the line, by its code; none: the product's own, or the endpoint's default. */
  account: textOrNone,
  quantity: decimal,
  /** `gal`, `l`, `bbl`; none without a product. */
  unit: textOrNone,
  unitPrice: decimal,
  /** What the platform says the line comes to: it is compared, never corrected. */
  amount: decimal,
  /** With BOL, ticket, gross and net gallons, as people look for them. */
  description: text,
});

const InvoiceTax = z.object({
  /** The account it is booked on, by its code. */
  account: text,
  description: text,
  base: decimal,
  amount: decimal,
});

/** `type` `out`: we issued it; `in`: we must pay it. */
export const InvoiceDocument = z.object({
  ...head,
  type: z.enum(["out", "in"]),
  /** `paid` pays what no payment has covered; `void` cancels or credits; `disputed` leaves a note. */
  status: z.enum(["open", "paid", "disputed", "void"]),
  invoiceDate: day,
  dueDate: dayOrNone,
  paidDate: dayOrNone,
  /** With `void`: the day it became so, which dates its credit note. Requests of older versions lack it. */
  endedDate: day.optional(),
  description: textOrNone,
  lines: z.array(InvoiceLine).min(1),
  taxes: z.array(InvoiceTax),
  subtotal: decimal,
  tax: decimal,
  total: decimal,
});

/** A payment of an invoice that is in the books already, by their number for it. */
export const PaymentDocument = z.object({
  id: text,
  number: text,
  type: z.enum(["out", "in"]),
  /** The invoice's number in the books: what its link says. */
  invoice: text,
  /** The platform's UUID of the invoice: books that were restored may have given its number to another one. */
  invoiceId: textOrNone.default(null),
  amount: decimal,
  date: day,
  /** The number of the check or transfer, as the payer gave it: what a bank statement is matched by. None: it has none. */
  reference: textOrNone.default(null),
  description: text,
});

const OrderLine = z.object({
  product: text,
  quantity: decimal,
  unit: text,
  unitPrice: decimal,
  description: text,
});

/**
 * `taken-back`: it does not count on the platform (any more), and may have been booked before the store was lost. It is
 * looked for and never written; it has no lines.
 */
const TAKEN_BACK = "taken-back";

interface Counted {
  readonly status: string;
  readonly lines: readonly unknown[];
}
const hasLines = ({ status, lines }: Counted): boolean => status === TAKEN_BACK || lines.length > 0;
const noLines = { path: ["lines"], message: "has no lines" };

/** With `taken-back`: the platform's own word for it, for people. */
const platformStatus = text.optional();

/** `sale`: we sell; `purchase`: we buy. */
export const OrderDocument = z
  .object({
    ...head,
    type: z.enum(["sale", "purchase"]),
    status: z.enum(["draft", "confirmed", "cancelled", TAKEN_BACK]),
    platformStatus,
    date: dayOrNone,
    description: textOrNone,
    lines: z.array(OrderLine),
  })
  .refine(hasLines, noLines);

const ShipmentLine = z.object({
  product: text,
  /** Net gallons: the ones that are billed. */
  quantity: decimal,
  unit: text,
  grossGallons: decimalOrNone,
  netGallons: decimalOrNone,
  /** As on the ticket; the platform names no unit. */
  temperature: decimalOrNone,
  apiGravity: decimalOrNone,
});

/** `out`: to a customer, of a sale; `in`: from a supplier, of a purchase. */
export const ShipmentDocument = z
  .object({
    ...head,
    type: z.enum(["out", "in"]),
    status: z.enum(["waiting", "done", "cancelled", TAKEN_BACK]),
    platformStatus,
    /** The sale or purchase in the books, as its link says: `sale 12 platform:0b6f…`; none: a ticket without an order. */
    order: textOrNone,
    date: dayOrNone,
    reference: text,
    /** What has no field of its own: gross gallons, temperature, gravity, driver, terminal. */
    note: textOrNone,
    lines: z.array(ShipmentLine),
  })
  .refine(hasLines, noLines);

export type Party = z.infer<typeof Party>;
export type InvoiceDocument = z.infer<typeof InvoiceDocument>;
export type PaymentDocument = z.infer<typeof PaymentDocument>;
export type OrderDocument = z.infer<typeof OrderDocument>;
export type ShipmentDocument = z.infer<typeof ShipmentDocument>;
