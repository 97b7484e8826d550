import { describe, expect, test } from "vitest";
import type { Item, Outgoing, Sink } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { isLongRun, numbers } from "../../test/support/runs.ts";
import { fileOf } from "../../test/support/tryton-file.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { orderSink, shipmentSink } from "./sinks.fixture.ts";
import { between, missingOf, ORDERED, PICKING, UNSHIPPED } from "./sink.fixture.ts";
import { type Desk, deskIn, deskOf } from "./sources/source.fixture.ts";

const d = (text: string) => Decimal.of(text);
const signal = new AbortController().signal;
const TICKET = "1c2d3e4f-4c1e-4d8a-9f5e-1c2d3e4f5a6b";
const PRODUCT = "ULSD-CLR";
const DONE = `DT-1001 done platform:${TICKET}`;
const party = { code: "C1", name: "Acme", companyId: "5d0f2c7e-9b1a-4c3d-8e5f-6a7b8c9d0e1f" };

describe.skipIf(!trytonIsThere)("delivery tickets into Tryton", () => {
  const server = useTryton();

  const rowsOf = (desk: Desk, model: string, ...fields: string[]) =>
    desk.books.tryton.call<Record<string, unknown>[]>(`model.${model}.search_read`, [
      [],
      0,
      null,
      [["id", "ASC"]],
      fields,
    ]);
  const lineOf = (product: string, quantity: string): ShipmentDocument["lines"][number] => ({
    product,
    quantity: d(quantity),
    unit: "gal",
    grossGallons: null,
    netGallons: d(quantity),
    temperature: null,
    apiGravity: null,
  });
  const ticket = (more: Partial<ShipmentDocument> = {}): ShipmentDocument => ({
    id: TICKET,
    number: "DT-1001",
    party,
    type: "out",
    status: "done",
    order: null,
    date: "2026-11-20",
    reference: "BOL-4711",
    deliveredAt: "2026-11-20T14:05:00Z",
    note: "driver Ann\nULSD, gross 7990.1 gal, API gravity 36.2",
    lines: [lineOf(PRODUCT, "7987.4")],
    ...more,
  });
  const over = (sink: Sink, document: ShipmentDocument | OrderDocument) => {
    const { id, number } = document;
    const item: Item = { number, id, revision: "r", document, counterpart: null };
    const outgoing = (): Outgoing => ({
      ...sink.freeze([item]),
      key: "k",
      items: [item],
      firstSentAt: null,
    });
    return {
      send: () => sink.send(outgoing(), signal),
      find: () => sink.find(outgoing(), signal),
    };
  };
  const request = (desk: Desk, document: ShipmentDocument) =>
    over(shipmentSink(desk.books), document);

  const ordered = (quantity: string, unit: string, unitPrice: string) => ({
    product: PRODUCT,
    quantity: d(quantity),
    unit,
    unitPrice: d(unitPrice),
    description: "ULSD",
  });
  /** Books an order, of 8000 gallons where no lines are given; its id. */
  async function order(
    desk: Desk,
    type: OrderDocument["type"],
    id = "order",
    lines: OrderDocument["lines"] = [ordered("8000", "gal", "2.413755")],
  ): Promise<string> {
    const head = { id, number: `LD-${id}`, party, type, date: null, description: null };
    const document: OrderDocument = { ...head, status: "confirmed", lines };
    const { ids } = await over(orderSink(desk.books), document).send();
    return ids?.[0] as string;
  }
  /** Books of a test's own that begin with that order, and its id. */
  async function withOrder(type: OrderDocument["type"]): Promise<{ desk: Desk; booked: string }> {
    const filled = await server.filled(`ordered: ${type}`, async (database) => {
      await order(deskOf(database), type);
    });
    return { desk: deskIn(server, {}, filled), booked: `${type} 1 platform:order` };
  }

  // One that comes in is done in the test of its number, too.
  test.for([isLongRun ? ("in" as const) : ("out" as const)])(
    "a signed ticket (%s) is done once, with its net gallons, date, BOL and note",
    numbers,
    async (type) => {
      const desk = deskIn(server);
      const { send, find } = request(desk, ticket({ type }));
      expect(await find()).toMatchObject({ found: "none" });
      expect(await send()).toMatchObject({ outcome: "done", ids: [DONE] });
      expect(await send()).toMatchObject({ outcome: "done", ids: [DONE] });
      expect(await find()).toMatchObject({ found: "exact", ids: [DONE] });
      const fields = ["number", "state", "reference", "effective_date"];
      expect(await rowsOf(desk, `stock.shipment.${type}`, ...fields)).toEqual([
        {
          id: 1,
          number: "DT-1001",
          state: "done",
          reference: "BOL-4711",
          effective_date: "2026-11-20",
        },
      ]);
      const moves = await rowsOf(desk, "stock.move", "state", "quantity");
      expect(moves).toHaveLength(2);
      for (const move of moves)
        expect(move).toMatchObject({ state: "done", quantity: d("7987.4") });
      expect(await rowsOf(desk, "ir.note", "message")).toMatchObject([
        {
          message: expect.stringMatching(
            /gross 7990.1 gal.*\ndelivered at 2026-11-20T14:05:00Z\nplatform:/,
          ),
        },
      ]);
    },
  );

  const ORDERS = [
    { type: "out", kind: "sale", model: "sale.sale", state: "sent" },
    { type: "in", kind: "purchase", model: "purchase.purchase", state: "received" },
  ] as const;
  test.for(isLongRun ? ORDERS.slice(1) : ORDERS.slice(0, 1))(
    "delivered is never ordered: a $kind stays done, and nothing is planned for the rest",
    numbers,
    async ({ type, kind, model, state }) => {
      const { desk, booked } = await withOrder(kind);
      const loads = ["4000.3", "3987.2", "120.5"];
      for (const [at, gallons] of loads.entries()) {
        const document = ticket({
          id: `ticket-${at}`,
          number: `DT-${at}`,
          type,
          order: booked,
          lines: [lineOf(PRODUCT, gallons)],
        });
        expect(await request(desk, document).send()).toMatchObject({ outcome: "done" });
        expect(await rowsOf(desk, model, "state", "shipment_state")).toMatchObject([
          { state: ORDERED, shipment_state: state },
        ]);
      }
      const shipments = await rowsOf(desk, `stock.shipment.${type}`, "state");
      expect(shipments.map((row) => row["state"])).toEqual(["done", "done", "done"]);
      const [line] = await rowsOf(desk, `${kind}.line`, "quantity", "actual_quantity");
      expect(line).toMatchObject({ quantity: d("8000.0"), actual_quantity: d("8108.0") });
      expect(await rowsOf(desk, "account.invoice")).toEqual([]);
    },
  );

  test("what is received has the price of its order, per unit of the ticket: the stock is worth what was agreed", async () => {
    const desk = deskIn(server);
    const lines = [ordered("200", "bbl", "99.12"), ordered("4000", "gal", "2.5")];
    const booked = await order(desk, "purchase", "order", lines);
    const load = (number: string, ...gallons: string[]) =>
      ticket({
        id: number,
        number,
        type: "in",
        order: booked,
        lines: gallons.map((one) => lineOf(PRODUCT, one)),
      });
    const waiting = { ...load("T-1", "3990.1"), status: "waiting" as const };
    const loads = [waiting, load("T-2", "4010"), load("T-3", "4400", "12.3"), load("T-1", "3999")];
    for (const document of loads)
      expect(await request(desk, document).send()).toMatchObject({ outcome: "done" });
    const moves = await rowsOf(desk, "stock.move", "quantity", "unit_price", "origin");
    const told = moves
      .filter(({ origin }) => String(origin).startsWith("purchase.line,"))
      .map((move) => [move["origin"], move["quantity"], move["unit_price"]].map(String).join(" "));
    // The first two were expected of the order, and are not to come.
    expect(told.slice(2).toSorted()).toEqual([
      "purchase.line,1 4010.0 2.36",
      "purchase.line,1 4400.0 2.36",
      "purchase.line,2 12.3 2.5",
      "purchase.line,2 3999.0 2.5",
    ]);
  });

  test("an issued ticket waits, may change, and goes on when it is signed", async () => {
    const { desk, booked } = await withOrder("sale");
    const issued = ticket({ status: "waiting", order: booked });
    expect(await request(desk, issued).send()).toMatchObject({ outcome: "done" });
    expect(await rowsOf(desk, "stock.shipment.out", "state")).toMatchObject([{ state: "waiting" }]);
    const changed = { ...issued, lines: [lineOf(PRODUCT, "8012")] };
    expect(await request(desk, changed).find()).toMatchObject({ found: "none" });
    expect(await request(desk, changed).send()).toMatchObject({ outcome: "done" });
    const signed = request(desk, { ...changed, status: "done" });
    expect(await signed.find()).toMatchObject({ found: "none" });
    expect(await signed.send()).toMatchObject({ outcome: "done" });
    const moves = await rowsOf(desk, "stock.move", "state", "quantity");
    expect(moves.filter(({ state }) => state === "done").map((row) => row["quantity"])).toEqual([
      d("8012.0"),
      d("8012.0"),
    ]);
    const late = request(desk, { ...issued, status: "done" });
    expect(await late.send()).toMatchObject({ fault: { code: "changed-after-delivery" } });
    expect(await late.find()).toMatchObject({ found: "different" });
  });

  test("a void ticket cancels its shipment and leaves its order done; after delivery, a person decides", async () => {
    const { desk, booked } = await withOrder("sale");
    const issued = ticket({ status: "waiting", order: booked });
    const ordered = await rowsOf(desk, "sale.sale", "state", "shipment_state");
    await request(desk, issued).send();
    const voided = request(desk, { ...issued, status: "cancelled" });
    expect(await voided.find()).toMatchObject({ found: "none" });
    expect(await voided.send()).toMatchObject({ outcome: "done" });
    expect(await voided.find()).toMatchObject({ found: "exact" });
    expect(await rowsOf(desk, "stock.shipment.out", "state")).toMatchObject([
      { state: "cancelled" },
    ]);
    // As before the ticket: 6.0 counts a sale without a move for sent, 8.0 for one of which nothing was to be shipped.
    expect(await rowsOf(desk, "sale.sale", "state", "shipment_state")).toEqual(ordered);
    expect(ordered).toMatchObject([{ state: ORDERED, shipment_state: UNSHIPPED }]);
    expect(await request(desk, issued).send()).toMatchObject({
      fault: { code: "cancelled-in-tryton" },
    });

    const done = ticket({ id: "done", number: "DT-2" });
    await request(desk, done).send();
    expect(await request(desk, { ...done, status: "cancelled" }).send()).toMatchObject({
      outcome: "refused",
      fault: { code: "void-after-delivery" },
    });
    const never = ticket({ id: "never", number: "DT-3", status: "cancelled" });
    expect(await request(desk, never).send()).toMatchObject({ outcome: "done", ids: [null] });
  });

  test("a shipment that a clerk changes just before it is received is received as the ticket has it", async () => {
    const { desk, booked } = await withOrder("purchase");
    const issued = ticket({ type: "in", status: "waiting", order: booked });
    await request(desk, issued).send();
    // SQLite tells seconds apart, no less.
    const old = "'2026-01-01 00:00:00'";
    fileOf(desk.database).exec(
      `UPDATE stock_shipment_in SET create_date = ${old}, write_date = ${old}`,
    );
    let changes = 0;
    const before = async (method: string): Promise<void> => {
      if (!method.endsWith("shipment.in.receive") || changes++ > 0) return;
      const move = (await rowsOf(desk, "stock.move")).at(-1);
      const incoming_moves = [["write", [move?.["id"]], { quantity: 1 }]];
      await desk.clerk.call("model.stock.shipment.in.write", [[1], { incoming_moves }]);
    };
    const signed = { ...issued, status: "done" as const };
    const received = request({ ...desk, books: between(desk.books, { before }) }, signed);
    expect(await received.send()).toMatchObject({ outcome: "done" });
    expect(changes).toBe(2);
    expect(await rowsOf(desk, "stock.shipment.in", "state")).toMatchObject([{ state: "done" }]);
    expect(await rowsOf(desk, "stock.move", "state", "quantity")).toContainEqual(
      expect.objectContaining({ state: "done", quantity: d("7987.4") }),
    );
  });

  test("what a kill left at any button is taken up there", async () => {
    const { desk, booked } = await withOrder("sale");
    const issued = ticket({ status: "waiting", order: booked });
    await request(desk, issued).send();
    const { send, find } = request(desk, { ...issued, status: "done" });
    for (const button of PICKING) {
      await desk.books.tryton.call(`model.stock.shipment.out.${button}`, [[1]]);
      expect(await find()).toMatchObject({ found: "none" });
    }
    expect(await send()).toMatchObject({ outcome: "done" });
    expect(await rowsOf(desk, "stock.shipment.out", "state")).toMatchObject([{ state: "done" }]);
  });

  test("a ticket with another number is the same goods: its shipment is given the number, with and without its link", async () => {
    const desk = deskIn(server);
    for (const type of ["out", "in"] as const) {
      const first = ticket({ type, id: `id-${type}`, number: `A-${type}` });
      await request(desk, first).send();
      const renumbered = request(desk, { ...first, number: `B-${type}` });
      expect(await renumbered.find()).toMatchObject({ found: "none" });
      const ids = [`B-${type} done platform:id-${type}`];
      expect(await renumbered.send()).toMatchObject({ outcome: "done", ids });
      expect(await renumbered.find()).toMatchObject({ found: "exact", ids });
      expect(await rowsOf(desk, `stock.shipment.${type}`, "number", "state")).toMatchObject([
        { number: `B-${type}`, state: "done" },
      ]);
      // What a link says that was stored before is still that shipment.
      expect(
        await missingOf(shipmentSink(desk.books), [`A-${type} done platform:id-${type}`]),
      ).toEqual([]);
    }
  });

  test("a line without gallons, and an order that is gone, are refused by name", async () => {
    const desk = deskIn(server);
    const empty = ticket({ lines: [lineOf(PRODUCT, "10"), lineOf(PRODUCT, "0.0")] });
    expect(() => request(desk, empty).send()).toThrow(Refused);
    expect(await request(desk, ticket({ order: "sale 77" })).send()).toMatchObject({
      outcome: "refused",
      fault: { code: "not-in-tryton", message: expect.stringContaining("sale 77") },
    });
    expect(await rowsOf(desk, "stock.shipment.out")).toEqual([]);
  });

  test("more digits than a unit takes are refused in words, of an order and of a ticket", async () => {
    const desk = deskIn(server);
    const fault = {
      code: "too-many-digits",
      message: expect.stringContaining("7500.12345 gal has more than the 4 decimal places"),
    };
    const fine = ticket({ lines: [lineOf(PRODUCT, "7500.12345")] });
    expect(await request(desk, fine).send()).toMatchObject({ outcome: "refused", fault });
    await expect(
      order(desk, "sale", "fine", [ordered("7500.12345", "gal", "2.5")]),
    ).resolves.toBeUndefined();
    expect(await rowsOf(desk, "stock.shipment.out")).toEqual([]);
    expect(await rowsOf(desk, "sale.sale")).toEqual([]);
  });

  describe.runIf(isLongRun)("in the long run", numbers, () => {
    test("another's shipment under its number is left alone, and so is another ticket's", async () => {
      const desk = deskIn(server);
      const first = ticket();
      await request(desk, first).send();
      const other = request(desk, { ...first, id: "another ticket" });
      expect(await other.find()).toMatchObject({ found: "different" });
      expect(await other.send()).toMatchObject({ fault: { code: "another-shipment" } });
      const stranger = request(desk, {
        ...first,
        party: { ...party, code: "C2", companyId: "c2" },
      });
      expect(await stranger.send()).toMatchObject({ fault: { code: "another-shipment" } });
      expect((await rowsOf(desk, "stock.shipment.out")).length).toBe(1);
    });

    test("of what was booked, what restored books have not, or not as far, or as another's, is told", async () => {
      const desk = deskIn(server);
      const sink = shipmentSink(desk.books);
      const gone = async (...ids: unknown[]) => missingOf(sink, ids as string[]);
      const empty = desk.database.keep();
      const issued = ticket({ status: "waiting" });
      const waiting = (await request(desk, issued).send()).ids?.[0];
      const before = desk.database.keep();
      await request(desk, ticket()).send();
      expect(await gone(waiting, DONE, "DT-1001")).toEqual([]);

      desk.database.restore(before);
      expect(await gone(waiting, DONE, "DT-1001")).toEqual([DONE]);
      const voided = await request(desk, { ...issued, status: "cancelled" }).send();
      expect(await gone(waiting, ...(voided.ids ?? []))).toEqual([]);
      desk.database.restore(before);
      expect(await gone(...(voided.ids ?? []))).toEqual(voided.ids);

      desk.database.restore(empty);
      expect(await gone(DONE, "DT-1001")).toEqual([DONE, "DT-1001"]);
      await request(desk, ticket({ id: "another" })).send();
      expect(await gone(DONE, "DT-1001 done platform:another")).toEqual([DONE]);
    });

    test("a ticket does not hang on the order that restored books gave its order's number to", async () => {
      const desk = deskIn(server);
      const empty = desk.database.keep();
      const booked = await order(desk, "sale");
      expect(booked).toBe("sale 1 platform:order");
      desk.database.restore(empty);
      expect(await order(desk, "sale", "other")).toBe("sale 1 platform:other");
      const late = ticket({ order: booked });
      expect(await request(desk, late).send()).toMatchObject({
        outcome: "refused",
        fault: {
          code: "not-in-tryton",
          message: expect.stringContaining("its number was given again") as string,
        },
      });
      expect(await rowsOf(desk, "stock.shipment.out")).toEqual([]);
      // It goes on once its order is delivered again; ids had no mark once.
      const again = await order(desk, "sale");
      expect(again).toBe("sale 2 platform:order");
      expect(await request(desk, { ...late, order: again }).send()).toMatchObject({
        outcome: "done",
      });
      const old = ticket({ id: "old", number: "DT-2", order: "sale 2" });
      expect(await request(desk, old).send()).toMatchObject({ outcome: "done" });
      const origins = await rowsOf(desk, "sale.line", "sale.number", "actual_quantity");
      expect(origins).toMatchObject([
        { actual_quantity: d("0.0") },
        { actual_quantity: d("15974.8") },
      ]);
    });
  });
});
