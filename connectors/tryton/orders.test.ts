import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Item, Outgoing } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { isLongRun, numbers } from "../../test/support/runs.ts";
import { fileOf } from "../../test/support/tryton-file.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import type { OrderDocument } from "../../src/ledger/documents.ts";
import { orderSink } from "./sinks.fixture.ts";
import { wizard } from "./clerk.fixture.ts";
import { between, missingOf, ORDERED } from "./sink.fixture.ts";
import { type Desk, deskIn } from "./sources/source.fixture.ts";

const d = (text: string) => Decimal.of(text);
const signal = new AbortController().signal;
const PRODUCT = "ULSD-CLR";
const ID = "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b";

describe.skipIf(!trytonIsThere)("orders into Tryton", () => {
  const server = useTryton();

  function order(more: Partial<OrderDocument> = {}): OrderDocument {
    return {
      id: ID,
      number: "LD-1001",
      party: { code: "C1", name: "Acme", companyId: "5d0f2c7e-9b1a-4c3d-8e5f-6a7b8c9d0e1f" },
      type: "sale",
      status: "confirmed",
      date: "2026-11-20",
      description: "Gate 3,\nask for Ann",
      lines: [
        {
          product: PRODUCT,
          quantity: d("8000.5"),
          unit: "gal",
          unitPrice: d("2.413755"),
          description: "ULSD",
        },
      ],
      ...more,
    };
  }
  const request = (desk: Desk, document: OrderDocument, counterpart: string | null = null) => {
    const item: Item = {
      number: document.number,
      id: document.id,
      revision: "r",
      document,
      counterpart,
    };
    const sink = orderSink(desk.books);
    const outgoing: Outgoing = {
      ...sink.freeze([item]),
      key: "k",
      items: [item],
      firstSentAt: null,
    };
    return {
      body: outgoing.body,
      send: () => sink.send(outgoing, signal),
      find: () => sink.find(outgoing, signal),
    };
  };
  const rowsOf = (desk: Desk, model: string, ...fields: string[]) =>
    desk.books.tryton.call<Record<string, unknown>[]>(`model.${model}.search_read`, [
      [],
      0,
      null,
      [["id", "ASC"]],
      fields,
    ]);

  const BOTH = [
    { type: "sale", model: "sale.sale" },
    { type: "purchase", model: "purchase.purchase" },
  ] as const;
  test.for(isLongRun ? BOTH.slice(1) : BOTH.slice(0, 1))(
    "a confirmed $type is booked once, and neither invoiced nor expected",
    numbers,
    async ({ type, model }) => {
      const desk = deskIn(server);
      const { send, find } = request(desk, order({ type }));
      expect(await find()).toMatchObject({ found: "none" });
      expect(await send()).toMatchObject({ outcome: "done", ids: [`${type} 1 platform:${ID}`] });
      expect(await send()).toMatchObject({ outcome: "done", ids: [`${type} 1 platform:${ID}`] });
      expect(await find()).toMatchObject({ found: "exact", ids: [`${type} 1 platform:${ID}`] });
      expect(
        await rowsOf(desk, model, "state", "reference", "description", "untaxed_amount"),
      ).toEqual([
        {
          id: 1,
          state: ORDERED,
          reference: "LD-1001",
          description: "Gate 3, ask for Ann",
          untaxed_amount: d("19311.25"),
        },
      ]);
      expect(await rowsOf(desk, "account.invoice")).toEqual([]);
      expect(await rowsOf(desk, "stock.shipment.out")).toEqual([]);
      expect(await rowsOf(desk, "stock.move", "state")).toMatchObject([{ state: "cancelled" }]);
    },
  );

  test.for(isLongRun ? BOTH.slice(1) : BOTH.slice(0, 1))(
    "what a person returns of a $type is no order of the platform's, though it is made with its comment",
    numbers,
    async ({ type, model }) => {
      const desk = deskIn(server);
      const { send, find } = request(desk, order({ type }));
      const { ids = [] } = await send();
      await wizard(desk, `${type}.return_${type}`, "return_", {}, [model, 1]);
      expect(await rowsOf(desk, model, "comment")).toMatchObject(
        [1, 2].map(() => ({ comment: expect.stringContaining(ID) as string })),
      );
      expect(await find()).toMatchObject({ found: "exact", ids });
      expect(await send()).toMatchObject({ outcome: "done", ids });
    },
  );

  test("an order says where it is sent, and when it is wanted; lines that change bring both along", async () => {
    const desk = deskIn(server);
    await desk.books.tryton.call("model.party.party.create", [
      [{ code: "C1-SITE", name: "Acme, tank farm", addresses: [["create", [{ city: "Enid" }]]] }],
    ]);
    const plan = { shipTo: "C1-SITE", requestedDate: "2026-11-22", deliveryStart: "06:00" };
    const draft = { ...plan, id: randomUUID(), number: "LD-P1", status: "draft" } as const;
    const { ids } = await request(desk, order(draft)).send();
    const held = async (model: string, ...more: string[]) =>
      (await rowsOf(desk, model, "comment", "reference", ...more)).at(-1);
    const sale = () =>
      held("sale.sale", "shipping_date", "shipment_party.code", "shipment_address.city");
    expect(await sale()).toMatchObject({
      comment: `Delivery from 06:00\nplatform:${draft.id}`,
      shipping_date: "2026-11-22",
      "shipment_party.": { code: "C1-SITE" },
      "shipment_address.": { city: "Enid" },
    });
    const [line] = order().lines;
    const later = { ...draft, deliveryDate: "2026-11-23", lines: line ? [line, line] : [] };
    const changed = request(desk, order(later), ids?.[0] ?? null);
    expect(await changed.send()).toMatchObject({ outcome: "done" });
    expect(await sale()).toMatchObject({ shipping_date: "2026-11-23" });
    const confirmed = request(desk, order({ ...later, status: "confirmed" }), ids?.[0] ?? null);
    expect(await confirmed.send()).toMatchObject({ outcome: "done" });
    const bought = { type: "purchase", ...plan, id: randomUUID(), number: "LD-P2" } as const;
    expect(await request(desk, order(bought)).send()).toMatchObject({ outcome: "done" });
    expect(await held("purchase.purchase", "delivery_date")).toMatchObject({
      delivery_date: "2026-11-22",
      reference: "LD-P2",
    });
    const nowhere = { ...draft, id: randomUUID(), number: "LD-P3", shipTo: "C1-NONE" };
    expect(await request(desk, order(nowhere)).send()).toMatchObject({
      outcome: "refused",
      fault: { code: "not-in-tryton", message: "Tryton has no site C1-NONE" },
    });
  });

  test("what a kill left half done is taken up where it was", async () => {
    const desk = deskIn(server);
    const { send, find } = request(desk, order());
    await send();
    await request(desk, order({ id: "second", number: "LD-1002", status: "draft" })).send();
    const second = request(desk, order({ id: "second", number: "LD-1002" }));
    expect(await second.find()).toMatchObject({ found: "none" });
    await desk.clerk.call("model.sale.sale.quote", [[2]]);
    expect(await second.find()).toMatchObject({ found: "none" });
    expect(await second.send()).toMatchObject({ outcome: "done", ids: ["sale 2 platform:second"] });
    expect(await rowsOf(desk, "sale.sale", "state")).toMatchObject([
      { state: ORDERED },
      { state: ORDERED },
    ]);
    expect(await find()).toMatchObject({ found: "exact" });
  });

  test("lines that change before confirmation are written anew; after it, a person decides", async () => {
    const desk = deskIn(server);
    const first = order({ status: "draft" });
    expect(await request(desk, first).send()).toMatchObject({
      outcome: "done",
      ids: [`sale #1 platform:${ID}`],
    });
    const [line] = first.lines as [OrderDocument["lines"][number]];
    const lines = [{ ...line, quantity: d("7500") }, line];
    const confirmed: OrderDocument = { ...first, status: "confirmed", lines };
    expect(await request(desk, confirmed, "sale #1").send()).toMatchObject({ outcome: "done" });
    expect(await rowsOf(desk, "sale.line", "quantity")).toMatchObject([
      { quantity: d("7500.0") },
      { quantity: d("8000.5") },
    ]);
    const later = request(desk, { ...confirmed, lines: [line] }, "sale 1");
    expect(await later.send()).toMatchObject({
      outcome: "refused",
      fault: { code: "changed-after-confirmation" },
    });
    expect(await later.find()).toMatchObject({ found: "different" });
    expect((await rowsOf(desk, "sale.line", "quantity")).length).toBe(2);
  });

  test("a draft order that a clerk changes just before it is confirmed is confirmed as the platform has it", async () => {
    const desk = deskIn(server);
    await request(desk, order({ status: "draft" })).send();
    // SQLite tells seconds apart, no less.
    fileOf(desk.database).exec("UPDATE sale_sale SET create_date = '2026-01-01 00:00:00'");
    let changes = 0;
    const before = async (method: string): Promise<void> => {
      if (!/sale\.sale\.(?:quote|confirm)$/.test(method) || changes++ > 0) return;
      const [line] = await rowsOf(desk, "sale.line");
      const lines = [["write", [line?.["id"]], { quantity: 1 }]];
      await desk.clerk.call("model.sale.sale.write", [[1], { lines }]);
    };
    const confirmed = request({ ...desk, books: between(desk.books, { before }) }, order());
    expect(await confirmed.send()).toMatchObject({ outcome: "done" });
    expect(changes).toBeGreaterThan(1);
    expect(await rowsOf(desk, "sale.sale", "state", "untaxed_amount")).toMatchObject([
      { state: ORDERED, untaxed_amount: d("19311.25") },
    ]);
  });

  test("cancelled before confirmation is cancelled; after it, a person decides; never booked, nothing is", async () => {
    const desk = deskIn(server);
    const draft = order({ status: "draft" });
    await request(desk, draft).send();
    const cancelled = request(desk, { ...draft, status: "cancelled" }, "sale #1");
    expect(await cancelled.find()).toMatchObject({ found: "none" });
    expect(await cancelled.send()).toMatchObject({ outcome: "done" });
    expect(await rowsOf(desk, "sale.sale", "state")).toMatchObject([{ state: "cancelled" }]);
    expect(await request(desk, { ...draft, status: "confirmed" }).send()).toMatchObject({
      fault: { code: "cancelled-in-tryton" },
    });

    const other = order({ id: "other", number: "LD-2" });
    await request(desk, other).send();
    expect(await request(desk, { ...other, status: "cancelled" }).send()).toMatchObject({
      outcome: "refused",
      fault: { code: "cancelled-after-confirmation" },
    });

    const never = order({ id: "never", number: "LD-3", status: "cancelled" });
    expect(await request(desk, never).send()).toMatchObject({ outcome: "done", ids: [null] });
    expect((await rowsOf(desk, "sale.sale")).length).toBe(2);
  });

  test("what a person entered is taken for it when it says the same, and left alone when not", async () => {
    const desk = deskIn(server);
    const document = order();
    await request(desk, document).send();
    await desk.write("sale.sale", 1, { comment: "entered by Ann" });
    const same = request(desk, document);
    expect(await same.find()).toMatchObject({ found: "exact", ids: ["sale 1"] });
    const [line] = document.lines as [OrderDocument["lines"][number]];
    const other = request(desk, { ...document, lines: [{ ...line, quantity: d("1") }] });
    expect(await other.find()).toMatchObject({ found: "different" });
    expect(await other.send()).toMatchObject({ fault: { code: "another-order" } });
    expect((await rowsOf(desk, "sale.sale")).length).toBe(1);
  });

  test("what went back on the platform, and what people change in Tryton, is told and not written", async () => {
    const desk = deskIn(server);
    const document = order();
    const { send, body } = request(desk, document);
    await send();
    const takenBack = { ...document, status: "taken-back", platformStatus: "POSTED", lines: [] };
    const lost = request(desk, takenBack as OrderDocument);
    const message = `Tryton holds sale 1 ${ORDERED}, and on the platform the order LD-1001 is POSTED`;
    expect(await lost.send()).toMatchObject({
      outcome: "refused",
      fault: { code: "taken-back", message },
    });
    expect(await rowsOf(desk, "sale.sale", "state")).toMatchObject([{ state: ORDERED }]);

    const delivered = [{ id: ID, counterpart: `sale 1 platform:${ID}`, body }];
    const inspected = () => orderSink(desk.books).inspect?.(delivered, signal);
    expect(await inspected()).toEqual([{ is: "there", differences: [] }]);
    await desk.write("sale.line", 1, { quantity: 7500 });
    expect(await inspected()).toEqual([
      {
        is: "there",
        differences: [{ field: "lines.1.quantity", expected: "8000.50", held: "7500.00" }],
      },
    ]);
  });

  describe.runIf(isLongRun)("in the long run", numbers, () => {
    test("a comment line that a person enters in an order says nothing of its goods, and stays", async () => {
      const desk = deskIn(server);
      const draft = order({ status: "draft" });
      await request(desk, draft).send();
      const comment = { type: "comment", description: "Call before you come" };
      await desk.write("sale.sale", 1, { lines: [["create", [comment]]] });
      expect(await request(desk, draft).find()).toMatchObject({ found: "exact" });
      const [line] = draft.lines as [OrderDocument["lines"][number]];
      const more = request(desk, order({ lines: [{ ...line, quantity: d("8100") }] }), "sale #1");
      expect(await more.send()).toMatchObject({ outcome: "done" });
      expect(await rowsOf(desk, "sale.line", "type")).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ type: "comment" }),
          expect.objectContaining({ type: "line" }),
        ]),
      );
    });

    test("a draft that a person entered is not invoiced by Tryton once it is ours; one that is, stays theirs", async () => {
      const desk = deskIn(server);
      const document = order({ status: "draft" });
      await request(desk, document).send();
      const entered = { comment: "by Ann", invoice_method: "order", shipment_method: "order" };
      await desk.write("sale.sale", 1, entered);
      const confirmed = request(desk, { ...document, status: "confirmed" });
      expect(await confirmed.send()).toMatchObject({ outcome: "done", ids: ["sale 1"] });
      expect(await rowsOf(desk, "account.invoice")).toEqual([]);
      await desk.write("sale.sale", 1, entered);
      expect(await confirmed.find()).toMatchObject({
        found: "different",
        detail: expect.stringContaining("invoiced by Tryton"),
      });
    });

    test("orders that a backup does not have are told, by ids of all ages", async () => {
      const desk = deskIn(server);
      await request(desk, order()).send();
      const draft = order({ id: "draft", number: "LD-2", status: "draft" });
      await request(desk, draft).send();
      const there = ["sale 1", `sale 1 platform:${ID}`, "sale #2", "sale #2 platform:draft"];
      const gone = ["sale 3", "purchase 1", "purchase #2", "sale 1 platform:draft", "by hand"];
      const sink = orderSink(desk.books);
      expect(await missingOf(sink, [...there, ...gone])).toEqual(gone);
    });

    test("after a restore another order under its number does not pass for it, nor does itself unconfirmed", async () => {
      const desk = deskIn(server);
      const empty = desk.database.keep();
      const document = order();
      const sink = orderSink(desk.books);
      const { ids = [] } = await request(desk, document).send();
      const [lost] = ids as [string];
      expect(await missingOf(sink, [lost])).toEqual([]);

      desk.database.restore(empty);
      const other = order({ id: "other", number: "LD-2" });
      expect(await request(desk, other).send()).toMatchObject({ ids: ["sale 1 platform:other"] });
      expect(await missingOf(sink, [lost, "sale 1 platform:other"])).toEqual([lost]);
      // Nor is it taken for it when the platform's order changes.
      const changed = request(desk, document, lost);
      expect(await changed.find()).toMatchObject({ found: "none" });
      expect(await changed.send()).toMatchObject({ ids: [`sale 2 platform:${ID}`] });

      desk.database.restore(empty);
      await request(desk, { ...document, status: "draft" }).send();
      await desk.clerk.call("model.sale.sale.quote", [[1]]);
      expect(await rowsOf(desk, "sale.sale", "number")).toMatchObject([{ number: "1" }]);
      expect(await missingOf(sink, [lost])).toEqual([lost]);
    });
  });
});
