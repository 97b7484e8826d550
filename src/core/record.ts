/** A record on its way through the engine: as its source tells it, and as a document that goes into a request. */
import type { FaultCode } from "./faults.ts";
import { Decimal } from "./decimal.ts";
import { type Json, parseExact, stringifyExact } from "./json.ts";
import type { Kind } from "./kinds.ts";

/** One record at one version, as its source told it. */
export interface Change {
  /** Stable in its source, 1 to 200 characters. */
  readonly id: string;
  /**
   * Orders the versions of a record: text that sorts by age (see `sortableInstant`). Null when the source keeps none;
   * then the order of arrival decides.
   */
  readonly version: string | null;
  /** The record as JSON text, every number with the digits its source wrote. */
  readonly text: string;
  /** Where a person finds it: `customers.csv line 12`. Not part of the record's content. */
  readonly origin?: string;
  /** Set when it could not be read whole: it is stored and quarantined, and the rest of the page goes on. */
  readonly fault?: Fault;
  /** Later versions of it that are over: their source has put them back. Left out: it does not say. */
  readonly takesBack?: readonly string[];
}

/** A mapped document on its way into a request. */
export interface Item {
  /** The number people know it by; with the sink's operation it is the natural key. */
  readonly number: string;
  /** What its source calls it (ERP code, platform id). */
  readonly id: string;
  /** Changes when, and only when, the content changes: it enters the idempotency key and file names. */
  readonly revision: string;
  readonly document: unknown;
  /** The id the receiver knows it by, when it has one already. */
  readonly counterpart: string | null;
  /** The bytes that brought it there last; null: they are not kept. Left out: it was never delivered, or a person linked it. */
  readonly delivered?: () => string | null;
  /**
   * Since when this document waits for what settles it, ISO 8601 UTC: another flow brings that to the same endpoint
   * (`settles` of its mapping). Left out: no flow does.
   */
  readonly settledSince?: string;
}

/** Why a record or document cannot go on. Shown to people: a code, a sentence, and the next action. */
export interface Fault<Code extends string = FaultCode> {
  /** Stable, kebab-case: what tests and scripts look for. */
  readonly code: Code;
  /** One sentence with the bad value in it. */
  readonly message: string;
  /** What a person should do about it. */
  readonly next: string;
  /** The field or column, in the words of the side it came from. */
  readonly field?: string;
  /**
   * What is wrong, as a sentence without any value of the record: faults with the same reason are one group. Left out: code
   * and field say it.
   */
  readonly reason?: string;
  /** The document that it waits for: `id` as the record names it. Left out: it waits for none. */
  readonly awaits?: { readonly kind: Kind; readonly id: string };
  /** The row of a cross-reference table that is missing. Left out: none is. */
  readonly lookup?: { readonly table: string; readonly key: string };
  /** Ids of what may be the same document, at its receiver or where it comes from: a person who retries says that none is. Left out: none. */
  readonly candidates?: readonly string[];
  /**
   * What the receiver made of it comes to, as digits, where that is another amount than was sent; the message has it, too. A
   * person who links the two names it. Left out: the amount is not what is wrong.
   */
  readonly amount?: string;
}

/**
 * What tells the faults of one flow and code apart when they are grouped, and never a value of the record: the kind that is
 * waited for, the missing row, else field and reason. Which row of a list a field is in (`lines[3].rate`, `lines.3.rate`) is
 * left out of it.
 */
export function groupKey({ awaits, lookup, field = "", reason = "" }: Fault): string {
  if (awaits !== undefined) return awaits.kind;
  if (lookup !== undefined) return `${lookup.table}\n${lookup.key}`;
  return `${field.replaceAll(/\[\d+\]|\.\d+(?=\.|$)/g, "")}\n${reason}`;
}

// The states of a delivery (one change on its way to one sink), and the moves between them.

export const deliveryStates = [
  /** Stored, and not mapped yet. */
  "pending",
  /** A request carries it. */
  "frozen",
  /** The receiver has it. */
  "delivered",
  /** Rightly not delivered: a draft, or nothing new for the receiver. */
  "skipped",
  /** Our own document, read back. */
  "echo",
  /** A person must act, or another document must come first. */
  "quarantined",
  /** A person has settled it by hand. */
  "resolved",
  /** A newer version of the record goes instead. */
  "superseded",
] as const;

/** What people choose documents by, as their deliveries stand: `pending` also while they are sent. */
export const documentStates = [
  "quarantined",
  "pending",
  "delivered",
  "skipped",
  "echo",
  "resolved",
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/**
 * Every move that the engine makes; each is written by `src/store/statements.ts`, and the store refuses all others by a
 * trigger. A change of this table needs a migration that makes the trigger anew.
 */
export const deliveryMoves: Readonly<Record<DeliveryState, readonly DeliveryState[]>> = {
  pending: ["frozen", "skipped", "echo", "quarantined", "superseded"],
  frozen: ["delivered", "quarantined", "pending", "superseded"],
  // Its wait ends; it is gone at its receiver, differs there, or is not finished there.
  delivered: ["pending", "quarantined"],
  skipped: ["pending", "quarantined"],
  echo: [],
  quarantined: ["pending", "delivered", "skipped", "resolved", "superseded"],
  // A person accepted a difference: both sides agree again, or differ in other values.
  resolved: ["delivered", "skipped", "quarantined"],
  // A read-back found that it had arrived after all.
  superseded: ["delivered"],
};

export const mayMove = (from: DeliveryState, to: DeliveryState): boolean =>
  from === to || deliveryMoves[from].includes(to);

// Corrections of single fields of a record. Pure: what was received is never changed, a copy of it is (ADR 0007).

export interface FieldCorrection {
  /** The way to a value, members and places from 1, as people see it: `lines.1.product`. */
  readonly field: string;
  /** What was received; null: the field was empty. */
  readonly was: string | null;
  readonly value: string;
}

export interface Leaf {
  readonly field: string;
  readonly value: null | boolean | number | string | Decimal;
}

/** Every single value of a record with the way to it; empty ones included. */
export function leavesIn(value: Json, way = ""): Leaf[] {
  if (isGroup(value))
    return Object.entries(value).flatMap(([name, one]) =>
      leavesIn(one as Json, joined(way, Array.isArray(value) ? String(Number(name) + 1) : name)),
    );
  return [{ field: way, value }];
}

/**
 * The text with every correction whose field still holds what was received when it was corrected; the text itself where
 * there is none. @throws SyntaxError when it is no JSON
 */
export function corrected(text: string, corrections: readonly FieldCorrection[]): string {
  if (corrections.length === 0) return text;
  const all = new Map(corrections.map((one) => [one.field, one]));
  return stringifyExact(written(parseExact(text), "", all));
}

function written(value: Json, way: string, all: ReadonlyMap<string, FieldCorrection>): Json {
  if (Array.isArray(value))
    return value.map((one: Json, at) => written(one, joined(way, String(at + 1)), all));
  if (isGroup(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        written(one as Json, joined(way, name), all),
      ]),
    );
  const one = all.get(way);
  return one !== undefined && one.was === value ? one.value : value;
}

/** What has members of its own: a group or a list. A Decimal is one value. */
export const isGroup = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !(value instanceof Decimal);

const joined = (way: string, name: string): string => (way === "" ? name : `${way}.${name}`);

/** How documents are sorted. `came`: the newest first; days and amounts from the last and the largest on; numbers and parties from A to Z. */
export const orders = ["came", "day", "amount", "number", "party"] as const;
export type Order = (typeof orders)[number];
