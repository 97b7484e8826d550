/** Payments (specification 2.5 and part 4, Invoices and payments). Payments are read only. */
import { z } from "zod";
import { roles } from "./invoice.ts";
import * as p from "./primitives.ts";

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

export const PaymentQuery = z.object({
  role: p.queryChoice(roles, "issuer"),
  invoiceId: p.queryId,
});
