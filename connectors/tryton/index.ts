/** Tryton over its JSON-RPC: the books of one company, as any of its clients writes them. */
import { defineConnector, type Offer, type Sink } from "../../src/core/contract.ts";
import {
  ledgerHoldings,
  PAGE_RECORDS,
  partyHoldings,
  priceHoldings,
  type Told,
} from "../../src/ledger/holdings.ts";
import { offered, opened } from "../../src/ledger/parts.ts";
import type { Books as AnyBooks, LedgerKind } from "../../src/ledger/port.ts";
import { ledgerSink } from "../../src/ledger/sink.ts";
import { files } from "./attachments.ts";
import { type Books, openLookup, partyAdapter } from "./books.ts";
import { TrytonConfig } from "./config.ts";
import { checkTryton, controlOf, examineTryton } from "./examine.ts";
import { orderAdapter, shipmentAdapter } from "./goods.ts";
import { invoiceAdapter } from "./invoices.ts";
import { paymentAdapter } from "./payments.ts";
import { idsOf } from "./rows.ts";
import { invoices, paidInvoices, parties, partyChanges, prices } from "./sources.ts";
import { openTryton, TRYTON, unavailable } from "./wire.ts";

/* The books of one company as the driver of src/ledger sees them, and the sinks of its documents. */

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
const sinks = {
  invoices: invoiceSink,
  bills: billSink,
  payments: paymentSink,
  orders: orderSink,
  shipments: shipmentSink,
};

const sources = { parties, invoices, paidInvoices, prices };
const filesOf: Readonly<Record<string, Partial<Offer>>> = {
  invoices: { pdf: "invoiceFiles" },
  bills: { pdf: "billFiles" },
  shipments: { pdf: "shipmentFiles" },
};

export const tryton = defineConnector<TrytonConfig>({
  name: "tryton",
  config: TrytonConfig,
  offers: () => ({
    sources: offered(Object.keys(sources)),
    sinks: offered(Object.keys(sinks), filesOf),
  }),
  open(settings, surroundings) {
    const config = { ...settings, currency: surroundings.currency };
    const wire = openTryton(config, surroundings);
    const books: Books = {
      config,
      tryton: wire,
      lookup: openLookup(wire, surroundings),
      surroundings,
    };
    return {
      sources: opened(sources, books),
      sinks: opened({ ...sinks, ...files }, books),
      check: (signal) => checkTryton(books, signal),
      readAgain: () => books.lookup.forget(),
      examine: (signal, needs) => examineTryton(books, signal, needs),
      holdings: {
        ...ledgerHoldings(driven(books), {
          party: partyHoldings(TRYTON.name, toldParties(books)),
          price: priceHoldings(TRYTON.name, config.currency, prices(books)),
        }),
        control: (kind, signal) => controlOf(books, kind, signal),
      },
      close: () => wire.close(),
    };
  },
});

const toldParties = (books: Books): Told => ({
  idsAfter: (id, signal) =>
    idsOf(books, "party.party", [["id", ">", id]], { most: PAGE_RECORDS, inactive: true, signal }),
  idsNamed: (codes, signal) =>
    idsOf(books, "party.party", [["code", "in", codes]], { inactive: true, signal }),
  changes: (ids, signal) => partyChanges(books, ids, signal),
  unavailable,
});
