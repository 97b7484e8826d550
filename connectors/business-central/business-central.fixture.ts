/** Documents whose figures add up, and an endpoint over a company of the test's own. */
import { onTestFinished } from "vitest";
import type { Endpoint, Item, Sink, Surroundings } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Change } from "../../src/core/record.ts";
import type {
  InvoiceDocument,
  OrderDocument,
  PaymentDocument,
} from "../../src/ledger/documents.ts";
import { never, SENT } from "../../test/support/connector.ts";
import { invoiceOf, itemOf, orderOf, paymentOf } from "../../test/support/ledger-documents.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import {
  CLIENT,
  type Company,
  COMPANY,
  type Row,
  SECRET,
  startCompany,
} from "./company.fixture.ts";
import { businessCentral } from "./index.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
export const TODAY = "2026-11-21";
export { itemOf, never, SENT };

export const settings = ({ url }: Company, more: object = {}) => ({
  url: `${url}/api/v2.0`,
  company: COMPANY,
  login: `${url}/login/oauth2/v2.0/token`,
  clientId: CLIENT,
  clientSecret: SECRET,
  accounts: { revenue: "40100", expense: "50100" },
  taxCode: "NONTAXABLE",
  journals: { received: "FBIN", made: "FBOUT" },
  settleMs: 0,
  ...more,
});

const surroundings: Surroundings = surroundingsIn(".", { now: () => new Date(SENT) });

export function opened(company: Company, more: object = {}): Endpoint {
  const config = businessCentral.config.parse(settings(company, more));
  const endpoint = businessCentral.open(config, surroundings);
  onTestFinished(() => endpoint.close());
  return endpoint;
}

/** The platform's id of a document: `FL-1` is always the same one. */
export const idOf = (name: string): string =>
  `0b000000-0000-4000-8000-${Buffer.from(name).toString("hex").padStart(12, "0").slice(-12)}`;

export const PARTY = { code: "CUST-1", name: "Ranch Supply", companyId: idOf("company-1") };

export const invoiceDocument = (
  number: string,
  more: Partial<InvoiceDocument> = {},
): InvoiceDocument => invoiceOf(number, "22350", { id: idOf(number), party: PARTY, ...more });

export const billDocument = (number: string, more: Partial<InvoiceDocument> = {}) =>
  invoiceDocument(number, { type: "in", ...more });

/** @param invoice its id in the books */
export const paymentDocument = (
  name: string,
  invoice: string,
  more: Partial<PaymentDocument> = {},
): PaymentDocument => paymentOf(name, invoice, { id: idOf(name), ...more });

export const orderDocument = (number: string, more: Partial<OrderDocument> = {}): OrderDocument =>
  orderOf(number, { id: idOf(number), party: PARTY, ...more });

export { withProduct } from "../../test/support/ledger-documents.ts";

export const enterCustomer = (company: Company, values: object) =>
  company.enter("customers", { number: "CUST-1", displayName: "Ranch Supply", ...values });

/** A posted invoice that a person entered. */
export const enterInvoice = (company: Company, values: object = {}): Row =>
  company.enter("salesInvoices", {
    customerNumber: "CUST-1",
    invoiceDate: TODAY,
    postingDate: TODAY,
    dueDate: "2026-12-08",
    customerPurchaseOrderReference: "4711",
    salesInvoiceLines: [
      {
        lineType: "Item",
        lineObjectNumber: "ULSD-CLR",
        unitOfMeasureCode: "GAL",
        description: "ULSD",
        quantity: d("7500.5"),
        unitPrice: d("2.4137"),
      },
    ],
    ...values,
  });

/** A company of this test's own, until the test ends. */
export async function openCompany(): Promise<Company> {
  const { company, close } = await startCompany();
  onTestFinished(close);
  return company;
}

/* Sends and readings of an endpoint of their own. */

export const requestOf = (sink: Sink, item: Item, key = `fb1_${item.id}`) => ({
  ...sink.freeze([item]),
  key,
  items: [item],
  firstSentAt: null,
});

export async function sent(company: Company, sink: string, item: Item, more: object = {}) {
  const its = opened(company, more).sinks[sink] as Sink;
  return its.send(requestOf(its, item), never);
}

export const found = (company: Company, sink: string, item: Item) => {
  const its = opened(company).sinks[sink] as Sink;
  return its.find({ ...requestOf(its, item), firstSentAt: SENT }, never);
};

export const first = itemOf(invoiceDocument("FL-1"));
export const POST = /^POST .*Microsoft\.NAV\.post$/;
export const CREATE = /^POST .*\/(?:sales|purchase)Invoices$/;
export const posted = (company: Company, set = "salesInvoices") =>
  company.rows(set).filter((row) => row["status"] !== "Draft");

export const told = (company: Company, source: string, more: object = {}): Promise<Change[]> =>
  toldBy(opened(company, more), source);

export async function toldBy({ sources }: Endpoint, source: string): Promise<Change[]> {
  const all: Change[] = [];
  const reading = { signal: never, known: () => null, stored: () => false };
  const pages = sources[source]?.read(null, reading) ?? [];
  for await (const { changes } of pages) all.push(...changes);
  return all;
}
