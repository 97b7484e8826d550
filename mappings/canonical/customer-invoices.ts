import { CustomerInvoiceDocument } from "../../src/formats/documents.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { Invoice } from "../../src/platform/contract/invoice.ts";
import { accountOf } from "./codes.ts";
import { invoiceBody, invoiceFigures, likenessOf, payerOf } from "./invoice-body.ts";
import { unfinished } from "./unfinished.ts";
import { ISSUED } from "../leaves.ts";

/** Invoices we issued on the platform, for the receivables of an ERP. */
export const customerInvoices = defineMapping({
  name: "canonical/customer-invoices",
  kind: "invoice",
  reads: "platform.invoicesIssued",
  writes: "files.customer-invoices",
  tables: {
    items: ["product", "item"],
    taxes: ["tax_type", "tax"],
    customers: ["company", "account"],
  },
  leaves: { record: ISSUED },
  input: Invoice,
  output: CustomerInvoiceDocument,
  posts: true,
  number: (invoice) => invoice.invoiceNumber,
  map(invoice, references) {
    const withheld = unfinished(references, "invoice", invoice);
    if (withheld !== null) return withheld;
    const body = invoiceBody(invoice, references);
    const payerId = payerOf(invoice);
    return { ...body, customer: accountOf(references, "customer", payerId), payerId };
  },
  figures: invoiceFigures,
  likeness: (invoice, { dayOf }) => likenessOf(invoice, invoice.payerCompanyId, dayOf),
  about: ({ payerCompanyId, total }) => ({ party: payerCompanyId, amount: total }),
});
