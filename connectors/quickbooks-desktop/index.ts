/** QuickBooks Desktop through its Web Connector, which calls us: the books of one company file. */
import type { Books } from "../../src/ledger/port.ts";
import { ledgerSink } from "../../src/ledger/sink.ts";
import { unavailable } from "../../src/ledger/errors.ts";
import {
  holdingsOf,
  kindHoldings,
  partyListHoldings,
  priceHoldings,
} from "../../src/ledger/holdings.ts";
import { defineConnector, type Sink, type Surroundings } from "../../src/core/contract.ts";
import type { Side } from "../quickbooks/text.ts";
import { orderSink } from "../quickbooks/order-sink.ts";
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
    sources: {
      parties: { form: "books.parties" },
      invoices: { form: "books.invoices" },
      paidInvoices: { form: "books.paidInvoices" },
      ...(prices === undefined ? {} : { prices: { form: "books.prices" } }),
    },
    sinks: {
      invoices: { form: "books.invoices" },
      // A receipt with its order's prices owes what the bill would owe once more (ADR 0068).
      ...(receipts === "unpriced" ? { bills: { form: "books.bills" } } : {}),
      payments: { form: "books.payments" },
      orders: { form: "books.orders" },
      shipments: { form: "books.shipments" },
    },
  }),
  open(config, surroundings) {
    const wire = openWire(config, surroundings);
    const sales = booksOf(wire, config, surroundings, "customer");
    const purchases = booksOf(wire, config, surroundings, "vendor");
    const here = (sink: Sink): Sink => ({ ...sink, expect: (signal) => wire.expect(signal) });
    const sources = desktopSources(wire, config, surroundings, sales);
    return {
      sources,
      sinks: {
        invoices: here(ledgerSink(sales, "invoice")),
        bills: here(ledgerSink(purchases, "bill")),
        payments: here(ledgerSink(sales, "payment")),
        orders: here(
          orderSink({ sale: ledgerSink(sales, "order"), purchase: ledgerSink(purchases, "order") }),
        ),
        shipments: here(ledgerSink(purchases, "shipment")),
      },
      check: (signal) => wire.expect(signal),
      examine: async (signal, needs) => {
        const told = toldIn(surroundings.notebook);
        return told === null ? [] : await examineDesktop(config, told, needs, signal);
      },
      presence: () => wire.presence(),
      readAgain: () => wire.tellAgain(),
      holdings: holdingsOf(sales.name, {
        invoice: kindHoldings(tellingBooks(wire, config, surroundings, sales), "invoice"),
        bill: kindHoldings(purchases, "bill"),
        payment: kindHoldings(sales, "payment"),
        "bill-payment": kindHoldings(sales, "bill-payment"),
        order: kindHoldings(sales, "order", purchases),
        ticket: kindHoldings(purchases, "ticket"),
        party: partyListHoldings(
          sales.name,
          (signal) => everyParty(wire, signal),
          (error) => unavailable(error, sales),
        ),
        ...(sources.prices === undefined
          ? {}
          : { price: priceHoldings(sales.name, surroundings.currency, sources.prices) }),
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

/**
 * The books as one side sees them: QuickBooks keeps customers and vendors in two lists.
 * @param side whose documents: a payment has no party of its own
 */
export function booksOf(
  wire: Pick<Wire, "read" | "write"> & Partial<Pick<Wire, "company" | "session">>,
  config: DesktopConfig,
  surroundings: Surroundings,
  side: Side,
): Books {
  const { currency } = surroundings;
  return {
    name: "QuickBooks",
    adapters: {
      invoice: invoiceAdapter(wire, config, currency, "invoice"),
      bill: invoiceAdapter(wire, config, currency, "bill"),
      payment: paymentAdapter(wire, config, currency),
      party: partyAdapter(wire, config, side, () => surroundings.now()),
      order: orderAdapter(wire, config),
      shipment: receiptAdapter(wire, config),
    },
    errors,
    settleMs: config.settleMs,
    settleAfterMs: config.settleAfter,
    surroundings,
  };
}
