import { InvoiceDocument } from "../../src/books/documents.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { Invoice } from "../../src/platform/contract/invoice.ts";
import { partyOf } from "./codes.ts";
import { accountsTable, ChargeOptions } from "./company.ts";
import { booked, bookedFigures } from "./invoice-body.ts";

/** Invoices that others issued and we pay, for Tryton's payables. Numbers are unique by issuer only. */
export const supplierInvoices = defineMapping({
  name: "tryton/supplier-invoices",
  kind: "bill",
  reads: "platform.invoicesPayable",
  writes: "tryton.bills",
  options: ChargeOptions,
  tables: (options) => ({
    items: ["product", "item"],
    vendors: ["company", "account"],
    "tryton-taxes": ["tax_type", "purchases"],
    "tryton-units": ["unit", "symbol"],
    ...accountsTable(options, "purchases"),
  }),
  input: Invoice,
  output: InvoiceDocument,
  posts: true,
  number: (invoice) => invoice.invoiceNumber,
  map: (invoice, references, options) =>
    booked(invoice, references, options, "in", () =>
      partyOf(references, "supplier", invoice.companyId),
    ),
  figures: bookedFigures,
  bookedOn: ({ createdAt }, { dayOf }) => dayOf(createdAt),
  about: ({ companyId, total }) => ({ party: companyId, amount: total }),
});
