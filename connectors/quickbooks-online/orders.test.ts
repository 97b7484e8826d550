/** Orders in QuickBooks Online: sales as estimates, purchases as purchase orders. */
import { expect, test } from "vitest";
import type { OrderDocument } from "../../src/ledger/documents.ts";
import { Refused } from "../../src/core/errors.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { itemOf } from "../example/example.fixture.ts";
import { openCompany } from "./company-server.fixture.ts";
import {
  deliver,
  never,
  opened,
  orderDocument,
  requestOf,
  settings,
  sinkOf,
} from "./quickbooks-online.fixture.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
const purchase = { type: "purchase" } as const;

test("a sale is an accepted estimate, a purchase an open purchase order; each once, in no account", async () => {
  const company = await openCompany();
  const sink = sinkOf(company, "orders");
  const sale = itemOf(orderDocument("SO-1"));
  // Two orders of different sides may have one number.
  const bought = itemOf(orderDocument("SO-1", { ...purchase, id: "id-PO-1" }));
  for (let times = 0; times < 2; times++) {
    const [one, other] = [await deliver(sink, sale), await deliver(sink, bought)];
    expect([one, other]).toMatchObject([
      { outcome: "done", ids: [expect.stringMatching(/^sale \d+ platform:id-SO-1$/)] },
      { outcome: "done", ids: [expect.stringMatching(/^purchase \d+ platform:id-PO-1$/)] },
    ]);
  }
  const head = { DocNumber: "SO-1", TxnDate: "2026-11-21", TotalAmt: d("19310.81") };
  expect(company.rows("Estimate")).toMatchObject([
    { ...head, TxnStatus: "Accepted", PrivateNote: "SO-1 platform:id-SO-1 Gate 3" },
  ]);
  expect(company.rows("PurchaseOrder")).toMatchObject([{ ...head, POStatus: "Open" }]);
  expect([company.rows("Invoice"), company.rows("Bill")]).toEqual([[], []]);
  expect(company.rows("Customer")).toHaveLength(1);
  expect(company.rows("Vendor")).toMatchObject([{ DisplayName: "CUST-1 (V)" }]);
});

test("an order says where and when it is wanted, and where it is loaded; it is found as it was", async () => {
  const company = await openCompany();
  const sink = sinkOf(company, "orders");
  const plan = { shipTo: "C-1001-02", requestedDate: "2026-11-22", deliveryStart: "06:00" };
  const lines = orderDocument("SO-1").lines.map((line) => ({ ...line, terminal: "T-75" }));
  for (let times = 0; times < 2; times++)
    for (const more of [{}, { ...purchase, id: "id-PO-1", shipTo: null }])
      expect(
        await deliver(sink, itemOf(orderDocument("SO-1", { ...plan, lines, ...more }))),
      ).toMatchObject({ outcome: "done" });
  const note = (id: string) => `SO-1 platform:${id} Gate 3; terminal T-75; delivery from 06:00`;
  expect(company.rows("Estimate")).toMatchObject([
    { ShipAddr: { Line1: "C-1001-02" }, ShipDate: "2026-11-22", PrivateNote: note("id-SO-1") },
  ]);
  expect(company.rows("PurchaseOrder")).toMatchObject([
    { DueDate: "2026-11-22", PrivateNote: note("id-PO-1") },
  ]);
});

test("a price with more digits than QuickBooks keeps stands in the text with the quantity, beside the amount", async () => {
  const company = await openCompany();
  const { lines } = orderDocument("SO-1");
  const priced = lines.map((line) => ({ ...line, unitPrice: d("2.4137551") }));
  const answer = await deliver(
    sinkOf(company, "orders"),
    itemOf(orderDocument("SO-1", { lines: priced })),
  );
  expect(answer).toMatchObject({ outcome: "done" });
  const line = { Amount: d("19311.25"), Description: "ULSD, price 2.4137551, quantity 8000.5" };
  expect(company.rows("Estimate")).toMatchObject([{ Line: [line] }]);
});

test("an order that somebody gave another number is found by its day, and one that turned is not booked twice", async () => {
  const company = await openCompany();
  company.forgets = true;
  const sink = sinkOf(company, "orders");
  await deliver(sink, itemOf(orderDocument("SO-1")));
  company.edit("Estimate", company.rows("Estimate")[0]?.Id ?? "", { DocNumber: "1037" });
  expect(await deliver(sink, itemOf(orderDocument("SO-1")))).toMatchObject({ outcome: "done" });
  expect(company.rows("Estimate")).toHaveLength(1);
  company.edit("Estimate", company.rows("Estimate")[0]?.Id ?? "", { DocNumber: "SO-1" });
  const turned = await deliver(sink, itemOf(orderDocument("SO-1", purchase)));
  expect(turned).toMatchObject({ outcome: "refused", fault: { code: "turned" } });
  expect(company.rows("PurchaseOrder")).toEqual([]);
});

test("what the platform cancels or changes after it was booked is for a person, who closes it in QuickBooks", async () => {
  const company = await openCompany();
  const sink = sinkOf(company, "orders");
  for (const type of ["sale", "purchase"] as const) {
    const number = `O-${type}`;
    const changed = (more: Partial<OrderDocument>) =>
      itemOf(orderDocument(number, { type, ...more }));
    const { ids } = await deliver(sink, changed({}));
    const { lines } = orderDocument(number);
    const other = lines.map((line) => ({ ...line, quantity: d("9000") }));
    for (const [more, code] of [
      [{ lines: other }, "changed-after-confirmation"],
      [{ status: "cancelled" }, "cancelled-after-confirmation"],
    ] as const)
      expect(await deliver(sink, changed(more)), number).toMatchObject({ fault: { code } });
    const delivered = {
      id: `id-${number}`,
      counterpart: ids?.[0] ?? "",
      body: requestOf(sink, [changed({})]).body,
    };
    expect(await sink.inspect?.([delivered], never)).toEqual([{ is: "there", differences: [] }]);
  }
  company.edit("Estimate", company.rows("Estimate")[0]?.Id ?? "", { TxnStatus: "Rejected" });
  const over = itemOf(orderDocument("O-sale", { status: "cancelled" }));
  expect(await deliver(sink, over)).toMatchObject({ outcome: "done" });
});

test("a purchase order that a person closed is told; one that QuickBooks closed with its bill is not", async () => {
  const company = await openCompany();
  const sink = sinkOf(company, "orders");
  const document = orderDocument("PO-1", purchase);
  const [counterpart = ""] = (await deliver(sink, itemOf(document))).ids ?? [];
  const { body } = requestOf(sink, [itemOf(document)]);
  const inspected = () =>
    sink.inspect?.([{ id: document.id, counterpart: counterpart ?? "", body }], never);
  const [{ Id } = { Id: "" }] = company.rows("PurchaseOrder");
  company.edit("PurchaseOrder", Id, { POStatus: "Closed" });
  expect(await inspected()).toMatchObject([{ differences: [{ field: "state", held: "Closed" }] }]);
  const over = itemOf(orderDocument("PO-1", { ...purchase, status: "cancelled" }));
  expect(await deliver(sink, over)).toMatchObject({ outcome: "done" });
  company.edit("PurchaseOrder", Id, { LinkedTxn: [{ TxnId: "7", TxnType: "Bill" }] });
  expect(await inspected()).toEqual([{ is: "there", differences: [] }]);
});

test("a purchase that is not confirmed is refused before anything is sent", async () => {
  const company = await openCompany();
  const sink = opened(settings(company)).sinks["orders"];
  const draft = itemOf(orderDocument("PO-1", { ...purchase, status: "draft" }));
  expect(() => sink?.freeze([draft])).toThrow(Refused);
  expect(company.asked).toEqual([]);
});

test("an order and an estimate with another number are found by their marks and given it, with and without their link", async () => {
  const company = await openCompany();
  company.forgets = true;
  const sink = sinkOf(company, "orders");
  for (const [type, table] of [
    ["sale", "Estimate"],
    ["purchase", "PurchaseOrder"],
  ] as const) {
    const made = orderDocument(`O-${type}`, { type });
    const [id = null] = (await deliver(sink, itemOf(made))).ids ?? [];
    for (const [number, link] of [
      ["N-1", id],
      ["N-2", null],
    ] as const) {
      expect(await deliver(sink, itemOf({ ...made, number }, link))).toMatchObject({
        outcome: "done",
      });
      expect(company.rows(table)).toMatchObject([{ DocNumber: number }]);
    }
  }
});
