/**
 * The one reader of invoices and bills: rows of `account.invoice` as entries, with what they say in neutral words.
 * Delivery, inspection, holdings and the sources take theirs from it.
 */
import { inPart, isUnwritten } from "../../src/ledger/again.ts";
import { type BookedInvoice, type Credit, settlingIn } from "../../src/ledger/entries.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { draftName } from "../../src/ledger/invoices.ts";
import { platformIdIn } from "../../src/ledger/notes.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Facts, FactLine } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import * as row from "./rows.ts";
import { type Domain, idsOf, rowsOf, type Search, where } from "./rows.ts";
import { TrytonError } from "./wire.ts";

export type InvoiceType = InvoiceDocument["type"];

/** An invoice in the books. */
export interface TrytonInvoice extends Row, BookedInvoice {
  readonly number: string | null;
  readonly reference: string | null;
  /** Ledger lines that say when it is due: one for each term. None while it is a draft. */
  readonly terms: readonly number[];
}

export const isDraft = ({ state }: Pick<TrytonInvoice, "state">): boolean =>
  state === "draft" || state === "validated";

/** Leaves credit notes out: they have the comment of what they credit. */
export const NO_CREDIT_NOTE: Domain = [
  "OR",
  ["lines.origin", "=", null],
  ["lines.origin", "not like", "account.invoice.line,%"],
];

const PAYMENT = {
  ...row.amounts("debit credit"),
  move: row.one({
    ...row.textsOrNone("description origin"),
    journal: row.one(row.texts("type")),
  }),
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
export type ToldInvoice = TrytonInvoice & row.RowOf<typeof TOLD>;

/** Those that the domain names, by their ids. @throws TrytonError */
export async function readInvoices(
  books: Books,
  domain: Domain,
  search: Search = {},
): Promise<TrytonInvoice[]> {
  const { user } = await books.tryton.session();
  const rows = await eachOf(books, domain, INVOICE, search);
  return rows.map(({ row, untold }) => ({ ...entryIn(row, user), ...untold }));
}

type Told<Of extends row.Fields> = {
  readonly row: row.RowOf<Of>;
  readonly untold?: { untold: Error };
};

const isRefused = (error: unknown): error is TrytonError =>
  error instanceof TrytonError && error.kind === "refused";

/**
 * Rows of a domain. What is open is computed when it is asked for, and Tryton refuses all that are asked for with one of
 * which it cannot compute it (its currency has no rate). That one is found by halves and read without; zero stands for what
 * is open. @throws TrytonError
 */
async function eachOf<Of extends typeof INVOICE>(
  books: Books,
  domain: Domain,
  fields: Of,
  search: Search,
): Promise<Told<Of>[]> {
  try {
    const rows = await rowsOf(books, MODEL, domain, fields, search);
    return rows.map((row) => ({ row }));
  } catch (error) {
    if (!isRefused(error)) throw error;
    const ids = await idsOf(books, MODEL, domain, search);
    const [id] = ids;
    if (id === undefined) throw error;
    const { signal } = search;
    const some = (half: readonly number[]): Promise<Told<Of>[]> =>
      half.length === 0
        ? Promise.resolve([])
        : eachOf(books, where({ "id in": half }), fields, { signal });
    if (ids.length > 1) {
      const middle = ids.length >> 1;
      return [...(await some(ids.slice(0, middle))), ...(await some(ids.slice(middle)))];
    }
    const { amount_to_pay: _, ...rest } = fields as typeof INVOICE;
    const rows = await rowsOf(books, MODEL, where({ "id in": ids }), rest, { signal });
    return rows.map((row) => ({
      row: { ...row, amount_to_pay: Decimal.zero } as unknown as row.RowOf<Of>,
      untold: { untold: error },
    }));
  }
}

const MODEL = "account.invoice";

const WRITTEN = row.many(row.textsOrNone("write_date"));
const isWritten = (part: { readonly write_date: string | null }) => part.write_date !== null;
const TERM = { ...row.textsOrNone("maturity_date"), ...row.idsOrNone("reconciliation") };
const PARTS = { lines: WRITTEN, taxes: WRITTEN, lines_to_pay: row.many(TERM) };
const POSTED = { ...HEAD, ...PARTS, ...row.idLists("payment_lines") };

/**
 * The same; what was compared as a draft and then posted is read without what posting does not change. It (`_post`,
 * `set_number`, `get_move` of Tryton's account_invoice, 6.0 and 8.0) sets number, state, move, and a date and tax
 * identifiers that were empty; it refuses other taxes, and writes no line. What was written or paid since is read in full.
 */
export async function readAgain(
  books: Books,
  domain: Domain,
  compared: readonly TrytonInvoice[],
  search: Search,
): Promise<TrytonInvoice[]> {
  if (compared.length === 0) return readInvoices(books, domain, search);
  const rows = await rowsOf(books, "account.invoice", domain, POSTED, search);
  const { user } = await books.tryton.session();
  const asCompared = (row: row.RowOf<typeof POSTED>): TrytonInvoice | null => {
    const before = compared.find(({ id }) => id === row.id);
    if (before === undefined || row.state !== "posted" || row.total_amount.sign === 0) return null;
    const terms = row.lines_to_pay.map((term) => ({ ...term, reconciliation: null }));
    const isPaid = row.lines_to_pay.some((term) => term.reconciliation !== null);
    if (isPaid || row.payment_lines.length > 0 || !isUnwritten(row, before, isWritten)) return null;
    const open = { amount_to_pay: row.total_amount, lines_to_pay: terms, payment_lines: [] };
    return entryIn({ ...before, ...row, ...open, lines: before.lines, taxes: before.taxes }, user);
  };
  const rest = (ids: readonly number[]) => readInvoices(books, where({ "id in": ids }), search);
  return inPart(rows, asCompared, rest);
}

/** The same with what sources tell besides. @throws TrytonError */
export async function readTold(
  books: Books,
  domain: Domain,
  search: Search,
): Promise<ToldInvoice[]> {
  const { user } = await books.tryton.session();
  const rows = await eachOf(books, domain, TOLD, search);
  return rows.map(({ row, untold }) => ({ ...entryIn(row, user), ...row, ...untold }));
}

function entryIn(row: Row, user: number): TrytonInvoice {
  const made = row.create_uid === user;
  return {
    ...row,
    name: row.number ?? draftName(row.id),
    draftName: draftName(row.id),
    status: rungOf(row),
    made,
    ours: made && (row.write_uid === null || row.write_uid === user),
    platformId: platformIdIn(row.comment),
    total: row.total_amount,
    toPay: row.amount_to_pay,
    facts: factsOf(row),
    terms: row.lines_to_pay.map(({ id }) => id),
    settling: settlingIn(
      row.move,
      row.lines_to_pay,
      row.payment_lines,
      row.type === "out",
      insteadOf,
    ),
    stamp: row.write_date ?? row.create_date,
  };
}

/** Journals of type cash are those that money is booked in; payments and bank statements may use others. */
function insteadOf({ id, origin, journal: { type } }: PayingMove): string | null {
  const model = origin?.split(",")[0] ?? "";
  if (type === "cash" || /^account\.(?:payment|statement)/.test(model)) return null;
  if (model === "account.invoice") return `credit note or other invoice #${id}`;
  return type === "write-off" ? `write-off #${id}` : `journal entry #${id}`;
}
type PayingMove = row.RowOf<typeof PAYMENT>["move"];

/** With a queue in Tryton its state follows a little later than the payment. */
function rungOf(row: Row): TrytonInvoice["status"] {
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

/** Their credit notes that are posted or paid, by the ids of the invoices; in one call. @throws TrytonError */
export async function creditsOf(
  books: Books,
  entries: readonly Pick<TrytonInvoice, "id" | "lines">[],
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
