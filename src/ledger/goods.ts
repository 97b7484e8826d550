/**
 * Orders and delivery tickets: goods without an amount. Their lines may change until the order is confirmed or the goods
 * have moved, and a person may have entered the same one before us. What is to be done next about one, and what a person
 * is asked. Pure (ADR 0015).
 */
import { Decimal } from "../core/decimal.ts";
import type { Difference, FactLine } from "../core/holdings.ts";
import { sameNumber } from "../core/keys.ts";
import type { Fault } from "../core/record.ts";
import { compare } from "./compare.ts";
import { type Identified, isAmendable, type Next } from "./plan.ts";
import type {
  Capabilities,
  Desired,
  Entry,
  GoodsEntry,
  GoodsKind,
  LedgerKind,
  LedgerSide,
} from "./port.ts";

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

const sideOf = ({ words }: Entry["facts"]): LedgerSide => (words?.side ?? "sale") as LedgerSide;

interface About {
  readonly kind: GoodsKind;
  /** What people call the books. */
  readonly books: string;
  readonly can: Pick<Capabilities, "has" | "amend">;
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
  const ask = (question: Question, entry: Entry | null, more: Words = {}): Next => ({
    do: "ask",
    question: found.is === "several" && question === "conflict" ? "twice" : "different",
    fault: questionOf({ kind, books, desired, question, entry, more }),
  });
  const conflict = (detail: string): Next => ask("conflict", null, { detail });
  const other = all.find((entry) => isTurned(desired, entry)) ?? null;
  if (isTakenBack(desired)) {
    const held = [...entriesOf(found), ...(other === null ? [] : [other])].filter(isLive);
    return held.length === 0 ? nothing(null) : ask("takenBack", null, { held: toldOf(held) });
  }
  if (other !== null) return ask("turned", other);
  if (found.is === "several") {
    const names = found.entries.map((one) => goodsOf(one).called).join(", ");
    return conflict(`${books} has it ${found.entries.length} times: ${names}`);
  }
  const stranger = `is of another party than ${desired.party}`;
  const { another, others } = DETAILS[kind];
  if (found.is === "taken")
    return conflict(`${found.by.goods?.called} ${found.by.mark === null ? stranger : another}`);
  const isOver = desired.target === "cancelled";
  if (found.is === "none" && isOver) return nothing(null);
  if (desired.refusal !== undefined)
    return { do: "ask", question: "not-kept", fault: desired.refusal };
  // Where nothing can be kept as a draft, it is made when it is posted.
  if (found.is === "none") return isTooEarly(can, desired) ? nothing(null) : { do: "create" };
  const { entry, by } = found;
  const { status, unfinished } = entry;
  const goods = goodsOf(entry);
  if (by === "number" && goods.stranger !== undefined)
    return conflict(`${goods.called} ${goods.stranger}`);
  if (entry.party !== desired.party) return conflict(`${goods.called} ${stranger}`);
  const differences = contentOf(kind, desired, entry);
  const isOpen = isAmendable(can, "lines", entry);
  // What is not known to be ours is never written anew.
  if (differences.length > 0 && (by === "number" || (by === "binding" && isOpen)))
    return conflict(`${goods.called} ${others}`);
  if (isOver && status === "posted" && !isOpen) return ask("ended", entry);
  if (isOver)
    return status !== "cancelled" || unfinished ? { do: "cancelled", entry } : nothing(entry);
  if (status === "cancelled") return ask("cancelledThere", entry);
  if (isAhead(desired, entry)) return ask("takenBack", null, { held: toldOf([entry]) });
  if (differences.length > 0) {
    const isRenumbered = differences.every(isNumber);
    if (isOpen || (isRenumbered && isAmendable(can, "number", entry)))
      return { do: "amended", entry, differences };
    return ask(isRenumbered ? "renumbered" : "changed", entry);
  }
  const isBelow = desired.target === "posted" && status === "draft";
  return isBelow || unfinished ? { do: "posted", entry } : nothing(entry);
}

const nothing = (entry: Entry | null): Next => ({ do: "nothing", entry, until: null });

export const isNumber = ({ field }: Pick<Difference, "field">): boolean => field === "number";

/** What a person entered has a number of their own. */
const contentOf = (kind: GoodsKind, desired: Desired, held: Entry): Difference[] =>
  compare(kind, desired.expected, held.facts).filter(
    (one) => !isNumber(one) || held.mark === desired.mark,
  );

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
  const { facts, party, besides = [] } = entry;
  if (isOver) return [];
  return [...contentOf(kind, desired, { ...entry, facts: { ...facts, party } }), ...besides];
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

const toldOf = (held: readonly Entry[]): string =>
  held.map((one) => goodsOf(one).told).join(" and ");

/** The platform's own word where the document has it. */
function statusOf({ document }: Pick<Desired, "document">): string {
  if ("platformStatus" in document && document.platformStatus) return document.platformStatus;
  return "status" in document ? document.status : "";
}

/** It is the one of the document, by its mark or by its link, and stands on the other side. */
const isTurned = (desired: Desired, { mark, id, status, facts }: Entry): boolean =>
  sideOf(facts) !== sideOf(desired.expected) &&
  status !== "cancelled" &&
  (mark === desired.mark || (mark === null && id === desired.binding));

function goodsOf({ goods }: Entry): GoodsEntry {
  if (goods === undefined) throw new TypeError("an order or a ticket without its words");
  return goods;
}

/* What a person is asked: code, sentence and next step, with {@link wordsOf} in braces. */

type Words = Readonly<Record<string, string>>;
type Asked = readonly [code: string, message: string, next: string];

const BOTH = {
  takenBack: [
    "taken-back",
    "{books} holds {held}, and on the platform the {what} {number} is {status}",
    "If the platform is right, take it back in {books} by hand, then resolve this. If {books} is right, correct the {what} {number} on the platform: its next version is delivered by itself.",
  ],
  turned: [
    "turned",
    "{what} {number} is booked in {books} as {name}; the platform now says {side}",
    "If the platform is right, cancel {name} in {books}, or where it cannot be cancelled take {unmarking}; then retry: it is booked as {side}. If not, correct it on the platform, and resolve this.",
  ],
  renumbered: [
    "renumbered",
    "{what} {number} was booked as {held}: it has another number on the platform now, and {books} has it {state}, where its number is not changed any more",
    "Write the number {number} into {called} in {books} by hand if it matters, then resolve it here.",
  ],
} as const satisfies Readonly<Record<string, Asked>>;

const QUESTIONS = {
  order: {
    ...BOTH,
    conflict: [
      "another-order",
      "order {number} cannot be told from another in {books}: {detail}",
      "Give the other order another reference in {books}, or cancel it there; then retry.",
    ],
    ended: [
      "cancelled-after-confirmation",
      "the order is cancelled on the platform, and {called} in {books} is {state}: {books} cancels it no more",
      "Settle it with the other side, close what is left of it in {books} by hand, then resolve it here.",
    ],
    cancelledThere: [
      "cancelled-in-{erp}",
      "{called} was cancelled in {books}, and on the platform it is {status}",
      "Cancel it on the platform too, or set it back to draft in {books} and retry.",
    ],
    changed: [
      "changed-after-confirmation",
      "the lines of {called} are not those of the platform's order{as} any more, and {books} has it {state}",
      "Correct the order in {books} by hand, or enter the difference as another one; then resolve it here.",
    ],
  },
  shipment: {
    ...BOTH,
    conflict: [
      "another-shipment",
      "ticket {number} cannot be told from another shipment in {books}: {detail}",
      "Give the other shipment another number in {books}, or enter the ticket by hand and resolve it here.",
    ],
    ended: [
      "void-after-delivery",
      "ticket {number} is void on the platform, and its shipment in {books} is done",
      "Book the return in {books} by hand, then resolve it here.",
    ],
    cancelledThere: [
      "cancelled-in-{erp}",
      "shipment {number} was cancelled in {books}, and the ticket is not void",
      "Void the ticket on the platform too, or give the cancelled shipment another number; then retry.",
    ],
    changed: [
      "changed-after-delivery",
      "ticket {number}{as} says other quantities, date or reference than its shipment in {books}, which is {state}",
      "Correct the stock in {books} by hand, then resolve it here.",
    ],
  },
} as const satisfies Readonly<Record<GoodsKind, Readonly<Record<string, Asked>>>>;

type Question = keyof (typeof QUESTIONS)[GoodsKind];

/** What a conflict is about, after the name of the other one. */
const DETAILS = {
  order: {
    another: "is another order of the platform",
    others: "has this reference and other lines",
  },
  shipment: {
    another: "is of another ticket of the platform",
    others: "has other quantities, date or reference",
  },
} as const;

const SHIPMENTS = { sale: "customer shipment", purchase: "supplier shipment" } as const;

interface Questioned {
  readonly kind: GoodsKind;
  readonly books: string;
  readonly desired: Desired;
  readonly question: Question;
  readonly entry: Entry | null;
  readonly more: Words;
}

function questionOf({ question, ...about }: Questioned): Fault {
  const words = wordsOf(about);
  const said = QUESTIONS[about.kind][question].map((text) =>
    text.replaceAll(/\{(\w+)\}/g, (_, word: string) => words[word] ?? ""),
  );
  const [code, message, next] = said as unknown as Asked;
  return { code, message, next };
}

/** What stands for a word in braces. @param entry that the sentence is about; null: it is about none, or several */
function wordsOf({ kind, books, desired, entry, more }: Omit<Questioned, "question">): Words {
  const { number } = desired;
  const isOrder = kind === "order";
  const side = sideOf(desired.expected);
  const about = { what: isOrder ? "order" : "ticket", number, books };
  const erp = books.toLowerCase();
  const words = { ...about, erp, status: statusOf(desired), ...more };
  if (entry === null) return words;
  const { called, state, unmarking } = goodsOf(entry);
  const held = entry.facts.number ?? null;
  const isHeld = held === null || sameNumber(held, number);
  return {
    ...words,
    called,
    state,
    unmarking,
    held: held ?? "",
    // Nothing where the books have it under its number.
    as: isHeld ? "" : ` (booked as ${held})`,
    name: isOrder ? called : `${SHIPMENTS[sideOf(entry.facts)]} ${number}`,
    side: isOrder ? side : SHIPMENTS[side],
  };
}
