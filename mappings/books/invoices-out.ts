/** What invoices we issue and invoices we pay have in common: amounts as the platform says, to the cent. */
import {
  accountsTable,
  ChargeOptions,
  dayOrNone,
  joined,
  labelled,
  ledgerAccount,
  partyOf,
  statusOf,
  symbolOf,
} from "./site.ts";
import { inWholeCents, likenessOf, payerOf, paymentLikeness } from "../canonical/invoices.ts";
import { codeOf } from "../canonical/values.ts";
import { TABLES } from "../crossref.ts";
import { ISSUED, NOT_BOOKED, PAYABLE, PROCESSOR } from "../leaves.ts";
import { inCents } from "../money.ts";
import { INVOICE_PAYMENT } from "../platform/paid-invoices.ts";
import {
  defineMapping,
  type Figures,
  type References,
  type Skip,
} from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { InvoiceDocument, type Party, PaymentDocument } from "../../src/ledger/documents.ts";
import {
  Invoice,
  invoiceStatuses,
  Payment,
  paymentStatuses,
} from "../../src/platform/contract/invoice.ts";

type Type = InvoiceDocument["type"];
type Line = InvoiceDocument["lines"][number];
type LineItem = Invoice["lineItems"][number];

const INVOICE_STATUSES = {
  what: "invoice",
  known: invoiceStatuses,
  booked: { OUTSTANDING: "open", OVERDUE: "open", PAID: "paid", DISPUTED: "disputed" },
  ended: { VOID: "void" },
} as const;

/**
 * Notes stay on the platform: they change after posting (a payment may replace them), and the booked text does not.
 * @throws Refused, NotMapped
 */
function booked(
  invoice: Invoice,
  references: References,
  options: ChargeOptions,
  type: Type,
  party: () => Party,
): InvoiceDocument | Skip {
  const kind = type === "out" ? "invoice" : "bill";
  const status = statusOf(references, { kind, ...INVOICE_STATUSES }, invoice);
  if (typeof status !== "string") return status;
  invoice.lineItems.forEach(expectPriced);
  const { lineItems, taxLines } = inWholeCents(invoice);
  return {
    id: invoice.id,
    number: invoice.invoiceNumber,
    party: party(),
    type,
    status,
    // The platform has no invoice date: the day it was made is taken.
    invoiceDate: references.dayOf(invoice.createdAt),
    dueDate: dayOrNone(references, invoice.dueDate),
    paidDate: invoice.paidAt === null ? null : references.dayOf(invoice.paidAt),
    // The platform says no more of when it became void than when it last changed.
    ...(status === "void" ? { endedDate: references.dayOf(invoice.updatedAt) } : {}),
    description:
      joined(labelled("PO", invoice.poNumber), labelled("contract", invoice.contractNumber)) ||
      null,
    lines: lineItems.map((line) => lineOf(line, references, options, type)),
    taxes: taxLines.map((tax) => ({
      account: ledgerAccount(references, "taxes", tax.taxType, type),
      description: tax.authority === null ? tax.taxType : `${tax.taxType} (${tax.authority})`,
      base: baseOf(tax.productRef, lineItems, invoice.subtotal),
      amount: tax.amount.round(2),
    })),
    subtotal: invoice.subtotal.round(2),
    tax: invoice.tax.round(2),
    total: invoice.total.round(2),
  };
}

/** Gallons of lines without a product (freight by the gallon) were counted where the fuel is. */
const bookedFigures = ({ total, lines }: InvoiceDocument): Figures => ({
  amount: total,
  gallons: Decimal.sum(lines.map(({ unit, quantity }) => (unit === null ? ZERO : quantity))),
});

const ZERO = Decimal.zero;
const ONE = Decimal.of("1");
/** How far the platform lets an amount be from rate times gallons (specification part 4, rule I1). */
const CENT = Decimal.of("0.01");

/**
 * By product and gallons where it has them, and by the amount alone where it does not. Amounts are the platform's: it
 * rounds half cents as it likes, and what the books make of them is for the connector to compare.
 */
function lineOf(
  line: LineItem,
  references: References,
  { chargeAccount }: ChargeOptions,
  type: Type,
): Line {
  const amount = line.amount.round(2);
  const description = describe(line, references);
  const { product, gallons, rate } = line;
  if (product === null || gallons === null || gallons.sign === 0 || rate === null) {
    const account =
      product === null && chargeAccount !== undefined
        ? chargeAccount
        : ledgerAccount(references, "accounts", product ?? "charge", type);
    const alone = { product: null, account, quantity: ONE, unit: null, unitPrice: amount };
    return { ...alone, amount, description };
  }
  return {
    product: codeOf(references, "items", product),
    account: null,
    quantity: gallons,
    unit: symbolOf(references, "gal"),
    unitPrice: rate,
    amount,
    description,
  };
}

/** By the amount as the platform wrote it, before a fraction of a cent is rounded. @throws Refused */
function expectPriced({ amount, rate, gallons, product }: LineItem): void {
  if (product === null || gallons === null || gallons.sign === 0 || rate === null) return;
  const priced = gallons.times(rate);
  if (priced.minus(amount).abs().compare(CENT) <= 0) return;
  throw new Refused({
    code: "does-not-add-up",
    message: `a line of ${product} says ${amount.fixed(2)}, and ${gallons.text} gallons at ${rate.text} are ${priced.round(2).text}`,
    next: "Ask whoever issued it to correct it on the platform; the corrected version is delivered by itself.",
    field: "lineItems",
  });
}

/** As people look for it. Gallons and rate are said where they are no fields of the line. */
function describe(line: LineItem, references: References): string {
  const { gallons, rate } = line;
  const text = line.description.trim() || (line.product ?? "Charge");
  return joined(
    text,
    line.product === null ? labelled("gallons", gallons?.plain() ?? null) : null,
    line.product === null ? labelled("rate", rate?.plain() ?? null) : null,
    line.bolNumber !== null && text.includes(line.bolNumber)
      ? null
      : labelled("BOL", line.bolNumber),
    labelled("ticket", line.deliveryTicket),
    labelled("gross", line.grossGallons?.plain() ?? null, " gal"),
    labelled("net", line.netGallons?.plain() ?? null, " gal"),
    labelled("carrier", line.carrier),
    labelled("delivered", dayOrNone(references, line.deliveredDate)),
  );
}

/** The lines of the product that it taxes, or else all of them. */
function baseOf(
  productRef: string | null,
  lineItems: readonly LineItem[],
  subtotal: Decimal,
): Decimal {
  const taxed = lineItems.filter(({ product }) => product !== null && product === productRef);
  const base = taxed.length === 0 ? subtotal : Decimal.sum(taxed.map(({ amount }) => amount));
  return base.round(2);
}

/** Invoices we issued on the platform, for the receivables. Those that came from the books are their own, read back. */
export const customerInvoices = defineMapping({
  name: "books/customer-invoices",
  kind: "invoice",
  reads: "platform.invoicesIssued",
  writes: "books.invoices",
  options: ChargeOptions,
  tables: (options) => ({
    items: ["product", "item"],
    customers: ["company", "account"],
    [TABLES.taxes]: ["tax_type", "sales"],
    [TABLES.units]: ["unit", "symbol"],
    ...accountsTable(options, "sales"),
  }),
  leaves: { record: [...ISSUED, ...NOT_BOOKED] },
  input: Invoice,
  output: InvoiceDocument,
  posts: true,
  number: (invoice) => invoice.invoiceNumber,
  map: (invoice, references, options) =>
    booked(invoice, references, options, "out", () =>
      partyOf(references, "customer", payerOf(invoice)),
    ),
  figures: bookedFigures,
  bookedOn: ({ createdAt }, { dayOf }) => dayOf(createdAt),
  likeness: (invoice, { dayOf }) => likenessOf(invoice, invoice.payerCompanyId, dayOf),
  about: ({ payerCompanyId, total }) => ({ party: payerCompanyId, amount: total }),
});

/** Invoices that others issued and we pay, for the payables. Numbers are unique by issuer only. */
export const supplierInvoices = defineMapping({
  name: "books/supplier-invoices",
  kind: "bill",
  reads: "platform.invoicesPayable",
  writes: "books.bills",
  options: ChargeOptions,
  tables: (options) => ({
    items: ["product", "item"],
    vendors: ["company", "account"],
    [TABLES.taxes]: ["tax_type", "purchases"],
    [TABLES.units]: ["unit", "symbol"],
    ...accountsTable(options, "purchases"),
  }),
  leaves: { record: [...PAYABLE, ...NOT_BOOKED] },
  input: Invoice,
  output: InvoiceDocument,
  posts: true,
  number: (invoice) => invoice.invoiceNumber,
  map: (invoice, references, options) =>
    booked(invoice, references, options, "in", () =>
      partyOf(references, "supplier", invoice.companyId),
    ),
  figures: bookedFigures,
  bookedOn: ({ createdAt }, { dayOf }) => dayOf(createdAt),
  likeness: (invoice, { dayOf }) => likenessOf(invoice, invoice.companyId, dayOf),
  about: ({ companyId, total }) => ({ party: companyId, amount: total }),
});

/* Payments that went through, as payments of invoices that are in the books. They wait until their invoice is. */

const PAYMENT_STATUSES = {
  what: "payment",
  known: paymentStatuses,
  booked: { SUCCEEDED: "paid" },
  ended: {},
} as const;

const common = {
  writes: "books.payments",
  leaves: { record: PROCESSOR },
  input: Payment,
  output: PaymentDocument,
  posts: true,
  // References repeat: two checks of two banks have one number.
  number: (payment: Payment) => payment.id,
  figures: ({ amount }: PaymentDocument) => ({ amount, gallons: null }),
  bookedOn: ({ paidAt }: Payment, { dayOf }: Pick<References, "dayOf">) => dayOf(paidAt),
  likeness: paymentLikeness,
  about: ({ reference, amount }: Payment) => ({ name: reference, amount }),
} as const;

const invoiceOf = ({ invoiceId }: Payment): string => invoiceId;

/** What our customers paid. */
export const paymentsReceived = defineMapping({
  name: "books/payments-received",
  kind: "payment",
  reads: "platform.paymentsReceived",
  ...common,
  settles: { kind: "invoice", of: invoiceOf },
  map: (payment, references) => paymentOf(payment, references, "out"),
});

/** What we paid our suppliers: links of a kind of their own, as the flow is one of its own. */
export const paymentsMade = defineMapping({
  name: "books/payments-made",
  kind: "bill-payment",
  reads: "platform.paymentsMade",
  ...common,
  settles: { kind: "bill", of: invoiceOf },
  map: (payment, references) => paymentOf(payment, references, "in"),
});

function paymentOf(
  payment: Payment,
  references: References,
  type: PaymentDocument["type"],
): PaymentDocument | Skip {
  const kind = type === "out" ? "payment" : "bill-payment";
  const status = statusOf(references, { kind, ...PAYMENT_STATUSES }, payment);
  if (typeof status !== "string") return status;
  if (references.find(kind, payment.id) === null) expectNotPaid(payment, references);
  const amount = inCents("amount", payment.amount);
  if (amount.sign <= 0)
    throw new Refused({
      code: "no-amount",
      message: `the payment is over ${amount.fixed(2)}`,
      next: "An accountant looks at it on the platform, and resolves it here.",
      field: "amount",
    });
  return {
    id: payment.id,
    number: payment.id,
    type,
    invoice: references.counterpart(type === "out" ? "invoice" : "bill", payment.invoiceId),
    invoiceId: payment.invoiceId,
    amount,
    date: references.dayOf(payment.paidAt),
    reference: payment.reference?.trim() || null,
    description: joined(
      payment.method.trim() || "payment",
      payment.reference,
      // Whether the amount contains it is not specified: it is told, and not booked.
      labelled("surcharge", payment.surchargeAmount?.fixed(2) ?? null),
    ),
  };
}

/** The platform was told of money that the books have already: is this that money, or more of it? @throws Refused */
function expectNotPaid({ invoiceId }: Payment, references: References): void {
  if (references.find(INVOICE_PAYMENT, invoiceId) === null) return;
  throw new Refused({
    code: "paid-already",
    message: "the invoice was paid in the books before, and the platform tells of a payment",
    next: "An accountant compares the two: the same money is resolved here, other money is booked by hand.",
    field: "invoiceId",
  });
}
