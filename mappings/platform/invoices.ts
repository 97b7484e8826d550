/** Invoices of an ERP as invoices of the platform. Amounts are checked, never corrected. */
import { needed, noonOf, productOf, within } from "../values.ts";
import { type Likeness, type References, skip, type Skip } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { sameNumber } from "../../src/core/keys.ts";
import type { CreateInvoice } from "../../src/platform/contract/invoice.ts";
import { type Numeric, toDecimal } from "../../src/platform/contract/primitives.ts";

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

/* A line of an ERP invoice as a line item of the platform (specification part 4, rule I1). */

/** As the ERP has it; fields by the ERP's words are in the faults. */
export interface Line {
  readonly product: string | null;
  readonly productName: string | null;
  readonly description: string | null;
  readonly quantity: Decimal | null;
  readonly unit: string | null;
  readonly unitPrice: Decimal | null;
  readonly amount: Decimal | null;
}

const GALLON = "gal";
const BOL = /(?:BOL|B\/L)\s*#?\s*(\d{5,})/gi;
/** How a quantity is written that the platform has no field for: at the end of the description. */
const QUANTITY = /\[(\d+(?:\.\d+)?) gal\]$/;

/**
 * Gallons and rate go out when they are whole gallons and give the amount to the cent; otherwise the amount alone, and
 * the exact quantity in the description: the platform's gallons are integers, and no amount is ever recomputed.
 * @throws Refused, NotMapped
 */
export function lineItem(line: Line, references: References) {
  const amount = notNegative("Amount", cents("Amount", line.amount));
  const { quantity, unitPrice } = line;
  const gallons = line.unit === GALLON ? quantity : null;
  const exact =
    gallons !== null &&
    gallons.sign > 0 &&
    gallons.isInteger &&
    unitPrice !== null &&
    unitPrice.sign >= 0 &&
    unitPrice.times(gallons).round(2).equals(amount);
  const quantified = exact
    ? { gallons: plain(gallons), rate: plain(unitPrice) }
    : ({} as { gallons?: Decimal; rate?: Decimal });
  const text = line.description?.trim() || line.productName;
  const suffix = exact ? "" : quantityOf(line);
  const description = needed(200, "Description", `${text ?? ""}${suffix}`);
  return {
    description,
    amount,
    ...quantified,
    ...(line.product === null ? {} : { product: productOf(references, line.product) }),
    ...bolOf(description),
  };
}

/** The gallons of a line item made here. */
export function gallonsOf(item: {
  description: string;
  gallons?: Numeric | null | undefined;
}): Decimal {
  if (item.gallons !== undefined && item.gallons !== null) return toDecimal(item.gallons);
  const [, written] = QUANTITY.exec(item.description) ?? [];
  return written === undefined ? Decimal.zero : Decimal.of(written);
}

/** Nothing for one piece of something. */
function quantityOf({ quantity, unit }: Line): string {
  if (quantity === null || (unit !== GALLON && quantity.equals(ONE))) return "";
  return ` [${[quantity.plain(), unit].filter((part) => part !== null).join(" ")}]`;
}

const ONE = Decimal.of("1");
const plain = (value: Decimal): Decimal => Decimal.of(value.plain());

/** The bills of lading that a line's text names. */
const bolsIn = (description: string): string[] =>
  [...description.matchAll(BOL)].flatMap(([, number]) => number ?? []);

/** The bill of lading in the text, with its zeros; when there are two, the text must do. */
function bolOf(description: string): { bolNumber?: string } {
  const [number, second] = bolsIn(description);
  return number === undefined || second !== undefined ? {} : { bolNumber: number };
}

/** With two decimal places, whatever digits it came with. @throws Refused for fractions of a cent. */
function cents(field: string, amount: Decimal | null): Decimal {
  if (amount !== null && amount.round(2).equals(amount)) return amount.round(2);
  throw new Refused({
    code: "no-cents",
    message: amount === null ? `a line has no ${field}` : `${field} ${amount.text} is not in cents`,
    next: "Look at the invoice in the ERP; once it is corrected there, it is taken when it is read again.",
    field,
  });
}

/** @throws Refused: the platform takes no negative amounts. */
function notNegative(field: string, amount: Decimal): Decimal {
  if (amount.sign >= 0) return amount;
  throw new Refused({
    code: "negative-line",
    message: `a line has the negative amount ${amount.text}; the platform takes none`,
    next: "An accountant bills the correction another way, or enters the net amount on the platform by hand.",
    field,
  });
}

/* Customer invoices that are settled in full, as payments of the platform's; it knows no partial ones. */

/** What {@link ErpSettlement.clearedBy} says of one that payments alone settled. */
const MONEY = "money";

/** The kind of their links. */
export const INVOICE_PAYMENT = "invoice-payment";

export interface ErpSettlement {
  /** What links are kept by. */
  readonly key: string;
  /** In Tryton's words: what it calls "paid" is. */
  readonly state: string;
  readonly total: Decimal;
  /** Null when it was not exported. */
  readonly amountToPay: Decimal | null;
  /** What of an open one was paid and not told by the platform; null: nothing. Left out: the ERP does not tell. */
  readonly paidByOthers?: Decimal | null;
  /** `money`, or what else settles it, in words. Left out: the ERP does not tell, and its "paid" is taken for money. */
  readonly clearedBy?: string;
  /** The day of the last reconciliation (YYYY-MM-DD). An invoice over nothing is paid without one. */
  readonly reconciled: string | null;
}

/**
 * No notes: they might replace the invoice's own. It waits until its invoice is there.
 * @throws Refused, WaitsFor
 */
export function settled(
  invoice: ErpSettlement,
  references: References,
): { invoiceId: string; paidAt?: string } | Skip {
  if (invoice.total.sign < 0) return skip("credit note");
  if (invoice.state !== "paid") return skip(unpaid(invoice, references));
  const { amountToPay: open, reconciled } = invoice;
  if (open !== null && open.sign !== 0)
    throw new Refused({
      code: "does-not-add-up",
      message: `the invoice is paid, and ${open.fixed(2)} of it is open`,
      next: "Read the invoices again; if it stays so, an accountant looks at it in the ERP.",
      field: "Amount to Pay",
    });
  const invoiceId = references.counterpart("invoice", invoice.key);
  if (!isMoney(invoice)) throw settledOtherwise(invoice, references);
  return {
    invoiceId,
    ...(reconciled === null ? {} : { paidAt: noonOf(reconciled) }),
  };
}

/** A person may say "money" by a correction (ADR 0007, 0010). */
const isMoney = ({ clearedBy = MONEY }: ErpSettlement): boolean =>
  clearedBy.trim().toLowerCase() === MONEY;

/** The platform knows paid and open: that something was credited or written off is for a person to say there. */
function settledOtherwise(
  { key, total, clearedBy = "" }: ErpSettlement,
  references: References,
): Refused {
  const isTold = references.find(INVOICE_PAYMENT, key) !== null;
  const there = isTold ? "it is paid on the platform" : "the platform shows it as open";
  return new Refused({
    code: "settled-otherwise",
    message: `${total.fixed(2)} is settled in the ERP, and not with money alone: ${clearedBy}; ${there}`,
    next: `Is it to be paid on the platform? Then correct the field clearedBy to "${MONEY}" here and retry. If not, an accountant agrees it with the customer and resolves it here.`,
    field: "clearedBy",
  });
}

/**
 * Why it is not paid. @throws Refused for one that was, since the platform cannot be told that it no longer is, and for
 * one that is paid in part (specification part 4: an invoice is marked paid as a whole)
 * @throws WaitsFor when a part is paid of one that is not on the platform yet
 */
function unpaid(invoice: ErpSettlement, references: References): string {
  const { state, total, amountToPay, paidByOthers = null } = invoice;
  if (references.find(INVOICE_PAYMENT, invoice.key) !== null)
    throw new Refused({
      code: "unpaid-after-delivery",
      message: `the invoice is "${state}" in the ERP, and paid on the platform`,
      next: "An accountant corrects it on the platform by hand, then resolves it here.",
      field: "State",
    });
  if (state !== "posted") return state;
  const how = isMoney(invoice) ? "paid" : `settled (${invoice.clearedBy ?? ""})`;
  if (paidByOthers !== null && references.counterpart("invoice", invoice.key) !== null)
    throw new Refused({
      code: "partly-paid",
      message: `${paidByOthers.fixed(2)} of ${total.fixed(2)} was ${how} in the ERP, ${amountToPay?.fixed(2) ?? "the rest"} is open: the platform takes no part of a payment`,
      next: "Tell the customer if it matters. It is delivered by itself when it is paid in full, and goes away when the payment is taken back; or resolve it here.",
      field: "Amount to Pay",
    });
  return amountToPay === null || amountToPay.equals(total) ? "not paid" : "partly paid";
}
