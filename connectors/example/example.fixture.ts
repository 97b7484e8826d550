/** Documents whose figures add up, and an endpoint over a ledger of the test's own. */
import { onTestFinished } from "vitest";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import type { Delivered, Endpoint, Item, Sink, Surroundings } from "../../src/core/contract.ts";
import { example } from "./index.ts";
import { type Ledger, type Row, startLedger, TOKEN } from "./ledger.fixture.ts";
import { never, requestOf, SENT } from "../../test/support/connector.ts";
import { invoiceOf } from "../../test/support/ledger-documents.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";

const TODAY = "2026-11-21";
export { never, requestOf, SENT };

export const settings = (ledger: Ledger, more: object = {}) => ({
  url: ledger.url,
  token: TOKEN,
  accounts: { revenue: "4000", expense: "5000" },
  settleMs: 0,
  ...more,
});

const surroundings: Surroundings = surroundingsIn(".", { now: () => new Date(SENT) });

/** At another time. */
export function openedAt(ledger: Ledger, now: Date): Endpoint {
  const config = example.config.parse(settings(ledger));
  const endpoint = example.open(config, { ...surroundings, now: () => now });
  onTestFinished(() => endpoint.close());
  return endpoint;
}

export function opened(ledger: Ledger, more: object = {}): Endpoint {
  const endpoint = example.open(example.config.parse(settings(ledger, more)), surroundings);
  onTestFinished(() => endpoint.close());
  return endpoint;
}

export function sinkOf(ledger: Ledger, name: string, more: object = {}): Sink {
  return opened(ledger, more).sinks[name] as Sink;
}

export const invoiceDocument = (
  number: string,
  more: Partial<InvoiceDocument> = {},
): InvoiceDocument => invoiceOf(number, "2300", more);

export const billDocument = (number: string, more: Partial<InvoiceDocument> = {}) =>
  invoiceDocument(number, { type: "in", ...more });

export {
  itemOf,
  paymentOf as paymentDocument,
  withProduct,
} from "../../test/support/ledger-documents.ts";

export const deliver = (sink: Sink, ...items: readonly Item[]) =>
  sink.send(requestOf(sink, items), never);

export const deliveredAs = (sink: Sink, item: Item, counterpart: string): Delivered => ({
  id: item.id,
  counterpart,
  body: sink.freeze([item]).body,
});

/** A posted invoice that a person entered. */
export function enterInvoice(ledger: Ledger, values: object = {}): Row {
  const { lines, taxes } = invoiceDocument("FL-0");
  return ledger.enter("invoices", {
    state: "posted",
    reference: "FL-0",
    party: "CUST-1",
    date: TODAY,
    due: "2026-12-08",
    order: "PO 4711, contract C-9",
    lines: lines.map(({ description, ...line }) => ({
      ...line,
      account: "4000",
      text: description,
    })),
    taxes: taxes.map(({ description, ...tax }) => ({ ...tax, text: description })),
    ...values,
  });
}

/** A ledger of this test's own, until the test ends. */
export async function openLedger(): Promise<Ledger> {
  const { ledger, close } = await startLedger();
  onTestFinished(close);
  return ledger;
}
