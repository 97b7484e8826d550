/** Which invoice in Tryton is the one of a document: by the platform's id, else by number and party. */
import type { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import type { InvoiceDocument } from "./documents.ts";
import type { Guard } from "./guard.ts";
import { difference, type Figures, figuresOf } from "./invoice-values.ts";
import { markOf, platformIdIn } from "./marks.ts";
import { findParty } from "./parties.ts";
import { exact } from "./values.ts";

/** A document, and what it was delivered as before. */
export interface Wanted {
  readonly document: InvoiceDocument;
  readonly counterpart: string | null;
  /** Until when it waits for its payments, ISO 8601 UTC; null: it is settled at once. */
  readonly until: string | null;
}

/** An invoice in Tryton. */
export interface Entry extends Figures {
  readonly id: number;
  readonly number: string | null;
  readonly state: "draft" | "validated" | "posted" | "paid" | "cancelled";
  /** Nobody but us has ever written it. */
  readonly ours: boolean;
  /** What its comment says; null: it did not come from the platform. */
  readonly platformId: string | null;
}

/** An invoice as it stands. What is to pay Tryton adds up anew each time: it is asked for only where it counts. */
export interface Standing extends Entry {
  readonly toPay: Decimal;
}

export type Verdict =
  | { readonly found: "one"; readonly entry: Entry }
  | { readonly found: "none" }
  | { readonly found: "several"; readonly detail: string }
  /** `entry` is the document's own, with other figures; null: another one has its number. */
  | { readonly found: "different"; readonly detail: string; readonly entry: Entry | null };

/** What links keep of it: its number, or `#12` while it has none. */
export const idOf = ({ number, id }: Entry): string => number ?? `#${id}`;

/** One verdict per document, in their order. @throws TrytonFault, Refused when a party cannot be told */
export async function look(
  books: Books,
  guard: Guard,
  wanted: readonly Wanted[],
): Promise<Verdict[]> {
  const known = await guard.known(wanted.map(({ document }) => document));
  const rows = await candidates(books, wanted, [...known.values()]);
  const { user } = await books.tryton.session();
  const verdicts: Verdict[] = [];
  for (const one of wanted)
    verdicts.push(await judge(books, user, one, known.get(one.document.id) ?? null, rows));
  return verdicts;
}

/** These invoices as they are now, in this order; what is gone is left out. @throws TrytonFault */
export async function entriesOf(books: Books, ids: readonly number[]): Promise<Entry[]> {
  if (ids.length === 0) return [];
  const rows = await search(books, [["id", "in", ids]]);
  const { user } = await books.tryton.session();
  return inOrder(ids, rows).map((row) => entryIn(row, user));
}

/** The same with what is to pay. @throws TrytonFault */
export async function standingsOf(books: Books, ids: readonly number[]): Promise<Standing[]> {
  if (ids.length === 0) return [];
  const rows = await search<Payable>(books, [["id", "in", ids]], WITH_TO_PAY);
  const { user } = await books.tryton.session();
  return inOrder(ids, rows).map((row) => standingIn(row, user));
}

const inOrder = <Found extends Row>(ids: readonly number[], rows: readonly Found[]): Found[] =>
  ids.flatMap((id) => rows.filter((row) => row.id === id));

/** Those of this type that links name so. @throws TrytonFault */
export async function linkedAs(
  books: Books,
  type: InvoiceDocument["type"],
  ids: readonly string[],
): Promise<Standing[]> {
  const { company, user } = await books.tryton.session();
  const domain = [
    ["company", "=", company],
    ["type", "=", type],
    ["OR", ["number", "in", ids], ["id", "in", draftsIn(ids)]],
  ];
  const rows = await search<Payable>(books, domain, WITH_TO_PAY);
  return rows.map((row) => standingIn(row, user));
}

async function judge(
  books: Books,
  user: number,
  { document, counterpart }: Wanted,
  known: number | null,
  rows: readonly Row[],
): Promise<Verdict> {
  const own = rows.filter(
    (row) =>
      row.id === known ||
      platformIdIn(row.comment) === document.id ||
      // Books that were restored may have given its number to another document of ours.
      (counterpart !== null &&
        idOf(entryIn(row, user)) === counterpart &&
        platformIdIn(row.comment) === null),
  );
  const matches = own.length > 0 ? own : await byNumber(books, document, rows);
  const [first] = matches;
  if (first === undefined) return taken(books, user, document, rows);
  const names = matches.map((row) => idOf(entryIn(row, user))).join(" and ");
  if (matches.length > 1)
    return { found: "several", detail: `invoice ${document.number} is in Tryton as ${names}` };
  const entry = entryIn(first, user);
  const differs = difference(entry, figuresOf(document));
  if (differs === null) return { found: "one", entry };
  const detail = `invoice ${document.number} is in Tryton as ${names} with ${differs}`;
  return { found: "different", detail, entry };
}

/** Entered by hand: the same number of the same party, and no mark of another document of the platform. */
async function byNumber(
  books: Books,
  document: InvoiceDocument,
  rows: readonly Row[],
): Promise<Row[]> {
  const same = rows.filter(
    (row) => row.reference === document.number && platformIdIn(row.comment) === null,
  );
  if (same.length === 0) return [];
  const party = await findParty(books, document.party);
  return same.filter((row) => row.party === party?.id);
}

/** Tryton itself takes a number twice. */
function taken(
  { config }: Books,
  user: number,
  { type, number }: InvoiceDocument,
  rows: readonly Row[],
): Verdict {
  const other =
    type === "out" && config.numbering === "platform"
      ? rows.find((row) => row.number === number)
      : undefined;
  if (other === undefined) return { found: "none" };
  const whose = entryIn(other, user);
  const detail = `the number ${number} is in Tryton already, of another invoice (total ${whose.total.text})`;
  return { found: "different", detail, entry: null };
}

/** Everything that could be one of them. Credit notes have the comment of what they credit: they are left out. */
async function candidates(
  books: Books,
  wanted: readonly Wanted[],
  known: readonly number[],
): Promise<Row[]> {
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
    ["OR", ["lines.origin", "=", null], ["lines.origin", "not like", "account.invoice.line,%"]],
  ];
  return search(books, domain);
}

/** A draft in links: `#12`. */
const DRAFT = /^#(\d+)$/;
const draftsIn = (ids: readonly string[]): number[] =>
  ids.flatMap((id) => Number(DRAFT.exec(id)?.[1] ?? []));

const search = <Found extends Row = Row>(
  { tryton }: Books,
  domain: readonly unknown[],
  fields: readonly string[] = FIELDS,
): Promise<Found[]> =>
  tryton.call("model.account.invoice.search_read", [domain, 0, null, null, fields]);

const FIELDS = [
  "number",
  "reference",
  "comment",
  "state",
  "party",
  "untaxed_amount",
  "tax_amount",
  "total_amount",
  "create_uid",
  "write_uid",
];
const WITH_TO_PAY = [...FIELDS, "amount_to_pay"];

interface Row {
  readonly id: number;
  readonly number: string | null;
  readonly reference: string | null;
  readonly comment: string | null;
  readonly state: Entry["state"];
  readonly party: number;
  readonly untaxed_amount: unknown;
  readonly tax_amount: unknown;
  readonly total_amount: unknown;
  readonly create_uid: number;
  readonly write_uid: number | null;
}

interface Payable extends Row {
  readonly amount_to_pay: unknown;
}

const entryIn = (row: Row, user: number): Entry => ({
  id: row.id,
  number: row.number,
  state: row.state,
  untaxed: exact(row.untaxed_amount),
  tax: exact(row.tax_amount),
  total: exact(row.total_amount),
  ours: row.create_uid === user && (row.write_uid === null || row.write_uid === user),
  platformId: platformIdIn(row.comment),
});

const standingIn = (row: Payable, user: number): Standing => ({
  ...entryIn(row, user),
  toPay: exact(row.amount_to_pay),
});
