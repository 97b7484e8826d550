/**
 * Delivery tickets in Tryton, for the driver of src/books: customer shipments and supplier shipments, under the ticket's
 * own number. Whose one is, and what Tryton has no field for, is in its notes.
 *
 * A ticket's moves belong to the lines of its order where it has one. They may be less than was ordered, or more, or
 * one of several loads: nothing is planned for the difference, and the order stays done, for what Tryton expected of it
 * was closed when the order was booked (orders-expected.ts).
 */
import {
  BARE,
  type GoodsAdapter,
  type Standing,
  type Step,
  type StepTo,
  type Wanted,
} from "../../src/books/adapter.ts";
import type { ShipmentDocument } from "../../src/books/documents.ts";
import { goodsLine } from "../../src/books/goods.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Facts } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import { TrytonError } from "./errors.ts";
import { accept } from "./invoice-steps.ts";
import { markOf, platformIdIn } from "../../src/books/marks.ts";
import { notesOf } from "./notes.ts";
import { type Addressed, addressedAll } from "./parties.ts";
import { buttonIn, isWarningOf } from "./release.ts";
import { ofCompany, rowOf, rowsOf } from "./search.ts";
import { KINDS, shipmentValues } from "./shipments-values.ts";
import { exact } from "./values.ts";

type Type = ShipmentDocument["type"];
type State =
  "draft" | "waiting" | "assigned" | "picked" | "packed" | "received" | "done" | "cancelled";

/** A shipment as it stands in Tryton. */
interface Row {
  readonly id: number;
  readonly type: Type;
  /** `stock.shipment.out,12` */
  readonly resource: string;
  readonly number: string;
  readonly state: State;
  readonly party: string;
  readonly reference: string | null;
  readonly date: string | null;
  /** Those that cross our border; the others are between our own places. */
  readonly moves: readonly Move[];
  /** Its notes, and the platform's tickets that these name. */
  readonly notes: readonly (string | null)[];
  readonly tickets: readonly string[];
}

interface Move {
  readonly id: number;
  readonly quantity: Decimal | number;
  /** `sale.line,12` */
  readonly origin: string | null;
  readonly product: string | null;
  readonly unit: string;
}

const TYPES = ["out", "in"] as const;

export const shipmentAdapter = (books: Books): GoodsAdapter<"shipment", Row> => ({
  ladder: {
    has: ["draft", "posted", "cancelled"],
    byUs: "posted",
    amend: { lines: "draft", "days.date": "draft", reference: "draft" },
    atomic: 1,
    numbered: "once",
  },
  accept: expectGallons,
  expected: async (documents) => documents.map(expectedOf),
  async locate([wanted]) {
    if (wanted === undefined) return [];
    const rows = await read(books, [wanted.number]);
    return rows.map((row) => standingOf(row, wanted));
  },
  async create(wanted) {
    const parties = await addressedAll(books, wanted);
    for (const [at, { document }] of wanted.entries()) {
      const values = await shipmentValues(books, document, parties[at] as Addressed);
      await books.tryton.call(`model.${KINDS[document.type].model}.create`, [[values]]);
    }
    return wanted.map(() => null);
  },
  async advance(to, steps) {
    for (const one of steps) await step(books, to, one);
  },
  async get(ids, { signal }) {
    const numbers = ids.map((id) => ticketIn(id)?.number ?? id);
    return (await read(books, numbers, signal)).map((row) => standingOf(row));
  },
});

/** The shipment of a ticket, `stock.shipment.out,12`; null: there is none. @throws TrytonError */
export async function resourceOf(
  books: Books,
  number: string,
  ticket: string,
): Promise<string | null> {
  const own = (await read(books, [number])).find(({ tickets }) => tickets.includes(ticket));
  return own?.resource ?? null;
}

/** @throws Refused for a line that moves nothing: Tryton would drop it silently */
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

const expectedOf = ({ type, date, reference, lines }: ShipmentDocument): Facts => ({
  ...(date === null ? {} : { days: { date } }),
  words: { side: KINDS[type].order, reference },
  lines: lines.map(({ product, quantity, unit }) =>
    goodsLine({ product, quantity, unit, unitPrice: null }),
  ),
});

/** Those of both types with one of these numbers, and their notes. */
async function read(
  books: Books,
  numbers: readonly string[],
  signal?: AbortSignal,
): Promise<Row[]> {
  const { moveUnit } = await books.tryton.release();
  const domain = [await ofCompany(books), ["number", "in", numbers]];
  const all: Row[] = [];
  for (const type of TYPES) {
    const { model, moves, party } = KINDS[type];
    const parts = `${moves}(quantity origin product.code ${moveUnit}.symbol)`;
    const fields = `number state reference effective_date ${party}.code ${parts}`;
    const rows = await rowsOf<AnyRow>(books, model, domain, fields, { signal });
    const resources = rows.map(({ id }) => `${model},${id}`);
    const notes = await notesOf(books).on(resources, []);
    for (const { id, number, state, reference, effective_date, ...row } of rows) {
      const resource = `${model},${id}`;
      const its = notes.filter((note) => note.resource === resource);
      all.push({
        id,
        type,
        resource,
        number,
        state,
        reference,
        date: effective_date,
        party: (row[`${party}.`] as { code: string }).code,
        moves: (row[`${moves}.`] as AnyMove[])
          .toSorted((one, other) => one.id - other.id)
          .map((move) => ({
            ...move,
            product: move["product."].code,
            unit: (move[`${moveUnit}.`] as { symbol: string }).symbol,
          })),
        notes: its.map(({ message }) => message),
        tickets: its.flatMap(({ message }) => platformIdIn(message) ?? []),
      });
    }
  }
  return all;
}

type AnyRow = Pick<Row, "id" | "number" | "state" | "reference"> & {
  readonly effective_date: string | null;
  readonly [field: string]: unknown;
};
type AnyMove = Pick<Move, "id" | "quantity" | "origin"> & {
  readonly "product.": { readonly code: string | null };
  readonly [field: string]: unknown;
};

/**
 * `DT-1001 done platform:1c2d…`: its number, what it was brought to, and whose it is. Books that were restored may have
 * it as it was before, or another one under its number.
 */
const idOf = ({ number, status, id }: Pick<ShipmentDocument, "number" | "status" | "id">): string =>
  `${number} ${status} ${markOf(id)}`;

/** Of such an id: `DT-1001` and `DT-1001 done`. Null: before they said more, ids were the number. */
export function ticketIn(id: string): { readonly number: string; readonly brought: string } | null {
  const [, brought, number] = /^((.+) (?:waiting|done|cancelled)) platform:\S+$/.exec(id) ?? [];
  return brought === undefined || number === undefined ? null : { number, brought };
}

function standingOf(row: Row, wanted?: Wanted<"shipment">): Standing<Row> {
  const { id, type, number, state, tickets } = row;
  const rung = state === "cancelled" ? state : state === "done" ? "posted" : "draft";
  const names = statusesOf(row).flatMap((status) =>
    tickets.map((ticket) => idOf({ number, status, id: ticket })),
  );
  const isOurs = wanted !== undefined && tickets.includes(wanted.mark);
  return {
    ...BARE,
    id: wanted === undefined ? number : idOf(wanted.document),
    aliases: names,
    mark: isOurs ? wanted.mark : (tickets[0] ?? null),
    number,
    party: row.party,
    rung,
    unfinished: wanted !== undefined && !(isNoted(wanted.document, row) && isBegun(row)),
    facts: {
      days: { date: row.date },
      words: { side: KINDS[type].order, reference: row.reference },
      lines: row.moves.map(({ product, unit, quantity }) =>
        goodsLine({ product, quantity: exact(quantity), unit, unitPrice: null }),
      ),
    },
    goods: {
      called: `${KINDS[type].model} ${number} (#${id})`,
      state,
      told: `${number} ${state}`,
      fixed: !OPEN.includes(state),
      unmarking: `the note with ${markOf(wanted?.mark ?? "")} away`,
    },
    native: row,
  };
}

/** What a ticket may have said to bring it there. Not what a person cancelled since then: that is not lost. */
function statusesOf({ type, state }: Row): ShipmentDocument["status"][] {
  if (state === "cancelled") return ["waiting", "done", "cancelled"];
  if (state === "done") return ["waiting", "done"];
  return isBegun({ type, state }) ? ["waiting"] : [];
}

/** It is as far as a ticket that waits: a supplier shipment waits as a draft. */
const isBegun = ({ type, state }: Pick<Row, "type" | "state">): boolean =>
  type === "in" || state !== "draft";

/** Of a void one only whose it is still matters. */
const isNoted = (document: ShipmentDocument, { notes, tickets }: Row): boolean =>
  document.status === "cancelled"
    ? tickets.includes(document.id)
    : notes.includes(noteText(document));

/** The platform's id is in its last line. */
const noteText = ({ id, note }: ShipmentDocument): string =>
  [...(note === null ? [] : [note]), markOf(id)].join("\n");

/** From these a person can still go back, and so can we. */
const OPEN: readonly State[] = ["draft", "waiting", "assigned"];
const BACK: Partial<Record<State, readonly string[]>> = {
  assigned: ["wait", "draft"],
  waiting: ["draft"],
};
/** Each button leads from one state to the next. What moved has moved, whatever Tryton takes the stock to be. */
const BUTTONS: Readonly<Record<ShipmentDocument["type"], Partial<Record<State, string>>>> = {
  out: { draft: "wait", waiting: "assign", assigned: "pick", picked: "pack", packed: "end" },
  in: { draft: "receive", received: "end" },
};

/** It may be taken again after anything. @throws Refused, TrytonError */
async function step(
  books: Books,
  to: StepTo,
  { wanted, standing: { native: row } }: Step<"shipment", Row>,
): Promise<void> {
  const { document } = wanted;
  if (to === "amended") return rewrite(books, wanted, row);
  if (!isNoted(document, row)) await notesOf(books).add(row.resource, noteText(document));
  if (to === "cancelled") {
    if (row.state === "cancelled") return;
    await ignoreMoves(books, row);
    return pressed(books, row, "cancel");
  }
  const isThere = (state: State): boolean =>
    document.status === "done" ? state === "done" : isBegun({ ...row, state });
  let { state } = row;
  for (let button = BUTTONS[row.type][state]; button !== undefined && !isThere(state);) {
    await pressed(books, row, button);
    const after = await rowOf<Row>(books, KINDS[row.type].model, row.id, "state");
    button = after.state === state ? undefined : BUTTONS[row.type][after.state];
    ({ state } = after);
  }
}

async function rewrite(books: Books, wanted: Wanted<"shipment">, row: Row): Promise<void> {
  const { model, moves } = KINDS[row.type];
  for (const button of BACK[row.state] ?? []) await pressed(books, row, button);
  const [party] = await addressedAll(books, [wanted]);
  const all = await shipmentValues(books, wanted.document, party as Addressed);
  const old = row.moves.map(({ id }) => id);
  const values = {
    reference: all["reference"],
    effective_date: all["effective_date"],
    [moves]: [["delete", old], ...(all[moves] as unknown[])],
  };
  await books.tryton.call(`model.${model}.write`, [[row.id], values]);
}

/** @throws TrytonError */
async function pressed(books: Books, { type, id }: Row, button: string): Promise<void> {
  const { tryton } = books;
  const method = `model.${KINDS[type].model}.${buttonIn(await tryton.release(), button)}`;
  try {
    await tryton.call(method, [[id]]);
  } catch (error) {
    const name = error instanceof TrytonError ? error.warning : undefined;
    if (name === undefined || !HARMLESS.some((kind) => isWarningOf(kind, name))) throw error;
    await accept(books, [name]);
    await tryton.call(method, [[id]]);
  }
}

/**
 * Tryton's questions about a move without an order (a ticket may have none, or a product that nobody ordered), and, in
 * 8.0, about more than was ordered. What moved is what the tickets say, and 8.0 counts the move that we cancelled as
 * moved, too: it asks at the first load (ADR 0044).
 */
const HARMLESS = ["done", "check_move_quantity"];

/**
 * A cancelled move that its order does not ignore puts the order in an exception. Where it can be ignored only
 * afterwards, it is made no move of the order any more: the note says which ticket it was.
 */
async function ignoreMoves({ tryton }: Books, { moves }: Row): Promise<void> {
  const ofOrders = moves.filter(({ origin }) => /^(?:sale|purchase)\.line,/.test(origin ?? ""));
  if (ofOrders.length === 0) return;
  if ((await tryton.release()).ignores === "after") {
    const ids = ofOrders.map(({ id }) => id);
    await tryton.call("model.stock.move.write", [ids, { origin: null }]);
    return;
  }
  for (const { id, origin } of ofOrders) {
    const [model, line] = origin?.split(",") ?? [];
    await tryton.call(`model.${model}.write`, [[Number(line)], { moves_ignored: [["add", [id]]] }]);
  }
}
