/** What people have typed into Business Central before the platform's document came. */
import { describe, expect, test } from "vitest";
import { type Delivered, type Item, type Sink, thereAsBrought } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import {
  billDocument,
  enterCustomer,
  enterInvoice,
  first,
  idOf,
  invoiceDocument,
  itemOf,
  never,
  openCompany,
  opened,
  orderDocument,
  PARTY,
  paymentDocument,
  POST,
  posted,
  requestOf,
  sent,
  settings,
  TODAY,
  toldBy,
} from "./business-central.fixture.ts";
import type { Company } from "./company.fixture.ts";
import { businessCentral } from "./index.ts";
import { writtenLines } from "./wire.ts";

test.each([
  ["on another day", "FL59190010", "2026-10-02"],
  ["on its day", "#FL--5919/0010", TODAY],
])(
  "a bill that a person entered with other signs in its number is not booked beside it: %s",
  async (_, typed, invoiceDate) => {
    const company = await openCompany();
    const first = billDocument("FL1", { id: idOf("typed"), invoiceDate });
    await sent(company, "bills", itemOf(first));
    const [row] = company.rows("purchaseInvoices");
    const lines = row?.["purchaseInvoiceLines"] as { lineType: string }[];
    company.edit("purchaseInvoices", row?.id ?? "", {
      vendorInvoiceNumber: typed,
      purchaseInvoiceLines: lines.filter(({ lineType }) => lineType !== "Comment"),
    });
    const before = company.asked.length;
    const answer = await sent(company, "bills", itemOf(billDocument("FL-59190010")));
    expect(answer).toMatchObject({
      outcome: "refused",
      fault: { code: "number-alike", message: expect.stringContaining(`(${typed})`) },
    });
    const asked = company.asked.slice(before).filter((one) => one.includes("/purchaseInvoices"));
    expect(asked).toHaveLength(2);
    expect(company.rows("purchaseInvoices")).toHaveLength(1);
  },
);

test("a text that is cut between its two descriptions is cut between signs", () => {
  const text = `${"x".repeat(99)}🛢 diesel`;
  const line = { product: null, quantity: Decimal.of("1"), unitPrice: Decimal.of("1"), text };
  const config = businessCentral.config.parse(settings({ url: "http://127.0.0.1" } as Company));
  const lines = [{ ...line, unit: null, amount: Decimal.of("1") }];
  expect(writtenLines(config, "salesInvoices", { lines })).toMatchObject({
    salesInvoiceLines: [{ description: "x".repeat(99), description2: "🛢 diesel" }],
  });
});

test.each([
  ["that people entered", true],
  ["that was made for one", false],
])(
  "a customer %s and that gets another number is the one that documents mean",
  async (_, isTheirs) => {
    const company = await openCompany();
    if (isTheirs) enterCustomer(company, {});
    const endpoint = opened(company);
    const sink = endpoint.sinks["invoices"] as Sink;
    await sink.send(requestOf(sink, first), never);
    const [customer] = company.rows("customers");
    company.edit("customers", customer?.id ?? "", { number: "RANCH" });
    company.edit("salesInvoices", posted(company)[0]?.id ?? "", { customerNumber: "RANCH" });
    const next = itemOf(invoiceDocument("FL-2"));
    expect(await sink.send(requestOf(sink, next), never)).toMatchObject({ outcome: "done" });
    expect(company.rows("customers")).toHaveLength(1);
    expect(posted(company).map((row) => row["customerNumber"])).toEqual(["RANCH", "RANCH"]);
    const [change] = await toldBy(endpoint, "customers");
    const companyId = isTheirs ? null : invoiceDocument("FL-2").party.companyId;
    expect(JSON.parse(change?.text ?? "")).toMatchObject({ code: "RANCH", companyId });
    // Somebody else has its number now.
    enterCustomer(company, {});
    const last = await sink.send(requestOf(sink, itemOf(invoiceDocument("FL-3"))), never);
    expect(last).toMatchObject({ fault: { code: "party-apart" } });
  },
);

test.each([false, true])(
  "of customers that became one what is booked is told, and what comes waits until the cross-reference names the one that is left (both the platform's: %s)",
  async (areBothOurs) => {
    const company = await openCompany();
    const endpoint = opened(company, areBothOurs ? { sharedParties: ["CUST-2"] } : {});
    const sink = endpoint.sinks["invoices"] as Sink;
    const send = (item: Item) => sink.send(requestOf(sink, item), never);
    const named = (number: string, code: string, more: Partial<InvoiceDocument> = {}) =>
      itemOf(invoiceDocument(number, { party: { ...PARTY, code }, ...more }));
    const { ids } = await send(first);
    const other = { code: "CUST-2", name: "Ranch & Sons", companyId: idOf("company-2") };
    if (areBothOurs) await send(itemOf(invoiceDocument("FL-9", { party: other })));
    else enterCustomer(company, { number: "CUST-2" });
    company.merge("CUST-1", "CUST-2");
    const { body } = sink.freeze([first]);
    const delivered = { id: first.id, counterpart: ids?.[0] ?? "", body };
    const difference = { field: "party", expected: "CUST-1", held: "CUST-2" };
    expect(await sink.inspect?.([delivered], never)).toEqual([
      { is: "there", differences: [difference] },
    ]);
    expect(await send(named("FL-2", "CUST-1"))).toMatchObject({ fault: { code: "party-gone" } });
    expect(company.rows("customers")).toHaveLength(1);
    const paid = { status: "paid", paidDate: TODAY } as const;
    for (const next of [named("FL-2", "CUST-2"), named("FL-1", "CUST-2", paid)])
      expect(await send(next)).toMatchObject({ outcome: "done" });
    expect(posted(company).map((row) => row["customerNumber"])).not.toContain("CUST-1");
    expect(company.rows("generalLedgerEntries")).toHaveLength(2);
  },
);

/** Lines of a document, before whose comments a clerk has written one. @param more before the text of the others */
const commented = (lines: unknown, more = "") =>
  (lines as { lineType: string; description: string }[]).flatMap((line) => {
    if (line.lineType !== "Comment") return [line];
    const moved = { ...line, description: `${more}${line.description}` };
    return [{ ...line, description: "Call Ann" }, moved];
  });

test.each([
  ["bills", "bill", "purchaseInvoices", itemOf(billDocument("R-1"))],
  ["orders", "order", "purchaseOrders", itemOf(orderDocument("SO-1", { type: "purchase" }))],
] as const)(
  "the mark in the comments of %s is found wherever a clerk has moved it",
  async (sink, kind, set, item) => {
    const company = await openCompany();
    expect(await sent(company, sink, item)).toMatchObject({ outcome: "done" });
    const [row] = company.rows(set);
    const lines = `${set.slice(0, -1)}Lines`;
    company.edit(set, row?.id ?? "", { [lines]: commented(row?.[lines], "seen, ") });
    const scope = { dated: { from: TODAY, to: TODAY }, changedSince: null, open: false };
    const marks: (string | null)[] = [];
    for await (const { holdings } of opened(company).holdings?.list(kind, scope, null, never) ?? [])
      marks.push(...holdings.map(({ mark }) => mark));
    expect(marks).toEqual([item.id]);
  },
);

test("a customer that somebody enters in that moment is the one of the document", async () => {
  const company = await openCompany();
  const act = () => void enterCustomer(company, {});
  company.before = { path: /^POST .*\/customers$/, act };
  expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "done" });
  expect(company.rows("customers")).toHaveLength(1);
});

test.each([
  ["invoice", "invoices", "salesInvoices", first],
  ["order", "orders", "salesOrders", itemOf(orderDocument("SO-1"))],
] as const)(
  "an %s whose external number a clerk wrote over is found among those of its day, and made once",
  async (_, sink, set, item) => {
    const company = await openCompany();
    expect(await sent(company, sink, item)).toMatchObject({ outcome: "done" });
    const [row] = company.rows(set);
    const lines = `${set.slice(0, -1)}Lines`;
    const values = { externalDocumentNumber: "PO 4711", [lines]: commented(row?.[lines]) };
    company.edit(set, row?.id ?? "", values);
    // The store knows nothing of it: its answer was lost, or it was restored.
    const name = sink === "orders" ? `sale ${String(row?.["number"])}` : row?.id;
    expect(await sent(company, sink, item)).toMatchObject({ outcome: "done", ids: [name] });
    expect(company.rows(set)).toHaveLength(1);
  },
);

test("payments that two questions ask for have their amount once", async () => {
  const company = await openCompany();
  const { id } = enterInvoice(company);
  const sink = opened(company).sinks["payments"] as Sink;
  const amount = Decimal.of("1");
  const items = Array.from({ length: 25 }, (_, at) =>
    itemOf(paymentDocument(`P-${at}`, id, { amount })),
  );
  const delivered: Delivered[] = [];
  for (const item of items) {
    const request = requestOf(sink, item);
    const { ids } = await sink.send(request, never);
    delivered.push({
      id: item.id,
      counterpart: ids?.[0] ?? "",
      body: request.body,
    });
  }
  const inspections = await sink.inspect?.(delivered, never);
  expect(new Set(inspections?.map((one) => JSON.stringify(one)))).toEqual(
    new Set([JSON.stringify(thereAsBrought)]),
  );
});

test.each([
  ["VAT of a sale that is realised with it", "out", { "22350": "-16.67", "22360": "16.67" }],
  ["a discount that its customer took", "out", { "40150": "40", "11000": "-40" }],
  ["a discount that we took, and reverse charge", "in", { "40150": "-40", "21000": "40" }],
] as const)("a payment is its money: %s is none of it", async (_, type, besides) => {
  const company = await openCompany();
  company.besides = besides;
  const sink = type === "in" ? "bills" : "invoices";
  const document = type === "in" ? billDocument("R-1") : invoiceDocument("FL-1");
  const { ids } = await sent(company, sink, itemOf(document));
  const item = itemOf(paymentDocument("pay-1", ids?.[0] ?? "", { type }));
  const endpoint = opened(company);
  const its = endpoint.sinks["payments"] as Sink;
  const request = requestOf(its, item);
  const answer = await its.send(request, never);
  expect(answer).toMatchObject({ outcome: "done" });
  const delivered = { id: item.id, counterpart: answer.ids?.[0] ?? "", body: request.body };
  expect(await its.inspect?.([delivered], never)).toEqual([thereAsBrought]);
});

test("a payment that people reversed is told as cancelled", async () => {
  const company = await openCompany();
  const sink = opened(company).sinks["payments"] as Sink;
  const item = itemOf(paymentDocument("pay-1", enterInvoice(company).id));
  const request = requestOf(sink, item);
  const { ids } = await sink.send(request, never);
  const delivered = { id: item.id, counterpart: ids?.[0] ?? "", body: request.body };
  expect(await sink.inspect?.([delivered], never)).toEqual([thereAsBrought]);
  const entries = company.rows("generalLedgerEntries").slice();
  for (const { debitAmount, creditAmount, ...row } of entries) {
    const sides = { debitAmount: creditAmount, creditAmount: debitAmount };
    company.enter("generalLedgerEntries", { ...row, ...sides });
  }
  expect(await sink.inspect?.([delivered], never)).toEqual([
    { is: "there", differences: [{ field: "state", expected: "paid", held: "cancelled" }] },
  ]);
});

test("a tax that Business Central computed is one tax of its invoice", async () => {
  const company = await openCompany();
  company.taxes.set("", "8.25");
  enterInvoice(company);
  const [change] = await toldBy(opened(company), "invoices");
  const { untaxed, tax, taxes } = JSON.parse(change?.text ?? "") as Record<string, unknown>;
  expect(taxes).toMatchObject([{ description: "Tax", base: untaxed, amount: tax }]);
});

test("nothing is read or sent where the company keeps another currency", async () => {
  const company = await openCompany();
  company.edit("companyInformation", company.rows("companyInformation")[0]?.id ?? "", {
    currencyCode: "EUR",
  });
  await expect(opened(company).check?.(never)).rejects.toThrow("keeps EUR, not USD");
});

test.each(["payments", "invoices"])(
  "a payment whose journal a person posts before us is done, once: of %s",
  async (sink) => {
    const company = await openCompany();
    const { ids } = await sent(company, "invoices", first);
    const paid = invoiceDocument("FL-1", { status: "paid", paidDate: TODAY });
    const payment = paymentDocument("pay-1", ids?.[0] ?? "");
    const [journal] = company.rows("customerPaymentJournals");
    company.before = { path: POST, act: () => company.postJournal(journal?.id ?? "") };
    const answer = await sent(company, sink, itemOf(sink === "payments" ? payment : paid));
    expect(answer).toMatchObject({ outcome: "done" });
    expect(company.rows("generalLedgerEntries")).toHaveLength(2);
  },
);

describe("a vendor's credit memo that people made", () => {
  const memo = (company: Company, amount: string, more: object = {}) => {
    const [bill] = posted(company, "purchaseInvoices");
    const line = { lineType: "Account", lineObjectNumber: "50100", quantity: Decimal.of("1") };
    return company.enter("purchaseCreditMemos", {
      vendorNumber: "CUST-1",
      number: "PP-CR9",
      invoiceNumber: bill?.["number"],
      vendorCreditMemoNumber: "THEIRS-1",
      purchaseCreditMemoLines: [{ ...line, unitCost: Decimal.of(amount) }],
      ...more,
    });
  };
  const openOf = async (company: Company) => {
    const id = String(posted(company, "purchaseInvoices")[0]?.id);
    const [held] = (await opened(company).holdings?.get("bill", [id], never)) ?? [];
    return held?.facts.money?.open?.fixed(2);
  };

  test("takes its amount off what is open of the bill, and a memo that is cancelled or not posted takes nothing", async () => {
    const company = await openCompany();
    await sent(company, "bills", itemOf(billDocument("R-1")));
    expect(await openOf(company)).toBe("19934.08");
    const { id } = memo(company, "934.08");
    expect(await openOf(company)).toBe("19000.00");
    const states = [
      { status: "Draft" },
      { status: "Canceled" },
      { isReleased: true, status: "Open" },
    ];
    for (const state of states) {
      company.edit("purchaseCreditMemos", id, state);
      expect(await openOf(company)).toBe("19934.08");
    }
  });

  test("that settles the rest of a bill is told as what it is, and the bill is not paid over", async () => {
    const company = await openCompany();
    const bill = itemOf(billDocument("R-1"));
    const { ids = [] } = await sent(company, "bills", bill);
    memo(company, "934.08");
    const paid = itemOf(billDocument("R-1", { status: "paid", paidDate: TODAY }));
    expect(await sent(company, "bills", paid)).toMatchObject({
      outcome: "refused",
      fault: {
        code: "paid-in-part",
        message: expect.stringContaining("credit memo PP-CR9 of 934.08"),
      },
    });
    const sink = opened(company).sinks["bills"] as Sink;
    const delivered = { id: bill.id, counterpart: String(ids[0]), body: sink.freeze([bill]).body };
    expect(await sink.inspect?.([delivered], never)).toMatchObject([
      {
        is: "there",
        differences: [{ field: "money.open", held: expect.stringContaining("PP-CR9") }],
      },
    ]);
  });
});
