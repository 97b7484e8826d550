/** What the platform says of an invoice that is booked: paid, void, disputed; and whether Tryton shows it. */
import type { Fault } from "../../src/core/fault.ts";
import { Refused } from "../../src/core/errors.ts";
import { unnumber } from "./booking.ts";
import type { Books } from "./books.ts";
import { disputedOf, noteDispute } from "./disputes.ts";
import type { InvoiceDocument } from "../../src/books/documents.ts";
import { TrytonFault } from "./fault.ts";
import { marks, settlementMark } from "./marks.ts";
import { pay } from "./pay.ts";
import { paymentsOf } from "./payment-moves.ts";
import { idOf, readByIds } from "./invoice-facts.ts";
import { type Entry, isDraft, type OpenEntry, paidTakenBack } from "../../src/books/invoices.ts";
import { DATE_ORDER } from "./release.ts";
import { day } from "./values.ts";

/** A document and its invoice in Tryton. */
export interface Booked {
  readonly document: InvoiceDocument;
  readonly entry: Entry;
  /** Until when it waits for its payments, ISO 8601 UTC; null: it is settled at once. */
  readonly until: string | null;
  /** It still does. */
  readonly waits: boolean;
}

/**
 * How far each is: `final`, `waits` (paid on the platform, and its payments may still come), `open` (there is something
 * to do), or what a person must decide. @throws TrytonFault
 */
export async function progressOf(books: Books, booked: readonly Booked[]): Promise<Progress[]> {
  const disputed = await disputedOf(books, idsOf(booked));
  return progress(books, booked, disputed, await takenBackOf(books, booked));
}

export type Progress = "final" | "waits" | "open" | Fault;

const idsOf = (booked: readonly Booked[]): number[] => booked.map(({ entry }) => entry.id);

async function progress(
  books: Books,
  booked: readonly Booked[],
  disputed: ReadonlySet<number>,
  takenBack: ReadonlyMap<number, Fault>,
): Promise<Progress[]> {
  const unsettled = await unsettledOf(books, booked);
  return booked.map(({ document, entry, waits }) => {
    const { status } = document;
    const { state, id } = entry;
    if (status === "void") return state === "cancelled" ? "final" : "open";
    if (state === "cancelled") return cancelledThere(document, entry);
    const fault = takenBack.get(id);
    if (fault !== undefined) return fault;
    if (isDraft(entry) && books.config.posting === "post") return "open";
    if (disputed.has(id) !== (status === "disputed")) return "open";
    const isUnsettled = unsettled.has(id) || (isDraft(entry) && status === "paid");
    return isUnsettled ? (waits ? "waits" : "open") : "final";
  });
}

/** By their ids, what a person must know of those that are to be open again. @throws TrytonFault */
async function takenBackOf(
  books: Books,
  booked: readonly Booked[],
): Promise<ReadonlyMap<number, Fault>> {
  const open = booked.filter(
    ({ document: { status }, entry }) =>
      (status === "open" || status === "disputed") &&
      !isDraft(entry) &&
      entry.state !== "cancelled",
  );
  const entries = await readByIds(books, idsOf(open), "progress");
  return new Map(
    open.flatMap(({ document, entry: { id } }) => {
      const entry = entries.find((one) => one.id === id);
      if (entry === undefined) return [];
      const told = { books: "Tryton", name: idOf(entry), undo: UNDO };
      const fault = paidTakenBack(document, entry, marks, told);
      return fault === null ? [] : [[id, fault] as const];
    }),
  );
}

const UNDO =
  "cancel that move in Tryton (Cancel Moves) and remove it from the invoice's payment lines";

/** Paid on the platform, and not in Tryton. */
async function unsettledOf(books: Books, booked: readonly Booked[]): Promise<ReadonlySet<number>> {
  const posted = booked.filter(
    ({ document, entry }) => document.status === "paid" && entry.state === "posted",
  );
  const standings = await readByIds(books, idsOf(posted), "toPay");
  return new Set(standings.filter((one) => !isSettled(one)).map(({ id }) => id));
}

export interface Brought {
  /** How far each was before. */
  readonly progress: readonly Progress[];
  /** False: all of them are there as `booked` shows them. */
  readonly written: boolean;
  /** Which invoices were settled as one, and why. */
  readonly settled: ReadonlyMap<number, string>;
}

/**
 * Brings each to what its document says. `made`: ids of invoices that are new, so that no note of ours can be on them.
 * @throws Refused, TrytonFault
 */
export async function bringTo(
  books: Books,
  booked: readonly Booked[],
  made: ReadonlySet<number>,
): Promise<Brought> {
  const older = booked.filter(({ entry }) => !made.has(entry.id));
  const disputed = await disputedOf(books, idsOf(older));
  const before = await progress(books, booked, disputed, await takenBackOf(books, older));
  const settled = new Map<number, string>();
  for (const [at, one] of booked.entries()) {
    const how = before[at];
    if (typeof how === "object") throw new Refused(how);
    const why = how === "open" ? await bring(books, one, disputed.has(one.entry.id)) : null;
    if (why !== null) settled.set(one.entry.id, why);
  }
  return { progress: before, written: before.includes("open"), settled };
}

/** Why it was settled as one; null: it was not. */
async function bring(books: Books, booked: Booked, disputed: boolean): Promise<string | null> {
  const { document, entry, waits } = booked;
  const { status } = document;
  // What is to pay may be less by now. One that is gone is told of by the look after this.
  const [standing] = await readByIds(books, [entry.id], "toPay");
  if (standing === undefined) return null;
  if (status === "void") {
    await cancel(books, document, standing);
    return null;
  }
  const settles = status === "paid" && !waits && !isSettled(standing);
  const why = settles ? await settle(books, booked, standing) : null;
  if (disputed !== (status === "disputed")) await noteDispute(books, entry.id, !disputed);
  return why;
}

/** With a queue in Tryton its state follows a little later than the payment. */
const isSettled = ({ state, toPay }: OpenEntry): boolean =>
  state === "paid" || (state === "posted" && toPay.sign === 0);

/** Pays what no payment has covered, once; the words that the payment has in Tryton say why. */
async function settle(
  books: Books,
  { document, until }: Booked,
  standing: OpenEntry,
): Promise<string> {
  if (isDraft(standing)) throw refused(document, standing, "not-posted");
  if (document.paidDate === null) throw refused(document, standing, "no-paid-date");
  const mark = settlementMark(document.id);
  const paid = await paymentsOf(books, standing.id);
  if (paid.some((one) => one.mark === mark)) throw refused(document, standing, "settled-before");
  const what = standing.toPay.equals(standing.total) ? "settled as one" : "the rest settled as one";
  const after = hours(books.config.settleAfter);
  const why = until === null ? what : `${what} because no payment of it came within ${after}`;
  await pay(books, {
    invoice: standing.id,
    amount: standing.toPay,
    date: document.paidDate,
    description: `${mark} ${why}`,
    how: "all",
  });
  return why;
}

const hours = (ms: number): string =>
  ms % 3_600_000 === 0 ? `${ms / 3_600_000} h` : `${Math.ceil(ms / 1_000)} s`;

/**
 * Cancels: Tryton dates that as the invoice itself, while its period is open. Where it may not be cancelled, a credit
 * note takes it back. Both are in the books.
 */
async function cancel(books: Books, document: InvoiceDocument, standing: OpenEntry): Promise<void> {
  const { tryton } = books;
  const { id, state, toPay, total } = standing;
  if (state === "paid" || (state === "posted" && !toPay.equals(total)))
    throw refused(document, standing, "paid-already");
  if (state === "draft" && standing.number !== null) await unnumber(books, [id]);
  try {
    await tryton.call("model.account.invoice.cancel", [[id]]);
  } catch (error) {
    if (!(error instanceof TrytonFault && KEPT.test(error.message))) throw error;
    await credit(books, id, document.endedDate);
  }
  // A button says nothing when it does nothing.
  const [now] = await readByIds(books, [id], "head");
  if (now?.state !== "cancelled") throw refused(document, now ?? standing, "not-cancelled");
}

/** The company cancels no customer invoice, or the period of this one is closed: then a credit note must do. */
const KEPT = /company setup does not allow it|period of move .* is closed/;

/**
 * Takes an invoice back with a credit note of the day on which it became void. Tryton numbers in the order of dates:
 * where a later credit note has its number already, this one is of the company's today, if that is in the same period.
 */
async function credit(books: Books, id: number, endedDate?: string): Promise<void> {
  const today = books.surroundings.dayOf(books.surroundings.now().toISOString());
  const ended = endedDate ?? today;
  try {
    await creditOn(books, id, ended);
  } catch (error) {
    const late = error instanceof TrytonFault && DATE_ORDER.test(error.message);
    if (!late || !(await isOnePeriod(books, ended, today))) throw error;
    await creditOn(books, id, today);
  }
}

/** Without a date Tryton would take its server's today. */
async function creditOn({ tryton }: Books, id: number, date: string): Promise<void> {
  const context = { active_model: "account.invoice", active_id: id, active_ids: [id] };
  const call = <T>(step: string, ...params: unknown[]): Promise<T> =>
    tryton.call<T>(`wizard.account.invoice.credit.${step}`, params, { context });
  const [session] = await call<[number]>("create");
  try {
    const start = { with_refund: true, invoice_date: day(date) };
    await call("execute", session, { start }, "credit");
  } finally {
    await call("delete", session).catch(() => {});
  }
}

async function isOnePeriod({ tryton }: Books, one: string, other: string): Promise<boolean> {
  const { company } = await tryton.session();
  const periods = await tryton.call<number>("model.account.period.search_count", [
    [
      ["company", "=", company],
      ["type", "=", "standard"],
      ["start_date", "<=", day(one)],
      ["end_date", ">=", day(other)],
    ],
  ]);
  return periods > 0 && one <= other;
}

const REFUSALS = {
  "not-posted": {
    says: "is paid on the platform, and still a draft in Tryton",
    next: "Post it in Tryton, then retry.",
  },
  "no-paid-date": {
    says: "is paid on the platform, which does not say when",
    next: "Enter the payment in Tryton by hand, then retry.",
  },
  "settled-before": {
    says: "was settled as one before, and is open again in Tryton",
    next: "Was that payment taken back in Tryton by mistake? An accountant pays it there, or corrects the platform, then resolves it here.",
  },
  "paid-already": {
    says: "is void on the platform, and paid or partly paid in Tryton",
    next: "An accountant takes the payment back or books a credit note in Tryton, then resolves it here.",
  },
  "not-cancelled": {
    says: "is void on the platform, and Tryton did not cancel it",
    next: "Cancel it in Tryton by hand, then retry.",
  },
} as const;

function refused({ number }: InvoiceDocument, entry: Entry, code: keyof typeof REFUSALS): Refused {
  const { says, next } = REFUSALS[code];
  return new Refused({ code, message: `invoice ${number} (${idOf(entry)}) ${says}`, next });
}

const cancelledThere = ({ number, status }: InvoiceDocument, entry: Entry): Fault => ({
  code: "cancelled-in-tryton",
  message: `invoice ${number} (${idOf(entry)}) is cancelled in Tryton, and ${status} on the platform`,
  next: "An accountant decides: void it on the platform, or book it again in Tryton by hand; then resolve it here.",
});
