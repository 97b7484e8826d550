/**
 * Orders and delivery tickets: goods without an amount. Their lines may change until the order is confirmed or the goods
 * have moved, and a person may have entered the same one before us. What is to be done next about one, and what a person
 * is asked. Pure (ADR 0044).
 */
import { Decimal } from "../core/decimal.ts";
import { sameNumber } from "../core/keys.ts";
import type { Fault } from "../core/fault.ts";
import type { Difference, FactLine, Facts } from "../core/holdings.ts";
import type { BookKind, GoodsKind, GoodsStanding, Ladder, Standing, Wanted } from "./adapter.ts";
import { compare } from "./compare.ts";
import type { Identified } from "./identify.ts";
import type { Next } from "./plan.ts";

export const isGoods = (kind: BookKind): kind is GoodsKind =>
  kind === "order" || kind === "shipment";

/** A line as the comparison takes it. */
export const goodsLine = (line: Omit<FactLine, "amount">): FactLine => ({
  ...line,
  amount: Decimal.zero,
});

/** Those that stand on the side of the document: a sale, or a purchase. */
export const onSideOf = (wanted: Wanted, all: readonly Standing[]): Standing[] =>
  all.filter((standing) => sideOf(standing.facts) === sideOf(wanted.expected));

const sideOf = ({ words }: Standing["facts"]): Side => (words?.side ?? "sale") as Side;
type Side = "sale" | "purchase";

interface About {
  readonly kind: GoodsKind;
  /** What people call the books. */
  readonly books: string;
  readonly ladder: Pick<Ladder, "has">;
}

/**
 * The first rule that fits counts.
 * @param found on the document's own side
 * @param all on both: one that the platform has turned round since it was booked is not booked a second time (ADR 0018)
 */
export function planGoods(
  { kind, books, ladder }: About,
  wanted: Wanted,
  found: Identified,
  all: readonly Standing[],
): Next {
  const says = sentences(kind, books, wanted);
  const differs = (detail: string): Next => ask("different", says.conflict(detail));
  const other = all.find((standing) => isTurned(wanted, standing));
  if (isTakenBack(wanted)) {
    const held = [...standingsOf(found), ...(other === undefined ? [] : [other])].filter(isLive);
    if (held.length > 0) return ask("different", says.takenBack(held));
    return { do: "nothing", standing: null, until: null };
  }
  if (other !== undefined) return ask("different", says.turned(other));
  if (found.is === "several") {
    const names = found.standings.map((one) => goodsOf(one).called).join(", ");
    return ask("twice", says.conflict(`${books} has it ${found.standings.length} times: ${names}`));
  }
  const stranger = `is of another party than ${wanted.party}`;
  if (found.is === "taken") {
    const whose = found.by.mark === null ? stranger : says.another;
    return differs(`${found.by.goods?.called} ${whose}`);
  }
  const isOver = wanted.target === "cancelled";
  if (found.is === "none" && isOver) return { do: "nothing", standing: null, until: null };
  if (wanted.refusal !== undefined) return ask("not-kept", wanted.refusal);
  // Where nothing can be kept as a draft, it is made when it is posted.
  if (found.is === "none" && isTooEarly(ladder, wanted))
    return { do: "nothing", standing: null, until: null };
  if (found.is === "none") return { do: "create" };
  const { standing, by } = found;
  const { rung, unfinished } = standing;
  const goods = goodsOf(standing);
  if (by === "number" && goods.stranger !== undefined)
    return differs(`${goods.called} ${goods.stranger}`);
  if (standing.party !== wanted.party) return differs(`${goods.called} ${stranger}`);
  const differences = contentOf(kind, wanted, standing, wanted.expected);
  const isOpen = goods.open ?? (rung === "draft" && goods.fixed !== true);
  // What is not known to be ours is never written anew.
  if (differences.length > 0 && (by === "number" || (by === "binding" && isOpen)))
    return differs(`${goods.called} ${says.other}`);
  if (isOver && rung === "posted" && goods.open !== true)
    return ask("different", says.endedAfter(goods));
  if (isOver && (rung !== "cancelled" || unfinished)) return { do: "cancelled", standing };
  if (isOver) return { do: "nothing", standing, until: null };
  if (rung === "cancelled") return ask("different", says.cancelledThere(goods));
  if (isAhead(wanted, standing)) return ask("different", says.takenBack([standing]));
  if (differences.length > 0) {
    const isRenumbered = differences.every(isNumber);
    if (isOpen || (isRenumbered && goods.renumbers === true))
      return { do: "amended", standing, differences };
    return ask("different", isRenumbered ? says.renumbered(standing) : says.changed(standing));
  }
  const isBelow = wanted.target === "posted" && rung === "draft";
  return isBelow || unfinished
    ? { do: "posted", standing }
    : { do: "nothing", standing, until: null };
}

const isNumber = ({ field }: Difference): boolean => field === "number";

/** What a person entered has a number of their own. Numbers that people read as one do not differ. */
const contentOf = (
  kind: GoodsKind,
  wanted: Wanted,
  held: Standing,
  expected: Facts,
): Difference[] =>
  compare(kind, expected, held.facts).filter(
    (one) => !isNumber(one) || (held.mark === wanted.mark && !sameNumber(one.expected, one.held)),
  );

/**
 * What was delivered, beside what these books hold of it now: what people have changed there since.
 * @param held those that its link names, at least one
 */
export function goodsDifferences(
  kind: GoodsKind,
  wanted: Wanted,
  held: readonly Standing[],
): Difference[] {
  const live = held.filter(isLive);
  const [standing] = live.length > 0 ? live : held;
  if (standing === undefined) throw new TypeError("nothing to compare with");
  if (live.length > 1) {
    const names = live.map((one) => goodsOf(one).called).join(" and ");
    return [{ field: "record", expected: "one", held: names }];
  }
  const isOver = wanted.target === "cancelled";
  if (isOver === isLive(standing) || isAhead(wanted, standing))
    return [{ field: "state", expected: statusOf(wanted), held: goodsOf(standing).state }];
  const { facts, party } = standing;
  return isOver
    ? []
    : contentOf(kind, wanted, { ...standing, facts: { ...facts, party } }, wanted.expected);
}

/** It does not count on the platform: it is looked for, and never written. */
export const isTakenBack = ({ document }: Pick<Wanted, "document">): boolean =>
  "status" in document && document.status === "taken-back";

/** It is to wait, and these books have nothing that waits. */
const isTooEarly = ({ has }: Pick<Ladder, "has">, { target }: Pick<Wanted, "target">) =>
  target === "draft" && !has.includes("draft");

const isLive = ({ rung }: Standing): boolean => rung !== "cancelled";

/** Confirmed or moved there, and not yet on the platform, or not any more. */
const isAhead = ({ target }: Wanted, { rung }: Standing): boolean =>
  target === "draft" && rung === "posted";

const standingsOf = (found: Identified): readonly Standing[] =>
  found.is === "one" ? [found.standing] : found.is === "several" ? found.standings : [];

/** The platform's own word where the document has it. */
function statusOf({ document }: Pick<Wanted, "document">): string {
  if ("platformStatus" in document && document.platformStatus) return document.platformStatus;
  return "status" in document ? document.status : "";
}

const ask = (question: "different" | "twice" | "not-kept", fault: Fault): Next => ({
  do: "ask",
  question,
  fault,
});

/** It is the one of the document, by its mark or by its link, and stands on the other side. */
const isTurned = (wanted: Wanted, { mark, id, rung, facts }: Standing): boolean =>
  sideOf(facts) !== sideOf(wanted.expected) &&
  rung !== "cancelled" &&
  (mark === wanted.mark || (mark === null && id === wanted.binding));

function goodsOf({ goods }: Standing): GoodsStanding {
  if (goods === undefined) throw new TypeError("an order or a ticket without its words");
  return goods;
}

interface Sentences {
  readonly another: string;
  readonly other: string;
  conflict(detail: string): Fault;
  takenBack(held: readonly Standing[]): Fault;
  turned(standing: Standing): Fault;
  endedAfter(goods: GoodsStanding): Fault;
  cancelledThere(goods: GoodsStanding): Fault;
  changed(standing: Standing): Fault;
  renumbered(standing: Standing): Fault;
}

const sentences = (kind: GoodsKind, books: string, wanted: Wanted): Sentences =>
  (kind === "order" ? orderSentences : ticketSentences)(books, wanted);

const orderSentences = (books: string, wanted: Wanted): Sentences => ({
  another: "is another order of the platform",
  other: "has this reference and other lines",
  conflict: (detail) => ({
    code: "another-order",
    message: `order ${wanted.number} cannot be told from another in ${books}: ${detail}`,
    next: `Give the other order another reference in ${books}, or cancel it there; then retry.`,
  }),
  takenBack: (held) => takenBackFault(books, `order ${wanted.number}`, wanted, held),
  turned: (standing) => {
    const { called } = goodsOf(standing);
    const booked = `order ${wanted.number} is booked in ${books} as ${called}`;
    return turnedFault(books, booked, called, sideOf(wanted.expected), standing);
  },
  endedAfter: ({ called, state }) => ({
    code: "cancelled-after-confirmation",
    message: `the order is cancelled on the platform, and ${called} in ${books} is ${state}: ${books} cancels it no more`,
    next: `Settle it with the other side, close what is left of it in ${books} by hand, then resolve it here.`,
  }),
  cancelledThere: ({ called }) => ({
    code: `cancelled-in-${books.toLowerCase()}`,
    message: `${called} was cancelled in ${books}, and on the platform it is ${statusOf(wanted)}`,
    next: `Cancel it on the platform too, or set it back to draft in ${books} and retry.`,
  }),
  changed: (standing) => ({
    code: "changed-after-confirmation",
    message: `the lines of ${goodsOf(standing).called} are not those of the platform's order${numbersOf(wanted, standing)} any more, and ${books} has it ${goodsOf(standing).state}`,
    next: `Correct the order in ${books} by hand, or enter the difference as another one; then resolve it here.`,
  }),
  renumbered: (standing) => renumberedFault(books, "order", wanted, standing),
});

const SHIPMENTS = { sale: "customer shipment", purchase: "supplier shipment" } as const;

const ticketSentences = (books: string, wanted: Wanted): Sentences => ({
  another: "is of another ticket of the platform",
  other: "has other quantities, date or reference",
  conflict: (detail) => ({
    code: "another-shipment",
    message: `ticket ${wanted.number} cannot be told from another shipment in ${books}: ${detail}`,
    next: `Give the other shipment another number in ${books}, or enter the ticket by hand and resolve it here.`,
  }),
  takenBack: (held) => takenBackFault(books, `ticket ${wanted.number}`, wanted, held),
  turned: (standing) => {
    const name = `${SHIPMENTS[sideOf(standing.facts)]} ${wanted.number}`;
    const booked = `ticket ${wanted.number} is booked in ${books} as ${name}`;
    return turnedFault(books, booked, name, SHIPMENTS[sideOf(wanted.expected)], standing);
  },
  endedAfter: () => ({
    code: "void-after-delivery",
    message: `ticket ${wanted.number} is void on the platform, and its shipment in ${books} is done`,
    next: `Book the return in ${books} by hand, then resolve it here.`,
  }),
  cancelledThere: () => ({
    code: `cancelled-in-${books.toLowerCase()}`,
    message: `shipment ${wanted.number} was cancelled in ${books}, and the ticket is not void`,
    next: "Void the ticket on the platform too, or give the cancelled shipment another number; then retry.",
  }),
  changed: (standing) => ({
    code: "changed-after-delivery",
    message: `ticket ${wanted.number}${numbersOf(wanted, standing)} says other quantities, date or reference than its shipment in ${books}, which is ${goodsOf(standing).state}`,
    next: `Correct the stock in ${books} by hand, then resolve it here.`,
  }),
  renumbered: (standing) => renumberedFault(books, "ticket", wanted, standing),
});

/** Nothing where the books have it under its number. */
const numbersOf = ({ number }: Wanted, standing: Standing): string => {
  const held = standing.facts.number ?? null;
  return held === null || number === null || sameNumber(held, number) ? "" : ` (booked as ${held})`;
};

const renumberedFault = (
  books: string,
  what: "order" | "ticket",
  { number }: Wanted,
  standing: Standing,
): Fault => ({
  code: "renumbered",
  message: `${what} ${number} was booked as ${standing.facts.number}: it has another number on the platform now, and ${books} has it ${goodsOf(standing).state}, where its number is not changed any more`,
  next: `Write the number ${number} into ${goodsOf(standing).called} in ${books} by hand if it matters, then resolve it here.`,
});

const takenBackFault = (
  books: string,
  name: string,
  wanted: Wanted,
  held: readonly Standing[],
): Fault => ({
  code: "taken-back",
  message: `${books} holds ${held.map((one) => goodsOf(one).told).join(" and ")}, and on the platform the ${name} is ${statusOf(wanted)}`,
  next: `If the platform is right, take it back in ${books} by hand, then resolve this. If ${books} is right, correct the ${name} on the platform: its next version is delivered by itself.`,
});

const turnedFault = (
  books: string,
  booked: string,
  name: string,
  is: string,
  standing: Standing,
): Fault => ({
  code: "turned",
  message: `${booked}; the platform now says ${is}`,
  next: `If the platform is right, cancel ${name} in ${books}, or where it cannot be cancelled take ${goodsOf(standing).unmarking}; then retry: it is booked as ${is}. If not, correct it on the platform, and resolve this.`,
});
