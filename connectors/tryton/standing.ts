/** Which invoice in Tryton is the one of a document: by the platform's id, else by number and party. */
import type { Difference } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import type { InvoiceDocument } from "../../src/books/documents.ts";
import type { Guard } from "./guard.ts";
import { inLines, type OpenEntry, type Progressed } from "../../src/books/invoices.ts";
import { differencesOf, isAmendable, type Pair } from "./invoice-differences.ts";
import { draftsIn, idOf, NO_CREDIT_NOTE, readInvoices } from "./invoice-facts.ts";
import { markOf } from "./marks.ts";
import { findParty } from "./parties.ts";

/** A document, and what it was delivered as before. */
export interface Wanted {
  readonly document: InvoiceDocument;
  readonly counterpart: string | null;
  /** Until when it waits for its payments, ISO 8601 UTC; null: it is settled at once. */
  readonly until: string | null;
}

export type Verdict =
  /** It says the same, but for what is still to be brought over. */
  | { readonly found: "one"; readonly entry: Progressed; readonly amend: readonly Difference[] }
  | { readonly found: "none" }
  | { readonly found: "several"; readonly detail: string }
  /** It says something else. */
  | {
      readonly found: "different";
      readonly detail: string;
      readonly entry: Progressed;
      readonly differences: readonly Difference[];
    }
  /** It is not there, and another one has its number. */
  | { readonly found: "taken"; readonly detail: string };

/**
 * One verdict per document, in their order. Of a void document, and of an invoice that is cancelled, nothing is
 * compared. @throws TrytonFault, Refused when a party cannot be told
 */
export async function look(
  books: Books,
  guard: Guard,
  wanted: readonly Wanted[],
): Promise<Verdict[]> {
  const known = await guard.known(wanted.map(({ document }) => document));
  const rows = await candidates(books, wanted, [...known.values()]);
  const matches: (readonly Progressed[])[] = [];
  for (const one of wanted)
    matches.push(await matching(books, one, known.get(one.document.id) ?? null, rows));
  const compared = wanted.flatMap(({ document }, at): Pair[] => {
    const [entry, another] = matches[at] ?? [];
    if (entry === undefined || another !== undefined) return [];
    const isVoid = document.status === "void" && entry.platformId === document.id;
    return isVoid || entry.state === "cancelled" ? [] : [{ document, entry }];
  });
  const told = await differencesOf(books, compared);
  const differences = new Map(compared.map(({ document }, at) => [document, told[at] ?? []]));
  const verdicts: Verdict[] = [];
  const absent: InvoiceDocument[] = [];
  for (const [at, { document }] of wanted.entries()) {
    const found = matches[at] ?? [];
    const verdict = verdictOf(document, found, differences.get(document) ?? []);
    verdicts.push(verdict ?? (await taken(books, document, rows, absent)));
    if (verdict === null) absent.push(document);
  }
  return verdicts;
}

/** Those of this type that links name so. @throws TrytonFault */
export async function linkedAs(
  books: Books,
  type: InvoiceDocument["type"],
  ids: readonly string[],
): Promise<OpenEntry[]> {
  const { company } = await books.tryton.session();
  const domain = [
    ["company", "=", company],
    ["type", "=", type],
    ["OR", ["number", "in", ids], ["id", "in", draftsIn(ids)]],
  ];
  return readInvoices(books, domain, "toPay");
}

/** Its own; else one that was entered by hand: the same number of the same party, and no mark of the platform. */
async function matching(
  books: Books,
  { document, counterpart }: Wanted,
  known: number | null,
  rows: readonly Progressed[],
): Promise<readonly Progressed[]> {
  const own = rows.filter(
    (row) =>
      row.id === known ||
      row.platformId === document.id ||
      // Books that were restored may have given its number to another document of ours.
      (counterpart !== null && idOf(row) === counterpart && row.platformId === null),
  );
  if (own.length > 0) return own;
  const unmarked = rows.filter(({ platformId }) => platformId === null);
  return ofParty(books, document, unmarked);
}

/** Those with its number, of its party. */
async function ofParty(
  books: Books,
  { number, party }: InvoiceDocument,
  rows: readonly Progressed[],
): Promise<readonly Progressed[]> {
  const same = rows.filter(({ reference }) => reference === number);
  if (same.length === 0) return [];
  const known = await findParty(books, party);
  return same.filter(({ partyId }) => partyId === known?.id);
}

/** Null: it is not there. */
function verdictOf(
  { number, type }: InvoiceDocument,
  matches: readonly Progressed[],
  differences: readonly Difference[],
): Verdict | null {
  const [entry] = matches;
  if (entry === undefined) return null;
  const names = matches.map(idOf).join(" and ");
  if (matches.length > 1)
    return { found: "several", detail: `invoice ${number} is in Tryton as ${names}` };
  if (differences.every((one) => isAmendable(entry, one)))
    return { found: "one", entry, amend: differences };
  const detail = `invoice ${number} (${names}) differs from Tryton's:\n${inLines(type, differences)}`;
  return { found: "different", detail, entry, differences };
}

/**
 * Tryton itself takes a number twice: two customer invoices with one number, and two invoices with one number from one
 * supplier. One that was cancelled makes room for another of that supplier.
 * @param absent documents of this batch before it that are not there either
 */
async function taken(
  books: Books,
  document: InvoiceDocument,
  rows: readonly Progressed[],
  absent: readonly InvoiceDocument[],
): Promise<Verdict> {
  const { type, number, party, status } = document;
  if (status === "void") return { found: "none" };
  const before = absent.find(
    (one) => one.status !== "void" && one.number === number && one.party.code === party.code,
  );
  if (before !== undefined) return { found: "taken", detail: twiceTold(document, before.id) };
  const numbered =
    type === "out" && books.config.numbering === "platform"
      ? rows.find((row) => row.number === number)
      : undefined;
  const live = rows.filter(({ state }) => state !== "cancelled");
  const other = numbered ?? (await ofParty(books, document, live))[0];
  if (other === undefined) return { found: "none" };
  const whose = other.platformId === null ? "entered by hand" : `platform id ${other.platformId}`;
  const what = `${idOf(other)}, total ${other.total.text}, ${whose}`;
  return { found: "taken", detail: twiceTold(document, what) };
}

const twiceTold = ({ number, party }: InvoiceDocument, other: string): string =>
  `the number ${number} of ${party.name} (${party.code}) belongs to another invoice already: ${other}`;

/** Everything that could be one of them. */
async function candidates(
  books: Books,
  wanted: readonly Wanted[],
  known: readonly number[],
): Promise<Progressed[]> {
  const [first] = wanted;
  if (first === undefined) return [];
  const { company } = await books.tryton.session();
  const numbers = wanted.map(({ document }) => document.number);
  const counterparts = wanted.flatMap(({ counterpart }) => counterpart ?? []);
  const domain = [
    ["company", "=", company],
    ["type", "=", first.document.type],
    [
      "OR",
      ["comment", "in", wanted.map(({ document }) => markOf(document.id))],
      ["reference", "in", numbers],
      ["number", "in", [...numbers, ...counterparts]],
      ["id", "in", [...known, ...draftsIn(counterparts)]],
    ],
    NO_CREDIT_NOTE,
  ];
  return readInvoices(books, domain, "progress");
}
