/** Microsoft Dynamics 365 Business Central over its API v2.0: the books of one company. */
import { z } from "zod";
import { defineConnector } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { reading } from "../../src/ledger/errors.ts";
import { fileSinks } from "../../src/ledger/files.ts";
import { offered, openLedger } from "../../src/ledger/table.ts";
import { fileTables } from "./attachments.ts";
import { BusinessCentralConfig } from "./config.ts";
import { documents } from "./documents.ts";
import { examine } from "./examine.ts";
import { orders } from "./orders.ts";
import { parties } from "./parties.ts";
import { payments } from "./payments.ts";
import { priceTable } from "./prices.ts";
import { BOOKS, errors, openWire } from "./wire.ts";

const Information = z.object({ value: z.array(z.object({ currencyCode: z.string() })) });

export const businessCentral = defineConnector<BusinessCentralConfig>({
  name: "business-central",
  config: BusinessCentralConfig,
  offers: ({ prices, journals }) => ({
    sources: {
      customers: { form: "books.parties" },
      suppliers: { form: "books.parties" },
      ...offered(["invoices", "paidInvoices", ...(prices === undefined ? [] : ["prices"])]),
    },
    sinks: offered(
      ["orders", "invoices", "bills", ...(journals === undefined ? [] : ["payments"])],
      { invoices: { pdf: "invoiceFiles" }, bills: { pdf: "billFiles" } },
    ),
  }),
  open(config, surroundings) {
    const wire = openWire(config, surroundings);
    const invoice = documents(wire, config, surroundings, "invoice");
    const { books, ...ledger } = openLedger({
      name: BOOKS,
      tables: {
        invoice,
        paidInvoice: invoice,
        order: orders(wire, config),
        bill: documents(wire, config, surroundings, "bill"),
        party: {
          sale: parties(wire, config, surroundings, "sale"),
          purchase: parties(wire, config, surroundings, "purchase"),
        },
        ...(config.journals === undefined ? {} : { payment: payments(wire, config.journals) }),
        ...(config.prices === undefined ? {} : { price: priceTable(wire, config.prices) }),
      },
      errors,
      settleMs: config.settleMs,
      settleAfterMs: config.settleAfter,
      onAccount: true,
      surroundings,
    });
    return {
      ...ledger,
      sinks: { ...ledger.sinks, ...fileSinks(books, fileTables(wire)) },
      async check(signal) {
        const asked = () => wire.call("/companyInformation", Information, {}, signal);
        const { value } = await reading(books, asked);
        const currency = value.at(0)?.currencyCode;
        if (currency === surroundings.currency) return;
        throw new SourceUnavailable(`${BOOKS} keeps ${currency}, not ${surroundings.currency}`, {
          next: "Correct the company's currency in the configuration, or the company of Business Central.",
        });
      },
      examine: (signal, needs) => examine(wire, config, signal, needs),
      close: () => wire.close(),
    };
  },
});
