/** QuickBooks Online over REST v3: the books of one company. */
import type { Books } from "../../src/ledger/port.ts";
import { ledgerSink } from "../../src/ledger/sink.ts";
import { ledgerHoldings, partyListHoldings, priceHoldings } from "../../src/ledger/holdings.ts";
import { unavailable } from "../../src/ledger/errors.ts";
import { offered } from "../../src/ledger/parts.ts";
import { defineConnector } from "../../src/core/contract.ts";
import { QuickbooksOnlineConfig } from "./config.ts";
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

export const quickbooksOnline = defineConnector<QuickbooksOnlineConfig>({
  name: "quickbooks-online",
  config: QuickbooksOnlineConfig,
  offers: ({ prices }) => ({
    sources: offered([
      "parties",
      "invoices",
      "paidInvoices",
      ...(prices === undefined ? [] : ["prices"]),
    ]),
    sinks: offered(["orders", "invoices", "bills", "payments"]),
  }),
  open(config, surroundings) {
    const wire = openWire(config, surroundings);
    const online = openOnline(config, surroundings, wire);
    const books: Books = {
      ...QUICKBOOKS,
      adapters: {
        invoice: documentAdapter(online, "invoice"),
        bill: documentAdapter(online, "bill"),
        payment: paymentAdapter(online),
        order: orderAdapter(online),
        party: { sale: partyAdapter(online, "invoice"), purchase: partyAdapter(online, "bill") },
      },
      settleMs: config.settleMs,
      settleAfterMs: config.settleAfter,
      surroundings,
    };
    const prices = config.prices === undefined ? null : priceSource(online);
    return {
      sources: {
        parties: partySource(online),
        invoices: invoiceSource(online),
        paidInvoices: paidInvoiceSource(online),
        ...(prices === null ? {} : { prices }),
      },
      sinks: {
        orders: ledgerSink(books, "order"),
        invoices: ledgerSink(books, "invoice"),
        bills: ledgerSink(books, "bill"),
        payments: ledgerSink(books, "payment"),
      },
      check: (signal) => checkOnline(online, signal),
      readAgain: () => online.names.codes.forget(),
      warnings: () => warningsOf(online),
      examine: (signal, needs) => examineOnline(online, signal, needs),
      holdings: ledgerHoldings(books, {
        party: partyListHoldings(
          QUICKBOOKS.name,
          (signal) => everyParty(online, signal),
          (error) => unavailable(error, books),
        ),
        ...(prices === null
          ? {}
          : { price: priceHoldings(QUICKBOOKS.name, surroundings.currency, prices) }),
      }),
      close: () => wire.close(),
    };
  },
});
