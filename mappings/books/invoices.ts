import { InvoiceRecord } from "../../src/ledger/documents.ts";
import { defineMapping, skip } from "../../src/core/contract.ts";
import { CreateInvoice } from "../../src/platform/contract/invoice.ts";
import { issued, issuedFigures, issuedLikeness } from "../platform/invoices.ts";
import { NOT_INVOICED } from "../leaves.ts";

/** Customer invoices that were made in the books, as invoices of the platform. */
export const invoices = defineMapping({
  name: "books/invoices",
  kind: "invoice",
  reads: "books.invoices",
  writes: "platform.invoices",
  tables: {
    products: ["code", "product"],
  },
  // The flow of paid invoices tells what is paid. The platform has no invoice date and no accounts; lines are told by the
  // product's code, and by its name where they have no text.
  leaves: {
    record: [
      "invoiceDate",
      "amountToPay",
      "paidDate",
      "paidByPlatform",
      "paidByOthers",
      "clearedBy",
      "partyCode",
      "lines.account",
      "lines.productName",
      "taxes.account",
      "taxes.base",
    ],
    document: NOT_INVOICED,
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
        key: invoice.id,
        number: invoice.number,
        state: invoice.state,
        reference: invoice.reference,
        currency: invoice.currency,
        untaxed: invoice.untaxed,
        tax: invoice.tax,
        total: invoice.total,
        lines: invoice.lines,
        dueDate: invoice.dueDate,
        taxes: invoice.taxes.map(({ description, amount }) => ({ name: description, amount })),
        notes: invoice.description,
      },
      references,
      () => invoice.partyCompanyId ?? references.counterpart("customer", invoice.partyCode),
    );
  },
  figures: issuedFigures,
  likeness: (invoice) =>
    invoice.platformId === null
      ? issuedLikeness({ ...invoice, party: invoice.partyCode, day: invoice.invoiceDate })
      : null,
  about: ({ partyCode, total, currency }) => ({ party: partyCode, amount: total, currency }),
});
