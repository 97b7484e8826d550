/** Customer invoices that are posted in the ERP, as invoices of the platform. */
import { NOT_INVOICED } from "../leaves.ts";
import { issued, issuedFigures, issuedLikeness } from "../platform/invoices.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { type CustomerInvoice, customerInvoices } from "../../src/formats/table/layouts.ts";
import { CreateInvoice } from "../../src/platform/contract/invoice.ts";

export const invoices = defineMapping({
  name: "tryton-export/invoices",
  kind: "invoice",
  reads: "tryton-export/customer-invoices",
  writes: "platform.invoices",
  tables: {
    products: ["code", "product"],
  },
  // The flow of paid invoices tells what is paid. The platform has no invoice date, and knows the party by its company.
  // Ids and numbers of rows join the files; the platform's taxes have no base.
  leaves: {
    record: [
      "amountToPay",
      "reconciled",
      "date",
      "editedAt",
      "party",
      "paymentTerm",
      "lines.id",
      "lines.invoiceId",
      "lines.invoiceNumber",
      "lines.productName",
      "lines.sequence",
      "taxes.id",
      "taxes.invoiceId",
      "taxes.invoiceNumber",
      "taxes.sequence",
      "taxes.description",
      "taxes.base",
      "taxes.manual",
    ],
    document: NOT_INVOICED,
  },
  input: customerInvoices.record,
  output: CreateInvoice,
  posts: true,
  // Drafts have none.
  number: (invoice) => invoice.number ?? `draft-${invoice.id}`,
  map: (invoice, references) =>
    issued(
      {
        key: invoice.id,
        number: invoice.number,
        state: invoice.state,
        reference: invoice.reference,
        currency: invoice.currency,
        untaxed: invoice.untaxed,
        tax: invoice.tax,
        total: invoice.total,
        lines: invoice.lines?.filter(({ type }) => type === "line") ?? null,
        taxes:
          invoice.taxes?.map(({ tax, description, amount }) => ({
            name: tax ?? description,
            amount,
          })) ?? null,
        dueDate: dueDays(invoice).at(-1) ?? null,
        notes: notes(invoice),
      },
      references,
      () => references.counterpart("customer", invoice.partyCode),
    ),
  figures: issuedFigures,
  likeness: (invoice) =>
    issuedLikeness({ ...invoice, party: invoice.partyCode, day: invoice.date }),
  about: ({ partyCode, party, total, currency }) => ({
    party: partyCode,
    partyName: party,
    amount: total,
    currency,
  }),
});

const dueDays = ({ dueDates }: CustomerInvoice): string[] =>
  dueDates.flatMap(({ due }) => due ?? []).toSorted();

/** What the ERP says in words: description, comment, lines that are only text, and the parts it is due in. */
function notes(invoice: CustomerInvoice): string {
  const words = (invoice.lines ?? [])
    .filter(({ type }) => type !== "line" && type !== "subtotal")
    .map(({ description }) => description);
  const due = dueDays(invoice);
  const parts = due.length > 1 ? [`Due in parts: ${due.join(", ")}`] : [];
  return [invoice.description, invoice.comment, ...words, ...parts]
    .filter((note) => note !== null && note.trim() !== "")
    .join("\n\n");
}
