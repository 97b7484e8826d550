/** Payments that went through, as payments of invoices that are in the books. They wait until their invoice is. */
import { PaymentDocument } from "../../src/ledger/documents.ts";
import { defineMapping, type References, type Skip } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { paymentLikeness } from "../canonical/payments.ts";
import { Payment, paymentStatuses } from "../../src/platform/contract/invoice.ts";
import { INVOICE_PAYMENT } from "../platform/paid-invoices.ts";
import { joined, labelled } from "./codes.ts";
import { inCents } from "../money.ts";
import { statusOf } from "./statuses.ts";
import { PROCESSOR } from "../leaves.ts";

const STATUSES = {
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
  const status = statusOf(references, { kind, ...STATUSES }, payment);
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
