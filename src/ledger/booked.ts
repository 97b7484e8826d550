/**
 * Invoices, bills and payments as books with drafts, reconciliation and credit notes show them, and how one stands for the
 * driver. What only people do there (a credit note, a payment that was set apart again) is told beside its fields.
 */
import type { Change } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import type { Fault } from "../core/fault.ts";
import type { Day, Difference, Facts } from "../core/holdings.ts";
import { sameNumber } from "../core/keys.ts";
import {
  PLAIN_ENTRY,
  type Capabilities,
  type PartyAdapter,
  type Entry,
  type Desired,
} from "./port.ts";
import type { PaidInvoice } from "./changes.ts";
import { isOurPayment, markIn, paidMarkIn } from "./marks.ts";
import { isBelow, isSettlement } from "./plan.ts";

/** An invoice or a bill as books show it. */
export interface BookedInvoice {
  /** What links keep of it: its number, or its name as a draft while it has none. */
  readonly name: string;
  /** `#12` */
  readonly draftName: string;
  /** That the books gave it; null: they have given none yet. */
  readonly number: string | null;
  /** The platform's number, or the supplier's. */
  readonly reference: string | null;
  /** What is written in it; null: it did not come from the platform. */
  readonly platformId: string | null;
  readonly status: "draft" | "posted" | "settled" | "cancelled";
  /** The user of the synchronisation made it. */
  readonly made: boolean;
  /** And nobody else has ever written it. */
  readonly ours: boolean;
  readonly total: Decimal;
  /** Zero unless it is posted. */
  readonly toPay: Decimal;
  /** The day of the last payment, once it is settled in full. */
  readonly reconciled: Day | null;
  /** Without those that were taken back. */
  readonly settling: readonly Settling[];
  /** Its content, without state and what is open. */
  readonly facts: Facts;
  /** Of its last change. */
  readonly stamp: string;
  /** The fault of the books for which not all of it could be read. Left out: all was. */
  readonly untold?: Error;
}

/** Something that pays an invoice, or counts as paying it. */
export type Settling = Omit<PaidInvoice["settling"][number], "isOurs"> & {
  /** What people call it there: `#12`. */
  readonly name: string;
  /** Of the payment; it begins with a mark where it came from the platform. */
  readonly description: string | null;
};

/** An entry in the ledger that pays, or is reconciled with what does. */
interface PayingLine<Move> {
  readonly id: number;
  readonly move: Move & { readonly id: number; readonly description: string | null };
  readonly debit: Decimal;
  readonly credit: Decimal;
}

/** A part of what is owed by one day, and what it is reconciled with. */
interface Term<Move> {
  readonly reconciliation: {
    readonly id: number;
    readonly lines: readonly PayingLine<Move>[];
  } | null;
}

/**
 * Payments that were entered on an invoice, and what else it was reconciled with. A payment that was reconciled with
 * something else (the move that took it back) pays nothing here.
 * @param own the move of the invoice itself
 * @param insteadOf what a move is that is no money, as people call it; null: it is money
 */
export function settlingIn<Move>(
  own: number | null,
  terms: readonly Term<Move>[],
  payments: readonly (PayingLine<Move> & { readonly reconciliation: number | null })[],
  isSale: boolean,
  insteadOf: (move: Move & { readonly id: number }) => string | null,
): Settling[] {
  const reconciliations = terms.flatMap((term) => term.reconciliation ?? []);
  const known = new Set(reconciliations.map(({ id }) => id));
  const entered = payments.filter(
    ({ reconciliation }) => reconciliation === null || known.has(reconciliation),
  );
  const others = reconciliations
    .flatMap(({ lines }) => lines)
    .filter(({ move }) => move.id !== own);
  const lines = new Map<number, PayingLine<Move>>(
    [...entered, ...others].map((line) => [line.id, line]),
  );
  return [...lines.values()].map(({ id, move, credit, debit }) => {
    const amount = credit.minus(debit);
    return {
      name: `#${move.id}`,
      description: move.description,
      amount: isSale ? amount : amount.negated(),
      isReconciled: others.some((other) => other.id === id),
      instead: insteadOf(move),
    };
  });
}

/** A credit note of an invoice that counts. */
export interface Credit {
  readonly name: string;
  /** {@link Settling.name} where it settles the invoice. */
  readonly settles: string | null;
  /** Negative. */
  readonly total: Decimal;
  /** What of it has not been used yet; negative or zero. */
  readonly toPay: Decimal;
}

/** What else is known of an invoice. */
export interface Beside {
  /** What its link calls it; left out: its own name. */
  readonly id?: string;
  readonly disputed?: boolean;
  readonly credits?: readonly Credit[] | undefined;
  readonly change?: Change | null;
  readonly fixed?: readonly string[];
}

/** Of a document that the books cannot tell whole: what they said. */
export const cannotTell = ({ message }: Error): Fault => ({
  code: "cannot-be-told",
  message: `the books cannot tell it: ${message}`,
  next: "An accountant corrects in the books what they say (a missing rate of its currency), then it is read again.",
});

/** A credit note takes away of what is open, used or not; what it settles is no payment. */
export function invoiceEntry<Native extends BookedInvoice>(
  native: Native,
  { credits = [], disputed = false, change = null, ...more }: Beside = {},
): Entry<Native> {
  const { facts, settling, status } = native;
  const payments = settling.filter(({ name }) => !credits.some(({ settles }) => settles === name));
  const open = Decimal.sum([native.toPay, ...credits.map(({ toPay }) => toPay)]);
  return {
    ...PLAIN_ENTRY,
    id: native.name,
    aliases: [native.draftName],
    mark: native.platformId,
    number: native.reference,
    party: facts.party ?? null,
    status,
    touched: !native.ours,
    made: native.made,
    disputed,
    payments: payments.map(({ name, description, amount, instead = null }) => ({
      mark: paidMarkIn(description),
      amount,
      id: name,
      instead,
    })),
    facts: isBelow(status, "posted") ? facts : { ...facts, money: { ...facts.money, open } },
    ...(native.untold === undefined ? {} : { untold: cannotTell(native.untold) }),
    paid: native.reconciled,
    version: native.stamp,
    change,
    native,
    ...more,
  };
}

/** Does nothing count of it any more? */
export const isCreditedInFull = (
  { total }: Pick<BookedInvoice, "total">,
  credits: readonly Credit[],
): boolean => {
  const credited = Decimal.sum(credits.map((one) => one.total)).abs();
  return credits.length > 0 && credited.compare(total.abs()) >= 0;
};

/**
 * What other hands did to it that none of its fields shows.
 * @param mark whose it is, whatever became of its mark
 */
export function besidesOf(
  { platformId, made, status, total, toPay }: BookedInvoice,
  mark: string | null,
  credits: readonly Credit[],
): Difference[] {
  const isApart = status === "posted" && total.sign !== 0 && toPay.sign === 0;
  const apart = "posted: what paid it is no longer reconciled with it";
  return [
    ...(made && mark !== platformId ? [{ field: "mark", expected: `${mark}`, held: "none" }] : []),
    ...credits.map(({ name, total }) => ({
      field: "credit note",
      expected: "none",
      held: `${name} of ${total.fixed(2)}`,
    })),
    ...(isApart ? [{ field: "state", expected: "paid", held: apart }] : []),
  ];
}

const isOf =
  (held: string | null) =>
  ({ number }: Pick<Desired, "number">): boolean =>
    held !== null && sameNumber(number, held);

/**
 * Where we give the books' number: one that another invoice has is taken, whoever's it is; a reference that somebody typed
 * is the number of that party's only. Null: it has none of those that are wanted.
 */
export function numberIn(
  { number, reference, facts }: Pick<BookedInvoice, "number" | "reference" | "facts">,
  desired: readonly Pick<Desired, "number" | "party">[],
): string | null {
  if (desired.some(isOf(number))) return number;
  const isTheirs = desired.some((one) => isOf(reference)(one) && one.party === facts.party);
  return isTheirs ? reference : null;
}

/** What parties owe, or are owed; a party without anything open is left out. @param entries open ones, page by page */
export async function openByParty(
  entries: AsyncIterable<readonly { readonly party: string; readonly open: Decimal }[]>,
): Promise<{ readonly party: string; readonly open: Decimal }[]> {
  const sums = new Map<string, Decimal>();
  for await (const page of entries)
    for (const { party, open } of page)
      sums.set(party, (sums.get(party) ?? Decimal.zero).plus(open));
  return [...sums].map(([party, open]) => ({ party, open })).filter(({ open }) => open.sign !== 0);
}

/** A payment as books show it. */
export interface BookedPayment<Native> {
  /** What people call it there: `#12`. */
  readonly name: string;
  /** It begins with a mark where it came from the platform. */
  readonly description: string;
  readonly party: string | null;
  readonly date: Day;
  /** The whole, what stays on account too; negative: money that went back. */
  readonly amount: Decimal;
  readonly side: "sale" | "purchase";
  readonly currency: string;
  /** What it pays, by the names that links have of these; null: nothing, or it is told later. */
  readonly document: string | null;
  readonly takenBack: boolean;
  readonly version: string | null;
  readonly native: Native;
}

/** Links call it by its name and its mark: books that were restored give a name again. */
export function paymentEntry<Native>(payment: BookedPayment<Native>): Entry<Native> {
  const { name, description, party, date, amount, takenBack, version, native } = payment;
  const { side, currency, document } = payment;
  const begins = isOurPayment(description) ? markIn(description) : null;
  const mark = paidMarkIn(begins);
  return {
    ...PLAIN_ENTRY,
    id: begins === null ? name : `${name} ${begins}`,
    aliases: [name],
    mark,
    status: takenBack ? "cancelled" : "posted",
    version,
    facts: {
      party,
      days: { date },
      money: { amount },
      words: {
        side,
        currency,
        document,
        reference: description.slice(begins?.length ?? 0).trim(),
        // What settles an invoice as one has no payment of the platform's: its mark names the invoice.
        notes: mark !== null && isSettlement(mark) ? begins : null,
      },
    },
    native,
  };
}

/** Of parties that are made and never changed. @param atomic parties that one call makes */
export const partiesOnce = (
  has: Capabilities["has"],
  atomic: number,
): Pick<PartyAdapter, "can" | "apply"> => ({
  can: { has, byUs: "posted", amend: {}, atomic, numbered: "once" },
  apply: () => Promise.resolve(),
});

/** A party of that code and name. */
export const partyFacts = (code: string, name: string | null): Facts => ({
  number: code,
  words: { name },
});
