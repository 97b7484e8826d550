/** Orders and delivery tickets in the little company file, asked in this process. */
import { expect, test } from "vitest";
import { deliver, never, refusalOf, requestOf } from "../../test/support/connector.ts";
import type { Item } from "../../src/core/contract.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { invoiceDocument, itemOf } from "../example/example.fixture.ts";
import type { Row } from "./company-file.fixture.ts";
import { DesktopConfig } from "./config.ts";
import { bench } from "./desk.fixture.ts";
import { orderDocument, settings, ticketDocument } from "./desktop.fixture.ts";
import { quickbooksDesktop } from "./index.ts";

const desk = (more: object = {}) => {
  const one = bench(more);
  return { ...one, orders: one.sinkOf("order"), tickets: one.sinkOf("shipment") };
};

const item = (document: OrderDocument | ShipmentDocument, link?: string | null): Item =>
  itemOf(document, link);
const gallons = <D extends OrderDocument | ShipmentDocument>(one: D, quantity: string): D => ({
  ...one,
  lines: one.lines.map((line) => ({ ...line, quantity: Decimal.of(quantity) })),
});
const bought = (more: object = {}) => orderDocument("LD-2", { type: "purchase", ...more });

test.for(["sale", "purchase"] as const)(
  "a %s is an open order with its price to the cent; while it is open it is changed and closed",
  async (type) => {
    const { file, orders, only } = desk();
    const [table, made] = [
      type === "sale" ? ("SalesOrder" as const) : ("PurchaseOrder" as const),
      orderDocument("LD-2", { type }),
    ];
    const first = await deliver(orders, [item(made)]);
    expect(first).toMatchObject({ outcome: "done" });
    expect(only(table).lines).toMatchObject([{ Quantity: "7500", Amount: "18103.16" }]);
    const [link] = first.ids ?? [];
    expect(link).toBe(`${type} ${only(table).id} platform:id-LD-2`);
    const later = item(gallons(made, "7400"), link);
    expect(await deliver(orders, [later])).toMatchObject({ outcome: "done", ids: [link] });
    expect(only(table).lines).toMatchObject([{ Quantity: "7400", Amount: "17861.79" }]);
    const ended = item({ ...gallons(made, "7400"), status: "cancelled" as const }, link);
    expect(await deliver(orders, [ended])).toMatchObject({ outcome: "done", ids: [link] });
    expect(only(table).fields).toMatchObject({ IsManuallyClosed: "true" });
    expect(only(table).fields["Memo"]).toMatch(/^VOID: LD-2 platform:id-LD-2 /);
    expect(await refusalOf(orders, later)).toMatchObject({ code: "cancelled-in-quickbooks" });
    expect(file.rows(table)).toHaveLength(1);
  },
);

test.for<[what: string, change: (row: Row) => void]>([
  ["whose lines a person changed", ({ lines }) => Object.assign(lines[0] ?? {}, { Quantity: "7" })],
  ["of which goods came", ({ lines }) => Object.assign(lines[0] ?? {}, { Moved: "1" })],
  ["that a person closed", ({ fields }) => Object.assign(fields, { IsManuallyClosed: "true" })],
])("an order %s is never overwritten or closed", async ([, change]) => {
  const { orders, only, asked } = desk();
  const { ids } = await deliver(orders, [item(bought())]);
  change(only("PurchaseOrder"));
  const link = ids?.[0] ?? null;
  expect(await refusalOf(orders, item(gallons(bought(), "7400"), link))).toMatchObject({
    code: "changed-after-confirmation",
  });
  expect(await refusalOf(orders, item(bought({ status: "cancelled" }), link))).toMatchObject({
    code: "cancelled-after-confirmation",
  });
  expect(asked("PurchaseOrderMod")).toBe(0);
});

/** Where and when an order is wanted, as the platform says it. */
const PLAN = { shipTo: "C-1001-02", requestedDate: "2026-11-22", deliveryStart: "06:00" };
const planned = (one: OrderDocument, more: Partial<OrderDocument>): OrderDocument => ({
  ...one,
  ...PLAN,
  ...more,
  lines: one.lines.map((line) => ({ ...line, terminal: "T-75-TX-2672" })),
});

test.for([
  ["sale", "<ShipAddress><Addr1>C-1001-02</Addr1></ShipAddress>", "ShipDate", "Other"],
  ["purchase", "", "ExpectedDate", "Other1"],
] as const)(
  "a %s says where it is loaded, and where, on which day and in which window it is wanted",
  async ([type, address, dayName, windowName]) => {
    const { orders, file } = desk();
    const made = planned(orderDocument("LD-2", { type }), {});
    const { ids } = await deliver(orders, [item(made)]);
    const later = planned(gallons(orderDocument("LD-2", { type }), "7400"), {
      deliveryDate: "2026-11-23",
      deliveryEnd: "10:00",
    });
    await deliver(orders, [item(later, ids?.[0] ?? null)]);
    const [add, mod] = ["Add", "Mod"].map(
      (verb) => file.asked.find((xml) => xml.includes(`Order${verb}Rq`)) ?? "",
    );
    for (const xml of [add, mod]) {
      expect(xml).toContain(address);
      expect(xml).toContain("<FOB>T-75-TX-2672</FOB>");
    }
    expect(add).toContain(`<${dayName}>2026-11-22</${dayName}>`);
    expect(add).toContain(`<${windowName}>from 06:00</${windowName}>`);
    expect(mod).toContain(`<${dayName}>2026-11-23</${dayName}>`);
    expect(mod).toContain(`<${windowName}>06:00-10:00</${windowName}>`);
  },
);

test("a line of an order that comes to half a cent is rounded up, as QuickBooks rounds what it multiplies", async () => {
  const { orders, only } = desk();
  const made = gallons(orderDocument("LD-3", { type: "sale" }), "300");
  const lines = made.lines.map((line) => ({ ...line, unitPrice: Decimal.of("2.18495") }));
  expect(await deliver(orders, [item({ ...made, lines })])).toMatchObject({ outcome: "done" });
  expect(only("SalesOrder").lines).toMatchObject([{ Quantity: "300", Amount: "655.49" }]);
});

test("an order that somebody changed between look and step is read again, and changed once", async () => {
  const { file, orders, only, asked } = desk();
  await deliver(orders, [item(bought())]);
  file.says = { name: /^PurchaseOrderMod$/, code: 3200, message: "out of date" };
  const later = item(gallons(bought(), "7400"));
  expect(await deliver(orders, [later])).toMatchObject({ outcome: "done" });
  expect([asked("PurchaseOrderMod"), only("PurchaseOrder").sequence]).toEqual([2, 2]);
});

test.each([
  ["an order", "orders", bought(), {}],
  ["a ticket", "tickets", ticketDocument("DT-1"), {}],
  ["a ticket that is linked", "tickets", ticketDocument("DT-1"), { receipts: "linked" }],
] as const)(
  "a stop withdraws every request of %s that no session has taken yet",
  async (_, name, document, more) => {
    const { signals, ...sinks } = desk(more);
    const { signal } = new AbortController();
    let link: string | null = null;
    for (const one of [
      document,
      gallons(document, "7400"),
      { ...document, status: "cancelled" as const },
    ]) {
      const { ids } = await sinks[name].send(requestOf(sinks[name], [item(one, link)]), signal);
      link ??= ids?.[0] ?? null;
    }
    expect([...signals]).toEqual([signal]);
  },
);

test("an edition without sales orders is named when one is to be made, and purchase orders go on", async () => {
  const { file, orders } = desk();
  file.lacks.add("SalesOrder");
  const answer = await deliver(orders, [item(orderDocument("LD-1"))]);
  expect(answer).toMatchObject({ outcome: "nothing", stop: "scope" });
  expect(JSON.stringify(answer)).toContain(
    "Little company file has no sales orders: Premier and Enterprise have them",
  );
  expect(await deliver(orders, [item(bought())])).toMatchObject({ outcome: "done" });
});

test("an order that the platform has turned round, or that is in another unit, is for a person", async () => {
  const { orders } = desk();
  const { ids } = await deliver(orders, [item(bought())]);
  const turned = item(orderDocument("LD-2"), ids?.[0]);
  expect(await refusalOf(orders, turned)).toMatchObject({ code: "turned" });
  const liters = orderDocument("LD-3");
  const lines = liters.lines.map((line) => ({ ...line, unit: "l" }));
  expect(await refusalOf(orders, item({ ...liters, lines }))).toMatchObject({
    code: "unit-not-held",
  });
});

test("orders of both sides are inspected; one that restored books lost is gone, and goes again", async () => {
  const { file, orders } = desk();
  const backup = file.backup();
  const documents = [orderDocument("LD-1"), bought()];
  const sent = async () => {
    const delivered = [];
    for (const one of documents) {
      const { ids } = await deliver(orders, [item(one)]);
      const { body } = requestOf(orders, [item(one)]);
      delivered.push({ id: one.id, counterpart: ids?.[0] ?? "", body });
    }
    return delivered;
  };
  const delivered = await sent();
  const [sale] = file.rows("SalesOrder");
  Object.assign(sale?.lines[0] ?? {}, { Quantity: "7400" });
  expect(await orders.inspect?.(delivered, never)).toEqual([
    {
      is: "there",
      differences: [{ field: "lines.1.quantity", expected: "7500.00", held: "7400.00" }],
    },
    { is: "there", differences: [] },
  ]);
  file.restore(backup);
  expect(await orders.inspect?.(delivered, never)).toEqual([{ is: "gone" }, { is: "gone" }]);
  await sent();
  expect([file.rows("SalesOrder").length, file.rows("PurchaseOrder").length]).toEqual([1, 1]);
});

test("a ticket is received when it is done, at 0.00; it follows the platform, and is void with it", async () => {
  const { tickets, only, file } = desk();
  const ticket = ticketDocument("DT-1");
  const waiting = item({ ...ticket, status: "waiting" as const });
  expect(await deliver(tickets, [waiting])).toMatchObject({ outcome: "done", ids: [null] });
  expect(file.rows("ItemReceipt")).toEqual([]);
  const { ids } = await deliver(tickets, [item(ticket)]);
  expect(ids).toEqual(["DT-1 done platform:id-DT-1"]);
  expect(only("ItemReceipt").lines).toMatchObject([{ Quantity: "7499.9", Amount: "0.00" }]);
  expect(only("ItemReceipt").fields["Memo"]).toBe(
    "DT-1 platform:id-DT-1 ticket BOL 0048240; ticket, driver Ana Maria Cruz ULSD-CLR, gross 7528.4 gal",
  );
  const corrected = { ...gallons(ticket, "7000.5"), reference: "BOL 77" };
  expect(await deliver(tickets, [item(corrected, ids?.[0])])).toMatchObject({ outcome: "done" });
  expect(only("ItemReceipt").lines).toMatchObject([{ Quantity: "7000.5", Amount: "0.00" }]);
  expect(await refusalOf(tickets, waiting)).toMatchObject({ code: "taken-back" });
  const ended = item({ ...corrected, status: "cancelled" as const }, ids?.[0]);
  for (let sends = 0; sends < 2; sends++)
    expect(await deliver(tickets, [ended])).toMatchObject({ outcome: "done" });
  expect(only("ItemReceipt").isVoid).toBe(true);
});

test("an invoice that is paid between our look and its void is not voided, and is a person's", async () => {
  const { file, hooks, only, sinkOf } = desk();
  const { ids } = await deliver(sinkOf("invoice"), [itemOf(invoiceDocument("FL-1"))]);
  file.stampsPaid = true;
  hooks.before = (xml) => {
    if (xml.includes("<TxnVoidRq")) file.pay(only("Invoice").id, "10.00");
  };
  const voided = { ...invoiceDocument("FL-1"), status: "void" };
  const ended = itemOf(voided, ids?.[0] ?? null);
  expect(await refusalOf(sinkOf("invoice"), ended)).toMatchObject({ code: "paid-already" });
  expect(only("Invoice").isVoid).toBe(false);
});

test("a ticket that a clerk prices between our look and its void is not voided, and is a person's", async () => {
  const { file, hooks, only, tickets } = desk();
  const { ids } = await deliver(tickets, [item(ticketDocument("DT-1"))]);
  hooks.before = (xml) => {
    if (!xml.includes("<TxnVoidRq")) return;
    const { id, lines } = only("ItemReceipt");
    Object.assign(lines[0] ?? {}, { Amount: "5.00" });
    file.edit("ItemReceipt", id, {});
  };
  const ended = item({ ...ticketDocument("DT-1"), status: "cancelled" }, ids?.[0]);
  expect(await refusalOf(tickets, ended)).toMatchObject({ code: "void-after-delivery" });
  expect(only("ItemReceipt").isVoid).toBe(false);
});

test("a ticket whose amounts or gallons would be counted twice is not received, nor one of a sale", async () => {
  const { file, tickets } = desk();
  file.stock.add("ULSD-CLR");
  const codes = [];
  for (const one of [ticketDocument("DT-1"), ticketDocument("DT-2", { type: "out" })])
    codes.push((await refusalOf(tickets, item(one)))?.code);
  expect(codes).toEqual(["counted-twice", "not-held"]);
  expect(file.rows("ItemReceipt")).toEqual([]);
  const sinksOf = (receipts: string) => {
    const config = DesktopConfig.parse(settings(8447, { receipts }));
    return Object.keys(quickbooksDesktop.offers(config, ".").sinks);
  };
  expect(sinksOf("unpriced")).toContain("bills");
  expect(sinksOf("linked")).not.toContain("bills");
});

test("linked, a ticket receives the lines of its order at its prices, and is left alone from then on", async () => {
  const { orders, tickets, only, file } = desk({ receipts: "linked" });
  file.items.add("DEF");
  const { ids } = await deliver(orders, [item(bought())]);
  const plain = ticketDocument("DT-1", { order: ids?.[0] ?? null });
  const lines = [...plain.lines, ...plain.lines.map((line) => ({ ...line, product: "DEF" }))];
  const ticket = { ...plain, lines };
  expect(await deliver(tickets, [item(ticket)])).toMatchObject({ outcome: "done" });
  expect(only("ItemReceipt").lines).toMatchObject([
    { ItemRef: "ULSD-CLR", Quantity: "7499.9", LinkedTo: only("PurchaseOrder").id },
    { ItemRef: "DEF", Quantity: "7499.9" },
  ]);
  expect(only("PurchaseOrder").lines).toMatchObject([{ Moved: "7499.9" }]);
  expect(await refusalOf(tickets, item(gallons(ticket, "7000")))).toMatchObject({
    code: "changed-after-delivery",
  });
  expect(await refusalOf(tickets, item({ ...ticket, status: "cancelled" as const }))).toMatchObject(
    { code: "void-after-delivery" },
  );
});

test("a receipt from which a person entered the vendor's bill is that bill, and not received again", async () => {
  const { file, tickets, asked } = desk();
  const ticket = item(ticketDocument("DT-1"));
  await deliver(tickets, [ticket]);
  const [receipt] = file.rows("ItemReceipt").splice(0);
  const lines = receipt?.lines.map((line) => ({ ...line, Amount: "19000.00" })) ?? [];
  file.enter("Bill", receipt?.fields ?? {}, lines);
  const request = requestOf(tickets, [ticket]);
  expect(await tickets.find(request, never)).toMatchObject({ found: "exact" });
  expect(await deliver(tickets, [ticket])).toMatchObject({ outcome: "done" });
  expect(asked("ItemReceiptAdd")).toBe(1);
});
