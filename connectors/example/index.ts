/** The books of one company in a little ledger over HTTP. */
import { z } from "zod";
import { offered, openLedger } from "../../src/ledger/table.ts";
import { defineConnector } from "../../src/core/contract.ts";
import { ExampleConfig } from "./config.ts";
import { BOOKS, tablesOf } from "./tables.ts";
import { errors, openWire } from "./wire.ts";

const Company = z.object({ currency: z.string() });

export const example = defineConnector<ExampleConfig>({
  name: "example",
  config: ExampleConfig,
  offers: () => ({
    sources: offered(["parties", "invoices", "paidInvoices", "prices"]),
    sinks: offered(["invoices", "bills", "payments"]),
  }),
  open(config, surroundings) {
    const wire = openWire(config);
    const ledger = openLedger({
      name: BOOKS,
      tables: tablesOf(wire, config),
      errors,
      config,
      onAccount: true,
      surroundings,
      currency: async (signal) => (await wire.call("/company", {}, Company, signal)).currency,
    });
    return { ...ledger, close: () => wire.close() };
  },
});
