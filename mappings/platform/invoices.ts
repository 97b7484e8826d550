/** Invoices of an ERP as invoices of the platform. Amounts are checked, never corrected. */
import { type Likeness, skip, type References, type Skip } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { sameNumber } from "../../src/core/keys.ts";
import type { CreateInvoice } from "../../src/platform/contract/invoice.ts";
import { toDecimal } from "../../src/platform/contract/primitives.ts";
import { bolsIn, cents, gallonsOf, lineItem, notNegative, type Line } from "./invoice-lines.ts";
import { needed, within } from "./limits.ts";

const LINES_MAX = 50;
const BY_HAND = "Enter it on the platform by hand and resolve it here.";

export interface ErpInvoice {
  /** What links are kept by. */
  readonly key: string;
  readonly number: string | null;
  /** In Tryton's words. */
  readonly state: string;
  readonly reference: string | null;
  /** ISO 4217 */
  readonly currency: string;
  readonly untaxed: Decimal;
  readonly tax: Decimal;
  readonly total: Decimal;
  /** Those with amounts; null when they were not exported. */
  readonly lines: readonly Line[] | null;
  /** Null when they were not exported. */
  readonly taxes:
    readonly { readonly name: string | null; readonly amount: Decimal | null }[] | null;
  /** A day (YYYY-MM-DD): only then is all of it due. */
  readonly dueDate: string | null;
  readonly notes: string | null;
}

/**
 * State, open amount and stamps stay out of the document: an invoice that is paid is no new invoice.
 * @throws Refused, NotMapped, WaitsFor
 */
export function issued(
  invoice: ErpInvoice,
  references: References,
  payerCompanyId: () => string,
): CreateInvoice | Skip {
  const withheld = unposted(invoice, references);
  if (withheld !== null) return withheld;
  const number = needed(50, "Number", invoice.number);
  expectIssuable(invoice, references.currency);
  const lines = billed(invoice);
  const taxLines = invoice.taxes?.map((tax) => ({
    taxType: needed(100, "Tax", tax.name),
    amount: notNegative("Amount", cents("Amount", tax.amount)),
  }));
  const document = {
    invoiceNumber: number,
    subtotal: cents("Untaxed", invoice.untaxed),
    tax: cents("Tax", invoice.tax),
    total: cents("Total", invoice.total),
    lineItems: lines.map((line) => lineItem(line, references)),
    poNumber: within(64, "Reference", invoice.reference) ?? null,
    dueDate: invoice.dueDate === null ? null : noonOf(invoice.dueDate),
    notes: within(2000, "Comment", invoice.notes) ?? null,
    ...(taxLines === undefined ? {} : { taxLines }),
  };
  expectToAddUp(document);
  return { ...document, payerCompanyId: payerCompanyId() };
}

/** What is not posted is like nothing. */
export function issuedLikeness({
  number,
  state,
  party,
  reference,
  total,
  day,
  lines,
}: Pick<ErpInvoice, "number" | "state" | "reference" | "total" | "lines"> & {
  readonly party: string;
  readonly day: string | null;
}): Likeness | null {
  if (number === null || day === null || (state !== "posted" && state !== "paid")) return null;
  const told = (lines ?? []).flatMap(({ product, description, quantity, amount }) => [
    product ?? "",
    description ?? "",
    quantity?.plain() ?? "",
    amount?.plain() ?? "",
  ]);
  // Two loads of one day and one order have bills of lading of their own.
  const loads = (lines ?? []).flatMap(({ description }) => bolsIn(description ?? ""));
  // Books that have no reference of the customer's repeat their own number.
  const isOwn = reference === null || sameNumber(reference, number);
  const words = reference?.trim() && !isOwn ? [reference, ...loads] : told;
  return { party, amount: total, day, reference: words, number };
}

export const issuedFigures = ({ total, lineItems }: CreateInvoice) => ({
  amount: toDecimal(total),
  gallons: Decimal.sum(lineItems.map(gallonsOf)),
});

/** Noon UTC is that day anywhere in America. */
export const noonOf = (day: string): string => `${day}T12:00:00Z`;

/** @throws Refused for one that was cancelled after it was delivered: the platform cannot be told. */
function unposted({ state, key }: ErpInvoice, references: References): Skip | null {
  if (state === "posted" || state === "paid") return null;
  if (state === "draft" || state === "validated" || references.find("invoice", key) === null)
    return skip(state);
  throw new Refused({
    code: "cancelled-after-delivery",
    message: `the invoice is "${state}" in the ERP, and it is on the platform`,
    next: "An accountant voids or settles it on the platform by hand, then resolves it here.",
    field: "State",
  });
}

function expectIssuable(invoice: ErpInvoice, currency: string): void {
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

/** @throws Refused when there are no lines, or more than the platform takes. */
function billed({ lines }: ErpInvoice): readonly Line[] {
  const count = lines?.length ?? 0;
  if (lines !== null && count >= 1 && count <= LINES_MAX) return lines;
  if (count > LINES_MAX)
    throw new Refused({
      code: "too-many-lines",
      message: `the invoice has ${count} lines, the platform takes ${LINES_MAX}`,
      next: `Split it in the ERP, or: ${BY_HAND}`,
    });
  const exported = lines !== null;
  throw new Refused({
    code: "no-lines",
    message: exported ? "the invoice has no lines" : "the invoice's lines were not exported",
    next: exported
      ? "An accountant looks at it in the ERP, and resolves it here."
      : "Export the invoices together with their lines.",
  });
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

/** To the cent, or it is work for a person. Taxes that were not exported cannot be added up. */
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
    next: "Read heads, lines and taxes again, together; if it stays so, an accountant looks at it in the ERP.",
    field,
  });
