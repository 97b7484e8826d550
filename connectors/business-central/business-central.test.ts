/** What Business Central does that other ERPs do not, one test each, over a company as the tests' own server has it. */
import { describe, expect, test } from "vitest";
import type { Sink } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { compare } from "../../src/ledger/compare.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import {
  billDocument,
  enterCustomer,
  enterInvoice,
  idOf,
  invoiceDocument,
  itemOf,
  never,
  opened,
  openCompany,
  orderDocument,
  paymentDocument,
  settings,
  TODAY,
  sent,
  found,
  first,
  POST,
  posted,
  told,
} from "./business-central.fixture.ts";
import type { Company } from "./company.fixture.ts";
import { businessCentral } from "./index.ts";

describe("a document", () => {
  test("keeps its id when it is posted, and people read the number that it has then", async () => {
    const company = await openCompany();
    const { outcome, ids } = await sent(company, "invoices", first);
    expect(outcome).toBe("done");
    const [row] = posted(company);
    expect(ids).toEqual([row?.id]);
    expect(row?.["number"]).toMatch(/^PS-INV/);
    const [change] = await told(company, "invoices");
    expect(change?.text).toContain(`"number":"${String(row?.["number"])}"`);
  });

  test("that a clerk posted in between is done", async () => {
    const company = await openCompany();
    const act = () => {
      const [row] = company.rows("salesInvoices");
      company.edit("salesInvoices", row?.id ?? "", { status: "Open" });
    };
    company.before = { path: POST, act };
    expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "done" });
    expect(posted(company)).toHaveLength(1);
  });

  test("that a person released is a draft until it is posted, though Business Central calls it open", async () => {
    const company = await openCompany();
    const { id } = enterInvoice(company, { isReleased: true });
    const textOf = async () => (await told(company, "invoices"))[0]?.text;
    expect(await textOf()).toBeUndefined();
    company.edit("salesInvoices", id, { isReleased: false });
    expect(await textOf()).toContain('"state":"posted"');
    // One of ours is posted, though it is called open before.
    const release = () => {
      const [, own] = company.rows("salesInvoices");
      company.edit("salesInvoices", own?.id ?? "", { status: "Open", isReleased: true });
    };
    company.before = { path: POST, act: release };
    company.says = { path: POST, status: 503, code: "busy" };
    expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "unknown" });
    expect(await found(company, "invoices", first)).not.toMatchObject({ found: "done" });
    expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "done" });
    expect(posted(company)).toMatchObject([{ id }, { isReleased: false }]);
  });

  test("whose draft a clerk deleted in between is made again, once", async () => {
    const company = await openCompany();
    const act = () => company.delete("salesInvoices", company.rows("salesInvoices")[0]?.id ?? "");
    company.before = { path: POST, act };
    expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "unknown" });
    expect(await found(company, "invoices", first)).toMatchObject({ found: "none" });
    // That of an earlier send is made again at once.
    company.says = { path: POST, status: 503, code: "busy" };
    expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "unknown" });
    company.before = { path: POST, act };
    expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "done" });
    expect(posted(company)).toHaveLength(1);
  });

  test("whose draft a clerk changed is a person's, and stays as it is", async () => {
    const company = await openCompany();
    company.says = { path: POST, status: 503, code: "busy" };
    expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "unknown" });
    const [row] = company.rows("salesInvoices");
    company.edit("salesInvoices", row?.id ?? "", { customerNumber: "CUST-2" });
    expect(await sent(company, "invoices", first)).toMatchObject({
      outcome: "refused",
      fault: { code: "differs", message: expect.stringContaining("payer") },
    });
    expect(company.rows("salesInvoices")).toHaveLength(1);
    expect(posted(company)).toEqual([]);
  });

  test.each([
    [false, "refused", 0],
    [true, "unknown", 1],
  ] as const)(
    "that a clerk changes between our look and its posting is a person's; it is posted where Business Central ignores If-Match: %s",
    async (ignoresMatch, outcome, count) => {
      const company = await openCompany();
      enterCustomer(company, { number: "CUST-2" });
      company.ignoresMatch = ignoresMatch;
      company.says = { path: POST, status: 503, code: "busy" };
      await sent(company, "invoices", first);
      const { id = "" } = company.rows("salesInvoices")[0] ?? {};
      const act = () => company.edit("salesInvoices", id, { customerNumber: "CUST-2" });
      company.before = { path: POST, act };
      expect(await sent(company, "invoices", first)).toMatchObject({ outcome });
      expect(posted(company)).toHaveLength(count);
      expect(await found(company, "invoices", first)).toMatchObject({
        found: "different",
        fault: { message: expect.stringContaining("payer") as string },
      });
    },
  );

  test("is posted with a quantity of five decimals, and refused where its sums come out otherwise", async () => {
    const company = await openCompany();
    const [line] = invoiceDocument("FL-5").lines as [
      ReturnType<typeof invoiceDocument>["lines"][0],
    ];
    const [quantity, unitPrice] = [Decimal.of("7500.12345"), Decimal.of("2.41371")];
    const amount = quantity.times(unitPrice).round(2);
    const of = (number: string, comes: Decimal) =>
      itemOf(
        invoiceDocument(number, {
          lines: [{ ...line, quantity, unitPrice, amount: comes }],
          taxes: [],
          subtotal: comes,
          tax: Decimal.zero,
          total: comes,
        }),
      );
    expect(await sent(company, "invoices", of("FL-5", amount))).toMatchObject({ outcome: "done" });
    const cent = Decimal.of("0.01");
    expect(await sent(company, "invoices", of("FL-6", amount.plus(cent)))).toMatchObject({
      outcome: "refused",
      fault: { code: "would-differ" },
    });
    expect(company.rows("salesInvoices")).toHaveLength(1);
  });

  test("keeps its cents where its price has more decimals than Business Central keeps", async () => {
    const company = await openCompany();
    const [line] = invoiceDocument("FL-7").lines as [
      ReturnType<typeof invoiceDocument>["lines"][0],
    ];
    for (const [at, price] of ["2.437512", "2.437518", "2.4375151"].entries()) {
      const unitPrice = Decimal.of(price);
      const amount = line.quantity.times(unitPrice).round(2);
      const document = invoiceDocument(`FL-7${at}`, {
        lines: [{ ...line, unitPrice, amount }],
        taxes: [],
        subtotal: amount,
        tax: Decimal.zero,
        total: amount,
      });
      expect(await sent(company, "invoices", itemOf(document))).toMatchObject({ outcome: "done" });
      expect(posted(company).at(-1)).toMatchObject({ totalAmountIncludingTax: amount });
    }
  });

  test.each(["1.12", "1.13"])(
    "of half a cent, which Business Central rounds up, comes to what the platform says: %s",
    async (says) => {
      const company = await openCompany();
      const [quantity, unitPrice, amount] = ["0.5", "2.25", says].map((one) => Decimal.of(one)) as [
        Decimal,
        Decimal,
        Decimal,
      ];
      const [line] = invoiceDocument("FL-8").lines as [
        ReturnType<typeof invoiceDocument>["lines"][0],
      ];
      const document = invoiceDocument("FL-8", {
        lines: [{ ...line, quantity, unitPrice, amount }],
        taxes: [],
        subtotal: amount,
        tax: Decimal.zero,
        total: amount,
      });
      expect(await sent(company, "invoices", itemOf(document))).toMatchObject({ outcome: "done" });
      expect(posted(company)).toMatchObject([{ totalAmountIncludingTax: amount }]);
    },
  );

  test("to which Business Central would add a tax of its own is refused and leaves nothing", async () => {
    const company = await openCompany();
    company.taxes.set("", "8.25");
    const without = { taxCode: undefined };
    expect(await sent(company, "invoices", first, without)).toMatchObject({
      outcome: "refused",
      fault: { code: "would-differ", message: expect.stringContaining("tax") },
    });
    expect(company.rows("salesInvoices")).toEqual([]);
    expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "done" });
  });

  test("whose prices include VAT is refused where Business Central takes VAT out of them, though its total is the same", async () => {
    const company = await openCompany();
    company.taxIncluded.add("CUST-1");
    company.taxes.set("VAT20", "20");
    expect(await sent(company, "invoices", first, { taxCode: "VAT20" })).toMatchObject({
      outcome: "refused",
      fault: { code: "would-differ", message: expect.stringMatching(/subtotal: .*\n.*tax: /) },
    });
    expect(company.rows("salesInvoices")).toEqual([]);
    // A code without VAT takes nothing out.
    expect(await sent(company, "invoices", first)).toMatchObject({ outcome: "done" });
    expect(posted(company)).toMatchObject([
      { pricesIncludeTax: true, totalAmountIncludingTax: Decimal.of("19934.08") },
    ]);
  });

  test("has the number that a series which skips gave it: none is guessed, none is taken for another's", async () => {
    const company = await openCompany();
    const numbers: string[] = [];
    for (const number of ["FL-1", "FL-2", "FL-3"]) {
      // Refused, after its draft has used a number up.
      company.closedBefore = number === "FL-2" ? "2026-12-01" : "2000-01-01";
      const item = itemOf(invoiceDocument(number));
      await sent(company, "invoices", item);
      company.closedBefore = "2000-01-01";
      expect(await sent(company, "invoices", item)).toMatchObject({ outcome: "done" });
      numbers.push(String(posted(company).at(-1)?.["number"]));
      expect(await found(company, "invoices", item)).toMatchObject({ found: "exact" });
    }
    const digits = numbers.map((number) => Number(/\d+/.exec(number)?.[0]));
    expect(new Set(digits).size).toBe(3);
    expect((digits[1] ?? 0) - (digits[0] ?? 0)).toBeGreaterThan(1);
    const changes = await told(company, "invoices");
    expect(changes.map(({ text }) => (JSON.parse(text) as { number: string }).number)).toEqual(
      numbers,
    );
  });

  const refusals: readonly (readonly [string, (company: Company) => void])[] = [
    ["closed-period", (company) => (company.closedBefore = "2026-12-01")],
    ["no-dimension", (company) => (company.needsDimension = true)],
    ["blocked", (company) => enterCustomer(company, { blocked: "All" })],
    ["would-differ", (company) => enterCustomer(company, { currencyCode: "EUR" })],
  ];
  test.each(refusals)(
    "that is refused as %s names what to do and leaves nothing",
    async (code, act) => {
      const company = await openCompany();
      act(company);
      const { outcome, fault } = await sent(company, "invoices", first);
      expect({ outcome, code: fault?.code }).toEqual({ outcome: "refused", code });
      expect(fault?.next).toMatch(/\w+ \w+/);
      expect(company.rows("salesInvoices")).toEqual([]);
    },
  );

  test("has its PO number and its ship-to in their fields, and its contract in a comment", async () => {
    const company = await openCompany();
    const texts = {
      poNumber: "4".repeat(36),
      shipTo: "Y".repeat(101),
      description: "c".repeat(90),
    };
    const party = { code: "CUST-2", name: "N".repeat(101), companyId: idOf("company-2") };
    const long = invoiceDocument("FL-2", { ...texts, party });
    for (const one of [first, itemOf(long)]) await sent(company, "invoices", one);
    await sent(company, "bills", itemOf(billDocument("R-1")));
    const shown = (set: string, list: string) =>
      posted(company, set).map((row) => [
        row["customerPurchaseOrderReference"],
        row["shipToName"],
        ...(row[list] as Record<string, unknown>[])
          .filter(({ lineType }) => lineType === "Comment")
          .map(({ description }) => description),
      ]);
    expect(shown("salesInvoices", "salesInvoiceLines")).toEqual([
      ["4711", "Yard 3", "invoice FL-1", "contract C-9"],
      ["4".repeat(35), "Y".repeat(100), "invoice FL-2", `PO ${"4".repeat(36)}, ${"c".repeat(59)}`],
    ]);
    expect(shown("purchaseInvoices", "purchaseInvoiceLines")).toMatchObject([
      [undefined, undefined, /platform:/, "PO 4711, contract C-9"].map((one) =>
        one instanceof RegExp ? (expect.stringMatching(one) as unknown) : one,
      ),
    ]);
  });

  test("keeps the first 150 characters of a line's text, in two descriptions, and is not refused for a longer one", async () => {
    const company = await openCompany();
    const [line] = invoiceDocument("FL-8").lines as [
      ReturnType<typeof invoiceDocument>["lines"][0],
    ];
    // A blank at the border would be lost, and the second description holds 50 characters.
    const description = `${"a".repeat(98)} b ${"c".repeat(80)}`;
    const others = invoiceDocument("FL-8").lines.slice(1);
    const long = itemOf(invoiceDocument("FL-8", { lines: [{ ...line, description }, ...others] }));
    expect(await sent(company, "invoices", long)).toMatchObject({ outcome: "done" });
    const [row] = posted(company);
    const [kept] = (row?.["salesInvoiceLines"] ?? []) as Record<string, string>[];
    const told = [kept?.["description"], kept?.["description2"]].join("");
    expect(told).toBe(description.slice(0, 147));
    expect(await sent(company, "invoices", long)).toMatchObject({ outcome: "done" });
    expect(company.rows("salesInvoices")).toHaveLength(1);
  });

  test.each(["invoices", "bills"])(
    "of %s without a due date is due at once: Business Central would take the party's terms",
    async (sink) => {
      const company = await openCompany();
      const document = sink === "bills" ? billDocument : invoiceDocument;
      const item = itemOf(document("FL-1", { dueDate: null }));
      expect(await sent(company, sink, item)).toMatchObject({ outcome: "done" });
      const [row] = posted(company, sink === "bills" ? "purchaseInvoices" : "salesInvoices");
      expect(row?.["dueDate"]).toBe(TODAY);
    },
  );

  test("carries the dimensions of the configuration", async () => {
    const company = await openCompany();
    company.needsDimension = true;
    const dimensions = { first: "FUEL", second: "SOUTH" };
    expect(await sent(company, "invoices", first, { dimensions })).toMatchObject({
      outcome: "done",
    });
    const shortcuts = { shortcutDimension1Code: "FUEL", shortcutDimension2Code: "SOUTH" };
    expect(posted(company)).toMatchObject([shortcuts]);
  });

  test("carries the dimensions of its items and accounts on their lines, its taxes' too", async () => {
    const company = await openCompany();
    company.needsDimension = true;
    const lines = { "ulsd-clr": { TERMINAL: "SA", FUEL: "CLEAR" }, "22350": { TERMINAL: "SA" } };
    const named = { dimensions: { lines } };
    expect(await sent(company, "invoices", first, named)).toMatchObject({
      outcome: "refused",
      fault: { code: "not-in-business-central", message: expect.stringContaining("TERMINAL") },
    });
    for (const code of ["TERMINAL", "FUEL"]) company.enter("dimensions", { code });
    for (const code of ["SA", "CLEAR"]) company.enter("dimensionValues", { code });
    expect(await sent(company, "invoices", first, named)).toMatchObject({ outcome: "done" });
    const booked = posted(company)[0]?.["salesInvoiceLines"] as Record<string, unknown>[];
    const shown = booked
      .filter(({ lineType }) => lineType !== "Comment")
      .map(({ lineObjectNumber, dimensionSetLines }) => [lineObjectNumber, dimensionSetLines]);
    const terminal = { code: "TERMINAL", valueCode: "SA" };
    expect(shown).toEqual([
      ["ULSD-CLR", [terminal, { code: "FUEL", valueCode: "CLEAR" }]],
      ["22350", [terminal]],
    ]);
  });

  test("whose line has another dimension there is told, before it is posted and after", async () => {
    const company = await openCompany();
    for (const code of ["TERMINAL", "FUEL"]) company.enter("dimensions", { code });
    for (const code of ["SA", "EP", "CLEAR"]) company.enter("dimensionValues", { code });
    const named = { dimensions: { lines: { "ulsd-clr": { terminal: "SA", FUEL: "CLEAR" } } } };
    const value = (code: string, valueCode: string) => ({ code, valueCode });
    const its = (): Record<string, unknown> => {
      const [row] = company.rows("salesInvoices");
      const [line = {}] = (row?.["salesInvoiceLines"] ?? []) as Record<string, unknown>[];
      return line;
    };
    const own = [value("FUEL", "CLEAR"), value("DEPARTMENT", "WHOLESALE")];
    company.before = {
      path: POST,
      act: () => void (its()["dimensionSetLines"] = [...own, value("TERMINAL", "SA")]),
    };
    // Its customer's own dimension is nobody's difference.
    expect(await sent(company, "invoices", first, named)).toMatchObject({ outcome: "done" });
    const sink = opened(company, named).sinks["invoices"] as Sink;
    const delivered = {
      id: first.id,
      counterpart: String(company.rows("salesInvoices")[0]?.id),
      body: sink.freeze([first]).body,
    };
    expect(await sink.inspect?.([delivered], never)).toEqual([{ is: "there", differences: [] }]);
    its()["dimensionSetLines"] = [...own, value("TERMINAL", "EP")];
    const held = "FUEL CLEAR, TERMINAL EP";
    const difference = { field: "lines.1.dimensions", expected: "FUEL CLEAR, TERMINAL SA", held };
    expect(await sink.inspect?.([delivered], never)).toEqual([
      { is: "there", differences: [difference] },
    ]);
    const { holdings } = opened(company, named);
    const [there] = (await holdings?.get("invoice", [delivered.counterpart], never)) ?? [];
    const [wanted] = (await holdings?.expect("invoice", [first], never)) ?? [];
    const facts = wanted !== undefined && "facts" in wanted ? wanted.facts : {};
    expect(compare("invoice", facts, there?.facts ?? {}, { group: "content" })).toEqual([
      difference,
    ]);
    // Nothing is asked for where the configuration names none.
    company.asked.length = 0;
    await found(company, "invoices", first);
    expect(company.asked.join("\n")).not.toContain("dimensionSetLines");
  });

  test("of two vendors may have one number", async () => {
    const company = await openCompany();
    const other = { code: "VEND-2", name: "Gulf Meridian", companyId: idOf("company-2") };
    const [one, two] = [billDocument("77"), billDocument("77", { id: idOf("b2"), party: other })];
    expect(await sent(company, "bills", itemOf(one))).toMatchObject({ outcome: "done" });
    expect(await sent(company, "bills", itemOf(two))).toMatchObject({ outcome: "done" });
    expect(posted(company, "purchaseInvoices")).toHaveLength(2);
  });

  test("that waits as a draft takes a new due date and is posted by a person", async () => {
    const company = await openCompany();
    const draft = { posting: "draft" };
    const answer = await sent(company, "invoices", first, draft);
    expect(answer).toMatchObject({ outcome: "done", detail: "S-INV1003 draft" });
    const later = itemOf(invoiceDocument("FL-1", { dueDate: "2026-12-31" }));
    expect(await sent(company, "invoices", later, draft)).toMatchObject({ outcome: "done" });
    expect(company.rows("salesInvoices")).toMatchObject([
      { status: "Draft", dueDate: "2026-12-31" },
    ]);
  });
});

describe("payments", () => {
  const booked = async (company: Company, sink: "invoices" | "bills", more: object = {}) => {
    const document = sink === "bills" ? billDocument("R-1", more) : invoiceDocument("FL-1", more);
    const { ids } = await sent(company, sink, itemOf(document));
    return ids?.[0] ?? "";
  };

  test("of a bill debit the vendor, and the bill is paid by the platform", async () => {
    const company = await openCompany();
    const bill = await booked(company, "bills");
    const amount = Decimal.of("19934.08");
    const texts = { reference: "4".repeat(36), description: "d".repeat(101) };
    const pay = itemOf(paymentDocument("pay-1", bill, { type: "in", amount, ...texts }));
    expect(await sent(company, "payments", pay)).toMatchObject({ outcome: "done" });
    expect(posted(company, "purchaseInvoices")).toMatchObject([{ status: "Paid" }]);
    const paid = itemOf(billDocument("R-1", { status: "paid", paidDate: TODAY }));
    expect(await sent(company, "bills", paid)).toMatchObject({ outcome: "done" });
    expect(company.rows("generalLedgerEntries")).toHaveLength(2);
  });

  test("that settle an invoice as one are posted once, whatever answer is lost", async () => {
    const paid = itemOf(invoiceDocument("FL-1", { status: "paid", paidDate: TODAY }));
    for (let step = 1, over = false; !over; step++) {
      const company = await openCompany();
      company.loses = step;
      await sent(company, "invoices", paid);
      over = company.loses > 0;
      company.loses = 0;
      expect(await sent(company, "invoices", paid), `step ${step}`).toMatchObject({
        outcome: "done",
      });
      expect(posted(company)).toMatchObject([{ status: "Paid" }]);
      expect(company.rows("generalLedgerEntries"), `step ${step}`).toHaveLength(2);
      expect(company.rows("customerPayments")).toEqual([]);
    }
  });

  test("of the platform that somebody took off an invoice are not made a second time: a person is told which one", async () => {
    const company = await openCompany();
    const invoice = await booked(company, "invoices");
    const amount = Decimal.of("19934.08");
    const pay = itemOf(paymentDocument("pay-1", invoice, { amount }));
    expect(await sent(company, "payments", pay)).toMatchObject({ outcome: "done" });
    const [row] = posted(company);
    company.edit("salesInvoices", String(row?.["id"]), { status: "Open", remainingAmount: amount });
    const paid = itemOf(invoiceDocument("FL-1", { status: "paid", paidDate: TODAY }));
    expect(await sent(company, "invoices", paid)).toMatchObject({
      outcome: "refused",
      fault: { code: "paid-by-others", message: expect.stringContaining("19,934.08 of R") },
    });
    expect(company.rows("generalLedgerEntries")).toHaveLength(2);
    expect(company.rows("customerPayments")).toEqual([]);
  });

  test("that somebody took off an invoice are not made a second time either where only all of them come to it", async () => {
    const company = await openCompany();
    const invoice = await booked(company, "invoices");
    for (const [at, amount] of ["15000.00", "4934.08"].entries()) {
      const pay = paymentDocument(`pay-${at}`, invoice, { amount: Decimal.of(amount) });
      expect(await sent(company, "payments", itemOf(pay))).toMatchObject({ outcome: "done" });
    }
    const [row] = posted(company);
    const remainingAmount = Decimal.of("19934.08");
    company.edit("salesInvoices", String(row?.["id"]), { status: "Open", remainingAmount });
    const paid = itemOf(invoiceDocument("FL-1", { status: "paid", paidDate: TODAY }));
    expect(await sent(company, "invoices", paid)).toMatchObject({
      fault: {
        code: "paid-by-others",
        message: expect.stringMatching(/ 15,000\.00 of R\w+ and 4,934\.08 of R\w+,/) as string,
      },
    });
    expect(company.rows("generalLedgerEntries")).toHaveLength(4);
  });

  test("that settle an invoice as one and are refused leave no line behind: it would stop all others", async () => {
    const company = await openCompany();
    await booked(company, "invoices");
    company.closedBefore = "2099-01-01";
    const paid = itemOf(invoiceDocument("FL-1", { status: "paid", paidDate: TODAY }));
    expect(await sent(company, "invoices", paid)).toMatchObject({
      outcome: "refused",
      fault: { code: "closed-period" },
    });
    expect(company.rows("customerPayments")).toEqual([]);
  });

  test("are not refused for another line of ours, which names an invoice that is closed: they wait for it", async () => {
    const company = await openCompany();
    const invoice = await booked(company, "invoices");
    const [journal] = company.rows("customerPaymentJournals");
    const { id: closed } = enterInvoice(company);
    company.edit("salesInvoices", closed, { remainingAmount: Decimal.zero, status: "Paid" });
    const left = company.enter("customerPayments", {
      journalId: journal?.id,
      documentNumber: "R0000000000100000001",
      description: `payment:${idOf("pay-9")} ACH`,
      amount: Decimal.of("-5"),
      appliesToInvoiceId: closed,
    });
    const pay = itemOf(paymentDocument("pay-1", invoice));
    expect(await sent(company, "payments", pay)).toMatchObject({
      outcome: "unknown",
      detail: expect.stringContaining("R0000000000100000001"),
    });
    expect(company.rows("customerPayments")).toMatchObject([{ id: left.id }]);
    company.delete("customerPayments", left.id);
    // Ours is there, and that line comes behind it.
    company.says = { path: POST, status: 503, code: "busy" };
    expect(await sent(company, "payments", pay)).toMatchObject({ outcome: "unknown" });
    const { id: behind } = company.enter("customerPayments", left);
    const waits = { outcome: "nothing", waitMs: 30_000 };
    expect(await sent(company, "payments", pay)).toMatchObject(waits);
    expect(company.rows("customerPayments")).toHaveLength(2);
    company.delete("customerPayments", behind);
    expect(await sent(company, "payments", pay)).toMatchObject({ outcome: "done" });
  });

  test("are not posted with what a person has put into the journal", async () => {
    const company = await openCompany();
    const invoice = await booked(company, "invoices");
    const [journal] = company.rows("customerPaymentJournals");
    company.enter("customerPayments", { journalId: journal?.id, description: "by hand" });
    const pay = itemOf(paymentDocument("pay-1", invoice));
    expect(await sent(company, "payments", pay)).toMatchObject({
      outcome: "refused",
      fault: { code: "journal-shared", message: expect.stringContaining("by hand") },
    });
    expect(company.rows("customerPayments")).toMatchObject([{ description: "by hand" }]);
    expect(company.rows("generalLedgerEntries")).toEqual([]);
  });

  test("are not posted with a line that the API does not show, which stands in the journal before them", async () => {
    const company = await openCompany();
    const invoice = await booked(company, "invoices");
    const [journal] = company.rows("customerPaymentJournals");
    const hidden = { isHidden: true, amount: Decimal.of("-5"), appliesToInvoiceId: invoice };
    const { id } = company.enter("customerPayments", { journalId: journal?.id, ...hidden });
    const pay = itemOf(paymentDocument("pay-1", invoice));
    expect(await sent(company, "payments", pay)).toMatchObject({
      outcome: "refused",
      fault: { code: "journal-shared", next: expect.stringContaining("until it is empty") },
    });
    expect(company.rows("generalLedgerEntries")).toEqual([]);
    company.delete("customerPayments", id);
    company.delete("customerPayments", company.rows("customerPayments")[0]?.id ?? "");
    expect(await sent(company, "payments", pay)).toMatchObject({ outcome: "done" });
  });

  test("in a journal that is not there stop, with the next step", async () => {
    const company = await openCompany();
    const invoice = await booked(company, "invoices");
    const journals = { received: "NONE", made: "NONE" };
    const pay = itemOf(paymentDocument("pay-1", invoice));
    expect(await sent(company, "payments", pay, { journals })).toMatchObject({
      outcome: "nothing",
      stop: "scope",
    });
  });

  test.each([
    ["ask", {}, '"clearedBy":"19934.08 without a payment"'],
    ["money", { unseenPayments: "money" }, '"clearedBy":"money"'],
  ] as const)("that people entered are told as the setting says: %s", async (_, more, says) => {
    const company = await openCompany();
    const id = await booked(company, "invoices");
    company.edit("salesInvoices", id, { status: "Paid", remainingAmount: Decimal.zero });
    const [change] = await told(company, "invoices", more);
    expect(change?.text).toContain(says);
    expect(change?.text).toContain('"state":"paid"');
  });

  test("ours are told as the platform's, and a credit memo by its number", async () => {
    const company = await openCompany();
    const id = await booked(company, "invoices");
    await sent(company, "payments", itemOf(paymentDocument("pay-1", id)));
    const [row] = posted(company);
    const amount = Decimal.of("19834.08");
    company.enter("salesCreditMemos", {
      customerNumber: "CUST-1",
      invoiceNumber: row?.["number"],
      number: "PS-CR7",
      salesCreditMemoLines: [
        {
          lineType: "Account",
          lineObjectNumber: "40100",
          quantity: Decimal.of("1"),
          unitPrice: amount,
        },
      ],
    });
    company.edit("salesInvoices", id, { status: "Paid", remainingAmount: Decimal.zero });
    const [change] = await told(company, "invoices");
    expect(change?.text).toContain('"clearedBy":"credit memo PS-CR7 of 19834.08"');
    expect(change?.text).toContain('"paidByPlatform":false');
  });
});

describe.each(["sale", "purchase"] as const)("a %s order", (type) => {
  const isSale = type === "sale";
  const set = isSale ? "salesOrders" : "purchaseOrders";
  const order = itemOf(orderDocument("SO-1", { type }));
  const booked = async (company: Company) => {
    const { ids } = await sent(company, "orders", order);
    const sink = opened(company).sinks["orders"] as Sink;
    const body = sink.freeze([order]).body;
    return { id: order.id, counterpart: ids?.[0] ?? "", body };
  };
  const inspected = async (company: Company, delivered: Awaited<ReturnType<typeof booked>>) => {
    const sink = opened(company).sinks["orders"] as Sink;
    return (await sink.inspect?.([delivered], never))?.[0];
  };

  test("is made when it is confirmed, once, and one that a person deleted is told as gone", async () => {
    const company = await openCompany();
    const draft = itemOf(orderDocument("SO-1", { type, status: "draft" }));
    expect(await sent(company, "orders", draft)).toMatchObject({ outcome: "done" });
    expect(company.rows(set)).toEqual([]);
    const delivered = await booked(company);
    expect(company.rows(set)).toHaveLength(1);
    expect(await sent(company, "orders", order)).toMatchObject({
      outcome: "done",
      ids: [delivered.counterpart],
    });
    expect(company.rows(set)).toHaveLength(1);
    expect(await inspected(company, delivered)).toEqual({ is: "there", differences: [] });
    company.delete(set, company.rows(set)[0]?.id ?? "");
    expect(await inspected(company, delivered)).toEqual({ is: "gone" });
  });

  test.each([false, true])(
    "that people post is told, because its goods move twice, and never made again (invoiced too: %s)",
    async (isInvoiced) => {
      const company = await openCompany();
      const delivered = await booked(company);
      company.ship(set, company.rows(set)[0]?.id ?? "", isInvoiced);
      const before = company.rows(set).length;
      const bound = { ...order, counterpart: delivered.counterpart };
      expect(await sent(company, "orders", bound)).toMatchObject({ outcome: "done" });
      expect(company.rows(set)).toHaveLength(before);
      expect(await inspected(company, delivered)).toMatchObject({
        is: "there",
        differences: [{ field: "state", held: expect.stringContaining("once more") }],
      });
    },
  );

  test("moves no goods: the platform's document moves them once, as its shipment or receipt", async () => {
    const company = await openCompany();
    await booked(company);
    const moved = () => company.moved(isSale ? "salesShipments" : "purchaseReceipts");
    expect(moved()).toEqual({});
    const [sink, document] = isSale
      ? ["invoices", invoiceDocument("FL-1")]
      : ["bills", billDocument("R-1")];
    for (let time = 0; time < 2; time++)
      expect(await sent(company, sink, itemOf(document))).toMatchObject({ outcome: "done" });
    const gallons = document.lines.flatMap(({ product, quantity }) =>
      product === null ? [] : quantity.plain(),
    );
    expect(moved()).toEqual({ "ULSD-CLR": gallons[0] });
    expect(gallons).toHaveLength(1);
  });
});

test("an invoice that people made from the platform's order is told as theirs, not as the platform's own", async () => {
  const company = await openCompany();
  await sent(company, "orders", itemOf(orderDocument("SO-1")));
  company.ship("salesOrders", company.rows("salesOrders")[0]?.id ?? "", true);
  const [change] = await told(company, "invoices");
  expect(change?.text).toContain('"platformId":null');
});

test("no flow can bring delivery tickets: nothing in the API ships or receives without an invoice", () => {
  const config = businessCentral.config.parse(settings({ url: "http://127.0.0.1:9" } as Company));
  const { sinks } = businessCentral.offers(config, ".");
  expect(Object.keys(sinks)).toEqual(["orders", "invoices", "bills", "payments"]);
});

test("a payment is found though its invoice was booked anew under another id", async () => {
  const company = await openCompany();
  const { ids } = await sent(company, "invoices", first);
  const pay = (invoice: string) => itemOf(paymentDocument("pay-1", invoice));
  const before = await sent(company, "payments", pay(ids?.[0] ?? ""));
  const { id } = enterInvoice(company);
  expect(await sent(company, "payments", pay(id))).toMatchObject({
    outcome: "done",
    ids: before.ids,
  });
  expect(company.rows("generalLedgerEntries")).toHaveLength(2);
});

const SMALL = { party: { code: "cust-1", name: "Ranch Supply", companyId: idOf("company-1") } };
const [TAX] = invoiceDocument("FL-1").taxes as [InvoiceDocument["taxes"][0]];
test.each([
  ["orders", "no-date", orderDocument("SO-1", { type: "purchase", date: null })],
  ["orders", "no-code", orderDocument("SO-1", SMALL)],
  ["invoices", "no-code", invoiceDocument("FL-1", SMALL)],
  [
    "invoices",
    "text-too-long",
    invoiceDocument("FL-1", { taxes: [{ ...TAX, description: "t".repeat(101) }] }),
  ],
  ["bills", "number-too-long", billDocument("R".repeat(36))],
] as const)(
  "a document of %s is refused before a request is made: %s",
  async (sink, code, document) => {
    const company = await openCompany();
    await expect(sent(company, sink, itemOf(document))).rejects.toMatchObject({ fault: { code } });
    expect(company.asked).toEqual([]);
  },
);

test("a void bill is credited in full by a credit memo that is applied to it, once, with the dimensions of every document", async () => {
  const company = await openCompany();
  company.needsDimension = true;
  const dimensions = { dimensions: { first: "FUEL" } };
  const bill = itemOf(billDocument("R-1"));
  const gone = itemOf(billDocument("R-1", { status: "void", endedDate: "2026-11-25" }));
  for (const one of [bill, gone, gone])
    expect(await sent(company, "bills", one, dimensions)).toMatchObject({ outcome: "done" });
  expect(company.rows("purchaseCreditMemos")).toMatchObject([
    {
      status: "Paid",
      creditMemoDate: "2026-11-25",
      totalAmountIncludingTax: Decimal.of("19934.08"),
    },
  ]);
});

test("reconciliation is told what people changed, by list, by id and by number", async () => {
  const company = await openCompany();
  const { ids = [] } = await sent(company, "invoices", first);
  const [id = ""] = ids as string[];
  const holdings = opened(company).holdings;
  const [wanted] = (await holdings?.expect("invoice", [first], never)) ?? [];
  const differing = async (): Promise<string[]> => {
    const [one] = (await holdings?.get("invoice", [id], never)) ?? [];
    const expected = wanted !== undefined && "facts" in wanted ? wanted.facts : {};
    return compare("invoice", expected, one?.facts ?? {}).map(({ field }) => field);
  };
  expect(await differing()).toEqual([]);
  const scopes = [
    { dated: { from: TODAY, to: TODAY }, changedSince: null, open: false },
    { dated: null, changedSince: "1970-01-01T00:00:00.000Z", open: false },
    { dated: null, changedSince: null, open: true },
  ];
  for (const scope of scopes) {
    const listed: (string | null)[] = [];
    for await (const page of holdings?.list("invoice", scope, null, never) ?? [])
      listed.push(...page.holdings.map(({ mark }) => mark));
    expect(listed).toEqual([first.id]);
  }
  const number = String(posted(company)[0]?.["number"]);
  expect(await holdings?.named?.("invoice", [number], never)).toMatchObject([{ id }]);
  const planted: readonly (readonly [object, string])[] = [
    [{ customerNumber: "CUST-2" }, "party"],
    [{ dueDate: "2027-01-01" }, "days.due"],
    [{ totalAmountIncludingTax: Decimal.of("19934.09") }, "money.total"],
    [{ customerPurchaseOrderReference: "PO 1" }, "order"],
  ];
  for (const [values, field] of planted) {
    const backup = company.backup();
    company.edit("salesInvoices", id, values);
    expect(await differing()).toEqual([field]);
    company.restore(backup);
  }
});
