/** Records as the ledger answers them. Money and quantities are exact; days are `YYYY-MM-DD`; stamps are UTC. */
import { z } from "zod";
import type { Facts } from "../../src/core/holdings.ts";
import {
  day,
  dayOrNone,
  decimal,
  decimalOrNone,
  text,
  textOrNone,
} from "../../src/ledger/documents.ts";

/** JSON numbers are read as decimals; these are counters. */
export const whole = decimal.transform((value) => Number(value.text));

/** Every record. `id`: the number that the ledger gave it. `seq`: its database id. */
const head = {
  id: text,
  seq: whole,
  /** Changes with every change. */
  version: text,
  /** The last change, UTC without a zone: `2026-11-21T09:10:11.425559`. */
  stamp: text,
  /** Who changed it last is not who made it. */
  touched: z.boolean(),
  /** The platform's id, where it came from there. */
  mark: textOrNone,
};

export const PartyRow = z.object({
  ...head,
  name: text,
  isCustomer: z.boolean(),
  isSupplier: z.boolean(),
  email: textOrNone,
  active: z.boolean(),
});

const Line = z.object({
  product: textOrNone,
  account: text,
  quantity: decimal,
  unit: textOrNone,
  unitPrice: decimal,
  amount: decimal,
  text: text,
});

/** A customer invoice or a supplier's bill. */
export const InvoiceRow = z.object({
  ...head,
  state: z.enum(["draft", "posted", "paid", "cancelled"]),
  /** The number that its issuer gave it. */
  reference: textOrNone,
  party: text,
  date: day,
  due: dayOrNone,
  order: textOrNone,
  disputed: z.boolean(),
  lines: z.array(Line),
  taxes: z.array(z.object({ account: text, text: text, base: decimal, amount: decimal })),
  untaxed: decimal,
  tax: decimal,
  total: decimal,
  open: decimal,
  paid: dayOrNone,
  payments: z.array(
    z.object({
      id: text,
      mark: textOrNone,
      amount: decimal,
      /** What it is where it is no money: `credit note C-7`. */
      instead: textOrNone.default(null),
    }),
  ),
});

export const PaymentRow = z.object({
  ...head,
  state: z.enum(["posted", "cancelled"]),
  side: z.enum(["sale", "purchase"]),
  /** The ledger's number of the invoice or bill. */
  document: text,
  party: text,
  date: day,
  amount: decimal,
  text: text,
});

/** A note on a record of any table, `document` its id. */
export const NoteRow = z.object({ ...head, document: text, text });

export const PriceRow = z.object({
  ...head,
  list: text,
  product: text,
  price: decimalOrNone,
  unit: text,
});

export type PartyRow = z.infer<typeof PartyRow>;
export type InvoiceRow = z.infer<typeof InvoiceRow>;
export type PaymentRow = z.infer<typeof PaymentRow>;
export type PriceRow = z.infer<typeof PriceRow>;

/** How far a record has come, in the words of the floor. */
export const STATUSES = {
  draft: "draft",
  posted: "posted",
  paid: "settled",
  cancelled: "cancelled",
} as const;

/** What a record says, as it is compared and told. */
export function factsOf(currency: string, kind: "invoice" | "bill", row: InvoiceRow): Facts {
  const { id, reference, party, date, due, untaxed, tax, total, open, order, lines, taxes } = row;
  const side = kind === "invoice" ? "sale" : "purchase";
  return {
    number: id,
    party,
    days: { date, due },
    money: { untaxed, tax, total, open },
    words: { side, currency, reference, order },
    lines,
    taxes: taxes.map(({ account, ...one }) => ({ code: account, ...one })),
  };
}
