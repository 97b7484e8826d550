/** What is to be done next about a document, from what it should be and how it stands. Pure. */
import type { Decimal } from "../core/decimal.ts";
import type { Fault } from "../core/fault.ts";
import type { Difference, HoldingKind } from "../core/holdings.ts";
import {
  type BookKind,
  type Books,
  type GoodsKind,
  type Ladder,
  type PaymentOn,
  rungs,
  type Standing,
  type Wanted,
} from "./adapter.ts";
import { compare, inLines } from "./compare.ts";
import type { Identified, Identity } from "./identify.ts";
import { asked, type Question } from "./questions.ts";
import { holdingKindOf } from "./wanted.ts";

export type Next =
  | { readonly do: "create" }
  | {
      readonly do: "amended";
      readonly standing: Standing;
      readonly differences: readonly Difference[];
    }
  | { readonly do: "posted" | "cancelled"; readonly standing: Standing }
  /** Our own draft is deleted; then it is refused with this fault. */
  | { readonly do: "retracted"; readonly standing: Standing; readonly fault: Fault }
  /** What is open is paid as one. */
  | { readonly do: "settle"; readonly standing: Standing; readonly amount: Decimal }
  /** As far as it can be brought. `until`: it waits for its payments until then, ISO 8601 UTC. */
  | { readonly do: "nothing"; readonly standing: Standing | null; readonly until: string | null }
  /** A person decides. */
  | { readonly do: "ask"; readonly question: Question | "not-kept"; readonly fault: Fault };

export interface Planning {
  readonly kind: Exclude<BookKind, GoodsKind>;
  readonly ladder: Ladder;
  readonly books: Pick<Books, "name" | "surroundings">;
}

/** The first rule that fits counts (ADR 0032, 0040). Nothing is posted while it differs. */
export function plan(planning: Planning, wanted: Wanted, found: Identified): Next {
  const ask = (question: Question, more = ""): Next => ({
    do: "ask",
    question,
    fault: asked(planning, wanted, question, more),
  });
  if (found.is === "several")
    return ask("twice", `: ${found.standings.map(({ id }) => id).join(" and ")}`);
  if (found.is === "taken") return ask(found.by.isCancelled ? "kept" : "taken", whose(found.by));
  if (found.is === "none") {
    if (wanted.target === "cancelled") return nothing(null);
    const { refusal: fault } = wanted;
    return fault === undefined ? { do: "create" } : { do: "ask", question: "not-kept", fault };
  }
  const { standing, by } = found;
  if (standing.refusal !== undefined)
    return { do: "ask", question: "refused-there", fault: standing.refusal };
  if (wanted.target === "cancelled") return planCancel(planning, wanted, standing, by, ask);
  if (standing.rung === "cancelled") return ask("cancelled-there", called(standing));
  return planStanding(planning, wanted, standing, by, ask);
}

type Ask = (question: Question, more?: string) => Next;

const nothing = (standing: Standing | null, until: string | null = null): Next => ({
  do: "nothing",
  standing,
  until,
});

/** Nothing is compared where the mark says that it is ours. */
function planCancel(
  planning: Planning,
  wanted: Wanted,
  standing: Standing,
  by: Identity,
  ask: Ask,
): Next {
  if (standing.rung === "cancelled" && !standing.unfinished) return nothing(standing);
  const differences = by === "mark" ? [] : contentOf(planning, wanted, standing);
  if (differences.length > 0) return ask("different", linesOf(planning, wanted, differences));
  if (standing.rung === "settled" || standing.payments.length > 0)
    return ask("paid-already", called(standing));
  if (!planning.ladder.has.includes("cancelled")) return ask("cancel-by-hand", called(standing));
  return { do: "cancelled", standing };
}

function planStanding(
  planning: Planning,
  wanted: Wanted,
  standing: Standing,
  by: Identity,
  ask: Ask,
): Next {
  const { ladder } = planning;
  const { rung } = standing;
  const isDraft = rung === "draft";
  const isPosting = posts(ladder);
  const differences = contentOf(planning, wanted, standing);
  const amendable = differences.every(({ field }) => isAmendable(ladder, field, standing));
  const isOurs = by === "mark" && standing.touched !== true;
  if (isDraft && isPosting && !isOurs) return ask("draft-there", called(standing));
  if (!amendable) {
    const lines = linesOf(planning, wanted, differences);
    const fault = asked(planning, wanted, "would-differ", lines);
    if (isDraft && isPosting && standing.touched === false)
      return { do: "retracted", standing, fault };
    return ask(by === "mark" ? "differs" : "different", lines);
  }
  if (differences.length > 0) return { do: "amended", standing, differences };
  if (standing.unfinished) return { do: "posted", standing };
  if (isDraft && isPosting) return { do: "posted", standing };
  const dispute = disputeOf(planning, wanted, standing);
  if (dispute.some(({ field }) => !isAmendable(ladder, field, standing)))
    return ask(by === "mark" ? "differs" : "different", linesOf(planning, wanted, dispute));
  if (dispute.length > 0) return { do: "amended", standing, differences: dispute };
  // Our settlement is not taken back by machine: it may be matched with a bank statement already.
  if (wanted.target === "posted" && isSettledByUs(wanted, standing))
    return ask("settled-before", called(standing) + settledBy(wanted, standing));
  if (rung === "settled") return nothing(standing);
  return wanted.target === "settled"
    ? planSettling(planning, wanted, standing, ask)
    : nothing(standing);
}

/** Paid on the platform, and not in the books. */
function planSettling(
  { ladder, books }: Planning,
  wanted: Wanted,
  standing: Standing,
  ask: Ask,
): Next {
  const { until } = wanted;
  // Nobody pays what the ERP has not taken yet.
  if (standing.rung === "handed") return nothing(standing);
  if (until !== null && books.surroundings.now().toISOString() < until)
    return nothing(standing, until);
  if (standing.rung === "draft") return ask("not-posted", called(standing));
  if (ladder.byUs !== "settled") return nothing(standing);
  const open = standing.facts.money?.open ?? null;
  // The state of a document may follow a little later than what paid it.
  if (open === null || open.sign === 0) return nothing(standing);
  if (isSettledByUs(wanted, standing))
    return ask("settled-before", called(standing) + settledBy(wanted, standing));
  if (!("paidDate" in wanted.document) || wanted.document.paidDate === null)
    return ask("no-paid-date", called(standing));
  const { total = open } = standing.facts.money ?? {};
  // Nobody has seen the money of a rest: it may be a credit note, a discount, or a payment that comes later.
  if (total !== null && !open.equals(total))
    return ask("paid-in-part", partOf(standing, open, total));
  return { do: "settle", standing, amount: open };
}

const partOf = (standing: Standing, open: Decimal, total: Decimal): string => {
  const by = standing.payments.length === 0 ? "" : ` (${paymentsIn(standing.payments)})`;
  return `${called(standing)}: ${total.minus(open).fixed(2)} of ${total.fixed(2)} is settled there${by}, ${open.fixed(2)} is open`;
};

/** Every field that differs and that a step of ours would have to change: the content, and whether it is disputed. */
export function differencesOf(
  planning: Planning,
  wanted: Wanted,
  standing: Standing,
): Difference[] {
  return [...contentOf(planning, wanted, standing), ...disputeOf(planning, wanted, standing)];
}

/** Where these books can show it, and change it as far as the document has come. */
function disputeOf({ ladder }: Planning, { disputed }: Wanted, standing: Standing): Difference[] {
  const isOver = standing.rung === "settled" && !isAmendable(ladder, "state", standing);
  if (ladder.amend["state"] === undefined || isOver || disputed === standing.disputed) return [];
  const [expected, held] = disputed ? ["disputed", "open"] : ["open", "disputed"];
  return [{ field: "state", expected, held }];
}

function contentOf(planning: Planning, wanted: Wanted, { facts }: Standing): Difference[] {
  const { refusal, number, mark } = wanted;
  if (refusal !== undefined)
    return [
      {
        field: "record",
        expected: number ?? mark,
        held: `cannot be compared: ${refusal.message}`,
      },
    ];
  const kind = kindOf(planning, wanted);
  const ignore = planning.books.surroundings.ignore[kind] ?? [];
  return compare(kind, wanted.expected, facts, { group: "content", ignore });
}

export const kindOf = ({ kind }: Pick<Planning, "kind">, { document }: Wanted): HoldingKind =>
  holdingKindOf(kind, document);

/** A colon, and one line per field. */
const linesOf = (planning: Planning, wanted: Wanted, differences: readonly Difference[]): string =>
  `:\n${inLines(kindOf(planning, wanted), differences, planning.books.name)}`;

/** Can a step of ours change this field on this record? */
export const isAmendable = (
  { amend }: Ladder,
  field: string,
  { rung, fixed }: Pick<Standing, "rung" | "fixed">,
): boolean => {
  const upTo = amend[field] ?? amend[field.split(".")[0] ?? ""];
  return upTo !== undefined && !isBelow(upTo, rung) && !(fixed?.includes(field) ?? false);
};

/** Do we post, or a person? */
export const posts = ({ byUs, posts }: Ladder): boolean =>
  posts !== false && !isBelow(byUs, "posted");

const orderOf = (rung: Standing["rung"]): number =>
  rung === "cancelled" ? rungs.length : rungs.indexOf(rung);

export const isBelow = (rung: Standing["rung"], other: Standing["rung"]): boolean =>
  orderOf(rung) < orderOf(other);

/** The mark of the payment that settles an invoice as one. */
export const settlementMark = (invoice: string): string => `${SETTLEMENT}${invoice}`;
export const isSettlement = (mark: string): boolean => mark.startsWith(SETTLEMENT);
const SETTLEMENT = "settlement:";

export const settlementsOf = (invoice: string, { payments }: Standing): readonly PaymentOn[] =>
  payments.filter((one) => one.mark === settlementMark(invoice));

const isSettledByUs = ({ mark }: Pick<Wanted, "mark">, standing: Standing): boolean =>
  settlementsOf(mark, standing).length > 0;

const settledBy = ({ mark }: Wanted, standing: Standing): string =>
  `, by the payment ${paymentsIn(settlementsOf(mark, standing))}`;

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

const called = ({ id }: Standing): string => (id === null ? "" : `: ${id}`);
