/** A document that gets another number on the platform, in the little company file: found by what it is, never made anew. */
import { expect, test } from "vitest";
import { deliver, never, refusalOf } from "../../test/support/connector.ts";
import {
  billDocument,
  invoiceDocument,
  itemOf,
  paymentDocument,
} from "../example/example.fixture.ts";
import { bench } from "./desk.fixture.ts";
import { orderDocument, ticketDocument } from "./desktop.fixture.ts";

test("a purchase order and a receipt are given the new number, with and without their link", async () => {
  const { file, sinkOf } = bench();
  const orders = sinkOf("order");
  const tickets = sinkOf("shipment");
  const order = orderDocument("LD-2", { type: "purchase" });
  const ticket = ticketDocument("DT-1");
  const [orderId = null] = (await deliver(orders, [itemOf(order)])).ids ?? [];
  await deliver(tickets, [itemOf(ticket)]);
  expect(await deliver(orders, [itemOf({ ...order, number: "LD-9" }, orderId)])).toMatchObject({
    outcome: "done",
  });
  expect(await deliver(tickets, [itemOf({ ...ticket, number: "DT-9" })])).toMatchObject({
    outcome: "done",
    ids: [`DT-9 done platform:${ticket.id}`],
  });
  expect(file.rows("PurchaseOrder")).toMatchObject([{ fields: { RefNumber: "LD-9" } }]);
  expect(file.rows("ItemReceipt")).toMatchObject([{ fields: { RefNumber: "DT-9" } }]);
  // Without the link: a store that was restored.
  await deliver(orders, [itemOf({ ...order, number: "LD-10" })]);
  expect(file.rows("PurchaseOrder")).toMatchObject([{ fields: { RefNumber: "LD-10" } }]);
});

test.each(["invoice", "bill"] as const)(
  "an %s with another number is told with both, and booked no second time, with and without its link",
  async (kind) => {
    const { file, sinkOf } = bench({}, kind === "invoice" ? "Customer" : "Vendor");
    const sink = sinkOf(kind);
    const made = (kind === "invoice" ? invoiceDocument : billDocument)("FL-1");
    const [id = null] = (await deliver(sink, [itemOf(made)])).ids ?? [];
    for (const link of [id, null]) {
      const fault = await refusalOf(sink, itemOf({ ...made, number: "FL-9" }, link));
      expect(fault?.message).toContain("reference: QuickBooks FL-1, platform FL-9");
    }
    expect(file.rows(kind === "invoice" ? "Invoice" : "Bill")).toHaveLength(1);
  },
);

test.each(["invoice", "bill", "payment of an invoice", "payment of a bill"] as const)(
  "an %s that a clerk gives another number is found by its id and told with both",
  async (kind) => {
    const isSale = kind.endsWith("invoice");
    const { file, sinkOf } = bench({}, isSale ? "Customer" : "Vendor");
    const document = (isSale ? invoiceDocument : billDocument)("FL-1");
    const documents = sinkOf(isSale ? "invoice" : "bill");
    const [booked = ""] = (await deliver(documents, [itemOf(document)])).ids ?? [];
    const isPayment = kind.startsWith("payment");
    const payment = paymentDocument("pay-1", booked ?? "", { type: isSale ? "out" : "in" });
    const sink = isPayment ? sinkOf("payment") : documents;
    const items = [itemOf(isPayment ? payment : document)];
    const [id = ""] = (await deliver(sink, items)).ids ?? [];
    const delivered = {
      id: items[0]?.id ?? "",
      counterpart: id ?? "",
      body: sink.freeze(items).body,
    };
    const differences = async () => {
      const [found] = (await sink.inspect?.([delivered], never)) ?? [];
      return found?.is === "there" ? found.differences : found;
    };
    expect(await differences()).toEqual([]);
    const table = isPayment
      ? isSale
        ? "ReceivePayment"
        : "BillPaymentCheck"
      : isSale
        ? "Invoice"
        : "Bill";
    file.edit(table, id ?? "", { RefNumber: "BY-HAND" });
    expect(await differences()).toEqual([
      isPayment
        ? { field: "check", expected: "4711", held: "BY-HAND" }
        : { field: "reference", expected: "FL-1", held: "BY-HAND" },
    ]);
  },
);

test.each(["dup-1 ", "Dup-1", " DUP-1"])(
  "a bill of a vendor under a number that people read as one that is there is not booked: %j",
  async (number) => {
    const { file, sinkOf } = bench({}, "Vendor");
    const sink = sinkOf("bill");
    await deliver(sink, [itemOf(billDocument("DUP-1"))]);
    const other = { ...billDocument(number), id: "id-of-another" };
    expect(await refusalOf(sink, itemOf(other))).toMatchObject({
      code: expect.stringMatching(/number/) as string,
    });
    expect(file.rows("Bill")).toHaveLength(1);
  },
);
