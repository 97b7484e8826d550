/**
 * Kinds of records: what both sides' ids name. Links, waits, requests and mappings keep one spelling of each, and stores
 * hold it: a name here is changed with a migration only. A new kind of record is one line here.
 */
import { foldedNumber } from "./keys.ts";

/**
 * Kinds of records that both sides hold. `ticket`: a delivery ticket; `party`: a customer or a supplier; `price`: a current
 * rack price.
 */
export const holdingKinds = [
  "invoice",
  "bill",
  "payment",
  "bill-payment",
  "order",
  "ticket",
  "party",
  "price",
] as const;
export type HoldingKind = (typeof holdingKinds)[number];

/**
 * Each kind, and what its records are called among holdings. Null: both sides hold no such record that could be compared
 * (notes of orders, signatures), or it is a state of another one (`invoice-payment`: a paid invoice).
 */
export const kinds = {
  invoice: "invoice",
  /** An invoice that another company issued and we pay. */
  bill: "bill",
  payment: "payment",
  "bill-payment": "bill-payment",
  "invoice-payment": null,
  customer: "party",
  supplier: "party",
  "rack-price": "price",
  /** A rack price that the platform shows, on its way to an ERP. */
  "platform-price": null,
  order: "order",
  "order-note": null,
  "delivery-ticket": "ticket",
  "ticket-signature": null,
  "freight-rate": null,
  "ended-freight-rate": null,
  "supplier-terminal": null,
  connection: null,
  location: null,
  allocation: null,
  /** What is written back for what was read (src/engine/pull.ts). */
  reply: null,
  /** The PDF of a document, attached to the booked one (attachment.ts): the document's kind and `-pdf`. */
  "invoice-pdf": null,
  "bill-pdf": null,
  "delivery-ticket-pdf": null,
} as const satisfies Record<string, HoldingKind | null>;

export type Kind = keyof typeof kinds;

/** What records of this kind are called among holdings; null: see {@link kinds}. */
export const holdingKindOf = (kind: Kind): HoldingKind | null => kinds[kind];

/** What is written to a record of another kind. */
const WRITTEN_TO: Readonly<Partial<Record<Kind, Kind>>> = {
  "order-note": "order",
  "ticket-signature": "delivery-ticket",
};

/** Does a feed of records of this kind show what was written? */
export const showsIn = (feed: Kind, written: Kind): boolean =>
  feed === (WRITTEN_TO[written] ?? written);

/** Documents that end the one of their id at its receiver, by the kind of that. */
export const ENDINGS: Readonly<Partial<Record<Kind, Kind>>> = {
  "freight-rate": "ended-freight-rate",
};

/** Documents have numbers that people write as they like; all other records have codes, which are told apart by their letters. */
const NUMBERED: ReadonlySet<Kind> = new Set([
  "invoice",
  "bill",
  "payment",
  "bill-payment",
  "invoice-payment",
  "order",
  "delivery-ticket",
  "ticket-signature",
]);

/** By what two records of this kind have one number. */
export const comparedNumber = (kind: Kind, number: string): string =>
  NUMBERED.has(kind) ? foldedNumber(number) : number;
