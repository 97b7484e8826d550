/** Invoices and payments of the platform: as they stand there for files, and as what a ledger books for ledgers. */
import {
  accountOf,
  alike,
  cellOrNone,
  ChargeOptions,
  codeOf,
  COLUMNS,
  CORRECT_THERE,
  dayOrNone,
  digitsOf,
  inCents,
  INVOICE_PAYMENT,
  invoiceTables,
  joined,
  labelled,
  ledgerAccount,
  partyOf,
  paths,
  pick,
  statusOf,
  symbolOf,
  unfinished,
  unknownStatus,
  toFiles,
} from "./values.ts";
import {
  defineMapping,
  type Figures,
  type Likeness,
  type References,
  type Skip,
} from "../src/core/contract.ts";
import { amountOf, Decimal } from "../src/core/decimal.ts";
import { Refused } from "../src/core/errors.ts";
import { amountText } from "../src/core/text.ts";
import {
  onlyPlace,
  PaymentDocument,
  type SupplierInvoiceDocument,
} from "../src/formats/documents.ts";
import {
  InvoiceDocument as BookedInvoice,
  PaymentDocument as BookedPayment,
} from "../src/ledger/documents.ts";
import {
  Invoice,
  invoiceStatuses,
  Payment,
  paymentStatuses,
} from "../src/platform/contract/invoice.ts";
import { isKnown } from "../src/platform/contract/primitives.ts";

/**
 * Of both sides: lines are told by what they say, and not by ids that the platform gave them; what the seller paid and
 * earns is not billed; the rate as text is the tax rate once more.
 */
const NOT_TOLD = paths(`
  lineItems.id lineItems.invoiceId taxLines.id taxLines.invoiceId lineItems.margin
  lineItems.rackPrice taxLines.rateDisplay
`);

/** Invoices we issue, and invoices we pay. Numbers of the latter are unique by issuer only. */
const SIDES = {
  out: {
    kind: "invoice",
    reads: "platform.invoicesIssued",
    role: "customer",
    companyOf: ({ payerCompanyId }: Invoice): string | null => payerCompanyId,
    /** The issuer is our own company. */
    leaves: ["companyId", ...NOT_TOLD],
    writes: "books.invoices",
    payment: "payment",
    payments: "platform.paymentsReceived",
    direction: "received",
  },
  in: {
    kind: "bill",
    reads: "platform.invoicesPayable",
    role: "supplier",
    companyOf: ({ companyId }: Invoice): string | null => companyId,
    /** The payer is our own company. */
    leaves: ["payerCompanyId", ...NOT_TOLD],
    writes: "books.bills",
    payment: "bill-payment",
    payments: "platform.paymentsMade",
    direction: "made",
  },
} as const;

type Type = keyof typeof SIDES;

/** What the mappings of one side have in common. */
const invoiceOf = (type: Type) => {
  const { kind, reads, companyOf } = SIDES[type];
  return {
    kind,
    reads,
    input: Invoice,
    posts: true,
    number: (invoice: Invoice) => invoice.invoiceNumber,
    likeness: (invoice: Invoice, { dayOf }: Pick<References, "dayOf">) =>
      likenessOf(invoice, companyOf(invoice), dayOf),
    about: (invoice: Invoice) => ({
      party: companyOf(invoice),
      amount: invoice.total,
      day: invoice.createdAt,
      ended: invoice.status === "VOID",
    }),
  };
};

/** The company on the other side. @throws Refused: an invoice of ours is booked for somebody */
function otherCompany(invoice: Invoice, type: Type): string {
  const company = SIDES[type].companyOf(invoice);
  if (company !== null) return company;
  throw new Refused({
    code: "no-payer",
    message: "the invoice names no payer",
    next: "Book it by hand for its customer, then close it here.",
    field: "payerCompanyId",
  });
}

/* For files. */

type Body = Omit<SupplierInvoiceDocument, "vendor" | "issuerId">;

/** With the other side's account in the ERP, and its company. @throws Refused, NotMapped */
function told<Document>(
  invoice: Invoice,
  references: References,
  type: Type,
  withParty: (body: Body, account: string, companyId: string) => Document,
): Document | Skip {
  const { kind, role } = SIDES[type];
  const withheld = unfinished(references, kind, invoice);
  if (withheld !== null) return withheld;
  if (!isKnown(invoiceStatuses, invoice.status)) throw unknownStatus("invoice", invoice.status);
  const { lineItems, taxLines } = inWholeCents(invoice);
  const body = {
    ...pick(invoice, "id", "status", "orderId", "dueDate", "poNumber", "contractNumber"),
    ...pick(invoice, "subtotal", "total", "notes"),
    number: invoice.invoiceNumber,
    version: invoice.updatedAt,
    // The platform has no invoice date: the day it was made is taken.
    invoiceDate: invoice.createdAt,
    paidDate: invoice.paidAt,
    taxTotal: invoice.tax,
    lines: lineItems.map((line) => ({
      item: line.product === null ? null : codeOf(references, "items", line.product),
      ...pick(line, "product", "description", "spec", "gallons", "grossGallons", "netGallons"),
      ...pick(line, "rate", "amount", "bolNumber", "deliveryTicket", "location", "carrier"),
      deliveredDate: line.deliveredDate,
    })),
    taxes: taxLines.map((tax) => ({
      taxCode: codeOf(references, "taxes", tax.taxType),
      ...pick(tax, "taxType", "authority", "gallons", "rate", "amount"),
      product: tax.productRef,
    })),
  };
  const companyId = otherCompany(invoice, type);
  return withParty(body, accountOf(references, role, companyId), companyId);
}

/** Gallons of a line without a product (freight by the gallon) were counted where the fuel is. */
const figuresOf = ({ total, lines }: Body): Figures => ({
  amount: total,
  gallons: Decimal.sum(
    lines.map(({ item, gallons }) => (item === null ? null : gallons) ?? Decimal.zero),
  ),
});

/** Invoices we issued on the platform, for the receivables of an ERP. */
export const customerInvoices = defineMapping({
  ...invoiceOf("out"),
  ...toFiles("customer-invoices"),
  tables: { items: COLUMNS.items, taxes: COLUMNS.taxes, customers: COLUMNS.customers },
  leaves: { record: SIDES.out.leaves },
  map: (invoice, references) =>
    told(invoice, references, "out", (body, customer, payerId) => ({ ...body, customer, payerId })),
  figures: (body) => ({ ...figuresOf(body), party: body.customer }),
});

/** Invoices that others issued and we pay, for the payables of an ERP. */
export const supplierInvoices = defineMapping({
  ...invoiceOf("in"),
  ...toFiles("supplier-invoices"),
  tables: { items: COLUMNS.items, taxes: COLUMNS.taxes, vendors: COLUMNS.vendors },
  leaves: { record: SIDES.in.leaves },
  map: (invoice, references) =>
    told(invoice, references, "in", (body, vendor, issuerId) => ({ ...body, vendor, issuerId })),
  figures: (body) => ({ ...figuresOf(body), party: body.vendor }),
});

/** What does not count yet, or no more, is like nothing. An issuer gives each number once. */
function likenessOf(
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
    ...digitsOf(gallons, amount),
  ]);
  const day = dayOf(createdAt);
  const names = named.map(String);
  return alike({ party, amount: total, day, names, loads, lines, number: invoiceNumber });
}

/**
 * Lines and taxes of an invoice, every amount of them in cents. The platform does not promise that its figures agree
 * (specification 2.4); the books need them to, to the cent. A fraction of a cent is rounded where the rounded
 * amounts come to the sum that the invoice says, half to even or half up as the sum shows. Where the sum was rounded
 * instead, the amounts that are nearest to their other cent take it. Sums are never rounded here.
 * @throws Refused `does-not-add-up`; `no-cents` where only the fractions add up
 */
function inWholeCents(invoice: Invoice): Pick<Invoice, "lineItems" | "taxLines"> {
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
  for (const half of HALVES) {
    const rounded = parts.map((part) => withAmount(part, part.amount.round(2, half)));
    if (amountOf(rounded).equals(sum)) return () => rounded;
  }
  const exact = amountOf(parts);
  if (exact.equals(sum))
    return () => parts.map((part) => withAmount(part, inCents(field, part.amount)));
  const isRounded = HALVES.some((half) => exact.round(2, half).equals(sum));
  return isRounded ? () => toSum(parts, sum) : null;
}

const HALVES = ["even", "away"] as const;

/** Each to a cent beside its amount, so that they come to the sum, which is theirs rounded. */
function toSum<P extends Part>(parts: readonly P[], sum: Decimal): P[] {
  const rounded = parts.map((part) => ({ part, cents: part.amount.round(2) }));
  const off = sum.minus(Decimal.sum(rounded.map(({ cents }) => cents)));
  const step = off.sign < 0 ? CENT.negated() : CENT;
  const beyond = ({ part, cents }: (typeof rounded)[number]): Decimal =>
    part.amount.minus(cents).times(step);
  const nearest = rounded
    .toSorted((one, other) => beyond(other).compare(beyond(one)))
    .slice(0, Number(off.abs().over(CENT, 0).plain()));
  return rounded.map((one) =>
    withAmount(one.part, nearest.includes(one) ? one.cents.plus(step) : one.cents),
  );
}

/** What else is read is read of the part itself, so that `fuelbridge map` tells it. */
const withAmount = <P extends Part>(part: P, amount: Decimal): P =>
  amount.equals(part.amount) ? part : (Object.create(part, { amount: { value: amount } }) as P);

function doesNotAddUp({ lineItems, taxLines, subtotal, tax, total }: Invoice): Refused {
  const [lines, taxes] = [amountOf(lineItems), amountOf(taxLines)];
  return new Refused({
    code: "does-not-add-up",
    message:
      `it does not add up: the lines come to ${amountText(lines)} and the subtotal says ${amountText(subtotal)}, ` +
      `the tax lines come to ${amountText(taxes)} and the tax says ${amountText(tax)}, ` +
      `together ${amountText(subtotal.plus(tax))} and the total says ${amountText(total)}`,
    next: CORRECT_THERE,
    field: "total",
  });
}

/* For ledgers: amounts as the platform says, to the cent. */

type LineItem = Invoice["lineItems"][number];

const INVOICE_STATUSES = {
  what: "invoice",
  known: invoiceStatuses,
  booked: { OUTSTANDING: "open", OVERDUE: "open", PAID: "paid", DISPUTED: "disputed" },
  ended: { VOID: "void" },
} as const;

/**
 * Of an invoice in books: notes change after posting (a payment may replace them), and the booked text does not; a
 * specification has no field; taxes are booked by their amount; `updatedAt` dates only what became void.
 */
const NOT_BOOKED = paths(`
  notes orderId lineItems.spec updatedAt
`);

/** Those that came from the books are their own, read back. */
const bookedInvoices = <const Name extends string>(name: Name, type: Type) =>
  defineMapping({
    ...invoiceOf(type),
    name,
    writes: SIDES[type].writes,
    options: ChargeOptions,
    tables: (options) => invoiceTables(options, type),
    leaves: { record: [...SIDES[type].leaves, ...NOT_BOOKED] },
    output: BookedInvoice,
    map: (invoice, references, options) => booked(invoice, references, options, type),
    // Gallons of lines without a product (freight by the gallon) were counted where the fuel is.
    figures: ({ total, lines }) => ({
      amount: total,
      gallons: Decimal.sum(
        lines.map(({ unit, quantity }) => (unit === null ? Decimal.zero : quantity)),
      ),
    }),
    bookedOn: ({ createdAt }, { dayOf }) => dayOf(createdAt),
  });

/** Invoices we issued on the platform, for the receivables. */
export const bookedCustomerInvoices = bookedInvoices("books/customer-invoices", "out");
/** Invoices that others issued and we pay, for the payables. */
export const bookedSupplierInvoices = bookedInvoices("books/supplier-invoices", "in");

/** @throws Refused, NotMapped */
function booked(
  invoice: Invoice,
  references: References,
  options: ChargeOptions,
  type: Type,
): BookedInvoice | Skip {
  const { kind, role } = SIDES[type];
  const status = statusOf(references, { kind, ...INVOICE_STATUSES }, invoice);
  if (typeof status !== "string") return status;
  invoice.lineItems.forEach(expectPriced);
  const { lineItems, taxLines } = inWholeCents(invoice);
  return {
    id: invoice.id,
    number: invoice.invoiceNumber,
    party: partyOf(references, role, otherCompany(invoice, type)),
    type,
    status,
    // The platform has no invoice date: the day it was made is taken.
    invoiceDate: references.dayOf(invoice.createdAt),
    dueDate: dayOrNone(references, invoice.dueDate),
    paidDate: invoice.paidAt === null ? null : references.dayOf(invoice.paidAt),
    // The platform says no more of when it became void than when it last changed.
    ...(status === "void" ? { endedDate: references.dayOf(invoice.updatedAt) } : {}),
    poNumber: invoice.poNumber?.trim() || null,
    shipTo: onlyPlace(lineItems),
    description: labelled("contract", invoice.contractNumber),
    lines: lineItems.map((line) => lineOf(line, references, options, type)),
    taxes: taxLines.map((tax) => ({
      account: ledgerAccount(references, "taxes", tax.taxType, type),
      description: tax.authority === null ? tax.taxType : `${tax.taxType} (${tax.authority})`,
      base: baseOf(tax.productRef, lineItems, invoice.subtotal),
      amount: tax.amount.round(2),
      ...pick(tax, "authority", "gallons", "rate"),
      product:
        tax.productRef &&
        (cellOrNone(references, "items", tax.productRef, COLUMNS.items[1]) ?? tax.productRef),
    })),
    subtotal: invoice.subtotal.round(2),
    tax: invoice.tax.round(2),
    total: invoice.total.round(2),
  };
}

/** What is billed by the gallon of a product; null: what is billed by its amount alone. */
function perGallon({ product, gallons, rate }: LineItem) {
  const isPer = product !== null && gallons !== null && gallons.sign !== 0 && rate !== null;
  return isPer ? { product, gallons, rate } : null;
}

/**
 * By product and gallons where it has them, and by the amount alone where it does not. Amounts are the platform's: it
 * rounds half cents as it likes, and what the books make of them is for the connector to compare.
 */
function lineOf(
  line: LineItem,
  references: References,
  { chargeAccount }: ChargeOptions,
  type: Type,
): BookedInvoice["lines"][number] {
  const amount = line.amount.round(2);
  const description = describe(line, references);
  const fuel = perGallon(line);
  if (fuel === null) {
    const account =
      line.product === null && chargeAccount !== undefined
        ? chargeAccount
        : ledgerAccount(references, "accounts", line.product ?? "charge", type);
    const alone = { product: null, account, quantity: Decimal.one, unit: null, unitPrice: amount };
    return { ...alone, amount, description };
  }
  return {
    product: codeOf(references, "items", fuel.product),
    account: null,
    quantity: fuel.gallons,
    unit: symbolOf(references, "gal"),
    unitPrice: fuel.rate,
    amount,
    description,
  };
}

/** How far the platform lets an amount be from rate times gallons (specification part 4, rule I1). */
const CENT = Decimal.of("0.01");

/** By the amount as the platform wrote it, before a fraction of a cent is rounded. @throws Refused */
function expectPriced(line: LineItem): void {
  const fuel = perGallon(line);
  if (fuel === null) return;
  const { product, gallons, rate } = fuel;
  const priced = gallons.times(rate);
  if (priced.minus(line.amount).abs().compare(CENT) <= 0) return;
  throw new Refused({
    code: "does-not-add-up",
    message: `a line of ${product} says ${amountText(line.amount)}, and ${gallons.plain()} gallons at ${amountText(rate)} are ${amountText(priced.round(2))}`,
    next: CORRECT_THERE,
    field: "lineItems",
  });
}

/** As people look for it. Gallons and rate are said where they are no fields of the line. */
function describe(line: LineItem, references: References): string {
  const text = line.description.trim() || (line.product ?? "Charge");
  const isCharge = line.product === null;
  const isNamed = line.bolNumber !== null && text.includes(line.bolNumber);
  return joined(
    text,
    isCharge ? labelled("gallons", line.gallons) : null,
    isCharge ? labelled("rate", line.rate) : null,
    isNamed ? null : labelled("BOL", line.bolNumber),
    labelled("ticket", line.deliveryTicket),
    labelled("gross", line.grossGallons, " gal"),
    labelled("net", line.netGallons, " gal"),
    labelled("carrier", line.carrier),
    labelled("location", line.location),
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
  return (taxed.length === 0 ? subtotal : amountOf(taxed)).round(2);
}

/* Payments that went through. They wait until their invoice was delivered. */

/** What the mappings of one side have in common: those of our customers, and ours to suppliers, with links of their own. */
const paymentOf = (type: Type) => ({
  kind: SIDES[type].payment,
  reads: SIDES[type].payments,
  // The ids and reasons of the card processor.
  leaves: { record: ["processorChargeId", "failureReason"] },
  input: Payment,
  posts: true,
  // References repeat: two checks of two banks have one number.
  number: ({ id }: Payment) => id,
  figures: ({ amount }: { readonly amount: Decimal }) => ({ amount, gallons: null }),
  bookedOn: ({ paidAt }: Payment, { dayOf }: Pick<References, "dayOf">) => dayOf(paidAt),
  /** Equal payments on one day are common: only those of one reference, on one invoice, are taken for one. */
  likeness(
    { status, invoiceId, amount, paidAt, reference }: Payment,
    { dayOf }: Pick<References, "dayOf">,
  ): Likeness | null {
    if (status !== "SUCCEEDED" || !reference?.trim()) return null;
    const day = dayOf(paidAt);
    return alike({ party: invoiceId, company: null, amount, day, names: [reference] });
  },
  about: ({ reference, amount, paidAt }: Payment) => ({ name: reference, amount, day: paidAt }),
});

/** A payment shows no time of change: one that was taken back after it was delivered is for a person. */
const PAYMENT_STATUSES = {
  what: "payment",
  known: paymentStatuses,
  booked: { SUCCEEDED: "paid" },
  ended: {},
} as const;

const payments = <const Name extends string>(name: Name, type: Type) =>
  defineMapping({
    ...paymentOf(type),
    name,
    writes: "files.payments",
    output: PaymentDocument,
    map(payment, references): PaymentDocument | Skip {
      const { kind: invoiceKind, payment: kind, direction } = SIDES[type];
      const status = statusOf(references, { kind, ...PAYMENT_STATUSES }, payment);
      if (typeof status !== "string") return status;
      references.counterpart(invoiceKind, payment.invoiceId);
      return {
        ...pick(payment, "id", "status", "invoiceId", "method", "reference"),
        number: payment.id,
        version: payment.paidAt,
        direction,
        paidDate: payment.paidAt,
        amount: inCents("amount", payment.amount),
        surcharge: payment.surchargeAmount,
      };
    },
  });

export const paymentsReceived = payments("canonical/payments-received", "out");
export const paymentsMade = payments("canonical/payments-made", "in");

/** As payments of invoices that are in the books. */
const bookedPayments = <const Name extends string>(name: Name, type: Type) =>
  defineMapping({
    ...paymentOf(type),
    name,
    writes: "books.payments",
    output: BookedPayment,
    settles: { kind: SIDES[type].kind, of: ({ invoiceId }: Payment) => invoiceId },
    map(payment, references): BookedPayment | Skip {
      const { kind: invoiceKind, payment: kind } = SIDES[type];
      const status = statusOf(references, { kind, ...PAYMENT_STATUSES }, payment);
      if (typeof status !== "string") return status;
      if (references.find(kind, payment.id) === null) expectNotPaid(payment, references);
      const amount = inCents("amount", payment.amount);
      if (amount.sign <= 0)
        throw new Refused({
          code: "no-amount",
          message: `the payment is over ${amountText(amount)}`,
          next: "An accountant looks at it on the platform, and closes it here.",
          field: "amount",
        });
      return {
        ...pick(payment, "id", "invoiceId"),
        number: payment.id,
        type,
        invoice: references.counterpart(invoiceKind, payment.invoiceId),
        amount,
        date: references.dayOf(payment.paidAt),
        reference: payment.reference?.trim() || null,
        description: joined(
          payment.method.trim() || "payment",
          payment.reference,
          // Whether the amount contains it is not specified: it is told, and not booked.
          labelled("surcharge", payment.surchargeAmount?.shortest().fixed(2) ?? null),
        ),
      };
    },
  });

export const bookedPaymentsReceived = bookedPayments("books/payments-received", "out");
export const bookedPaymentsMade = bookedPayments("books/payments-made", "in");

/** The platform was told of money that the books have already: is this that money, or more of it? @throws Refused */
function expectNotPaid({ invoiceId }: Payment, references: References): void {
  if (references.find(INVOICE_PAYMENT, invoiceId) === null) return;
  throw new Refused({
    code: "paid-already",
    message: "the invoice was paid in the books before, and the platform tells of a payment",
    next: "An accountant compares the two: the same money is closed here, other money is booked by hand.",
    field: "invoiceId",
  });
}
