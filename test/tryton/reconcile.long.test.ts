/**
 * `reconcile` with a real Tryton: what it says of a site in step, and what it finds once people have changed either
 * side. Every kind of record is there; one invoice is void, one is credited, some are paid.
 *
 * @module-tag numbers
 */
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { agreeing } from "../../src/reconcile/case.ts";
import type { CaseRow, Report } from "../../src/reconcile/report.ts";
import type { KnownDifferences } from "../../src/office/answers.ts";
import { type Row, times } from "../conformance/support.ts";
import { tempFolder } from "../support/folder.ts";
import { IN_STEP } from "../support/in-step.ts";
import { isLongRun, numbers } from "../support/runs.ts";
import { type Books, trytonIsThere, useTryton } from "../support/tryton.ts";
import { type Clerk, clerkAt } from "./clerk.ts";
import { dayOf, today } from "./ledger.ts";
import { newCustomer, newInvoice, newPrice, newPriceList, settle } from "./office.ts";
import type { Rpc } from "./rpc.ts";
import { openSite, type Site } from "./site.ts";

const SLOW = 600_000;
const DAY_MS = 86_400_000;
/** Of config/crossref. */
const PAYER = "0942f541-2340-4858-9502-8b0979809fca";
const LOCATION = "a903118c-3ef2-46c6-98ee-b5f48a83e50d";
/** Of what this key sees no more. */
const ELSEWHERE = "00000000-0000-4000-8000-000000000001";
const VENDOR = "3c32a18c-b781-4efd-afcf-a5e1dcab93fb";
const daysFromNow = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
const DUE = daysFromNow(20);
const FROM = daysFromNow(-21).slice(0, 10);

describe.skipIf(!trytonIsThere)("reconcile with Tryton", { timeout: SLOW }, () => {
  const server = useTryton();

  test("a site in step agrees, record by record; what people then change on either side is found, each once, with both values and its cause", async () => {
    const { site, invoice } = await inStep(join(tempFolder(), "site"), server.copy("reconcile"));
    const before = await reconciled(site);
    expect(inWords(before)).toEqual([
      "waiting: bill B-4, waiting; state open / draft",
      "waiting: bill B-5, waiting; state open / draft",
    ]);
    expect(before).toMatchObject({ state: "done", failures: [], notices: [], unasked: [] });
    expect(before.totals.map(({ kind, bucket, cases }) => `${kind} ${bucket} ${cases}`)).toEqual([
      "invoice void 2",
      "invoice equal 14",
      "bill waiting 2",
      "bill equal 3",
      // Of Tryton's own invoice, that the platform calls paid.
      "payment out of scope 1",
      "payment equal 4",
      "bill-payment equal 1",
      // The company itself.
      "party out of scope 1",
      "party equal 3",
      "price equal 2",
    ]);

    await changeBooks(clerkAt(site.tryton), site);
    await changePlatform(site, invoice);
    const after = await reconciled(site);
    expect(inWords(after)).toEqual(found);
    const { differences } = await site.ask<KnownDifferences>("reconcile", "--last");
    const telling = found.filter((line) => !line.startsWith("waiting"));
    expect(differences.map(({ bucket, kind }) => `${bucket}: ${kind}`)).toEqual(
      expect.arrayContaining(telling.map((line) => /^[^:]+: \S+/.exec(line)?.[0])),
    );
    expect(differences).toHaveLength(telling.length);

    // What a clerk entered a second time goes to nobody a second time.
    await site.here("once");
    const again = ["INV-2026-00003", "INV-12"];
    const parked = (await site.parked()).filter(({ flow }) => flow === "invoices");
    expect(parked.map(({ number, code }) => [number, code])).toEqual([
      [again[0], "duplicate"],
      [again[1], "number-twice"],
    ]);
    const { out } = await site.here("trace", "INV-2026-00003");
    expect(out).toContain("looks like INV-11");
    const numbers = (await site.records("invoices")).map((row) => row["invoiceNumber"]);
    expect(again.map((one) => numbers.filter((number) => number === one).length)).toEqual([0, 1]);
  });

  // In the ordinary run the kit shows it of each kind ("what was delivered is told to reconciliation").
  test.runIf(isLongRun)(
    "orders and tickets: what people change on either side is found, each once, with both values and its cause",
    numbers,
    async () => {
      const folder = join(tempFolder(), "site");
      const books = server.copy("reconcile-goods");
      const site = await openSite(folder, books, { scenario: "empty" });
      onTestFinished(() => site.close());
      const { control, companyId, tryton } = site;
      const orders = await control.records(
        "orders",
        times(8, (at) => ordered(at + 1)),
      );
      const tickets = await control.records(
        "delivery-tickets",
        times(8, (at) => hauled(at + 1, companyId)),
      );
      expect(await site.here("once")).toMatchObject({ code: 0, out: IN_STEP });
      const before = await reconciled(site);
      expect(inWords(before)).toEqual([]);
      expect(before.totals.map(({ kind, bucket, cases }) => `${kind} ${bucket} ${cases}`)).toEqual([
        "order equal 8",
        "ticket equal 8",
        "party out of scope 1",
        "party equal 2",
      ]);

      await changeGoods(tryton);
      /** Without a word in `updatedAt`. */
      const change = (kind: "orders" | "delivery-tickets", at: number, fields: object) => {
        const row = (kind === "orders" ? orders : tickets)[at - 1] as Row;
        return control.patch(kind, row["id"], { ...fields, updatedAt: row["updatedAt"] });
      };
      await change("orders", 5, { status: "CANCELLED" });
      const sixth = orders[5] as { lines: Row[] } & Row;
      const lines = sixth.lines.map((line) => ({
        ...line,
        gallons: 600,
        quantity: 600,
      }));
      await change("orders", 6, { lines });
      await change("orders", 7, { companyId: ELSEWHERE, locationId: null });
      await change("delivery-tickets", 5, { status: "VOID" });
      await change("delivery-tickets", 6, { productLines: hauled(60, companyId)["productLines"] });
      const away = { companyId: ELSEWHERE, supplierCompanyId: ELSEWHERE };
      await change("delivery-tickets", 7, { ...away, receiverCompanyId: ELSEWHERE });
      await control.records("orders", [ordered(9)]);
      await control.records("delivery-tickets", [hauled(9, companyId)]);
      expect(inWords(await reconciled(site))).toEqual(foundGoods);
      await site.here("once");
      const { cases } = await reconciled(site);
      const late = cases.filter(({ number }) => number === "LD-9" || number === "DT-9");
      expect(late.map(({ bucket }) => bucket)).toEqual(["equal", "equal"]);
    },
  );
});

/** What {@link changeBooks} and {@link changePlatform} leave: values of the platform / of the books. */
const found = [
  "twice: invoice INV-11, twice; record 1: INV-11 / 2: INV-11, INV-2026-00003",
  "twice: invoice INV-12, twice; record 1: INV-12 / 2: INV-12 (INV-12), INV-12 (#27)",
  "twice: bill B-2, twice; record 1: B-2 / 2: BILL-2026-00002, BILL-2026-00005",
  `differs: invoice INV-10, fields; days.due ${dayOf(DUE)} / 2027-03-01`,
  "differs: invoice INV-13, void-stands; state ended / open",
  "differs: invoice INV-14, fields; money.untaxed 115.00 / 114.00; money.total 123.25 / 122.25; lines.1.quantity 115.00 / 114.00; lines.1.amount 115.00 / 114.00; taxes.2310 AL State Diesel Tax.base 115.00 / 114.00; money.open 123.25 / 122.25",
  "differs: invoice INV-6, ended-in-books; state open / ended",
  "differs: invoice INV-7, ended-in-books; state open / ended",
  "differs: invoice INV-8, partly-paid; money.open 116.25 / 66.25",
  "differs: invoice INV-9, progress; state open / paid; money.open 117.25 / 0.00",
  "differs: bill B-3, ended-in-books; state open / ended",
  "differs: bill B-4, fields; money.untaxed 104.00 / 156.00; money.total 112.25 / 164.25; lines.1.unitPrice 1.00 / 1.50; lines.1.amount 104.00 / 156.00; money.open 112.25 / 164.25",
  "differs: payment of 111.25, void-stands; state ended / paid",
  // The platform shows no names: it is the one that was delivered last.
  "differs: party C-901, fields; name Brazos Gin & Feed / Brazos Gin & Seed",
  "differs: price T-76-TX-2799 UNL-87, fields; money.price 2.19127 / 2.2005",
  "only on the platform: invoice INV-17, missing",
  "only on the platform: bill B-5, gone",
  // Its partner was deleted; the other two were entered by hand, with INV-8 and INV-9.
  "only in the ERP: payment of 12.25, gone",
  "only in the ERP: payment of 50.00, extra",
  "only in the ERP: payment of 117.25, extra",
  // What the next run of a flow brings.
  "waiting: invoice INV-3, waiting",
  "waiting: invoice INV-5, waiting; money.open 43.25 / 63.25",
  "waiting: payment of 20.00, waiting",
];

/** What {@link changeGoods} and the platform leave. */
const foundGoods = [
  expect.stringMatching(
    /^twice: order LD-4, twice; record 1: LD-4 \/ 2: LD-4 \(purchase 2 platform:.*\), LD-4 \(purchase #5\)$/,
  ),
  "twice: ticket DT-4, twice; record 1: DT-4 / 2: DT-4 (#stock.shipment.in,2), DT-4 (#stock.shipment.in,5)",
  "differs: order LD-1, fields; lines.1.quantity 101.00 / 77.00",
  "differs: order LD-3, fields; number LD-3 / LD-3-BY-HAND",
  "differs: order LD-5, void-stands; state ended / posted",
  "differs: order LD-2, fields; lines.1.quantity 102.00 / 77.00",
  "differs: order LD-6, fields; lines.1.quantity 600.00 / 106.00",
  "differs: ticket DT-1, fields; reference BOL-1 / BOL-OTHER",
  // Its link has the number that it had.
  expect.stringMatching(/^differs: ticket DT-3, link; number DT-3 \/ DT-3-BY-HAND; link DT-3 /),
  "differs: ticket DT-5, void-stands; state ended / posted",
  "differs: ticket DT-2, fields; reference BOL-2 / BOL-OTHER",
  "differs: ticket DT-6, fields; lines.1.quantity 160.00 / 106.00",
  "only in the ERP: order LD-7, gone",
  "only in the ERP: ticket DT-7, gone",
  "waiting: order LD-9, waiting",
  "waiting: ticket DT-9, waiting",
];

/** Odd ones are sales and what goes out; even ones purchases and what comes in. */
async function changeGoods(tryton: Rpc): Promise<void> {
  const of = (model: string, number: string): Promise<number> =>
    tryton.one(model, model.startsWith("stock") ? "number" : "reference", number);
  const write = async (model: string, number: string, values: object) =>
    void (await tryton.call(`${model}.write`, [await of(model, number)], values));
  const editLine = async (kind: "sale" | "purchase", number: string, quantity: number) => {
    const id = await of(`${kind}.${kind}`, number);
    const [line] = await tryton.rows<{ id: number }>(`${kind}.line`, [[kind, "=", id]], "id");
    await tryton.call(`${kind}.line.write`, [line?.id], { quantity });
  };
  const again = async (model: string, number: string, values: object) =>
    void (await tryton.call(`${model}.copy`, [await of(model, number)], values));
  await editLine("sale", "LD-1", 77);
  await editLine("purchase", "LD-2", 77);
  await write("sale.sale", "LD-3", { reference: "LD-3-BY-HAND" });
  await again("purchase.purchase", "LD-4", { reference: "LD-4" });
  await write("stock.shipment.out", "DT-1", { reference: "BOL-OTHER" });
  await write("stock.shipment.in", "DT-2", { reference: "BOL-OTHER" });
  await write("stock.shipment.out", "DT-3", { number: "DT-3-BY-HAND" });
  await again("stock.shipment.in", "DT-4", { number: "DT-4" });
}

async function changeBooks(clerk: Clerk, { tryton }: Site): Promise<void> {
  await clerk.cancel("B-3");
  await clerk.editAmount("B-4", "1.5");
  await clerk.deleteDraft("B-5");
  await clerk.credit("INV-6", true);
  await clerk.credit("INV-7", false);
  await clerk.payPart("INV-8", "50");
  await clerk.payAll("INV-9");
  await clerk.changeDueDate("INV-10", "2027-03-01");
  await clerk.enterAgain("INV-11", { reference: "INV-11" });
  await clerk.enterAgain("INV-12", { number: "INV-12" });
  await clerk.enterAgain("B-2", { reference: "B-2" });
  await clerk.renameParty("C-901", "Brazos Gin & Seed");
  await newPrice(tryton, "087", "2.2005");
}

/** Without a word in `updatedAt`, but for what comes with a payment. */
async function changePlatform(site: Site, invoice: (number: string) => Row): Promise<void> {
  const { control } = site;
  const change = ({ id, updatedAt }: Row, fields: object) =>
    control.patch("invoices", id, { ...fields, updatedAt });
  const lineItems = (invoice("INV-14")["lineItems"] as Row[]).map((line) => ({
    ...line,
    gallons: 115,
    amount: 115,
  }));
  await change(invoice("INV-14"), { subtotal: 115, total: 123.25, lineItems });
  await change(invoice("INV-13"), { status: "VOID" });
  const payments = await control.stored("payments");
  const payment = (reference: string) =>
    payments.find((one) => one["reference"] === reference)?.["id"];
  await control.patch("payments", payment("ACH-1"), { status: "REFUNDED" });
  const [others] = await control.records(
    "invoices",
    [issued(99, { companyId: VENDOR })],
    "carrier",
  );
  // Deleted, for all that we can see.
  const elsewhere = { ownerCompanyId: VENDOR, invoiceId: others?.["id"] };
  await control.patch("payments", payment("ACH-3"), elsewhere);
  await paidBy(site, invoice("INV-5"), 20, "ACH-9");
  await control.records("invoices", [issued(17)]);
}

/** What keeps both sides from agreeing: bucket, record, cause, and both values of every field. */
const inWords = ({ cases }: Report): string[] =>
  cases
    .filter(({ bucket }) => !agreeing.has(bucket))
    .map(({ bucket, kind, number, amount, cause, differences }) =>
      [
        `${bucket}: ${kind} ${kind === "payment" ? `of ${shownOf(amount)}` : number}, ${cause?.code}`,
        ...differences.map(({ field, platform, books }) => `${field} ${platform} / ${books}`),
      ].join("; "),
    );

const shownOf = ({ platform, books }: CaseRow["amount"]): string =>
  platform === "0.00" ? books : platform;

async function reconciled(site: Site): Promise<Report> {
  const { out } = await site.here("reconcile", "--from", FROM, "--to", today(), "--json");
  return (JSON.parse(out) as { data: Report }).data;
}

/** The accountant posts bills; everything else is posted by itself. */
function withDrafts(yaml: string): string {
  const [books = ""] = /^ {2}books:\n(?: {4}.*\n)+/m.exec(yaml) ?? [];
  const drafts = books.replace("books:", "drafts:").replace("posting: post", "posting: draft");
  return yaml
    .replace(books, books + drafts)
    .replace("to: books.bills", "to: drafts.bills")
    .replace(/(payments-made:(?:\n {4}.*)*?\n {4}to: )books/, "$1drafts");
}

/** One a day, in the last three weeks; each of another amount. */
const issued = (at: number, more: object = {}): Row => ({
  invoiceNumber: `INV-${at}`,
  payerCompanyId: PAYER,
  status: "OUTSTANDING",
  subtotal: 100 + at,
  tax: 8.25,
  total: 108.25 + at,
  dueDate: DUE,
  createdAt: daysFromNow(at - 20),
  updatedAt: daysFromNow(at - 20),
  lineItems: [
    { description: "Diesel", product: "ULSD-CLR", gallons: 100 + at, rate: 1, amount: 100 + at },
  ],
  taxLines: [{ taxType: "AL State Diesel Tax", amount: 8.25 }],
  ...more,
});

/** A sale at the customer's site, or a purchase. */
const ordered = (at: number): Row => ({
  status: "CONFIRMED",
  locationId: LOCATION,
  loadingNumber: `LD-${at}`,
  createdAt: daysFromNow(at - 20),
  updatedAt: daysFromNow(at - 20),
  lines: [
    {
      product: "ULSD-CLR",
      terminal: "San Antonio",
      supplierId: VENDOR,
      rate: 2,
      buyPrice: 2,
      sellPrice: at % 2 === 0 ? null : 2.5,
      terminalCode: "T-76-TX-2799",
      gallons: 100 + at,
      unit: "gal",
      quantity: 100 + at,
      unitCode: "gal",
    },
  ],
});

/** What we bring the customer, or the vendor brings us. */
const hauled = (at: number, companyId: string): Row => ({
  companyId,
  ticketNumber: `DT-${at}`,
  supplierCompanyId: at % 2 === 0 ? VENDOR : companyId,
  receiverCompanyId: at % 2 === 0 ? companyId : PAYER,
  status: "SIGNED",
  bolNumber: `BOL-${at}`,
  deliveryDate: daysFromNow(at - 20),
  createdAt: daysFromNow(at - 20),
  updatedAt: daysFromNow(at - 20),
  productLines: [
    {
      product_name: "ULSD-CLR",
      spec: null,
      gross_gallons: 101 + at,
      net_gallons: 100 + at,
      temperature: 60,
      api_gravity: 35,
    },
  ],
});

const paidBy = ({ control }: Site, invoice: Row, amount: number, reference: string) =>
  control.records("payments", [
    {
      ownerCompanyId: invoice["companyId"],
      invoiceId: invoice["id"],
      amount,
      method: "ACH",
      reference,
      status: "SUCCEEDED",
      paidAt: daysFromNow(-15),
    },
  ]);

/** What both sides hold is in step, of every kind: a void and a credit, paid in one and in parts, ours and Tryton's own. */
async function inStep(folder: string, books: Books) {
  const site = await openSite(folder, books, { scenario: "empty", change: withDrafts });
  onTestFinished(() => site.close());
  const { control, tryton, companyId } = site;
  const clerk = clerkAt(tryton);
  const paid = { status: "PAID", paidAt: daysFromNow(-15) };
  const invoices = await control.records(
    "invoices",
    times(14, (at) => issued(at + 1, at === 2 || at === 3 ? paid : {})),
  );
  const ofVendor = { companyId: VENDOR, payerCompanyId: companyId };
  const bills = await control.records(
    "invoices",
    times(5, (at) => issued(at + 1, { ...ofVendor, invoiceNumber: `B-${at + 1}` })),
    "carrier",
  );
  const invoice = (number: string): Row =>
    [...invoices, ...bills].find(({ invoiceNumber }) => invoiceNumber === number) as Row;
  await paidBy(site, invoice("INV-3"), 111.25, "ACH-1");
  await paidBy(site, invoice("INV-4"), 100, "ACH-2");
  await paidBy(site, invoice("INV-4"), 12.25, "ACH-3");
  await paidBy(site, invoice("INV-5"), 50, "ACH-4");
  await newCustomer(tryton, "C-901", "Brazos Gin & Feed");
  await newInvoice(tryton, "C-901", today(), ["812.25", "2.5"]);
  const own = await newInvoice(tryton, "C-901", today(), ["120", "2.613"]);
  await settle(tryton, own.id, today());
  await newPriceList(tryton, "T-76-TX-2799 San Antonio (Hwy 181)", {
    "ULSD-CLR": "2.413755",
    "087": "2.19127",
  });
  expect(await site.here("once")).toMatchObject({ code: 0, out: IN_STEP });

  for (const number of ["B-1", "B-2", "B-3"]) await clerk.post(number);
  await paidBy(site, invoice("B-1"), 109.25, "ACH-5");
  await control.patch("invoices", invoice("B-1")["id"], paid);
  await control.patch("invoices", invoice("INV-1")["id"], { status: "VOID" });
  await control.patch("invoices", invoice("INV-2")["id"], { status: "VOID" });
  await clerk.credit("INV-2", true);
  expect(await site.here("once")).toMatchObject({ code: 0, out: IN_STEP });
  return { site, invoice };
}
