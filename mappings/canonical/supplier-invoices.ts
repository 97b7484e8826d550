import { SupplierInvoiceDocument } from "../../src/formats/documents.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { Invoice } from "../../src/platform/contract/invoice.ts";
import { accountOf } from "./codes.ts";
import { invoiceBody, invoiceFigures, likenessOf } from "./invoice-body.ts";
import { unfinished } from "./unfinished.ts";
import { PAYABLE } from "../leaves.ts";

/** Invoices that others issued and we pay, for the payables of an ERP. Numbers are unique by issuer only. */
export const supplierInvoices = defineMapping({
  name: "canonical/supplier-invoices",
  kind: "bill",
  reads: "platform.invoicesPayable",
  writes: "files.supplier-invoices",
  tables: {
    items: ["product", "item"],
    taxes: ["tax_type", "tax"],
    vendors: ["company", "account"],
  },
  leaves: { record: PAYABLE },
  input: Invoice,
  output: SupplierInvoiceDocument,
  posts: true,
  number: (invoice) => invoice.invoiceNumber,
  map(invoice, references) {
    const withheld = unfinished(references, "bill", invoice);
    if (withheld !== null) return withheld;
    return {
      ...invoiceBody(invoice, references),
      vendor: accountOf(references, "supplier", invoice.companyId),
      issuerId: invoice.companyId,
    };
  },
  figures: invoiceFigures,
  likeness: (invoice, { dayOf }) => likenessOf(invoice, invoice.companyId, dayOf),
  about: ({ companyId, total }) => ({ party: companyId, amount: total }),
});
