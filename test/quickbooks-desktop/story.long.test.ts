/**
 * The whole road with QuickBooks Desktop at its end: the program's own code, the platform, the Web Connector's protocol,
 * and a company file that is asked beside both. Each test starts from a site that one run has brought in step.
 *
 * @module-tag numbers
 */
import { describe, expect, test } from "vitest";
import { guidOf } from "../../connectors/quickbooks/text.ts";
import type { Row, Table } from "../../connectors/quickbooks-desktop/company-file.fixture.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Status } from "../../src/office/answers.ts";
import { expectNoWrites, leaveFew, type Members, storyOf } from "../support/books-site.ts";
import { SAID_IN_STEP } from "../support/in-step.ts";
import { confirmedOrders, ownOnPlatform } from "../support/on-platform.ts";
import { type Bill, bookedOf, changeOnPlatform } from "../tryton/bills.ts";
import { expected, number, text } from "../tryton/ledger.ts";
import { figuresOf, marksIn } from "./ledger.ts";
import {
  companyOf,
  enterInQuickbooks,
  FEED,
  KNOWN,
  type Made,
  newInvoice,
  priceOf,
  pricesOf,
} from "./own.ts";
import { type DesktopSite, openDesktopSite } from "./site.ts";

const SLOW = 600_000;

describe("the platform and QuickBooks Desktop", { timeout: SLOW }, () => {
  let made: readonly Made[];
  const { firstRun, inStep } = storyOf(openDesktopSite, async (site) => {
    // A fifth of the month; each document is some calls of the Web Connector.
    await leaveFew(site, { invoice: (id) => /^[0-2]/.test(id), order: /^a[0-3]/ });
    made = enterInQuickbooks(site);
  });

  test("one run brings both sides in step, and the books say what the platform's records add up to", async () => {
    const site = await inStep();
    expect(firstRun()).toMatchObject(SAID_IN_STEP);
    expect(await site.causes()).toEqual([]);
    const { flows, stops } = await site.ask<Status>("status");
    expect(stops).toEqual([]);
    for (const name of ["invoices-issued", "invoices-payable", "payments-received", "orders"])
      expect(flows.find((one) => one.name === name)?.delivered, name).toBeGreaterThan(3);
    const told = ["rack-prices", "customers", "suppliers", "invoices", "paid-invoices"];
    expect(told.map((name) => flows.find((one) => one.name === name)?.delivered)).toEqual([
      3, 1, 0, 3, 1,
    ]);
    await expectEqualBooks(site, made);
  });

  test("what was made in QuickBooks is on the platform once, at its total, and paid where it was settled", async () => {
    const site = await inStep();
    const feed = site.books.rows("Customer").find(({ fields }) => fields["Name"] === FEED) as Row;
    const payer = await companyOf(site, feed);
    expect(payer).toBeDefined();
    expect(await ownOnPlatform(site, made)).toEqual(
      made.map((one) => [
        one.number,
        one.party === KNOWN.name ? KNOWN.companyId : payer,
        one.total.fixed(2),
        one.paid ? "PAID" : "OUTSTANDING",
      ]),
    );
    expect(await pricesOf(site)).toMatchObject({
      "T-76-TX-2799 ULSD-CLR": "2.413755",
      "T-76-TX-2799 UNL-87": "2.19127",
      "T-75-TX-2688 ULSD-CLR": "2.5",
    });
  });

  test("further runs write nothing to either side: what we wrote is known when it comes by", async () => {
    await expectNoWrites(await inStep(), SAID_IN_STEP, 2);
  });

  test("what is void or deleted in QuickBooks after the platform was told of it is for an accountant, once", async () => {
    const site = await inStep();
    const { books: file } = site;
    const [voided, deleted, paid] = made as [Made, Made, Made];
    const row = file.rows("Invoice").find(({ id }) => id === voided.txn) as Row;
    row.isVoid = true;
    file.edit("Invoice", row.id, { Memo: "VOID:" });
    file.remove("Invoice", deleted.txn);
    const payments = file.rows("ReceivePayment");
    const payment = payments.find(({ applied }) => applied.some(({ to }) => to === paid.txn));
    file.remove("ReceivePayment", payment?.id ?? "");
    for (let run = 0; run < 2; run++) {
      await site.here("once");
      expect(await site.causes()).toEqual([
        expect.stringMatching(/^cancelled-after-delivery: /),
        expect.stringMatching(/^unpaid-after-delivery: the invoice is "posted" in the ERP/),
      ]);
      const { groups } = await site.ask<{ groups: { code: string; count: number }[] }>(
        "quarantine",
        "list",
      );
      expect(groups.find(({ code }) => code === "cancelled-after-delivery")?.count).toBe(2);
    }
  });

  test("orders and tickets are in QuickBooks once, with the gallons of the platform", async () => {
    const { books: file, ...site } = await inStep();
    const wanted = await confirmedOrders(site);
    const orders = [...file.rows("SalesOrder"), ...file.rows("PurchaseOrder")];
    expect(orders.map(({ fields }) => fields["ExternalGUID"] ?? "").toSorted()).toEqual(
      wanted.map(({ id }) => guidOf(text(id))).toSorted(),
    );
    const ordered = wanted.flatMap(({ lines }) => lines as Members[]);
    expect(gallonsIn(orders)).toBe(
      Decimal.sum(ordered.map(({ quantity, gallons }) => number(quantity ?? gallons))).plain(),
    );
    const tickets = (await site.records("delivery-tickets?key=supplier")).filter(
      ({ status, receiverCompanyId }) =>
        status === "SIGNED" && receiverCompanyId === site.companyId,
    );
    const net = tickets.flatMap(({ productLines }) => productLines as Members[]);
    expect(file.rows("ItemReceipt")).toHaveLength(tickets.length);
    expect(gallonsIn(file.rows("ItemReceipt"))).toBe(
      Decimal.sum(net.map(({ net_gallons }) => number(net_gallons))).plain(),
    );
  });

  test("each payment of the platform is in the books as itself, with its reference", async () => {
    const site = await inStep();
    const succeeded = (await site.records("payments")).filter(
      ({ status }) => status === "SUCCEEDED",
    );
    const rows = [...site.books.rows("ReceivePayment"), ...site.books.rows("BillPaymentCheck")];
    for (const { id, reference } of succeeded)
      expect(
        rows.map(({ fields }) => fields["Memo"] ?? "").filter((memo) => memo.includes(text(id))),
      ).toEqual([expect.stringContaining(reference === null ? "" : text(reference))]);
    // One more: what somebody paid at the counter.
    expect(rows).toHaveLength(succeeded.length + 1);
  });

  test("changes on both sides: all of them arrive, posted money is never changed, and a further run writes nothing", async () => {
    const site = await inStep();
    const { books: file, control } = site;
    const was = await site.records("invoices");
    const issued = (await bookedOf(site, "out")).filter(
      (bill) => rowOf(site, "Invoice", bill.id) !== undefined,
    );
    const corrected = issued.find(({ id }) => isRoundedDown(was, id)) as Bill;
    const [part, full, taken, disputed, counter, lone] = issued.filter(
      (one) => one !== corrected,
    ) as [Bill, Bill, Bill, Bill, Bill, Bill];
    const [bill] = (await bookedOf(site, "in")).filter(
      ({ id }) => rowOf(site, "Bill", id) !== undefined,
    ) as [Bill];
    const changing = { part, full, lone, taken, disputed, corrected, bill };
    const asBooked = await changeOnPlatform(site, changing);
    // In QuickBooks, somebody takes a payment at the counter, writes an invoice, and enters prices.
    const atCounter = rowOf(site, "Invoice", counter.id) as Row;
    file.pay(atCounter.id, file.total(atCounter).fixed(2));
    file.enter("Customer", { Name: "Comal Ready Mix" });
    const later = newInvoice(file, "Comal Ready Mix", "FL-9004", ["300", "2.4999"]);
    const regular = file.rows("Item").find(({ fields }) => fields["Name"] === "087") as Row;
    file.edit("Item", regular.id, { "*": priceOf("2.2005") });
    // Somebody closes one order, and changes the gallons of another that the platform then cancels.
    const [closed, changed] = file.rows("SalesOrder") as [Row, Row];
    Object.assign(closed.fields, { IsManuallyClosed: "true" });
    closed.sequence++;
    Object.assign(changed.lines[0] ?? {}, { Quantity: "1" });
    changed.sequence++;
    for (const row of await control.stored("orders", "supplier"))
      if (guidOf(String(row["id"])) === changed.fields["ExternalGUID"])
        await control.patch("orders", row["id"], { status: "CANCELLED" });

    const waiting = {
      code: 0,
      out: expect.stringMatching(/both sides are not in step/) as unknown,
    };
    expect(await site.here("once")).toMatchObject(waiting);
    expect(await site.here("once")).toMatchObject(waiting);
    expect(await site.causes()).toEqual([
      expect.stringMatching(/^amount-changed-after-posting: /),
      expect.stringMatching(/^cancelled-after-confirmation: .*its lines were changed there/),
    ]);
    await expectEqualBooks(site, [...made, later], asBooked);
    const now = await site.records("invoices");
    expect(now.find(({ id }) => id === counter.id)).toMatchObject({ status: "PAID" });
    expect(await ownOnPlatform(site, [later])).toEqual([
      ["FL-9004", expect.any(String), later.total.fixed(2), "OUTSTANDING"],
    ]);
    expect(await pricesOf(site)).toMatchObject({ "T-76-TX-2799 UNL-87": "2.2005" });
    const stateOf = ({ id }: Bill): boolean | undefined => rowOf(site, "Invoice", id)?.isVoid;
    expect([taken, full].map(stateOf)).toEqual([true, false]);
    expect(changed.fields["IsManuallyClosed"]).toBeUndefined();
    await expectNoWrites(site, waiting);
  });
});

/** Its first line still adds up with one cent more. */
function isRoundedDown(records: readonly Members[], id: string): boolean {
  const lines = records.find((one) => one["id"] === id)?.["lineItems"] as Members[];
  const { gallons, rate, amount } = lines[0] ?? {};
  if (!(gallons instanceof Decimal) || !(rate instanceof Decimal)) return false;
  return gallons.times(rate).compare(number(amount)) >= 0;
}

const gallonsIn = (rows: readonly Row[]): string =>
  Decimal.sum(
    rows.flatMap(({ lines }) => lines.map(({ Quantity = "0" }) => Decimal.of(Quantity))),
  ).plain();

const rowOf = ({ books }: DesktopSite, table: Table, id: string): Row | undefined =>
  books.rows(table).find(({ fields }) => fields["ExternalGUID"] === guidOf(id));

async function expectEqualBooks(
  site: DesktopSite,
  own: readonly Made[],
  asBooked: ReadonlyMap<string, Members> = new Map(),
): Promise<void> {
  expect(figuresOf(site.books, site.folder)).toEqual(await expected(site, asBooked, own));
  const marks = marksIn(site.books);
  expect(marks.filter((mark, at) => marks.indexOf(mark) !== at)).toEqual([]);
}
