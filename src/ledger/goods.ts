/**
 * Orders and delivery tickets: goods without an amount. Their lines may change until the order is confirmed or the goods
 * have moved, and a person may have entered the same one before us. What is to be done next about one, and what a person
 * is asked. Pure (ADR 0015).
 */
import type { FaultCode } from "../core/faults.ts";
import { Decimal } from "../core/decimal.ts";
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import type { Day, Difference, FactLine, Facts, Scope } from "../core/holdings.ts";
import { sameNumber, spellingsOf } from "../core/keys.ts";
import type { Fault } from "../core/record.ts";
import { compare } from "./compare.ts";
import type { OrderDocument, ShipmentDocument } from "./documents.ts";
import { markOf, orRefused } from "./entries.ts";
import { type Identified, isAmendable, type Next, toldAlike } from "./plan.ts";
import {
  type Call,
  type Capabilities,
  type Desired,
  type Documents,
  type Entry,
  type GoodsEntry,
  type GoodsKind,
  type LedgerAdapter,
  type LedgerKind,
  type LedgerSide,
  PLAIN_ENTRY,
  type RowPage,
  sideOf,
  SIDES,
  type Step,
  type StepTo,
} from "./port.ts";

export const isGoods = (kind: LedgerKind): kind is GoodsKind =>
  kind === "order" || kind === "shipment";

/** Of a line what is compared: the rest is for people. @param amount left out: these books compare quantities and prices */
export const goodsLine = (
  { product, quantity, unit = null, unitPrice = null }: Partial<FactLine>,
  amount: Decimal = Decimal.zero,
): FactLine => ({
  product: product ?? null,
  quantity: quantity ?? null,
  unit,
  unitPrice,
  amount,
});

/** Those that stand on the side of the document: a sale, or a purchase. */
export const onSideOf = (desired: Desired, all: readonly Entry[]): Entry[] =>
  all.filter((entry) => sideIn(entry.facts) === sideIn(desired.expected));

const sideIn = ({ words }: Entry["facts"]): LedgerSide => (words?.side ?? "sale") as LedgerSide;

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
    found: found.is === "several" && question === "conflict" ? "several" : "different",
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
  if (found.is === "alike")
    return conflict(`${toldAlike(found.entries)} has its number but for the signs`);
  const isOver = desired.target === "cancelled";
  if (found.is === "none" && isOver) return nothing(null);
  if (desired.refusal !== undefined) return { do: "ask", found: "none", fault: desired.refusal };
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
  sideIn(facts) !== sideIn(desired.expected) &&
  status !== "cancelled" &&
  (mark === desired.mark || (mark === null && id === desired.binding));

function goodsOf({ goods }: Entry): GoodsEntry {
  if (goods === undefined) throw new TypeError("an order or a ticket without its words");
  return goods;
}

/* What a person is asked: code, sentence and next step, with {@link wordsOf} in braces. */

type Words = Readonly<Record<string, string>>;
type Asked = readonly [code: FaultCode, message: string, next: string];

const BOTH = {
  takenBack: [
    "taken-back",
    "{books} holds {held}, and on the platform the {what} {number} is {status}",
    "If the platform is right, take it back in {books} by hand, then close this. If {books} is right, correct the {what} {number} on the platform: its next version is delivered by itself.",
  ],
  turned: [
    "turned",
    "{what} {number} is booked in {books} as {name}; the platform now says {side}",
    "If the platform is right, cancel {name} in {books}, or where it cannot be cancelled take {unmarking}; then retry: it is booked as {side}. If not, correct it on the platform, and close this.",
  ],
  renumbered: [
    "renumbered",
    "{what} {number} was booked as {held}: it has another number on the platform now, and {books} has it {state}, where its number is not changed any more",
    "Write the number {number} into {called} in {books} by hand if it matters, then close it here.",
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
      "Settle it with the other side, close what is left of it in {books} by hand, then close it here.",
    ],
    cancelledThere: [
      "cancelled-in-{erp}",
      "{called} was cancelled in {books}, and on the platform it is {status}",
      "Cancel it on the platform too, or set it back to draft in {books} and retry.",
    ],
    changed: [
      "changed-after-confirmation",
      "the lines of {called} are not those of the platform's order{as} any more, and {books} has it {state}",
      "Correct the order in {books} by hand, or enter the difference as another one; then close it here.",
    ],
  },
  shipment: {
    ...BOTH,
    conflict: [
      "another-shipment",
      "ticket {number} cannot be told from another shipment in {books}: {detail}",
      "Give the other shipment another number in {books}, or enter the ticket by hand and close it here.",
    ],
    ended: [
      "void-after-delivery",
      "ticket {number} is void on the platform, and its shipment in {books} is done",
      "Book the return in {books} by hand, then close it here.",
    ],
    cancelledThere: [
      "cancelled-in-{erp}",
      "shipment {number} was cancelled in {books}, and the ticket is not void",
      "Void the ticket on the platform too, or give the cancelled shipment another number; then retry.",
    ],
    changed: [
      "changed-after-delivery",
      "ticket {number}{as} says other quantities, date or reference than its shipment in {books}, which is {state}",
      "Correct the stock in {books} by hand, then close it here.",
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
  const side = sideIn(desired.expected);
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
    name: isOrder ? called : `${SHIPMENTS[sideIn(entry.facts)]} ${number}`,
    side: isOrder ? side : SHIPMENTS[side],
  };
}

/*
 * Orders and delivery tickets of both sides as tables: how links call them, which of those that books show may be the one
 * of a document, and what an ERP supplies so that goods.ts can plan them. An order has the books' own number and carries
 * the platform's as its reference; a ticket stands under its own number.
 */

/** An order or a ticket as books show it. Rows have more: what their connector brings them on with. */
export interface GoodsRow
  extends Pick<GoodsEntry, "state" | "stranger">, Pick<Entry, "fixed" | "besides"> {
  readonly side: LedgerSide;
  /** Of the database. Of a ticket no other of either side has it. */
  readonly id: string;
  /** Of an order that the books gave it: null while they have given none. */
  readonly number: string | null;
  /** Of a ticket, what people call it there: `stock.shipment.out 12 (#5)`. Left out: by side and number. */
  readonly called?: string;
  /** `entered`: a ticket that is not yet what one that waits is brought to. */
  readonly status: "entered" | "draft" | "posted" | "cancelled";
  /** The platform's ids that it carries; none: a person entered it. */
  readonly marks: readonly string[];
  /** The platform's number of an order; the bill of lading of a ticket. */
  readonly reference: string | null;
  readonly party: string;
  /** Null: it has none yet. */
  readonly date: Day | null;
  /** Null: the record shows none (an order that is told by what was shipped of it). */
  readonly lines: readonly FactLine[] | null;
}

/** What is looked for: everything that one of these names. */
interface GoodsWhere {
  /** Of orders: those of this side are asked for. Tickets of both sides are asked for at once. */
  readonly side: LedgerSide;
  readonly marks: readonly string[];
  /** The platform's numbers of orders. */
  readonly references: readonly string[];
  /** The books' numbers of orders, the numbers of tickets. */
  readonly numbers: readonly string[];
  readonly ids: readonly string[];
  /** Days of those that are looked for by their mark and that nothing else names: all of a day are read, where people can write over the mark or the number. */
  readonly days: readonly string[];
}

/** Names nothing. */
export const NOTHING: GoodsWhere = {
  side: "sale",
  marks: [],
  references: [],
  numbers: [],
  ids: [],
  days: [],
};

/** One kind of goods in an ERP. Every method @throws Refused, a fault of the ERP. */
export interface GoodsTable<K extends GoodsKind, Row extends GoodsRow> {
  /** Left out: {@link CAPABILITIES}. With `number` in `amend` the number alone can be written anew (`renumbered`). */
  readonly can?: Partial<Capabilities>;
  /** Where the platform's id of an order stands, for people: `its comment`. */
  readonly markedIn?: string;
  accept?(document: Documents[K]): void;
  /** What {@link kept} needs to know of the ERP, in few calls for all. */
  codes?(documents: readonly Documents[K][], call: Call): Promise<void>;
  /** What these books keep otherwise of it. Left out: nothing. @throws Refused when they cannot keep it */
  kept?(document: Documents[K]): Facts | Promise<Facts>;
  /** Was a step to where it stands begun, and is it to be taken again? Of those on the document's own side. */
  isUnfinished?(row: Row, document: Documents[K]): boolean | Promise<boolean>;
  search(where: GoodsWhere, signal: AbortSignal): Promise<readonly Row[]>;
  /** Everything of a side in the scope, in pages; the position of a page resumes after it. */
  list(
    side: LedgerSide,
    scope: Scope,
    from: string | null,
    signal: AbortSignal,
  ): AsyncIterable<RowPage<Row>>;
  /** Of an order its database id. */
  create(desired: Desired<K>, call: Call): Promise<string | void>;
  /** It may be taken again after anything. `amended`: number, lines, date and reference are written anew. */
  apply(to: StepTo | "renumbered", step: Step<K, Row>, call: Call): Promise<void>;
}

const CAPABILITIES: Readonly<Record<GoodsKind, Capabilities>> = {
  order: {
    has: ["draft", "posted", "cancelled"],
    byUs: "posted",
    amend: { lines: "draft", number: "posted" },
    atomic: 1,
    numbered: "per-party",
  },
  shipment: {
    has: ["draft", "posted", "cancelled"],
    byUs: "posted",
    amend: { lines: "draft", "days.date": "draft", reference: "draft", number: "posted" },
    atomic: 1,
    numbered: "once",
  },
};

/** The adapter that the driver works with. */
export function goodsAdapter<K extends GoodsKind, Row extends GoodsRow>(
  kind: K,
  table: GoodsTable<K, Row>,
): LedgerAdapter<K, Row> {
  const can = { ...CAPABILITIES[kind], ...table.can };
  const naming = (kind === "order" ? ordersOf : ticketsOf)(table as never) as Naming<K, Row>;
  return {
    can,
    accept(document) {
      if ("order" in document) expectGallons(document);
      table.accept?.(document);
    },
    async expected(documents, call) {
      await table.codes?.(documents, call);
      return orRefused(documents, async (document) => {
        const [said, kept] = [factsOf(document), await table.kept?.(document)];
        return { ...said, ...kept, words: { ...said.words, ...kept?.words } };
      });
    },
    async locate(desired, { signal }) {
      const all: Entry<Row>[] = [];
      for (const one of desired)
        for (const entry of await naming.located(one, signal)) {
          const isOwn = entry.facts.words?.side === sideOf(one.document);
          const isBegun =
            isOwn && (await table.isUnfinished?.(entry.native, one.document)) === true;
          all.push({ ...entry, unfinished: entry.unfinished || isBegun });
        }
      return all;
    },
    async create(desired, call) {
      const ids: (string | null)[] = [];
      for (const one of desired) {
        const id = await table.create(one, call);
        ids.push(
          typeof id === "string" ? `${sideOf(one.document)} #${id} ${markOf(one.mark)}` : null,
        );
      }
      return ids;
    },
    async apply(to, steps, call) {
      for (const one of steps) {
        const isRenumbered =
          to === "amended" && can.amend["number"] !== undefined && one.differences.every(isNumber);
        await table.apply(isRenumbered ? "renumbered" : to, one, call);
      }
    },
    get: (ids, { signal }) => naming.called(ids, signal),
    named: (numbers, signal) => naming.numbered(numbers.flatMap(spellingsOf), signal),
    async *list(scope, from, signal) {
      const [, begun = SIDES[0], after = ""] = /^(sale|purchase) (.*)$/s.exec(from ?? "") ?? [];
      for (const side of SIDES.slice(SIDES.indexOf(begun as LedgerSide))) {
        const start = side === begun && after !== "" ? after : null;
        for await (const { rows, position } of table.list(side, scope, start, signal))
          yield { entries: rows.map((row) => naming.held(row)), position: `${side} ${position}` };
      }
    },
  };
}

/** How links call the records of one kind. */
interface Naming<K extends GoodsKind, Row extends GoodsRow> {
  /** Those that may be the one of a document, of both sides. */
  located(desired: Desired<K>, signal: AbortSignal): Promise<readonly Entry<Row>[]>;
  called(ids: readonly string[], signal: AbortSignal): Promise<Entry<Row>[]>;
  numbered(numbers: readonly string[], signal: AbortSignal): Promise<Entry<Row>[]>;
  held(row: Row): Entry<Row>;
}

const factsOf = (document: Documents[GoodsKind]): Facts => ({
  number: document.number,
  ...("order" in document && document.date !== null ? { days: { date: document.date } } : {}),
  words: {
    side: sideOf(document),
    ...("order" in document ? { reference: document.reference } : {}),
  },
  lines: document.lines.map((line) => goodsLine(line)),
});

/** What entries of both kinds have in common. @param marked where a person finds whose it is */
const entryOf = <Row extends GoodsRow>(
  row: Row,
  called: string,
  marked: string,
): GoodsEntryOf<Row> => ({
  ...PLAIN_ENTRY,
  id: called,
  mark: row.marks[0] ?? null,
  party: row.party,
  status: row.status === "entered" ? "draft" : row.status,
  facts: {
    party: row.party,
    days: { date: row.date },
    words: { side: row.side },
    ...(row.lines === null ? {} : { lines: row.lines }),
  },
  ...defined({ fixed: row.fixed, besides: row.besides }),
  goods: {
    called: row.called ?? called,
    state: row.state,
    told: `${called} ${row.state}`,
    ...(row.stranger === undefined ? {} : { stranger: row.stranger }),
    unmarking: marked,
  },
  native: row,
});

type GoodsEntryOf<Row> = Entry<Row> & { readonly goods: GoodsEntry };

/* Orders. */

/**
 * What has its mark or its reference, and what its link names; of the other side too. Its number or its mark may have been
 * written over: what is nowhere is looked for among those of its day. What a person entered before us has no mark; another
 * document's is not its own, though books that were restored have given it our number.
 */
function ordersOf<Row extends GoodsRow>(table: GoodsTable<"order", Row>): Naming<"order", Row> {
  const onEachSide = async (
    namesOf: (side: LedgerSide) => Partial<GoodsWhere>,
    signal: AbortSignal,
  ): Promise<readonly Row[]> => {
    const all: Row[] = [];
    for (const side of SIDES) {
      const { days = [], marks = [], ...names } = namesOf(side);
      const rows = await table.search({ ...NOTHING, ...names, marks, side }, signal);
      const isThere = rows.some((row) => marks.includes(row.marks[0] ?? ""));
      const isDone = isThere || days.length === 0;
      const others = isDone ? [] : await table.search({ ...NOTHING, marks, days, side }, signal);
      all.push(...rows, ...others.filter(({ id }) => rows.every((row) => row.id !== id)));
    }
    return all;
  };
  /** `sale 12`, `purchase #5` (a draft has no number): both sides count from 1, and a name must be of one of them. */
  const entryIn = (row: Row, owner = ""): GoodsEntryOf<Row> => {
    const { side, id, number, reference, marks, status } = row;
    const [mark] = marks;
    const called = `${side} ${number ?? `#${id}`}`;
    const namesOf = (name: string): string[] =>
      mark === undefined ? [name] : [name, `${name} ${markOf(mark)}`];
    const entry = entryOf(row, called, `${markOf(mark ?? owner)} out of ${table.markedIn}`);
    return {
      ...entry,
      id: namesOf(called).at(-1) ?? called,
      aliases: [...namesOf(`${side} #${id}`), ...(status === "draft" ? [] : namesOf(called))],
      number: reference,
      facts: { ...(reference === null ? {} : { number: reference }), ...entry.facts },
    };
  };
  /** What has its number was confirmed: one that is open again is of books set back to before that. */
  const held = (row: Row): Entry<Row> => {
    const entry = entryIn(row);
    return entry.status === "draft" ? { ...entry, id: entry.aliases?.[0] ?? null } : entry;
  };
  return {
    held,
    async called(ids, signal) {
      const names = ids.flatMap((id) => orderIn(id) ?? []);
      return (await onEachSide((side) => namesIn(names, side), signal)).map(held);
    },
    async numbered(references, signal) {
      return (await onEachSide(() => ({ references }), signal)).map(held);
    },
    async located({ document, mark, binding }, signal) {
      const named = binding === null ? null : orderIn(binding);
      const isNamed = (side: LedgerSide): boolean =>
        named?.side === side && (side === document.type || named.platformId === null);
      const namesOf = (side: LedgerSide): Partial<GoodsWhere> => ({
        marks: [mark],
        references: spellingsOf(document.number),
        days: side === document.type && document.date !== null ? [document.date] : [],
        ...namesIn(named !== null && isNamed(side) ? [named] : [], side),
      });
      return (await onEachSide(namesOf, signal)).flatMap((row) => {
        const { side, id, number, status, marks } = row;
        const isOwn = side === document.type;
        const isBound =
          isNamed(side) && (number === null ? id === named?.id : number === named?.number);
        const isEntered = isBound || (isOwn && status !== "cancelled");
        if (marks[0] !== mark && (marks[0] !== undefined || !isEntered)) return [];
        const entry = entryIn(row, mark);
        const goods = { ...entry.goods, bound: isOwn && isBound && number !== null };
        return { ...entry, goods };
      });
    },
  };
}

/** What the id of an order says. */
interface OrderName {
  readonly side: LedgerSide;
  /** Null for a draft. */
  readonly number: string | null;
  /** Of a draft: its database id. */
  readonly id: string | null;
  /** The platform's id that the order has; null where a person entered it, and in ids that had no mark yet. */
  readonly platformId: string | null;
}

/**
 * `sale 12 platform:0b6f…`, `purchase #5 platform:…`. In books that were restored a number is given again, and a
 * database id too: only with the mark it is the same order. Null: no id of ours.
 */
export function orderIn(name: string): OrderName | null {
  const [, side, id = null, number = null, platformId = null] =
    /^(sale|purchase) (?:#([\w-]+)|(\S+))(?: platform:(\S+))?$/.exec(name) ?? [];
  return side === undefined ? null : { side: side as LedgerSide, number, id, platformId };
}

const namesIn = (
  names: readonly OrderName[],
  side: LedgerSide,
): Pick<GoodsWhere, "numbers" | "ids"> => {
  const own = names.filter((name) => name.side === side);
  return {
    numbers: own.flatMap(({ number }) => number ?? []),
    ids: own.flatMap(({ id }) => id ?? []),
  };
};

/**
 * Where and when an order's goods are wanted, for the fields that books have for it. It is written with the order and with its
 * lines, and never compared: dispatchers move it on either side, and no amount hangs on it.
 */
export function planOf({ lines, ...order }: OrderDocument) {
  const { shipTo = null, deliveryStart: from, deliveryEnd: until } = order;
  const terminals = new Set(lines.map(({ terminal }) => terminal ?? null));
  const [terminal = null] = terminals.size === 1 ? terminals : [];
  return {
    /** The site's own code in the books. Null: where the party is. */
    shipTo,
    /** The day that was agreed on, else the one that was asked for. */
    day: order.deliveryDate ?? order.requestedDate ?? null,
    /** Of that day, for people: `06:00-10:00`, `from 06:00`. */
    window:
      from && until ? `${from}-${until}` : from ? `from ${from}` : until ? `until ${until}` : null,
    /** Where all of its lines are loaded. */
    terminal,
  };
}

/* Delivery tickets. */

/** @throws Refused for a line that moves nothing: books may drop it silently */
function expectGallons({ lines }: ShipmentDocument): void {
  const empty = lines.find(({ quantity }) => quantity.sign <= 0);
  if (empty === undefined) return;
  throw new Refused({
    code: "no-gallons",
    message: `the line of ${empty.product} moves ${empty.quantity.plain()} ${empty.unit}`,
    next: "Correct the net gallons on the platform's ticket, or void it; the corrected version is delivered by itself.",
    field: "quantity",
  });
}

function ticketsOf<Row extends GoodsRow>(
  table: GoodsTable<"shipment", Row>,
): Naming<"shipment", Row> {
  /** By their numbers, and those that have none of them by their marks: a ticket may have been given another number. */
  const searched = async (
    { marks = [], days = [], ...names }: Partial<GoodsWhere>,
    signal: AbortSignal,
  ): Promise<readonly Row[]> => {
    const rows = await table.search({ ...NOTHING, ...names }, signal);
    const known = new Set(rows.flatMap((row) => row.marks));
    const absent = marks.filter((mark) => !known.has(mark));
    if (absent.length === 0) return rows;
    return [...rows, ...(await table.search({ ...NOTHING, marks: absent, days }, signal))];
  };
  /** @param asked names of links that it is looked for by */
  const entryIn = (
    row: Row,
    { asked = [], mark = "" }: { readonly asked?: readonly string[]; readonly mark?: string } = {},
  ): Entry<Row> => {
    const { id, marks, reference, status } = row;
    const number = row.number ?? "";
    const entry = entryOf(row, number, `the note with ${markOf(mark)} away`);
    const { facts } = entry;
    return {
      ...entry,
      id: `#${id}`,
      aliases: [
        ...(asked.includes(number) || marks.length === 0 ? [number] : []),
        ...BROUGHT[status].flatMap((to) => marks.map((one) => ticketName(number, to, one))),
        // Under the number that it had: it is told by whose it is.
        ...asked.filter((name) => isCalled(row, ticketIn(name))),
      ],
      mark: marks.includes(mark) ? mark : entry.mark,
      number,
      unfinished: status === "entered",
      facts: { ...facts, number, words: { ...facts.words, reference } },
    };
  };
  return {
    held: (row) => entryIn(row),
    async called(asked, signal) {
      const names = asked.map((id) => ({ id, own: OWN.exec(id)?.[1], name: ticketIn(id) }));
      const where = {
        numbers: names.flatMap(({ id, own, name }) => (own ? [] : [name?.number ?? id])),
        ids: names.flatMap(({ own }) => own ?? []),
        marks: names.flatMap(({ name }) => name?.platformId ?? []),
      };
      return (await searched(where, signal)).map((row) => entryIn(row, { asked }));
    },
    async numbered(numbers, signal) {
      return (await searched({ numbers }, signal)).map((row) => entryIn(row));
    },
    async located({ document, mark, number }, signal) {
      const days = document.date === null ? [] : [document.date];
      const where = { numbers: spellingsOf(number), marks: [mark], days };
      return (await searched(where, signal)).map((row) => {
        const entry = entryIn(row, { mark });
        const unfinished = entry.unfinished || !row.marks.includes(mark);
        return { ...entry, unfinished, id: ticketName(entry.number ?? "", document.status, mark) };
      });
    },
  };
}

/** A ticket of which no link tells, by its database id: two of one number and one mark are two. */
const OWN = /^#(.+)$/;

/**
 * `DT-1001 done platform:1c2d…`: its number, what it was brought to, and whose it is. Books that were restored may have
 * it as it was before, or another one under its number.
 */
const ticketName = (number: string, status: string, mark: string): string =>
  `${number} ${status} ${markOf(mark)}`;

/** What such a name says. */
interface TicketName {
  readonly number: string;
  readonly status: string;
  /** `DT-1001 done` */
  readonly brought: string;
  readonly platformId: string;
}

/** Null: no name of ours. */
export function ticketIn(id: string): TicketName | null {
  const { groups } =
    /^(?<brought>(?<number>.+) (?<status>waiting|done|cancelled)) platform:(?<platformId>\S+)$/.exec(
      id,
    ) ?? {};
  return groups === undefined ? null : { ...(groups as unknown as TicketName) };
}

/** What a ticket may have said to bring it there. Not what a person cancelled since then: that is not lost. */
const BROUGHT: Readonly<Record<GoodsRow["status"], readonly ShipmentDocument["status"][]>> = {
  entered: [],
  draft: ["waiting"],
  posted: ["waiting", "done"],
  cancelled: ["waiting", "done", "cancelled"],
};

const isCalled = ({ marks, status }: GoodsRow, name: TicketName | null): boolean =>
  name !== null &&
  marks.includes(name.platformId) &&
  BROUGHT[status].some((brought) => brought === name.status);

/** What moved and when, in words: for books that have a note alone. */
export const haulOf = ({ note, deliveredAt }: ShipmentDocument): string =>
  [note, deliveredAt && `delivered at ${deliveredAt}`].filter(Boolean).join("\n");

/** The note of a ticket, for books that keep it whole. The platform's id is in its last line. */
export const noteOf = (document: ShipmentDocument): string =>
  [haulOf(document), markOf(document.id)].filter(Boolean).join("\n");
