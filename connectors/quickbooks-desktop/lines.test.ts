/** Lines that people enter in QuickBooks: subtotals, groups, text, percentages, discounts. */

import { describe, expect, test } from "vitest";
import {
  billDocument,
  invoiceDocument,
  itemOf,
  paymentDocument,
} from "../example/example.fixture.ts";
import { bench, desk } from "./desk.fixture.ts";
import { orderDocument, ticketDocument } from "./desktop.fixture.ts";
import { bookedInvoices as mapping } from "../../mappings/platform/records.ts";
import { everything } from "../../mappings/references.fixture.ts";
import { Refused } from "../../src/core/errors.ts";
import { parseExact } from "../../src/core/json.ts";
import { InvoiceRecord } from "../../src/ledger/documents.ts";
import { deliver, never, recordsOf, requestOf } from "../../test/support/connector.ts";

describe("lines that a person entered count once: what is told adds up to the invoice's total", () => {
  const FUEL = { ItemRef: "ULSD-CLR", Quantity: "40", Rate: "2.5", Amount: "100.00", Desc: "ULSD" };
  const entered = (...lines: readonly Record<string, string>[]) => {
    const { file, invoice, invoices, read } = desk();
    file.items = new Set([...file.items, "Sub", "Off 10 %", "Card fee", "City tax"]);
    file.kinds.set("Sub", "Subtotal").set("Off 10 %", "Discount").set("City tax", "SalesTax");
    const row = invoice();
    row.lines = [...lines];
    const told = async () => {
      const { untaxed, lines } = (await invoices()).get(row.id) ?? {};
      return [
        untaxed?.fixed(2),
        ...(lines ?? []).map(({ product, amount }) => `${product} ${amount?.fixed(2)}`),
      ];
    };
    /** Why the platform is not told of it. */
    const refusal = async () => {
      const [text = ""] = Object.values(recordsOf(await read("invoices")));
      const references = { ...everything("us"), row: () => ({ product: "diesel" }) };
      return refusedBy(() => mapping.map(InvoiceRecord.parse(parseExact(text)), references));
    };
    return { file, row, told, refusal };
  };
  const fee = { ItemRef: "FREIGHT", Amount: "25.50" };

  test("a subtotal counts for nothing, wherever it stands", async () => {
    const sub = (Amount: string) => ({ ItemRef: "Sub", Amount });
    const { told } = entered(FUEL, sub("100.00"), fee, fee, sub("51.00"));
    expect(await told()).toEqual(["151.00", "ULSD-CLR 100.00", "FREIGHT 25.50", "FREIGHT 25.50"]);
  });

  test("a group is its lines, and its own total where QuickBooks tells none of them", async () => {
    const sub = { ItemRef: "Sub", Amount: "125.50" };
    const group = [FUEL, fee, sub].map((one) => ({ ...one, Group: "Delivery" }));
    const { told, file, row } = entered(fee, ...group);
    expect(await told()).toEqual(["151.00", "FREIGHT 25.50", "ULSD-CLR 100.00", "FREIGHT 25.50"]);
    row.lines = row.lines.map((line) => ({ ...line, isShown: "false" }));
    file.edit("Invoice", row.id, {});
    expect(await told()).toEqual(["151.00", "FREIGHT 25.50", "Delivery 125.50"]);
  });

  test("text has no amount, and a percentage is the amount that QuickBooks made of it", async () => {
    const percent = { ItemRef: "Card fee", RatePercent: "3.0", Amount: "3.00" };
    const { told } = entered({ Desc: "Thank you" }, FUEL, percent, { Desc: "", Amount: "0.00" });
    expect(await told()).toEqual(["103.00", "ULSD-CLR 100.00", "Card fee 3.00"]);
  });

  test("a discount is told as a line, and refused: the platform takes no negative amount", async () => {
    const sub = { ItemRef: "Sub", Amount: "100.00" };
    const { told, refusal, file, row } = entered(FUEL, sub, {
      ItemRef: "Off 10 %",
      RatePercent: "-10.0",
      Amount: "-10.00",
    });
    expect(await told()).toEqual(["90.00", "ULSD-CLR 100.00", "Off 10 % -10.00"]);
    file.edit("Invoice", row.id, {});
    expect(await refusal()).toMatchObject({ code: "negative-line" });
  });

  test("what does not add up is refused with both sums, never guessed", async () => {
    const { refusal } = entered(FUEL, { ItemRef: "City tax", Amount: "8.25" });
    expect(await refusal()).toMatchObject({
      code: "does-not-add-up",
      message: "the invoice does not add up: the lines are 108.25, Untaxed is 100.00",
    });
  });
});

test("an invoice without the elements that the schema lets QuickBooks leave out has its lines' total", async () => {
  const { hooks, invoice, invoices } = desk();
  const { id } = invoice({}, "60.00", "40.00");
  hooks.after = (answer) =>
    answer.replace(/<(Subtotal|SalesTaxTotal|BalanceRemaining|IsPaid|EditSequence)>.*?<\/\1>/g, "");
  const record = (await invoices("paidInvoices")).get(id);
  expect([record?.total, record?.amountToPay].map(String)).toEqual(["100.00", "100.00"]);
  expect(record).toMatchObject({ state: "posted", paidByOthers: null });
});

test("an order that an invoice came of pays nothing of it, though QuickBooks does not say how they are linked", async () => {
  const { hooks, invoice, invoices } = desk();
  const { id } = invoice();
  const link =
    "<LinkedTxn><TxnID>9-1</TxnID><TxnType>SalesOrder</TxnType><TxnDate>2026-11-20</TxnDate><Amount>-100.00</Amount></LinkedTxn>";
  hooks.after = (answer) => answer.replace(/<BalanceRemaining>.*?<IsPaid>/, `${link}<IsPaid>`);
  const record = (await invoices("paidInvoices")).get(id);
  expect(String(record?.amountToPay)).toBe("100.00");
});

test("a bill into which somebody put a group and a subtotal is still the bill that was sent", async () => {
  const { file, sinkOf } = bench();
  const sink = sinkOf("bill");
  const party = { code: "VEND-1", name: "Sabine Lights", companyId: "company-2" };
  const item = itemOf(billDocument("R-1", { party }));
  expect(await deliver(sink, [item])).toMatchObject({ outcome: "done" });
  const [bill] = file.rows("Bill");
  const [first, ...rest] = bill?.lines ?? [];
  file.items.add("Sub");
  file.kinds.set("Sub", "Subtotal");
  const sub = { ItemRef: "Sub", Amount: first?.["Amount"] ?? "" };
  if (bill !== undefined) bill.lines = [{ ...first, Group: "Delivery" }, sub, ...rest];
  expect(await sink.find(requestOf(sink, [item]), never)).toMatchObject({ found: "exact" });
});

test("lines of text that somebody wrote into an order are not deleted: a person is asked", async () => {
  const { file, sinkOf } = bench();
  const sink = sinkOf("order");
  const order = orderDocument("LD-1");
  const sent = await deliver(sink, [itemOf(order)]);
  const [row] = file.rows("SalesOrder");
  row?.lines.push({ Desc: "Gate code 4711" });
  const [line] = order.lines;
  const lines = line === undefined ? [] : [line, line];
  const counterpart = sent.outcome === "done" ? (sent.ids?.[0] ?? null) : null;
  const changed = { ...order, lines };
  const answer = await deliver(sink, [itemOf(changed, counterpart)]);
  expect(answer).toMatchObject({ outcome: "refused" });
  expect(row?.lines).toHaveLength(2);
});

describe("where QuickBooks keeps several currencies, no amount is taken for one of another", () => {
  const currency = (name: string, rate = "1") =>
    `<CurrencyRef><FullName>${name}</FullName></CurrencyRef><ExchangeRate>${rate}</ExchangeRate>`;
  const VENDOR = { code: "VEND-1", name: "Sabine Lights", companyId: "company-2" };

  test.for<[currency: string, rate: string, told: string]>([
    ["Canadian Dollar", "0.72", "Canadian Dollar"],
    // QuickBooks takes 1 where nobody entered a rate.
    ["Canadian Dollar", "1", "Canadian Dollar"],
    ["US Dollar", "1", "USD"],
  ])("an invoice in %s at the rate %s is told in %s", async ([name, rate, told]) => {
    const { hooks, invoice, invoices } = desk();
    const { id } = invoice();
    hooks.after = (answer) => answer.replace("<Subtotal>", `${currency(name, rate)}<Subtotal>`);
    expect((await invoices()).get(id)).toMatchObject({ currency: told });
  });

  test.for([
    ["invoice", itemOf(invoiceDocument("FL-1"))],
    ["bill", itemOf(billDocument("R-1", { party: VENDOR }))],
    ["order", itemOf(orderDocument("LD-1"))],
    ["order", itemOf(orderDocument("LD-2", { type: "purchase" }))],
    ["shipment", itemOf(ticketDocument("T-1"))],
  ] as const)("no %s is made for a party in another currency", async ([kind, item]) => {
    const { file, hooks, sinkOf } = bench();
    hooks.after = (answer) =>
      answer.replaceAll(/<\/(?:Customer|Vendor)Ret>/g, `${currency("Canadian Dollar")}$&`);
    const answer = await deliver(sinkOf(kind), [item]);
    expect(answer).toMatchObject({ outcome: "refused", fault: { code: "other-currency" } });
    const tables = ["Invoice", "Bill", "SalesOrder", "PurchaseOrder", "ItemReceipt"] as const;
    expect(tables.flatMap((table) => file.rows(table))).toEqual([]);
  });

  const paying = (invoice = "") => itemOf(paymentDocument("P-1", invoice));

  test("what was booked in another currency before is told, and not paid", async () => {
    const { file, hooks, sinkOf } = bench();
    const item = itemOf(invoiceDocument("FL-1"));
    const sink = sinkOf("invoice");
    expect(await deliver(sink, [item])).toMatchObject({ outcome: "done" });
    hooks.after = (answer) =>
      answer.replaceAll("<Subtotal>", `${currency("Canadian Dollar")}<Subtotal>`);
    const found = await sink.find(requestOf(sink, [item]), never);
    expect(found).toMatchObject({ found: "different" });
    const [invoice] = file.rows("Invoice");
    const answer = await deliver(sinkOf("payment"), [paying(invoice?.id)]);
    expect(answer).toMatchObject({ outcome: "refused", fault: { code: "other-currency" } });
    expect(file.rows("ReceivePayment")).toEqual([]);
  });
});

function refusedBy(map: () => unknown): unknown {
  try {
    return map();
  } catch (error) {
    if (error instanceof Refused) return error.fault;
    throw error;
  }
}
