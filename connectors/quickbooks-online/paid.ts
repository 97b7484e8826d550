/** What was paid on invoices and bills. */
import { Decimal } from "../../src/core/decimal.ts";
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

/** Documents of a kind that a payment pays. A credit that it applies is none of them, whatever id that has. */
export const linksOf = ({ Line }: Pick<PaymentRow, "Line">, kind: DocumentKind): string[] =>
  Line.flatMap(({ LinkedTxn }) =>
    LinkedTxn.flatMap(({ TxnId, TxnType }) => (TxnType === ENTITY[kind] ? [TxnId] : [])),
  );

/** What a payment pays of one document. */
export const amountOn = (
  { Line }: Pick<PaymentRow, "Line">,
  kind: DocumentKind,
  document: string,
): Decimal =>
  Decimal.sum(
    Line.filter(({ LinkedTxn }) =>
      LinkedTxn.some(({ TxnId, TxnType }) => TxnId === document && TxnType === ENTITY[kind]),
    ).map(({ Amount }) => Amount),
  );
