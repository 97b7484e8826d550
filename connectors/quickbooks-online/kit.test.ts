/** The connector kit over `quickbooks-online`: its company is a server of the test's own. */
import { connectorSuite, type Ground } from "../../test/connector.suite.ts";
import { type Clerk, losing } from "../../test/support/connector.ts";
import {
  billDocument,
  invoiceDocument,
  itemOf,
  paymentDocument,
  withProduct,
} from "../example/example.fixture.ts";
import type { Company, Record_ } from "./company.fixture.ts";
import { openCompany } from "./company-server.fixture.ts";
import { quickbooksOnline } from "./index.ts";
import { opened, orderDocument, settings } from "./quickbooks-online.fixture.ts";
import { Decimal } from "../../src/core/decimal.ts";

const TABLES: Readonly<Record<string, string>> = {
  orders: "Estimate",
  invoices: "Invoice",
  bills: "Bill",
  payments: "Payment",
};
const ONE_CALL = {
  batches: "QuickBooks takes one document per call",
  "batches-cut-off": "QuickBooks takes one document per call",
};

connectorSuite({
  connector: quickbooksOnline,
  ground,
  bad: [
    { field: "company", config: (good) => ({ ...good, company: "Prairie" }) },
    { field: "clientSecret", config: (good) => ({ ...good, clientSecret: undefined }) },
    { field: "accounts.expense", config: (good) => ({ ...good, accounts: { paymentsMade: "1" } }) },
    { field: "colour", config: (good) => ({ ...good, colour: "blue" }) },
  ],
  sources: ["parties", "invoices", "paidInvoices", "prices"],
  hasClerk: true,
  sinks: {
    orders: {
      good: itemOf(orderDocument("SO-1")),
      refused: itemOf(withProduct(orderDocument("SO-GOLD"), "GOLD")),
      lacks: { ...ONE_CALL, cancellation: "a confirmed order is for a person (goods.ts)" },
    },
    invoices: {
      good: itemOf(invoiceDocument("FL-1")),
      voided: itemOf(invoiceDocument("FL-1", { status: "void" })),
      refused: itemOf(withProduct(invoiceDocument("FL-GOLD"), "GOLD")),
      lacks: ONE_CALL,
    },
    bills: {
      good: itemOf(billDocument("R-1")),
      refused: itemOf(withProduct(billDocument("R-GOLD"), "GOLD")),
      lacks: { ...ONE_CALL, cancellation: "QuickBooks' interface voids no bill" },
    },
    payments: {
      // The eighth record of every ground is an invoice.
      good: itemOf(paymentDocument("pay-1", "8")),
      refused: itemOf(paymentDocument("pay-2", "404")),
      lacks: {
        ...ONE_CALL,
        cancellation: "the platform voids no payment",
        codes: "a payment names no code",
      },
    },
  },
});

/** What differs from run to run. */
const RUN = { Id: 0, SyncToken: 0, MetaData: 0, CustomerRef: 0, VendorRef: 0, TxnId: 0 };

async function ground(): Promise<Ground> {
  const company = await openCompany();
  const customer = company.enter("Customer", { DisplayName: "Old Ranch", Active: true });
  enterInvoice(company, customer);
  const prices = { list: "T-1" };
  const config = settings(company, { prices });
  const others = { url: "http://127.0.0.1:9", tokenUrl: "http://127.0.0.1:9/tokens" };
  return {
    folder: "/",
    config,
    unreachable: { ...config, ...others },
    wrongCredentials: { ...config, tokens: `${config.tokens}.none` },
    fill: (source) => fill(company, customer, source),
    effects: (sink, { id }) =>
      company
        .rows(TABLES[sink] ?? "")
        .filter(({ PrivateNote }) => String(PrivateNote).includes(id))
        .map((row) => JSON.stringify({ ...row, ...RUN })),
    backup: () => {
      const backup = company.backup();
      return () => company.restore(backup);
    },
    change: (sink, { id }) => {
      const row = company
        .rows(TABLES[sink] ?? "")
        .find(({ PrivateNote }) => String(PrivateNote).includes(id));
      // The day of an order is its making; its lines are what a person may not change.
      const [line] = (row?.["Line"] ?? []) as object[];
      const change =
        sink === "orders"
          ? { Line: [{ ...line, Amount: Decimal.of("1.00") }] }
          : { TxnDate: "2026-11-30" };
      company.edit(TABLES[sink] ?? "", row?.Id ?? "", change);
    },
    vanish: () => {
      const item = company.rows("Item").find(({ Name }) => Name === "ULSD-CLR");
      company.edit("Item", item?.Id ?? "", { Active: false });
      return () => company.edit("Item", item?.Id ?? "", { Active: true });
    },
    clock: (aheadMs) => void (company.clockMs = aheadMs),
    clerk: clerkOf(company),
    interrupt: losing(company, () => opened(config)),
  };
}

const enterInvoice = (company: Company, customer: Record_, values: object = {}): Record_ =>
  company.enter("Invoice", {
    DocNumber: "FL-0",
    TxnDate: "2026-11-21",
    DueDate: "2026-12-08",
    CustomerRef: { value: customer.Id, name: customer["DisplayName"] },
    Line: [
      {
        DetailType: "SalesItemLineDetail",
        Amount: Decimal.of("18103.96"),
        Description: "ULSD",
        SalesItemLineDetail: { ItemRef: { value: "1", name: "ULSD-CLR" } },
      },
    ],
    ...values,
  });

/** Names are what documents call customers. */
function clerkOf(company: Company): Clerk {
  const idOf = (name: string): string =>
    company.rows("Customer").find(({ DisplayName }) => DisplayName === name)?.Id ?? "";
  return {
    enter: (DisplayName) => company.enter("Customer", { DisplayName, Active: true }),
    recode: (name, DisplayName) => company.edit("Customer", idOf(name), { DisplayName }),
    remove: (name) => company.delete("Customer", idOf(name)),
    codes: () => company.rows("Customer").map(({ DisplayName }) => String(DisplayName)),
  };
}

/** Three pages. */
function fill(company: Company, customer: Record_, source: string): void {
  for (let number = 0; number < 250; number++)
    if (source === "parties")
      company.enter("Customer", { DisplayName: `Party ${number}`, Active: true });
    else if (source === "prices")
      company.enter("Item", { Name: `P-${number}`, UnitPrice: Decimal.of("2.25"), Active: true });
    else enterInvoice(company, customer, { DocNumber: `FL-${number}` });
}
