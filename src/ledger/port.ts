/**
 * What the driver works with (ADR 0015): one adapter per kind of document, which the tables of a connector make (table.ts,
 * goods.ts), and one table of the ERP's faults. An adapter looks and writes; it never decides whether a request is done.
 * Identifying, comparing, planning and answering are the driver's (driver.ts, plan.ts, goods.ts).
 */
import type { FaultCode } from "../core/faults.ts";
import type { Change, Surroundings } from "../core/contract.ts";
import type { Decimal } from "../core/decimal.ts";
import type { Refused } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import type { Day, Difference, Facts, Scope } from "../core/holdings.ts";
import type {
  InvoiceDocument,
  OrderDocument,
  Party,
  PaymentDocument,
  ShipmentDocument,
} from "./documents.ts";

/** One adapter each. The payment adapter takes both directions: what customers pay, and what we pay. */
export interface Documents {
  readonly invoice: InvoiceDocument;
  readonly bill: InvoiceDocument;
  readonly payment: PaymentDocument;
  readonly party: Party;
  readonly order: OrderDocument;
  readonly shipment: ShipmentDocument;
}
export type LedgerKind = keyof Documents;
/** Goods without an amount: goods.ts plans them. Of them `posted` is confirmed, or moved. */
export type GoodsKind = "order" | "shipment";

/** How far a document has come, lowest first. */
export const statuses = ["draft", "posted", "settled"] as const;
/** `cancelled` stands beside the others: void, reversed, credited in full. */
export type EntryStatus = (typeof statuses)[number] | "cancelled";

/** What this ERP can do with documents of one kind. */
export interface Capabilities {
  /** The statuses that the ERP has. Without `cancelled`, a person cancels. */
  readonly has: readonly EntryStatus[];
  /** The last status that our steps reach; `settled` through a payment. What lies above is the ERP's, or a person's. */
  readonly byUs: EntryStatus;
  /** False: we make drafts and a person posts them; what is posted is settled by us all the same. */
  readonly posts?: false;
  /**
   * Up to which status a field can be changed, by the field's name in the comparison (`days.due`, `order`, `lines`, or
   * `state`: whether it is disputed). A field that is left out can never be changed.
   */
  readonly amend: Readonly<Record<string, EntryStatus>>;
  /** Documents that one `create` or `advance` takes, all of them or none. */
  readonly atomic: number;
  /** `once`: one document per number, cancelled ones too. `per-party`: one per number and party, without those. */
  readonly numbered: "once" | "per-party";
  /** Of parties: none that a document names can be deleted. One that is gone was lost with books that were set back: it is made anew. */
  readonly kept?: true;
}

/** A document that is to be in the books. */
export interface Desired<K extends LedgerKind = LedgerKind> {
  readonly document: Documents[K];
  /** The record that these books would keep, without its state; empty with `refusal`. */
  readonly expected: Facts;
  /** Why these books cannot keep it as it is. Left out: they can. */
  readonly refusal?: Fault;
  /** What is written into the record, so that it is found again: the platform's id of it. */
  readonly mark: string;
  /** The platform's number. */
  readonly number: string;
  /** The party's code in these books: that of the document, or that of the party with the platform's id. Null: a payment. */
  readonly party: string | null;
  /** That party as it stands; null: it is not there, or the document has none. */
  readonly payer: Entry | null;
  /** Of a payment that is to be created: the invoice or bill that it pays, as it stands. */
  readonly on?: Entry;
  readonly target: EntryStatus;
  /** The target when it is disputed. */
  readonly disputed: boolean;
  /** What the link, or `create` in this send, calls it. */
  readonly binding: string | null;
  /** Until when it waits for its payments, ISO 8601 UTC; null: it is settled at once. */
  readonly until: string | null;
}

/** A payment on an invoice or bill that was not taken back. */
export interface PaymentOn {
  /** {@link Desired.mark} of the payment; null: it was not written by us. */
  readonly mark: string | null;
  readonly amount: Decimal;
  /** What people call it there: `#12`. */
  readonly id?: string;
  /** What it is where it is no money, as people call it: `credit note #34`, `write-off #7`. Left out, null: money. */
  readonly instead?: string | null;
  /** The two are not settled with each other yet. Left out: they are. */
  readonly isPending?: boolean;
}

/** A document as it stands in the books. */
export interface Entry<Native = unknown> {
  /** What links are kept by. Null: it is covered by another document (a payment by a settlement). */
  readonly id: string | null;
  /** What people call it there, where links call it by an id that nobody can look up. Left out: its id. */
  readonly called?: string;
  /** What links may call it besides: the id that it had as a draft. */
  readonly aliases?: readonly string[];
  /** {@link Desired.mark} as the record has it; null: the record has none. */
  readonly mark: string | null;
  /** The platform's number as the record has it; null: it has none. */
  readonly number: string | null;
  /** The party's code; null: none. */
  readonly party: string | null;
  readonly status: EntryStatus;
  /** The step to this status was begun and is not complete; the same step completes it. */
  readonly unfinished: boolean;
  /** Somebody else changed it. Null: these books do not tell; then it is never retracted. */
  readonly touched: boolean | null;
  /** We made it, whatever became of its mark. Left out: these books do not tell. */
  readonly made?: boolean;
  /** Fields that cannot be changed on this record, though {@link Capabilities.amend} lets us change them on others. */
  readonly fixed?: readonly string[];
  readonly disputed: boolean;
  /** Of an invoice or bill; none for other kinds. */
  readonly payments: readonly PaymentOn[];
  /** Of a payment: what of its amount pays nothing. Left out: all of one that names no document, else none. */
  readonly idle?: Decimal;
  /** Of a payment of several documents, what links call each of them. Left out: the facts say what it pays. */
  readonly pays?: readonly string[];
  /** Without state. What these books cannot show is left out; null is shown as empty. */
  readonly facts: Facts;
  /** The day it was settled in full; null: it is not. */
  readonly paid: Day | null;
  /** Of what is open: what people have ordered a bank to pay, which has not confirmed it. Left out: none. */
  readonly underWay?: Decimal;
  /** The ERP's version of the record; null: it keeps none. */
  readonly version: string | null;
  /** Of a party, what no change of its code changes, and {@link LedgerAdapter.get} takes too. Left out: nothing is. */
  readonly lasting?: string;
  /** What a source tells of it, where it was made in these books and a source reads its kind. */
  readonly change?: Change | null;
  /** With {@link Call.purpose} `inspection`: what people did to it beside its fields. One of `state` counts for that state. */
  readonly besides?: readonly Difference[];
  /** The ERP refused it after it had taken it. */
  readonly refusal?: Fault;
  /** Why the books cannot tell all of it (an amount without a rate of its currency). Left out: they can. */
  readonly untold?: Fault;
  /** Of an order or a delivery ticket. */
  readonly goods?: GoodsEntry;
  /** Database id, ETag or edit sequence: it goes back with a step and is never stored. */
  readonly native: Native;
}

/** What most entries have in common. */
export const PLAIN_ENTRY = {
  number: null,
  party: null,
  unfinished: false,
  touched: null,
  disputed: false,
  payments: [],
  paid: null,
  version: null,
} as const;

/** What sentences about an order or a ticket say, and what only these have. */
export interface GoodsEntry {
  /** What people call it there: `sale 12`. */
  readonly called: string;
  /** How far it is, in the ERP's own word: `processing`. */
  readonly state: string;
  /** Both, for the log: `sale 12 processing`. */
  readonly told: string;
  /** The link of the document names it, and it has no mark. */
  readonly bound?: boolean;
  /** Why one that a person entered cannot be ours: `is invoiced by Tryton itself`. */
  readonly stranger?: string;
  /** How a person makes it no document of ours any more: `platform:0b6f… out of its comment`. */
  readonly unmarking: string;
}

export interface Step<K extends LedgerKind = LedgerKind, Native = unknown> {
  readonly desired: Desired<K>;
  readonly entry: Entry<Native>;
  /** With `amended`: what is to be changed. */
  readonly differences: readonly Difference[];
}

/** `amended`: fields are changed. `retracted`: our own draft is deleted as if it had never been. */
export type StepTo = "amended" | "posted" | "cancelled" | "retracted";

/** What is done to the books in one exchange. `read`: for a source, an inspection or a reconciliation. */
export type Verb = "read" | "locate" | "create" | StepTo;

/** One exchange's surroundings. `key` is stable over resends. */
export interface Call {
  readonly key: string;
  readonly signal: AbortSignal;
  /** `delivery`: a send or its read-back. `inspection`: what people did besides is told as well. */
  readonly purpose: "delivery" | "inspection";
  /** Marks of what this send has created. */
  readonly made: ReadonlySet<string>;
}

/** What an ERP adds for one kind. Every method throws Refused or {@link LedgerError}, nothing else. */
export interface LedgerAdapter<K extends LedgerKind = LedgerKind, Native = unknown> {
  readonly can: Capabilities;
  /** Refuses, before a request is made of it, a document that can never be kept. Pure. @throws Refused */
  accept?(document: Documents[K]): void;
  /** The records that would be kept, in the order of their documents, without state; or why one cannot be kept. */
  expected(documents: readonly Documents[K][], call: Call): Promise<readonly (Facts | Refused)[]>;
  /** Everything that could be one of these, by mark, binding or number; the driver decides what is ours. */
  locate(desired: readonly Desired<K>[], call: Call): Promise<readonly Entry<Native>[]>;
  /** At most `atomic`. Their ids, null where the answer has none. The driver looks again before it believes them. */
  create(desired: readonly Desired<K>[], call: Call): Promise<readonly (string | null)[]>;
  /** One step for all. A step that does nothing may return: what counts is the next look. */
  apply(to: StepTo, steps: readonly Step<K, Native>[], call: Call): Promise<void>;
  /** Those that links call so, as they are now. */
  get(ids: readonly string[], call: Call): Promise<readonly Entry<Native>[]>;
  /** Those with one of these numbers, ours or the books'; of payments, those of documents with one of these numbers. */
  named(numbers: readonly string[], signal: AbortSignal): Promise<readonly Entry<Native>[]>;
  /** Everything in the scope after `from`, in pages; the position of a page resumes after it. */
  list(scope: Scope, from: string | null, signal: AbortSignal): AsyncIterable<EntryPage<Native>>;
  /**
   * Of payments: those of the party of {@link Desired.on}, from this day on, of which a part pays nothing. More may be told.
   * Left out: these books do not tell them.
   */
  idle?(desired: Desired<K>, since: Day, call: Call): Promise<readonly Entry<Native>[]>;
  /** Of payments. Left out: one that comes after its invoice was settled as one is for a person. */
  readonly covering?: Covering<K>;
}

/** Payments that are part of what was settled as one before they came: noted on the invoice, never booked (ADR 0010). */
export interface Covering<K extends LedgerKind = LedgerKind> {
  /** How much of an invoice's settlement the payments that are noted on it have taken up. */
  covered(invoice: Entry, call: Call): Promise<Decimal>;
  /** Notes each on its invoice ({@link Desired.on}); it is located afterwards, with the id null. */
  cover(desired: readonly Desired<K>[], call: Call): Promise<void>;
}

/** Of payments: they are posted when they are made, and no document of the platform takes one back. */
export const PAYMENTS: Pick<LedgerAdapter<"payment">, "can"> = {
  can: {
    has: ["posted", "cancelled"],
    byUs: "posted",
    amend: {},
    atomic: 1,
    numbered: "per-party",
  },
};

/** Of a document: we sell, or we buy. */
export const SIDES = ["sale", "purchase"] as const;
export type LedgerSide = (typeof SIDES)[number];

/** `out`: we issued it, delivered it, or were paid for it. */
export const sideOf = ({ type }: { readonly type: LedgerSide | "in" | "out" }): LedgerSide =>
  type === "sale" || type === "out" ? "sale" : "purchase";

/** Records as books show them, in the order of a list. */
export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly position: string;
  /** With the last page: how many the whole list has, where these books count. */
  readonly total?: number;
}

interface EntryPage<Native = unknown> extends Omit<RowPage<never>, "rows"> {
  readonly entries: readonly Entry<Native>[];
}

/**
 * `data`: this document is refused, for good. `configuration`: every document would be (`stop` says what stops).
 * `raced`: somebody was faster; look and plan again, and after some sends it is a person's. `busy`: nothing happened, later it may. `not-sent`: nothing left
 * this machine. `unknown`: it may have been carried out.
 */
export type ErrorSort = "data" | "configuration" | "raced" | "busy" | "not-sent" | "unknown";

export interface ErrorRow {
  /** All that is given must match. `text` is of the ERP's own message: where it has no code. */
  readonly when: {
    readonly status?: number;
    readonly code?: RegExp;
    readonly text?: RegExp;
    readonly verb?: Verb;
  };
  readonly sort: ErrorSort;
  /** Of the fault that people see, in kebab-case. */
  readonly code: FaultCode;
  /** What a person should do. */
  readonly next: string;
  /** What stops: with `configuration` for writers, and for readers with any sort. */
  readonly stop?: "credentials" | "scope";
  /** With `busy`: how long to wait, ms. */
  readonly waitMs?: number;
}

/** The books of one company. */
export interface Books {
  /** What people call them in a message: `the ledger`. */
  readonly name: string;
  readonly adapters: {
    readonly [K in Exclude<LedgerKind, "party">]?: LedgerAdapter<K>;
  } & {
    /** Where customers and vendors are two lists, one for each. */
    readonly party?: LedgerAdapter<"party"> | Readonly<Record<LedgerSide, LedgerAdapter<"party">>>;
  };
  /** First match wins. */
  readonly errors: readonly ErrorRow[];
  /** Of books that somebody else runs: where disturbances are told. */
  readonly service?: string;
  /** The longest time that a call may still run at the receiver after its answer was lost, ms. */
  readonly settleMs: number;
  /** How long a paid invoice waits for its payments where a flow brings them, ms; 0: it does not wait. */
  readonly settleAfterMs: number;
  /** More than is to pay settles the document, and the rest stays on the party's account. Left out: it is for a person. */
  readonly onAccount?: true;
  /** Of books that call us: they are here. @throws SourceUnavailable */
  readonly expect?: (signal: AbortSignal) => Promise<void>;
  readonly surroundings: Pick<Surroundings, "now" | "ignore" | "notebook">;
}

/** What every transport of an ERP throws. `phase` is what it can prove; the fault table sorts it. */
export class LedgerError extends Error {
  readonly phase: "not-sent" | "torn" | "answered";
  /** The protocol's status: of HTTP, a number. */
  readonly status: number | null;
  /** The ERP's own code. */
  readonly code: string | null;
  /** How long the ERP says to wait, ms; null: it does not say. */
  readonly waitMs: number | null;

  constructor(
    phase: LedgerError["phase"],
    message: string,
    more: {
      readonly status?: number;
      readonly code?: string | null;
      readonly waitMs?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = "LedgerError";
    this.phase = phase;
    this.status = more.status ?? null;
    this.code = more.code ?? null;
    this.waitMs = more.waitMs ?? null;
  }
}
