/**
 * By what we know our own in Tryton: the beginning of texts that survive posting and can be searched. With a colon,
 * as nobody writes it by hand.
 */
import type { Marks } from "../../src/books/invoices.ts";

/** In an invoice's comment: it came from the platform. */
export const markOf = (platformId: string): string => `platform:${platformId}`;

/** The same mark with any id, for Tryton's `like`. */
export const MARKED = `%${markOf("_")}%`;

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

/** Whose a payment of an invoice is, by what its description begins with. */
export const marks: Marks = {
  isSettlementOf: (platformId, { description }) =>
    markIn(description ?? "") === settlementMark(platformId),
  isOurPayment,
};

/** What the id of an order says. */
export interface OrderName {
  readonly type: "sale" | "purchase";
  /** Null for a draft. */
  readonly number: string | null;
  /** A draft's database id. */
  readonly draft: number | null;
  /** The platform's id that its comment has; null where a person entered it, and in ids that had no mark yet. */
  readonly platformId: string | null;
}

/**
 * `sale 12 platform:0b6f…`, `purchase #5 platform:…`. In books that were restored a number is given again, and a
 * database id too: only with the mark it is the same order. Null: no id of ours.
 */
export function orderIn(id: string): OrderName | null {
  const [, type, draft, number, platformId = null] =
    /^(sale|purchase) (?:#(\d+)|(\S+))(?: platform:(\S+))?$/.exec(id) ?? [];
  if (type === undefined) return null;
  return {
    type: type as OrderName["type"],
    number: number ?? null,
    draft: draft === undefined ? null : Number(draft),
    platformId,
  };
}
