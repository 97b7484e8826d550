/** Answers that follow the published rules and look otherwise than those of our own company: as another author writes them. */
import { describe, expect, test } from "vitest";
import type { Reading, Sink, Source } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import { invoiceDocument, itemOf, paymentDocument } from "../example/example.fixture.ts";
import type { Company, Record_ } from "./company.fixture.ts";
import { openCompany } from "./company-server.fixture.ts";
import {
  deliver,
  never,
  newNotebook,
  opened,
  settings,
  sinkOf,
} from "./quickbooks-online.fixture.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
const item = itemOf(invoiceDocument("FL-1"));
const READING: Reading = { signal: never, known: () => null, stored: () => false };
const sourceOf = (company: Company, name: string): Source =>
  opened(settings(company)).sources[name] as Source;

async function readAll(source: Source, from: Json | null = null) {
  const told = new Map<string, Record<string, unknown>>();
  const faults = new Map<string, string>();
  let position = from;
  for await (const page of source.read(from, READING)) {
    for (const { id, text, fault } of page.changes) {
      told.set(id, parseExact(text) as Record<string, unknown>);
      if (fault !== undefined) faults.set(id, fault.code);
    }
    position = page.position;
  }
  return { told, faults, position };
}

function enterInvoice(company: Company, DocNumber: string, values: object = {}): Record_ {
  const [customer] = company.rows("Customer");
  return company.enter("Invoice", {
    DocNumber,
    TxnDate: "2026-11-21",
    CustomerRef: { value: customer?.Id, name: customer?.["DisplayName"] },
    Line: [
      {
        DetailType: "SalesItemLineDetail",
        Amount: d("100.00"),
        SalesItemLineDetail: { ItemRef: { value: "1", name: "ULSD-CLR" } },
      },
    ],
    ...values,
  });
}

const FAULT = { Error: [{ Message: "Busy", Detail: "Busy", code: "9998" }], type: "SystemFault" };

describe("a fault inside of an answer", () => {
  const inQueries = [
    { QueryResponse: { Fault: FAULT } },
    { QueryResponse: { fault: { error: { message: "Busy", detail: null, code: 9998 } } } },
    { Fault: {} },
  ];
  const inChanges = [
    { CDCResponse: [{ Fault: FAULT }] },
    { CDCResponse: [{ QueryResponse: [{}, { Fault: FAULT }] }] },
    { CDCResponse: [{ QueryResponse: [] }], fault: { error: [{ code: 9998 }] } },
  ];

  test("of a query is not an answer without rows: nothing is made", async () => {
    for (const body of inQueries) {
      const company = await openCompany();
      const said = { path: /^query SELECT \* FROM Invoice/, status: 200, times: 9 };
      company.says = { ...said, body: JSON.stringify(body) };
      expect(await deliver(sinkOf(company, "invoices"), item)).toMatchObject({
        outcome: "nothing",
      });
      expect(company.rows("Invoice")).toEqual([]);
    }
  });

  test("of change data capture loses no change: it is told by the next look", async () => {
    for (const body of inChanges) {
      const company = await openCompany();
      company.enter("Customer", { DisplayName: "Old Ranch" });
      const source = sourceOf(company, "invoices");
      const { position } = await readAll(source);
      const { Id } = enterInvoice(company, "FL-7");
      const time = "2026-11-23T09:30:00.000-08:00";
      company.says = { path: /^cdc /, status: 200, body: JSON.stringify({ ...body, time }) };
      await expect(readAll(source, position)).rejects.toMatchObject({ name: "SourceUnavailable" });
      expect((await readAll(source, position)).told.get(Id)).toMatchObject({ number: "FL-7" });
    }
  });
});

test("pages that are smaller than asked for end nothing: all rows are read", async () => {
  const company = await openCompany();
  company.pageMost = 30;
  for (let at = 0; at < 130; at++) {
    // Forty in a second.
    if (at % 40 === 0) company.clockMs += 1000;
    company.enter("Customer", { DisplayName: `Party ${at}` });
  }
  const last = company.rows("Customer").at(-1);
  company.edit("Customer", last?.Id ?? "", { Notes: "platform:company-1" });
  expect((await readAll(sourceOf(company, "parties"))).told.size).toBe(130);
  // The customer of the document is the last one of the list.
  expect(await deliver(sinkOf(company, "invoices"), item)).toMatchObject({ outcome: "done" });
  expect(company.rows("Customer")).toHaveLength(130);
});

test("amounts with other digits, or as text, are the same amounts", async () => {
  const company = await openCompany();
  const [line] = enterLines("100.0000", "2.50000", "40.00");
  company.enter("Customer", { DisplayName: "Old Ranch" });
  const row = enterInvoice(company, "FL-7", { Line: [line] });
  const text = { Line: [JSON.parse(JSON.stringify(line)) as object], TotalAmt: "100.00" };
  const { told } = await readAll(sourceOf(company, "invoices"));
  company.edit("Invoice", row.Id, { ...text, Balance: "100" });
  const again = await readAll(sourceOf(company, "invoices"));
  for (const one of [told, again.told])
    expect(one.get(row.Id)).toMatchObject({
      total: expect.toSatisfy((total: Decimal) => total.equals(d("100"))),
      lines: [{ amount: expect.toSatisfy((amount: Decimal) => amount.equals(d("100"))) }],
    });
});

const enterLines = (amount: string, UnitPrice: string, Qty: string): object[] => [
  {
    SalesItemLineDetail: { Qty: d(Qty), UnitPrice: d(UnitPrice), ItemRef: { value: "1" } },
    Amount: d(amount),
    DetailType: "SalesItemLineDetail",
  },
];

test("a payment that applies a credit with the id of an invoice pays that invoice nothing", async () => {
  const company = await openCompany();
  company.enter("Customer", { DisplayName: "Old Ranch" });
  const [invoice, other] = [enterInvoice(company, "FL-7"), enterInvoice(company, "FL-8")];
  const credit = { Amount: d("30"), LinkedTxn: [{ TxnId: other.Id, TxnType: "CreditMemo" }] };
  const paid = { Amount: d("100"), LinkedTxn: [{ TxnId: invoice.Id, TxnType: "Invoice" }] };
  const payment = company.enter("Payment", {
    TxnDate: "2026-11-22",
    TotalAmt: d("70"),
    CustomerRef: invoice["CustomerRef"],
    Line: [paid, credit],
  });
  for (const [row, Balance] of [
    [invoice, "0"],
    [other, "60"],
  ] as const)
    company.edit("Invoice", row.Id, {
      Balance: d(Balance),
      LinkedTxn: [{ TxnId: payment.Id, TxnType: "Payment" }],
    });
  company.edit("Payment", payment.Id, { PrivateNote: "payment:pay-1 ACH" });
  const { told } = await readAll(sourceOf(company, "paidInvoices"));
  expect(told.get(invoice.Id)).toMatchObject({
    state: "paid",
    paidByPlatform: false,
    clearedBy: `credit memo ${other.Id} in payment #${payment.Id} of 30.00`,
  });
  expect(String(told.get(other.Id)?.["paidByOthers"])).toBe("40.00");
});

test("an invoice with a number that another one has is refused: the platform has one of a number", async () => {
  const company = await openCompany();
  company.enter("Customer", { DisplayName: "Old Ranch" });
  const first = enterInvoice(company, "FL-7");
  const source = sourceOf(company, "invoices");
  const { position, faults: none } = await readAll(source);
  expect(none).toEqual(new Map());
  const second = enterInvoice(company, "FL-7");
  const { faults } = await readAll(source, position);
  expect([...faults]).toEqual([[second.Id, "number-twice"]]);
  company.edit("Invoice", first.Id, { PrivateNote: "Voided", TotalAmt: d("0"), Balance: d("0") });
  company.edit("Invoice", second.Id, { DueDate: "2026-12-31" });
  expect((await readAll(source, position)).faults).toEqual(new Map());
});

test("a customer or vendor without a name is refused with a sentence, and the others are told", async () => {
  const company = await openCompany();
  const nameless = [
    company.enter("Customer", { CompanyName: "Old Ranch LP" }),
    company.enter("Customer", { DisplayName: " " }),
    company.enter("Vendor", { DisplayName: null }),
  ];
  const named = company.enter("Vendor", { DisplayName: "Refinery" });
  const { told, faults } = await readAll(sourceOf(company, "parties"));
  expect(told.size).toBe(4);
  expect([...faults.values()]).toEqual(nameless.map(() => "no-name"));
  expect(told.get(`V-${named.Id}`)).toMatchObject({ name: "Refinery" });
});

test("members that the schema lets it leave out are not needed: the time of an answer, and what a look does not use", async () => {
  const company = await openCompany();
  company.leavesOut = ["time", "startPosition", "maxResults", "TaxPrefs", "AccountType", "Active"];
  company.enter("Customer", { DisplayName: "Old Ranch" });
  expect(await deliver(sinkOf(company, "invoices"), item)).toMatchObject({ outcome: "done" });
  const source = sourceOf(company, "invoices");
  const { position } = await readAll(source);
  company.tellsLittle = true;
  const { Id } = enterInvoice(company, "FL-7");
  expect((await readAll(source, position)).told.get(Id)).toMatchObject({ number: "FL-7" });
});

describe("a request id that QuickBooks still keeps", () => {
  test("keeps no refusal alive: what a person mended goes the next time", async () => {
    for (const [code, mend] of [
      ["closed-period", (company: Company) => void (company.closedUntil = "2000-01-01")],
      ["number-in-use", () => {}],
    ] as const) {
      const company = await openCompany();
      company.keepsRefusals = true;
      company.enter("Customer", { DisplayName: "CUST-1" });
      if (code === "closed-period") company.closedUntil = "2026-12-31";
      else company.numbersOfOthers.add("FL-1");
      const sink = sinkOf(company, "invoices");
      expect(await deliver(sink, item)).toMatchObject({ fault: { code } });
      mend(company);
      company.numbersOfOthers.clear();
      expect(await deliver(sink, item), code).toMatchObject({ outcome: "done" });
      expect(company.rows("Invoice")).toHaveLength(1);
    }
  });

  test("keeps no refusal alive over a restart, and a lost answer after it makes no second record", async () => {
    const company = await openCompany();
    company.keepsRefusals = true;
    company.enter("Customer", { DisplayName: "CUST-1" });
    company.closedUntil = "2026-12-31";
    const config = settings(company);
    const notebook = newNotebook();
    const restarted = (): Sink => opened(config, { notebook }).sinks["invoices"] as Sink;
    expect(await deliver(restarted(), item)).toMatchObject({ fault: { code: "closed-period" } });
    company.closedUntil = "2000-01-01";
    company.loses = 1;
    expect((await deliver(restarted(), item)).outcome).not.toBe("refused");
    expect(company.rows("Invoice")).toHaveLength(1);
    // It is not found yet: only the request id says that it was made.
    const [made] = company.rows("Invoice").splice(0);
    company.keepsRefusals = false;
    await deliver(restarted(), item);
    expect(company.rows("Invoice")).toEqual([]);
    expect(made).toMatchObject({ DocNumber: "FL-1" });
  });

  test("is another one where a number is taken twice", async () => {
    const company = await openCompany();
    company.keepsRefusals = true;
    company.numbersOfOthers.add("FL-1");
    const sink = sinkOf(company, "invoices", { duplicateNumbers: "allow" });
    expect(await deliver(sink, item)).toMatchObject({ outcome: "done" });
  });

  test("hides no document that somebody deleted: it is made again, once", async () => {
    const company = await openCompany();
    const sink = sinkOf(company, "invoices");
    await deliver(sink, item);
    company.delete("Invoice", company.rows("Invoice")[0]?.Id ?? "");
    for (let times = 0; times < 2; times++)
      if ((await deliver(sink, item)).outcome === "done") break;
    expect(await deliver(sink, item)).toMatchObject({ outcome: "done" });
    expect(company.rows("Invoice")).toHaveLength(1);
  });

  test("and whose id is another document's after a restore neither counts as ours nor hides it", async () => {
    const company = await openCompany();
    const { sinks } = opened(settings(company));
    const invoices = sinks["invoices"] as Sink;
    await deliver(invoices, item);
    const [row] = company.rows("Invoice");
    company.delete("Invoice", row?.Id ?? "");
    company.clockMs = 60_000;
    enterInvoice(company, "FL-8").Id = row?.Id ?? "";
    for (let times = 0; times < 3; times++)
      if ((await deliver(invoices, item)).outcome === "done") break;
    const numbers = company.rows("Invoice").map((one) => one["DocNumber"]);
    expect(numbers).toEqual(["FL-8", "FL-1"]);
    const { ids } = await deliver(invoices, item);
    const payment = itemOf(paymentDocument("pay-1", ids?.[0] ?? "", { invoiceId: "id-FL-1" }));
    expect(await deliver(sinks["payments"] as Sink, payment)).toMatchObject({ outcome: "done" });
  });
});
