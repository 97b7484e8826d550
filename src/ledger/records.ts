/**
 * What is read from books that can be asked, one schema each: a change's text is one of these as JSON. Codes and symbols
 * stand in place of database ids; money and quantities have the digits that the books keep; days are `YYYY-MM-DD`, as
 * they stand there. What the books leave empty is null, never "".
 *
 * A change's id is the code, the invoice's id, or `list|product`: what links are kept by, and what the sinks answer with.
 */
import { z } from "zod";
import { day, dayOrNone, decimal, decimalOrNone, text, textOrNone } from "./fields.ts";

/** A party with its first address. Its change's id is the code. */
export const PartyRecord = z.object({
  code: text,
  name: text,
  isCustomer: z.boolean(),
  isSupplier: z.boolean(),
  /** The platform's UUID of the company, from the party's identifiers; none: the platform has not told us of it. */
  companyId: textOrNone,
  email: textOrNone,
  phone: textOrNone,
  /** Lines of the street; the building's name is the first. */
  street: textOrNone,
  city: textOrNone,
  /** ISO 3166-2: `US-TX`. */
  state: textOrNone,
  zip: textOrNone,
  /** ISO 3166-1 alpha-2: `US`. */
  country: textOrNone,
  active: z.boolean(),
});

/** A line with an amount; titles, comments and subtotals are left out. */
const InvoiceLine = z.object({
  product: textOrNone,
  productName: textOrNone,
  description: textOrNone,
  quantity: decimalOrNone,
  /** The unit's symbol: `gal`, `l`, `bbl`. */
  unit: textOrNone,
  unitPrice: decimalOrNone,
  amount: decimal,
  account: textOrNone,
});

const InvoiceTax = z.object({
  description: text,
  account: textOrNone,
  base: decimal,
  amount: decimal,
});

/** A customer invoice that has its number. Its change's id is its `id`: its number may change. */
export const InvoiceRecord = z.object({
  number: text,
  /** The books' own id of it, which never changes; the number, where they have no other. */
  id: text,
  /** `out`; the platform takes none of the others. */
  type: text,
  /** `posted`, `paid`, `cancelled`; `deleted`: of the rest only the id is known. */
  state: text,
  reference: textOrNone,
  description: textOrNone,
  partyCode: text,
  /** The `companyId` of its party. */
  partyCompanyId: textOrNone,
  /** ISO 4217 */
  currency: text,
  invoiceDate: day,
  /** The last day on which a part of it falls due. */
  dueDate: dayOrNone,
  untaxed: decimal,
  tax: decimal,
  total: decimal,
  amountToPay: decimal,
  /** `reconciled`: the day of the last payment, once it is settled in full. */
  paidDate: dayOrNone,
  /** Settled by nothing but payments that the platform told us of: it knows already. */
  paidByPlatform: z.boolean(),
  /** What is paid of it while a part is open, less what the platform told us of; null: nothing. */
  paidByOthers: decimalOrNone.default(null),
  /** What settles it, or a part of it: `money`, or what else, in words (`credit note #34 of 500.00`; ADR 0082). */
  clearedBy: textOrNone.default(null).transform((said) => said ?? "money"),
  /** The platform's UUID of the invoice, when it came from there. */
  platformId: textOrNone,
  lines: z.array(InvoiceLine),
  taxes: z.array(InvoiceTax),
});

/** The price of one product in one price list. Its change's id is `list|product`. */
export const PriceRecord = z.object({
  /** The terminal, as people named the list. */
  list: text,
  product: text,
  price: decimal,
  /** The symbol of the unit that the price is for: `gal`, `l`, `bbl`. */
  unit: text,
});

export type PartyRecord = z.infer<typeof PartyRecord>;
export type InvoiceRecord = z.infer<typeof InvoiceRecord>;
export type PriceRecord = z.infer<typeof PriceRecord>;
