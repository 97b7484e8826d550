/** The books of one company in a little ledger over HTTP. */
import { z } from "zod";
import { reading } from "../../src/ledger/errors.ts";
import { offered, openLedger } from "../../src/ledger/table.ts";
import { defineConnector } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { ExampleConfig } from "./config.ts";
import { BOOKS, tablesOf } from "./tables.ts";
import { errors, openWire } from "./wire.ts";

const Company = z.object({ currency: z.string() });

export const example = defineConnector<ExampleConfig>({
  name: "example",
  config: ExampleConfig,
  offers: () => ({
    sources: offered(["parties", "invoices", "prices"]),
    sinks: offered(["invoices", "bills", "payments"]),
  }),
  open(config, surroundings) {
    const wire = openWire(config);
    const { books, ...ledger } = openLedger({
      name: BOOKS,
      tables: tablesOf(wire, config),
      errors,
      settleMs: config.settleMs,
      settleAfterMs: config.settleAfter,
      onAccount: true,
      surroundings,
    });
    return {
      ...ledger,
      async check(signal) {
        const asked = () => wire.call("/company", {}, Company, signal);
        const { currency } = await reading(books, asked);
        if (currency === surroundings.currency) return;
        throw new SourceUnavailable(`${BOOKS} keeps ${currency}, not ${surroundings.currency}`, {
          next: "Correct the company's currency in the configuration, or the address of its ledger.",
        });
      },
      close: () => wire.close(),
    };
  },
});
