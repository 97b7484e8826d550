/** Tryton over its JSON-RPC: the books of one company, as any of its clients writes them. */
import { defineConnector, type Source } from "../../src/core/contract.ts";
import { fileSinks } from "../../src/ledger/files.ts";
import { type Ledger, offered, openLedger } from "../../src/ledger/table.ts";
import { fileTables } from "./attachments.ts";
import { type Books, openLookup } from "./books.ts";
import { TrytonConfig } from "./config.ts";
import { checkTryton, controlOf, examineTryton } from "./examine.ts";
import { orderTable, ticketTable } from "./goods.ts";
import { invoiceTable } from "./invoices.ts";
import { partyTable } from "./parties.ts";
import { paymentTable } from "./payments.ts";
import { priceTable } from "./sources.ts";
import { openTryton, TRYTON } from "./wire.ts";

/** The books of one company as the driver of src/ledger sees them. */
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
    config: books.config,
    onAccount: true,
    surroundings: books.surroundings,
  });

/** Sinks for what hangs on documents, by the sinks that book these. */
const FILES = {
  invoices: { pdf: "invoiceFiles" },
  bills: { pdf: "billFiles" },
  shipments: { pdf: "shipmentFiles" },
};

export const tryton = defineConnector<TrytonConfig>({
  name: "tryton",
  config: TrytonConfig,
  offers: () => ({
    sources: offered(["parties", "invoices", "paidInvoices", "prices"]),
    sinks: offered(["invoices", "bills", "payments", "orders", "shipments"], FILES),
  }),
  open(settings, surroundings) {
    const config = { ...settings, currency: surroundings.currency };
    const wire = openTryton(config, surroundings);
    const lookup = openLookup(wire, surroundings);
    const books: Books = { config, tryton: wire, lookup, surroundings };
    const { books: named, sources, sinks, holdings } = ledgerOf(books);
    return {
      // What is paid, what is paid in part, and what is no longer: the same walk, with a position of its own.
      sources: { ...sources, paidInvoices: sources["invoices"] as Source },
      sinks: { ...sinks, ...fileSinks(named, fileTables(books)) },
      check: (signal) => checkTryton(books, signal),
      readAgain: () => lookup.forget(),
      examine: (signal, needs) => examineTryton(books, signal, needs),
      holdings: { ...holdings, control: (kind, signal) => controlOf(books, kind, signal) },
      close: () => wire.close(),
    };
  },
});
