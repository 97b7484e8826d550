/** Microsoft Dynamics 365 Business Central over its API v2.0: the books of one company. */
import { z } from "zod";
import { defineConnector } from "../../src/core/contract.ts";
import { offered, openLedger } from "../../src/ledger/table.ts";
import { BusinessCentralConfig } from "./config.ts";
import { documents, fileTables, orders, payments } from "./documents.ts";
import { checksOf } from "./examine.ts";
import { parties, priceTable } from "./lists.ts";
import { BOOKS, errors, openWire } from "./wire.ts";

const Information = z.object({ value: z.array(z.object({ currencyCode: z.string() })) });

export const businessCentral = defineConnector<BusinessCentralConfig>({
  name: "business-central",
  config: BusinessCentralConfig,
  offers: ({ prices, journals }) => ({
    sources: offered([
      "customers",
      "suppliers",
      "invoices",
      "paidInvoices",
      prices !== undefined && "prices",
    ]),
    sinks: offered(["orders", "invoices", "bills", journals !== undefined && "payments"], {
      invoices: { pdf: "invoiceFiles" },
      bills: { pdf: "billFiles" },
    }),
  }),
  open(config, surroundings) {
    const wire = openWire(config, surroundings);
    const central = { wire, config, surroundings };
    const ledger = openLedger({
      name: BOOKS,
      tables: {
        invoice: documents(central, "invoice"),
        order: orders(central),
        bill: documents(central, "bill"),
        party: { sale: parties(central, "sale"), purchase: parties(central, "purchase") },
        ...(config.journals === undefined ? {} : { payment: payments(central) }),
        ...(config.prices === undefined ? {} : { price: priceTable(wire, config.prices) }),
      },
      errors,
      service: "the service health page of Microsoft 365",
      config,
      onAccount: true,
      surroundings,
      files: fileTables(central),
      async currency(signal) {
        const { value } = await wire.call("/companyInformation", Information, {}, signal);
        return value.at(0)?.currencyCode;
      },
      checks: (needs, signal) => checksOf(central, needs, signal),
    });
    return { ...ledger, close: () => wire.close() };
  },
});
