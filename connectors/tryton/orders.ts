/**
 * Orders in Tryton, for src/ledger/orders.ts: sales to customers and purchases from suppliers.
 *
 * Tryton invoices nothing of them (`invoice_method` manual): the platform's invoice is the one that is booked. Nor does
 * it plan their delivery: see {@link LINE}.
 */
import type { GoodsAdapter, Step, StepTo, Desired } from "../../src/ledger/port.ts";
import type { OrderDocument } from "../../src/ledger/documents.ts";
import { goodsLine } from "../../src/ledger/goods.ts";
import { goodsPages, PAGE_RECORDS } from "../../src/ledger/holdings.ts";
import { markOf, platformIdIn } from "../../src/ledger/marks.ts";
import { type BookedOrder, orderAdapter as adapterOf } from "../../src/ledger/orders.ts";
import type { Books } from "./books.ts";
import { amountLines } from "./invoice-facts.ts";
import { type Addressed, addressedAll } from "./parties.ts";
import * as row from "./rows.ts";
import { either, inAnyCase, ofCompany, rowsOf, scopeDomain, where } from "./search.ts";
import { day, float } from "./values.ts";
import { wizard } from "./wizard.ts";

type Type = OrderDocument["type"];

/** An order as it stands in Tryton. */
const orderOf = (type: Type) => ({
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
type Row = row.RowOf<ReturnType<typeof orderOf>>;

const MANUAL = "manual";

export const orderAdapter = (books: Books): GoodsAdapter<"order", Row> =>
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
      const isOpen = ["state", "in", OPEN];
      const within = scopeDomain(scope, `${type}_date`, ["write_date", "create_date"], isOpen);
      const domain = [...where(await ofCompany(books)), within];
      yield* goodsPages(
        from,
        ({ native }: BookedOrder<Row>) => native.id,
        async (after) => {
          const page = [...domain, ["id", ">", after]];
          const most = { most: PAGE_RECORDS, signal };
          const rows = await rowsOf(books, `${type}.${type}`, page, orderOf(type), most);
          return rows.map((row) => bookedOf(type, row));
        },
      );
    },
    isUnfinished: ({ side, native }) => isExpected(books, side, native.id),
    create: (desired) => create(books, desired),
    async renumber({ document: { type, number } }, { id }) {
      await books.tryton.call(`model.${type}.${type}.write`, [[id], { reference: number }]);
    },
    step: (to, one) => step(books, to, one),
  });

const OPEN: readonly string[] = ["draft", "quotation"];

function bookedOf(side: Type, native: Row): BookedOrder<Row> {
  const { id, number, state, comment, reference, invoice_method, party, date, lines } = native;
  const status = state === "cancelled" ? state : OPEN.includes(state) ? "draft" : "posted";
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

const methodsOf = (type: Type): object => ({
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
  { desired: { document }, entry }: Step<"order", Row>,
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
  if (OPEN.includes(state)) {
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
async function isExpected(books: Books, type: Type, order: number): Promise<boolean> {
  const isAfter = (await books.tryton.release()).ignores === "after";
  return (await linesOf(books, type, order)).some(
    (line) =>
      pending(line).length > 0 ||
      lacksIgnored(type, line) ||
      (isAfter && unignored(line).length > 0),
  );
}

/** @throws TrytonError */
async function closeExpected(books: Books, type: Type, order: number): Promise<void> {
  const { ignores } = await books.tryton.release();
  if (ignores === "after") await cancelThenIgnore(books, type, order);
  else await ignoreThenCancel(books, type, order);
}

async function ignoreThenCancel(books: Books, type: Type, order: number): Promise<void> {
  const { tryton } = books;
  const lines = await linesOf(books, type, order);
  const writes: unknown[] = [];
  for (const line of lines) {
    const ignored = pending(line).filter((id) => !line.moves_ignored.includes(id));
    if (ignored.length > 0) writes.push([line.id], { moves_ignored: [["add", ignored]] });
    else if (lacksIgnored(type, line))
      writes.push([line.id], { moves_ignored: [["create", [await moveValues(books, line)]]] });
  }
  // Ignored first: a cancelled move that is not ignored puts the order in an exception.
  if (writes.length > 0) await tryton.call(`model.${type}.line.write`, writes);
  const left = writes.length > 0 ? await linesOf(books, type, order) : lines;
  const cancelled = left.flatMap(pending);
  if (cancelled.length > 0) await tryton.call("model.stock.move.cancel", [cancelled]);
}

/** As people do: the order is in an exception while a cancelled move is not ignored. */
async function cancelThenIgnore(books: Books, type: Type, order: number): Promise<void> {
  const { tryton } = books;
  const moves: object[] = [];
  for (const line of await linesOf(books, type, order))
    if (lacksIgnored(type, line) && pending(line).length + unignored(line).length === 0)
      moves.push(await moveValues(books, line));
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

function linesOf(books: Books, type: Type, order: number): Promise<Line[]> {
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

const lacksIgnored = (type: Type, line: Line): boolean =>
  type === "sale" && line.moves_ignored.length === 0;

async function moveValues({ tryton, config, lookup }: Books, line: Line): Promise<object> {
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
