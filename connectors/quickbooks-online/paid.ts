/** What was paid on invoices and bills. */
import type { DocumentKind } from "./documents.ts";
import type { Online } from "./online.ts";
import { type DocumentRow, PaymentRow } from "./rows.ts";
import { having } from "./tables.ts";

export const ENTITY = { invoice: "Invoice", bill: "Bill" } as const;

/** How QuickBooks calls payments where it links them: `BillPaymentCheck`, `BillPaymentCreditCard`. */
const PAYS = { invoice: /^Payment$/, bill: /^BillPayment/ } as const;

export const paymentsOf = (
  { wire }: Online,
  kind: DocumentKind,
  rows: readonly Pick<DocumentRow, "LinkedTxn">[],
  signal: AbortSignal,
): Promise<PaymentRow[]> => {
  const Id = rows.flatMap(({ LinkedTxn }) =>
    LinkedTxn.flatMap(({ TxnId, TxnType }) => (PAYS[kind].test(TxnType) ? [TxnId] : [])),
  );
  const entity = kind === "invoice" ? "Payment" : "BillPayment";
  return having(wire, entity, PaymentRow, { Id }, signal);
};

/** Documents that a payment pays. */
export const linksOf = ({ Line }: PaymentRow): string[] =>
  Line.flatMap(({ LinkedTxn }) => LinkedTxn.map(({ TxnId }) => TxnId));
