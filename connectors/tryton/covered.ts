/**
 * Payments that were told after their invoice was settled as one. Taking that apart would change posted books, so each
 * is a note on the invoice: its reference is found there, and it is counted once.
 */
import { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import { resourceOf } from "./disputes.ts";
import type { PaymentDocument } from "../../src/books/documents.ts";
import { coveredIn, coveredMark, paymentMark, settlementMark } from "./marks.ts";
import { addNote, notesOn } from "./notes.ts";
import type { Paid } from "./payment-moves.ts";

interface Covered {
  /** `payment:5f0c…` */
  readonly mark: string;
  readonly amount: Decimal;
}

/** Those that are noted on this invoice, each once. @throws TrytonFault */
export async function coveredOf(books: Books, invoice: number): Promise<Covered[]> {
  const covered = ["message", "like", paymentMark("%")];
  const notes = await notesOn(books, [resourceOf(invoice)], covered);
  const noted = notes.map(({ message }) => coveredIn(message ?? "")).filter((one) => one !== null);
  return [...new Map(noted)].map(([mark, amount]) => ({ mark, amount: Decimal.of(amount) }));
}

/** What of the settlement as one no noted payment has taken up. */
export function uncovered(
  platformId: string | null,
  paid: readonly Paid[],
  covered: readonly Covered[],
): Decimal {
  if (platformId === null) return Decimal.zero;
  const mark = settlementMark(platformId);
  const settled = paid.filter((one) => one.mark === mark && !one.takenBack);
  return Decimal.sum(settled.map(({ amount }) => amount)).minus(
    Decimal.sum(covered.map(({ amount }) => amount)),
  );
}

/** @throws TrytonFault */
export const noteCovered = (
  books: Books,
  invoice: number,
  { id, amount, date, description }: PaymentDocument,
): Promise<void> =>
  addNote(
    books,
    resourceOf(invoice),
    `${coveredMark(id, amount.fixed(2))}\nPaid on ${date}: ${description}. It is part of what was settled as one before.`,
  );
