/**
 * The whole road with QuickBooks Online at its end: the program's own code, the platform, and a company that is asked
 * beside both. Each test starts from a site that one run has brought in step, with a quarter of the demo's month.
 *
 * @module-tag numbers
 */
import { describe, expect, test } from "vitest";
import type { Record_ } from "../../connectors/quickbooks-online/company.fixture.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Status } from "../../src/office/answers.ts";
import { expectNoWrites, leaveFew, storyOf } from "../support/books-site.ts";
import { ONE_WAITS, SAID_IN_STEP } from "../support/in-step.ts";
import { confirmedOrders, ownOnPlatform, pricesAt, purchaseSome } from "../support/on-platform.ts";
import { type Bill, bookedOf, changeOnPlatform } from "../tryton/bills.ts";
import { dayOf, expected, text } from "../tryton/ledger.ts";
import type { OwnInvoice } from "../tryton/office.ts";
import { figuresOf, marksIn, ordersIn, ordersWanted } from "./ledger.ts";
import { type Members, type OnlineSite, openOnlineSite } from "./site.ts";

const SLOW = 600_000;
/** Of the demo that count in books, after {@link leaveFew}, and those of them that are purchases. */
const ORDERS = 82;
const PURCHASES = 6;
const TERMINAL = "T-76-TX-2799";
const KNOWN = { name: "A-1001", companyId: "0942f541-2340-4858-9502-8b0979809fca" };
const FEED = "Brazos Gin & Feed";

describe("the platform and QuickBooks Online", { timeout: SLOW }, () => {
  const today = dayOf(new Date().toISOString());
  let made: readonly OwnInvoice[];
  const { firstRun, inStep } = storyOf(openOnlineSite, async (site) => {
    await leaveFew(site, { invoice: (id) => /^[0-3]/.test(id), order: /^[0-3]/ });
    // Some of the orders are purchases.
    await purchaseSome(site, PURCHASES);
    made = enterInQuickbooks(site, today);
  });

  test("one run brings both sides in step, and the books say what the platform's records add up to", async () => {
    const site = await inStep();
    expect(firstRun()).toMatchObject(SAID_IN_STEP);
    expect(await site.causes()).toEqual([]);
    const { flows, stops } = await site.ask<Status>("status");
    expect(stops).toEqual([]);
    const told = flows.map(({ name, delivered, echoes }) => [name, delivered, echoes]);
    expect(told).toEqual([
      ["rack-prices", 2, 0],
      ["invoices-issued", 63, 0],
      ["invoices-payable", 13, 0],
      ["payments-received", 38, 0],
      ["payments-made", 8, 0],
      ["orders", ORDERS, 0],
      ["customers", 1, 0],
      ["suppliers", 1, 0],
      ["invoices", 3, 63],
      ["paid-invoices", 1, 0],
    ]);
    await expectEqualBooks(site, made);
  });

  test("each payment of the platform is in the books as itself, with its reference", async () => {
    const site = await inStep();
    const records = await site.records("payments");
    const rows = [...site.books.rows("Payment"), ...site.books.rows("BillPayment")];
    const notes = rows.map(({ PrivateNote }) => String(PrivateNote));
    const succeeded = records.filter(({ status }) => status === "SUCCEEDED");
    for (const { id, reference } of succeeded)
      expect(notes.filter((note) => note.startsWith(`payment:${text(id)} `))).toEqual([
        expect.stringContaining(reference === null ? "" : text(reference)),
      ]);
    // One more: what somebody paid at the counter.
    expect(rows).toHaveLength(succeeded.length + 1);
  });

  test("what was made in QuickBooks is on the platform once, at its total, and paid where it was settled", async () => {
    const site = await inStep();
    const payer = (await site.records("connections")).find(({ erpId }) =>
      site.books
        .rows("Customer")
        .some((row) => row["DisplayName"] === FEED && erpId === `C-${row.Id}`),
    );
    expect(await ownOnPlatform(site, made)).toEqual(
      made.map((one) => [
        one.number,
        one.party === KNOWN.name ? KNOWN.companyId : payer?.["toCompanyId"],
        one.total.fixed(2),
        one.paid ? "PAID" : "OUTSTANDING",
      ]),
    );
    expect(await pricesAt(site, TERMINAL)).toEqual({ "ULSD-CLR": "2.413755", "UNL-87": "2.19127" });
  });

  test("each order of the platform is in QuickBooks once, with its gallons and its cents, and in no account", async () => {
    const { books: company, ...site } = await inStep();
    const wanted = ordersWanted(await confirmedOrders(site));
    expect(wanted).toHaveLength(ORDERS);
    expect(ordersIn(company)).toEqual(wanted);
    expect(company.rows("PurchaseOrder")).toHaveLength(PURCHASES);
    const states = [...company.rows("Estimate"), ...company.rows("PurchaseOrder")].map(
      ({ TxnStatus, POStatus }) => TxnStatus ?? POStatus,
    );
    expect(new Set(states)).toEqual(new Set(["Accepted", "Open"]));
  });

  test("further runs write nothing to either side: what we wrote is known when it comes by", async () => {
    await expectNoWrites(await inStep(), SAID_IN_STEP, 2);
  });

  test("what is deleted in QuickBooks after the platform was told of it is for an accountant, once", async () => {
    const site = await inStep();
    const [open, paid] = [false, true].map((isPaid) => made.find((one) => one.paid === isPaid));
    site.books.stampsPaid = false;
    const payment = site.books
      .rows("Payment")
      .find((row) => JSON.stringify(row["Line"]).includes(`"TxnId":"${paid?.id}"`));
    site.books.delete("Invoice", String(open?.id));
    site.books.delete("Payment", payment?.Id ?? "");
    for (let run = 0; run < 2; run++) {
      await site.here("once");
      expect(await site.causes()).toEqual([
        expect.stringMatching(
          /^cancelled-after-delivery: delivered as FL-\d+: the invoice is "deleted" in the ERP/,
        ),
        expect.stringMatching(/^unpaid-after-delivery: the invoice is "posted" in the ERP/),
      ]);
    }
  });

  test("orders that change on both sides: a new one arrives, a booked one is for a person, one closed there is done", async () => {
    const site = await inStep();
    const { books: company, control } = site;
    const confirmed = await confirmedOrders(site);
    const [cancelled, closed, bought] = [
      confirmed.find((one) => isSale(one)),
      confirmed.findLast((one) => isSale(one)),
      confirmed.find((one) => !isSale(one)),
    ].map((one) => text(one?.["id"]));
    const orders = await site.records("orders?key=supplier");
    const posted = orders.find(({ status }) => status === "POSTED");
    const before = ordersIn(company);
    await control.patch("orders", posted?.["id"], { status: "CONFIRMED" });
    for (const id of [cancelled, closed, bought])
      await control.patch("orders", id, { status: "CANCELLED" });
    const estimate = company
      .rows("Estimate")
      .find(({ PrivateNote }) => String(PrivateNote).includes(`platform:${closed}`));
    company.edit("Estimate", estimate?.Id ?? "", { TxnStatus: "Rejected" });
    for (let run = 0; run < 2; run++) {
      await site.here("once");
      expect(await site.causes()).toEqual([
        expect.stringMatching(/^cancelled-after-confirmation: .*, and others like it$/),
      ]);
    }
    // No order that was booked has another gallon or cent.
    expect(ordersIn(company)).toEqual(
      [...before, ...ordersWanted(posted === undefined ? [] : [posted])].toSorted(),
    );
    await expectNoWrites(site, {});
    await expectEqualBooks(site, made);
  });

  test("changes on both sides: all of them arrive, and posted money is never changed", async () => {
    const site = await inStep();
    const { books: company } = site;
    const issued = (await bookedOf(site, "out")).slice(0, 7);
    const [part, full, taken, corrected, counter, disputed, lone] = issued as [
      Bill,
      Bill,
      Bill,
      Bill,
      Bill,
      Bill,
      Bill,
    ];
    const [bill] = (await bookedOf(site, "in")) as [Bill];
    const rowOf = ({ id }: Bill): Record_ => {
      const row = company
        .rows("Invoice")
        .find(({ PrivateNote }) => String(PrivateNote).includes(`platform:${id}`));
      if (row === undefined) throw new Error(`no invoice ${id}`);
      return row;
    };
    const changing = { part, full, lone, taken, disputed, corrected, bill };
    const asBooked = await changeOnPlatform(site, changing);
    company.settle(rowOf(counter), today);
    const regular = company.rows("Item").find(({ Name }) => Name === "087");
    company.edit("Item", regular?.Id ?? "", { UnitPrice: Decimal.of("2.2005") });
    const comal = company.enter("Customer", { DisplayName: "Comal Ready Mix" });
    const own = [...made, newInvoice(site, comal, today, "FL-9004", ["300", "2.4999"])];

    const waiting = { code: 0, out: ONE_WAITS };
    expect(await site.here("once")).toMatchObject(waiting);
    expect(await site.here("once")).toMatchObject(waiting);
    expect(await site.causes()).toEqual([
      expect.stringMatching(/^amount-changed-after-posting: the amount changed from \d/),
    ]);
    await expectEqualBooks(site, own, asBooked);
    expect(rowOf(taken)).toMatchObject({ PrivateNote: expect.stringMatching(/^Voided/) });
    const open = [lone, part, full, counter, disputed].map((one) => rowOf(one)["Balance"]);
    expect(open.map((balance) => (balance as Decimal).sign)).toEqual([1, 1, 0, 0, 1]);
    const now = await site.records("invoices");
    expect(now.find(({ id }) => id === counter.id)).toMatchObject({ status: "PAID" });
    expect(await ownOnPlatform(site, own)).toHaveLength(4);
    expect(await pricesAt(site, TERMINAL)).toEqual({ "ULSD-CLR": "2.413755", "UNL-87": "2.2005" });
    await expectNoWrites(site, waiting);
  });
});

async function expectEqualBooks(
  site: OnlineSite,
  own: readonly OwnInvoice[],
  asBooked: ReadonlyMap<string, Members> = new Map(),
): Promise<void> {
  expect(figuresOf(site.books, site.folder)).toEqual(await expected(site, asBooked, own));
  const marks = marksIn(site.books);
  expect(marks.filter((mark, at) => marks.indexOf(mark) !== at)).toEqual([]);
}

const isSale = ({ lines }: Members): boolean =>
  (lines as readonly Members[]).some(({ sellPrice }) => sellPrice !== null);

/** A customer whom the platform knows, one whom it does not, a vendor, an invoice each and one that is paid, and two prices. */
function enterInQuickbooks(site: OnlineSite, today: string): OwnInvoice[] {
  const { books } = site;
  const known = books.enter("Customer", {
    DisplayName: KNOWN.name,
    Notes: `platform:${KNOWN.companyId}`,
  });
  const feed = books.enter("Customer", { DisplayName: FEED });
  books.enter("Vendor", { DisplayName: "Gulf Terminal Supply" });
  const first = newInvoice(site, known, today, "FL-9001", ["7500.5", "2.4137"]);
  const open = newInvoice(site, feed, today, "FL-9002", ["812.25", "2.5"]);
  const paid = newInvoice(site, feed, today, "FL-9003", ["120", "2.613"]);
  const row = books.rows("Invoice").at(-1);
  if (row !== undefined) books.settle(row, today);
  for (const [name, price] of [
    ["ULSD-CLR", "2.413755"],
    ["087", "2.19127"],
  ] as const) {
    const item = books.rows("Item").find(({ Name }) => Name === name);
    books.edit("Item", item?.Id ?? "", { UnitPrice: Decimal.of(price) });
  }
  return [first, open, { ...paid, paid: true }];
}

/** One line of diesel, a text and the subtotal. */
function newInvoice(
  { books }: OnlineSite,
  customer: Record_,
  date: string,
  DocNumber: string,
  [gallons, price]: readonly [string, string],
): OwnInvoice {
  const item = books.rows("Item").find(({ Name }) => Name === "ULSD-CLR");
  const [Qty, UnitPrice] = [Decimal.of(gallons), Decimal.of(price)];
  const total = Qty.times(UnitPrice).round(2);
  const party = String(customer["DisplayName"]);
  const row = books.enter("Invoice", {
    DocNumber,
    TxnDate: date,
    DueDate: date,
    CustomerRef: { value: customer.Id, name: party },
    Line: [
      {
        DetailType: "SalesItemLineDetail",
        Amount: total,
        Description: "ULSD, cash and carry",
        SalesItemLineDetail: {
          ItemRef: { value: item?.Id, name: "ULSD-CLR" },
          Qty,
          UnitPrice,
        },
      },
      // As QuickBooks shows it.
      { DetailType: "DescriptionOnly", Description: "Thank you", DescriptionLineDetail: {} },
      { DetailType: "SubTotalLineDetail", Amount: total, SubTotalLineDetail: {} },
    ],
  });
  return { id: Number(row.Id), number: DocNumber, party, date, total, paid: false };
}
