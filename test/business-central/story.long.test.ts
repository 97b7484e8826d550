/**
 * The whole road with Business Central at its end: the program's own code, the platform, and a company that is asked beside
 * both. Each test starts from a site that one run has brought in step.
 *
 * @module-tag numbers
 */
import { describe, expect, test } from "vitest";
import type { Row } from "../../connectors/business-central/company.fixture.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Status, Trace } from "../../src/office/answers.ts";
import { ordersWanted } from "../quickbooks-online/ledger.ts";
import { expectNoWrites, leaveFew, storyOf } from "../support/books-site.ts";
import { ONE_WAITS, SAID_IN_STEP } from "../support/in-step.ts";
import { confirmedOrders, ownOnPlatform, pricesAt, purchaseSome } from "../support/on-platform.ts";
import { type Bill, bookedOf, changeOnPlatform } from "../tryton/bills.ts";
import { dayOf, expected } from "../tryton/ledger.ts";
import type { OwnInvoice } from "../tryton/office.ts";
import { figuresOf, marksIn, ordersIn } from "./ledger.ts";
import { type CentralSite, type Members, openCentralSite, TERMINAL } from "./site.ts";

const SLOW = 900_000;
const PURCHASES = 3;
const FEED = "C10010";

describe("the platform and Business Central", { timeout: SLOW }, () => {
  const today = dayOf(new Date().toISOString());
  let made: readonly OwnInvoice[];
  const { firstRun, inStep } = storyOf(openCentralSite, async (site) => {
    await leaveFew(site, { invoice: (id) => /^[0-3]/.test(id), order: /^[01]/ });
    await purchaseSome(site, PURCHASES);
    made = enterByHand(site, today);
  });

  test("one run brings both sides in step, and the books say what the platform's records add up to", async () => {
    const site = await inStep();
    expect(firstRun()).toMatchObject(SAID_IN_STEP);
    expect(await site.causes()).toEqual([]);
    const { flows, stops } = await site.ask<Status>("status");
    expect(stops).toEqual([]);
    const told = new Map(flows.map(({ name, delivered, echoes }) => [name, [delivered, echoes]]));
    const issued = told.get("invoices-issued")?.[0] ?? 0;
    expect(issued).toBeGreaterThan(30);
    expect(told.get("invoices-payable")?.[0]).toBeGreaterThan(5);
    expect(told.get("payments-received")?.[0]).toBeGreaterThan(10);
    expect(told.get("payments-made")?.[0]).toBeGreaterThan(5);
    // What the platform brought is known when it comes by.
    expect(told.get("invoices")).toEqual([made.length, issued]);
    expect(told.get("paid-invoices")).toEqual([1, 0]);
    expect([told.get("customers"), told.get("suppliers"), told.get("rack-prices")]).toEqual([
      [1, expect.any(Number)],
      [1, expect.any(Number)],
      [2, 0],
    ]);
    await expectEqualBooks(site, made);
  });

  test("what was made in Business Central is on the platform once, at its total, and paid where it was settled", async () => {
    const site = await inStep();
    expect(await ownOnPlatform(site, made)).toEqual(
      made.map((one) => [
        one.number,
        expect.any(String),
        one.total.fixed(2),
        one.paid ? "PAID" : "OUTSTANDING",
      ]),
    );
    expect(await pricesAt(site, TERMINAL)).toEqual({ "ULSD-CLR": "2.41375", "UNL-87": "2.19127" });
  });

  test("each order is in Business Central once, with its gallons and its cents, and moves no goods", async () => {
    const site = await inStep();
    const wanted = ordersWanted(await confirmedOrders(site));
    expect(ordersIn(site.books)).toEqual(wanted);
    expect(site.books.rows("purchaseOrders")).toHaveLength(PURCHASES);
    const moved = [...site.books.rows("salesShipments"), ...site.books.rows("purchaseReceipts")];
    expect(moved.filter((row) => row["orderNumber"] !== "")).toEqual([]);
  });

  test("further runs write nothing to either side, and a bill is traced both ways", async () => {
    const site = await inStep();
    await expectNoWrites(site, SAID_IN_STEP, 2);
    const [bill] = site.books.rows("purchaseInvoices") as [Row];
    const mark = /platform:([\w-]+)/.exec(JSON.stringify(bill))?.[1] ?? "";
    for (const known of [String(bill["vendorInvoiceNumber"]), mark]) {
      const { steps } = await site.ask<Trace>("trace", known);
      const linked = steps.find(({ event }) => event === "linked");
      expect(linked).toMatchObject({ platformId: mark, erpId: bill.id });
    }
  });

  test("changes on both sides: all of them arrive, and posted money is never changed", async () => {
    const site = await inStep();
    const { books: company } = site;
    const [part, full, taken, corrected, counter, disputed, lone] = (await bookedOf(
      site,
      "out",
    )) as [Bill, Bill, Bill, Bill, Bill, Bill, Bill];
    const [bill] = (await bookedOf(site, "in")) as [Bill];
    const rowOf = ({ id }: Bill): Row => invoiceOf(site, id);
    const changing = { part, full, lone, taken, disputed, corrected, bill };
    const asBooked = await changeOnPlatform(site, changing);
    company.settle("salesInvoices", rowOf(counter).id);
    price(site, "087", "2.2005");
    const own = [...made, newInvoice(site, FEED, today, "PS-9004", ["300", "2.4999"])];

    const waiting = { code: 0, out: ONE_WAITS };
    for (let run = 0; run < 2; run++) expect(await site.here("once")).toMatchObject(waiting);
    expect(await site.causes()).toEqual([
      expect.stringMatching(/^amount-changed-after-posting: the amount changed from \d/),
    ]);
    await expectEqualBooks(site, own, asBooked);
    expect(rowOf(taken)).toMatchObject({ status: "Canceled" });
    const open = [lone, part, full, counter].map((one) => rowOf(one)["remainingAmount"]);
    expect(open.map((rest) => (rest as Decimal).sign)).toEqual([1, 1, 0, 0]);
    expect(await ownOnPlatform(site, own)).toHaveLength(own.length);
    expect(await pricesAt(site, TERMINAL)).toEqual({ "ULSD-CLR": "2.41375", "UNL-87": "2.2005" });
    await expectNoWrites(site, waiting);
  });

  test("reconciliation is clean, and names each planted difference", async () => {
    const site = await inStep();
    const { books: company } = site;
    const clean = await site.here("reconcile");
    expect(clean).toMatchObject({ code: 0, out: expect.stringContaining("Both sides agree") });
    const issued = company
      .rows("salesInvoices")
      .filter((row) => String(row["externalDocumentNumber"]).startsWith("FB"));
    const bills = company.rows("purchaseInvoices");
    const [amount, party, due, date, gone] = issued as [Row, Row, Row, Row, Row];
    const [bill, lost] = bills as [Row, Row];
    const cent = Decimal.of("0.01");
    const total = (row: Row) => (row["totalAmountIncludingTax"] as Decimal).plus(cent);
    company.edit("salesInvoices", amount.id, { totalAmountIncludingTax: total(amount) });
    company.edit("salesInvoices", party.id, { customerNumber: FEED });
    company.edit("salesInvoices", due.id, { dueDate: "2027-03-01" });
    company.edit("salesInvoices", date.id, { invoiceDate: "2026-01-02" });
    company.edit("purchaseInvoices", bill.id, { totalAmountIncludingTax: total(bill) });
    const number = String(lost["vendorInvoiceNumber"]);
    company.delete("salesInvoices", gone.id);
    company.delete("purchaseInvoices", lost.id);
    const [payment] = company.rows("generalLedgerEntries") as [Row];
    for (const entry of company.rows("generalLedgerEntries"))
      if (entry["documentNumber"] === payment["documentNumber"])
        company.edit("generalLedgerEntries", entry.id, { postingDate: "2026-01-03" });
    const { out } = await site.here("reconcile");
    for (const row of [amount, party, due, date, gone, bill])
      expect(out, String(row["number"])).toContain(calledOn(row));
    expect(out).toContain(number);
    for (const field of ["total", "party", "due", "date"]) expect(out).toContain(field);
  });
});

/** The platform's number of a document, which its comment line has. */
const calledOn = (row: Row): string =>
  /"invoice ([^"]+)"/.exec(JSON.stringify(row))?.[1] ?? String(row["vendorInvoiceNumber"]);

const invoiceOf = ({ books }: CentralSite, id: string): Row => {
  const mark = `FB${id.replaceAll("-", "").toUpperCase()}`;
  const row = books.rows("salesInvoices").find((one) => one["externalDocumentNumber"] === mark);
  if (row === undefined) throw new Error(`no invoice ${id}`);
  return row;
};

async function expectEqualBooks(
  site: CentralSite,
  own: readonly OwnInvoice[],
  asBooked: ReadonlyMap<string, Members> = new Map(),
): Promise<void> {
  expect(figuresOf(site.books, site.folder)).toEqual(await expected(site, asBooked, own));
  const marks = marksIn(site.books);
  expect(marks.filter((mark, at) => marks.indexOf(mark) !== at)).toEqual([]);
}

/** A customer and a vendor whom the platform does not know, two invoices, one that is paid, and two prices. */
function enterByHand(site: CentralSite, today: string): OwnInvoice[] {
  const { books } = site;
  books.enter("customers", { number: FEED, displayName: "Brazos Gin & Feed" });
  books.enter("vendors", { number: "V10010", displayName: "Gulf Terminal Supply" });
  const open = newInvoice(site, FEED, today, "PS-9002", ["812.25", "2.5"]);
  const paid = newInvoice(site, FEED, today, "PS-9003", ["120", "2.613"]);
  const row = books.rows("salesInvoices").at(-1);
  if (row !== undefined) books.settle("salesInvoices", row.id);
  price(site, "ULSD-CLR", "2.41375");
  price(site, "087", "2.19127");
  return [open, { ...paid, paid: true }];
}

function price({ books }: CentralSite, item: string, unitPrice: string): void {
  const row = books.rows("items").find(({ number }) => number === item);
  books.edit("items", row?.id ?? "", { unitPrice: Decimal.of(unitPrice) });
}

/** One line of diesel. */
function newInvoice(
  { books }: CentralSite,
  party: string,
  date: string,
  number: string,
  [gallons, each]: readonly [string, string],
): OwnInvoice {
  const [quantity, unitPrice] = [Decimal.of(gallons), Decimal.of(each)];
  books.enter("salesInvoices", {
    number,
    customerNumber: party,
    invoiceDate: date,
    postingDate: date,
    dueDate: date,
    salesInvoiceLines: [
      {
        lineType: "Item",
        lineObjectNumber: "ULSD-CLR",
        unitOfMeasureCode: "GAL",
        description: "ULSD, cash and carry",
        quantity,
        unitPrice,
      },
      { lineType: "Comment", description: "Thank you" },
    ],
  });
  return {
    id: 0,
    number,
    party,
    date,
    total: quantity.times(unitPrice).round(2, "away"),
    paid: false,
  };
}
