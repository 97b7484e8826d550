/** QuickBooks Desktop through its Web Connector, which calls us: the books of one company file. */
import { defineConnector, type Surroundings } from "../../src/core/contract.ts";
import { defined } from "../../src/core/defined.ts";
import { offered, openLedger } from "../../src/ledger/table.ts";
import {
  BOOKS,
  documentTable,
  invoiceTables,
  partyTable,
  paymentTable,
} from "../quickbooks/documents.ts";
import { DesktopConfig } from "./config.ts";
import { desktopPayments, documentBooks } from "./documents.ts";
import { type Asker, checksOf, openRecords, openWire, toldIn } from "./wire.ts";
import { orderTable, receiptTable } from "./goods.ts";
import { invoicesChanged, partyList, partySource, priceTable } from "./sources.ts";
import { errors } from "./qbxml.ts";

export const quickbooksDesktop = defineConnector<DesktopConfig>({
  name: "quickbooks-desktop",
  config: DesktopConfig,
  offers: ({ prices, receipts }) => ({
    sources: offered(["parties", "invoices", "paidInvoices", prices !== undefined && "prices"]),
    sinks: offered([
      "invoices",
      // A receipt with its order's prices owes what the bill would owe once more (ADR 0017).
      receipts === "unpriced" && "bills",
      "payments",
      "orders",
      "shipments",
    ]),
  }),
  open(config, surroundings) {
    const wire = openWire(config, surroundings);
    return {
      ...ledgerOf(wire, config, surroundings),
      presence: () => wire.presence(),
      readAgain: () => wire.tellAgain(),
      close: () => wire.close(),
    };
  },
});

export function ledgerOf(
  wire: Asker,
  config: DesktopConfig,
  surroundings: Pick<Surroundings, "now" | "ignore" | "currency" | "notebook">,
) {
  const records = openRecords(wire);
  const { prices, unit } = config;
  const { currency } = surroundings;
  // QuickBooks keeps customers and vendors in two lists.
  const customers = partyList(records, config, "customer");
  const vendors = partyList(records, config, "vendor");
  const invoices = documentBooks(records, config, "sale", customers);
  return openLedger({
    name: BOOKS,
    tables: {
      ...invoiceTables(invoices, invoicesChanged(records, currency)),
      bill: documentTable(documentBooks(records, config, "purchase")),
      payment: paymentTable(desktopPayments(records, config)),
      party: {
        sale: partyTable(customers, surroundings),
        purchase: partyTable(vendors, surroundings),
      },
      parties: { changed: (telling) => partySource(records, telling) },
      order: orderTable(records, config),
      shipment: receiptTable(records, config),
      ...(prices === undefined ? {} : { price: priceTable(records, prices, unit) }),
    },
    errors,
    ...defined({ expect: wire.expect }),
    config,
    surroundings,
    check: async (signal) => wire.expect?.(signal),
    checks: (needs) => checksOf(config, toldIn(surroundings.notebook), needs),
  });
}
