/** What the platform says of an invoice that is booked: paid, void, disputed; and whether Tryton shows it. */
import type { Fault } from "../../src/core/fault.ts";
import { Refused } from "../../src/core/errors.ts";
import { unnumber } from "./booking.ts";
import type { Books } from "./books.ts";
import { disputedOf, noteDispute } from "./disputes.ts";
import type { InvoiceDocument } from "./documents.ts";
import { TrytonFault } from "./fault.ts";
import { takenBackOf } from "./invoice-taken-back.ts";
import { settlementMark } from "./marks.ts";
import { pay } from "./pay.ts";
import { type Entry, idOf, isDraft, readByIds, type Standing } from "./invoice-facts.ts";

/** A document and its invoice in Tryton. */
export interface Booked {
  readonly document: InvoiceDocument;
  readonly entry: Entry;
}

/** How far each is: `final`, `open` (there is something to do), or what a person must decide. @throws TrytonFault */
export async function progressOf(books: Books, booked: readonly Booked[]): Promise<Progress[]> {
  const disputed = await disputedOf(books, idsOf(booked));
  return progress(books, booked, disputed, await takenBackOf(books, booked));
}

type Progress = "final" | "open" | Fault;

const idsOf = (booked: readonly Booked[]): number[] => booked.map(({ entry }) => entry.id);

async function progress(
  books: Books,
  booked: readonly Booked[],
  disputed: ReadonlySet<number>,
  takenBack: ReadonlyMap<number, Fault>,
): Promise<Progress[]> {
  const unsettled = await unsettledOf(books, booked);
  return booked.map(({ document, entry }) => {
    const { status } = document;
    const { state, id } = entry;
    if (status === "void") return state === "cancelled" ? "final" : "open";
    if (state === "cancelled") return cancelledThere(document, entry);
    const fault = takenBack.get(id);
    if (fault !== undefined) return fault;
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
  const standings = await readByIds(books, idsOf(posted), "toPay");
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
  const older = booked.filter(({ entry }) => !made.has(entry.id));
  const disputed = await disputedOf(books, idsOf(older));
  const before = await progress(books, booked, disputed, await takenBackOf(books, older));
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
  const [standing] = await readByIds(books, [entry.id], "toPay");
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

/** Cancels; where the company keeps its customer invoices, a credit note takes it back. Both are in the books. */
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
    const context = { active_model: "account.invoice", active_id: id, active_ids: [id] };
    const call = <T>(step: string, ...params: unknown[]): Promise<T> =>
      tryton.call<T>(`wizard.account.invoice.credit.${step}`, params, { context });
    const [session] = await call<[number]>("create");
    try {
      // Without a date Tryton takes its own today: the platform does not say when it became void.
      const start = { with_refund: true, invoice_date: null };
      await call("execute", session, { start }, "credit");
    } finally {
      await call("delete", session).catch(() => {});
    }
  }
  // A button says nothing when it does nothing.
  const [now] = await readByIds(books, [id], "head");
  if (now?.state !== "cancelled") throw refused(document, now ?? standing, "not-cancelled");
}

const KEPT = /company setup does not allow it/;

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
