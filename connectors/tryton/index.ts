/** Tryton over its JSON-RPC: the books of one company, as any of its clients writes them. */
import { defineConnector, type Offer, type Sink, type Source } from "../../src/core/contract.ts";
import { offered, opened } from "../../src/ledger/parts.ts";
import type { Books as AnyBooks } from "../../src/ledger/port.ts";
import { type Ledger, openLedger } from "../../src/ledger/table.ts";
import { files } from "./attachments.ts";
import { type Books, openLookup } from "./books.ts";
import { TrytonConfig } from "./config.ts";
import { checkTryton, controlOf, examineTryton } from "./examine.ts";
import { orderTable, ticketTable } from "./goods.ts";
import { invoiceTable } from "./invoices.ts";
import { partyTable } from "./parties.ts";
import { paymentTable } from "./payments.ts";
import { priceTable } from "./sources.ts";
import { openTryton, TRYTON } from "./wire.ts";

/* The books of one company as the driver of src/ledger sees them, and the sinks of its documents. */

export const ledgerOf = (books: Books): Ledger =>
  openLedger({
    ...TRYTON,
    tables: {
      invoice: invoiceTable(books, "invoice"),
      bill: invoiceTable(books, "bill"),
      payment: paymentTable(books),
      party: partyTable(books),
      price: priceTable(books),
      order: orderTable(books),
      shipment: ticketTable(books),
    },
    settleMs: books.config.settleMs,
    settleAfterMs: books.config.settleAfter,
    onAccount: true,
    surroundings: books.surroundings,
  });

export const driven = (books: Books): AnyBooks => ledgerOf(books).books;

const sinkOf =
  (name: string) =>
  (books: Books): Sink =>
    ledgerOf(books).sinks[name] as Sink;

export const invoiceSink = sinkOf("invoices");
export const billSink = sinkOf("bills");
export const paymentSink = sinkOf("payments");
export const orderSink = sinkOf("orders");
export const shipmentSink = sinkOf("shipments");

const filesOf: Readonly<Record<string, Partial<Offer>>> = {
  invoices: { pdf: "invoiceFiles" },
  bills: { pdf: "billFiles" },
  shipments: { pdf: "shipmentFiles" },
};

export const tryton = defineConnector<TrytonConfig>({
  name: "tryton",
  config: TrytonConfig,
  offers: () => ({
    sources: offered(["parties", "invoices", "paidInvoices", "prices"]),
    sinks: offered(["invoices", "bills", "payments", "orders", "shipments"], filesOf),
  }),
  open(settings, surroundings) {
    const config = { ...settings, currency: surroundings.currency };
    const wire = openTryton(config, surroundings);
    const lookup = openLookup(wire, surroundings);
    const books: Books = { config, tryton: wire, lookup, surroundings };
    const { sources, sinks, holdings } = ledgerOf(books);
    return {
      // What is paid, what is paid in part, and what is no longer: the same walk, with a position of its own.
      sources: { ...sources, paidInvoices: sources["invoices"] as Source },
      sinks: { ...sinks, ...opened(files, books) },
      check: (signal) => checkTryton(books, signal),
      readAgain: () => lookup.forget(),
      examine: (signal, needs) => examineTryton(books, signal, needs),
      holdings: { ...holdings, control: (kind, signal) => controlOf(books, kind, signal) },
      close: () => wire.close(),
    };
  },
});
