/** QuickBooks Online over REST v3: the books of one company. */
import { defineConnector } from "../../src/core/contract.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import { offered, openLedger } from "../../src/ledger/table.ts";
import { documentTable, invoiceTables, partyTable, paymentTable } from "../quickbooks/documents.ts";
import { QuickbooksOnlineConfig } from "./config.ts";
import { documentBooks, onlinePayments } from "./documents.ts";
import { openWire, QUICKBOOKS } from "./wire.ts";
import { checksOf, warningsOf } from "./examine.ts";
import { expectFit, openOnline, partyList } from "./online.ts";
import { orderTable } from "./orders.ts";
import { invoicesChanged, partySource, priceTable } from "./sources.ts";

export const quickbooksOnline = defineConnector<QuickbooksOnlineConfig>({
  name: "quickbooks-online",
  config: QuickbooksOnlineConfig,
  offers: ({ prices }) => ({
    sources: offered(["parties", "invoices", "paidInvoices", prices !== undefined && "prices"]),
    sinks: offered(["orders", "invoices", "bills", "payments"]),
  }),
  open(config, surroundings) {
    const wire = openWire(config, surroundings);
    const online = openOnline(config, surroundings, wire);
    const invoices = documentBooks(online, "invoice");
    const parties = (side: LedgerSide) => partyTable(partyList(online, side), surroundings);
    const ledger = openLedger({
      ...QUICKBOOKS,
      tables: {
        ...invoiceTables(invoices, (telling) => invoicesChanged(online, telling)),
        bill: documentTable(documentBooks(online, "bill")),
        order: orderTable(online),
        payment: paymentTable(onlinePayments(online)),
        party: { sale: parties("sale"), purchase: parties("purchase") },
        parties: { changed: (telling) => partySource(online, telling) },
        ...(config.prices === undefined ? {} : { price: priceTable(online, config.prices) }),
      },
      config,
      surroundings,
      check: (signal) => expectFit(online, signal),
      checks: (needs, signal) => checksOf(online, needs, signal),
    });
    return {
      ...ledger,
      readAgain: () => online.names.codes.forget(),
      warnings: () => warningsOf(online),
      close: () => wire.close(),
    };
  },
});
