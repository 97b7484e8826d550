/**
 * By what we know our own in Tryton: the beginning of texts that survive posting and can be searched. With a colon,
 * as nobody writes it by hand.
 */

/** In an invoice's comment: it came from the platform. */
export const markOf = (platformId: string): string => `platform:${platformId}`;

/** The platform's id in an invoice's comment; null: it did not come from there. */
export const platformIdIn = (comment: string | null): string | null =>
  /(?:^|\s)platform:(\S+)/.exec(comment ?? "")?.[1] ?? null;

/** Before the description of a payment that the platform told us of. */
export const paymentMark = (paymentId: string): string => `payment:${paymentId}`;

/** Before the description of the payment that settles an invoice which the platform calls paid. */
export const settlementMark = (platformId: string): string => `platform:${platformId}`;

/** Does this description of a payment say that the platform knows of it? */
export const isOurPayment = (description: string | null): boolean =>
  /^(?:payment|platform):\S/.test(description ?? "");

/** The mark at its beginning. */
export const markIn = (description: string): string => /^\S*/.exec(description)?.[0] ?? "";
