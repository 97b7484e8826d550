/** Customer invoices that are posted in the ERP, as invoices of the platform. Amounts are checked, never corrected. */
import { customerInvoices, type CustomerInvoice } from "../../connectors/files/layouts/invoices.ts";
import { defineMapping, skip, type References, type Skip } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { CreateInvoice } from "../../src/platform/contract/invoice.ts";
import { toDecimal } from "../../src/platform/contract/primitives.ts";
import { cents, gallonsOf, lineItem, notNegative, type Line } from "./invoice-lines.ts";
import { needed, within } from "./limits.ts";

const LINES_MAX = 50;
const BY_HAND = "Enter it on the platform by hand and resolve it here.";

/**
 * State, open amount and stamps stay out of the document: an invoice that is paid is no new invoice. The last due
 * date counts, since only then is all of it due; noon UTC is that day anywhere in America.
 */
export const invoices = defineMapping({
  name: "tryton-export/invoices",
  kind: "invoice",
  input: customerInvoices.record,
  output: CreateInvoice,
  posts: true,
  number: (invoice) => customerInvoices.key(invoice) ?? invoice.id,
  map(invoice, references) {
    const withheld = unposted(invoice, references);
    if (withheld !== null) return withheld;
    const number = needed(50, "Number", invoice.number);
    expectIssuable(invoice, references.currency);
    const lines = billed(invoice);
    const taxLines = invoice.taxes?.map((tax) => ({
      taxType: needed(100, "Tax", tax.tax ?? tax.description),
      amount: notNegative("Amount", cents("Amount", tax.amount)),
    }));
    const document = {
      invoiceNumber: number,
      subtotal: cents("Untaxed", invoice.untaxed),
      tax: cents("Tax", invoice.tax),
      total: cents("Total", invoice.total),
      lineItems: lines.map((line) => lineItem(line, references)),
      poNumber: within(64, "Reference", invoice.reference) ?? null,
      dueDate: dueDate(invoice),
      notes: notes(invoice),
      ...(taxLines === undefined ? {} : { taxLines }),
    };
    expectToAddUp(document);
    return {
      ...document,
      payerCompanyId: references.counterpart("customer", invoice.partyCode),
    };
  },
  figures: ({ total, lineItems }) => ({
    amount: toDecimal(total),
    gallons: Decimal.sum(lineItems.map(gallonsOf)),
  }),
});

/** @throws Refused for one that was cancelled after it was delivered: the platform cannot be told. */
function unposted(invoice: CustomerInvoice, references: References): Skip | null {
  const { state } = invoice;
  if (state === "posted" || state === "paid") return null;
  const key = customerInvoices.key(invoice) ?? invoice.id;
  if (state === "draft" || state === "validated" || references.find("invoice", key) === null)
    return skip(state);
  throw new Refused({
    code: "cancelled-after-delivery",
    message: `the invoice is "${state}" in the ERP, and it is on the platform`,
    next: "An accountant voids or settles it on the platform by hand, then resolves it here.",
    field: "State",
  });
}

function expectIssuable(invoice: CustomerInvoice, currency: string): void {
  if (invoice.currency !== currency)
    throw new Refused({
      code: "other-currency",
      message: `the currency is ${invoice.currency}, the platform's amounts are in ${currency}`,
      next: "Bill it outside the platform and resolve it here.",
      field: "Currency/Code",
    });
  if (invoice.total.sign < 0 || invoice.untaxed.sign < 0)
    throw new Refused({
      code: "credit-note",
      message: `this is a credit note over ${invoice.total.fixed(2)}; the platform takes none`,
      next: "An accountant settles it with the customer, notes it on the credited invoice there, and resolves it here.",
      field: "Total",
    });
}

/** The lines with amounts. @throws Refused when there are none, or more than the platform takes. */
function billed({ lines }: CustomerInvoice): Line[] {
  const billed = (lines ?? []).filter(({ type }) => type === "line");
  if (billed.length >= 1 && billed.length <= LINES_MAX) return billed;
  const none =
    lines === null ? "the invoice's lines were not exported" : "the invoice has no lines";
  throw new Refused({
    code: billed.length === 0 ? "no-lines" : "too-many-lines",
    message:
      billed.length === 0
        ? none
        : `the invoice has ${billed.length} lines, the platform takes ${LINES_MAX}`,
    next:
      billed.length === 0
        ? "Export the invoices together with their lines."
        : `Split it in the ERP, or: ${BY_HAND}`,
  });
}

function dueDate({ dueDates }: CustomerInvoice): string | null {
  const last = dueDates
    .flatMap(({ due }) => due ?? [])
    .toSorted()
    .at(-1);
  return last === undefined ? null : `${last}T12:00:00Z`;
}

/** What the ERP says in words: description, comment, lines that are only text, and the parts it is due in. */
function notes(invoice: CustomerInvoice): string | null {
  const words = (invoice.lines ?? [])
    .filter(({ type }) => type !== "line" && type !== "subtotal")
    .map(({ description }) => description);
  const due = invoice.dueDates.flatMap(({ due }) => due ?? []).toSorted();
  const parts = due.length > 1 ? [`Due in parts: ${due.join(", ")}`] : [];
  const text = [invoice.description, invoice.comment, ...words, ...parts]
    .filter((note) => note !== null && note.trim() !== "")
    .join("\n\n");
  return within(2000, "Comment", text) ?? null;
}

interface Sums {
  readonly subtotal: Decimal;
  readonly tax: Decimal;
  readonly total: Decimal;
  readonly lineItems: readonly { readonly amount: Decimal }[];
  readonly taxLines?: readonly { readonly amount: Decimal }[];
}

const sum = (of: readonly { readonly amount: Decimal }[]): Decimal =>
  Decimal.sum(of.map(({ amount }) => amount));

/** To the cent, or it is work for a person (reliability 2.9). Taxes that were not exported cannot be added up. */
function expectToAddUp({ subtotal, tax, total, lineItems, taxLines }: Sums): void {
  const lines = sum(lineItems);
  if (!lines.equals(subtotal)) throw off("the lines", lines, "Untaxed", subtotal);
  if (taxLines !== undefined && !sum(taxLines).equals(tax))
    throw off("the taxes", sum(taxLines), "Tax", tax);
  const both = subtotal.plus(tax);
  if (!both.equals(total)) throw off("Untaxed and Tax", both, "Total", total);
}

const off = (what: string, sum: Decimal, field: string, amount: Decimal): Refused =>
  new Refused({
    code: "does-not-add-up",
    message: `the invoice does not add up: ${what} are ${sum.fixed(2)}, ${field} is ${amount.fixed(2)}`,
    next: "Export heads, lines and taxes again, together; if it stays so, an accountant looks at it in the ERP.",
    field,
  });
