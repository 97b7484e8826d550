/**
 * Customer invoices that are settled in full, as payments of the platform's invoices; it knows no partial payments.
 *
 * They come from the export of invoices (the heads will do), not from that of payments: a payment line is one of
 * several, without the invoice's total, and it is reconciled with the part that was due, not with the whole invoice.
 * What the ERP calls "paid" is.
 */
import { customerInvoices, type CustomerInvoice } from "../../connectors/files/layouts/invoices.ts";
import { defineMapping, skip, type References } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { PaidInvoice } from "../../src/platform/contract/documents.ts";

const KIND = "invoice-payment";

/**
 * Paid on the day of the last reconciliation: noon UTC is that day anywhere in America. No notes: they might replace
 * the invoice's own. It waits until its invoice is there.
 */
export const paidInvoices = defineMapping({
  name: "tryton-export/paid-invoices",
  kind: KIND,
  input: customerInvoices.record,
  output: PaidInvoice,
  number: keyOf,
  map(invoice, references) {
    if (invoice.total.sign < 0) return skip("credit note");
    if (invoice.state !== "paid") return skip(unpaid(invoice, references));
    const { amountToPay: open, reconciled } = invoice;
    if (open !== null && open.sign !== 0)
      throw new Refused({
        code: "does-not-add-up",
        message: `the invoice is paid, and ${open.fixed(2)} of it is open`,
        next: "Export the invoices again; if it stays so, an accountant looks at it in the ERP.",
        field: "Amount to Pay",
      });
    return {
      invoiceId: references.counterpart("invoice", keyOf(invoice)),
      // An invoice over nothing is paid without a reconciliation.
      ...(reconciled === null ? {} : { paidAt: `${reconciled}T12:00:00Z` }),
    };
  },
  figures: () => ({ amount: null, gallons: null }),
});

function keyOf(invoice: CustomerInvoice): string {
  return customerInvoices.key(invoice) ?? invoice.id;
}

/** Why it is not paid. @throws Refused for one that was: the platform cannot be told that it no longer is. */
function unpaid(invoice: CustomerInvoice, references: References): string {
  const { state, total, amountToPay } = invoice;
  if (references.find(KIND, keyOf(invoice)) !== null)
    throw new Refused({
      code: "unpaid-after-delivery",
      message: `the invoice is "${state}" in the ERP, and paid on the platform`,
      next: "An accountant corrects it on the platform by hand, then resolves it here.",
      field: "State",
    });
  if (state !== "posted") return state;
  return amountToPay === null || amountToPay.equals(total) ? "not paid" : "partly paid";
}
