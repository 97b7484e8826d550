/** What is to be done next about a document, from what it should be and how it stands. Pure. */
import type { Decimal } from "../core/decimal.ts";
import type { Fault } from "../core/fault.ts";
import type { Difference, HoldingKind } from "../core/holdings.ts";
import {
  type LedgerKind,
  type Books,
  type GoodsKind,
  type Capabilities,
  type PaymentOn,
  statuses,
  type Entry,
  type Desired,
} from "./port.ts";
import { compare, inLines } from "./compare.ts";
import type { Identified, Identity } from "./identify.ts";
import { asked, type Question } from "./questions.ts";
import { holdingKindOf } from "./desired.ts";

export type Next =
  | { readonly do: "create" }
  | {
      readonly do: "amended";
      readonly entry: Entry;
      readonly differences: readonly Difference[];
    }
  | { readonly do: "posted" | "cancelled"; readonly entry: Entry }
  /** Our own draft is deleted; then it is refused with this fault. */
  | { readonly do: "retracted"; readonly entry: Entry; readonly fault: Fault }
  /** What is open is paid as one. */
  | { readonly do: "settle"; readonly entry: Entry; readonly amount: Decimal }
  /** As far as it can be brought. `until`: it waits for its payments until then, ISO 8601 UTC. */
  | { readonly do: "nothing"; readonly entry: Entry | null; readonly until: string | null }
  /** A person decides. */
  | { readonly do: "ask"; readonly question: Question | "not-kept"; readonly fault: Fault };

export interface Planning {
  readonly kind: Exclude<LedgerKind, GoodsKind>;
  readonly can: Capabilities;
  readonly books: Pick<Books, "name" | "surroundings">;
}

/** The first rule that fits counts (ADR 0032, 0040). Nothing is posted while it differs. */
export function plan(planning: Planning, desired: Desired, found: Identified): Next {
  const ask = (question: Question, more = ""): Next => ({
    do: "ask",
    question,
    fault: asked(planning, desired, question, more),
  });
  if (found.is === "several")
    return ask("twice", `: ${found.entries.map(({ id }) => id).join(" and ")}`);
  if (found.is === "taken") return ask(found.by.isCancelled ? "kept" : "taken", whose(found.by));
  if (found.is === "none") {
    if (desired.target === "cancelled") return nothing(null);
    const { refusal: fault } = desired;
    return fault === undefined ? { do: "create" } : { do: "ask", question: "not-kept", fault };
  }
  const { entry, by } = found;
  if (entry.refusal !== undefined)
    return { do: "ask", question: "refused-there", fault: entry.refusal };
  if (desired.target === "cancelled") return planCancel(planning, desired, entry, by, ask);
  if (entry.status === "cancelled") return ask("cancelled-there", called(entry));
  return planEntry(planning, desired, entry, by, ask);
}

type Ask = (question: Question, more?: string) => Next;

const nothing = (entry: Entry | null, until: string | null = null): Next => ({
  do: "nothing",
  entry,
  until,
});

/** Nothing is compared where the mark says that it is ours. */
function planCancel(
  planning: Planning,
  desired: Desired,
  entry: Entry,
  by: Identity,
  ask: Ask,
): Next {
  if (entry.status === "cancelled" && !entry.unfinished) return nothing(entry);
  const differences = by === "mark" ? [] : contentOf(planning, desired, entry);
  if (differences.length > 0) return ask("different", linesOf(planning, desired, differences));
  if (entry.status === "settled" || entry.payments.length > 0)
    return ask("paid-already", called(entry));
  if (!planning.can.has.includes("cancelled")) return ask("cancel-by-hand", called(entry));
  return { do: "cancelled", entry };
}

function planEntry(
  planning: Planning,
  desired: Desired,
  entry: Entry,
  by: Identity,
  ask: Ask,
): Next {
  const { can } = planning;
  const { status } = entry;
  const isDraft = status === "draft";
  const isPosting = posts(can);
  const differences = contentOf(planning, desired, entry);
  const amendable = differences.every(({ field }) => isAmendable(can, field, entry));
  const isOurs = by === "mark" && entry.touched !== true;
  if (isDraft && isPosting && !isOurs) return ask("draft-there", called(entry));
  if (!amendable) {
    const lines = linesOf(planning, desired, differences);
    const fault = asked(planning, desired, "would-differ", lines);
    if (isDraft && isPosting && entry.touched === false) return { do: "retracted", entry, fault };
    return ask(by === "mark" ? "differs" : "different", lines);
  }
  if (differences.length > 0) return { do: "amended", entry, differences };
  if (entry.unfinished) return { do: "posted", entry };
  if (isDraft && isPosting) return { do: "posted", entry };
  const dispute = disputeOf(planning, desired, entry);
  if (dispute.some(({ field }) => !isAmendable(can, field, entry)))
    return ask(by === "mark" ? "differs" : "different", linesOf(planning, desired, dispute));
  if (dispute.length > 0) return { do: "amended", entry, differences: dispute };
  // Our settlement is not taken back by machine: it may be matched with a bank statement already.
  if (desired.target === "posted" && isSettledByUs(desired, entry))
    return ask("settled-before", called(entry) + settledBy(desired, entry));
  if (status === "settled") return nothing(entry);
  return desired.target === "settled"
    ? planSettling(planning, desired, entry, ask)
    : nothing(entry);
}

/** Paid on the platform, and not in the books. */
function planSettling({ can, books }: Planning, desired: Desired, entry: Entry, ask: Ask): Next {
  const { until } = desired;
  // Nobody pays what the ERP has not taken yet.
  if (entry.status === "handed") return nothing(entry);
  if (until !== null && books.surroundings.now().toISOString() < until)
    return nothing(entry, until);
  if (entry.status === "draft") return ask("not-posted", called(entry));
  if (can.byUs !== "settled") return nothing(entry);
  const open = entry.facts.money?.open ?? null;
  // The state of a document may follow a little later than what paid it.
  if (open === null || open.sign === 0) return nothing(entry);
  if (isSettledByUs(desired, entry))
    return ask("settled-before", called(entry) + settledBy(desired, entry));
  if (!("paidDate" in desired.document) || desired.document.paidDate === null)
    return ask("no-paid-date", called(entry));
  const { total = open } = entry.facts.money ?? {};
  // Nobody has seen the money of a rest: it may be a credit note, a discount, or a payment that comes later.
  if (total !== null && !open.equals(total)) return ask("paid-in-part", partOf(entry, open, total));
  return { do: "settle", entry, amount: open };
}

const partOf = (entry: Entry, open: Decimal, total: Decimal): string => {
  const by = entry.payments.length === 0 ? "" : ` (${paymentsIn(entry.payments)})`;
  return `${called(entry)}: ${total.minus(open).fixed(2)} of ${total.fixed(2)} is settled there${by}, ${open.fixed(2)} is open`;
};

/** Every field that differs and that a step of ours would have to change: the content, and whether it is disputed. */
export function differencesOf(planning: Planning, desired: Desired, entry: Entry): Difference[] {
  return [...contentOf(planning, desired, entry), ...disputeOf(planning, desired, entry)];
}

/** Where these books can show it, and change it as far as the document has come. */
function disputeOf({ can }: Planning, { disputed }: Desired, entry: Entry): Difference[] {
  const isOver = entry.status === "settled" && !isAmendable(can, "state", entry);
  if (can.amend["state"] === undefined || isOver || disputed === entry.disputed) return [];
  const [expected, held] = disputed ? ["disputed", "open"] : ["open", "disputed"];
  return [{ field: "state", expected, held }];
}

function contentOf(planning: Planning, desired: Desired, { facts }: Entry): Difference[] {
  const { refusal, number, mark } = desired;
  if (refusal !== undefined)
    return [
      {
        field: "record",
        expected: number ?? mark,
        held: `cannot be compared: ${refusal.message}`,
      },
    ];
  const kind = kindOf(planning, desired);
  const ignore = planning.books.surroundings.ignore[kind] ?? [];
  return compare(kind, desired.expected, facts, { group: "content", ignore });
}

export const kindOf = ({ kind }: Pick<Planning, "kind">, { document }: Desired): HoldingKind =>
  holdingKindOf(kind, document);

/** A colon, and one line per field. */
const linesOf = (
  planning: Planning,
  desired: Desired,
  differences: readonly Difference[],
): string => `:\n${inLines(kindOf(planning, desired), differences, planning.books.name)}`;

/** Can a step of ours change this field on this record? */
export const isAmendable = (
  { amend }: Capabilities,
  field: string,
  { status, fixed }: Pick<Entry, "status" | "fixed">,
): boolean => {
  const upTo = amend[field] ?? amend[field.split(".")[0] ?? ""];
  return upTo !== undefined && !isBelow(upTo, status) && !(fixed?.includes(field) ?? false);
};

/** Do we post, or a person? */
export const posts = ({ byUs, posts }: Capabilities): boolean =>
  posts !== false && !isBelow(byUs, "posted");

const orderOf = (status: Entry["status"]): number =>
  status === "cancelled" ? statuses.length : statuses.indexOf(status);

export const isBelow = (status: Entry["status"], other: Entry["status"]): boolean =>
  orderOf(status) < orderOf(other);

/** The mark of the payment that settles an invoice as one. */
export const settlementMark = (invoice: string): string => `${SETTLEMENT}${invoice}`;
export const isSettlement = (mark: string): boolean => mark.startsWith(SETTLEMENT);
const SETTLEMENT = "settlement:";

export const settlementsOf = (invoice: string, { payments }: Entry): readonly PaymentOn[] =>
  payments.filter((one) => one.mark === settlementMark(invoice));

const isSettledByUs = ({ mark }: Pick<Desired, "mark">, entry: Entry): boolean =>
  settlementsOf(mark, entry).length > 0;

const settledBy = ({ mark }: Desired, entry: Entry): string =>
  `, by the payment ${paymentsIn(settlementsOf(mark, entry))}`;

/** `#12 of 20129.33, credit note #34 of 5.00` */
export const paymentsIn = (payments: readonly PaymentOn[]): string =>
  payments
    .map(({ id, amount, instead }) => {
      const name = instead ?? id;
      return (name === undefined ? "" : `${name} of `) + amount.fixed(2);
    })
    .join(", ");

const whose = ({
  id,
  mark,
}: {
  readonly id: string | null;
  readonly mark: string | null;
}): string => `: ${id ?? "in the same request"}${mark === null ? "" : `, platform id ${mark}`}`;

const called = ({ id }: Entry): string => (id === null ? "" : `: ${id}`);
