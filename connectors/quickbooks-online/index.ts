/** QuickBooks Online over REST v3: the books of one company. */
import { defineConnector } from "../../src/core/contract.ts";
import { reading, unavailable } from "../../src/ledger/errors.ts";
import { partyListHoldings } from "../../src/ledger/holdings.ts";
import { offered } from "../../src/ledger/parts.ts";
import { openLedger } from "../../src/ledger/table.ts";
import { QuickbooksOnlineConfig } from "./config.ts";
import { documentTable, toldUnder } from "./documents.ts";
import { QUICKBOOKS } from "./errors.ts";
import { examineOnline, warningsOf } from "./examine.ts";
import { expectFit, openOnline } from "./online.ts";
import { orderTable } from "./orders.ts";
import { partyTable } from "./parties.ts";
import { paymentTable } from "./payments.ts";
import { everyParty, invoicesChanged, partySource, priceTable } from "./sources.ts";
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
    const invoice = documentTable(online, "invoice");
    const changed = (withFaults: boolean) => ({
      ...invoice.records,
      changed: invoicesChanged(online, { withFaults }),
    });
    const { sources, sinks, holdings } = openLedger({
      ...QUICKBOOKS,
      tables: {
        invoice: { ...invoice, records: changed(true) },
        // Void or of another shape: a mapping of paid invoices looks links up by their ids.
        paidInvoice: {
          ...invoice,
          records: changed(false),
          tell: (entry) => toldUnder(config, entry, entry.native.Id),
        },
        bill: documentTable(online, "bill"),
        order: orderTable(online),
        payment: paymentTable(online),
        party: { sale: partyTable(online, "sale"), purchase: partyTable(online, "purchase") },
        ...(config.prices === undefined ? {} : { price: priceTable(online, config.prices) }),
      },
      holdings: {
        party: partyListHoldings(
          QUICKBOOKS.name,
          (signal) => everyParty(online, signal),
          (error) => unavailable(error, QUICKBOOKS),
        ),
      },
      settleMs: config.settleMs,
      settleAfterMs: config.settleAfter,
      surroundings,
    });
    return {
      sources: { ...sources, parties: partySource(online) },
      sinks,
      holdings,
      check: (signal) => reading(QUICKBOOKS, () => expectFit(online, signal)),
      readAgain: () => online.names.codes.forget(),
      warnings: () => warningsOf(online),
      examine: (signal, needs) => examineOnline(online, signal, needs),
      close: () => wire.close(),
    };
  },
});
