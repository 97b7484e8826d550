/** What invoices we issue and invoices we pay have in common. */
import { accountOf, codeOf, unfinished, unknownStatus } from "./values.ts";
import { ISSUED, PAYABLE, PROCESSOR } from "../leaves.ts";
import { inCents } from "../money.ts";
import {
  defineMapping,
  type Figures,
  type Likeness,
  type References,
  skip,
  type Skip,
} from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import {
  CustomerInvoiceDocument,
  PaymentDocument,
  SupplierInvoiceDocument,
} from "../../src/formats/documents.ts";
import {
  Invoice,
  invoiceStatuses,
  Payment,
  paymentStatuses,
} from "../../src/platform/contract/invoice.ts";
import { isKnown } from "../../src/platform/contract/primitives.ts";

type Body = Omit<SupplierInvoiceDocument, "vendor" | "issuerId">;

/** @throws Refused, NotMapped */
function invoiceBody(invoice: Invoice, references: References): Body {
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
const invoiceFigures = ({ total, lines }: Body): Figures => ({
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

/** Invoices we issued on the platform, for the receivables of an ERP. */
export const customerInvoices = defineMapping({
  name: "canonical/customer-invoices",
  kind: "invoice",
  reads: "platform.invoicesIssued",
  writes: "files.customer-invoices",
  tables: {
    items: ["product", "item"],
    taxes: ["tax_type", "tax"],
    customers: ["company", "account"],
  },
  leaves: { record: ISSUED },
  input: Invoice,
  output: CustomerInvoiceDocument,
  posts: true,
  number: (invoice) => invoice.invoiceNumber,
  map(invoice, references) {
    const withheld = unfinished(references, "invoice", invoice);
    if (withheld !== null) return withheld;
    const body = invoiceBody(invoice, references);
    const payerId = payerOf(invoice);
    return { ...body, customer: accountOf(references, "customer", payerId), payerId };
  },
  figures: invoiceFigures,
  likeness: (invoice, { dayOf }) => likenessOf(invoice, invoice.payerCompanyId, dayOf),
  about: ({ payerCompanyId, total }) => ({ party: payerCompanyId, amount: total }),
});

/** Invoices that others issued and we pay, for the payables of an ERP. Numbers are unique by issuer only. */
export const supplierInvoices = defineMapping({
  name: "canonical/supplier-invoices",
  kind: "bill",
  reads: "platform.invoicesPayable",
  writes: "files.supplier-invoices",
  tables: {
    items: ["product", "item"],
    taxes: ["tax_type", "tax"],
    vendors: ["company", "account"],
  },
  leaves: { record: PAYABLE },
  input: Invoice,
  output: SupplierInvoiceDocument,
  posts: true,
  number: (invoice) => invoice.invoiceNumber,
  map(invoice, references) {
    const withheld = unfinished(references, "bill", invoice);
    if (withheld !== null) return withheld;
    return {
      ...invoiceBody(invoice, references),
      vendor: accountOf(references, "supplier", invoice.companyId),
      issuerId: invoice.companyId,
    };
  },
  figures: invoiceFigures,
  likeness: (invoice, { dayOf }) => likenessOf(invoice, invoice.companyId, dayOf),
  about: ({ companyId, total }) => ({ party: companyId, amount: total }),
});

/* Payments that went through, for the ledger of an ERP. They wait until their invoice was delivered. */

/** Equal payments on one day are common: only those of one reference, on one invoice, are taken for one. */
export function paymentLikeness(
  { status, invoiceId, amount, paidAt, reference }: Payment,
  { dayOf }: Pick<References, "dayOf">,
): Likeness | null {
  if (status !== "SUCCEEDED" || !reference?.trim()) return null;
  return { party: invoiceId, amount, day: dayOf(paidAt), reference, number: null };
}

const common = {
  writes: "files.payments",
  leaves: { record: PROCESSOR },
  input: Payment,
  output: PaymentDocument,
  posts: true,
  // References repeat: two checks of two banks have one number.
  number: ({ id }: Payment) => id,
  figures: ({ amount }: PaymentDocument) => ({ amount, gallons: null }),
  bookedOn: ({ paidAt }: Payment, { dayOf }: Pick<References, "dayOf">) => dayOf(paidAt),
  likeness: paymentLikeness,
  about: ({ reference, amount }: Payment) => ({ name: reference, amount }),
} as const;

/** What our customers paid. */
export const paymentsReceived = defineMapping({
  name: "canonical/payments-received",
  kind: "payment",
  reads: "platform.paymentsReceived",
  ...common,
  map: (payment, references) => paymentOf(payment, references, "received"),
});

/** What we paid our suppliers. */
export const paymentsMade = defineMapping({
  name: "canonical/payments-made",
  kind: "bill-payment",
  reads: "platform.paymentsMade",
  ...common,
  map: (payment, references) => paymentOf(payment, references, "made"),
});

const KINDS = {
  received: { payment: "payment", invoice: customerInvoices.kind },
  made: { payment: "bill-payment", invoice: supplierInvoices.kind },
} as const;

function paymentOf(
  payment: Payment,
  references: References,
  direction: PaymentDocument["direction"],
): PaymentDocument | Skip {
  const kinds = KINDS[direction];
  const { status } = payment;
  if (!isKnown(paymentStatuses, status)) throw unknownStatus("payment", status);
  if (status !== "SUCCEEDED") {
    if (references.find(kinds.payment, payment.id) !== null) throw takenBack(status);
    return skip(status.toLowerCase());
  }
  references.counterpart(kinds.invoice, payment.invoiceId);
  return {
    id: payment.id,
    number: payment.id,
    version: payment.paidAt,
    status,
    direction,
    invoiceId: payment.invoiceId,
    paidDate: payment.paidAt,
    method: payment.method,
    reference: payment.reference,
    amount: inCents("amount", payment.amount),
    surcharge: payment.surchargeAmount,
  };
}

/** A payment shows no time of change, so that a second file would not tell which of the two counts. */
const takenBack = (status: string): Refused =>
  new Refused({
    code: "payment-taken-back",
    message: `the payment is ${status} on the platform, and was delivered as SUCCEEDED`,
    next: "An accountant takes it back in the ERP by hand, then resolves it here.",
    field: "status",
  });
