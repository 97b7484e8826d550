/**
 * They come from the export of invoices (the heads will do), not from that of payments: a payment line is one of
 * several, without the invoice's total, and it is reconciled with the part that was due, not with the whole invoice.
 */
import { INVOICE_PAYMENT, settled } from "../platform/paid-invoices.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { customerInvoices } from "../../src/formats/table/layouts.ts";
import { PaidInvoice } from "../../src/platform/contract/documents.ts";

/** Customer invoices that are settled in full. */
export const paidInvoices = defineMapping({
  name: "tryton-export/paid-invoices",
  kind: INVOICE_PAYMENT,
  reads: "tryton-export/customer-invoices",
  writes: "platform.paidInvoices",
  // The flow of invoices tells the rest. No notes: they might replace the invoice's own.
  leaves: {
    record: [
      "reference",
      "description",
      "comment",
      "date",
      "partyCode",
      "party",
      "currency",
      "paymentTerm",
      "untaxed",
      "tax",
      "editedAt",
      "dueDates",
      "lines",
      "taxes",
    ],
    document: ["notes"],
  },
  input: customerInvoices.record,
  output: PaidInvoice,
  number: (invoice) => invoice.number ?? `draft-${invoice.id}`,
  map(invoice, references) {
    const { id: key, state, total, amountToPay, reconciled } = invoice;
    return settled({ key, state, total, amountToPay, reconciled }, references);
  },
  figures: () => ({ amount: null, gallons: null }),
  about: ({ partyCode, party, total, currency }) => ({
    party: partyCode,
    partyName: party,
    amount: total,
    currency,
  }),
});
