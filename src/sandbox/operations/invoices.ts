/** Invoices and payments (specification part 4, Invoices and payments; rules I1 and V1). */
import { Decimal } from "../../core/decimal.ts";
import type { Json } from "../../core/json.ts";
import { type Numeric, toDecimal } from "../../platform/contract/primitives.ts";
import { invalid, refusal } from "../answer.ts";
import { invoiceDocument } from "../document.ts";
import { type Fields, isFields } from "../kinds.ts";
import {
  amend,
  create,
  type Handlers,
  known,
  list,
  one,
  requireCompany,
  requireRecord,
  seen,
} from "./call.ts";

export const invoices: Handlers<
  | "listInvoices"
  | "createInvoice"
  | "getInvoice"
  | "getInvoicePdf"
  | "markInvoicePaid"
  | "listPayments"
  | "getPayment"
> = {
  listInvoices(call) {
    const { status, role, orderId, search } = call.query;
    return list(call, "invoices", role, { status, parent: orderId, search });
  },

  createInvoice(call) {
    const { world, key } = call;
    const { invoiceNumber } = call.body;
    const body = known(call);
    requireRecord(call, "orders", "orderId", body.orderId);
    requireCompany(call, "payerCompanyId", body.payerCompanyId);
    const readings = world.readings.values();
    const { deduplicateInvoiceNumbers, createdInvoiceStatus: status } = readings;
    const kept =
      readings.invoiceNumbersKept === "asSent" ? invoiceNumber : invoiceNumber.toLowerCase();
    if (
      deduplicateInvoiceNumbers &&
      world.records.natural("invoices", key.company, invoiceNumber) !== null
    )
      throw invalid(`invoiceNumber ${invoiceNumber} exists already.`, [
        { path: "invoiceNumber", message: "exists already" },
      ]);
    const lineItems = (body.lineItems as readonly Fields[]).map(withAmount);
    return one(201, create(call, "invoices", { ...body, invoiceNumber: kept, lineItems, status }));
  },

  getInvoice(call) {
    return one(200, seen(call, "invoices", "The invoice", "issuer", "payer"));
  },

  getInvoicePdf(call) {
    const { record } = seen(call, "invoices", "The invoice", "issuer", "payer");
    return invoiceDocument(record, call.world.records.companyName);
  },

  /** The issuer marks paid; the payer sees the invoice, but it is not his to mark. */
  markInvoicePaid(call) {
    const invoice = seen(call, "invoices", "The invoice", "issuer", "payer");
    if (invoice.owner !== call.key.company)
      throw refusal("INSUFFICIENT_SCOPE", "Only the issuer marks an invoice paid.");
    const { status } = invoice.record;
    if (status === "VOID" || status === "DRAFT")
      throw invalid(`An invoice in status ${status} cannot be marked paid.`);
    const changes = { paidAt: call.at, ...known(call), status: "PAID" };
    return one(200, amend(call, "invoices", invoice, changes));
  },

  listPayments(call) {
    const { role, invoiceId } = call.query;
    return list(call, "payments", role, { parent: invoiceId });
  },

  getPayment(call) {
    return one(200, seen(call, "payments", "The payment", "issuer", "payer"));
  },
};

/** Rule I1: without an amount, rate times gallons, to the last digit. */
function withAmount(line: Fields): Fields {
  const { amount, rate, gallons } = line;
  if ((amount ?? null) !== null || !isNumeric(rate) || !isNumeric(gallons)) return line;
  return { ...line, amount: Decimal.of(toDecimal(rate).times(toDecimal(gallons)).plain()) };
}

function isNumeric(value: Json | undefined): value is Numeric {
  return typeof value === "number" || (!isFields(value) && value instanceof Decimal);
}
