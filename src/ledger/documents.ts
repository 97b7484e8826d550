/**
 * The documents that mappings make for books that can be asked, one schema each. Everything is named by the codes that
 * people use there (party code, product code, account code, unit symbol); the connector turns codes into database ids.
 * Money and quantities are exact decimals; days are `YYYY-MM-DD` in the company's time zone.
 */
import { z } from "zod";
import { Decimal } from "../core/decimal.ts";
import { defined } from "../core/defined.ts";
import type { Facts, Holding, HoldingState } from "../core/holdings.ts";
import { parseExact } from "../core/json.ts";
import type { Change } from "../core/record.ts";

/* Fields that documents and records have in common. Nothing is empty text; what there is not is null. */

export const text = z.string().min(1);
export const textOrNone = text.nullable();
/** Money and quantities are exact. */
export const decimal = z.custom<Decimal>(
  (value) => value instanceof Decimal,
  "not an exact decimal",
);
export const decimalOrNone = decimal.nullable();
/** A small whole number, which is read as a decimal like every number. */
export const counter = decimal.transform(({ text: digits }) => Number(digits));
/** `YYYY-MM-DD` */
export const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, "not a day (YYYY-MM-DD)");
export const dayOrNone = day.nullable();

type Words<Names extends string> = Names extends `${infer One} ${infer Others}`
  ? One | Words<Others>
  : Names;

/** Members of one type, by their names: `city state zip`. */
export const members = <Type extends z.ZodType, const Names extends string>(
  type: Type,
  names: Names,
): { readonly [Name in Words<Names>]: Type } =>
  Object.fromEntries(names.split(" ").map((name) => [name, type])) as never;

/** What only some papers tell; left out is none. */
const textIfTold = textOrNone.optional();
const dayIfTold = dayOrNone.optional();
const decimalIfTold = decimalOrNone.optional();

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
  /** Who levies it, on which product (its code), and on how many US gallons at which rate, where the platform says so. */
  authority: textIfTold,
  product: textIfTold,
  gallons: decimalIfTold,
  rate: decimalIfTold,
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
  /** The customer's number of its purchase order (of a bill: ours), alone. */
  poNumber: textIfTold,
  /** The one place that all lines with a place were delivered to; none: several, or not told. */
  shipTo: textIfTold,
  /** What no field says: the contract. */
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
  /** Where it is loaded: the terminal's code on the platform, else its name; and the number that loads it there. */
  terminal: textIfTold,
  loadingNumber: textIfTold,
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
    /** The site's own code in the books (`sites.csv`, `ship_to`). None: where the party is. */
    shipTo: textIfTold,
    requestedDate: dayIfTold,
    deliveryDate: dayIfTold,
    /** The window of that day, in the words of the platform: `06:00`. */
    deliveryStart: textIfTold,
    deliveryEnd: textIfTold,
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
    /** What else moved: every bill of lading, from where to where, by whom; and the instant of it, where a time is told. */
    bolNumbers: z.array(text).optional(),
    terminal: textIfTold,
    destination: textIfTold,
    carrier: textIfTold,
    driver: textIfTold,
    deliveredAt: textIfTold,
    /** The same in words, with temperature and gravity: for books that have a note alone. */
    note: textOrNone,
    lines: z.array(ShipmentLine),
  })
  .refine(hasLines, noLines);

export type Party = z.infer<typeof Party>;
export type InvoiceDocument = z.infer<typeof InvoiceDocument>;
export type PaymentDocument = z.infer<typeof PaymentDocument>;
export type OrderDocument = z.infer<typeof OrderDocument>;
export type ShipmentDocument = z.infer<typeof ShipmentDocument>;

/*
 * What is read from books that can be asked, one schema each: a change's text is one of these as JSON. Codes and symbols
 * stand in place of database ids; money and quantities have the digits that the books keep; days are `YYYY-MM-DD`, as
 * they stand there. What the books leave empty is null, never "".
 *
 * A change's id is the code, the invoice's id, or `list|product`: what links are kept by, and what the sinks answer with.
 */

/** An address of a party, as a list of them tells it. */
const Address = z.object({
  building: textOrNone,
  street: textOrNone,
  city: textOrNone,
  /** ISO 3166-2: `US-TX`. */
  state: textOrNone,
  zip: textOrNone,
  country: textOrNone,
});

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
  /** What lists tell besides: a second number, in words when it pays, and addresses beside the first one. */
  mobile: textOrNone.optional(),
  paymentTerm: textOrNone.optional(),
  addresses: z.array(Address).optional(),
});

const InvoiceRecordLine = z.object({
  /** `line`; `comment`, `title` and `subtotal` have no amounts, and ledgers leave them out. Left out: `line`. */
  type: textOrNone.optional(),
  product: textOrNone,
  productName: textOrNone,
  description: textOrNone,
  quantity: decimalOrNone,
  /** The unit's symbol: `gal`, `l`, `bbl`. */
  unit: textOrNone,
  unitPrice: decimalOrNone,
  amount: decimalOrNone,
  account: textOrNone,
});

const InvoiceRecordTax = z.object({
  description: text,
  /** Of the tax itself, where the line of it has words of its own. Left out: the description names it. */
  name: textOrNone.optional(),
  account: textOrNone,
  base: decimalOrNone,
  amount: decimal,
  /** Who levies it, and on how many US gallons at which rate, where it is told. */
  authority: textIfTold,
  gallons: decimalIfTold,
  rate: decimalIfTold,
});

/** What a record says in `clearedBy` of an invoice that is settled by payments alone. */
export const MONEY = "money";

/** A customer invoice. Its change's id is its `id`: its number may change. */
export const InvoiceRecord = z.object({
  /** None: it is not posted yet. */
  number: textOrNone,
  /** The books' own id of it, which never changes; the number, where they have no other. */
  id: text,
  /** `out`; the platform takes none of the others. */
  type: text,
  /** `draft`, `validated`, `posted`, `paid`, `cancelled`; `deleted`: of the rest only the id is known. */
  state: text,
  reference: textOrNone,
  description: textOrNone,
  partyCode: text,
  partyName: textOrNone.optional(),
  /** The `companyId` of its party. */
  partyCompanyId: textOrNone,
  /** ISO 4217 */
  currency: text,
  /** None: it is not posted yet. */
  invoiceDate: dayOrNone,
  /** The last day on which a part of it falls due. */
  dueDate: dayOrNone,
  /** The same where a list tells every part. */
  dueDates: z.array(z.object({ due: dayOrNone })).optional(),
  comment: textOrNone.optional(),
  untaxed: decimal,
  tax: decimal,
  total: decimal,
  /** None: the list does not tell it. */
  amountToPay: decimalOrNone,
  /** `reconciled`: the day of the last payment, once it is settled in full. */
  paidDate: dayOrNone,
  /** Settled by nothing but payments that the platform told us of: it knows already. */
  paidByPlatform: z.boolean(),
  /** What is paid of it while a part is open, less what the platform told us of; null: nothing. */
  paidByOthers: decimalOrNone.default(null),
  /** What settles it, or a part of it: `money`, or what else, in words (`credit note #34 of 500.00`; ADR 0010). */
  clearedBy: textOrNone.default(null).transform((said) => said ?? MONEY),
  /** The platform's UUID of the invoice, when it came from there. */
  platformId: textOrNone,
  /** Null: the list does not tell them. */
  lines: z.array(InvoiceRecordLine).nullable(),
  taxes: z.array(InvoiceRecordTax).nullable(),
});

/** Is it settled with money alone? A person may say so by a correction (ADR 0007, 0010). */
export const isMoney = ({ clearedBy }: Pick<InvoiceRecord, "clearedBy">): boolean =>
  clearedBy.trim().toLowerCase() === MONEY;

/** The price of one product in one price list. Its change's id is {@link priceKey}. */
export const PriceRecord = z.object({
  /** The terminal, as people named the list. */
  list: text,
  product: text,
  price: decimal,
  /** The symbol of the unit that the price is for: `gal`, `l`, `bbl`. None: the table of products names it. */
  unit: textOrNone,
  /** The least quantity that the price holds for; none: any. */
  minQuantity: decimalOrNone.optional(),
  taxIncluded: z.boolean().nullable().optional(),
});

/** `list|product`, and from which quantity on it holds. */
export const priceKey = ({
  list,
  product,
  minQuantity,
}: Pick<PriceRecord, "list" | "product" | "minQuantity">): string =>
  `${list.trim()}|${product}${minQuantity ? `|from ${minQuantity.plain()}` : ""}`;

export type PartyRecord = z.infer<typeof PartyRecord>;
export type InvoiceRecord = z.infer<typeof InvoiceRecord>;
export type PriceRecord = z.infer<typeof PriceRecord>;

/* What a record of a whole list says, in the words of holdings. */

type Told = Pick<Holding, "facts" | "role" | "mark">;

/** What a record of a whole list says. `role`: of a party whose list is of one role; the codes of two lists may mean two firms. */
export function recordFacts(kind: "party" | "invoice", text: string): Told {
  const record = parseExact(text);
  if (kind === "invoice") {
    const invoice = InvoiceRecord.parse(record);
    return { facts: invoiceFacts(invoice), mark: invoice.platformId };
  }
  const { code, name, active, companyId, isCustomer, isSupplier } = PartyRecord.parse(record);
  return {
    mark: companyId,
    facts: { number: code, state: active ? "open" : "ended", words: { name } },
    ...(isCustomer === isSupplier ? {} : { role: isCustomer ? "customer" : "supplier" }),
  };
}

const STATES: Readonly<Record<string, HoldingState>> = {
  draft: "draft",
  validated: "draft",
  posted: "open",
  paid: "paid",
  cancelled: "ended",
};

function invoiceFacts(invoice: InvoiceRecord): Facts {
  const { number, partyCode, currency, invoiceDate, paidDate, untaxed, tax, total } = invoice;
  const isOtherwise = invoice.state === "paid" && !isMoney(invoice);
  const state = isOtherwise ? "settled" : STATES[invoice.state];
  const due = (invoice.dueDates ?? []).flatMap((one) => one.due ?? []).toSorted();
  const isOver = state === "paid" || state === "settled" || state === "ended";
  const open = invoice.amountToPay ?? (isOver ? Decimal.zero : null);
  return {
    ...defined({ number: number ?? undefined, state }),
    party: partyCode,
    days: {
      ...defined({ date: invoiceDate ?? undefined }),
      due: invoice.dueDate ?? due.at(-1) ?? null,
      paid: invoice.state === "paid" ? paidDate : null,
    },
    money: { untaxed, tax, total, ...defined({ open: open ?? undefined }) },
    words: { side: invoice.type === "in" ? "purchase" : "sale", currency },
  };
}

/** What is no price (a formula) shows its name only; its change says what is wrong with it. */
export function priceFacts(currency: string, { id, text }: Pick<Change, "id" | "text">): Facts {
  const number = id.replace(/\|([^|]*)$/, " $1");
  const record = PriceRecord.safeParse(parseExact(text));
  if (!record.success) return { number };
  const { price, unit } = record.data;
  return { number, money: { price }, words: { unit, currency } };
}
