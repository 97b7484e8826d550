/**
 * `reconcile` with a real Tryton: what it says of a site in step, and what it finds once people have changed either
 * side. Every kind of record is there; one invoice is void, one is credited, some are paid.
 */
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { agreeing } from "../../src/reconcile/case.ts";
import type { Report } from "../../src/reconcile/report.ts";
import type { CaseRow } from "../../src/reconcile/rows.ts";
import type { KnownDifferences } from "../../src/office/answers.ts";
import { type Row, times } from "../conformance/support.ts";
import { tempFolder } from "../support/folder.ts";
import { IN_STEP } from "../support/in-step.ts";
import { type Books, trytonIsThere, useTryton } from "../support/tryton.ts";
import { type Clerk, clerkAt } from "./clerk.ts";
import { dayOf } from "./ledger.ts";
import { newCustomer, newInvoice, newPrice, newPriceList, settle } from "./office.ts";
import { layOut, openSite, type Site } from "./site.ts";

const SLOW = 600_000;
const DAY_MS = 86_400_000;
/** Of config/crossref. */
const PAYER = "0942f541-2340-4858-9502-8b0979809fca";
const VENDOR = "3c32a18c-b781-4efd-afcf-a5e1dcab93fb";
const daysFromNow = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
const DUE = daysFromNow(20);
const TODAY = dayOf(daysFromNow(0));
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
      "invoice void on both 2",
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

    await changeBooks(clerkAt(site.tryton, TODAY), site);
    await changePlatform(site, invoice);
    const after = await reconciled(site);
    expect(inWords(after)).toEqual(found);
    const { differences } = await site.ask<KnownDifferences>("reconcile", "--last");
    const telling = found.filter((line) => !line.startsWith("waiting"));
    expect(differences.map(({ bucket, kind }) => `${bucket}: ${kind}`)).toEqual(
      expect.arrayContaining(telling.map((line) => /^[^:]+: \S+/.exec(line)?.[0])),
    );
    expect(differences).toHaveLength(telling.length);
  });
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
  "only there: invoice INV-17, missing",
  "only there: bill B-5, gone",
  // Its partner was deleted; the other two were entered by hand, with INV-8 and INV-9.
  "only here: payment of 12.25, gone",
  "only here: payment of 50.00, extra",
  "only here: payment of 117.25, extra",
  // What the next run of a flow brings.
  "waiting: invoice INV-3, waiting",
  "waiting: invoice INV-5, waiting; money.open 43.25 / 63.25",
  "waiting: payment of 20.00, waiting",
];

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
  const { out } = await site.here("reconcile", "--from", FROM, "--to", TODAY, "--json");
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
  layOut(folder, withDrafts);
  const site = await openSite(folder, books, "empty");
  onTestFinished(() => site.close());
  const { control, tryton, companyId } = site;
  const clerk = clerkAt(tryton, TODAY);
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
  await newInvoice(tryton, "C-901", TODAY, ["812.25", "2.5"]);
  const own = await newInvoice(tryton, "C-901", TODAY, ["120", "2.613"]);
  await settle(tryton, own.id, TODAY);
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
