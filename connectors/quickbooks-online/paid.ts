/** What was paid on invoices and bills, and what was settled without money. */
import type { PaymentOn } from "../../src/ledger/port.ts";
import { paidMarkIn } from "../../src/ledger/marks.ts";
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
const amountOn = (
  { Line }: Pick<PaymentRow, "Line">,
  kind: DocumentKind,
  document: string,
): Decimal =>
  Decimal.sum(
    Line.filter(({ LinkedTxn }) =>
      LinkedTxn.some(({ TxnId, TxnType }) => TxnId === document && TxnType === ENTITY[kind]),
    ).map(({ Amount }) => Amount),
  );

/**
 * What a payment settles of one document: with money, and with credits that it applies. Its own amount is the money; what
 * it pays beyond that comes of credits. Of several documents nobody knows which had the money: each is told with the credit.
 */
export function paymentsOn(kind: DocumentKind, document: string, row: PaymentRow): PaymentOn[] {
  const amount = amountOn(row, kind, document);
  const all = Decimal.sum([...new Set(linksOf(row, kind))].map((one) => amountOn(row, kind, one)));
  const credit = least(amount, all.minus(row.TotalAmt));
  const id = `#${row.Id}`;
  const money = { mark: paidMarkIn(row.PrivateNote), amount: amount.minus(credit), id };
  if (credit.sign === 0) return [money];
  const instead = `${creditsIn(row, kind)} in payment ${id}`;
  const credited = { mark: null, amount: credit, id, instead };
  return money.amount.sign === 0 ? [credited] : [money, credited];
}

const least = (one: Decimal, other: Decimal): Decimal =>
  other.sign <= 0 ? Decimal.zero : one.compare(other) <= 0 ? one : other;

const CREDITS: Readonly<Record<string, string>> = {
  CreditMemo: "credit memo",
  VendorCredit: "vendor credit",
  JournalEntry: "journal entry",
};

/** `credit memo 77, journal entry 80` */
function creditsIn({ Line }: Pick<PaymentRow, "Line">, kind: DocumentKind): string {
  const linked = Line.flatMap(({ LinkedTxn }) => LinkedTxn);
  const credits = linked.filter(({ TxnType }) => TxnType !== ENTITY[kind]);
  const named = credits.map(({ TxnId, TxnType }) => `${CREDITS[TxnType] ?? TxnType} ${TxnId}`);
  return named.length === 0 ? "a credit" : named.join(", ");
}
