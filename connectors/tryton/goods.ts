/**
 * Orders and delivery tickets in Tryton, as tables of src/ledger/goods.ts: sales and purchases, customer and supplier
 * shipments.
 *
 * Tryton invoices nothing of an order (`invoice_method` manual): the platform's invoice is the one that is booked. Nor does
 * it plan its delivery: see {@link LINE}.
 */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import {
  goodsLine,
  type GoodsRow,
  type GoodsTable,
  noteOf,
  orderIn,
  planOf,
} from "../../src/ledger/goods.ts";
import { markOf, platformIdIn } from "../../src/ledger/entries.ts";
import { type Desired, type LedgerSide, sideOf, SIDES } from "../../src/ledger/port.ts";
import { accepting, asRead, type Books, expectDigits, notesOf, wizard } from "./books.ts";
import { amountLines } from "./invoice-rows.ts";
import { type Addressed, addressedAll } from "./lists.ts";
import * as rpc from "./rows.ts";
import { buttonIn } from "./wire.ts";

const MANUAL = "manual";
const OPEN_ORDERS: readonly string[] = ["draft", "quotation"];

type Change = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

/** Calls that change one record, one after the other: the first is refused where somebody has changed it since it was read. */
function changing(tryton: Books["tryton"], model: string, id: number, stamp: string): Change {
  let options: ReturnType<typeof asRead> | undefined = asRead([[`${model},${id}`, stamp]]);
  return async (method, ...params) => {
    const result = await tryton.call(`model.${model}.${method}`, [[id], ...params], options);
    options = undefined;
    return result;
  };
}

/** An order as it stands in Tryton. */
const orderOf = (side: LedgerSide) => ({
  date: rpc.called(`${side}_date`, rpc.as<string | null>()),
  stamp: rpc.STAMP,
  ...rpc.texts("state invoice_method"),
  ...rpc.textsOrNone("number comment reference"),
  ...rpc.texts("party.code"),
  lines: rpc.many({
    ...rpc.texts("type"),
    ...rpc.amountsOrNone("quantity unit_price"),
    ...rpc.textsOrNone("product.code unit.symbol"),
  }),
});

interface OrderRow extends GoodsRow {
  readonly order: number;
  readonly stamp: string;
  readonly isManual: boolean;
  /** Without titles, comments and subtotals. */
  readonly lineIds: readonly number[];
}

/** What is written of orders, and closed of them. Every function @throws Refused, LedgerError */
function orderSteps(books: Books) {
  const { tryton, config, lookup } = books;

  /** Where and when it is wanted. Tryton ships nothing before the day of the sale: an earlier one is left out. */
  async function planValues(document: OrderDocument): Promise<object> {
    const { shipTo, day } = planOf(document);
    const isSale = document.type === "sale";
    const isKept = day !== null && (!isSale || document.date === null || day >= document.date);
    const site = isSale && shipTo !== null ? await lookup.site(shipTo) : null;
    const [to] = site === null ? [] : await addressedAll(books, [{ payer: { native: site } }]);
    return {
      ...(to === undefined ? {} : { shipment_party: to.id, shipment_address: to.address }),
      ...(isKept ? { [isSale ? "shipping_date" : "delivery_date"]: rpc.day(day) } : {}),
    };
  }

  async function lineValues({ lines }: OrderDocument): Promise<object[]> {
    const values: object[] = [];
    for (const { product, quantity, unit, unitPrice, description } of lines) {
      expectDigits(quantity, unit, (await lookup.unit(unit)).digits);
      values.push({
        type: "line",
        product: await lookup.booked("product", product),
        quantity: rpc.float(quantity),
        unit: await lookup.booked("unit", unit),
        unit_price: unitPrice,
        description,
      });
    }
    return values;
  }

  /**
   * What Tryton still expects of an order's lines: moves that it planned, moves that the order counts and is to ignore, and the
   * move of a sale that is made to be ignored. A move is ignored before it is cancelled: else the order is in an exception;
   * where a release can do it only afterwards (8.0, `isAfter`), that exception is handled as people do.
   */
  async function expectedOf({ side, order }: OrderRow) {
    const isAfter = (await tryton.release()).ignores === "after";
    const domain = { [`${side} =`]: order, "type =": "line", "product.type =": "goods" };
    const lines = await rpc.rowsOf(books, `${side}.line`, rpc.where(domain), LINE);
    const all = lines.map((line) => {
      const { moves, moves_ignored: ignored } = line;
      const movesIn = (its: string): number[] =>
        moves.flatMap(({ id, state, shipment }) => (state === its && shipment === null ? id : []));
      const pending = movesIn("draft");
      const known = isAfter ? movesIn("cancelled") : pending;
      const counted = known.filter((id) => !ignored.includes(id));
      const isLacking = side === "sale" && ignored.length + pending.length + counted.length === 0;
      return { line, pending, counted, isLacking };
    });
    const isAny = all.some(
      ({ pending, counted, isLacking }) => isLacking || pending.length + counted.length > 0,
    );
    return { isAfter, isAny, lines: all };
  }

  const orderMoveValues = async (line: rpc.RowOf<typeof LINE>): Promise<object> => ({
    company: (await tryton.session()).company,
    origin: `sale.line,${line.id}`,
    product: line.product.id,
    quantity: rpc.float(line.quantity),
    [(await tryton.release()).moveUnit]: line.unit,
    from_location: line.from_location,
    to_location: line.to_location,
    unit_price: line.unit_price,
    currency: await lookup.currency(config.currency),
  });

  async function closeExpected(row: OrderRow): Promise<void> {
    const { side } = row;
    let { isAfter, lines } = await expectedOf(row);
    const changes: unknown[] = [];
    for (const { line, counted, isLacking } of lines) {
      const move = isLacking ? await orderMoveValues(line) : null;
      if (isAfter) changes.push(...(move === null ? [] : [move]));
      else if (move !== null || counted.length > 0)
        changes.push([line.id], { moves_ignored: [move ? ["create", [move]] : ["add", counted]] });
    }
    if (changes.length > 0) {
      if (isAfter) await tryton.call("model.stock.move.create", [changes]);
      else await tryton.call(`model.${side}.line.write`, changes);
      ({ lines } = await expectedOf(row));
    }
    const cancelled = lines.flatMap(({ pending }) => pending);
    if (cancelled.length > 0) await tryton.call("model.stock.move.cancel", [cancelled]);
    if (!isAfter) return;
    ({ lines } = await expectedOf(row));
    const ids = lines.flatMap(({ counted }) => counted);
    if (ids.length === 0) return;
    const record = [`${side}.${side}`, row.order] as const;
    await wizard(tryton, `${side}.handle.shipment.exception`, record, async (execute) => {
      const ask = { domain_moves: ids, ignore_moves: ids, recreate_moves: [] };
      await execute({ ask }, "handle");
    });
  }

  return { planValues, lineValues, expectedOf, closeExpected };
}

export function orderTable(books: Books): GoodsTable<"order", OrderRow> {
  const { tryton, config, lookup } = books;
  const { planValues, lineValues, expectedOf, closeExpected } = orderSteps(books);

  async function ordersIn(side: LedgerSide, domain: rpc.Domain, search: rpc.Search) {
    const model = `${side}.${side}`;
    const all = await rpc.ownOf(books, [rpc.notMadeFrom(model, "origin"), ...domain]);
    const rows = await rpc.rowsOf(books, model, all, orderOf(side), search);
    return rows.map((row) => orderRow(side, row));
  }

  return {
    markedIn: "its comment",
    async search({ side, marks, references, numbers, ids, days }, signal) {
      // Comments were asked for.
      if (days.length > 0) return [];
      const clause = rpc.either(
        { "reference in": references, "number in": numbers, "id in": ids.map(Number) },
        ...marks.map((mark) => ["comment", "like", `%${markOf(mark)}%`]),
        ...rpc.inAnyWriting("reference", references),
      );
      return ordersIn(side, [clause], { signal });
    },
    list(side, scope, from, signal) {
      const within = rpc.scopeDomain(scope, `${side}_date`, ["state", "in", OPEN_ORDERS]);
      const read = (after: rpc.Domain, search: rpc.Search) =>
        ordersIn(side, [within, after], search);
      return rpc.pagesOf(from, signal, read, ({ order }) => order);
    },
    isUnfinished: async (row) => row.status === "posted" && (await expectedOf(row)).isAny,
    async create(desired) {
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
        ...(await planValues(desired.document)),
        ...(date === null ? {} : { [`${type}_date`]: rpc.day(date) }),
        reference: number,
        description: description?.replaceAll(/\s+/g, " ") ?? null,
        comment: commentOf(desired),
        lines: [["create", await lineValues(desired.document)]],
      };
      return String((await tryton.call<[number]>(`model.${type}.${type}.create`, [[values]]))[0]);
    },
    async apply(to, { desired, entry: { native: row } }) {
      const { document } = desired;
      const { side, order, stamp, state, isManual, lineIds } = row;
      const reference = document.number;
      const call = changing(tryton, `${side}.${side}`, order, stamp);
      if (to === "cancelled") await call("cancel");
      if (to === "renumbered") await call("write", { reference });
      if (to === "amended") {
        if (state === "quotation") await call("draft");
        const made = await lineValues(document);
        const lines = [
          ["delete", lineIds],
          ["create", made],
        ];
        const plan = await planValues(document);
        await call("write", { reference, ...plan, comment: commentOf(desired), lines });
      }
      if (to !== "posted") return;
      if (OPEN_ORDERS.includes(state)) {
        if (!isManual) await call("write", methodsOf(side));
        // What a kill left as a quotation is one: 8.0 makes none of it again.
        if (state === "draft") await call("quote");
        await call("confirm");
      }
      await closeExpected(row);
    },
  };
}

function orderRow(side: LedgerSide, row: rpc.RowOf<ReturnType<typeof orderOf>>): OrderRow {
  const { id, number, state, comment, reference, party, date, invoice_method: method } = row;
  const status = state === "cancelled" ? state : OPEN_ORDERS.includes(state) ? "draft" : "posted";
  const isManual = method === MANUAL;
  const lines = amountLines(row.lines);
  return {
    side,
    id: String(id),
    number,
    state,
    status,
    marks: [platformIdIn(comment)].filter((mark) => mark !== null),
    reference,
    party,
    date,
    lines: lines.map(({ unit_price: unitPrice, ...line }) => goodsLine({ ...line, unitPrice })),
    ...(status === "posted" && !isManual ? { stranger: "is invoiced by Tryton itself" } : {}),
    order: id,
    stamp: row.stamp,
    isManual,
    lineIds: lines.map((line) => line.id),
  };
}

/** The window of its day, and the platform's id in the last line. */
function commentOf({ document, mark }: Desired<"order">): string {
  const { window } = planOf(document);
  return [...(window === null ? [] : [`Delivery ${window}`]), markOf(mark)].join("\n");
}

const methodsOf = (side: LedgerSide): object => ({
  invoice_method: MANUAL,
  ...(side === "sale" ? { shipment_method: MANUAL } : {}),
});

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
  ...rpc.amounts("quantity unit_price"),
  ...rpc.ids("unit from_location to_location"),
  ...rpc.idLists("moves_ignored"),
  product: rpc.one(rpc.texts("type")),
  moves: rpc.many({ ...rpc.texts("state"), ...rpc.textsOrNone("shipment") }),
};

/*
 * Delivery tickets: customer and supplier shipments under the ticket's own number. Whose one is, and what Tryton has no
 * field for, is in a note.
 *
 * A ticket's moves belong to the lines of its order where it has one. They may be less than was ordered, or more, or
 * one of several loads: nothing is planned for the difference, and the order stays done, for what Tryton expected of it
 * was closed when the order was booked.
 */

/** How Tryton calls the parts of both kinds. */
const SHIPMENTS = {
  sale: {
    model: "stock.shipment.out",
    party: "customer",
    address: "delivery_address",
    moves: "outgoing_moves",
    partyLocation: "customer_location",
    ourLocation: "output_location",
  },
  purchase: {
    model: "stock.shipment.in",
    party: "supplier",
    address: "contact_address",
    moves: "incoming_moves",
    partyLocation: "supplier_location",
    ourLocation: "input_location",
  },
} as const;

type State =
  "draft" | "waiting" | "assigned" | "picked" | "packed" | "received" | "done" | "cancelled";

/** Both kinds, as their release has them. */
const shipmentOf = (side: LedgerSide, moveUnit: string) => ({
  state: rpc.as<State>(),
  stamp: rpc.STAMP,
  ...rpc.texts("number"),
  ...rpc.textsOrNone("reference effective_date"),
  party: rpc.called(SHIPMENTS[side].party, rpc.texts("party.code").party),
  // Those that cross our border; the others are between our own places.
  moves: rpc.called(
    SHIPMENTS[side].moves,
    rpc.many({
      ...rpc.amounts("quantity"),
      // `sale.line,12`
      ...rpc.textsOrNone("origin product.code"),
      unit: rpc.called(moveUnit, rpc.texts("unit.symbol").unit),
    }),
  ),
});

/** A shipment as it stands in Tryton. Its `id` is `stock.shipment.out,12`. */
interface TicketRow extends GoodsRow {
  readonly shipment: number;
  readonly stamp: string;
  readonly state: State;
  readonly notes: readonly (string | null)[];
  readonly moves: readonly { readonly id: number; readonly origin: string | null }[];
}

/** What is written of tickets, and what brings them on. Every function @throws Refused, LedgerError */
function ticketSteps(books: Books) {
  const { tryton, config, lookup } = books;

  const pressed = async (call: Change, button: string): Promise<void> => {
    const method = buttonIn(await tryton.release(), button);
    await accepting(books, HARMLESS, () => call(method));
  };

  /** To the end, or to where a ticket waits. */
  async function bring(call: Change, row: TicketRow, isDone: boolean): Promise<void> {
    const { shipment, side } = row;
    const isThere = (state: State): boolean =>
      isDone ? state === "done" : statusOf(side, state) !== "entered";
    let { state } = row;
    for (let button = BUTTONS[side][state]; button !== undefined && !isThere(state);) {
      await pressed(call, button);
      const fields = { state: rpc.as<State>() };
      const after = await rpc.rowOf(books, SHIPMENTS[side].model, shipment, fields);
      button = after.state === state ? undefined : BUTTONS[side][after.state];
      ({ state } = after);
    }
  }

  /**
   * A cancelled move that its order does not ignore puts the order in an exception. Where it can be ignored only
   * afterwards, it is made no move of the order any more: the note says which ticket it was.
   */
  async function ignoreMoves({ moves }: TicketRow): Promise<void> {
    const ofOrders = moves.filter(({ origin }) => /^(?:sale|purchase)\.line,/.test(origin ?? ""));
    if (ofOrders.length === 0) return;
    if ((await tryton.release()).ignores === "after") {
      const ids = ofOrders.map(({ id }) => id);
      await tryton.call("model.stock.move.write", [ids, { origin: null }]);
      return;
    }
    for (const { id, origin } of ofOrders) {
      const [model, line] = origin?.split(",") ?? [];
      const ignored = { moves_ignored: [["add", [id]]] };
      await tryton.call(`model.${model}.write`, [[Number(line)], ignored]);
    }
  }

  /** Of the ticket's order. None for one of the other kind: what we sell, somebody else delivers. @throws Refused */
  async function orderLines(side: LedgerSide, { order }: ShipmentDocument) {
    const named = order === null ? null : orderIn(order);
    if (named?.side !== side) return [];
    const domain = rpc.where({
      ...(await rpc.ofCompany(books, `${side}.company`)),
      ...(named.id === null
        ? { [`${side}.number =`]: named.number }
        : { [`${side} =`]: Number(named.id) }),
      "type =": "line",
    });
    const { moveUnit } = await tryton.release();
    const lines = await rpc.rowsOf(books, `${side}.line`, domain, {
      ...ORDERED,
      moves: rpc.many({ ...rpc.texts("state"), ...MEASURED(moveUnit) }),
      order: rpc.called(side, rpc.textsOrNone("order.comment").order),
    });
    const [first] = lines;
    const whose = platformIdIn(first?.order ?? null);
    if (first !== undefined && (named.platformId === null || whose === named.platformId))
      return lines;
    const name = `${side} ${named.number ?? `#${named.id}`}`;
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

  /** @param old its moves until now, which it has no more @throws Refused */
  async function ticketValues(
    desired: Desired<"shipment">,
    old: readonly number[] = [],
  ): Promise<Record<string, unknown>> {
    const { document } = desired;
    const side = sideOf(document);
    const { partyLocation, ourLocation, ...names } = SHIPMENTS[side];
    const [{ id: party, address }] = (await addressedAll(books, [desired])) as [Addressed];
    const warehouse = await lookup.location(config.warehouse);
    const release = await tryton.release();
    const places = await lookup.pricePlaces();
    const { company } = await tryton.session();
    // What clients fill in of the warehouse: the first field of each that is not empty.
    const filled = Object.entries(release.places[side]);
    const fields = [ourLocation, ...filled.flatMap(([, its]) => its)].join(" ");
    const own: Ids = await rpc.rowOf(books, "stock.location", warehouse, rpc.idsOrNone(fields));
    const its: Ids = await rpc.rowOf(books, "party.party", party, rpc.idsOrNone(partyLocation));
    const [theirs, ours] = [its[partyLocation], own[ourLocation]];
    const [from_location, to_location] = side === "sale" ? [ours, theirs] : [theirs, ours];
    const lineFor = fillingOf(await orderLines(side, document), old);
    const moves: object[] = [];
    for (const { product: code, quantity, unit } of document.lines) {
      const product = await lookup.booked("product", code);
      const measure = await lookup.unit(unit);
      expectDigits(quantity, unit, measure.digits);
      const ordered = lineFor(product, inFirstUnit({ quantity, unit: measure }));
      moves.push({
        company,
        product,
        quantity: rpc.float(quantity),
        [release.moveUnit]: await lookup.booked("unit", unit),
        from_location,
        to_location,
        // For the value of the stock only: what is billed is the platform's invoice.
        unit_price: ordered === undefined ? Decimal.zero : pricePer(measure, ordered, places),
        currency: await lookup.currency(config.currency),
        ...(ordered === undefined ? {} : { origin: `${side}.line,${ordered.id}` }),
      });
    }
    return {
      ...Object.fromEntries(
        filled.map(([name, all]) => [name, all.map((one) => own[one]).find(Boolean) ?? null]),
      ),
      company,
      number: document.number,
      reference: document.reference,
      effective_date: document.date === null ? null : rpc.day(document.date),
      warehouse,
      [names.party]: party,
      [names.address]: address,
      [names.moves]: [["create", moves]],
    };
  }

  return { ticketValues, pressed, bring, ignoreMoves };
}

/** A quantity, and its unit with what it is in the first unit of its category. @param unit as Tryton calls it there */
const MEASURED = (unit: string) => ({
  ...rpc.amounts("quantity"),
  unit: rpc.called(unit, rpc.one(rpc.amounts("factor"))),
});
type Measured = Pick<rpc.RowOf<ReturnType<typeof MEASURED>>, "quantity"> & {
  readonly unit: { readonly factor: Decimal };
};
const ORDERED = {
  ...MEASURED("unit"),
  ...rpc.idsOrNone("product"),
  ...rpc.amounts("unit_price"),
};

/** A load is a little more than was ordered, rarely much more: that weighs ten times as much as what is left to come. */
const TOO_MUCH = Decimal.of("-10");

const inFirstUnit = ({ quantity, unit }: Measured): Decimal => quantity.times(unit.factor);

interface OrderedLine extends rpc.RowOf<typeof ORDERED> {
  readonly moves: readonly (Measured & { readonly id: number; readonly state: string })[];
}

/**
 * The line that a load of a product fills best: there may be several, each at its price. Asked for each load in turn.
 * @param old moves that do not count any more
 */
function fillingOf(lines: readonly OrderedLine[], old: readonly number[]) {
  const all = lines.map((line) => {
    const counted = line.moves.filter(
      ({ id, state }) => state !== "cancelled" && !old.includes(id),
    );
    return { line, lacks: inFirstUnit(line).minus(Decimal.sum(counted.map(inFirstUnit))) };
  });
  return (product: number, moved: Decimal): OrderedLine | undefined => {
    const offBy = ({ lacks }: { readonly lacks: Decimal }): Decimal => {
      const left = lacks.minus(moved);
      return left.sign < 0 ? left.times(TOO_MUCH) : left;
    };
    const [best] = all
      .filter(({ line }) => line.product === product)
      .toSorted((one, other) => offBy(one).compare(offBy(other)));
    if (best !== undefined) best.lacks = best.lacks.minus(moved);
    return best?.line;
  };
}

/** An order in barrels has a price per barrel, and its ticket moves gallons. */
const pricePer = (
  unit: Measured["unit"],
  { unit_price: price, unit: its }: rpc.RowOf<typeof ORDERED>,
  places: number,
): Decimal =>
  its.factor.equals(unit.factor)
    ? price
    : price.times(unit.factor).over(its.factor, places).shortest();

export function ticketTable(books: Books): GoodsTable<"shipment", TicketRow> {
  const { tryton } = books;
  const { ticketValues, pressed, bring, ignoreMoves } = ticketSteps(books);

  /** The shipments with a note that ends with one of these marks, as notes name them. */
  async function notedWith(marks: readonly string[], signal: AbortSignal): Promise<string[]> {
    if (marks.length === 0) return [];
    const ours = SIDES.map((side) => ["resource", "like", `${SHIPMENTS[side].model},%`]);
    const ends = marks.map((mark) => ["message", "like", `%${markOf(mark)}`]);
    const domain = [
      ["OR", ...ours],
      ["OR", ...ends],
    ];
    const rows = await rpc.rowsOf(books, "ir.note", domain, rpc.texts("resource"), { signal });
    return [...new Set(rows.map(({ resource }) => resource))];
  }

  /** Those of a side, and their notes, in the order of their ids. @param domain beside the company's */
  async function ticketsIn(side: LedgerSide, domain: rpc.Domain, search: rpc.Search) {
    const fields = shipmentOf(side, (await tryton.release()).moveUnit);
    const { model } = SHIPMENTS[side];
    const rows = await rpc.rowsOf(books, model, await rpc.ownOf(books, domain), fields, search);
    const resources = rows.map(({ id }) => `${model},${id}`);
    const noted = await notesOf(books).on(resources, []);
    return rows.map((row, at): TicketRow => {
      const { number, state, reference, party } = row;
      const id = resources[at] ?? "";
      const moves = row.moves.toSorted((one, other) => one.id - other.id);
      const notes = noted.filter((one) => one.resource === id).map(({ message }) => message);
      return {
        side,
        id,
        number,
        called: `${model} ${number} (#${row.id})`,
        state,
        status: statusOf(side, state),
        fixed: OPEN_SHIPMENTS.includes(state) ? [] : ["lines"],
        marks: notes.flatMap((note) => platformIdIn(note) ?? []),
        party,
        reference,
        date: row.effective_date,
        lines: moves.map((move) => goodsLine(move)),
        shipment: row.id,
        stamp: row.stamp,
        notes,
        moves,
      };
    });
  }

  return {
    /** Those of both sides with one of these numbers, ids or marks. */
    async search({ numbers, ids: own, marks }, signal) {
      const noted = [...own, ...(await notedWith(marks, signal))];
      const all: TicketRow[] = [];
      for (const side of SIDES) {
        const before = `${SHIPMENTS[side].model},`;
        const ids = noted.flatMap((one) =>
          one.startsWith(before) ? Number(one.slice(before.length)) : [],
        );
        if (numbers.length + ids.length === 0) continue;
        const named = rpc.either({ "number in": numbers, "id in": ids });
        all.push(...(await ticketsIn(side, [named], { signal })));
      }
      return all;
    },
    // What has no day yet is open.
    list(side, scope, from, signal) {
      const isOpen = ["state", "not in", ["done", "cancelled"]];
      const within = rpc.scopeDomain(scope, "effective_date", isOpen);
      const read = (after: rpc.Domain, search: rpc.Search) =>
        ticketsIn(side, [within, after], search);
      return rpc.pagesOf(from, signal, read, ({ shipment }) => shipment);
    },
    isUnfinished: (row, document) => !isNoted(row, document),
    async create(desired) {
      const { model } = SHIPMENTS[sideOf(desired.document)];
      await tryton.call(`model.${model}.create`, [[await ticketValues(desired)]]);
    },
    async apply(to, { desired, entry: { native: row } }) {
      const { document } = desired;
      const { model, moves } = SHIPMENTS[row.side];
      const call = changing(tryton, model, row.shipment, row.stamp);
      if (to === "renumbered") return void (await call("write", { number: document.number }));
      if (to === "amended") {
        for (const button of BACK[row.state] ?? []) await pressed(call, button);
        const old = row.moves.map(({ id }) => id);
        const { number, reference, effective_date, ...all } = await ticketValues(desired, old);
        const its = [["delete", old], ...(all[moves] as unknown[])];
        await call("write", { number, reference, effective_date, [moves]: its });
        return;
      }
      if (!isNoted(row, document)) await notesOf(books).add(row.id, noteOf(document));
      if (to === "posted") return bring(call, row, document.status === "done");
      if (row.status === "cancelled") return;
      await ignoreMoves(row);
      await pressed(call, "cancel");
    },
  };
}

type Ids = Readonly<Record<string, number | null>>;

/** Of a void one only whose it is still matters. */
const isNoted = ({ notes, marks }: TicketRow, document: ShipmentDocument): boolean =>
  document.status === "cancelled" ? marks.includes(document.id) : notes.includes(noteOf(document));

/** A supplier shipment waits as a draft. */
function statusOf(side: LedgerSide, state: State): TicketRow["status"] {
  if (state === "cancelled") return state;
  if (state === "done") return "posted";
  return side === "sale" && state === "draft" ? "entered" : "draft";
}

/** From these a person can still go back, and so can we. */
const OPEN_SHIPMENTS: readonly State[] = ["draft", "waiting", "assigned"];
const BACK: Partial<Record<State, readonly string[]>> = {
  assigned: ["wait", "draft"],
  waiting: ["draft"],
};
/** Each button leads from one state to the next. What moved has moved, whatever Tryton takes the stock to be. */
const BUTTONS: Readonly<Record<LedgerSide, Partial<Record<State, string>>>> = {
  sale: { draft: "wait", waiting: "assign", assigned: "pick", picked: "pack", packed: "end" },
  purchase: { draft: "receive", received: "end" },
};

/**
 * Tryton's questions about a move without an order (a ticket may have none, or a product that nobody ordered), and, in
 * 8.0, about more than was ordered. What moved is what the tickets say, and 8.0 counts the move that we cancelled as
 * moved, too: it asks at the first load (ADR 0015).
 */
const HARMLESS = ["done", "check_move_quantity"];
