/** The connector kit over a company of Business Central as the tests' own server has it. */
import { connectorSuite, type Ground } from "../../test/connector.suite.ts";
import { type Clerk, losing } from "../../test/support/connector.ts";
import { Decimal } from "../../src/core/decimal.ts";
import {
  billDocument,
  enterInvoice,
  idOf,
  invoiceDocument,
  itemOf,
  opened,
  openCompany,
  orderDocument,
  paymentDocument,
  settings,
  TODAY,
  withProduct,
} from "./business-central.fixture.ts";
import type { Company, Row } from "./company.fixture.ts";
import { businessCentral } from "./index.ts";
import { externalNumber } from "./wire.ts";

/** The only invoice of every ground. */
const INVOICE = "0c000000-0000-4000-8000-000000000014";

const lacks = {
  batches: "one call takes one document",
  "batches-cut-off": "one call takes one document",
};

connectorSuite({
  connector: businessCentral,
  ground,
  bad: [
    { field: "url", config: (good) => ({ ...good, url: "books" }) },
    { field: "company", config: (good) => ({ ...good, company: "" }) },
    { field: "clientSecret", config: (good) => ({ ...good, clientSecret: undefined }) },
    { field: "accounts.expense", config: (good) => ({ ...good, accounts: { revenue: "40100" } }) },
    { field: "colour", config: (good) => ({ ...good, colour: "blue" }) },
  ],
  sources: ["customers", "suppliers", "invoices", "prices"],
  hasClerk: true,
  sinks: {
    orders: {
      good: itemOf(orderDocument("SO-1")),
      refused: itemOf(withProduct(orderDocument("SO-GOLD"), "GOLD")),
      lacks: { ...lacks, cancellation: "a confirmed order is for a person" },
    },
    invoices: {
      good: itemOf(invoiceDocument("FL-1")),
      voided: itemOf(invoiceDocument("FL-1", { status: "void" })),
      refused: itemOf(withProduct(invoiceDocument("FL-GOLD"), "GOLD")),
      lacks,
    },
    bills: {
      good: itemOf(billDocument("R-1")),
      refused: itemOf(withProduct(billDocument("R-GOLD"), "GOLD")),
      voided: itemOf(billDocument("R-1", { status: "void" })),
      lacks,
    },
    payments: {
      good: itemOf(paymentDocument("pay-1", INVOICE)),
      refused: itemOf(paymentDocument("pay-2", idOf("nobody"))),
      lacks: {
        ...lacks,
        cancellation: "the platform voids no payment",
        codes: "a payment names no code",
      },
    },
  },
  paying: {
    open: itemOf(invoiceDocument("FL-1")),
    paid: itemOf(invoiceDocument("FL-1", { status: "paid", paidDate: TODAY })),
    total: "19934.08",
    payment: (id, invoice, amount) =>
      itemOf(paymentDocument(id, invoice, { amount: Decimal.of(amount) })),
    lacks: { covering: "the API takes no note on a posted invoice" },
  },
});

const SETS: Readonly<Record<string, readonly string[]>> = {
  orders: ["salesOrders"],
  invoices: ["salesInvoices"],
  bills: ["purchaseInvoices", "purchaseCreditMemos"],
  payments: ["customerPayments", "generalLedgerEntries"],
};

async function ground(): Promise<Ground> {
  const company = await openCompany();
  const { id: invoice } = enterInvoice(company);
  if (invoice !== INVOICE) throw new Error(`the invoice of every ground is ${invoice}`);
  const config = settings(company, { prices: { list: "T-1" } });
  const rowsOf = (sink: string, id: string) =>
    (SETS[sink] ?? []).flatMap((set) =>
      company
        .rows(set)
        .filter((row) =>
          [id, externalNumber(id), externalNumber(id, "FBO")].some((one) =>
            JSON.stringify(row).includes(one),
          ),
        )
        .map((row) => [set, row] as const),
    );
  return {
    folder: ".",
    config,
    unreachable: { ...config, url: "http://127.0.0.1:9/api", login: "http://127.0.0.1:9/login" },
    wrongCredentials: { ...config, clientSecret: "wrong-secret" },
    fill: (source) => fill(company, source),
    // What belongs together is one text.
    effects: (sink, { id }) => {
      const rows = rowsOf(sink, id).map(([, row]) => plain(row));
      return rows.length === 0 ? [] : [JSON.stringify(rows)];
    },
    backup: () => {
      const backup = company.backup();
      return () => company.restore(backup);
    },
    change: (sink, { id }) => {
      for (const [set, row] of rowsOf(sink, id)) company.edit(set, row.id, changeOf(sink, row));
    },
    vanish: () => {
      const [item] = company.rows("items");
      company.edit("items", item?.id ?? "", { number: "OTHER" });
      return () => company.edit("items", item?.id ?? "", { number: "ULSD-CLR" });
    },
    money: () => moneyOf(company),
    clock: (aheadMs) => void (company.clockMs = aheadMs),
    clerk: clerkOf(company),
    interrupt: losing(company, () => opened(company)),
  };
}

/** What a person changes. */
function changeOf(sink: string, { salesOrderLines: lines = [] }: Row): object {
  const [line, ...rest] = lines as object[];
  const less = { ...line, quantity: Decimal.of("1") };
  if (sink === "orders") return { salesOrderLines: [less, ...rest] };
  if (sink === "payments") return { postingDate: "2026-11-30" };
  return sink === "bills" ? { vendorNumber: "CUST-2" } : { customerNumber: "CUST-2" };
}

/** Of the platform's invoice. */
function moneyOf(company: Company): { open: string; onAccount: string } {
  const invoice = company.rows("salesInvoices").find((row) => row["externalDocumentNumber"] !== "");
  const [open, total] = [invoice?.["remainingAmount"], invoice?.["totalAmountIncludingTax"]] as [
    Decimal,
    Decimal,
  ];
  const paid = company.rows("generalLedgerEntries").map((row) => row["debitAmount"] as Decimal);
  return {
    open: open.fixed(2),
    onAccount: Decimal.sum(paid).minus(total.minus(open)).fixed(2),
  };
}

const RUN = new Set(["id", "documentId", "version", "lastModifiedDateTime", "number"]);

/** Without what differs from run to run. */
const plain = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(plain)
    : value !== null && typeof value === "object" && !("plain" in value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, one]) => [name, RUN.has(name) ? "" : plain(one)]),
        )
      : String(value);

/** A number that is changed is changed in all that names it. */
function clerkOf(company: Company): Clerk {
  const rowsOf = (set: string, field: string, value: string): Row[] =>
    company.rows(set).filter((row) => row[field] === value);
  return {
    enter: (number) => company.enter("customers", { number, displayName: "Ranch Supply" }),
    recode(code, number) {
      for (const { id } of rowsOf("customers", "number", code))
        company.edit("customers", id, { number });
      for (const { id } of rowsOf("salesInvoices", "customerNumber", code))
        company.edit("salesInvoices", id, { customerNumber: number });
    },
    remove(code) {
      for (const { id } of rowsOf("customers", "number", code)) company.delete("customers", id);
    },
    codes: () => company.rows("customers").map(({ number }) => String(number)),
  };
}

/** Three pages. */
function fill(company: Company, source: string): void {
  for (let number = 0; number < 450; number++)
    if (source === "invoices") enterInvoice(company);
    else if (source === "prices")
      company.enter("items", { number: `I-${number}`, unitPrice: Decimal.of("2.5") });
    else
      company.enter(source === "customers" ? "customers" : "vendors", {
        number: `10${number}`,
        displayName: `Party ${number}`,
      });
}
