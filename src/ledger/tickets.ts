/**
 * Delivery tickets of both sides, under their own numbers: how links call them, what their notes say, and what an ERP adds
 * so that goods.ts can plan them. Whose one is, and what books have no field for, is in its notes.
 */
import { Refused } from "../core/errors.ts";
import type { Facts, FactLine, Scope } from "../core/holdings.ts";
import { spellingsOf } from "../core/keys.ts";
import {
  PLAIN_ENTRY,
  type Call,
  type GoodsAdapter,
  type GoodsPage,
  type Capabilities,
  type Entry,
  type Step,
  type StepTo,
  type Desired,
} from "./port.ts";
import type { ShipmentDocument } from "./documents.ts";
import { orRefused } from "./facts.ts";
import { goodsLine } from "./goods.ts";
import { markOf, platformIdIn } from "./marks.ts";

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

/** What is looked for: everything that one of these names. */
export interface TicketNames {
  readonly numbers: readonly string[];
  /** {@link BookedTicket.id} */
  readonly ids: readonly string[];
  /** Platform's ids that notes name. */
  readonly marks: readonly string[];
  /** Days of those that are looked for by their mark: where books cannot be asked for marks, all of a day are read. */
  readonly days: readonly string[];
}

/** What an ERP adds. Every method @throws Refused, a fault of the ERP; it may be called again after anything. */
export interface TicketDesk<Native> {
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
  ): AsyncIterable<GoodsPage<BookedTicket<Native>>>;
  create(desired: Desired<"shipment">, call: Call): Promise<void>;
  note(native: Native, text: string, call: Call): Promise<void>;
  /** Writes its number alone anew, however far it is. Left out: only {@link amend} does. */
  renumber?(desired: Desired<"shipment">, native: Native, call: Call): Promise<void>;
  /** Writes its number, its lines, its date and its reference anew. */
  amend(desired: Desired<"shipment">, native: Native, call: Call): Promise<void>;
  cancel(native: Native, call: Call): Promise<void>;
  bring(native: Native, to: "waiting" | "done", call: Call): Promise<void>;
}

const CAPABILITIES: Capabilities = {
  has: ["draft", "posted", "cancelled"],
  byUs: "posted",
  amend: { lines: "draft", "days.date": "draft", reference: "draft" },
  atomic: 1,
  numbered: "once",
};

export const ticketAdapter = <Native>(
  desk: TicketDesk<Native>,
): GoodsAdapter<"shipment", BookedTicket<Native>> => ({
  can: desk.can ?? CAPABILITIES,
  accept: expectGallons,
  expected: (documents) => orRefused(documents, async (one) => desk.kept?.(one) ?? factsOf(one)),
  async locate([desired], { signal }) {
    if (desired === undefined) return [];
    const { document, mark, number } = desired;
    const days = document.date === null ? [] : [document.date];
    const tickets = await searched(
      desk,
      { numbers: spellingsOf(number), ids: [], marks: [mark], days },
      signal,
    );
    return tickets.map((ticket) => entryOf(desk, ticket, [], desired));
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
    return tickets.map((ticket) => entryOf(desk, ticket, ids));
  },
  async named(numbers, signal) {
    const names = { numbers: numbers.flatMap(spellingsOf), ids: [], marks: [], days: [] };
    return (await desk.search(names, signal)).map((ticket) => entryOf(desk, ticket, []));
  },
  async *list(scope, from, signal) {
    for await (const { rows, position } of desk.list(scope, from, signal))
      yield { entries: rows.map((ticket) => entryOf(desk, ticket, [])), position };
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
  const named = await desk.search({ numbers, ids, marks: [], days: [] }, signal);
  const known = new Set(named.flatMap(ticketsOf));
  const absent = marks.filter((mark) => !known.has(mark));
  if (absent.length === 0) return named;
  const marked = await desk.search({ numbers: [], ids: [], marks: absent, days }, signal);
  return [...named, ...marked];
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

const factsOf = ({ type, number, date, reference, lines }: ShipmentDocument): Facts => ({
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
export interface TicketName {
  readonly number: string;
  readonly status: string;
  /** `DT-1001 done` */
  readonly brought: string;
  readonly platformId: string;
}

/** Null: before they said more, ids were the number. */
export function ticketIn(id: string): TicketName | null {
  const [, brought, number, status, platformId] =
    /^((.+) (waiting|done|cancelled)) platform:(\S+)$/.exec(id) ?? [];
  return brought === undefined ||
    number === undefined ||
    status === undefined ||
    platformId === undefined
    ? null
    : { number, status, brought, platformId };
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

function entryOf<Native>(
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
