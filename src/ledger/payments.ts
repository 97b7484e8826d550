/**
 * Payments of books that keep them as entries of a ledger, each on an invoice or a bill: which of those that books show is
 * the one of a document, what it pays, and what an ERP adds so that the driver can bring them there. One that comes after
 * its invoice was settled as one is a note on it: taking that apart would change posted books (ADR 0010).
 */
import type { Decimal } from "../core/decimal.ts";
import type { Facts, Scope } from "../core/holdings.ts";
import {
  type LedgerAdapter,
  LedgerError,
  type Call,
  PAYMENTS,
  type Entry,
  type Desired,
} from "./port.ts";
import { type BookedInvoice, paymentFacts } from "./entries.ts";
import type { PaymentDocument } from "./documents.ts";
import { type Guard, noGuard } from "./guard.ts";
import { inPages } from "./holdings.ts";
import { draftName, draftsIn } from "./invoices.ts";
import { coveredAmong, coveringBy, type Notes, paidBy, payingMark } from "./notes.ts";
import { isSettlement } from "./plan.ts";

/** An entry of the ledger that may be a payment. Ids are the database's. */
export interface LedgerPayment {
  readonly move: number;
  /** Invoices that it pays, and entries that it settles together with. */
  readonly invoices: readonly number[];
  readonly settles: readonly number[];
  /** Without the name of what it pays. */
  readonly entry: Entry;
}

/** An invoice with the entries that it made itself: these are no payments. */
export interface LedgerInvoice {
  readonly id: number;
  readonly number: string | null;
  readonly move: number | null;
  readonly cancelMove: number | null;
}

/** What is looked for: everything that one of these names. Left out: none. */
export interface PaymentNames {
  /** Invoices that they were booked on. */
  readonly invoices?: readonly number[];
  readonly moves?: readonly number[];
  /** Marks that their descriptions begin with. */
  readonly marks?: readonly string[];
}

/** A payment as it is made. */
export interface Paying {
  /** The invoice's database id. */
  readonly invoice: number;
  readonly amount: Decimal;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** It begins with the mark that the payment is found again by. */
  readonly description: string;
  /** Of what is to pay: `over` settles it, and the rest stays on the party's account. */
  readonly how: "all" | "part" | "over";
}

/** What an ERP adds. Every method @throws Refused, LedgerError */
export interface PaymentDesk {
  readonly currency: string;
  readonly guards: Readonly<Record<PaymentDocument["type"], Guard>>;
  readonly notes: Notes;
  /** What a note on an invoice is on. */
  resourceOf(invoice: { readonly id: number }): string;
  /** Invoices and bills with one of these numbers or ids. */
  called(numbers: readonly string[], ids: readonly number[]): Promise<readonly number[]>;
  /** Whatever one of these names; with `marked`, only what has a description. */
  search(
    names: PaymentNames,
    marked: boolean,
    signal?: AbortSignal,
  ): Promise<readonly LedgerPayment[]>;
  /** Invoices of these ids, and those that one of these entries is of. */
  invoices(
    ids: readonly number[],
    moves: readonly number[],
    signal?: AbortSignal,
  ): Promise<readonly LedgerInvoice[]>;
  /** Entries on invoices with one of these numbers. */
  on(numbers: readonly string[], signal: AbortSignal): Promise<readonly number[]>;
  /** The first entries in a scope after an id, in the order of ids: `most` of {@link inPages}. */
  page(scope: Scope, after: number, signal: AbortSignal): Promise<readonly number[]>;
  pay(payment: Paying): Promise<void>;
  /** The same under the ERP's own guard: one call pays, or does nothing. */
  payOnce(payment: Paying, mark: string): Promise<void>;
}

type Invoice = BookedInvoice & { readonly id: number };
type DesiredPayment = Desired<"payment">;

export const paymentAdapter = (desk: PaymentDesk): LedgerAdapter<"payment"> => ({
  ...PAYMENTS,
  expected: async (documents) => documents.map((one) => factsOf(desk, one)),
  locate: (desired, call) => locate(desk, desired, call),
  async create(desired) {
    for (const one of desired) await payOne(desk, one);
    return desired.map(() => null);
  },
  get: (ids, { signal }) => heldBy(desk, movesIn(ids), signal),
  named: async (numbers, signal) => heldBy(desk, await desk.on(numbers, signal), signal),
  async *list(scope, from, signal) {
    const read = (after: number) => desk.page(scope, after, signal);
    for await (const { rows, last } of inPages(Number(from ?? 0), Number, read))
      yield { entries: await heldBy(desk, rows, signal), position: String(last) };
  },
  covering: coveringBy(
    () => desk.notes,
    (invoice) => desk.resourceOf(invoiceOf(invoice)),
  ),
});

function factsOf({ currency }: PaymentDesk, document: PaymentDocument): Facts {
  const { words, ...facts } = paymentFacts(document, currency);
  return { ...facts, words: { ...words, reference: document.description.trim(), notes: null } };
}

const invoiceOf = (on: Entry | undefined): Invoice => paidBy(on).native as Invoice;

/** `#12 payment:5f0c…`; `#12` before links had a mark. */
const movesIn = (ids: readonly string[]): number[] =>
  ids.flatMap((id) => /^#(\d+)/.exec(id)?.[1] ?? []).map(Number);

/** On the invoices that their links name, and by the entries that links and the guard name. */
async function locate(
  desk: PaymentDesk,
  desired: readonly DesiredPayment[],
  { made, purpose }: Call,
): Promise<Entry[]> {
  const older =
    purpose === "delivery"
      ? desired.filter(({ mark }) => !made.has(mark) && !isSettlement(mark))
      : [];
  const known: number[] = [];
  // First of all: an entry that is known by now is seen by what looks afterwards.
  for (const { document, mark } of older)
    known.push(...(await desk.guards[document.type].known([mark])).values());
  const invoices = await invoicesOf(desk, desired);
  const bound = movesIn(desired.flatMap(({ binding }) => binding ?? []));
  // What the platform has moved to another invoice since it was booked is found wherever it stands, also by a store that
  // has lost its link.
  const names = { invoices, moves: [...known, ...bound], marks: older.map(({ mark }) => mark) };
  const all = await desk.search(names, true);
  const marks = new Set<string | null>(desired.map(({ mark }) => mark));
  const own = all.filter(({ entry }) => marks.has(entry.mark));
  const called = new Set(desired.map(({ document }) => document.invoice));
  const entries = await entriesOf(desk, own, called);
  const absent = desired.filter(({ mark }) => !entries.some((one) => one.mark === mark));
  if (!all.some(({ entry }) => isSettlement(entry.mark ?? ""))) return entries;
  const on = invoices.map((id) => desk.resourceOf({ id }));
  return [...entries, ...(await coveredAmong(desk.notes, on, absent))];
}

async function invoicesOf(
  desk: PaymentDesk,
  desired: readonly DesiredPayment[],
): Promise<readonly number[]> {
  const known = desired.flatMap(({ on }) => (on === undefined ? [] : [invoiceOf(on).id]));
  const names = desired.flatMap(({ document, on }) => (on === undefined ? [document.invoice] : []));
  return names.length === 0 ? known : [...known, ...(await desk.called(names, draftsIn(names)))];
}

/** Settlements have no guard of their own: a second one finds the invoice paid. */
async function payOne(desk: PaymentDesk, { document, mark, on }: DesiredPayment): Promise<void> {
  const { amount, date, description, type } = document;
  const { id: invoice, toPay } = invoiceOf(on);
  const over = isSettlement(mark) ? 0 : amount.compare(toPay);
  const payment: Paying = {
    invoice,
    amount,
    date,
    description: `${payingMark(mark)} ${description}`,
    how: over === 0 ? "all" : over > 0 ? "over" : "part",
  };
  const guard = desk.guards[type];
  if (isSettlement(mark)) return desk.pay(payment);
  await guard.create([mark], async () => {
    await (guard.isErps ? desk.payOnce(payment, mark) : desk.pay(payment));
    if (guard.isErps || guard === noGuard) return [null];
    // It is paid: without its entry the claim stays as it is, and the next look finds the payment by its mark.
    const made = await desk.search({ invoices: [invoice] }, true).catch((error: unknown) => {
      if (error instanceof LedgerError) return [];
      throw error;
    });
    return [made.find(({ entry }) => entry.mark === mark)?.move ?? null];
  });
}

async function heldBy(
  desk: PaymentDesk,
  moves: readonly number[],
  signal: AbortSignal,
): Promise<Entry[]> {
  return entriesOf(desk, await desk.search({ moves }, false, signal), new Set(), signal);
}

/** Of these those that are payments, with the invoices that they pay. @param called names that links have of these */
async function entriesOf(
  desk: PaymentDesk,
  all: readonly LedgerPayment[],
  called: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<Entry[]> {
  if (all.length === 0) return [];
  const paid = all.flatMap(({ invoices }) => invoices);
  const settled = all.flatMap(({ move, settles }) => [move, ...settles]);
  const invoices = await desk.invoices(paid, settled, signal);
  const own = new Set(invoices.flatMap(({ move, cancelMove }) => [move, cancelMove]));
  // Links of an invoice that was a draft when it was delivered have its id.
  const named = invoices.map(({ id, move, number }) => {
    const isDraft = number === null || called.has(draftName(id));
    return { id, move, name: isDraft ? draftName(id) : number };
  });
  return all
    .filter(({ move }) => !own.has(move))
    .map(({ entry, invoices: ids, settles }): Entry => {
      const { facts, status } = entry;
      const names = named
        .filter(({ id, move }) => ids.includes(id) || (move !== null && settles.includes(move)))
        .map(({ name }) => name);
      const document = status === "cancelled" || names.length === 0 ? null : names.join(" ");
      return { ...entry, facts: { ...facts, words: { ...facts.words, document } } };
    });
}
