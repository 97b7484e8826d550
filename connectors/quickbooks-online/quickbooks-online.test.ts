/** The driver of src/ledger over a company that refuses, races, is throttled, and loses answers and tokens. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { defineMapping, type Item, type Sink, type Source } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { push, runFlow } from "../../src/engine/daemon.ts";
import { InvoiceDocument } from "../../src/ledger/documents.ts";
import { retry, select } from "../../src/office/decisions.ts";
import { engineOn } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import {
  billDocument,
  invoiceDocument,
  itemOf,
  paymentDocument,
} from "../example/example.fixture.ts";
import { CLIENT, COMPANY } from "./company.fixture.ts";
import { openCompany } from "./company-server.fixture.ts";
import { QuickbooksOnlineConfig } from "./config.ts";
import { roundHalfUp } from "../quickbooks/documents.ts";
import {
  deliver,
  never,
  opened,
  requestOf,
  settings,
  orderDocument,
  sinkOf,
} from "./quickbooks-online.fixture.ts";
import { openWire, requestId } from "./wire.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
const find = (sink: Sink, item: Item) => sink.find(requestOf(sink, [item]), never);
const item = itemOf(invoiceDocument("FL-1"));
const DONE = { outcome: "done" };

test("a payment of an invoice in another currency is refused: its amount would become another one", async () => {
  const company = await openCompany();
  const { sinks } = opened(settings(company, { multicurrency: "home" }));
  await deliver(sinks["invoices"] as Sink, item);
  const id = company.rows("Invoice")[0]?.Id ?? "";
  company.edit("Invoice", id, { CurrencyRef: { value: "EUR" } });
  const payment = itemOf(paymentDocument("pay-1", id, { invoiceId: "id-FL-1" }));
  expect(await deliver(sinks["payments"] as Sink, payment)).toMatchObject({
    fault: { code: "other-currency", message: expect.stringContaining("EUR") as string },
  });
  expect(company.rows("Payment")).toEqual([]);
});

test("config/quickbooks-online.yaml has a section of this connector, with every setting but those of tests", () => {
  const path = join(import.meta.dirname, "../../config/quickbooks-online.yaml");
  const { endpoints } = parse(readFileSync(path, "utf8")) as {
    endpoints: { books: Record<string, unknown> };
  };
  const { connector, ...section } = endpoints.books;
  expect(connector).toBe("quickbooks-online");
  const read = { ...section, company: COMPANY, ...CLIENT };
  expect(QuickbooksOnlineConfig.safeParse(read).error).toBeUndefined();
  const left = Object.keys(QuickbooksOnlineConfig.shape).filter(
    (name) => section[name] === undefined,
  );
  expect(left).toEqual([
    "class",
    "location",
    "prices",
    "deadlineMs",
    "settleMs",
    "url",
    "tokenUrl",
  ]);
});

describe("an invoice", () => {
  test("has its taxes as lines of items, each marked NON, with every digit and the cent of the platform", async () => {
    const company = await openCompany();
    expect(await deliver(sinkOf(company, "invoices"), item)).toMatchObject({ outcome: "done" });
    const [row] = company.rows("Invoice");
    expect(row).toMatchObject({
      DocNumber: "FL-1",
      PrivateNote: "FL-1 platform:id-FL-1 PO 4711, contract C-9",
      CustomerMemo: { value: "PO 4711, contract C-9" },
      ShipAddr: { Line1: "Yard 3" },
      Line: [
        {
          Amount: d("18103.96"),
          SalesItemLineDetail: {
            Qty: d("7500.5"),
            UnitPrice: d("2.4137"),
            TaxCodeRef: { value: "NON" },
          },
        },
        { Amount: d("1830.12"), Description: "Federal excise" },
      ],
    });
    expect(String(row?.["TotalAmt"])).toBe("19934.08");
  });

  test("whose price QuickBooks would multiply to another cent goes with its amount alone", async () => {
    expect(String(roundHalfUp(d("1.005")))).toBe("1.01");
    expect(String(roundHalfUp(d("-1.005")))).toBe("-1.01");
    expect(String(roundHalfUp(d("1.0049")))).toBe("1.00");
    const company = await openCompany();
    const [line] = invoiceDocument("FL-1").lines;
    // Half a cent: QuickBooks says 0.03, the platform (to the even cent) 0.02.
    const half = { ...line, quantity: d("5"), unitPrice: d("0.005"), amount: d("0.02") } as never;
    const figures = { subtotal: d("0.02"), tax: d("0"), total: d("0.02"), taxes: [] };
    const document = invoiceDocument("FL-1", { lines: [half], ...figures });
    expect(await deliver(sinkOf(company, "invoices"), itemOf(document))).toMatchObject({
      outcome: "done",
    });
    const [written] = (company.rows("Invoice")[0] as Record<string, unknown>)["Line"] as unknown[];
    const { SalesItemLineDetail: detail, Description } = written as Record<string, unknown>;
    expect(detail).not.toHaveProperty("Qty");
    expect(Description).toContain("quantity 5");
  });

  test("that somebody gave another number is found by its day and its mark, and not made again", async () => {
    const company = await openCompany();
    const sink = sinkOf(company, "invoices");
    await deliver(sink, item);
    const id = company.rows("Invoice")[0]?.Id ?? "";
    company.edit("Invoice", id, { DocNumber: "1037" });
    company.forgets = true;
    expect(await deliver(sink, item)).toMatchObject({ fault: { code: "differs" } });
    expect(company.rows("Invoice")).toHaveLength(1);
  });

  test("is amended by a sparse update; a version that somebody changed meanwhile is read again, once", async () => {
    const company = await openCompany();
    const sink = sinkOf(company, "invoices");
    await deliver(sink, item);
    company.says = { path: /^invoice /, status: 400, code: "5010" };
    const later = itemOf(invoiceDocument("FL-1", { dueDate: "2026-12-31" }));
    expect(await deliver(sink, later)).toMatchObject({ outcome: "done" });
    expect(company.rows("Invoice")).toMatchObject([{ DueDate: "2026-12-31", SyncToken: "1" }]);
  });

  test("with a number that another kind of document has is refused, or taken twice where the site allows it", async () => {
    for (const duplicateNumbers of ["refuse", "allow"]) {
      const company = await openCompany();
      company.says = { path: /^invoice /, status: 400, code: "6140" };
      const answer = await deliver(sinkOf(company, "invoices", { duplicateNumbers }), item);
      expect(answer).toMatchObject(
        duplicateNumbers === "refuse"
          ? {
              fault: {
                code: "number-in-use",
                message: expect.stringContaining("says 6140") as string,
              },
            }
          : { outcome: "done" },
      );
      expect(company.rows("Invoice")).toHaveLength(duplicateNumbers === "refuse" ? 0 : 1);
    }
  });

  test("that is void is cancelled, though its item is no longer there", async () => {
    const company = await openCompany();
    const { sinks, readAgain } = opened(settings(company));
    const sink = sinks["invoices"] as Sink;
    await deliver(sink, item);
    const fuel = company.rows("Item").find(({ Name }) => Name === "ULSD-CLR");
    company.edit("Item", fuel?.Id ?? "", { Active: false });
    readAgain?.();
    const over = itemOf(invoiceDocument("FL-1", { status: "void" }));
    expect(await deliver(sink, over)).toMatchObject(DONE);
    expect(company.rows("Invoice")).toMatchObject([{ Balance: d("0") }]);
  });

  test("that is there stays equal when its item is made inactive; no new one is made with that item", async () => {
    const company = await openCompany();
    const { sinks, readAgain } = opened(settings(company));
    const sink = sinks["invoices"] as Sink;
    const { ids = [] } = await deliver(sink, item);
    const [counterpart = ""] = ids as string[];
    const fuel = company.rows("Item").find(({ Name }) => Name === "ULSD-CLR");
    company.edit("Item", fuel?.Id ?? "", { Active: false });
    const next = itemOf(invoiceDocument("FL-2", { id: "id-FL-2" }));
    const names = expect.stringContaining("ULSD-CLR") as string;
    const refused = { fault: { code: "inactive", message: names } };
    // Before and after what is known of items is read again.
    expect(await deliver(sink, next)).toMatchObject(refused);
    readAgain?.();
    const { body } = requestOf(sink, [item]);
    const delivered = { id: item.id, counterpart, body };
    expect(await sink.inspect?.([delivered], never)).toEqual([{ is: "there", differences: [] }]);
    expect(await deliver(sink, next)).toMatchObject(refused);
    company.edit("Item", fuel?.Id ?? "", { Active: true });
    expect(await deliver(sink, next)).toMatchObject(DONE);
  });

  test("whose credit somebody applies, which QuickBooks keeps as a payment of 0.00, has no such payment", async () => {
    const company = await openCompany();
    const { sinks, holdings } = opened(settings(company));
    const { ids = [] } = await deliver(sinks["invoices"] as Sink, item);
    const amount = d("100.00");
    company.enter("Payment", {
      TxnDate: "2026-11-22",
      TotalAmt: d("0"),
      CustomerRef: { value: company.rows("Invoice")[0]?.["CustomerRef"] },
      Line: [
        { Amount: amount, LinkedTxn: [{ TxnId: ids[0], TxnType: "Invoice" }] },
        { Amount: amount, LinkedTxn: [{ TxnId: "900", TxnType: "CreditMemo" }] },
      ],
    });
    const dated = { from: "2026-11-01", to: "2026-11-30" };
    const scope = { dated, changedSince: null, open: false };
    const states: unknown[] = [];
    for await (const page of holdings?.list("payment", scope, null, never) ?? [])
      states.push(...page.holdings.map(({ facts }) => facts.state));
    expect(states).toEqual(["ended"]);
  });

  test("whose payment somebody spread over another invoice, too, is told, and the payment names both", async () => {
    const company = await openCompany();
    const { sinks, holdings } = opened(settings(company));
    const other = itemOf(invoiceDocument("FL-2", { id: "id-FL-2" }));
    const { ids = [] } = await deliver(sinks["invoices"] as Sink, item, other);
    const [id, second] = ids as string[];
    const payments = sinks["payments"] as Sink;
    const one = itemOf(paymentDocument("pay-1", id ?? "", { invoiceId: "id-FL-1" }));
    const [counterpart = ""] = ((await deliver(payments, one)).ids ?? []) as string[];
    const [payment] = company.rows("Payment");
    const [line] = (payment?.["Line"] ?? []) as { readonly Amount: Decimal }[];
    const half = { Amount: d("1.00"), LinkedTxn: [{ TxnId: second, TxnType: "Invoice" }] };
    company.edit("Payment", payment?.Id ?? "", { Line: [line, half] });
    const { body } = requestOf(payments, [one]);
    expect(await payments.inspect?.([{ id: one.id, counterpart, body }], never)).toMatchObject([
      { is: "there", differences: [{ field: "document", expected: id }] },
    ]);
    expect(await holdings?.get("payment", [counterpart], never)).toMatchObject([
      { pays: [id, second] },
    ]);
  });

  test("whose number QuickBooks cannot hold whole is held under the platform's number", async () => {
    const company = await openCompany();
    const { sinks, holdings } = opened(settings(company));
    const number = "SUP-2026-0000000000118-A";
    const scope = { dated: null, changedSince: null, open: true };
    for (const [kind, made] of [
      ["invoice", invoiceDocument(number)],
      ["bill", billDocument(number)],
    ] as const) {
      await deliver(sinks[`${kind}s`] as Sink, itemOf(made));
      const held: unknown[] = [];
      for await (const page of holdings?.list(kind, scope, null, never) ?? [])
        held.push(...page.holdings.map(({ facts }) => facts.words?.reference));
      expect(held).toEqual([number]);
    }
  });

  test("of a vendor has the vendor's number, though another vendor's bill has it; the same vendor's second is refused", async () => {
    const company = await openCompany();
    const bills = sinkOf(company, "bills");
    const other = { code: "OTHER", name: "Other", companyId: "company-2" };
    expect(await deliver(bills, itemOf(billDocument("0004711")))).toMatchObject(DONE);
    const theirs = itemOf(billDocument("0004711", { id: "id-2", party: other }));
    expect(await deliver(bills, theirs)).toMatchObject(DONE);
    const again = itemOf(billDocument("0004711", { id: "id-3", party: other }));
    expect(await deliver(bills, again)).toMatchObject({ outcome: "refused" });
    expect(company.rows("Bill").map((row) => row["DocNumber"])).toEqual(["0004711", "0004711"]);
  });

  test.each([
    ["on another day", "FL 59190010", "2026-10-02"],
    ["on its day", "#FL--5919/0010", "2026-11-21"],
  ])(
    "of a vendor that a person entered with other signs in its number is not booked beside it: %s",
    async (_, typed, invoiceDate) => {
      const company = await openCompany();
      const bills = sinkOf(company, "bills");
      await deliver(bills, itemOf(billDocument("FL1", { id: "typed", invoiceDate })));
      const { Id = "" } = company.rows("Bill")[0] ?? {};
      company.edit("Bill", Id, { PrivateNote: null, DocNumber: typed });
      const before = company.asked.length;
      expect(await deliver(bills, itemOf(billDocument("FL-59190010")))).toMatchObject({
        outcome: "refused",
        fault: { code: "number-alike", message: expect.stringContaining(`(${typed})`) },
      });
      const asked = company.asked.slice(before).filter((one) => one.includes("Bill"));
      expect(asked).toHaveLength(2);
      expect(company.rows("Bill")).toHaveLength(1);
    },
  );

  test("of a company that is a vendor as well is booked on a customer with a suffix", async () => {
    const company = await openCompany();
    company.enter("Vendor", { DisplayName: "CUST-1" });
    expect(await deliver(sinkOf(company, "invoices"), item)).toMatchObject({ outcome: "done" });
    expect(company.rows("Customer")).toMatchObject([
      { DisplayName: "CUST-1 (C)", Notes: "platform:company-1" },
    ]);
    const refused = await openCompany();
    refused.enter("Vendor", { DisplayName: "CUST-1" });
    const sink = sinkOf(refused, "invoices", { sameName: "refuse" });
    expect(await deliver(sink, item)).toMatchObject({ fault: { code: "name-taken" } });
  });

  test("of a supplier whose name a customer has is booked on the same vendor each time, and the platform is told whose it is", async () => {
    const company = await openCompany();
    company.enter("Customer", { DisplayName: "CUST-1" });
    const { sinks, sources } = opened(settings(company));
    const bills = sinks["bills"] as Sink;
    for (const number of ["R-1", "R-2"])
      expect(await deliver(bills, itemOf(billDocument(number)))).toMatchObject(DONE);
    const [vendor, ...others] = company.rows("Vendor");
    expect(vendor).toMatchObject({ DisplayName: "CUST-1 (V)" });
    expect(others).toEqual([]);
    expect(company.rows("Bill").map(({ VendorRef }) => VendorRef)).toMatchObject([
      { value: vendor?.Id },
      { value: vendor?.Id },
    ]);
    const told = [];
    const reading = { signal: never, known: () => null, stored: () => false };
    for await (const { changes } of (sources["parties"] as Source).read(null, reading))
      told.push(...changes.map(({ text }) => text));
    expect(told).toContainEqual(
      expect.stringMatching(new RegExp(`"code":"V-${vendor?.Id}".*"companyId":"company-1"`)),
    );
    // A store that is new: its name counts.
    expect(await deliver(sinkOf(company, "bills"), itemOf(billDocument("R-3")))).toMatchObject(
      DONE,
    );
    expect(company.rows("Vendor")).toHaveLength(1);
  });

  test.each([
    ["", { Notes: "platform:company-1" }],
    [", and whose notes say nothing", {}],
  ])("of a customer that was renamed%s makes no second one", async (_, notes) => {
    const company = await openCompany();
    const own = company.enter("Customer", { DisplayName: "cust-1" });
    const sink = sinkOf(company, "invoices");
    await deliver(sink, item);
    company.edit("Customer", own.Id, { DisplayName: "Renamed", ...notes });
    await deliver(sink, itemOf(invoiceDocument("FL-2")));
    expect(company.rows("Customer")).toHaveLength(1);
    expect(company.rows("Invoice").map(({ CustomerRef }) => CustomerRef)).toMatchObject([
      { value: own.Id },
      { value: own.Id },
    ]);
  });

  test("of a customer whose code looks like an id of QuickBooks makes one of that name, once", async () => {
    const company = await openCompany();
    const party = { code: "C-2001", name: "Ranch Supply", companyId: "company-1" };
    const sink = sinkOf(company, "invoices");
    for (const number of ["FL-1", "FL-2"])
      expect(await deliver(sink, itemOf(invoiceDocument(number, { party })))).toMatchObject(DONE);
    expect(company.rows("Customer")).toMatchObject([{ DisplayName: "C-2001" }]);
  });

  test("of a customer that somebody merged into another is for a person: none is made by the name of its id", async () => {
    const company = await openCompany();
    const merged = company.enter("Customer", { DisplayName: "Ranch Supply" });
    company.enter("Customer", { DisplayName: "Ranch Supply of Lubbock" });
    const party = { code: `C-${merged.Id}`, name: "Ranch Supply", companyId: "company-1" };
    const sink = sinkOf(company, "invoices");
    const [first, later] = ["FL-1", "FL-2"].map((number) =>
      itemOf(invoiceDocument(number, { party })),
    ) as [Item, Item];
    expect(await deliver(sink, first)).toMatchObject(DONE);
    company.delete("Customer", merged.Id);
    const refused = { outcome: "refused", fault: { code: "party-gone" } };
    expect(await deliver(sink, later)).toMatchObject(refused);
    expect(company.rows("Customer")).toHaveLength(1);
  });

  test("is not written into a company with several currencies, another currency or numbers of its own", async () => {
    for (const [code, change] of [
      [
        "several",
        { CurrencyPrefs: { MultiCurrencyEnabled: true, HomeCurrency: { value: "USD" } } },
      ],
      ["CAD", { CurrencyPrefs: { MultiCurrencyEnabled: false, HomeCurrency: { value: "CAD" } } }],
      ["numbers", { SalesFormsPrefs: { CustomTxnNumbers: false } }],
    ] as const) {
      const company = await openCompany();
      Object.assign(company.preferences, change);
      const answer = await deliver(sinkOf(company, "invoices"), item);
      expect(answer, code).toMatchObject({
        outcome: "nothing",
        stop: "scope",
        detail: expect.stringContaining(code),
      });
      expect(company.rows("Invoice")).toEqual([]);
    }
  });

  test("that Intuit's sales tax recomputed says so with both totals", async () => {
    const company = await openCompany();
    company.addsTax = d("1644.56");
    const sink = sinkOf(company, "invoices");
    const message =
      "21,578.64 in QuickBooks and 19,934.08 on the platform: Intuit's sales tax added 1,644.56 to invoice FL-1";
    const told = { outcome: "unknown", detail: expect.stringContaining(message) };
    expect(await deliver(sink, item)).toMatchObject(told);
    expect(await find(sink, item)).toMatchObject({
      found: "different",
      fault: { code: "sales-tax-added", message, amount: "21578.64" },
    });
    expect(company.rows("Invoice")).toHaveLength(1);
  });

  test("goes at once after a release: preferences that a person has put right are read again", async () => {
    const company = await openCompany();
    const endpoint = opened(settings(company));
    const sink = endpoint.sinks["invoices"] as Sink;
    company.preferences.SalesFormsPrefs.CustomTxnNumbers = false;
    expect(await deliver(sink, item)).toMatchObject({ stop: "scope" });
    company.preferences.SalesFormsPrefs.CustomTxnNumbers = true;
    expect(await deliver(sink, item)).toMatchObject({ stop: "scope" });
    endpoint.readAgain?.();
    expect(await deliver(sink, item)).toMatchObject({ outcome: "done" });
  });

  test("of a party in another currency is refused where the company has several", async () => {
    const company = await openCompany();
    company.preferences.CurrencyPrefs.MultiCurrencyEnabled = true;
    company.enter("Customer", { DisplayName: "CUST-1", CurrencyRef: { value: "CAD" } });
    const sink = sinkOf(company, "invoices", { multicurrency: "home" });
    expect(await deliver(sink, item)).toMatchObject({ fault: { code: "other-currency" } });
    expect(company.rows("Invoice")).toEqual([]);
  });
});

test("payments of both directions settle what they pay; a rest that nobody paid is for a person", async () => {
  const company = await openCompany();
  const { sinks } = opened(settings(company));
  const invoices = sinks["invoices"] as Sink;
  const { ids } = await deliver(invoices, item);
  const received = itemOf(paymentDocument("pay-1", ids?.[0] ?? "", { invoiceId: "id-FL-1" }));
  const answer = await deliver(sinks["payments"] as Sink, received);
  expect(answer).toMatchObject({ outcome: "done", ids: [expect.stringMatching(/^Payment \d+$/)] });
  const paid = itemOf(invoiceDocument("FL-1", { status: "paid", paidDate: "2026-11-21" }));
  expect(await deliver(invoices, paid)).toMatchObject({ fault: { code: "paid-in-part" } });
  const whole = invoiceDocument("FL-2", { status: "paid", paidDate: "2026-11-21" });
  expect(await deliver(invoices, itemOf(whole))).toMatchObject({ outcome: "done" });
  expect(
    company.rows("Payment").map(({ PrivateNote, TotalAmt }) => [PrivateNote, String(TotalAmt)]),
  ).toEqual([
    ["payment:pay-1 ACH 4711", "100.00"],
    ["platform:id-FL-2 settled as one", "19934.08"],
  ]);
  const bill = await deliver(sinks["bills"] as Sink, itemOf(billDocument("R-1")));
  const made = itemOf(paymentDocument("pay-2", bill.ids?.[0] ?? "", { type: "in" }));
  expect(await deliver(sinks["payments"] as Sink, made)).toMatchObject({ outcome: "done" });
  expect(await deliver(sinks["payments"] as Sink, made)).toMatchObject({ outcome: "done" });
  expect(company.rows("Payment")).toMatchObject([{ PaymentRefNum: "4711" }, {}]);
  expect(company.rows("BillPayment")).toMatchObject([
    {
      DocNumber: "4711",
      PayType: "Check",
      CheckPayment: { BankAccountRef: { value: "5" } },
      TotalAmt: d("100.00"),
    },
  ]);
});

test("a customer that somebody made inactive gets no second one of its name, and whoever has that name now is it", async () => {
  const company = await openCompany();
  const sink = sinkOf(company, "invoices");
  const old = company.enter("Customer", { DisplayName: "CUST-1" });
  company.edit("Customer", old.Id, { Active: false });
  expect(company.rows("Customer")).toMatchObject([{ DisplayName: "CUST-1 (deleted)" }]);
  const message = "the customer CUST-1 is not active in QuickBooks";
  expect(await deliver(sink, item)).toMatchObject({ fault: { code: "inactive", message } });
  expect(company.rows("Customer")).toHaveLength(1);
  const now = company.enter("Customer", { DisplayName: "CUST-1" });
  expect(await deliver(sink, item)).toMatchObject(DONE);
  expect(company.rows("Invoice")).toMatchObject([{ CustomerRef: { value: now.Id } }]);
});

test("a name that another customer got bills nobody until a person has the invoice go again, and then that one", async () => {
  const company = await openCompany();
  const old = company.enter("Customer", { DisplayName: "CUST-1" });
  const bench = engineOn(tempFolder());
  const { engine, store } = bench;
  const waiting = ["FL-1", "FL-2"].map((number) => stringifyExact(invoiceDocument(number)));
  const invoices = bench.flow({
    name: "invoices",
    from: "platform.invoices",
    to: "books.invoices",
    side: "platform",
    mapping: defineMapping({
      name: "test/invoices",
      kind: "invoice",
      input: InvoiceDocument,
      output: InvoiceDocument,
      number: ({ number }) => number,
      map: (document) => document,
      figures: () => ({ amount: null, gallons: null }),
    }),
    sink: sinkOf(company, "invoices"),
    source: {
      async *read() {
        const text = waiting.shift() ?? "";
        yield { changes: [{ id: text.slice(0, 20), version: null, text }], position: 1 };
      },
    },
  });
  await runFlow(engine, invoices, never);
  company.edit("Customer", old.Id, { DisplayName: "Ranch Supply of Lubbock" });
  const now = company.enter("Customer", { DisplayName: "CUST-1" });
  await runFlow(engine, invoices, never);
  const told = select(engine, [invoices], "all");
  expect(told.map(({ row }) => row.cause)).toEqual([
    expect.stringMatching(
      /^CUST-1 is the code of another .* is C-\d+, Ranch Supply of Lubbock now/,
    ),
  ]);
  const billed = () => company.rows("Invoice").map(({ CustomerRef }) => CustomerRef);
  expect(billed()).toMatchObject([{ value: old.Id }]);
  store.transaction(() => told.map((one) => retry(engine, one)));
  await push(engine, invoices, never);
  expect(billed()).toMatchObject([{ value: old.Id }, { value: now.Id }]);
});

test.each([
  ["2026-11-21", "somebody took off it", "payment:pay-1 ACH 4711"],
  ["2026-11-24", "somebody took off it", "payment:pay-1 ACH 4711"],
  ["2026-11-24", "a clerk entered without it", "check 17"],
])(
  "an invoice whose payment, whatever its day (%s), %s is not paid a second time: a person is told which one stands idle",
  async (date, _, PrivateNote) => {
    const company = await openCompany();
    const { sinks } = opened(settings(company));
    const { ids = [] } = await deliver(sinks["invoices"] as Sink, item);
    const [id = ""] = ids as string[];
    const money = { amount: d("19934.08"), date, invoiceId: "id-FL-1" };
    await deliver(sinks["payments"] as Sink, itemOf(paymentDocument("pay-1", id, money)));
    const [payment] = company.rows("Payment");
    const idle = { Line: [], UnappliedAmt: d("19934.08"), PrivateNote };
    company.edit("Payment", payment?.Id ?? "", idle);
    company.edit("Invoice", id, { Balance: d("19934.08"), LinkedTxn: [] });
    const paid = itemOf(invoiceDocument("FL-1", { status: "paid", paidDate: "2026-11-21" }));
    expect(await deliver(sinks["invoices"] as Sink, paid)).toMatchObject({
      fault: {
        code: "paid-by-others",
        message: expect.stringContaining(`Payment ${payment?.Id}`) as string,
      },
    });
    expect(company.rows("Payment")).toHaveLength(1);
    if (PrivateNote !== "check 17") return;
    const second = itemOf(paymentDocument("pay-2", id, { ...money, date: "2026-11-01" }));
    expect(await deliver(sinks["payments"] as Sink, second)).toMatchObject({
      fault: {
        code: "paid-by-others",
        message: expect.stringContaining(`19,934.08 of Payment ${payment?.Id}, which`) as string,
      },
    });
    // Another sum of a clerk's is other money.
    company.edit("Payment", payment?.Id ?? "", { UnappliedAmt: d("19934.09") });
    expect(await deliver(sinks["invoices"] as Sink, paid)).toMatchObject({ outcome: "done" });
  },
);

test("a payment that somebody took off one of two invoices is not paid a second time", async () => {
  const company = await openCompany();
  const { sinks } = opened(settings(company));
  const { ids = [] } = await deliver(sinks["invoices"] as Sink, item);
  const money = { amount: d("19934.08"), date: "2026-11-21", invoiceId: "id-FL-1" };
  const paying = paymentDocument("pay-1", String(ids[0]), money);
  await deliver(sinks["payments"] as Sink, itemOf(paying));
  const [payment] = company.rows("Payment");
  const half = { TotalAmt: d("39868.16"), UnappliedAmt: d("19934.08") };
  company.edit("Payment", payment?.Id ?? "", half);
  await deliver(sinks["invoices"] as Sink, itemOf(invoiceDocument("FL-2")));
  const paid = itemOf(invoiceDocument("FL-2", { status: "paid", paidDate: "2026-11-21" }));
  expect(await deliver(sinks["invoices"] as Sink, paid)).toMatchObject({
    fault: {
      code: "paid-by-others",
      message: expect.stringContaining(`19,934.08 of Payment ${payment?.Id}`) as string,
    },
  });
  expect(company.rows("Payment")).toHaveLength(1);
});

test("the accounts, the class and the location that the site names are on every document; one that is missing is named", async () => {
  const company = await openCompany();
  const named = {
    accounts: {
      expense: "5000",
      paymentsMade: "1010",
      receivable: "A/R Fuel",
      payable: "A/P Fuel",
    },
    class: "Fuel",
    location: "Lubbock",
  };
  company.enter("Account", { Name: "A/P", AccountType: "Accounts Payable" });
  const ids = Object.fromEntries(
    [
      ["Account", "A/R Fuel", "Accounts Receivable"],
      ["Account", "A/P Fuel", "Accounts Payable"],
      ["Class", "Fuel"],
    ].map(([table = "", Name = "", AccountType]) => [
      Name,
      company.enter(table, { Name, AccountType }).Id,
    ]),
  );
  const { sinks, readAgain } = opened(settings(company, named));
  const invoices = sinks["invoices"] as Sink;
  expect(await deliver(invoices, item)).toMatchObject({
    outcome: "refused",
    fault: { message: expect.stringContaining("location Lubbock") },
  });
  const { Id } = company.enter("Department", { Name: "Lubbock" });
  readAgain?.();
  expect(await deliver(invoices, item)).toMatchObject({ outcome: "done" });
  const detail = { ClassRef: { value: ids["Fuel"] } };
  expect(company.rows("Invoice")).toMatchObject([
    {
      ARAccountRef: { value: ids["A/R Fuel"] },
      DepartmentRef: { value: Id },
      Line: [{ SalesItemLineDetail: detail }, { SalesItemLineDetail: detail }],
    },
  ]);
  const bill = await deliver(sinks["bills"] as Sink, itemOf(billDocument("R-1")));
  expect(bill).toMatchObject({ outcome: "done" });
  expect(company.rows("Bill")).toMatchObject([
    {
      APAccountRef: { value: ids["A/P Fuel"] },
      DepartmentRef: { value: Id },
      Line: [{ ItemBasedExpenseLineDetail: detail }, { AccountBasedExpenseLineDetail: detail }],
    },
  ]);
  const paid = itemOf(paymentDocument("pay-1", bill.ids?.[0] ?? "", { type: "in" }));
  const bought = itemOf(orderDocument("PO-1", { type: "purchase" }));
  for (const [name, one] of Object.entries({ payments: paid, orders: bought }))
    expect(await deliver(sinks[name] as Sink, one)).toMatchObject({ outcome: "done" });
  const payable = { APAccountRef: { value: ids["A/P Fuel"] } };
  expect(company.rows("BillPayment")).toMatchObject([payable]);
  expect(company.rows("PurchaseOrder")).toMatchObject([payable]);
});

test("the same content has the same request id, and is no second record where the look is behind", async () => {
  expect(requestId("k", "invoice ", "a")).toMatch(/^[0-9a-f]{32}$/);
  expect(requestId("k", "invoice ", "a")).not.toBe(requestId("k", "invoice ", "b"));
  const company = await openCompany();
  const wire = openWire(QuickbooksOnlineConfig.parse(settings(company)), surroundingsIn("/"));
  const call = { key: "k", signal: never, purpose: "delivery", made: new Set<string>() } as const;
  const body = { DisplayName: "Twice" };
  const first = await wire.write("Customer", body, call);
  expect(await wire.write("Customer", body, call)).toBe(first);
  expect(company.rows("Customer")).toHaveLength(1);
  await wire.close();
});
