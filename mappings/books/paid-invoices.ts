import { InvoiceRecord } from "../../src/ledger/documents.ts";
import { defineMapping, type References, skip } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
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
      "currency",
      "reference",
      "description",
      "partyCode",
      "partyCompanyId",
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
    const { id, number, state, total, amountToPay, paidDate: reconciled, clearedBy } = invoice;
    // A remittance knows an invoice by its number alone.
    const key = (id === number ? references.numbered?.("invoice", number) : null) ?? id;
    if (state === "paid" && invoice.lines.length === 0) expectAsDelivered(invoice, key, references);
    const paid = { key, state, total, amountToPay, reconciled, paidByOthers, clearedBy };
    return settled(paid, references);
  },
  figures: () => ({ amount: null, gallons: null }),
  about: ({ partyCode, total, currency }) => ({ party: partyCode, amount: total, currency }),
});

/**
 * A remittance tells of an invoice what its payer says of it: it has no lines. What it calls the whole must be the amount that
 * was delivered, or the platform would take a part for all of it. @throws Refused
 */
function expectAsDelivered(
  { currency, total }: InvoiceRecord,
  key: string,
  references: References,
): void {
  const { currency: ours } = references;
  const delivered = references.amountOf?.("invoice", key) ?? null;
  const isOurs = currency === ours;
  if (isOurs && (delivered === null || delivered.equals(total))) return;
  throw new Refused({
    code: isOurs ? "other-amount" : "other-currency",
    message: isOurs
      ? `the payment calls the whole invoice ${total.fixed(2)}, and it was delivered as ${delivered?.fixed(2) ?? "another"}`
      : `the payment is in ${currency}, the invoice in ${ours}`,
    next: "Compare it with the payment that came; mark the invoice as paid on the platform by hand if it is, and resolve this.",
    field: isOurs ? "total" : "currency",
  });
}
