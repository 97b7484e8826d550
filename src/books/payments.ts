/** Payments in books: what they hold of one, beside what its document says. */
import { type Delivered, gone, type Inspection, type Surroundings } from "../core/contract.ts";
import type { Decimal } from "../core/decimal.ts";
import type { Day, Facts, Holding } from "../core/holdings.ts";
import { parseExact } from "../core/json.ts";
import { compare } from "./compare.ts";
import { PaymentDocument } from "./documents.ts";

export type PaymentKind = "payment" | "bill-payment";

/** `payment`: what customers pay; `bill-payment`: what we pay. */
const paymentKindOf = (type: PaymentDocument["type"]): PaymentKind =>
  type === "out" ? "payment" : "bill-payment";
export const paymentTypeOf = (kind: PaymentKind): PaymentDocument["type"] =>
  kind === "payment" ? "out" : "in";

/** A payment as it stands in the books. */
export interface HeldPayment {
  /** What links are kept by. */
  readonly id: string;
  /** The platform's id of it; null: the platform does not know of it, or it settles an invoice as one. */
  readonly platformId: string | null;
  /** What it settles as one, in words; null: it is a payment by itself. */
  readonly settles: string | null;
  readonly party: string | null;
  /** Somebody took it back. */
  readonly takenBack: boolean;
  readonly date: Day;
  /** The whole of it, what stays on account too. Negative: money that went back. */
  readonly amount: Decimal;
  /** The number of the invoice that it pays; null: it stands on the party's account. */
  readonly document: string | null;
  /** Method and reference. */
  readonly words: string;
  readonly stamp: string | null;
}

export const paymentHolding = (
  kind: PaymentKind,
  currency: string,
  held: HeldPayment,
): Holding => ({
  kind,
  id: held.id,
  version: held.stamp,
  mark: held.platformId,
  change: null,
  facts: {
    party: held.party,
    state: held.takenBack ? "ended" : "paid",
    days: { date: held.date },
    money: { amount: held.amount },
    words: {
      side: kind === "payment" ? "sale" : "purchase",
      currency,
      document: held.document,
      reference: held.words,
      notes: held.settles,
    },
  },
});

/** What books would hold of a document. */
export const paymentFacts = (
  { type, invoice, amount, date, description }: PaymentDocument,
  currency: string,
): Facts => ({
  state: "paid",
  days: { date },
  money: { amount },
  words: {
    side: type === "out" ? "sale" : "purchase",
    currency,
    document: invoice,
    reference: description,
    notes: null,
  },
});

/** How payments that were delivered stand in the books now. @param held by what links call them */
export const paymentInspections = (
  delivered: readonly Delivered[],
  held: ReadonlyMap<string, HeldPayment>,
  currency: string,
  ignore: Surroundings["ignore"],
): Inspection[] =>
  delivered.map(({ counterpart, body }): Inspection => {
    const found = held.get(counterpart);
    if (found === undefined) return gone;
    if (body === null) return { is: "there", differences: [] };
    const document = PaymentDocument.parse(parseExact(body));
    const kind = paymentKindOf(document.type);
    const { facts } = paymentHolding(kind, currency, found);
    const expected = paymentFacts(document, currency);
    return {
      is: "there",
      differences: compare(kind, expected, facts, { ignore: ignore[kind] ?? [] }),
    };
  });
