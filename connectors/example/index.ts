/** The books of one company in a little ledger over HTTP. */
import { z } from "zod";
import type { Books } from "../../src/ledger/port.ts";
import { ledgerSink } from "../../src/ledger/sink.ts";
import { unavailable } from "../../src/ledger/errors.ts";
import { ledgerHoldings, priceHoldings } from "../../src/ledger/holdings.ts";
import { offered } from "../../src/ledger/parts.ts";
import { defineConnector } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { ExampleConfig } from "./config.ts";
import { errors } from "./errors.ts";
import { invoiceAdapter } from "./invoices.ts";
import { partyAdapter } from "./parties.ts";
import { paymentAdapter } from "./payments.ts";
import { invoiceSource, partySource, priceSource } from "./sources.ts";
import { openWire, type Wire } from "./wire.ts";

export const example = defineConnector<ExampleConfig>({
  name: "example",
  config: ExampleConfig,
  offers: () => ({
    sources: offered(["parties", "invoices", "prices"]),
    sinks: offered(["invoices", "bills", "payments"]),
  }),
  open(config, surroundings) {
    const wire = openWire(config);
    const { currency } = surroundings;
    const books: Books = {
      name: "the ledger",
      adapters: {
        invoice: invoiceAdapter(wire, config, currency, "invoice"),
        bill: invoiceAdapter(wire, config, currency, "bill"),
        payment: paymentAdapter(wire, currency),
        party: partyAdapter(wire),
      },
      errors,
      settleMs: config.settleMs,
      settleAfterMs: config.settleAfterMs,
      onAccount: true,
      surroundings,
    };
    const prices = priceSource(wire, books);
    return {
      sources: {
        parties: partySource(wire, books),
        invoices: invoiceSource(wire, books, currency),
        prices,
      },
      sinks: {
        invoices: ledgerSink(books, "invoice"),
        bills: ledgerSink(books, "bill"),
        payments: ledgerSink(books, "payment"),
      },
      check: (signal) => check(wire, books, currency, signal),
      holdings: ledgerHoldings(books, { price: priceHoldings(books.name, currency, prices) }),
      close: () => wire.close(),
    };
  },
});

const Company = z.object({ currency: z.string() });

/** @throws SourceUnavailable */
async function check(
  wire: Wire,
  books: Books,
  currency: string,
  signal: AbortSignal,
): Promise<void> {
  const company = await wire.call("/company", {}, Company, signal).catch((error: unknown) => {
    throw unavailable(error, books);
  });
  if (company.currency === currency) return;
  throw new SourceUnavailable(`the ledger keeps ${company.currency}, not ${currency}`, {
    next: "Correct the company's currency in the configuration, or the address of its ledger.",
  });
}
