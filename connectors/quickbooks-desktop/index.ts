/** QuickBooks Desktop through its Web Connector, which calls us: the books of one company file. */
import {
  type Change,
  defineConnector,
  type Sink,
  type Surroundings,
} from "../../src/core/contract.ts";
import { unavailable } from "../../src/ledger/errors.ts";
import { ledgerHoldings, partyListHoldings, priceHoldings } from "../../src/ledger/holdings.ts";
import { offered } from "../../src/ledger/parts.ts";
import type { Books } from "../../src/ledger/port.ts";
import { openLedger } from "../../src/ledger/table.ts";
import type { Side } from "../quickbooks/text.ts";
import { DesktopConfig } from "./config.ts";
import { invoiceTable, paymentTable } from "./documents.ts";
import { examineDesktop, toldIn } from "./examine.ts";
import { orderTable, receiptTable } from "./goods.ts";
import { BOOKS, partyTable } from "./parties.ts";
import type { Asked } from "./records.ts";
import { desktopSources } from "./sources.ts";
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
    const { sinks, telling } = ledgerOf(wire, config, surroundings);
    const sources = desktopSources(wire, config, surroundings, telling);
    const expected = (sink: Sink): Sink => ({ ...sink, expect: (signal) => wire.expect(signal) });
    return {
      sources,
      sinks: Object.fromEntries(
        Object.entries(sinks).map(([name, sink]) => [name, expected(sink)]),
      ),
      check: (signal) => wire.expect(signal),
      examine: async (signal, needs) => {
        const told = toldIn(surroundings.notebook);
        return told === null ? [] : await examineDesktop(config, told, needs, signal);
      },
      presence: () => wire.presence(),
      readAgain: () => wire.tellAgain(),
      holdings: ledgerHoldings(telling, {
        party: partyListHoldings(
          BOOKS,
          (signal) => everyParty(telling, signal),
          (error) => unavailable(error, telling),
        ),
        ...(sources["prices"] === undefined
          ? {}
          : { price: priceHoldings(BOOKS, surroundings.currency, sources["prices"]) }),
      }),
      close: () => wire.close(),
    };
  },
});

/** The books, and `telling`: the same, whose invoices say what a source tells of them. */
export function ledgerOf(
  wire: Asked & Partial<Pick<Wire, "company" | "session">>,
  config: DesktopConfig,
  surroundings: Pick<Surroundings, "now" | "ignore" | "currency">,
) {
  const invoices = <K extends "invoice" | "bill">(kind: K, isTold = false) =>
    invoiceTable(wire, config, surroundings.currency, kind, isTold);
  // QuickBooks keeps customers and vendors in two lists.
  const parties = (side: Side) => partyTable(wire, config, side, () => surroundings.now());
  const tables = {
    invoice: invoices("invoice"),
    bill: invoices("bill"),
    payment: paymentTable(wire, config),
    party: { sale: parties("customer"), purchase: parties("vendor") },
    order: orderTable(wire, config),
    shipment: receiptTable(wire, config),
  };
  const options = {
    name: BOOKS,
    errors,
    settleMs: config.settleMs,
    settleAfterMs: config.settleAfter,
    surroundings,
  };
  const { books, sinks } = openLedger({ ...options, tables });
  const invoice = invoices("invoice", true);
  const telling = openLedger({ ...options, tables: { ...tables, invoice } }).books;
  return { books, sinks, telling };
}

/** Every customer and vendor as it is now, inactive ones too. @throws LedgerError */
export async function* everyParty(
  { adapters: { party } }: Books,
  signal: AbortSignal,
): AsyncGenerator<readonly Change[]> {
  const scope = { dated: null, changedSince: null, open: false };
  for (const adapter of party === undefined || "can" in party ? [] : [party.sale, party.purchase])
    for await (const { entries } of adapter.list?.(scope, null, signal) ?? [])
      yield entries.flatMap(({ change }) => change ?? []);
}
