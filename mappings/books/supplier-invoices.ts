import { InvoiceDocument } from "../../src/ledger/documents.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { Invoice } from "../../src/platform/contract/invoice.ts";
import { likenessOf } from "../canonical/invoice-body.ts";
import { partyOf } from "./codes.ts";
import { accountsTable, ChargeOptions } from "./company.ts";
import { booked, bookedFigures } from "./invoice-body.ts";
import { TABLES } from "./tables.ts";
import { NOT_BOOKED, PAYABLE } from "../leaves.ts";

/** Invoices that others issued and we pay, for the payables. Numbers are unique by issuer only. */
export const supplierInvoices = defineMapping({
  name: "books/supplier-invoices",
  kind: "bill",
  reads: "platform.invoicesPayable",
  writes: "books.bills",
  options: ChargeOptions,
  tables: (options) => ({
    items: ["product", "item"],
    vendors: ["company", "account"],
    [TABLES.taxes]: ["tax_type", "purchases"],
    [TABLES.units]: ["unit", "symbol"],
    ...accountsTable(options, "purchases"),
  }),
  leaves: { record: [...PAYABLE, ...NOT_BOOKED] },
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
  likeness: (invoice, { dayOf }) => likenessOf(invoice, invoice.companyId, dayOf),
  about: ({ companyId, total }) => ({ party: companyId, amount: total }),
});
