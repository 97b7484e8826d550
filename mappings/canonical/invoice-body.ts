/** What invoices we issue and invoices we pay have in common. */
import type { SupplierInvoiceDocument } from "../../src/formats/documents.ts";
import type { Figures, Likeness, References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { type Invoice, invoiceStatuses } from "../../src/platform/contract/invoice.ts";
import { isKnown } from "../../src/platform/contract/primitives.ts";
import { inCents } from "../money.ts";
import { codeOf } from "./codes.ts";
import { unknownStatus } from "./unknown-status.ts";

type Body = Omit<SupplierInvoiceDocument, "vendor" | "issuerId">;

/** @throws Refused, NotMapped */
export function invoiceBody(invoice: Invoice, references: References): Body {
  if (!isKnown(invoiceStatuses, invoice.status)) throw unknownStatus("invoice", invoice.status);
  const { lineItems, taxLines } = inWholeCents(invoice);
  return {
    id: invoice.id,
    number: invoice.invoiceNumber,
    version: invoice.updatedAt,
    status: invoice.status,
    orderId: invoice.orderId,
    // The platform has no invoice date: the day it was made is taken.
    invoiceDate: invoice.createdAt,
    dueDate: invoice.dueDate,
    paidDate: invoice.paidAt,
    poNumber: invoice.poNumber,
    contractNumber: invoice.contractNumber,
    subtotal: invoice.subtotal,
    taxTotal: invoice.tax,
    total: invoice.total,
    notes: invoice.notes,
    lines: lineItems.map((line) => ({
      item: line.product === null ? null : codeOf(references, "items", line.product),
      product: line.product,
      description: line.description,
      spec: line.spec,
      gallons: line.gallons,
      grossGallons: line.grossGallons,
      netGallons: line.netGallons,
      rate: line.rate,
      amount: line.amount,
      bolNumber: line.bolNumber,
      deliveryTicket: line.deliveryTicket,
      location: line.location,
      carrier: line.carrier,
      deliveredDate: line.deliveredDate,
    })),
    taxes: taxLines.map((tax) => ({
      taxCode: codeOf(references, "taxes", tax.taxType),
      taxType: tax.taxType,
      authority: tax.authority,
      product: tax.productRef,
      gallons: tax.gallons,
      rate: tax.rate,
      amount: tax.amount,
    })),
  };
}

/** Gallons of a line without a product (freight by the gallon) were counted where the fuel is. */
export const invoiceFigures = ({ total, lines }: Body): Figures => ({
  amount: total,
  gallons: Decimal.sum(
    lines.map(({ item, gallons }) => (item === null ? null : gallons) ?? Decimal.zero),
  ),
});

/** What does not count yet, or no more, is like nothing. An issuer gives each number once. */
export function likenessOf(
  { status, poNumber, contractNumber, lineItems, total, createdAt, invoiceNumber }: Invoice,
  party: string | null,
  dayOf: References["dayOf"],
): Likeness | null {
  if (party === null || status === "DRAFT" || status === "VOID") return null;
  const named = [poNumber, contractNumber].filter((word) => word !== null && word.trim() !== "");
  // Two loads of one day and one order have bills of lading of their own.
  const loads = lineItems.flatMap(({ bolNumber, deliveryTicket }) => [
    bolNumber ?? "",
    deliveryTicket ?? "",
  ]);
  const lines = lineItems.flatMap(({ description, product, gallons, amount }) => [
    description,
    product ?? "",
    gallons?.plain() ?? "",
    amount.plain(),
  ]);
  return {
    party,
    amount: total,
    day: dayOf(createdAt),
    reference: [...(named.length > 0 ? named.map(String) : lines), ...loads],
    number: invoiceNumber,
  };
}

/** @throws Refused: an invoice of ours is booked for somebody */
export function payerOf({ payerCompanyId }: Invoice): string {
  if (payerCompanyId !== null) return payerCompanyId;
  throw new Refused({
    code: "no-payer",
    message: "the invoice names no payer",
    next: "Book it by hand for its customer, then resolve it here.",
    field: "payerCompanyId",
  });
}

/**
 * Lines and taxes of an invoice, every amount of them in cents. The platform does not promise that its figures agree
 * (specification 2.4); the books need them to, to the cent. A fraction of a cent is rounded half to even where the
 * rounded amounts come to the sum that the invoice says; sums are never rounded.
 * @throws Refused `does-not-add-up`; `no-cents` where only the fractions add up
 */
export function inWholeCents(invoice: Invoice): Pick<Invoice, "lineItems" | "taxLines"> {
  const { lineItems, taxLines, subtotal, tax, total } = invoice;
  const lines = addedUp("lineItems", lineItems, subtotal);
  const taxes = addedUp("taxLines", taxLines, tax);
  if (lines === null || taxes === null || !subtotal.plus(tax).equals(total))
    throw doesNotAddUp(invoice);
  return { lineItems: lines(), taxLines: taxes() };
}

interface Part {
  readonly amount: Decimal;
}

/** Null: they do not come to the sum. What is in cents keeps its digits. */
function addedUp<P extends Part>(
  field: string,
  parts: readonly P[],
  sum: Decimal,
): (() => P[]) | null {
  const rounded = parts.map((part) => {
    const cents = part.amount.round(2);
    return cents.equals(part.amount) ? part : withAmount(part, cents);
  });
  if (sumOf(rounded).equals(sum)) return () => rounded;
  if (!sumOf(parts).equals(sum)) return null;
  return () => parts.map((part) => withAmount(part, inCents(field, part.amount)));
}

/** What else is read is read of the part itself, so that `fuelbridge map` tells it. */
const withAmount = <P extends Part>(part: P, amount: Decimal): P =>
  Object.create(part, { amount: { value: amount } }) as P;

const sumOf = (parts: readonly Part[]): Decimal => Decimal.sum(parts.map(({ amount }) => amount));

function doesNotAddUp({ lineItems, taxLines, subtotal, tax, total }: Invoice): Refused {
  const [lines, taxes] = [sumOf(lineItems), sumOf(taxLines)];
  return new Refused({
    code: "does-not-add-up",
    message:
      `it does not add up: the lines come to ${money(lines)} and the subtotal says ${money(subtotal)}, ` +
      `the tax lines come to ${money(taxes)} and the tax says ${money(tax)}, ` +
      `together ${money(subtotal.plus(tax))} and the total says ${money(total)}`,
    next: "Ask whoever issued it to correct it on the platform; the corrected version is delivered by itself.",
    field: "total",
  });
}

const money = (amount: Decimal): string => amount.fixed(2);
