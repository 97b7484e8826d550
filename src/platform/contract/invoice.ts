/** Invoices with line items and tax lines, and payments (specification 2.4, 2.5 and part 4). */
import { z } from "zod";
import { Decimal } from "../../core/decimal.ts";
import { list, one, pdf, post, put, walk } from "./operation.ts";
import * as p from "./primitives.ts";

export const invoiceStatuses = [
  "DRAFT",
  "OUTSTANDING",
  "PAID",
  "OVERDUE",
  "DISPUTED",
  "VOID",
] as const;
const roles = ["issuer", "payer"] as const;

/** Gallons are whole by the specification; they are read as Decimals because they enter exact sums. */
const InvoiceLineItem = z.looseObject({
  id: p.id,
  invoiceId: p.id,
  description: p.text,
  product: p.textOrNull,
  location: p.textOrNull,
  spec: p.textOrNull,
  bolNumber: p.textOrNull,
  deliveryTicket: p.textOrNull,
  carrier: p.textOrNull,
  gallons: p.decimalOrNull,
  grossGallons: p.decimalOrNull,
  netGallons: p.decimalOrNull,
  rate: p.decimalOrNull,
  rackPrice: p.decimalOrNull,
  margin: p.decimalOrNull,
  amount: p.decimal,
  deliveredDate: p.timestampOrNull,
});

const InvoiceTaxLine = z.looseObject({
  id: p.id,
  invoiceId: p.id,
  taxType: p.text,
  authority: p.textOrNull,
  productRef: p.textOrNull,
  rateDisplay: p.textOrNull,
  rate: p.decimalOrNull,
  gallons: p.decimalOrNull,
  amount: p.decimal,
});

export const Invoice = z.looseObject({
  ...p.record,
  companyId: p.id,
  orderId: p.idOrNull,
  invoiceNumber: p.text,
  status: p.openEnum(invoiceStatuses),
  subtotal: p.decimal,
  tax: p.decimal,
  total: p.decimal,
  dueDate: p.timestampOrNull,
  paidAt: p.timestampOrNull,
  notes: p.textOrNull,
  payerCompanyId: p.idOrNull,
  contractNumber: p.textOrNull,
  poNumber: p.textOrNull,
  lineItems: z.array(InvoiceLineItem),
  taxLines: z.array(InvoiceTaxLine),
});
export type Invoice = z.infer<typeof Invoice>;

/** An invoice in a list. Whether lists carry lines is not specified: without them, read the detail. */
export const ListedInvoice = Invoice.partial({ lineItems: true, taxLines: true });
export type ListedInvoice = z.infer<typeof ListedInvoice>;

const InvoiceQuery = z.object({
  status: p.queryEnum(invoiceStatuses),
  role: p.queryChoice(roles, "issuer"),
  orderId: p.queryId,
  search: p.queryText(100),
  ...p.paging(p.pages),
  ...p.walk,
});

/** How far `amount` may be from rate times gallons (rule I1; the value is our reading). */
const amountTolerance = Decimal.of("0.01");

const gallons = p.numeric({ integer: true });

const InvoiceLineItemInput = z
  .looseObject({
    description: p.required(200),
    gallons: gallons.nullish(),
    grossGallons: gallons.nullish(),
    netGallons: gallons.nullish(),
    rate: p.numeric().nullish(),
    amount: p.numeric({ min: 0 }).nullish(),
    product: z.string().nullish(),
    location: z.string().nullish(),
    spec: z.string().nullish(),
    bolNumber: z.string().nullish(),
    deliveryTicket: z.string().nullish(),
    carrier: z.string().nullish(),
    deliveredDate: p.timestamp.nullish(),
  })
  .superRefine(({ rate, gallons, amount }, context) => {
    const breach = amountBreach(rate ?? null, gallons ?? null, amount ?? null);
    if (breach !== null) context.addIssue({ code: "custom", path: ["amount"], message: breach });
  });

/** Rule I1. */
function amountBreach(
  rate: p.Numeric | null,
  gallons: p.Numeric | null,
  amount: p.Numeric | null,
): string | null {
  if (rate === null || gallons === null)
    return amount === null ? "amount is required unless rate and gallons are both given" : null;
  if (amount === null) return null;
  const product = p.toDecimal(rate).times(p.toDecimal(gallons));
  const off = p.toDecimal(amount).minus(product).abs();
  return off.compare(amountTolerance) <= 0
    ? null
    : `amount must be rate times gallons, ${product.plain()}`;
}

const InvoiceTaxLineInput = z.looseObject({
  taxType: p.required(100),
  amount: p.numeric({ min: 0 }),
  authority: z.string().optional(),
  rate: p.numeric().optional(),
  gallons: gallons.optional(),
});

export const CreateInvoice = z.looseObject({
  invoiceNumber: p.required(50),
  subtotal: p.numeric({ min: 0 }),
  tax: p.numeric({ min: 0 }).default(0),
  total: p.numeric({ min: 0 }),
  lineItems: z.array(InvoiceLineItemInput).min(1).max(50),
  taxLines: z.array(InvoiceTaxLineInput).max(50).optional(),
  orderId: p.id.nullish(),
  payerCompanyId: p.id.nullish(),
  dueDate: p.timestamp.nullish(),
  notes: p.optionalOrNull(2000),
  contractNumber: p.optionalOrNull(64),
  poNumber: p.optionalOrNull(64),
});
export type CreateInvoice = z.infer<typeof CreateInvoice>;

export const MarkPaid = p.object({
  paidAt: p.timestamp.optional(),
  notes: p.optionalOrNull(1000),
});

/** Payments are read only (specification 2.5). */
export const paymentStatuses = [
  "PENDING",
  "PROCESSING",
  "SUCCEEDED",
  "FAILED",
  "REFUNDED",
] as const;

export const Payment = z.looseObject({
  id: p.id,
  invoiceId: p.id,
  amount: p.decimal,
  method: p.text,
  reference: p.textOrNull,
  processorChargeId: p.textOrNull,
  status: p.openEnum(paymentStatuses),
  failureReason: p.textOrNull,
  surchargeAmount: p.decimalOrNull,
  paidAt: p.timestamp,
});
export type Payment = z.infer<typeof Payment>;

const PaymentQuery = z.object({
  role: p.queryChoice(roles, "issuer"),
  invoiceId: p.queryId,
  ...p.paging(p.pages),
});

export const invoiceOperations = {
  listInvoices: walk("/invoices", InvoiceQuery, ListedInvoice),
  createInvoice: post("/invoices", CreateInvoice, Invoice),
  getInvoice: one("/invoices/{id}", Invoice),
  getInvoicePdf: pdf("/invoices/{id}/pdf"),
  markInvoicePaid: put("/invoices/{id}/mark-paid", MarkPaid.optional(), Invoice),
  listPayments: list("/payments", PaymentQuery, Payment, p.pages),
  getPayment: one("/payments/{id}", Payment),
} as const;
