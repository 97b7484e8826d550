import { InvoiceRecord } from "../../src/books/records.ts";
import { defineMapping, skip } from "../../src/core/contract.ts";
import { PaidInvoice } from "../../src/platform/contract/documents.ts";
import { INVOICE_PAYMENT, settled } from "../platform/paid-invoices.ts";

/**
 * Customer invoices that are settled in full, those that came from the platform too. What was settled there is not
 * told again: it would move the day it was paid.
 */
export const paidInvoices = defineMapping({
  name: "books/paid-invoices",
  kind: INVOICE_PAYMENT,
  reads: "books.paidInvoices",
  writes: "platform.paidInvoices",
  // The flow of invoices tells the rest. No notes: they might replace the invoice's own.
  leaves: {
    record: [
      "id",
      "reference",
      "description",
      "partyCode",
      "partyCompanyId",
      "currency",
      "invoiceDate",
      "dueDate",
      "untaxed",
      "tax",
      "lines",
      "taxes",
    ],
    document: ["notes"],
  },
  input: InvoiceRecord,
  output: PaidInvoice,
  number: (invoice) => invoice.number,
  map(invoice, references) {
    if (invoice.type !== "out") return skip("supplier invoice");
    if (invoice.state === "paid" && invoice.paidByPlatform) return skip("paid on the platform");
    // Of those that came from the platform their own delivery tells it: see the sink's inspect.
    const paidByOthers = invoice.platformId === null ? invoice.paidByOthers : null;
    const { number: key, state, total, amountToPay, paidDate: reconciled } = invoice;
    return settled({ key, state, total, amountToPay, reconciled, paidByOthers }, references);
  },
  figures: () => ({ amount: null, gallons: null }),
  about: ({ partyCode, total, currency }) => ({ party: partyCode, amount: total, currency }),
});
