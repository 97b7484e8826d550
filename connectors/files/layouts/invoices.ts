/** Tryton's customer invoices: up to three files (heads, lines, taxes), because their lines have a list of their own. */
import type { z } from "zod";
import { date, decimal, filled, flag, records, stamp, text } from "./table.ts";

const head = {
  id: filled(text("ID", "ID")),
  /** Given on posting: a draft has none. */
  number: text("Number", "Nummer"),
  reference: text("Reference", "Referenz"),
  description: text("Description", "Beschreibung"),
  /** draft, validated, posted, paid, cancelled: not translated */
  state: filled(text("State", "Status")),
  date: date("Invoice Date", "Rechnungsdatum"),
  partyCode: filled(text("Party/Code", "Partei/Code Partei")),
  party: text("Party", "Partei"),
  currency: filled(text("Currency/Code", "Währung/Code")),
  paymentTerm: text("Payment Term", "Zahlungsbedingung"),
  untaxed: filled(decimal("Untaxed", "Netto")),
  tax: filled(decimal("Tax", "Steuer")),
  total: filled(decimal("Total", "Brutto")),
  amountToPay: decimal("Amount to Pay", "Zahlbarer Betrag"),
  reconciled: date("Reconciled", "Abgestimmt"),
  editedAt: stamp("Edited at", "Bearbeitet um"),
};

const dueDates = {
  due: date("Lines to Pay/Maturity Date", "Zahlbare Positionen/Fälligkeitsdatum"),
};

const lines = {
  id: filled(text("ID", "ID")),
  /** Drafts have no number, so rows are joined by id. */
  invoiceId: filled(text("Invoice/ID", "Rechnung/ID")),
  invoiceNumber: text("Invoice/Number", "Rechnung/Nummer"),
  sequence: text("Sequence", "Reihenfolge"),
  /** `line`, or `comment`, `title`, `subtotal` without amounts */
  type: filled(text("Type", "Typ")),
  product: text("Product/Code", "Artikel/Artikelnummer"),
  productName: text("Product/Product Template/Name", "Artikel/Artikelvorlage/Name"),
  description: text("Description", "Beschreibung"),
  quantity: decimal("Quantity", "Menge"),
  unit: text("Unit/Symbol", "Einheit/Symbol"),
  unitPrice: decimal("Unit Price", "Einzelpreis"),
  amount: decimal("Amount", "Betrag"),
};

const taxes = {
  id: filled(text("ID")),
  invoiceId: filled(text("Invoice/ID")),
  invoiceNumber: text("Invoice/Number"),
  sequence: text("Sequence"),
  description: text("Description"),
  tax: text("Tax"),
  /** Money, also for a tax per gallon. */
  base: decimal("Base"),
  amount: filled(decimal("Amount")),
  manual: flag("Manual"),
};

const key = (invoice: { number: string | null; id: string | null }): string | null =>
  invoice.number ?? (invoice.id === null ? null : `draft-${invoice.id}`);

export const customerInvoices = records({
  name: "tryton-export/customer-invoices",
  restates: false,
  head: { ...head, comment: text("Comment", "Kommentar") },
  children: { dueDates },
  joined: {
    lines: { columns: lines, by: "invoiceId" },
    taxes: { columns: taxes, by: "invoiceId" },
  },
  key,
});

export type CustomerInvoice = z.infer<typeof customerInvoices.record>;
