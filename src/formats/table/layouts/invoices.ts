/** Tryton's customer invoices; their lines and taxes are lists of their own there, and may be left out. */
import type { z } from "zod";
import { date, decimal, filled, flag, records, stamp, text } from "./table.ts";

/** What customer and supplier invoices of an export have alike, as have {@link dueDates} and {@link key}. */
export const head = {
  id: filled(text),
  /** Given on posting: a draft has none. */
  number: text,
  reference: text,
  description: text,
  /** draft, validated, posted, paid, cancelled: not translated */
  state: filled(text),
  date: date,
  partyCode: filled(text),
  party: text,
  currency: filled(text),
  paymentTerm: text,
  untaxed: filled(decimal),
  tax: filled(decimal),
  total: filled(decimal),
  amountToPay: decimal,
  reconciled: date,
  editedAt: stamp,
};

export const dueDates = {
  due: date,
};

const lines = {
  id: filled(text),
  /** Drafts have no number, so rows are joined by id. */
  invoiceId: filled(text),
  invoiceNumber: text,
  sequence: text,
  /** `line`, or `comment`, `title`, `subtotal` without amounts */
  type: filled(text),
  product: text,
  productName: text,
  description: text,
  quantity: decimal,
  unit: text,
  unitPrice: decimal,
  amount: decimal,
};

const taxes = {
  id: filled(text),
  invoiceId: filled(text),
  invoiceNumber: text,
  sequence: text,
  description: text,
  tax: text,
  /** Money, also for a tax per gallon. */
  base: decimal,
  amount: filled(decimal),
  manual: flag,
};

/** Its own id: drafts have no number, and an invoice that gets another number is the same one. */
export const key = ({ id }: { readonly id: string | null }): string | null => id;

export const customerInvoices = records({
  name: "tryton-export/customer-invoices",
  restates: false,
  head: { ...head, comment: text },
  lists: { dueDates },
  optional: { lines, taxes },
  key,
});

export type CustomerInvoice = z.infer<typeof customerInvoices.record>;
