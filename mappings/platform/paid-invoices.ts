/** Customer invoices of an ERP that are settled in full, as payments of the platform's; it knows no partial ones. */
import { skip, type References, type Skip } from "../../src/core/contract.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { noonOf } from "./invoices.ts";

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
