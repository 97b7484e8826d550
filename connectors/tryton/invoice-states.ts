/** What the platform says of an invoice that is booked: paid, void, disputed; and whether Tryton shows it. */
import type { Fault } from "../../src/core/fault.ts";
import { Refused } from "../../src/core/errors.ts";
import { isDraft, unnumber } from "./booking.ts";
import type { Books } from "./books.ts";
import { disputedOf, noteDispute } from "./disputes.ts";
import type { InvoiceDocument } from "./documents.ts";
import { TrytonFault } from "./fault.ts";
import { settlementMark } from "./marks.ts";
import { pay } from "./pay.ts";
import { entriesOf, type Entry, idOf, type Standing, standingsOf } from "./standing.ts";
import { day } from "./values.ts";

/** A document and its invoice in Tryton. */
export interface Booked {
  readonly document: InvoiceDocument;
  readonly entry: Entry;
}

/** How far each is: `final`, `open` (there is something to do), or what a person must decide. @throws TrytonFault */
export async function progressOf(books: Books, booked: readonly Booked[]): Promise<Progress[]> {
  return progress(books, booked, await disputedOf(books, idsOf(booked)));
}

type Progress = "final" | "open" | Fault;

const idsOf = (booked: readonly Booked[]): number[] => booked.map(({ entry }) => entry.id);

async function progress(
  books: Books,
  booked: readonly Booked[],
  disputed: ReadonlySet<number>,
): Promise<Progress[]> {
  const unsettled = await unsettledOf(books, booked);
  return booked.map(({ document, entry }) => {
    const { status } = document;
    const { state, id } = entry;
    if (status === "void") return state === "cancelled" ? "final" : "open";
    if (state === "cancelled") return cancelledThere(document, entry);
    if (isDraft(entry) && (books.config.posting === "post" || status === "paid")) return "open";
    if (disputed.has(id) !== (status === "disputed")) return "open";
    return unsettled.has(id) ? "open" : "final";
  });
}

/** Paid on the platform, and not in Tryton. */
async function unsettledOf(books: Books, booked: readonly Booked[]): Promise<ReadonlySet<number>> {
  const posted = booked.filter(
    ({ document, entry }) => document.status === "paid" && entry.state === "posted",
  );
  const standings = await standingsOf(books, idsOf(posted));
  return new Set(standings.filter((one) => !isSettled(one)).map(({ id }) => id));
}

/**
 * Brings each to what its document says. True: nothing had to be written, all of them are there as `booked` shows them.
 * `made`: ids of invoices that are new, so that no note of ours can be on them. @throws Refused, TrytonFault, Waiting
 */
export async function bringTo(
  books: Books,
  booked: readonly Booked[],
  made: ReadonlySet<number>,
): Promise<boolean> {
  const older = idsOf(booked).filter((id) => !made.has(id));
  const disputed = await disputedOf(books, older);
  const before = await progress(books, booked, disputed);
  for (const [at, one] of booked.entries()) {
    const how = before[at];
    if (typeof how === "object") throw new Refused(how);
    if (how === "open") await bring(books, one, disputed.has(one.entry.id));
  }
  return before.every((how) => how === "final");
}

async function bring(books: Books, { document, entry }: Booked, disputed: boolean): Promise<void> {
  const { status } = document;
  // What is to pay may be less by now. One that is gone is told of by the look after this.
  const [standing] = await standingsOf(books, [entry.id]);
  if (standing === undefined) return;
  if (status === "void") return cancel(books, document, standing);
  if (status === "paid" && !isSettled(standing)) await settle(books, document, standing);
  if (disputed !== (status === "disputed")) await noteDispute(books, entry.id, !disputed);
}

/** With a queue in Tryton its state follows a little later than the payment. */
const isSettled = ({ state, toPay }: Standing): boolean =>
  state === "paid" || (state === "posted" && toPay.sign === 0);

/** Pays what no payment has covered. */
async function settle(books: Books, document: InvoiceDocument, standing: Standing): Promise<void> {
  if (isDraft(standing)) throw refused(document, standing, "not-posted");
  if (document.paidDate === null) throw refused(document, standing, "no-paid-date");
  await pay(books, {
    invoice: standing.id,
    amount: standing.toPay,
    date: document.paidDate,
    description: settlementMark(document.id),
    partial: false,
  });
}

/**
 * Cancels: Tryton dates that as the invoice itself, while its period is open. Where it may not be cancelled, a credit
 * note takes it back. Both are in the books.
 */
async function cancel(books: Books, document: InvoiceDocument, standing: Standing): Promise<void> {
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
  const [now] = await entriesOf(books, [id]);
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
    const late = error instanceof TrytonFault && LATE.test(error.message);
    if (!late || !(await isOnePeriod(books, ended, today))) throw error;
    await creditOn(books, id, today);
  }
}

const LATE = /must set an accounting date after/;

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
