/**
 * They come from the export of invoices (the heads will do), not from that of payments: a payment line is one of
 * several, without the invoice's total, and it is reconciled with the part that was due, not with the whole invoice.
 */
import { customerInvoices } from "../../connectors/files/layouts/invoices.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { PaidInvoice } from "../../src/platform/contract/documents.ts";
import { INVOICE_PAYMENT, settled } from "../platform/paid-invoices.ts";

/** Customer invoices that are settled in full. */
export const paidInvoices = defineMapping({
  name: "tryton-export/paid-invoices",
  kind: INVOICE_PAYMENT,
  reads: "tryton-export/customer-invoices",
  writes: "platform.paidInvoices",
  input: customerInvoices.record,
  output: PaidInvoice,
  number: (invoice) => customerInvoices.key(invoice) ?? invoice.id,
  map: (invoice, references) =>
    settled({ ...invoice, key: customerInvoices.key(invoice) ?? invoice.id }, references),
  figures: () => ({ amount: null, gallons: null }),
  about: ({ partyCode, party, total, currency }) => ({
    party: partyCode,
    partyName: party,
    amount: total,
    currency,
  }),
});
