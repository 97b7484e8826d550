/**
 * The codes of faults, by what helps with each: a code that is not here does not compile, and none is without a remedy. What
 * people are told about them stands in office/quarantine.ts.
 *
 * - `correct`: the record is corrected where it comes from, and the corrected one is taken by itself
 * - `wait`: it clears by itself
 * - `retry`: the same record is mapped and delivered again
 * - `link`: it is at the receiver, and is resolved with its id there
 * - `link-amount`: the same, where it comes to another amount there: the person names that amount, too
 * - `resolve`: a person has settled it by hand
 */
export type Action = "correct" | "wait" | "retry" | "link" | "link-amount" | "resolve";

/** Words of one line are parted by blanks. */
const CODES = {
  /** The same record gives the same fault again, until it is corrected where it comes from. */
  "correct resolve": [
    "adjusted amount-changed-after-posting bad-cell bad-email bad-key bad-row bad-set discount",
    "does-not-add-up does-not-fit inactive-after-delivery key-twice left-the-list measured-twice missing",
    "negative-price no-cents no-code no-constant no-customer no-gallons no-invoice no-lines",
    "no-name no-price no-product no-single-price no-supplier not-a-credit not-a-payment",
    "number-twice other-issuer overpaid price-too-high quantity-break renumbered several-prices",
    "tax-included too-long too-many-lines unknown-line unprintable unreadable-record zero-price",
  ],
  "correct retry resolve": ["corrected-before row-twice skipped-after-delivery"],
  "correct wait resolve": ["waits-for-skipped"],
  "correct link resolve": ["number-kept"],
  /** The receiver does not take such a thing, or must not have it changed; or a person has closed what it waits for. */
  resolve: [
    "cancelled-after-delivery cancelled-in-books cancelled-in-tryton changed-after-delivery",
    "credit-note doubled negative-line no-amount no-payer one-at-receiver other-currency",
    "paid-already taken-back unpaid-after-delivery waits-for-closed",
  ],
  /** It clears by itself. */
  "wait resolve": ["draft-at-receiver partly-paid waits-for waits-for-unread"],
  /** Nobody knows whether, or as what, the receiver has it. */
  "link retry resolve": [
    "code-changed duplicate maybe-delivered needs-decision not-acknowledged number-alike",
    "number-taken refused-later same-code same-name",
  ],
  "link-amount retry resolve": ["sales-tax-added"],
  /** What is said is to be done; then it goes again. And what is told of an endpoint, a table or a file, which is no document. */
  "retry resolve": [
    "absent no-session already-paid another-invoice another-order another-shipment api-off authorise-soon",
    "bad-field bad-table blocked business-rule busy cancel-by-hand cancelled",
    "cancelled-after-confirmation cannot-be-told changed-after-confirmation changing",
    "closed-period counted-twice cut date-order deposited differs disk-full does-not-fit-x12",
    "draft-after-delivery draft-in-books empty-table ended few-decimals forbidden gone",
    "gone-before held held-by-erp identity-changed in in-use inactive incomplete invalid",
    "journal-shared lines-counted list-grew list-shrunk mapping-failed mapping-output more-than-to-pay",
    "multicurrency name-not-held name-taken name-too-long needs-accountant no-company",
    "no-date no-delivery no-dimension no-document no-draft no-item no-journal no-module",
    "no-paid-date no-party no-pdf no-permission no-purchase-order no-purchases no-right no-room",
    "no-site no-such-invoice no-table no-x12-code not-a-file not-authorised not-cancelled",
    "not-changed not-confirmed not-enabled not-for-us not-held not-in-business-central",
    "not-in-ledger not-in-quickbooks not-in-tryton not-mapped not-offered not-open not-paid",
    "not-payable not-posted not-read not-saved not-there not-told not-valid-yet",
    "not-written-here not-yet number-in-use number-series number-too-long odd-name other-amount",
    "other-case other-file other-in-books other-price other-purpose other-receiver other-schema other-sets",
    "other-site other-type other-unit over-the-contract own-numbers paid-by-others paid-in-part",
    "party-apart party-gone party-inactive party-of-another posted-before raced read-only",
    "reference-taken refused refused-by-business-central refused-by-database refused-by-ledger",
    "refused-by-quickbooks refused-by-tryton refused-there refused-unlisted rejected-by-erp",
    "sales-tax-on sent-before settled-as-one settled-before settled-otherwise several-orders",
    "several-sites single-user state-not-writable subscription taken test-idoc text-not-kept",
    "text-too-long throttled too-large too-long-for-x12 too-many-digits turned twice-in-books",
    "unauthorised unit-not-held unknown-enum unknown-plant unknown-unit unreadable unsupported",
    "void-after-delivery waits-without-flow would-differ wrong-account wrong-client wrong-currency wrong-journal",
    "wrong-password wrong-reference",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type Words<Text extends string, Before = never> = Text extends `${infer First} ${infer Rest}`
  ? Words<Rest, Before | First>
  : Before | Text;

/** Those of answers of the platform and of lists of a ledger carry their name. */
export type FaultCode =
  | Words<(typeof CODES)[keyof typeof CODES][number]>
  | `platform-${string}`
  | `not-in-${string}`
  | `twice-in-${string}`
  | `cancelled-in-${string}`;

const HELPS: ReadonlyMap<string, readonly Action[]> = new Map(
  Object.entries(CODES).flatMap(([helps, lines]) =>
    lines.flatMap((line) => line.split(" ")).map((code) => [code, helps.split(" ") as Action[]]),
  ),
);

export const isFaultCode = (code: string): code is FaultCode => HELPS.has(code);

/** What a person can do with success about a fault of this code; one of a site's own may be retried and resolved. */
export const helpsWith = (code: string): readonly Action[] =>
  HELPS.get(code) ?? ["retry", "resolve"];
