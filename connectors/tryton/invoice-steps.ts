/** What is done to invoices that are there: amended, posted, cancelled, and drafts of ours that are taken back. */
import type { Step, StepTo } from "../../src/ledger/port.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { noteDispute } from "../../src/ledger/notes.ts";
import { Refused } from "../../src/core/errors.ts";
import { type Books, notesOf, resourceOf } from "./books.ts";
import { TrytonError } from "./errors.ts";
import { type TrytonInvoice, isDraft } from "./invoice-facts.ts";
import { DATE_ORDER, isWarningOf } from "./release.ts";
import { texts } from "./rows.ts";
import { countOf, ofCompany, rowOf, where } from "./search.ts";
import { day } from "./values.ts";
import { wizard } from "./wizard.ts";

type InvoiceStep = Step<"invoice" | "bill", TrytonInvoice>;

/** One step for all of them; it may be taken again after anything. @throws Refused, TrytonError */
export async function step(books: Books, to: StepTo, steps: readonly InvoiceStep[]): Promise<void> {
  if (to === "posted") return post(books, steps);
  if (to === "retracted") return takeBack(books, steps);
  for (const one of steps) await (to === "amended" ? amend(books, one) : cancel(books, one));
}

/** Writes what differs: of a posted invoice the due date, of a draft its head; a dispute is a note. */
async function amend(books: Books, { desired, entry, differences }: InvoiceStep): Promise<void> {
  const { native: invoice } = entry;
  const { number: reference, description, dueDate, invoiceDate } = desired.document;
  const due = day(dueDate ?? invoiceDate);
  const differs = (field: string): boolean => differences.some((one) => one.field === field);
  if (differs("state")) await noteDispute(notesOf(books), resourceOf(invoice), desired.disputed);
  if (differences.every(({ field }) => field === "state")) return;
  if (!isDraft(invoice)) {
    const values = { maturity_date: due };
    await books.tryton.call("model.account.move.line.write", [invoice.terms, values]);
    return;
  }
  const term = invoice.facts.days?.due === undefined ? {} : { payment_term_date: due };
  const values = { reference, description, ...term };
  await books.tryton.call("model.account.invoice.write", [[invoice.id], values]);
}

/**
 * One call for all, whose numbers Tryton gives in the order of their dates. It asks for a yes once for each invoice that
 * has a reason, one at a time: the first one stands for all of the batch that may have it.
 */
async function post(books: Books, steps: readonly InvoiceStep[]): Promise<void> {
  const ids = idsOf(steps);
  // Tryton goes by its server's day, which may be a day ahead of the company's.
  const soon = books.surroundings.now().getTime() + DAY_MS;
  const today = books.surroundings.dayOf(new Date(soon).toISOString());
  const past = steps.filter(
    ({ desired: { document } }) => (document.dueDate ?? document.invoiceDate) < today,
  );
  const { warningOf } = await books.tryton.release();
  const accepted = new Set<string>();
  for (;;) {
    try {
      await books.tryton.call("model.account.invoice.post", [ids]);
      return;
    } catch (error) {
      const name = error instanceof TrytonError ? error.warning : undefined;
      const kind = HARMLESS.find((kind) => name !== undefined && isWarningOf(kind, name));
      if (name === undefined || kind === undefined || accepted.has(name)) throw error;
      const others = idsOf(kind === PAST_DUE ? past : steps);
      const names = new Set([name, ...others.map((id) => warningOf(kind, id))]);
      await accept(
        books,
        [...names].filter((one) => !accepted.has(one)),
      );
      for (const one of names) accepted.add(one);
    }
  }
}

const idsOf = (steps: readonly InvoiceStep[]): number[] =>
  steps.map(({ entry }) => entry.native.id);

const PAST_DUE = "invoice_payment_term";
/**
 * Kinds of warnings that need no person. A due date in the past; an invoice date in the future (of the server, whose
 * day may be behind the company's): the period must be open all the same; taxes that are not the product's: they are
 * the platform's.
 */
const HARMLESS = [PAST_DUE, "invoice_date_future", "invoice_taxes"];

const DAY_MS = 86_400_000;

/** Says yes to warnings, by their names. @throws TrytonError */
export async function accept({ tryton }: Books, names: readonly string[]): Promise<void> {
  const { user } = await tryton.session();
  const { accepting } = await tryton.release();
  for (const [method, params] of accepting(user, names)) await tryton.call(method, params);
}

/** Tryton deletes no invoice that has a number, and a draft has the platform's. */
async function takeBack(books: Books, steps: readonly InvoiceStep[]): Promise<void> {
  await unnumber(books, idsOf(steps));
  await books.tryton.call("model.account.invoice.delete", [idsOf(steps)]);
}

async function unnumber({ tryton }: Books, ids: readonly number[]): Promise<void> {
  await tryton.call("model.account.invoice.write", [ids, { number: null }]);
}

/**
 * Cancels: Tryton dates that as the invoice itself, while its period is open. Where it may not be cancelled, a credit
 * note takes it back. Both are in the books.
 */
async function cancel(books: Books, { desired, entry }: InvoiceStep): Promise<void> {
  const { tryton } = books;
  const { id, state, number } = entry.native;
  if (state === "draft" && number !== null) await unnumber(books, [id]);
  try {
    await tryton.call("model.account.invoice.cancel", [[id]]);
  } catch (error) {
    if (!(error instanceof TrytonError && KEPT.test(error.message))) throw error;
    await credit(books, id, desired.document.endedDate);
  }
  // A button says nothing when it does nothing, and a second press would make a second credit note.
  const now = await rowOf(books, "account.invoice", id, texts("state"));
  if (now.state !== "cancelled") throw notCancelled(desired.document, entry.native);
}

/**
 * The company cancels no customer invoice (8.0 has no button for it then), or the period of this one is closed: then a
 * credit note must do.
 */
const KEPT =
  /company setup does not allow it|You can not call "cancel" on |period of move .* is closed/;

const notCancelled = ({ number }: InvoiceDocument, invoice: TrytonInvoice): Refused =>
  new Refused({
    code: "not-cancelled",
    message: `invoice ${number} (${invoice.name}) is void on the platform, and Tryton did not cancel it`,
    next: "Cancel it in Tryton by hand, then retry.",
  });

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
    const late = error instanceof TrytonError && DATE_ORDER.test(error.message);
    if (!late || !(await isOnePeriod(books, ended, today))) throw error;
    await creditOn(books, id, today);
  }
}

/** Without a date Tryton would take its server's today. */
const creditOn = ({ tryton }: Books, id: number, date: string): Promise<void> =>
  wizard(tryton, "account.invoice.credit", ["account.invoice", id], async (execute) => {
    const start = { with_refund: true, invoice_date: day(date) };
    await execute({ start }, "credit");
  });

async function isOnePeriod(books: Books, one: string, other: string): Promise<boolean> {
  const domain = where({
    ...(await ofCompany(books)),
    "type =": "standard",
    "start_date <=": day(one),
    "end_date >=": day(other),
  });
  return one <= other && (await countOf(books, "account.period", domain)) > 0;
}
