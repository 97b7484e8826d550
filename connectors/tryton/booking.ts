/** Drafts made, compared with the document, posted; and taken back when they may not stand. */
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import type { InvoiceDocument } from "../../src/books/documents.ts";
import { isRefusal, TrytonFault } from "./fault.ts";
import type { Guard, Prepared } from "./guard.ts";
import { amend, differencesOf } from "./invoice-differences.ts";
import { type Entry, inLines, isDraft } from "../../src/books/invoices.ts";
import { loadCodes } from "./invoice-expected.ts";
import { idOf, readByIds } from "./invoice-facts.ts";
import { invoiceValues } from "./invoice-values.ts";
import { isWarningOf } from "./release.ts";
import { type Addressed, partiesFor } from "./parties.ts";
import type { Verdict } from "./standing.ts";

export interface Booking {
  readonly document: InvoiceDocument;
  readonly verdict: Verdict;
}

/**
 * Books what is not there and goes on with our own drafts: all of them or none. The ids of their invoices in order; null
 * for a document that was void before it was booked.
 * @throws Refused, TrytonFault
 */
export async function book(
  books: Books,
  guard: Guard,
  bookings: readonly Booking[],
): Promise<(number | null)[]> {
  const there = await expectOurs(books, guard, bookings);
  for (const { document, verdict } of bookings)
    if (verdict.found === "one" && verdict.amend.length > 0)
      await amend(books, { document, entry: verdict.entry });
  const absent = bookings
    .filter(({ document, verdict }) => verdict.found === "none" && document.status !== "void")
    .map(({ document }) => document);
  const prepared = await preparedOf(books, absent);
  const made = prepared.length === 0 ? [] : await guard.create(prepared);
  const fresh = prepared.map(({ document }, at) => ({ document, id: made[at] as number }));
  const drafts = [...there, ...fresh];
  try {
    await expectSame(books, fresh);
    if (books.config.posting === "post") await post(books, drafts);
  } catch (error) {
    if (isRefusal(error)) await takeBack(books, guard, drafts);
    throw error;
  }
  return bookings.map(({ document, verdict }) =>
    verdict.found === "one"
      ? verdict.entry.id
      : (fresh.find((one) => one.document === document)?.id ?? null),
  );
}

async function preparedOf(
  books: Books,
  documents: readonly InvoiceDocument[],
): Promise<Prepared[]> {
  if (documents.length === 0) return [];
  const parties = await partiesFor(
    books,
    documents.map(({ party }) => party),
  );
  await loadCodes(books, documents);
  const prepared: Prepared[] = [];
  for (const document of documents) {
    const party = parties.get(document.party.code) as Addressed;
    prepared.push({ document, values: await invoiceValues(books, document, party) });
  }
  return prepared;
}

interface Draft {
  readonly document: InvoiceDocument;
  readonly id: number;
}

/** What may not be booked is refused; of what is there, the drafts that are still to be posted. */
async function expectOurs(
  books: Books,
  guard: Guard,
  bookings: readonly Booking[],
): Promise<Draft[]> {
  const drafts: Draft[] = [];
  for (const { document, verdict } of bookings) {
    if (verdict.found === "none") continue;
    if (verdict.found === "several") throw refused("twice-in-tryton", verdict.detail);
    if (verdict.found === "taken") throw refused("number-taken", verdict.detail);
    const { entry } = verdict;
    const unposted = isDraft(entry) && books.config.posting === "post";
    const draft = { document, id: entry.id };
    if (unposted && document.status !== "void" && !entry.ours) throw inHand(document, entry);
    if (verdict.found === "different") {
      // Left by a send that was killed before it had compared.
      if (unposted && entry.ours) await takeBack(books, guard, [draft]);
      throw refused(entry.made ? "differs" : "other-in-tryton", verdict.detail);
    }
    if (unposted && document.status !== "void") drafts.push(draft);
  }
  return drafts;
}

/** Before anything is posted. @throws Refused with one line per field, TrytonFault */
async function expectSame(books: Books, fresh: readonly Draft[]): Promise<void> {
  const entries = await readByIds(
    books,
    fresh.map(({ id }) => id),
    "content",
  );
  const pairs = fresh.map(({ document, id }) => {
    const entry = entries.find((one) => one.id === id);
    if (entry !== undefined) return { document, entry };
    throw new TrytonFault("torn", `the draft of invoice ${document.number} is gone`);
  });
  const told = await differencesOf(books, pairs);
  for (const [at, { document }] of pairs.entries()) {
    const { type, number } = document;
    const differences = told[at] ?? [];
    if (differences.length === 0) continue;
    const lines = inLines(type, differences);
    throw refused("would-differ", `Tryton would book invoice ${number} otherwise:\n${lines}`);
  }
}

/**
 * One call for all, whose numbers Tryton gives in the order of their dates. It asks for a yes once for each invoice that
 * has a reason, one at a time: the first one stands for all of the batch that may have it.
 */
async function post(books: Books, drafts: readonly Draft[]): Promise<void> {
  if (drafts.length === 0) return;
  const ids = drafts.map(({ id }) => id);
  // Tryton goes by its server's day, which may be a day ahead of the company's.
  const soon = books.surroundings.now().getTime() + DAY_MS;
  const today = books.surroundings.dayOf(new Date(soon).toISOString());
  const past = drafts.filter(({ document }) => (document.dueDate ?? document.invoiceDate) < today);
  const { warningOf } = await books.tryton.release();
  const accepted = new Set<string>();
  for (;;) {
    try {
      await books.tryton.call("model.account.invoice.post", [ids]);
      return;
    } catch (error) {
      const name = error instanceof TrytonFault ? error.warning : undefined;
      const kind = HARMLESS.find((kind) => name !== undefined && isWarningOf(kind, name));
      if (name === undefined || kind === undefined || accepted.has(name)) throw error;
      const others = kind === PAST_DUE ? past : drafts;
      const names = new Set([name, ...others.map(({ id }) => warningOf(kind, id))]);
      await accept(
        books,
        [...names].filter((one) => !accepted.has(one)),
      );
      for (const one of names) accepted.add(one);
    }
  }
}

const PAST_DUE = "invoice_payment_term";
/**
 * Kinds of warnings that need no person. A due date in the past; an invoice date in the future (of the server, whose
 * day may be behind the company's): the period must be open all the same; taxes that are not the product's: they are
 * the platform's.
 */
const HARMLESS = [PAST_DUE, "invoice_date_future", "invoice_taxes"];

const DAY_MS = 86_400_000;

/** Says yes to warnings, by their names. @throws TrytonFault */
export async function accept({ tryton }: Books, names: readonly string[]): Promise<void> {
  const { user } = await tryton.session();
  const { accepting } = await tryton.release();
  for (const [method, params] of accepting(user, names)) await tryton.call(method, params);
}

/** Tryton deletes no invoice that has a number, and a draft has the platform's. */
async function takeBack(books: Books, guard: Guard, drafts: readonly Draft[]): Promise<void> {
  if (drafts.length === 0) return;
  const ids = drafts.map(({ id }) => id);
  await unnumber(books, ids);
  await books.tryton.call("model.account.invoice.delete", [ids]);
  await guard.release(drafts.map(({ document }) => document));
}

export async function unnumber({ tryton }: Books, ids: readonly number[]): Promise<void> {
  await tryton.call("model.account.invoice.write", [ids, { number: null }]);
}

const NEXT = {
  "twice-in-tryton": "An accountant cancels all but one of them in Tryton, then it is retried.",
  "number-taken":
    "An accountant looks which of them counts: the other one is voided on the platform or cancelled in Tryton, then this is retried or resolved.",
  "other-in-tryton":
    "It was entered by hand: an accountant compares both and corrects the wrong one, then it is retried or resolved here.",
  differs:
    "Tryton lets nobody change these fields now. An accountant decides which side is right: correct the platform, or cancel the invoice in Tryton and book it anew, or book a correction; then it is retried or resolved here.",
  "would-differ":
    "Lines, taxes and totals may not add up, or a code names something else in Tryton: correct it where it comes from, or book it by hand; then it is retried.",
} as const;

const refused = (code: keyof typeof NEXT, message: string): Refused =>
  new Refused({ code, message, next: NEXT[code] });

const inHand = ({ number }: InvoiceDocument, entry: Entry): Refused =>
  new Refused({
    code: "draft-in-tryton",
    message: `invoice ${number} is in Tryton as a draft (${idOf(entry)}) that somebody is working on`,
    next: "Post the draft in Tryton, or delete it, then retry.",
  });
