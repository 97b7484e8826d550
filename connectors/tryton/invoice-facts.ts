/**
 * The one reader of invoices and bills: rows of `account.invoice` as entries, with what they say in neutral words.
 * Delivery, inspection, holdings and the sources take theirs from it.
 */
import type { BookedInvoice, Credit, Settling } from "../../src/books/booked.ts";
import type { InvoiceDocument } from "../../src/books/documents.ts";
import { draftName } from "../../src/books/invoices.ts";
import { platformIdIn } from "../../src/books/marks.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Facts, FactLine } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import * as row from "./rows.ts";
import { type Domain, rowsOf, type Search, where } from "./search.ts";

export type InvoiceType = InvoiceDocument["type"];

/** An invoice in the books. */
export interface Entry extends Row, BookedInvoice {
  readonly number: string | null;
  readonly reference: string | null;
  /** Ledger lines that say when it is due: one for each term. None while it is a draft. */
  readonly terms: readonly number[];
}

export const isDraft = ({ state }: Pick<Entry, "state">): boolean =>
  state === "draft" || state === "validated";

/** Leaves credit notes out: they have the comment of what they credit. */
export const NO_CREDIT_NOTE: Domain = [
  "OR",
  ["lines.origin", "=", null],
  ["lines.origin", "not like", "account.invoice.line,%"],
];

const PAYMENT = {
  ...row.amounts("debit credit"),
  move: row.one(row.textsOrNone("description")),
};

const LINE = {
  type: row.as<string>(),
  product: row.oneOrNone(row.textsOrNone("code")),
  account: row.oneOrNone(row.textsOrNone("code")),
  unit: row.oneOrNone(row.texts("symbol")),
  ...row.textsOrNone("description"),
  ...row.amountsOrNone("quantity unit_price amount"),
};

/** What posting may change, and who an invoice is. */
const HEAD = {
  type: row.as<InvoiceType>(),
  state: row.as<"draft" | "validated" | "posted" | "paid" | "cancelled">(),
  ...row.texts("create_date"),
  ...row.textsOrNone("number reference comment description invoice_date payment_term_date"),
  ...row.textsOrNone("write_date"),
  ...row.ids("create_uid"),
  ...row.idsOrNone("write_uid payment_term move"),
  ...row.amounts("untaxed_amount tax_amount total_amount"),
  party: row.one(row.texts("code")),
  currency: row.one(row.texts("code")),
};

const INVOICE = {
  ...HEAD,
  ...row.textsOrNone("reconciled"),
  ...row.amounts("amount_to_pay"),
  lines: row.many(LINE),
  taxes: row.many({
    account: row.one(row.textsOrNone("code")),
    ...row.texts("description"),
    ...row.amounts("base amount"),
  }),
  lines_to_pay: row.many({
    ...row.textsOrNone("maturity_date"),
    reconciliation: row.oneOrNone({ lines: row.many(PAYMENT) }),
  }),
  payment_lines: row.many({ ...PAYMENT, ...row.idsOrNone("reconciliation") }),
};

/** What sources tell besides: names for people, and the ids that other systems gave a party. */
const TOLD = {
  ...INVOICE,
  party: row.one({ ...row.texts("code"), identifiers: row.many(row.texts("code")) }),
  lines: row.many({
    ...LINE,
    product: row.oneOrNone({ ...row.textsOrNone("code"), ...row.texts("name") }),
  }),
};

type Row = row.RowOf<typeof INVOICE>;

/** An invoice as sources tell it. */
export type ToldEntry = Entry & row.RowOf<typeof TOLD>;

/** Those that the domain names, by their ids. @throws TrytonError */
export async function readInvoices(
  books: Books,
  domain: Domain,
  search: Search = {},
): Promise<Entry[]> {
  const rows = await rowsOf(books, "account.invoice", domain, INVOICE, search);
  const { user } = await books.tryton.session();
  return rows.map((row) => entryIn(row, user));
}

/** What nobody can have paid yet. */
const DRAFT = { ...HEAD, lines: INVOICE.lines, taxes: INVOICE.taxes };
const WRITTEN = row.many(row.textsOrNone("write_date"));
const POSTED = {
  ...HEAD,
  lines: WRITTEN,
  taxes: WRITTEN,
  lines_to_pay: row.many({
    ...row.textsOrNone("maturity_date"),
    ...row.idsOrNone("reconciliation"),
  }),
  ...row.idLists("payment_lines"),
};

/** The same after this send has made some, by these marks: as long as they are drafts, nothing pays them. @throws TrytonError */
export const readMade = (
  books: Books,
  domain: Domain,
  made: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Entry[]> =>
  readPart(books, domain, signal, DRAFT, (row) =>
    row.state === "draft" && made.has(platformIdIn(row.comment) ?? "")
      ? { ...row, ...UNPAID, lines_to_pay: [], amount_to_pay: Decimal.zero }
      : null,
  );

/**
 * The same after this send has compared some as drafts and posted them: those are read without what was compared and
 * posting does not change. Posting (`_post`, `set_number` and `get_move` of Tryton's account_invoice, 6.0 and 8.0) sets
 * number, state and move, tax identifiers and an invoice date that were empty, and keeps the sums; it refuses where taxes
 * would be others, and writes no line. So lines and taxes are the same where they are those that were compared, and none
 * was written since it was made. Others, and what is paid by now, are read in full. @throws TrytonError
 */
export const readPosted = (
  books: Books,
  domain: Domain,
  compared: readonly Entry[],
  signal: AbortSignal,
): Promise<Entry[]> =>
  readPart(books, domain, signal, POSTED, (row) => {
    const before = compared.find(({ id }) => id === row.id);
    if (before === undefined || !isAsCompared(row, before)) return null;
    const terms = row.lines_to_pay.map((term) => ({ ...term, reconciliation: null }));
    const { lines, taxes } = before;
    const open = { lines_to_pay: terms, amount_to_pay: row.total_amount };
    return { ...row, ...UNPAID, ...open, lines, taxes };
  });

const UNPAID = { payment_lines: [], reconciled: null };

/** Posted, with the lines and taxes of before, which nobody has written; and nothing has paid it. */
const isAsCompared = (row: row.RowOf<typeof POSTED>, { lines, taxes }: Entry): boolean =>
  row.state === "posted" &&
  row.total_amount.sign !== 0 &&
  isUnwritten(row.lines, lines) &&
  isUnwritten(row.taxes, taxes) &&
  row.payment_lines.length === 0 &&
  row.lines_to_pay.every(({ reconciliation }) => reconciliation === null);

const isUnwritten = (
  parts: row.RowOf<typeof POSTED>["lines"],
  before: readonly { readonly id: number }[],
): boolean =>
  parts.length === before.length &&
  parts.every(({ id, write_date }, at) => write_date === null && id === before[at]?.id);

/** Reads some fields, and all of them of those that `whole` cannot tell the rest of (null). */
async function readPart<Of extends row.Fields>(
  books: Books,
  domain: Domain,
  signal: AbortSignal,
  fields: Of,
  whole: (row: row.RowOf<Of>) => Row | null,
): Promise<Entry[]> {
  const rows = await rowsOf(books, "account.invoice", domain, fields, { signal });
  const { user } = await books.tryton.session();
  const told = rows.flatMap((row) => whole(row) ?? []).map((row) => entryIn(row, user));
  const others = rows.map(({ id }) => id).filter((id) => told.every((one) => one.id !== id));
  if (others.length === 0) return told;
  const rest = await readInvoices(books, where({ "id in": others }), { signal });
  return [...told, ...rest].toSorted((one, other) => one.id - other.id);
}

/** The same with what sources tell besides. @throws TrytonError */
export async function readTold(books: Books, domain: Domain, search: Search): Promise<ToldEntry[]> {
  const rows = await rowsOf(books, "account.invoice", domain, TOLD, search);
  const { user } = await books.tryton.session();
  return rows.map((row) => ({ ...entryIn(row, user), ...row }));
}

function entryIn(row: Row, user: number): Entry {
  const made = row.create_uid === user;
  return {
    ...row,
    name: row.number ?? draftName(row.id),
    draftName: draftName(row.id),
    rung: rungOf(row),
    made,
    ours: made && (row.write_uid === null || row.write_uid === user),
    platformId: platformIdIn(row.comment),
    total: row.total_amount,
    toPay: row.amount_to_pay,
    facts: factsOf(row),
    terms: row.lines_to_pay.map(({ id }) => id),
    settling: settlingOf(row),
    stamp: row.write_date ?? row.create_date,
  };
}

/** With a queue in Tryton its state follows a little later than the payment. */
function rungOf(row: Row): Entry["rung"] {
  if (row.state === "cancelled") return row.state;
  if (isDraft(row)) return "draft";
  return row.state === "paid" || row.reconciled !== null ? "settled" : "posted";
}

const factsOf = (row: Row): Facts => ({
  ...(row.number === null ? {} : { number: row.number }),
  party: row.party.code,
  days: { date: row.invoice_date, ...dueOf(row) },
  money: { untaxed: row.untaxed_amount, tax: row.tax_amount, total: row.total_amount },
  words: {
    side: row.type === "out" ? "sale" : "purchase",
    reference: row.reference,
    currency: row.currency.code,
    order: row.description,
  },
  lines: amountLines(row.lines).map(lineOf),
  taxes: row.taxes.map(({ account, description: text, base, amount }) => ({
    code: account.code ?? "",
    text,
    base,
    amount,
  })),
});

/** Titles, comments and subtotals are left out. */
export const amountLines = <Line extends { readonly type: string }>(
  lines: readonly Line[],
): Line[] => lines.filter(({ type }) => type === "line");

/** The last day on which a part of it falls due. A draft with a payment term does not say yet. */
function dueOf(row: Row): { due?: string | null } {
  const days = row.lines_to_pay.flatMap((term) => term.maturity_date ?? []);
  if (days.length > 0) return { due: days.toSorted().at(-1) ?? null };
  return row.payment_term === null ? { due: row.payment_term_date } : {};
}

const lineOf = (line: Row["lines"][number]): FactLine => ({
  product: line.product?.code ?? null,
  account: line.account?.code ?? null,
  quantity: line.quantity,
  unit: line.unit?.symbol ?? null,
  unitPrice: line.unit_price,
  amount: line.amount ?? Decimal.zero,
  text: line.description,
});

/**
 * Payments that were entered on it, and what else it was reconciled with. A payment that was reconciled with something
 * else (the move that took it back) pays nothing here.
 */
function settlingOf(row: Row): Settling[] {
  const reconciliations = row.lines_to_pay.flatMap((term) => term.reconciliation ?? []);
  const own = new Set(reconciliations.map(({ id }) => id));
  const entered = row.payment_lines.filter(
    ({ reconciliation }) => reconciliation === null || own.has(reconciliation),
  );
  const others = reconciliations
    .flatMap(({ lines }) => lines)
    .filter(({ move }) => move.id !== row.move);
  const lines = new Map([...entered, ...others].map((line) => [line.id, line]));
  return [...lines.values()].map(({ id, move, credit, debit }) => {
    const amount = credit.minus(debit);
    return {
      name: `#${move.id}`,
      description: move.description,
      amount: row.type === "out" ? amount : amount.negated(),
      isReconciled: others.some((other) => other.id === id),
    };
  });
}

/** Their credit notes that are posted or paid, by the ids of the invoices; in one call. @throws TrytonError */
export async function creditsOf(
  books: Books,
  entries: readonly Pick<Entry, "id" | "lines">[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<number, readonly Credit[]>> {
  if (entries.length === 0) return new Map();
  const domain = [
    ["origin.invoice", "in", entries.map(({ id }) => id), "account.invoice.line"],
    ...where({ "invoice.state in": ["posted", "paid"] }),
  ];
  const rows = await rowsOf(books, "account.invoice.line", domain, CREDITING, { signal });
  return new Map(
    entries.map(({ id, lines }) => {
      const own = new Set(amountLines(lines).map((line) => `account.invoice.line,${line.id}`));
      const of = rows.filter(({ origin }) => own.has(origin));
      const notes = new Map(of.map(({ invoice }) => [invoice.id, creditIn(invoice)]));
      return [id, [...notes.values()]] as const;
    }),
  );
}

const CREDITING = {
  ...row.texts("origin"),
  invoice: row.one({
    ...row.textsOrNone("number"),
    ...row.idsOrNone("move"),
    ...row.amounts("total_amount amount_to_pay"),
  }),
};

const creditIn = (note: row.RowOf<typeof CREDITING>["invoice"]): Credit => ({
  name: note.number ?? `#${note.id}`,
  settles: note.move === null ? null : `#${note.move}`,
  total: note.total_amount,
  toPay: note.amount_to_pay,
});
