import { describe, expect, test } from "vitest";
import type { Outgoing, Sink } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { orderSink, shipmentSink } from "./sinks.fixture.ts";
import { type Desk, deskIn } from "./sources/source.fixture.ts";

const signal = new AbortController().signal;
const d = (text: string) => Decimal.of(text);
const party = { code: "C1", name: "Acme", companyId: "5d0f2c7e-9b1a-4c3d-8e5f-6a7b8c9d0e1f" };

describe.skipIf(!trytonIsThere)("what the platform has turned", () => {
  const server = useTryton();

  const rowsOf = (desk: Desk, model: string) =>
    desk.clerk.call<Record<string, unknown>[]>(`model.${model}.search_read`, [
      [],
      0,
      null,
      [["id", "ASC"]],
      ["state"],
    ]);
  const request = (
    sink: Sink,
    document: OrderDocument | ShipmentDocument,
    counterpart: string | null = null,
  ) => {
    const { id, number } = document;
    const item = { number, id, revision: "r", document, counterpart };
    const frozen = sink.freeze([item]);
    const outgoing: Outgoing = { ...frozen, key: "k", items: [item], firstSentAt: null };
    return {
      send: () => sink.send(outgoing, signal),
      find: () => sink.find(outgoing, signal),
    };
  };

  test("an order or a ticket is not booked a second time as the other kind, until the first is cancelled", async () => {
    const desk = deskIn(server);
    const [product] = await desk.clerk.call<[{ code: string }]>(
      "model.product.product.search_read",
      [[["type", "=", "goods"]], 0, 1, [["code", "ASC"]], ["code"]],
    );
    const line = { product: product.code, quantity: d("8000"), unit: "gal" };
    const head = { party, date: null } as const;
    const order = (type: OrderDocument["type"], id: string): OrderDocument => ({
      ...head,
      id,
      number: `LD-${id}`,
      type,
      status: "draft",
      description: null,
      lines: [{ ...line, unitPrice: d("2.4"), description: "ULSD" }],
    });
    const orders = orderSink(desk.books);

    // By its mark, with a link and without one, and from either side.
    for (const [was, is, model] of [
      ["sale", "purchase", "sale.sale"],
      ["purchase", "sale", "purchase.purchase"],
    ] as const) {
      const first = await request(orders, order(was, was)).send();
      const [counterpart = null] = first.ids ?? [];
      for (const link of [counterpart, null]) {
        const { send, find } = request(orders, order(is, was), link);
        const refused = await send();
        expect(refused).toMatchObject({ outcome: "refused", fault: { code: "turned" } });
        expect(refused.fault?.message).toBe(
          `order LD-${was} is booked in Tryton as ${was} #1; the platform now says ${is}`,
        );
        expect(await find()).toMatchObject({ found: "different" });
      }
      await desk.clerk.call(`model.${model}.cancel`, [[1]]);
    }
    const turned = request(orders, order("purchase", "sale"), "sale #1 platform:sale");
    expect(await turned.find()).toMatchObject({ found: "none" });
    expect(await turned.send()).toMatchObject({ ids: ["purchase #2 platform:sale"] });

    // What a person had entered has no mark: its link says which one it is.
    await request(orders, order("sale", "entered")).send();
    await desk.write("sale.sale", 2, { comment: "by Ann" });
    const entered = request(orders, order("purchase", "entered"), "sale #2");
    expect(await entered.send()).toMatchObject({ fault: { code: "turned" } });
    expect((await rowsOf(desk, "purchase.purchase")).length).toBe(2);

    const ticket = (type: ShipmentDocument["type"]): ShipmentDocument => ({
      ...head,
      id: "ticket",
      number: "DT-1",
      type,
      status: "waiting",
      order: null,
      reference: "BOL-1",
      note: null,
      lines: [
        { ...line, grossGallons: null, netGallons: null, temperature: null, apiGravity: null },
      ],
    });
    const shipments = shipmentSink(desk.books);
    for (const [was, is, name] of [
      ["out", "in", "customer shipment"],
      ["in", "out", "supplier shipment"],
    ] as const) {
      expect(await request(shipments, ticket(was)).send()).toMatchObject({ outcome: "done" });
      const { send, find } = request(shipments, ticket(is));
      const refused = await send();
      expect(refused).toMatchObject({ outcome: "refused", fault: { code: "turned" } });
      expect(refused.fault?.message).toContain(`ticket DT-1 is booked in Tryton as ${name} DT-1;`);
      expect(await find()).toMatchObject({ found: "different" });
      await desk.clerk.call(`model.stock.shipment.${was}.cancel`, [[1]]);
    }
    expect(await rowsOf(desk, "stock.shipment.in")).toMatchObject([{ state: "cancelled" }]);
  });
});
