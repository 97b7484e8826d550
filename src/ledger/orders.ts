/**
 * Orders of both sides: how links call them, which of those that books show may be the one of a document, and what an ERP
 * adds so that goods.ts can plan them.
 */
import { Refused } from "../core/errors.ts";
import type { Day, FactLine, Facts, Scope } from "../core/holdings.ts";
import { spellingsOf } from "../core/keys.ts";
import type { OrderDocument, ShipmentDocument } from "./documents.ts";
import { orRefused } from "./entries.ts";
import { goodsLine } from "./goods.ts";
import { markOf, platformIdIn } from "./notes.ts";
import {
  type Call,
  type Capabilities,
  type Desired,
  type Entry,
  type GoodsAdapter,
  PLAIN_ENTRY,
  type RowPage,
  type Step,
  type StepTo,
} from "./port.ts";

type Side = OrderDocument["type"];
const SIDES = ["sale", "purchase"] as const;

/** An order as books show it. */
export interface BookedOrder<Native> {
  readonly side: Side;
  /** Of the database: a name for as long as there is no number. */
  readonly id: string;
  /** That the books gave it; null: they have given none yet. */
  readonly number: string | null;
  /** How far it is, in the ERP's own word. */
  readonly state: string;
  readonly status: "draft" | "posted" | "cancelled";
  /** The platform's id of it; null: a person entered it. */
  readonly mark: string | null;
  /** The platform's number. */
  readonly reference: string | null;
  readonly party: string;
  /** `YYYY-MM-DD`; null: it has none yet. */
  readonly date: Day | null;
  readonly lines: readonly FactLine[];
  /** See {@link GoodsEntry.stranger}. */
  readonly stranger?: string;
  /** See {@link GoodsEntry.open}. */
  readonly open?: boolean;
  readonly native: Native;
}

/** What is looked for: everything that one of these names. */
export interface OrderNames {
  readonly marks: readonly string[];
  readonly references: readonly string[];
  readonly numbers: readonly string[];
  readonly ids: readonly string[];
  /** Days of those that are looked for by their mark: where books cannot be asked for marks, all of a day are read. */
  readonly days: readonly string[];
}

const NOTHING: OrderNames = { marks: [], references: [], numbers: [], ids: [], days: [] };

/** What an ERP adds. Every method @throws Refused, a fault of the ERP. */
interface OrderDesk<Native> {
  /** Where its mark is, for people: `its comment`. */
  readonly markedIn: string;
  /** Left out: drafts, which are confirmed. */
  readonly can?: Capabilities;
  /** The record that these books keep of it. Left out: all that it says. @throws Refused when they cannot keep it */
  kept?(document: OrderDocument): Facts;
  search(
    side: Side,
    names: OrderNames,
    signal: AbortSignal,
  ): Promise<readonly BookedOrder<Native>[]>;
  /** Everything of a side in the scope, in pages; the position of a page resumes after it. */
  list(
    side: Side,
    scope: Scope,
    from: string | null,
    signal: AbortSignal,
  ): AsyncIterable<RowPage<BookedOrder<Native>>>;
  /** Of a posted one: a step that was begun, and is to be taken again, is not complete. */
  isUnfinished(order: BookedOrder<Native>): Promise<boolean>;
  /** Its database id. */
  create(desired: Desired<"order">, call: Call): Promise<string>;
  /** Writes its number alone anew, however far it is. Left out: a step to `amended` does, while its lines can be changed. */
  renumber?(desired: Desired<"order">, native: Native, call: Call): Promise<void>;
  /** It may be taken again after anything. `amended`: its number and its lines are written anew. */
  step(to: StepTo, step: Step<"order", Native>, call: Call): Promise<void>;
}

const ORDER_CAPABILITIES: Capabilities = {
  has: ["draft", "posted", "cancelled"],
  byUs: "posted",
  amend: { lines: "draft" },
  atomic: 1,
  numbered: "per-party",
};

export const orderAdapter = <Native>(desk: OrderDesk<Native>): GoodsAdapter<"order", Native> => ({
  can: desk.can ?? ORDER_CAPABILITIES,
  expected: (documents) => orRefused(documents, async (one) => desk.kept?.(one) ?? orderFacts(one)),
  async locate(desired, { signal }) {
    const all: Entry<Native>[] = [];
    for (const one of desired)
      for (const side of SIDES) all.push(...(await locate(desk, side, one, signal)));
    return all;
  },
  async create(desired, call) {
    const ids: string[] = [];
    for (const one of desired)
      ids.push(`${one.document.type} #${await desk.create(one, call)} ${markOf(one.mark)}`);
    return ids;
  },
  async apply(to, steps, call) {
    for (const one of steps)
      if (to === "amended" && desk.renumber && one.differences.every(isNumber))
        await desk.renumber(one.desired, one.entry.native, call);
      else await desk.step(to, one, call);
  },
  get: (ids, { signal }) =>
    heldBy(desk, signal, (side) =>
      namesIn(ids.flatMap((id) => orderIn(id) ?? []).filter((name) => name.side === side)),
    ),
  named: (numbers, signal) =>
    heldBy(desk, signal, () => ({ references: numbers.flatMap(spellingsOf) })),
  async *list(scope, from, signal) {
    const [, begun = SIDES[0], after = ""] = /^(sale|purchase) (.*)$/s.exec(from ?? "") ?? [];
    for (const side of SIDES.slice(SIDES.indexOf(begun as Side))) {
      const start = side === begun && after !== "" ? after : null;
      for await (const { rows, position } of desk.list(side, scope, start, signal))
        yield {
          entries: rows.map((row) => heldOf(desk, row)),
          position: `${side} ${position}`,
        };
    }
  },
});

async function heldBy<Native>(
  desk: OrderDesk<Native>,
  signal: AbortSignal,
  namesOf: (side: Side) => Partial<OrderNames>,
): Promise<Entry<Native>[]> {
  const all: Entry<Native>[] = [];
  for (const side of SIDES)
    for (const row of await desk.search(side, { ...NOTHING, ...namesOf(side) }, signal))
      all.push(heldOf(desk, row));
  return all;
}

/** What has its number was confirmed: one that is open again is of books set back to before that. */
function heldOf<Native>(desk: OrderDesk<Native>, row: BookedOrder<Native>): Entry<Native> {
  const one = orderEntry(desk, row);
  return one.status === "draft" ? { ...one, id: one.aliases?.[0] ?? null } : one;
}

const isNumber = ({ field }: { readonly field: string }): boolean => field === "number";

const orderFacts = ({ type, number, lines }: OrderDocument): Facts => ({
  number,
  words: { side: type },
  lines: lines.map(({ product, quantity, unit, unitPrice }) =>
    goodsLine({ product, quantity, unit, unitPrice }),
  ),
});

/**
 * What has its mark or its reference, and what its link names; of the other side too. What a person entered before us has
 * no mark; another document's is not its own, though books that were restored have given it our number.
 */
async function locate<Native>(
  desk: OrderDesk<Native>,
  side: Side,
  { document, mark, binding }: Desired<"order">,
  signal: AbortSignal,
): Promise<Entry<Native>[]> {
  const isOwn = side === document.type;
  const named = binding === null ? null : orderIn(binding);
  const called = named?.side === side && (isOwn || named.platformId === null) ? named : null;
  const names = {
    marks: [mark],
    references: spellingsOf(document.number),
    days: isOwn && document.date !== null ? [document.date] : [],
    ...namesIn(called ? [called] : []),
  };
  const found: Entry<Native>[] = [];
  for (const order of await desk.search(side, names, signal)) {
    const { id, number, status } = order;
    const bound = number === null ? id === called?.id : number === called?.number;
    const isEntered = bound || (isOwn && status !== "cancelled");
    if (order.mark !== mark && (order.mark !== null || !isEntered)) continue;
    const unfinished = isOwn && status === "posted" && (await desk.isUnfinished(order));
    found.push(
      orderEntry(desk, order, {
        unfinished,
        bound: isOwn && bound && number !== null,
        owner: mark,
      }),
    );
  }
  return found;
}

/** What the id of an order says. */
interface OrderName {
  readonly side: Side;
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
  return side === undefined ? null : { side: side as Side, number, id, platformId };
}

const namesIn = (names: readonly OrderName[]): Pick<OrderNames, "numbers" | "ids"> => ({
  numbers: names.flatMap(({ number }) => number ?? []),
  ids: names.flatMap(({ id }) => id ?? []),
});

/** `sale 12`, `purchase #5` (a draft has no number): both sides count from 1, and a name must be of one of them. */
function orderEntry<Native>(
  { markedIn, renumber }: Pick<OrderDesk<Native>, "markedIn" | "renumber">,
  order: BookedOrder<Native>,
  { unfinished = false, bound = false, owner = "" } = {},
): Entry<Native> {
  const { side, id, number, state, status, mark, reference, party, lines, native } = order;
  const { stranger, open, date } = order;
  const called = `${side} ${number ?? `#${id}`}`;
  const marked = (name: string): string[] =>
    mark === null ? [name] : [name, `${name} ${markOf(mark)}`];
  return {
    ...PLAIN_ENTRY,
    id: marked(called).at(-1) ?? called,
    aliases: [...marked(`${side} #${id}`), ...(status === "draft" ? [] : marked(called))],
    mark,
    number: reference,
    party,
    status,
    unfinished,
    facts: {
      ...(reference === null ? {} : { number: reference }),
      party,
      days: { date },
      words: { side },
      lines,
    },
    goods: {
      called,
      state,
      told: `${called} ${state}`,
      bound,
      ...(stranger === undefined ? {} : { stranger }),
      ...(open === undefined ? {} : { open }),
      renumbers: renumber !== undefined,
      unmarking: `${markOf(mark ?? owner)} out of ${markedIn}`,
    },
    native,
  };
}

/*
 * Delivery tickets of both sides, under their own numbers: how links call them, what their notes say, and what an ERP adds
 * so that goods.ts can plan them. Whose one is, and what books have no field for, is in its notes.
 */

/** A ticket as books show it. */
export interface BookedTicket<Native> {
  readonly type: ShipmentDocument["type"];
  /** Of the database: no other of either type has it. */
  readonly id: string;
  readonly number: string;
  /** What people call it there: `stock.shipment.out 12 (#5)`. */
  readonly called: string;
  /** How far it is, in the ERP's own word. */
  readonly state: string;
  /** `waiting` is as far as a ticket that waits brings it; `entered` is before that. */
  readonly stage: "entered" | "waiting" | "done" | "cancelled";
  /** Its lines can be changed no more. */
  readonly fixed: boolean;
  /** See {@link GoodsEntry.open}. */
  readonly open?: boolean;
  readonly party: string;
  readonly reference: string | null;
  readonly date: string | null;
  readonly lines: readonly FactLine[];
  readonly notes: readonly (string | null)[];
  readonly native: Native;
}

/** What is looked for: everything that one of these names. `ids`: {@link BookedTicket.id}. */
export type TicketNames = Omit<OrderNames, "references">;

/** What an ERP adds. Every method @throws Refused, a fault of the ERP; it may be called again after anything. */
interface TicketDesk<Native> {
  /** Left out: tickets wait as drafts. */
  readonly can?: Capabilities;
  /** The record that these books keep of it. Left out: all that it says. @throws Refused when they cannot keep it */
  kept?(document: ShipmentDocument): Facts;
  /** Is its whole note written with it, in one request? Left out: it is a note of its own. */
  readonly notes?: "within";
  /** Those of both types. */
  search(names: TicketNames, signal: AbortSignal): Promise<readonly BookedTicket<Native>[]>;
  /** Everything of both types in the scope, in pages; the position of a page resumes after it. */
  list(
    scope: Scope,
    from: string | null,
    signal: AbortSignal,
  ): AsyncIterable<RowPage<BookedTicket<Native>>>;
  create(desired: Desired<"shipment">, call: Call): Promise<void>;
  note(native: Native, text: string, call: Call): Promise<void>;
  /** Writes its number alone anew, however far it is. Left out: only {@link amend} does. */
  renumber?(desired: Desired<"shipment">, native: Native, call: Call): Promise<void>;
  /** Writes its number, its lines, its date and its reference anew. */
  amend(desired: Desired<"shipment">, native: Native, call: Call): Promise<void>;
  cancel(native: Native, call: Call): Promise<void>;
  bring(native: Native, to: "waiting" | "done", call: Call): Promise<void>;
}

const TICKET_CAPABILITIES: Capabilities = {
  has: ["draft", "posted", "cancelled"],
  byUs: "posted",
  amend: { lines: "draft", "days.date": "draft", reference: "draft" },
  atomic: 1,
  numbered: "once",
};

export const ticketAdapter = <Native>(
  desk: TicketDesk<Native>,
): GoodsAdapter<"shipment", BookedTicket<Native>> => ({
  can: desk.can ?? TICKET_CAPABILITIES,
  accept: expectGallons,
  expected: (documents) =>
    orRefused(documents, async (one) => desk.kept?.(one) ?? ticketFacts(one)),
  async locate([desired], { signal }) {
    if (desired === undefined) return [];
    const { document, mark, number } = desired;
    const days = document.date === null ? [] : [document.date];
    const names = { ...NOTHING, numbers: spellingsOf(number), marks: [mark], days };
    const tickets = await searched(desk, names, signal);
    return tickets.map((ticket) => ticketEntry(desk, ticket, [], desired));
  },
  async create(desired, call) {
    for (const one of desired) await desk.create(one, call);
    return desired.map(() => null);
  },
  async apply(to, steps, call) {
    for (const one of steps) await step(desk, to, one, call);
  },
  async get(ids, { signal }) {
    const names = ids.map((id) => ({ id, own: OWN.exec(id)?.[1], name: ticketIn(id) }));
    const numbers = names.flatMap(({ id, own, name }) =>
      own === undefined ? [name?.number ?? id] : [],
    );
    const marks = names.flatMap(({ name }) => name?.platformId ?? []);
    const own = names.flatMap((one) => one.own ?? []);
    const tickets = await searched(desk, { numbers, ids: own, marks, days: [] }, signal);
    return tickets.map((ticket) => ticketEntry(desk, ticket, ids));
  },
  async named(numbers, signal) {
    const names = { ...NOTHING, numbers: numbers.flatMap(spellingsOf) };
    return (await desk.search(names, signal)).map((ticket) => ticketEntry(desk, ticket, []));
  },
  async *list(scope, from, signal) {
    for await (const { rows, position } of desk.list(scope, from, signal))
      yield { entries: rows.map((ticket) => ticketEntry(desk, ticket, [])), position };
  },
});

/** A ticket of which no link tells, by its database id: two of one number and one mark are two. */
const OWN = /^#(.+)$/;

/** By their numbers, and those that have none of them by their marks: a ticket may have been given another number. */
async function searched<Native>(
  desk: Pick<TicketDesk<Native>, "search">,
  { numbers, ids, marks, days }: TicketNames,
  signal: AbortSignal,
): Promise<readonly BookedTicket<Native>[]> {
  const named = await desk.search({ ...NOTHING, numbers, ids }, signal);
  const known = new Set(named.flatMap(ticketsOf));
  const absent = marks.filter((mark) => !known.has(mark));
  if (absent.length === 0) return named;
  return [...named, ...(await desk.search({ ...NOTHING, marks: absent, days }, signal))];
}

/** The platform's ids of tickets that its notes name. */
export const ticketsOf = ({ notes }: Pick<BookedTicket<unknown>, "notes">): string[] =>
  notes.flatMap((note) => platformIdIn(note) ?? []);

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

const sideOf = ({ type }: Pick<ShipmentDocument, "type">): "sale" | "purchase" =>
  type === "out" ? "sale" : "purchase";

const ticketFacts = ({ type, number, date, reference, lines }: ShipmentDocument): Facts => ({
  number,
  ...(date === null ? {} : { days: { date } }),
  words: { side: sideOf({ type }), reference },
  lines: lines.map(({ product, quantity, unit }) =>
    goodsLine({ product, quantity, unit, unitPrice: null }),
  ),
});

/**
 * `DT-1001 done platform:1c2d…`: its number, what it was brought to, and whose it is. Books that were restored may have
 * it as it was before, or another one under its number.
 */
const idOf = ({ number, status, id }: Pick<ShipmentDocument, "number" | "status" | "id">): string =>
  `${number} ${status} ${markOf(id)}`;

/** What such an id says. */
interface TicketName {
  readonly number: string;
  readonly status: string;
  /** `DT-1001 done` */
  readonly brought: string;
  readonly platformId: string;
}

/** Null: no id of ours. */
export function ticketIn(id: string): TicketName | null {
  const { groups } =
    /^(?<brought>(?<number>.+) (?<status>waiting|done|cancelled)) platform:(?<platformId>\S+)$/.exec(
      id,
    ) ?? {};
  return groups === undefined ? null : { ...(groups as unknown as TicketName) };
}

/** What a ticket may have said to bring it there. Not what a person cancelled since then: that is not lost. */
const STATUSES: Readonly<
  Record<BookedTicket<unknown>["stage"], readonly ShipmentDocument["status"][]>
> = {
  entered: [],
  waiting: ["waiting"],
  done: ["waiting", "done"],
  cancelled: ["waiting", "done", "cancelled"],
};

function ticketEntry<Native>(
  desk: Pick<TicketDesk<Native>, "notes" | "renumber">,
  ticket: BookedTicket<Native>,
  asked: readonly string[],
  desired?: Desired<"shipment">,
): Entry<BookedTicket<Native>> {
  const { called, number, state, stage, fixed, open, date, reference, lines } = ticket;
  const tickets = ticketsOf(ticket);
  const isOurs = desired !== undefined && tickets.includes(desired.mark);
  const isComplete =
    desired === undefined || (isNoted(desk, desired.document, ticket) && stage !== "entered");
  return {
    ...PLAIN_ENTRY,
    id: desired === undefined ? `#${ticket.id}` : idOf({ ...desired.document, number }),
    aliases: [
      ...(asked.includes(number) || tickets.length === 0 ? [number] : []),
      ...STATUSES[stage].flatMap((status) => tickets.map((id) => idOf({ number, status, id }))),
      // Under the number that it had: it is told by whose it is.
      ...asked.filter((id) => isCalled(ticket, ticketIn(id))),
    ],
    mark: isOurs ? desired.mark : (tickets[0] ?? null),
    number,
    party: ticket.party,
    status: stage === "cancelled" ? stage : stage === "done" ? "posted" : "draft",
    unfinished: !isComplete,
    facts: {
      number,
      party: ticket.party,
      days: { date },
      words: { side: sideOf(ticket), reference },
      lines,
    },
    goods: {
      called,
      state,
      told: `${number} ${state}`,
      fixed,
      ...(open === undefined ? {} : { open }),
      renumbers: desk.renumber !== undefined,
      unmarking: `the note with ${markOf(desired?.mark ?? "")} away`,
    },
    native: ticket,
  };
}

const isCalled = (ticket: BookedTicket<unknown>, name: TicketName | null): boolean =>
  name !== null &&
  ticketsOf(ticket).includes(name.platformId) &&
  STATUSES[ticket.stage].some((status) => status === name.status);

/** Of a void one, and where the note is part of the ticket, only whose it is still matters. */
const isNoted = (
  { notes }: Pick<TicketDesk<never>, "notes">,
  document: ShipmentDocument,
  ticket: BookedTicket<unknown>,
): boolean =>
  document.status === "cancelled" || notes === "within"
    ? ticketsOf(ticket).includes(document.id)
    : ticket.notes.includes(noteOf(document));

/** The platform's id is in its last line. */
const noteOf = ({ id, note }: ShipmentDocument): string =>
  [...(note === null ? [] : [note]), markOf(id)].join("\n");

async function step<Native>(
  desk: TicketDesk<Native>,
  to: StepTo,
  { desired, entry: { native: ticket }, differences }: Step<"shipment", BookedTicket<Native>>,
  call: Call,
): Promise<void> {
  const { document } = desired;
  if (to === "amended" && desk.renumber && differences.every(({ field }) => field === "number"))
    return desk.renumber(desired, ticket.native, call);
  if (to === "amended") return desk.amend(desired, ticket.native, call);
  if (!isNoted(desk, document, ticket)) await desk.note(ticket.native, noteOf(document), call);
  if (to !== "cancelled")
    return desk.bring(ticket.native, document.status === "done" ? "done" : "waiting", call);
  if (ticket.stage !== "cancelled") await desk.cancel(ticket.native, call);
}
