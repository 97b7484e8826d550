/** QuickBooks Desktop through its Web Connector, which calls us: the books of one company file. */
import type { Books, LedgerKind } from "../../src/ledger/port.ts";
import { ledgerSink } from "../../src/ledger/sink.ts";
import { unavailable } from "../../src/ledger/errors.ts";
import { ledgerHoldings, partyListHoldings, priceHoldings } from "../../src/ledger/holdings.ts";
import { offered } from "../../src/ledger/parts.ts";
import { defineConnector, type Sink, type Surroundings } from "../../src/core/contract.ts";
import type { Side } from "../quickbooks/text.ts";
import { DesktopConfig } from "./config.ts";
import { examineDesktop, toldIn } from "./examine.ts";
import { invoiceAdapter } from "./invoices.ts";
import { orderAdapter, receiptAdapter } from "./goods.ts";
import { partyAdapter } from "./parties.ts";
import { paymentAdapter } from "./payments.ts";
import { desktopSources, everyParty, telling } from "./sources.ts";
import { errors } from "./status.ts";
import { openWire, type Wire } from "./wire.ts";

export const quickbooksDesktop = defineConnector<DesktopConfig>({
  name: "quickbooks-desktop",
  config: DesktopConfig,
  offers: ({ prices, receipts }) => ({
    sources: offered([
      "parties",
      "invoices",
      "paidInvoices",
      ...(prices === undefined ? [] : ["prices"]),
    ]),
    sinks: offered([
      "invoices",
      // A receipt with its order's prices owes what the bill would owe once more (ADR 0017).
      ...(receipts === "unpriced" ? ["bills"] : []),
      "payments",
      "orders",
      "shipments",
    ]),
  }),
  open(config, surroundings) {
    const wire = openWire(config, surroundings);
    const books = booksOf(wire, config, surroundings);
    const sinkOf = (kind: LedgerKind): Sink => ({
      ...ledgerSink(books, kind),
      expect: (signal) => wire.expect(signal),
    });
    const sources = desktopSources(wire, config, surroundings, books);
    return {
      sources,
      sinks: {
        invoices: sinkOf("invoice"),
        bills: sinkOf("bill"),
        payments: sinkOf("payment"),
        orders: sinkOf("order"),
        shipments: sinkOf("shipment"),
      },
      check: (signal) => wire.expect(signal),
      examine: async (signal, needs) => {
        const told = toldIn(surroundings.notebook);
        return told === null ? [] : await examineDesktop(config, told, needs, signal);
      },
      presence: () => wire.presence(),
      readAgain: () => wire.tellAgain(),
      holdings: ledgerHoldings(tellingBooks(wire, config, surroundings, books), {
        party: partyListHoldings(
          books.name,
          (signal) => everyParty(wire, signal),
          (error) => unavailable(error, books),
        ),
        ...(sources.prices === undefined
          ? {}
          : { price: priceHoldings(books.name, surroundings.currency, sources.prices) }),
      }),
      close: () => wire.close(),
    };
  },
});

/** The same, with what the source of invoices tells of each. */
const tellingBooks = (
  wire: Wire,
  config: DesktopConfig,
  { currency }: Surroundings,
  books: Books,
): Books => {
  const invoice = invoiceAdapter(wire, config, currency, "invoice");
  return {
    ...books,
    adapters: { ...books.adapters, invoice: telling(invoice, { wire, config, currency }) },
  };
};

/** QuickBooks keeps customers and vendors in two lists. */
export function booksOf(
  wire: Pick<Wire, "read" | "write"> & Partial<Pick<Wire, "company" | "session">>,
  config: DesktopConfig,
  surroundings: Surroundings,
): Books {
  const partiesOf = (side: Side) => partyAdapter(wire, config, side, () => surroundings.now());
  const { currency } = surroundings;
  return {
    name: "QuickBooks",
    adapters: {
      invoice: invoiceAdapter(wire, config, currency, "invoice"),
      bill: invoiceAdapter(wire, config, currency, "bill"),
      payment: paymentAdapter(wire, config, currency),
      party: { sale: partiesOf("customer"), purchase: partiesOf("vendor") },
      order: orderAdapter(wire, config),
      shipment: receiptAdapter(wire, config),
    },
    errors,
    settleMs: config.settleMs,
    settleAfterMs: config.settleAfter,
    surroundings,
  };
}
