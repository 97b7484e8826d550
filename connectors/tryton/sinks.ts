/** The books of one company as the driver of src/ledger sees them, and the sinks of its documents. */
import type { LedgerKind, Books as AnyBooks } from "../../src/ledger/port.ts";
import { ledgerSink } from "../../src/ledger/sink.ts";
import type { Sink } from "../../src/core/contract.ts";
import type { Books } from "./books.ts";
import { TRYTON } from "./errors.ts";
import { invoiceAdapter } from "./invoices.ts";
import { orderAdapter } from "./orders.ts";
import { partyAdapter } from "./parties.ts";
import { paymentAdapter } from "./payments.ts";
import { shipmentAdapter } from "./shipments.ts";

export const driven = (books: Books): AnyBooks => ({
  ...TRYTON,
  adapters: {
    invoice: invoiceAdapter(books, "invoice"),
    bill: invoiceAdapter(books, "bill"),
    payment: paymentAdapter(books),
    party: partyAdapter(books),
    order: orderAdapter(books),
    shipment: shipmentAdapter(books),
  },
  settleMs: books.config.settleMs,
  settleAfterMs: books.config.settleAfter,
  onAccount: true,
  surroundings: books.surroundings,
});

const sinkOf =
  (kind: LedgerKind) =>
  (books: Books): Sink =>
    ledgerSink(driven(books), kind);

export const invoiceSink = sinkOf("invoice");
export const billSink = sinkOf("bill");
export const paymentSink = sinkOf("payment");
export const orderSink = sinkOf("order");
export const shipmentSink = sinkOf("shipment");

/** By the names that a configuration gives them. */
export const sinks = {
  invoices: invoiceSink,
  bills: billSink,
  payments: paymentSink,
  orders: orderSink,
  shipments: shipmentSink,
};
