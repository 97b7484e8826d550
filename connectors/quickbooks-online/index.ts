/** QuickBooks Online over REST v3: the books of one company. */
import type { Books } from "../../src/ledger/port.ts";
import { ledgerSink } from "../../src/ledger/sink.ts";
import {
  holdingsOf,
  kindHoldings,
  partyListHoldings,
  priceHoldings,
} from "../../src/ledger/holdings.ts";
import { unavailable } from "../../src/ledger/errors.ts";
import { defineConnector } from "../../src/core/contract.ts";
import { orderSink } from "../quickbooks/order-sink.ts";
import { QuickbooksOnlineConfig } from "./config.ts";
import type { DocumentKind } from "./documents.ts";
import { QUICKBOOKS } from "./errors.ts";
import { checkOnline, examineOnline, warningsOf } from "./examine.ts";
import { documentAdapter } from "./invoices.ts";
import { openOnline } from "./online.ts";
import { orderAdapter } from "./orders.ts";
import { partyAdapter } from "./parties.ts";
import { paymentAdapter } from "./payments.ts";
import {
  everyParty,
  invoiceSource,
  paidInvoiceSource,
  partySource,
  priceSource,
} from "./sources.ts";
import { openWire } from "./wire.ts";

const offer = (name: string) => ({ form: `books.${name}` });

export const quickbooksOnline = defineConnector<QuickbooksOnlineConfig>({
  name: "quickbooks-online",
  config: QuickbooksOnlineConfig,
  offers: ({ prices }) => ({
    sources: {
      parties: offer("parties"),
      invoices: offer("invoices"),
      paidInvoices: offer("paidInvoices"),
      ...(prices === undefined ? {} : { prices: offer("prices") }),
    },
    sinks: {
      orders: offer("orders"),
      invoices: offer("invoices"),
      bills: offer("bills"),
      payments: offer("payments"),
    },
  }),
  open(config, surroundings) {
    const wire = openWire(config, surroundings);
    const online = openOnline(config, surroundings, wire);
    const shared = {
      ...QUICKBOOKS,
      settleMs: config.settleMs,
      settleAfterMs: config.settleAfter,
      surroundings,
    };
    // Customers and vendors are two lists: the party of an invoice is one, that of a bill the other.
    const booksOf = (kind: DocumentKind): Books => ({
      ...shared,
      adapters: {
        invoice: documentAdapter(online, "invoice"),
        bill: documentAdapter(online, "bill"),
        payment: paymentAdapter(online),
        order: orderAdapter(online),
        party: partyAdapter(online, kind),
      },
    });
    const [sales, purchases] = [booksOf("invoice"), booksOf("bill")];
    const prices = config.prices === undefined ? null : priceSource(online);
    return {
      sources: {
        parties: partySource(online),
        invoices: invoiceSource(online),
        paidInvoices: paidInvoiceSource(online),
        ...(prices === null ? {} : { prices }),
      },
      sinks: {
        orders: orderSink({
          sale: ledgerSink(sales, "order"),
          purchase: ledgerSink(purchases, "order"),
        }),
        invoices: ledgerSink(sales, "invoice"),
        bills: ledgerSink(purchases, "bill"),
        payments: ledgerSink(sales, "payment"),
      },
      check: (signal) => checkOnline(online, signal),
      readAgain: () => online.names.codes.forget(),
      warnings: () => warningsOf(online),
      examine: (signal, needs) => examineOnline(online, signal, needs),
      holdings: holdingsOf(QUICKBOOKS.name, {
        invoice: kindHoldings(sales, "invoice"),
        bill: kindHoldings(purchases, "bill"),
        payment: kindHoldings(sales, "payment"),
        "bill-payment": kindHoldings(sales, "bill-payment"),
        order: kindHoldings(sales, "order", purchases),
        party: partyListHoldings(
          QUICKBOOKS.name,
          (signal) => everyParty(online, signal),
          (error) => unavailable(error, sales),
        ),
        ...(prices === null
          ? {}
          : { price: priceHoldings(QUICKBOOKS.name, surroundings.currency, prices) }),
      }),
      close: () => wire.close(),
    };
  },
});
