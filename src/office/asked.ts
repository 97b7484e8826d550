/** What the office is asked with. Each schema guards the daemon's interface, and its type is the one of the question. */
import { z } from "zod";
import type { Kind } from "../core/kinds.ts";
import { documentStates, orders } from "../core/record.ts";
import { dayBefore } from "../core/time.ts";

export const text = z.string().min(1).max(1000);
/** A calendar day of the company, and a month (`2026-10`). */
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);
const month = z.string().regex(/^\d{4}-\d{2}$/);

/** Who decides, and why: both are kept. */
export const Person = z.strictObject({ by: text, note: text });
export type Person = Readonly<z.infer<typeof Person>>;

/** The first of a day's month; of its first ten days that of the month before, which is being closed then. */
export const usualBegin = (day: string): string => `${dayBefore(day, 10).slice(0, 8)}01`;

/** Days are the company's, both included; null: from the usual begin ({@link usualBegin}), until today. `flow`: its kind of records alone. */
export const Reconciling = z.strictObject({
  from: text.nullable(),
  to: text.nullable(),
  flow: text.nullable(),
  by: text,
});
export type Reconciling = Readonly<z.infer<typeof Reconciling>>;

/** `from` and `to`: days, both included. `share`: percent of the month's requests that backfills may use, this one included. */
export const Backfilling = Person.extend({ flow: text, from: text, to: text, share: z.number() });
export type Backfilling = Readonly<z.infer<typeof Backfilling>>;

/** Percent of the month's requests that backfills may use unless somebody says otherwise. */
export const BACKFILL_SHARE = 5;

/**
 * `receiverId`: the receiver's id of the document, when the person found it there: both sides are linked. `amount`: what it
 * comes to there, where that is another amount than was sent: the person accepts it.
 */
export const Decision = Person.extend({ receiverId: text.optional(), amount: text.optional() });
export type Decision = Readonly<z.infer<typeof Decision>>;

/** `to`: null for nobody any more. */
export const Assignment = Person.extend({ to: text.nullable() });
export type Assignment = Readonly<z.infer<typeof Assignment>>;

/** `field`: members and places from 1: `lines.1.product`. */
export const Editing = z.strictObject({ field: text, value: z.string().max(1000) });
export type Editing = Readonly<z.infer<typeof Editing>>;

/** `cells`: by column; the key is the first column. What is left out stays empty. */
export const AddingRow = z.strictObject({
  table: text,
  cells: z.record(text, z.string().max(1000)),
});
export type AddingRow = Readonly<z.infer<typeof AddingRow>>;

/**
 * `text`: a number or its beginning, an id, a part of a party's code or name, an amount, a day, a month; null: all. `before`:
 * `next` of the page before. `party`: a part of its code or name. `month`: of its own day; `least`,
 * `most`: its amount. `state` left out: all but our own that came back. `order`: by default as what is asked for.
 */
export const Searching = z.strictObject({
  text: text.nullable(),
  before: text.nullable(),
  flow: text.optional(),
  state: z.enum([...documentStates, "all"]).optional(),
  party: text.optional(),
  month: month.optional(),
  least: text.optional(),
  most: text.optional(),
  order: z.enum(orders).optional(),
  limit: z.int().min(1).max(500).optional(),
});
export type Searching = Readonly<z.infer<typeof Searching>>;

/** Days: both included; null: from the first, until now. `after`: entries after this one; `people`: what people decided alone. */
export const AuditAsked = z.strictObject({
  from: day.nullable(),
  to: day.nullable(),
  after: z.int().min(0),
  people: z.boolean(),
});
export type AuditAsked = Readonly<z.infer<typeof AuditAsked>>;

/** An entry of the audit and its hash (SHA-256, hex). Who knows it finds out that the audit was changed or cut off before it. */
export const AuditHead = z.strictObject({ entry: z.int().min(1), hash: text });
export type AuditHead = Readonly<z.infer<typeof AuditHead>>;

/** Papers of days of the company, both included; null: as configured, and all. `party`: its id, or a part of its name or code. */
export const MatchAsked = z.strictObject({
  from: text.nullable(),
  to: text.nullable(),
  party: text.nullable(),
  direction: z.enum(["sale", "purchase"]).nullable(),
  by: text,
});

/** What a person makes of a finding: it stays so, it is claimed from the other party, or it is open again. */
export const FindingState = z.enum(["accepted", "disputed", "open"]);
/** A finding as a person saw it. */
export const SeenFinding = z.strictObject({ key: text, digest: text });

/** Stored records by number or id, or with `text` null the newest ones; `last`: how many at most. */
export const Sampling = z.strictObject({
  flow: text,
  text: text.nullable(),
  last: z.int().min(1).max(10_000),
});
export type Sampling = Readonly<z.infer<typeof Sampling>>;

/** Ids of the other side that one question may ask for. */
export const COUNTERPARTS_MAX = 2_000;

/** `side`: the one that asks, which the flow's records come from. */
export const Counterparts = z.strictObject({
  side: z.enum(["platform", "erp"]),
  asked: z
    .array(z.strictObject({ kind: text as unknown as z.ZodType<Kind>, id: text }))
    .max(COUNTERPARTS_MAX),
});
export type Counterparts = z.infer<typeof Counterparts>;

/** What a person did elsewhere, as it is written down. */
export const DoneElsewhere = z.enum([
  "user added",
  "user removed",
  "password changed",
  "logged in",
  "log-in failed",
]);
export type DoneElsewhere = z.infer<typeof DoneElsewhere>;
