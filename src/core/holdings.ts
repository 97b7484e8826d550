/**
 * What a side holds now, in neutral words: what delivery, verification and reconciliation compare. A side tells facts of
 * its own records only; nobody remembers for another.
 */
import { Decimal } from "./decimal.ts";
import type { Change, Fault, Item } from "./record.ts";
import type { Json } from "./json.ts";
import type { HoldingKind } from "./kinds.ts";

export { type HoldingKind, holdingKinds } from "./kinds.ts";

/** Kinds without an amount: what counts of them is their lines, in gallons. */
export type GoodsHoldingKind = Extract<HoldingKind, "order" | "ticket">;
export const isGoodsHolding = (kind: HoldingKind): kind is GoodsHoldingKind =>
  kind === "order" || kind === "ticket";

const LITER = Decimal.of("0.264172");
/** As orders and prices of the platform and books write them. */
const GALLONS: Readonly<Record<string, Decimal>> = {
  gal: Decimal.one,
  liter: LITER,
  ltr: LITER,
  l: LITER,
  bbl: Decimal.of("42"),
};

/** Gallons of a unit, in any case of its letters; undefined: that cannot be told. */
export const gallonsIn = (unit: string): Decimal | undefined => GALLONS[unit.toLowerCase()];

/**
 * `draft`: not issued, not posted; of goods, not confirmed and not moved. `posted`: of goods, confirmed or moved. `paid`:
 * settled with money. `settled`: not with money alone, but with a credit, a write-off (ADR 0010). `ended`: void, cancelled,
 * credited in full, taken back.
 */
export type HoldingState = "draft" | "posted" | "open" | "paid" | "settled" | "disputed" | "ended";

/** By the statuses of the platform's invoices. */
export const INVOICE_STATES = {
  DRAFT: "draft",
  OUTSTANDING: "open",
  OVERDUE: "open",
  PAID: "paid",
  DISPUTED: "disputed",
  VOID: "ended",
} as const satisfies Readonly<Record<string, HoldingState>>;

/** The same of its orders: until it is confirmed an order is the platform's alone. */
export const ORDER_STATES = {
  DRAFT: "draft",
  POSTED: "draft",
  BIDDING: "draft",
  ASSIGNED: "draft",
  CONFIRMED: "posted",
  IN_TRANSIT: "posted",
  DELIVERED: "posted",
  PENDING_VERIFICATION: "posted",
  INVOICED: "posted",
  CANCELLED: "ended",
} as const satisfies Readonly<Record<string, HoldingState>>;

/** And of its delivery tickets. */
export const TICKET_STATES = {
  DRAFT: "draft",
  ISSUED: "draft",
  SIGNED: "posted",
  VOID: "ended",
} as const satisfies Readonly<Record<string, HoldingState>>;

/** `YYYY-MM-DD` in the company's calendar. */
export type Day = string;

/** `date`: of the document; `paid`: settled in full; `effective`: a price's. */
const dayNames = ["date", "due", "paid", "effective"] as const;
/** In the company's currency. `open`: still to pay; `price`: per unit, every digit counts. */
const moneyNames = ["untaxed", "tax", "total", "open", "amount", "price"] as const;
/**
 * `side`: `sale` or `purchase`. `reference`: the other side's number for it, a payment's check or transfer. `order`: PO
 * and contract. `document`: of a payment, what its side calls the invoice: by number, id or alias. `check`: of a payment, the number of its check or transfer,
 * where a field of its own has it. `name`, `address`: a party's. `notes`: text for people.
 */
const wordNames = [
  "side",
  "currency",
  "reference",
  "order",
  "document",
  "check",
  "unit",
  "name",
  "address",
  "notes",
] as const;

export interface FactLine {
  readonly product: string | null;
  /** Left out: this side keeps no accounts. */
  readonly account?: string | null;
  readonly quantity: Decimal | null;
  readonly unit: string | null;
  readonly unitPrice: Decimal | null;
  readonly amount: Decimal;
  readonly text?: string | null;
  /** What books group it by: `TERMINAL SA`. Left out: this side says nothing of it. */
  readonly dimensions?: string;
}

export interface FactTax {
  /** An account's code in books, a tax type on the platform. */
  readonly code: string;
  readonly amount: Decimal;
  /** Left out: this side keeps none. */
  readonly base?: Decimal;
  /** What it is called: two taxes may be booked on one account. Left out: this side has no words for it. */
  readonly text?: string;
}

/**
 * A record in the words of the side that holds it: its account, product and party codes, its calendar days. What a side
 * cannot show is left out and not compared; null is shown as empty.
 */
export interface Facts {
  readonly number?: string;
  /** A party's code in books, a company's id on the platform. */
  readonly party?: string | null;
  readonly state?: HoldingState;
  readonly days?: Readonly<Partial<Record<(typeof dayNames)[number], Day | null>>>;
  readonly money?: Readonly<Partial<Record<(typeof moneyNames)[number], Decimal | null>>>;
  readonly words?: Readonly<Partial<Record<(typeof wordNames)[number], string | null>>>;
  readonly lines?: readonly FactLine[];
  readonly taxes?: readonly FactTax[];
}

/** One field of which two sides say different things, each in words for people. */
export interface Difference {
  /** `party`, `days.due`, `lines.2.amount` */
  readonly field: string;
  /** What it should be: what the document maps to. */
  readonly expected: string;
  /** What is held. */
  readonly held: string;
  /** Why, without any value of the document: what is told of several at once. Left out: nobody says. */
  readonly reason?: string;
}

const PROGRESS: ReadonlySet<string> = new Set(["state", "money.open", "days.paid"]);
/** Does this field tell how far a document has come? It may have come further since it was sent. */
export const isProgress = ({ field }: Pick<Difference, "field">): boolean => PROGRESS.has(field);

/** Calendar days, both included. */
export interface Period {
  readonly from: Day;
  readonly to: Day;
}

/** A union: what is dated within, or changed since, or still open. A side may tell more, never less. */
export interface Scope {
  readonly dated: Period | null;
  /** ISO 8601 UTC. */
  readonly changedSince: string | null;
  readonly open: boolean;
  /**
   * It is asked before a document is sent for the first time: what other lists must be read for (what is still to pay) is left
   * out, and the request is paid as read-backs are.
   */
  readonly beforeSend?: true;
}

/** What a party is to us. */
export const roles = ["customer", "supplier"] as const;
export type Role = (typeof roles)[number];

export interface Holding {
  readonly kind: HoldingKind;
  /** What this side calls it: what links are kept by. */
  readonly id: string;
  /**
   * Of a party, where this side keeps a list for each role, whose codes mean nothing in the other: `000101` may be two
   * firms. Left out: one list has them all.
   */
  readonly role?: Role;
  /** Changes with every change of the record; null where the side keeps none. */
  readonly version: string | null;
  /** The other side's id of it, written in the record itself. */
  readonly mark: string | null;
  /** What links may call it besides: the id that it had as a draft. Left out: nothing. */
  readonly aliases?: readonly string[];
  /** Of a payment of several documents, what its side calls each of them. Left out: `facts.words.document` says what it pays. */
  readonly pays?: readonly string[];
  /** What a mapping takes, where this side's records of this kind are read by flows; null: they are not. */
  readonly change: Change | null;
  readonly facts: Facts;
  /** Why its side cannot tell all of it, and what to do: it is not compared. Left out: it can. */
  readonly untold?: Fault<string>;
}

/** What tells a record from all others of its kind on its side. */
export const identityOf = ({ id, role }: Pick<Holding, "id" | "role">): string =>
  role === undefined ? id : `${role} ${id}`;

/** What the party of a document or payment is to us; null: it names none, or does not say. */
export function partyRole({ kind, facts }: Pick<Holding, "kind" | "facts">): Role | null {
  if (kind === "party" || kind === "price") return null;
  if (isGoodsHolding(kind) && facts.words?.side === undefined) return null;
  const isBought = kind === "bill" || kind === "bill-payment" || facts.words?.side === "purchase";
  return isBought ? "supplier" : "customer";
}

export interface HoldingPage {
  readonly holdings: readonly Holding[];
  /** Where to resume once this page is kept. */
  readonly position: Json;
  /** How many records the whole list says it has; null: it does not say. */
  readonly total: number | null;
  /** The side's own clock, ISO 8601 UTC; null: it shows none. */
  readonly serverTime: string | null;
  /** Parts of the list that could not be read; left out: none. The rest is compared. */
  readonly lacking?: readonly Lacking[];
}

/** A part of a side's records that cannot be told now: a source of which no export has come. */
export interface Lacking {
  /** In words for people: `source "customers" (customers*.csv)`. */
  readonly what: string;
  readonly why: string;
  readonly next: string;
  /** Another part tells of the same records: none is missing. */
  readonly isTold: boolean;
}

/** `asked`: as it is now. `exported`: as of a file that was read. `remembered`: as we wrote it. */
export type Strength = "asked" | "exported" | "remembered";

/**
 * How a mapped document would look at its receiver, had it just been delivered; why that cannot be said; or why the receiver
 * rightly holds nothing of it.
 */
export type Expected =
  { readonly facts: Facts } | { readonly fault: Fault<string> } | { readonly skip: string };

/** An endpoint that can say what it holds. It writes nothing. */
export interface Holdings {
  /** Kinds that are left out cannot be told. */
  readonly strength: Readonly<Partial<Record<HoldingKind, Strength>>>;
  /**
   * Everything in the scope, and perhaps more, in any order; a record may come twice. `from`: a position of an earlier
   * page of the same scope, or null. @throws SourceUnavailable
   */
  list(
    kind: HoldingKind,
    scope: Scope,
    from: Json | null,
    signal: AbortSignal,
  ): AsyncIterable<HoldingPage>;
  /** These records as they are now; what is not there is left out. @throws SourceUnavailable */
  get(kind: HoldingKind, ids: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
  /**
   * Records of any day by what they are called: a document with one of these numbers or references, a payment of a
   * document that is called so. More may be told. Left out where every list tells all there is.
   * @throws SourceUnavailable
   */
  named?(
    kind: HoldingKind,
    numbers: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Holding[]>;
  /** One per item, in their order. @throws SourceUnavailable */
  expect(
    kind: HoldingKind,
    items: readonly Item[],
    signal: AbortSignal,
  ): Promise<readonly Expected[]>;
  /**
   * What parties owe by the ledger's control accounts, by party code: proves that `list` left nothing out. Left out
   * where a side keeps no ledger. @throws SourceUnavailable
   */
  control?(
    kind: "invoice" | "bill",
    signal: AbortSignal,
  ): Promise<readonly { readonly party: string; readonly open: Decimal }[]>;
}
