/**
 * Orders and delivery tickets of both sides as tables: how links call them, which of those that books show may be the one
 * of a document, and what an ERP supplies so that goods.ts can plan them. An order has the books' own number and carries
 * the platform's as its reference; a ticket stands under its own number.
 */
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import type { Day, FactLine, Facts, Scope } from "../core/holdings.ts";
import { spellingsOf } from "../core/keys.ts";
import type { OrderDocument, ShipmentDocument } from "./documents.ts";
import { orRefused } from "./entries.ts";
import { goodsLine, isNumber } from "./goods.ts";
import { markOf } from "./notes.ts";
import {
  type Call,
  type Capabilities,
  type Desired,
  type Documents,
  type Entry,
  type GoodsEntry,
  type GoodsKind,
  type LedgerAdapter,
  type LedgerSide,
  PLAIN_ENTRY,
  type RowPage,
  sideOf,
  SIDES,
  type Step,
  type StepTo,
} from "./port.ts";

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
export interface GoodsWhere {
  /** Of orders: those of this side are asked for. Tickets of both sides are asked for at once. */
  readonly side: LedgerSide;
  readonly marks: readonly string[];
  /** The platform's numbers of orders. */
  readonly references: readonly string[];
  /** The books' numbers of orders, the numbers of tickets. */
  readonly numbers: readonly string[];
  readonly ids: readonly string[];
  /** Days of those that are looked for by their mark: where books cannot be asked for marks, all of a day are read. */
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
  /** What these books keep of it. Left out: all that it says. @throws Refused when they cannot keep it */
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
      return orRefused(
        documents,
        async (document) => (await table.kept?.(document)) ?? factsOf(document),
      );
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
  lines: document.lines.map(({ product, quantity, unit, ...line }) =>
    goodsLine({ product, quantity, unit, unitPrice: "unitPrice" in line ? line.unitPrice : null }),
  ),
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
 * What has its mark or its reference, and what its link names; of the other side too. What a person entered before us has
 * no mark; another document's is not its own, though books that were restored have given it our number.
 */
function ordersOf<Row extends GoodsRow>(table: GoodsTable<"order", Row>): Naming<"order", Row> {
  const onEachSide = async (
    namesOf: (side: LedgerSide) => Partial<GoodsWhere>,
    signal: AbortSignal,
  ): Promise<readonly Row[]> => {
    const all: Row[] = [];
    for (const side of SIDES)
      all.push(...(await table.search({ ...NOTHING, ...namesOf(side), side }, signal)));
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
export function planOf({ lines, ...order }: OrderDocument): OrderPlan {
  const { shipTo = null, deliveryStart: from, deliveryEnd: until } = order;
  const terminals = new Set(lines.map(({ terminal }) => terminal ?? null));
  const [terminal = null] = terminals.size === 1 ? terminals : [];
  return {
    shipTo,
    day: order.deliveryDate ?? order.requestedDate ?? null,
    window:
      from && until ? `${from}-${until}` : from ? `from ${from}` : until ? `until ${until}` : null,
    terminal,
  };
}

interface OrderPlan {
  /** The site's own code in the books. Null: where the party is. */
  readonly shipTo: string | null;
  /** The day that was agreed on, else the one that was asked for. */
  readonly day: Day | null;
  /** Of that day, for people: `06:00-10:00`, `from 06:00`. */
  readonly window: string | null;
  /** Where all of its lines are loaded. */
  readonly terminal: string | null;
}

/* Delivery tickets. */

/** @throws Refused for a line that moves nothing: books may drop it silently */
function expectGallons({ lines }: ShipmentDocument): void {
  const empty = lines.find(({ quantity }) => quantity.sign <= 0);
  if (empty === undefined) return;
  throw new Refused({
    code: "no-gallons",
    message: `the line of ${empty.product} moves ${empty.quantity.text} ${empty.unit}`,
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
