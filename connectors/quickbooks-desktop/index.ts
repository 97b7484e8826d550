/** QuickBooks Desktop through its Web Connector, which calls us: the books of one company file. */
import type { Books } from "../../src/books/adapter.ts";
import { bookSink } from "../../src/books/driver.ts";
import { holdingsOf } from "../../src/books/holdings.ts";
import { kindHoldings } from "../../src/books/held.ts";
import { defineConnector, type Sink, type Surroundings } from "../../src/core/contract.ts";
import type { Side } from "../quickbooks/names.ts";
import { DesktopConfig } from "./config.ts";
import { examineDesktop } from "./examine.ts";
import { invoiceAdapter } from "./invoices.ts";
import { partyAdapter } from "./parties.ts";
import { paymentAdapter } from "./payments.ts";
import { errors } from "./status.ts";
import { toldIn } from "./told.ts";
import { openWire, type Wire } from "./wire.ts";

export const quickbooksDesktop = defineConnector<DesktopConfig>({
  name: "quickbooks-desktop",
  config: DesktopConfig,
  offers: () => ({
    sources: {},
    sinks: {
      invoices: { form: "books.invoices" },
      bills: { form: "books.bills" },
      payments: { form: "books.payments" },
    },
  }),
  open(config, surroundings) {
    const wire = openWire(config, surroundings);
    const sales = booksOf(wire, config, surroundings, "customer");
    const purchases = booksOf(wire, config, surroundings, "vendor");
    const here = (sink: Sink): Sink => ({ ...sink, expect: (signal) => wire.expect(signal) });
    return {
      sources: {},
      sinks: {
        invoices: here(bookSink(sales, "invoice")),
        bills: here(bookSink(purchases, "bill")),
        payments: here(bookSink(sales, "payment")),
      },
      check: (signal) => wire.expect(signal),
      examine: async (signal, needs) => {
        const told = toldIn(surroundings.notebook);
        return told === null ? [] : await examineDesktop(config, told, needs, signal);
      },
      presence: () => wire.presence(),
      holdings: holdingsOf(sales.name, {
        invoice: kindHoldings(sales, "invoice"),
        bill: kindHoldings(purchases, "bill"),
        payment: kindHoldings(sales, "payment"),
        "bill-payment": kindHoldings(sales, "bill-payment"),
      }),
      close: () => wire.close(),
    };
  },
});

/**
 * The books as one side sees them: QuickBooks keeps customers and vendors in two lists.
 * @param side whose documents: a payment has no party of its own
 */
export function booksOf(
  wire: Pick<Wire, "read" | "write">,
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
      party: partyAdapter(wire, config, side),
    },
    errors,
    settleMs: config.settleMs,
    settleAfterMs: config.settleAfter,
    surroundings,
  };
}
