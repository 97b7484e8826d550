import { InvoiceDocument } from "../../src/books/documents.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { Invoice } from "../../src/platform/contract/invoice.ts";
import { payerOf } from "../canonical/invoice-body.ts";
import { partyOf } from "./codes.ts";
import { accountsTable, ChargeOptions } from "./company.ts";
import { booked, bookedFigures } from "./invoice-body.ts";

/** Invoices we issued on the platform, for Tryton's receivables. Those that came from Tryton are its own, read back. */
export const customerInvoices = defineMapping({
  name: "tryton/customer-invoices",
  kind: "invoice",
  reads: "platform.invoicesIssued",
  writes: "tryton.invoices",
  options: ChargeOptions,
  tables: (options) => ({
    items: ["product", "item"],
    customers: ["company", "account"],
    "tryton-taxes": ["tax_type", "sales"],
    "tryton-units": ["unit", "symbol"],
    ...accountsTable(options, "sales"),
  }),
  input: Invoice,
  output: InvoiceDocument,
  posts: true,
  number: (invoice) => invoice.invoiceNumber,
  map: (invoice, references, options) =>
    booked(invoice, references, options, "out", () =>
      partyOf(references, "customer", payerOf(invoice)),
    ),
  figures: bookedFigures,
  bookedOn: ({ createdAt }, { dayOf }) => dayOf(createdAt),
  about: ({ payerCompanyId, total }) => ({ party: payerCompanyId, amount: total }),
});
