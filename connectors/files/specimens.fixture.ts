/**
 * Layouts of real exports that nothing delivers, since the platform takes no bills, products or payments: what the reader is
 * tried on besides those that the connector offers. Their files are in test/data/tryton-export.
 */
import type { z } from "zod";
import { date, decimal, filled, flag, records, stamp, text } from "./layouts/table.ts";

const head = {
  id: filled(text("ID")),
  /** Given on posting: a draft has none. */
  number: text("Number"),
  reference: text("Reference"),
  description: text("Description"),
  /** draft, validated, posted, paid, cancelled: not translated */
  state: filled(text("State")),
  date: date("Invoice Date"),
  partyCode: filled(text("Party/Code")),
  party: text("Party"),
  currency: filled(text("Currency/Code")),
  paymentTerm: text("Payment Term"),
  untaxed: filled(decimal("Untaxed")),
  tax: filled(decimal("Tax")),
  total: filled(decimal("Total")),
  amountToPay: decimal("Amount to Pay"),
  reconciled: date("Reconciled"),
  editedAt: stamp("Edited at"),
};

const dueDates = {
  due: date("Lines to Pay/Maturity Date"),
};

const key = (invoice: { number: string | null; id: string | null }): string | null =>
  invoice.number ?? (invoice.id === null ? null : `draft-${invoice.id}`);

export const supplierInvoices = records({
  name: "tryton-export/supplier-invoices",
  restates: false,
  head,
  children: {
    dueDates,
    lines: {
      product: text("Lines/Product/Code"),
      description: text("Lines/Description"),
      quantity: decimal("Lines/Quantity"),
      unit: text("Lines/Unit/Symbol"),
      unitPrice: decimal("Lines/Unit Price"),
      amount: decimal("Lines/Amount"),
    },
  },
  joined: {},
  key,
});

export type SupplierInvoice = z.infer<typeof supplierInvoices.record>;

/** Tryton's list of products. */
export const products = records({
  name: "tryton-export/products",
  restates: true,
  head: {
    id: filled(text("ID")),
    code: filled(text("Code")),
    name: filled(text("Product Template/Name")),
    type: text("Product Template/Type"),
    unit: text("Product Template/Default UOM/Symbol"),
    listPrice: decimal("Product Template/List Price"),
    category: text("Product Template/Account Category"),
    active: flag("Active"),
  },
  children: {},
  joined: {},
  key: ({ code }) => code,
});

/** Tryton's payment lines: the move lines that are linked to invoices. */
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

export const specimens = [supplierInvoices, products, payments];
