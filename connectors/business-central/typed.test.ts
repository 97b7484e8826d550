/** What people have typed into Business Central before the platform's document came. */
import { expect, test } from "vitest";
import { type Delivered, type Sink, thereAsBrought } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
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

test.each([
  ["invoice", "invoices", "salesInvoices", first],
  ["order", "orders", "salesOrders", itemOf(orderDocument("SO-1"))],
] as const)(
  "an %s whose external number a clerk wrote over is found among those of its day, and made once",
  async (_, sink, set, item) => {
    const company = await openCompany();
    expect(await sent(company, sink, item)).toMatchObject({ outcome: "done" });
    const [row] = company.rows(set);
    company.edit(set, row?.id ?? "", { externalDocumentNumber: "PO 4711" });
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
