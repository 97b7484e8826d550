/**
 * By what we know our own in books that have no field for the platform's id: words of texts that survive posting and can
 * be searched. With a colon, as nobody writes it by hand.
 */
import { isSettlement, settlementMark as settledAs } from "./plan.ts";

/** In an invoice's comment: it came from the platform. */
export const markOf = (platformId: string): string => `platform:${platformId}`;

/** The platform's id in an invoice's comment; null: it did not come from there. */
export const platformIdIn = (comment: string | null): string | null =>
  /(?:^|\s)platform:(\S+)/.exec(comment ?? "")?.[1] ?? null;

/** Before the description of a payment that the platform told us of. */
export const paymentMark = (paymentId: string): string => `payment:${paymentId}`;

/** Before the description of the payment that settles an invoice which the platform calls paid. */
const settlementMark = (platformId: string): string => `platform:${platformId}`;

/** The first line of the note of a payment that is counted and not booked: its mark and amount. */
export const coveredMark = (paymentId: string, amount: string): string =>
  `${paymentMark(paymentId)} ${amount}`;

/** Mark and amount in the first line of such a note, `of` between them in older ones; null: it is another note. */
export function coveredIn(note: string): readonly [mark: string, amount: string] | null {
  const [, mark, amount] = /^(payment:\S+) (?:of )?(\d+\.\d\d)(?:\s|$)/.exec(note) ?? [];
  return mark === undefined || amount === undefined ? null : [mark, amount];
}

/** The first line of the note that a dispute is `open` or `over`. */
export const disputeMark = (state: string): string => `dispute:${state}`;

/** Does this description of a payment say that the platform knows of it? */
export const isOurPayment = (description: string | null): boolean =>
  /^(?:payment|platform):\S/.test(description ?? "");

/** The mark at its beginning. */
export const markIn = (description: string): string => /^\S*/.exec(description)?.[0] ?? "";

/** What the driver calls the payment that a description begins with; null: the platform does not know of it. */
export function paidMarkIn(description: string | null): string | null {
  const [, kind, id = ""] = /^(payment|platform):(\S+)/.exec(description ?? "") ?? [];
  if (kind === undefined) return null;
  return kind === "payment" ? id : settledAs(id);
}

/** What the description of a payment begins with, by what the driver calls it. */
export const payingMark = (mark: string): string =>
  isSettlement(mark) ? settlementMark(mark.slice(settledAs("").length)) : paymentMark(mark);
