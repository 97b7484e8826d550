import { InvoiceRecord } from "../../src/books/records.ts";
import { defineMapping, skip } from "../../src/core/contract.ts";
import { CreateInvoice } from "../../src/platform/contract/invoice.ts";
import { issued, issuedFigures } from "../platform/invoices.ts";

/** Customer invoices that were made in the books, as invoices of the platform. */
export const invoices = defineMapping({
  name: "books/invoices",
  kind: "invoice",
  reads: "books.invoices",
  writes: "platform.invoices",
  tables: {
    products: ["code", "product"],
  },
  input: InvoiceRecord,
  output: CreateInvoice,
  posts: true,
  number: (invoice) => invoice.number,
  map(invoice, references) {
    if (invoice.type !== "out") return skip("supplier invoice");
    if (invoice.platformId !== null) return skip("from the platform");
    return issued(
      {
        ...invoice,
        key: invoice.number,
        taxes: invoice.taxes.map(({ description, amount }) => ({ name: description, amount })),
        notes: invoice.description,
      },
      references,
      () => invoice.partyCompanyId ?? references.counterpart("customer", invoice.partyCode),
    );
  },
  figures: issuedFigures,
  about: ({ partyCode, total, currency }) => ({ party: partyCode, amount: total, currency }),
});
