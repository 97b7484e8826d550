/** Payments that went through, for the ledger of an ERP. They wait until their invoice was delivered. */
import { PaymentDocument } from "../../src/formats/documents.ts";
import {
  defineMapping,
  type Likeness,
  type References,
  skip,
  type Skip,
} from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { Payment, paymentStatuses } from "../../src/platform/contract/invoice.ts";
import { isKnown } from "../../src/platform/contract/primitives.ts";
import { inCents } from "../money.ts";
import { customerInvoices } from "./customer-invoices.ts";
import { supplierInvoices } from "./supplier-invoices.ts";
import { unknownStatus } from "./unknown-status.ts";
import { PROCESSOR } from "../leaves.ts";

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
