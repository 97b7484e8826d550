import { InvoiceDocument } from "../../src/ledger/documents.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { Invoice } from "../../src/platform/contract/invoice.ts";
import { likenessOf, payerOf } from "../canonical/invoice-body.ts";
import { partyOf } from "./codes.ts";
import { accountsTable, ChargeOptions } from "./company.ts";
import { booked, bookedFigures } from "./invoice-body.ts";
import { TABLES } from "./tables.ts";
import { ISSUED, NOT_BOOKED } from "../leaves.ts";

/** Invoices we issued on the platform, for the receivables. Those that came from the books are their own, read back. */
export const customerInvoices = defineMapping({
  name: "books/customer-invoices",
  kind: "invoice",
  reads: "platform.invoicesIssued",
  writes: "books.invoices",
  options: ChargeOptions,
  tables: (options) => ({
    items: ["product", "item"],
    customers: ["company", "account"],
    [TABLES.taxes]: ["tax_type", "sales"],
    [TABLES.units]: ["unit", "symbol"],
    ...accountsTable(options, "sales"),
  }),
  leaves: { record: [...ISSUED, ...NOT_BOOKED] },
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
  likeness: (invoice, { dayOf }) => likenessOf(invoice, invoice.payerCompanyId, dayOf),
  about: ({ payerCompanyId, total }) => ({ party: payerCompanyId, amount: total }),
});
