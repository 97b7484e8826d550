/** What an invoice says otherwise than its document, in words, and what of it Tryton lets us bring over. */
import { compare } from "../../src/books/compare.ts";
import type { Difference } from "../../src/core/holdings.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import type { InvoiceDocument } from "../../src/books/documents.ts";
import { expectedOf, loadCodes, partyCode } from "./invoice-expected.ts";
import { type Entry, invoiceKindOf, isDraft } from "../../src/books/invoices.ts";
import { day } from "./values.ts";

/** A document and its invoice. */
export interface Pair {
  readonly document: InvoiceDocument;
  readonly entry: Entry;
}

/**
 * Differences of content, one list per pair, in their order. One that cannot be compared, because a code of it is no
 * longer in Tryton, differs in `record`. The site's `ignore` is left out. @throws TrytonFault
 */
export async function differencesOf(
  books: Books,
  pairs: readonly Pair[],
): Promise<(readonly Difference[])[]> {
  await loadCodes(
    books,
    pairs.map(({ document }) => document),
  );
  const all: (readonly Difference[])[] = [];
  for (const pair of pairs)
    all.push(await differences(books, pair).catch((error: unknown) => [incomparable(pair, error)]));
  return all;
}

async function differences(
  books: Books,
  { document, entry }: Pair,
): Promise<readonly Difference[]> {
  const kind = invoiceKindOf(document.type);
  const { code } = document.party;
  const { party } = entry.facts;
  // Asked for only where it is another one: a party keeps the code that it was there under.
  const known = party === code ? code : await partyCode(books, document.party);
  const { number, ...rest } = await expectedOf(books, document, known);
  // What a person entered has Tryton's number, and ours as its reference.
  const expected = number === undefined || !entry.made ? rest : { ...rest, number };
  const ignore = books.surroundings.ignore[kind] ?? [];
  return compare(kind, expected, entry.facts, { group: "content", ignore });
}

function incomparable({ document }: Pair, error: unknown): Difference {
  if (!(error instanceof Refused)) throw error;
  const held = `cannot be compared: ${error.fault.message}`;
  return { field: "record", expected: document.number, held };
}

/**
 * May this be written on it? On a posted invoice Tryton changes the due date and nothing else. Of a draft that nobody
 * else has touched we write the head again.
 */
export function isAmendable(entry: Entry, { field }: Difference): boolean {
  if (!entry.made) return false;
  if (isDraft(entry)) return entry.ours && DRAFT_FIELDS.has(field);
  return field === "days.due" && entry.terms.length === 1;
}

const DRAFT_FIELDS: ReadonlySet<string> = new Set(["days.due", "reference", "order"]);

/** Writes what {@link isAmendable}; it may be written again after anything. @throws TrytonFault */
export async function amend({ tryton }: Books, { document, entry }: Pair): Promise<void> {
  const due = day(document.dueDate ?? document.invoiceDate);
  if (!isDraft(entry)) {
    await tryton.call("model.account.move.line.write", [entry.terms, { maturity_date: due }]);
    return;
  }
  const { number: reference, description } = document;
  const term = entry.facts.days?.due === undefined ? {} : { payment_term_date: due };
  await tryton.call("model.account.invoice.write", [
    [entry.id],
    { reference, description, ...term },
  ]);
}
