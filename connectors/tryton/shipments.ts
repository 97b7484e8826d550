/**
 * Delivery tickets in Tryton, for src/books/tickets.ts: customer shipments and supplier shipments, under the ticket's own
 * number.
 *
 * A ticket's moves belong to the lines of its order where it has one. They may be less than was ordered, or more, or
 * one of several loads: nothing is planned for the difference, and the order stays done, for what Tryton expected of it
 * was closed when the order was booked (orders-expected.ts).
 */
import type { GoodsAdapter, Wanted } from "../../src/books/adapter.ts";
import { goodsLine } from "../../src/books/goods.ts";
import { type BookedTicket, ticketAdapter, ticketsOf } from "../../src/books/tickets.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import { TrytonError } from "./errors.ts";
import { accept } from "./invoice-steps.ts";
import { notesOf } from "./notes.ts";
import { type Addressed, addressedAll } from "./parties.ts";
import { buttonIn, isWarningOf } from "./release.ts";
import { ofCompany, rowOf, rowsOf } from "./search.ts";
import { KINDS, shipmentValues } from "./shipments-values.ts";
import { exact } from "./values.ts";

type Type = keyof typeof KINDS;
type State =
  "draft" | "waiting" | "assigned" | "picked" | "packed" | "received" | "done" | "cancelled";

/** A shipment as it stands in Tryton. */
interface Row {
  readonly id: number;
  readonly type: Type;
  /** `stock.shipment.out,12` */
  readonly resource: string;
  readonly state: State;
  /** Those that cross our border; the others are between our own places. */
  readonly moves: readonly Move[];
}

interface Move {
  readonly id: number;
  readonly quantity: Decimal | number;
  /** `sale.line,12` */
  readonly origin: string | null;
  readonly "product.": { readonly code: string | null };
  readonly [field: string]: unknown;
}

const TYPES = ["out", "in"] as const;

export const shipmentAdapter = (books: Books): GoodsAdapter<"shipment", BookedTicket<Row>> =>
  ticketAdapter({
    search: (numbers, signal) => read(books, numbers, signal),
    async create(wanted) {
      const values = await valuesOf(books, wanted);
      await books.tryton.call(`model.${KINDS[wanted.document.type].model}.create`, [[values]]);
    },
    note: ({ resource }, text) => notesOf(books).add(resource, text),
    amend: (wanted, row) => rewrite(books, wanted, row),
    async cancel(row) {
      await ignoreMoves(books, row);
      await pressed(books, row, "cancel");
    },
    bring: (row, to) => bring(books, row, to),
  });

/** The shipment of a ticket, `stock.shipment.out,12`; null: there is none. @throws TrytonError */
export async function resourceOf(
  books: Books,
  number: string,
  ticket: string,
): Promise<string | null> {
  const all = await read(books, [number]);
  return all.find((one) => ticketsOf(one).includes(ticket))?.native.resource ?? null;
}

/** Those of both types with one of these numbers, and their notes. */
async function read(
  books: Books,
  numbers: readonly string[],
  signal?: AbortSignal,
): Promise<BookedTicket<Row>[]> {
  const { moveUnit } = await books.tryton.release();
  const domain = [await ofCompany(books), ["number", "in", numbers]];
  const all: BookedTicket<Row>[] = [];
  for (const type of TYPES) {
    const { model, moves, party } = KINDS[type];
    const parts = `${moves}(quantity origin product.code ${moveUnit}.symbol)`;
    const fields = `number state reference effective_date ${party}.code ${parts}`;
    const rows = await rowsOf<AnyRow>(books, model, domain, fields, { signal });
    const resources = rows.map(({ id }) => `${model},${id}`);
    const notes = await notesOf(books).on(resources, []);
    for (const { id, number, state, reference, effective_date: date, ...row } of rows) {
      const resource = `${model},${id}`;
      const its = (row[`${moves}.`] as Move[]).toSorted((one, other) => one.id - other.id);
      all.push({
        type,
        number,
        called: `${model} ${number} (#${id})`,
        state,
        stage: stageOf(type, state),
        fixed: !OPEN.includes(state),
        party: (row[`${party}.`] as { code: string }).code,
        reference,
        date,
        lines: its.map((move) =>
          goodsLine({
            product: move["product."].code,
            quantity: exact(move.quantity),
            unit: (move[`${moveUnit}.`] as { symbol: string }).symbol,
            unitPrice: null,
          }),
        ),
        notes: notes.filter((note) => note.resource === resource).map(({ message }) => message),
        native: { id, type, resource, state, moves: its },
      });
    }
  }
  return all;
}

interface AnyRow {
  readonly id: number;
  readonly number: string;
  readonly state: State;
  readonly reference: string | null;
  readonly effective_date: string | null;
  readonly [field: string]: unknown;
}

/** A supplier shipment waits as a draft. */
function stageOf(type: Type, state: State): BookedTicket<Row>["stage"] {
  if (state === "done" || state === "cancelled") return state;
  return type === "out" && state === "draft" ? "entered" : "waiting";
}

/** From these a person can still go back, and so can we. */
const OPEN: readonly State[] = ["draft", "waiting", "assigned"];
const BACK: Partial<Record<State, readonly string[]>> = {
  assigned: ["wait", "draft"],
  waiting: ["draft"],
};
/** Each button leads from one state to the next. What moved has moved, whatever Tryton takes the stock to be. */
const BUTTONS: Readonly<Record<Type, Partial<Record<State, string>>>> = {
  out: { draft: "wait", waiting: "assign", assigned: "pick", picked: "pack", packed: "end" },
  in: { draft: "receive", received: "end" },
};

/** @throws TrytonError */
async function bring(books: Books, row: Row, to: "waiting" | "done"): Promise<void> {
  const isThere = (state: State): boolean =>
    to === "done" ? state === "done" : stageOf(row.type, state) !== "entered";
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
  const all = await valuesOf(books, wanted);
  const old = row.moves.map(({ id }) => id);
  const values = {
    reference: all["reference"],
    effective_date: all["effective_date"],
    [moves]: [["delete", old], ...(all[moves] as unknown[])],
  };
  await books.tryton.call(`model.${model}.write`, [[row.id], values]);
}

async function valuesOf(books: Books, wanted: Wanted<"shipment">) {
  const [party] = await addressedAll(books, [wanted]);
  return shipmentValues(books, wanted.document, party as Addressed);
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
