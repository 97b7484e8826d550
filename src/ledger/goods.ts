/**
 * Orders and delivery tickets: goods without an amount. Their lines may change until the order is confirmed or the goods
 * have moved, and a person may have entered the same one before us. What is to be done next about one, and what a person
 * is asked. Pure (ADR 0015).
 */
import { Decimal } from "../core/decimal.ts";
import { sameNumber } from "../core/keys.ts";
import type { Fault } from "../core/record.ts";
import type { Difference, FactLine, Facts } from "../core/holdings.ts";
import type { Capabilities, Desired, Entry, GoodsEntry, GoodsKind, LedgerKind } from "./port.ts";
import { compare } from "./compare.ts";
import type { Identified, Next } from "./plan.ts";

export const isGoods = (kind: LedgerKind): kind is GoodsKind =>
  kind === "order" || kind === "shipment";

/** A line as the comparison takes it. */
export const goodsLine = (line: Omit<FactLine, "amount">): FactLine => ({
  ...line,
  amount: Decimal.zero,
});

/** Those that stand on the side of the document: a sale, or a purchase. */
export const onSideOf = (desired: Desired, all: readonly Entry[]): Entry[] =>
  all.filter((entry) => sideOf(entry.facts) === sideOf(desired.expected));

const sideOf = ({ words }: Entry["facts"]): Side => (words?.side ?? "sale") as Side;
type Side = "sale" | "purchase";

interface About {
  readonly kind: GoodsKind;
  /** What people call the books. */
  readonly books: string;
  readonly can: Pick<Capabilities, "has">;
}

/**
 * The first rule that fits counts.
 * @param found on the document's own side
 * @param all on both: one that the platform has turned round since it was booked is not booked a second time (ADR 0009)
 */
export function planGoods(
  { kind, books, can }: About,
  desired: Desired,
  found: Identified,
  all: readonly Entry[],
): Next {
  const says = sentences(kind, books, desired);
  const differs = (detail: string): Next => ask("different", says.conflict(detail));
  const other = all.find((entry) => isTurned(desired, entry));
  if (isTakenBack(desired)) {
    const held = [...entriesOf(found), ...(other === undefined ? [] : [other])].filter(isLive);
    if (held.length > 0) return ask("different", says.takenBack(held));
    return { do: "nothing", entry: null, until: null };
  }
  if (other !== undefined) return ask("different", says.turned(other));
  if (found.is === "several") {
    const names = found.entries.map((one) => goodsOf(one).called).join(", ");
    return ask("twice", says.conflict(`${books} has it ${found.entries.length} times: ${names}`));
  }
  const stranger = `is of another party than ${desired.party}`;
  if (found.is === "taken") {
    const whose = found.by.mark === null ? stranger : says.another;
    return differs(`${found.by.goods?.called} ${whose}`);
  }
  const isOver = desired.target === "cancelled";
  if (found.is === "none" && isOver) return { do: "nothing", entry: null, until: null };
  if (desired.refusal !== undefined) return ask("not-kept", desired.refusal);
  // Where nothing can be kept as a draft, it is made when it is posted.
  if (found.is === "none" && isTooEarly(can, desired))
    return { do: "nothing", entry: null, until: null };
  if (found.is === "none") return { do: "create" };
  const { entry, by } = found;
  const { status, unfinished } = entry;
  const goods = goodsOf(entry);
  if (by === "number" && goods.stranger !== undefined)
    return differs(`${goods.called} ${goods.stranger}`);
  if (entry.party !== desired.party) return differs(`${goods.called} ${stranger}`);
  const differences = contentOf(kind, desired, entry, desired.expected);
  const isOpen = goods.open ?? (status === "draft" && goods.fixed !== true);
  // What is not known to be ours is never written anew.
  if (differences.length > 0 && (by === "number" || (by === "binding" && isOpen)))
    return differs(`${goods.called} ${says.other}`);
  if (isOver && status === "posted" && goods.open !== true)
    return ask("different", says.endedAfter(goods));
  if (isOver && (status !== "cancelled" || unfinished)) return { do: "cancelled", entry };
  if (isOver) return { do: "nothing", entry, until: null };
  if (status === "cancelled") return ask("different", says.cancelledThere(goods));
  if (isAhead(desired, entry)) return ask("different", says.takenBack([entry]));
  if (differences.length > 0) {
    const isRenumbered = differences.every(isNumber);
    if (isOpen || (isRenumbered && goods.renumbers === true))
      return { do: "amended", entry, differences };
    return ask("different", isRenumbered ? says.renumbered(entry) : says.changed(entry));
  }
  const isBelow = desired.target === "posted" && status === "draft";
  return isBelow || unfinished ? { do: "posted", entry } : { do: "nothing", entry, until: null };
}

const isNumber = ({ field }: Difference): boolean => field === "number";

/** What a person entered has a number of their own. */
const contentOf = (kind: GoodsKind, desired: Desired, held: Entry, expected: Facts): Difference[] =>
  compare(kind, expected, held.facts).filter((one) => !isNumber(one) || held.mark === desired.mark);

/**
 * What was delivered, beside what these books hold of it now: what people have changed there since.
 * @param held those that its link names, at least one
 */
export function goodsDifferences(
  kind: GoodsKind,
  desired: Desired,
  held: readonly Entry[],
): Difference[] {
  const live = held.filter(isLive);
  const [entry] = live.length > 0 ? live : held;
  if (entry === undefined) throw new TypeError("nothing to compare with");
  if (live.length > 1) {
    const names = live.map((one) => goodsOf(one).called).join(" and ");
    return [{ field: "record", expected: "one", held: names }];
  }
  const isOver = desired.target === "cancelled";
  if (isOver === isLive(entry) || isAhead(desired, entry))
    return [{ field: "state", expected: statusOf(desired), held: goodsOf(entry).state }];
  const { facts, party } = entry;
  return isOver
    ? []
    : contentOf(kind, desired, { ...entry, facts: { ...facts, party } }, desired.expected);
}

/** It does not count on the platform: it is looked for, and never written. */
export const isTakenBack = ({ document }: Pick<Desired, "document">): boolean =>
  "status" in document && document.status === "taken-back";

/** It is to wait, and these books have nothing that waits. */
const isTooEarly = ({ has }: Pick<Capabilities, "has">, { target }: Pick<Desired, "target">) =>
  target === "draft" && !has.includes("draft");

const isLive = ({ status }: Entry): boolean => status !== "cancelled";

/** Confirmed or moved there, and not yet on the platform, or not any more. */
const isAhead = ({ target }: Desired, { status }: Entry): boolean =>
  target === "draft" && status === "posted";

const entriesOf = (found: Identified): readonly Entry[] =>
  found.is === "one" ? [found.entry] : found.is === "several" ? found.entries : [];

/** The platform's own word where the document has it. */
function statusOf({ document }: Pick<Desired, "document">): string {
  if ("platformStatus" in document && document.platformStatus) return document.platformStatus;
  return "status" in document ? document.status : "";
}

const ask = (question: "different" | "twice" | "not-kept", fault: Fault): Next => ({
  do: "ask",
  question,
  fault,
});

/** It is the one of the document, by its mark or by its link, and stands on the other side. */
const isTurned = (desired: Desired, { mark, id, status, facts }: Entry): boolean =>
  sideOf(facts) !== sideOf(desired.expected) &&
  status !== "cancelled" &&
  (mark === desired.mark || (mark === null && id === desired.binding));

function goodsOf({ goods }: Entry): GoodsEntry {
  if (goods === undefined) throw new TypeError("an order or a ticket without its words");
  return goods;
}

interface Sentences {
  readonly another: string;
  readonly other: string;
  conflict(detail: string): Fault;
  takenBack(held: readonly Entry[]): Fault;
  turned(entry: Entry): Fault;
  endedAfter(goods: GoodsEntry): Fault;
  cancelledThere(goods: GoodsEntry): Fault;
  changed(entry: Entry): Fault;
  renumbered(entry: Entry): Fault;
}

const sentences = (kind: GoodsKind, books: string, desired: Desired): Sentences =>
  (kind === "order" ? orderSentences : ticketSentences)(books, desired);

const orderSentences = (books: string, desired: Desired): Sentences => ({
  another: "is another order of the platform",
  other: "has this reference and other lines",
  conflict: (detail) => ({
    code: "another-order",
    message: `order ${desired.number} cannot be told from another in ${books}: ${detail}`,
    next: `Give the other order another reference in ${books}, or cancel it there; then retry.`,
  }),
  takenBack: (held) => takenBackFault(books, `order ${desired.number}`, desired, held),
  turned: (entry) => {
    const { called } = goodsOf(entry);
    const booked = `order ${desired.number} is booked in ${books} as ${called}`;
    return turnedFault(books, booked, called, sideOf(desired.expected), entry);
  },
  endedAfter: ({ called, state }) => ({
    code: "cancelled-after-confirmation",
    message: `the order is cancelled on the platform, and ${called} in ${books} is ${state}: ${books} cancels it no more`,
    next: `Settle it with the other side, close what is left of it in ${books} by hand, then resolve it here.`,
  }),
  cancelledThere: ({ called }) => ({
    code: `cancelled-in-${books.toLowerCase()}`,
    message: `${called} was cancelled in ${books}, and on the platform it is ${statusOf(desired)}`,
    next: `Cancel it on the platform too, or set it back to draft in ${books} and retry.`,
  }),
  changed: (entry) => ({
    code: "changed-after-confirmation",
    message: `the lines of ${goodsOf(entry).called} are not those of the platform's order${numbersOf(desired, entry)} any more, and ${books} has it ${goodsOf(entry).state}`,
    next: `Correct the order in ${books} by hand, or enter the difference as another one; then resolve it here.`,
  }),
  renumbered: (entry) => renumberedFault(books, "order", desired, entry),
});

const SHIPMENTS = { sale: "customer shipment", purchase: "supplier shipment" } as const;

const ticketSentences = (books: string, desired: Desired): Sentences => ({
  another: "is of another ticket of the platform",
  other: "has other quantities, date or reference",
  conflict: (detail) => ({
    code: "another-shipment",
    message: `ticket ${desired.number} cannot be told from another shipment in ${books}: ${detail}`,
    next: `Give the other shipment another number in ${books}, or enter the ticket by hand and resolve it here.`,
  }),
  takenBack: (held) => takenBackFault(books, `ticket ${desired.number}`, desired, held),
  turned: (entry) => {
    const name = `${SHIPMENTS[sideOf(entry.facts)]} ${desired.number}`;
    const booked = `ticket ${desired.number} is booked in ${books} as ${name}`;
    return turnedFault(books, booked, name, SHIPMENTS[sideOf(desired.expected)], entry);
  },
  endedAfter: () => ({
    code: "void-after-delivery",
    message: `ticket ${desired.number} is void on the platform, and its shipment in ${books} is done`,
    next: `Book the return in ${books} by hand, then resolve it here.`,
  }),
  cancelledThere: () => ({
    code: `cancelled-in-${books.toLowerCase()}`,
    message: `shipment ${desired.number} was cancelled in ${books}, and the ticket is not void`,
    next: "Void the ticket on the platform too, or give the cancelled shipment another number; then retry.",
  }),
  changed: (entry) => ({
    code: "changed-after-delivery",
    message: `ticket ${desired.number}${numbersOf(desired, entry)} says other quantities, date or reference than its shipment in ${books}, which is ${goodsOf(entry).state}`,
    next: `Correct the stock in ${books} by hand, then resolve it here.`,
  }),
  renumbered: (entry) => renumberedFault(books, "ticket", desired, entry),
});

/** Nothing where the books have it under its number. */
const numbersOf = ({ number }: Desired, entry: Entry): string => {
  const held = entry.facts.number ?? null;
  return held === null || number === null || sameNumber(held, number) ? "" : ` (booked as ${held})`;
};

const renumberedFault = (
  books: string,
  what: "order" | "ticket",
  { number }: Desired,
  entry: Entry,
): Fault => ({
  code: "renumbered",
  message: `${what} ${number} was booked as ${entry.facts.number}: it has another number on the platform now, and ${books} has it ${goodsOf(entry).state}, where its number is not changed any more`,
  next: `Write the number ${number} into ${goodsOf(entry).called} in ${books} by hand if it matters, then resolve it here.`,
});

const takenBackFault = (
  books: string,
  name: string,
  desired: Desired,
  held: readonly Entry[],
): Fault => ({
  code: "taken-back",
  message: `${books} holds ${held.map((one) => goodsOf(one).told).join(" and ")}, and on the platform the ${name} is ${statusOf(desired)}`,
  next: `If the platform is right, take it back in ${books} by hand, then resolve this. If ${books} is right, correct the ${name} on the platform: its next version is delivered by itself.`,
});

const turnedFault = (
  books: string,
  booked: string,
  name: string,
  is: string,
  entry: Entry,
): Fault => ({
  code: "turned",
  message: `${booked}; the platform now says ${is}`,
  next: `If the platform is right, cancel ${name} in ${books}, or where it cannot be cancelled take ${goodsOf(entry).unmarking}; then retry: it is booked as ${is}. If not, correct it on the platform, and resolve this.`,
});
