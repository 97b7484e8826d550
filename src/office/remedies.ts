/**
 * What helps with a cause of the quarantine, by its code: the one table that lists, `--json` and the refusal of a retry
 * go by. A code that is not here may be retried and resolved.
 */

/**
 * - `correct`: the record is corrected where it comes from, and the corrected one is taken by itself
 * - `wait`: it clears by itself
 * - `retry`: the same record is mapped and delivered again
 * - `link`: it is at the receiver, and is resolved with its id there
 * - `link-amount`: the same, where it comes to another amount there: the person names that amount, too
 * - `resolve`: a person has settled it by hand
 */
export type Action = "correct" | "wait" | "retry" | "link" | "link-amount" | "resolve";

interface Remedy {
  readonly helps: readonly Action[];
  /**
   * What deliveries of this code (and field) have in common, where their causes differ in values. Left out: the fault's
   * reason says it, or one of the causes does.
   */
  readonly together?: (field: string) => string;
}

export const remedyOf = (code: string): Remedy => REMEDIES[code] ?? ANY;

const ANY: Remedy = { helps: ["retry", "resolve"] };
/** The same record gives the same fault again. */
const CORRECTED: Remedy = { helps: ["correct", "resolve"] };
const BY_HAND: Remedy = { helps: ["resolve"] };
const LOOKED_FOR: Remedy = { helps: ["link", "retry", "resolve"] };

const together = (remedy: Remedy, cause: string): Remedy => ({ ...remedy, together: () => cause });

const REMEDIES: Readonly<Record<string, Remedy>> = {
  // The record itself.
  "does-not-fit": CORRECTED,
  // Of an EDI partner's sets: they come again under a new number.
  "bad-set": CORRECTED,
  "other-issuer": CORRECTED,
  "not-a-credit": CORRECTED,
  "not-a-payment": CORRECTED,
  "corrected-before": { helps: ["correct", "retry", "resolve"] },
  adjusted: CORRECTED,
  discount: CORRECTED,
  overpaid: CORRECTED,
  "no-invoice": CORRECTED,
  "several-prices": CORRECTED,
  "unreadable-record": CORRECTED,
  "bad-key": CORRECTED,
  "bad-row": CORRECTED,
  "bad-cell": CORRECTED,
  "key-twice": CORRECTED,
  unprintable: CORRECTED,
  missing: CORRECTED,
  "no-code": CORRECTED,
  "no-customer": CORRECTED,
  "no-gallons": CORRECTED,
  "no-name": CORRECTED,
  "no-price": CORRECTED,
  "no-product": CORRECTED,
  "no-supplier": CORRECTED,
  "number-twice": CORRECTED,
  "unknown-line": CORRECTED,
  "tax-included": CORRECTED,
  "zero-price": CORRECTED,
  "no-lines": CORRECTED,
  "bad-email": together(CORRECTED, "the e-mail address is not an address"),
  "does-not-add-up": together(CORRECTED, "the document does not add up"),
  "negative-price": together(CORRECTED, "the price is negative"),
  "no-cents": together(CORRECTED, "an amount is not in cents"),
  "no-constant": together(CORRECTED, "the price is a formula, not a number"),
  "no-single-price": together(CORRECTED, "the product has several prices; the platform takes one"),
  "price-too-high": together(CORRECTED, "the price is higher than the platform takes"),
  "quantity-break": together(CORRECTED, "the price holds from a quantity on; the platform has one"),
  "too-long": { ...CORRECTED, together: (field) => `${field} is longer than the platform takes` },
  "too-many-lines": together(CORRECTED, "the invoice has more lines than the platform takes"),

  // The receiver does not take such a thing, or must not have it changed.
  "amount-changed-after-posting": {
    helps: ["correct", "resolve"],
    together: () => "the amount changed after the document was delivered",
  },
  "cancelled-after-delivery": BY_HAND,
  "cancelled-in-tryton": together(
    BY_HAND,
    "the invoice is cancelled in Tryton, not on the platform",
  ),
  "cancelled-in-books": together(BY_HAND, "it is cancelled in the books, not on the platform"),
  "changed-after-delivery": BY_HAND,
  "inactive-after-delivery": CORRECTED,
  "credit-note": together(BY_HAND, "this is a credit note; the platform takes none"),
  doubled: BY_HAND,
  duplicate: LOOKED_FOR,
  renumbered: CORRECTED,
  "left-the-list": together(
    { helps: ["correct", "resolve"] },
    "the list that it came from no longer has it; the receiver has it still",
  ),
  "negative-line": together(BY_HAND, "a line has a negative amount; the platform takes none"),
  "no-amount": BY_HAND,
  "no-payer": BY_HAND,
  "one-at-receiver": together(BY_HAND, "the receiver has two of ours as one document"),
  "other-currency": BY_HAND,
  "paid-already": BY_HAND,
  "taken-back": BY_HAND,
  "unpaid-after-delivery": BY_HAND,

  // PDFs that are attached to what was booked.
  "no-pdf": together(ANY, "the platform's PDF could not be fetched"),

  // A person has closed what it waits for.
  "waits-for-closed": BY_HAND,

  // It clears by itself.
  "draft-at-receiver": { helps: ["wait", "resolve"] },
  "partly-paid": {
    helps: ["wait", "resolve"],
    together: () => "the invoice is paid in part; the platform takes no part of a payment",
  },
  "waits-for": { helps: ["wait", "resolve"] },
  "waits-for-skipped": { helps: ["correct", "wait", "resolve"] },
  "waits-for-unread": { helps: ["wait", "resolve"] },
  "waits-without-flow": { helps: ["wait", "resolve"] },

  // Nobody knows whether, or as what, the receiver has it.
  "maybe-delivered": LOOKED_FOR,
  "needs-decision": together(LOOKED_FOR, "nobody can tell by machine whether it arrived"),
  "number-kept": together(
    { helps: ["correct", "link", "resolve"] },
    "a cancelled document of the receiver keeps the number",
  ),
  "number-taken": together(LOOKED_FOR, "the receiver has another document under this number"),
  "sales-tax-added": { helps: ["link-amount", "retry", "resolve"] },
  "same-name": LOOKED_FOR,
  "same-code": LOOKED_FOR,
  "code-changed": LOOKED_FOR,
  "refused-later": LOOKED_FOR,
  "not-acknowledged": LOOKED_FOR,
};
