/** Tryton's payment lines: the move lines that are linked to invoices. */
import { date, decimal, filled, records, stamp, text } from "./table.ts";

export const payments = records({
  name: "tryton-export/payments",
  restates: false,
  head: {
    id: filled(text("ID")),
    date: filled(date("Effective Date")),
    /** `out`: a customer pays, the amount is in credit. `in`: we pay, it is in debit. */
    type: filled(text("Invoice Payments/Type")),
    invoiceNumber: filled(text("Invoice Payments/Number")),
    /** Empty once the line is reconciled: not to be relied on. */
    openInvoiceNumber: text("Invoice Payment/Number"),
    partyCode: text("Party/Code"),
    party: text("Party"),
    debit: filled(decimal("Debit")),
    credit: filled(decimal("Credit")),
    moveDescription: text("Move Description"),
    moveNumber: text("Move/Number"),
    reconciled: date("Reconciliation/Date"),
    createdAt: stamp("Created at"),
  },
  children: {},
  joined: {},
  key: ({ id }) => id,
});
