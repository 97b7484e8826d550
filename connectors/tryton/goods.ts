/**
 * Orders in Tryton, for src/ledger/orders.ts: sales to customers and purchases from suppliers.
 *
 * Tryton invoices nothing of them (`invoice_method` manual): the platform's invoice is the one that is booked. Nor does
 * it plan their delivery: see {@link LINE}.
 */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Scope } from "../../src/core/holdings.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { goodsLine } from "../../src/ledger/goods.ts";
import { inPages, PAGE_RECORDS } from "../../src/ledger/holdings.ts";
import { markOf, platformIdIn } from "../../src/ledger/notes.ts";
import {
  type BookedOrder,
  type BookedTicket,
  orderAdapter as adapterOf,
  orderIn,
  ticketAdapter,
  type TicketNames,
  ticketsOf,
} from "../../src/ledger/orders.ts";
import type { Desired, GoodsAdapter, RowPage, Step, StepTo } from "../../src/ledger/port.ts";
import { type Books, notesOf, wizard } from "./books.ts";
import { amountLines } from "./invoice-rows.ts";
import { accept } from "./invoices.ts";
import { type Addressed, addressedAll } from "./parties.ts";
import * as row from "./rows.ts";
import {
  day,
  type Domain,
  either,
  float,
  inAnyCase,
  ofCompany,
  rowOf,
  rowsOf,
  scopeDomain,
  type Search,
  where,
} from "./rows.ts";
import { buttonIn, isWarningOf, TrytonError } from "./wire.ts";

type OrderSide = OrderDocument["type"];

/** An order as it stands in Tryton. */
const orderOf = (type: OrderSide) => ({
  date: row.called(`${type}_date`, row.as<string | null>()),
  state: row.as<"draft" | "quotation" | "confirmed" | "processing" | "done" | "cancelled">(),
  ...row.texts("invoice_method"),
  ...row.textsOrNone("number comment reference"),
  party: row.one(row.texts("code")),
  lines: row.many({
    ...row.texts("type"),
    ...row.amountsOrNone("quantity unit_price"),
    product: row.oneOrNone(row.textsOrNone("code")),
    unit: row.oneOrNone(row.texts("symbol")),
  }),
});
type OrderRow = row.RowOf<ReturnType<typeof orderOf>>;

const MANUAL = "manual";

export const orderAdapter = (books: Books): GoodsAdapter<"order", OrderRow> =>
  adapterOf({
    markedIn: "its comment",
    async search(type, { marks, references, numbers, ids }, signal) {
      const clause = either(
        { "reference in": references, "number in": numbers, "id in": ids.map(Number) },
        ...marks.map((mark) => ["comment", "like", `%${markOf(mark)}%`]),
        ...inAnyCase("reference", references),
      );
      const domain = [...where(await ofCompany(books)), clause];
      const rows = await rowsOf(books, `${type}.${type}`, domain, orderOf(type), { signal });
      return rows.map((row) => bookedOf(type, row));
    },
    async *list(type, scope, from, signal) {
      const isOpen = ["state", "in", OPEN_ORDERS];
      const within = scopeDomain(scope, `${type}_date`, ["write_date", "create_date"], isOpen);
      const domain = [...where(await ofCompany(books)), within];
      const search = { most: PAGE_RECORDS, signal };
      const read = (after: number) =>
        rowsOf(books, `${type}.${type}`, [...domain, ["id", ">", after]], orderOf(type), search);
      for await (const { rows, last } of inPages(Number(from ?? 0), ({ id }: OrderRow) => id, read))
        yield { rows: rows.map((row) => bookedOf(type, row)), position: String(last) };
    },
    isUnfinished: ({ side, native }) => isExpected(books, side, native.id),
    create: (desired) => create(books, desired),
    async renumber({ document: { type, number } }, { id }) {
      await books.tryton.call(`model.${type}.${type}.write`, [[id], { reference: number }]);
    },
    step: (to, one) => step(books, to, one),
  });

const OPEN_ORDERS: readonly string[] = ["draft", "quotation"];

function bookedOf(side: OrderSide, native: OrderRow): BookedOrder<OrderRow> {
  const { id, number, state, comment, reference, invoice_method, party, date, lines } = native;
  const status = state === "cancelled" ? state : OPEN_ORDERS.includes(state) ? "draft" : "posted";
  const isInvoiced = status === "posted" && invoice_method !== MANUAL;
  return {
    side,
    id: String(id),
    number,
    state,
    status,
    mark: platformIdIn(comment),
    reference,
    party: party.code,
    date,
    lines: amountLines(lines).map(({ product, quantity, unit, unit_price: unitPrice }) =>
      goodsLine({
        product: product?.code ?? null,
        quantity,
        unit: unit?.symbol ?? null,
        unitPrice,
      }),
    ),
    ...(isInvoiced ? { stranger: "is invoiced by Tryton itself" } : {}),
    native,
  };
}

async function create(books: Books, desired: Desired<"order">): Promise<string> {
  const { tryton, config, lookup } = books;
  const { type, date, number, description } = desired.document;
  const [{ id: party, address }] = (await addressedAll(books, [desired])) as [Addressed];
  const values = {
    company: (await tryton.session()).company,
    party,
    invoice_address: address,
    currency: await lookup.currency(config.currency),
    warehouse: await lookup.location(config.warehouse),
    ...methodsOf(type),
    ...(type === "sale" ? { shipment_address: address } : {}),
    ...(date === null ? {} : { [`${type}_date`]: day(date) }),
    reference: number,
    description: description?.replaceAll(/\s+/g, " ") ?? null,
    comment: markOf(desired.mark),
    lines: [["create", await lineValues(books, desired.document)]],
  };
  const [id] = await tryton.call<[number]>(`model.${type}.${type}.create`, [[values]]);
  return String(id);
}

const methodsOf = (type: OrderSide): object => ({
  invoice_method: MANUAL,
  ...(type === "sale" ? { shipment_method: MANUAL } : {}),
});

async function lineValues({ lookup }: Books, { lines }: OrderDocument): Promise<object[]> {
  const values: object[] = [];
  for (const { product, quantity, unit, unitPrice, description } of lines)
    values.push({
      type: "line",
      product: (await lookup.product(product)).id,
      quantity: float(quantity),
      unit: (await lookup.unit(unit)).id,
      unit_price: unitPrice,
      description,
    });
  return values;
}

/** @throws Refused, TrytonError */
async function step(
  books: Books,
  to: StepTo,
  { desired: { document }, entry }: Step<"order", OrderRow>,
): Promise<void> {
  const { id, state, invoice_method, lines: rows } = entry.native;
  const call = (method: string, ...params: unknown[]): Promise<unknown> =>
    books.tryton.call(`model.${document.type}.${document.type}.${method}`, [[id], ...params]);
  if (to === "cancelled") await call("cancel");
  if (to === "amended") {
    if (state === "quotation") await call("draft");
    const old = amountLines(rows).map(({ id }) => id);
    const lines = [
      ["delete", old],
      ["create", await lineValues(books, document)],
    ];
    await call("write", { reference: document.number, lines });
  }
  if (to !== "posted") return;
  if (OPEN_ORDERS.includes(state)) {
    if (invoice_method !== MANUAL) await call("write", methodsOf(document.type));
    // What a kill left as a quotation is one: 8.0 makes none of it again.
    if (state === "draft") await call("quote");
    await call("confirm");
  }
  await closeExpected(books, document.type, id);
}

/**
 * What Tryton expects to be moved for an order, and why it is told not to. What moves is what the tickets say, net
 * gallons as they were measured, in one load or in several: never what was ordered. Left alone, Tryton would keep a
 * purchase open, and reopen a sale, until the very quantity that was ordered has moved, and plan a second shipment of
 * the 1.3 gallons between both.
 *
 * So the move that is expected of each line is cancelled and ignored, as a person does with a remainder that will not
 * come. Tickets then move whatever they say under the order's line, and the order is done all the same. For a sale
 * Tryton plans nothing itself (`shipment_method` manual); the move that is ignored is made for the purpose.
 */
const LINE = {
  ...row.amounts("quantity unit_price"),
  ...row.ids("unit from_location to_location"),
  ...row.idLists("moves_ignored"),
  product: row.one(row.texts("type")),
  moves: row.many({ ...row.texts("state"), ...row.textsOrNone("shipment") }),
};
type Line = row.RowOf<typeof LINE>;

/** Does Tryton still expect anything for a confirmed order? @throws TrytonError */
async function isExpected(books: Books, type: OrderSide, order: number): Promise<boolean> {
  const isAfter = (await books.tryton.release()).ignores === "after";
  return (await linesOf(books, type, order)).some(
    (line) =>
      pending(line).length > 0 ||
      lacksIgnored(type, line) ||
      (isAfter && unignored(line).length > 0),
  );
}

/** @throws TrytonError */
async function closeExpected(books: Books, type: OrderSide, order: number): Promise<void> {
  const { ignores } = await books.tryton.release();
  if (ignores === "after") await cancelThenIgnore(books, type, order);
  else await ignoreThenCancel(books, type, order);
}

async function ignoreThenCancel(books: Books, type: OrderSide, order: number): Promise<void> {
  const { tryton } = books;
  const lines = await linesOf(books, type, order);
  const writes: unknown[] = [];
  for (const line of lines) {
    const ignored = pending(line).filter((id) => !line.moves_ignored.includes(id));
    if (ignored.length > 0) writes.push([line.id], { moves_ignored: [["add", ignored]] });
    else if (lacksIgnored(type, line))
      writes.push([line.id], { moves_ignored: [["create", [await orderMoveValues(books, line)]]] });
  }
  // Ignored first: a cancelled move that is not ignored puts the order in an exception.
  if (writes.length > 0) await tryton.call(`model.${type}.line.write`, writes);
  const left = writes.length > 0 ? await linesOf(books, type, order) : lines;
  const cancelled = left.flatMap(pending);
  if (cancelled.length > 0) await tryton.call("model.stock.move.cancel", [cancelled]);
}

/** As people do: the order is in an exception while a cancelled move is not ignored. */
async function cancelThenIgnore(books: Books, type: OrderSide, order: number): Promise<void> {
  const { tryton } = books;
  const moves: object[] = [];
  for (const line of await linesOf(books, type, order))
    if (lacksIgnored(type, line) && pending(line).length + unignored(line).length === 0)
      moves.push(await orderMoveValues(books, line));
  if (moves.length > 0) await tryton.call("model.stock.move.create", [moves]);
  const cancelled = (await linesOf(books, type, order)).flatMap(pending);
  if (cancelled.length > 0) await tryton.call("model.stock.move.cancel", [cancelled]);
  const ids = (await linesOf(books, type, order)).flatMap(unignored);
  if (ids.length === 0) return;
  const record = [`${type}.${type}`, order] as const;
  await wizard(tryton, `${type}.handle.shipment.exception`, record, async (execute) => {
    const ask = { domain_moves: ids, ignore_moves: ids, recreate_moves: [] };
    await execute({ ask }, "handle");
  });
}

function linesOf(books: Books, type: OrderSide, order: number): Promise<Line[]> {
  const domain = where({ [`${type} =`]: order, "type =": "line", "product.type =": "goods" });
  return rowsOf(books, `${type}.line`, domain, LINE);
}

/** Moves that Tryton planned and nobody has put into a shipment. */
const pending = (line: Line): number[] =>
  line.moves
    .filter(({ state, shipment }) => state === "draft" && shipment === null)
    .map(({ id }) => id);

/** Moves that were cancelled, and that the order still counts. */
const unignored = (line: Line): number[] =>
  line.moves
    .filter(
      ({ id, state, shipment }) =>
        state === "cancelled" && shipment === null && !line.moves_ignored.includes(id),
    )
    .map(({ id }) => id);

const lacksIgnored = (type: OrderSide, line: Line): boolean =>
  type === "sale" && line.moves_ignored.length === 0;

async function orderMoveValues({ tryton, config, lookup }: Books, line: Line): Promise<object> {
  return {
    company: (await tryton.session()).company,
    origin: `sale.line,${line.id}`,
    product: line.product.id,
    quantity: float(line.quantity),
    [(await tryton.release()).moveUnit]: line.unit,
    from_location: line.from_location,
    to_location: line.to_location,
    unit_price: line.unit_price,
    currency: await lookup.currency(config.currency),
  };
}

/*
 * Delivery tickets in Tryton, for src/ledger/orders.ts: customer shipments and supplier shipments, under the ticket's own
 * number.
 *
 * A ticket's moves belong to the lines of its order where it has one. They may be less than was ordered, or more, or
 * one of several loads: nothing is planned for the difference, and the order stays done, for what Tryton expected of it
 * was closed when the order was booked (goods.ts).
 */

/** How Tryton calls the parts of both kinds. */
const KINDS = {
  out: {
    model: "stock.shipment.out",
    party: "customer",
    address: "delivery_address",
    moves: "outgoing_moves",
    order: "sale",
    partyLocation: "customer_location",
    ourLocation: "output_location",
  },
  in: {
    model: "stock.shipment.in",
    party: "supplier",
    address: "contact_address",
    moves: "incoming_moves",
    order: "purchase",
    partyLocation: "supplier_location",
    ourLocation: "input_location",
  },
} as const;

type ShipmentType = keyof typeof KINDS;
type State =
  "draft" | "waiting" | "assigned" | "picked" | "packed" | "received" | "done" | "cancelled";

/** A shipment as it stands in Tryton. */
interface ShipmentRow {
  readonly id: number;
  readonly type: ShipmentType;
  /** `stock.shipment.out,12` */
  readonly resource: string;
  readonly state: State;
  /** Those that cross our border; the others are between our own places. */
  readonly moves: readonly Pick<Move, "id" | "origin">[];
}

/** Both kinds, as their release has them. */
const shipmentOf = (type: ShipmentType, moveUnit: string) => ({
  state: row.as<State>(),
  ...row.texts("number"),
  ...row.textsOrNone("reference effective_date"),
  party: row.called(KINDS[type].party, row.one(row.texts("code"))),
  moves: row.called(
    KINDS[type].moves,
    row.many({
      ...row.amounts("quantity"),
      // `sale.line,12`
      ...row.textsOrNone("origin"),
      product: row.one(row.textsOrNone("code")),
      unit: row.called(moveUnit, row.one(row.texts("symbol"))),
    }),
  ),
});
type Move = row.RowOf<ReturnType<typeof shipmentOf>>["moves"][number];

const TYPES = ["out", "in"] as const;

export const shipmentAdapter = (
  books: Books,
): GoodsAdapter<"shipment", BookedTicket<ShipmentRow>> =>
  ticketAdapter({
    search: (names, signal) => read(books, names, signal),
    async renumber({ number }, { type, id }) {
      await books.tryton.call(`model.${KINDS[type].model}.write`, [[id], { number }]);
    },
    list: (scope, from, signal) => list(books, scope, from, signal),
    async create(desired) {
      const values = await valuesOf(books, desired);
      await books.tryton.call(`model.${KINDS[desired.document.type].model}.create`, [[values]]);
    },
    note: ({ resource }, text) => notesOf(books).add(resource, text),
    amend: (desired, row) => rewrite(books, desired, row),
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
  const names = { numbers: [number], ids: [], marks: [ticket] };
  const all = await read(books, names);
  return all.find((one) => ticketsOf(one).includes(ticket))?.native.resource ?? null;
}

/** Those of both types with one of these numbers, ids or marks, and their notes. */
async function read(
  books: Books,
  { numbers, ids: own, marks }: Pick<TicketNames, "numbers" | "ids" | "marks">,
  signal?: AbortSignal,
): Promise<BookedTicket<ShipmentRow>[]> {
  const noted = [...own, ...(await notedWith(books, marks, signal))];
  const all: BookedTicket<ShipmentRow>[] = [];
  for (const type of TYPES) {
    const { model } = KINDS[type];
    const ids = noted.flatMap((one) =>
      one.startsWith(`${model},`) ? Number(one.slice(model.length + 1)) : [],
    );
    if (numbers.length + ids.length === 0) continue;
    const named = either({ "number in": numbers, "id in": ids });
    all.push(...(await readWhere(books, type, [named], { signal })));
  }
  return all;
}

/** Those of a type, and their notes, in the order of their ids. @param domain beside the company's */
async function readWhere(
  books: Books,
  type: ShipmentType,
  domain: Domain,
  search: Search,
): Promise<BookedTicket<ShipmentRow>[]> {
  const { moveUnit } = await books.tryton.release();
  const { model } = KINDS[type];
  const company = where(await ofCompany(books));
  const fields = shipmentOf(type, moveUnit);
  const rows = await rowsOf(books, model, [...company, ...domain], fields, search);
  const resources = rows.map(({ id }) => `${model},${id}`);
  const notes = Map.groupBy(
    rows.length === 0 ? [] : await notesOf(books).on(resources, []),
    ({ resource }) => resource,
  );
  return rows.map(({ id, number, state, reference, effective_date: date, party, moves }) => {
    const resource = `${model},${id}`;
    const its = moves.toSorted((one, other) => one.id - other.id);
    return {
      type,
      id: resource,
      number,
      called: `${model} ${number} (#${id})`,
      state,
      stage: stageOf(type, state),
      fixed: !OPEN_SHIPMENTS.includes(state),
      party: party.code,
      reference,
      date,
      lines: its.map(({ product: { code: product }, quantity, unit: { symbol: unit } }) =>
        goodsLine({ product, quantity, unit, unitPrice: null }),
      ),
      notes: (notes.get(resource) ?? []).map(({ message }) => message),
      native: { id, type, resource, state, moves: its },
    };
  });
}

/** Of both types, one after the other. What has no day yet is open. */
async function* list(
  books: Books,
  scope: Scope,
  from: string | null,
  signal: AbortSignal,
): AsyncGenerator<RowPage<BookedTicket<ShipmentRow>>> {
  const [, begun = TYPES[0], after = null] = /^(out|in) (\d+)$/.exec(from ?? "") ?? [];
  const isOpen = ["state", "not in", ["done", "cancelled"]];
  const within = scopeDomain(scope, "effective_date", ["write_date", "create_date"], isOpen);
  for (const type of TYPES.slice(TYPES.indexOf(begun as ShipmentType))) {
    const search = { most: PAGE_RECORDS, signal };
    const idOf = ({ native }: BookedTicket<ShipmentRow>): number => native.id;
    const read = (last: number) => readWhere(books, type, [within, ["id", ">", last]], search);
    for await (const { rows, last } of inPages(type === begun ? Number(after) : 0, idOf, read))
      yield { rows, position: `${type} ${last}` };
  }
}

/** The shipments with a note that ends with one of these marks, as notes name them. @throws TrytonError */
async function notedWith(
  books: Books,
  marks: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  if (marks.length === 0) return [];
  const ends = marks.map((mark) => ["message", "like", `%${markOf(mark)}`]);
  const ours = TYPES.map((type) => ["resource", "like", `${KINDS[type].model},%`]);
  const domain = [
    ["OR", ...ours],
    ["OR", ...ends],
  ];
  const rows = await rowsOf(books, "ir.note", domain, row.texts("resource"), { signal });
  return [...new Set(rows.map(({ resource }) => resource))];
}

/** A supplier shipment waits as a draft. */
function stageOf(type: ShipmentType, state: State): BookedTicket<ShipmentRow>["stage"] {
  if (state === "done" || state === "cancelled") return state;
  return type === "out" && state === "draft" ? "entered" : "waiting";
}

/** From these a person can still go back, and so can we. */
const OPEN_SHIPMENTS: readonly State[] = ["draft", "waiting", "assigned"];
const BACK: Partial<Record<State, readonly string[]>> = {
  assigned: ["wait", "draft"],
  waiting: ["draft"],
};
/** Each button leads from one state to the next. What moved has moved, whatever Tryton takes the stock to be. */
const BUTTONS: Readonly<Record<ShipmentType, Partial<Record<State, string>>>> = {
  out: { draft: "wait", waiting: "assign", assigned: "pick", picked: "pack", packed: "end" },
  in: { draft: "receive", received: "end" },
};

/** @throws TrytonError */
async function bring(books: Books, shipment: ShipmentRow, to: "waiting" | "done"): Promise<void> {
  const { id, type } = shipment;
  const isThere = (state: State): boolean =>
    to === "done" ? state === "done" : stageOf(type, state) !== "entered";
  let { state } = shipment;
  for (let button = BUTTONS[type][state]; button !== undefined && !isThere(state);) {
    await pressed(books, shipment, button);
    const after = await rowOf(books, KINDS[type].model, id, { state: row.as<State>() });
    button = after.state === state ? undefined : BUTTONS[type][after.state];
    ({ state } = after);
  }
}

async function rewrite(
  books: Books,
  desired: Desired<"shipment">,
  row: ShipmentRow,
): Promise<void> {
  const { model, moves } = KINDS[row.type];
  for (const button of BACK[row.state] ?? []) await pressed(books, row, button);
  const all = await valuesOf(books, desired);
  const old = row.moves.map(({ id }) => id);
  const values = {
    number: all["number"],
    reference: all["reference"],
    effective_date: all["effective_date"],
    [moves]: [["delete", old], ...(all[moves] as unknown[])],
  };
  await books.tryton.call(`model.${model}.write`, [[row.id], values]);
}

async function valuesOf(books: Books, desired: Desired<"shipment">) {
  const [party] = await addressedAll(books, [desired]);
  return shipmentValues(books, desired.document, party as Addressed);
}

/** @throws TrytonError */
async function pressed(books: Books, { type, id }: ShipmentRow, button: string): Promise<void> {
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
 * moved, too: it asks at the first load (ADR 0015).
 */
const HARMLESS = ["done", "check_move_quantity"];

/**
 * A cancelled move that its order does not ignore puts the order in an exception. Where it can be ignored only
 * afterwards, it is made no move of the order any more: the note says which ticket it was.
 */
async function ignoreMoves({ tryton }: Books, { moves }: ShipmentRow): Promise<void> {
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

/** @throws Refused, TrytonError */
async function shipmentValues(
  books: Books,
  document: ShipmentDocument,
  party: Addressed,
): Promise<Readonly<Record<string, unknown>>> {
  const { party: field, address, moves } = KINDS[document.type];
  const warehouse = await books.lookup.location(books.config.warehouse);
  return {
    ...(await placesOf(books, document.type, warehouse)),
    company: (await books.tryton.session()).company,
    number: document.number,
    reference: document.reference,
    effective_date: document.date === null ? null : day(document.date),
    warehouse,
    [field]: party.id,
    [address]: party.address,
    [moves]: [["create", await moveValues(books, document, party.id, warehouse)]],
  };
}

/** What clients fill in of the warehouse. @throws TrytonError */
async function placesOf(books: Books, type: ShipmentType, warehouse: number) {
  const places = Object.entries((await books.tryton.release()).places[type]);
  if (places.length === 0) return {};
  const fields = row.idsOrNone(places.flatMap(([, names]) => names).join(" "));
  const its = await rowOf(books, "stock.location", warehouse, fields);
  const first = (names: readonly string[]) =>
    names.map((name) => its[name] ?? null).find((id) => id !== null) ?? null;
  return Object.fromEntries(places.map(([name, names]) => [name, first(names)]));
}

async function moveValues(
  books: Books,
  document: ShipmentDocument,
  party: number,
  warehouse: number,
): Promise<object[]> {
  const { config, lookup, tryton } = books;
  const { order, partyLocation, ourLocation } = KINDS[document.type];
  const its = await rowOf(books, "party.party", party, row.idsOrNone(partyLocation));
  const own = await rowOf(books, "stock.location", warehouse, row.idsOrNone(ourLocation));
  const [theirs, ours] = [its[partyLocation], own[ourLocation]];
  const [from_location, to_location] = document.type === "out" ? [ours, theirs] : [theirs, ours];
  const lines = await orderLines(books, document);
  const { moveUnit } = await tryton.release();
  const values: object[] = [];
  for (const line of document.lines) {
    const product = await lookup.product(line.product);
    const ordered = lines.find((one) => one.product === product.id);
    values.push({
      company: (await tryton.session()).company,
      product: product.id,
      quantity: float(line.quantity),
      [moveUnit]: (await lookup.unit(line.unit)).id,
      from_location,
      to_location,
      // For the value of the stock only: what is billed is the platform's invoice.
      unit_price: ordered === undefined ? Decimal.zero : ordered.unit_price,
      currency: await lookup.currency(config.currency),
      ...(ordered === undefined ? {} : { origin: `${order}.line,${ordered.id}` }),
    });
  }
  return values;
}

/** Of the ticket's order. None for one of the other kind: what we sell, somebody else delivers. */
async function orderLines(books: Books, { type, order }: ShipmentDocument) {
  const { order: kind } = KINDS[type];
  const named = order === null ? null : orderIn(order);
  if (named?.side !== kind) return [];
  const domain = where({
    ...(await ofCompany(books, `${kind}.company`)),
    ...(named.id === null
      ? { [`${kind}.number =`]: named.number }
      : { [`${kind} =`]: Number(named.id) }),
    "type =": "line",
  });
  const lines = await rowsOf(books, `${kind}.line`, domain, {
    ...row.idsOrNone("product"),
    ...row.amounts("unit_price"),
    order: row.called(kind, row.oneOrNone(row.textsOrNone("comment"))),
  });
  const [first] = lines;
  const whose = first === undefined ? null : platformIdIn(first.order?.comment ?? null);
  if (first !== undefined && (named.platformId === null || whose === named.platformId))
    return lines;
  const name = `${kind} ${named.number ?? `#${named.id}`}`;
  throw new Refused({
    code: "not-in-tryton",
    message:
      first === undefined
        ? `Tryton has no ${name}, which the ticket is of`
        : `the ${name} in Tryton is not the order that the ticket is of: its number was given again`,
    next: "Deliver the order again, or restore it in Tryton; then retry.",
    field: "order",
  });
}
