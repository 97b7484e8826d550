/**
 * The one reader of invoices and bills: rows of `account.invoice` as entries, with what they say in neutral words.
 * Delivery, inspection, holdings and the sources take theirs from it.
 */
import type { Change } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Fault } from "../../src/core/record.ts";
import type { FactLine, Facts } from "../../src/core/holdings.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { platformIdIn } from "../../src/ledger/notes.ts";
import type { Books } from "./books.ts";
import * as row from "./rows.ts";
import { type Domain, idsOf, rowsOf, type Search, where } from "./rows.ts";
import { TrytonError } from "./wire.ts";

export type InvoiceType = InvoiceDocument["type"];

/** An invoice in the books, without credit notes and what else is read with it ({@link Beside}). */
export interface TrytonInvoice extends Row, Beside {
  readonly status: "draft" | "posted" | "settled" | "cancelled";
  /** The user of the synchronisation made it. */
  readonly made: boolean;
  /** And nobody else has ever written it. */
  readonly ours: boolean;
  /** The platform's id that is written in it; null: it did not come from there. */
  readonly mark: string | null;
  /** Ledger lines that say when it is due: one for each term. None while it is a draft. */
  readonly terms: readonly number[];
  /** Without those that were taken back. */
  readonly settling: readonly Settling[];
  /** Its content, without its number, state and what is open. */
  readonly facts: Facts;
  /** What Tryton said, where not all of it could be read. Left out: all was. */
  readonly untold?: Error;
}

/** What is read of an invoice where it is asked for. Left out: it was not, or there is none. */
export interface Beside {
  /** Its mark, where only the guard knows it. */
  readonly owner?: string | null;
  readonly disputed?: boolean;
  /** Credit notes that count. */
  readonly credits?: readonly Credit[];
  /** What its link calls it, where that is not its own name. */
  readonly called?: string;
  readonly change?: Change | null;
  /** For what it is read: what other hands did to it is told to an inspection, and counts in a listing. */
  readonly inspected?: boolean;
  readonly listed?: boolean;
}

/** What links call one without a number. */
export const draftName = (id: number): string => `#${id}`;

/** Database ids of those that links call so. */
export const draftsIn = (names: readonly string[]): number[] =>
  names.flatMap((name) => (/^#\d+$/.test(name) ? [Number(name.slice(1))] : []));

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

const PART = row.many(row.textsOrNone("write_date"));
const TERM = { ...row.textsOrNone("maturity_date"), ...row.idsOrNone("reconciliation") };
const PARTS = { lines: PART, taxes: PART, lines_to_pay: row.many(TERM) };
const POSTED = { ...HEAD, ...PARTS, ...row.idLists("payment_lines") };

/**
 * The same; what was compared as a draft and then posted is read without what posting does not change (ADR 0009). It
 * (`_post`, `set_number`, `get_move` of Tryton's account_invoice, 6.0 and 8.0) sets number, state, move, and a date and tax
 * identifiers that were empty; it refuses other taxes, and writes no line. What was written or paid since is read in full.
 */
export async function readAgain(
  books: Books,
  domain: Domain,
  compared: readonly TrytonInvoice[],
  search: Search,
): Promise<TrytonInvoice[]> {
  if (compared.length === 0) return readInvoices(books, domain, search);
  const rows = await rowsOf(books, MODEL, domain, POSTED, search);
  const { user } = await books.tryton.session();
  const known = rows.flatMap((row) => {
    const before = compared.find(({ id }) => id === row.id);
    if (before === undefined || row.state !== "posted" || row.total_amount.sign === 0) return [];
    const terms = row.lines_to_pay.map((term) => ({ ...term, reconciliation: null }));
    const isPaid = row.lines_to_pay.some((term) => term.reconciliation !== null);
    if (isPaid || row.payment_lines.length > 0 || !isUnwritten(row, before)) return [];
    const open = { amount_to_pay: row.total_amount, lines_to_pay: terms, payment_lines: [] };
    return entryIn({ ...before, ...row, ...open, lines: before.lines, taxes: before.taxes }, user);
  });
  const left = rows.map(({ id }) => id).filter((id) => known.every((one) => one.id !== id));
  const read = left.length === 0 ? [] : await readInvoices(books, where({ "id in": left }), search);
  return [...known, ...read].toSorted((one, other) => one.id - other.id);
}

/** Are the lines and taxes those of `before`, and has nobody written one since it was made? */
const isUnwritten = (now: row.RowOf<typeof POSTED>, before: TrytonInvoice): boolean =>
  (["lines", "taxes"] as const).every(
    (list) =>
      now[list].length === before[list].length &&
      now[list].every(
        ({ id, write_date }, at) => write_date === null && id === before[list][at]?.id,
      ),
  );

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
    status: statusOf(row),
    made,
    ours: made && (row.write_uid === null || row.write_uid === user),
    mark: platformIdIn(row.comment),
    facts: factsOf(row),
    terms: row.lines_to_pay.map(({ id }) => id),
    settling: settlingIn(row),
  };
}

/** Something that pays an invoice, or counts as paying it. */
interface Settling {
  /** What people call it there: `#12`. */
  readonly name: string;
  /** Of the payment; it begins with a mark where it came from the platform. */
  readonly description: string | null;
  /** Positive when it lowers what is open. */
  readonly amount: Decimal;
  /** The two are settled with each other; else it waits for that. */
  readonly isReconciled: boolean;
  /** What it is where it is no money, as people call it. */
  readonly instead: string | null;
}

/**
 * Payments that were entered on an invoice, and what else it was reconciled with. A payment that was reconciled with
 * something else (the move that took it back) pays nothing here.
 */
function settlingIn({ type, move: own, lines_to_pay, payment_lines }: Row): Settling[] {
  const reconciliations = lines_to_pay.flatMap((term) => term.reconciliation ?? []);
  const known = new Set<number | null>([null, ...reconciliations.map(({ id }) => id)]);
  const others = reconciliations
    .flatMap(({ lines }) => lines)
    .filter(({ move }) => move.id !== own);
  const entered = payment_lines.filter(({ reconciliation }) => known.has(reconciliation));
  const lines = new Map([...entered, ...others].map((line) => [line.id, line]));
  return [...lines.values()].map(({ id, move, credit, debit }) => ({
    name: `#${move.id}`,
    description: move.description,
    amount: type === "out" ? credit.minus(debit) : debit.minus(credit),
    isReconciled: others.some((other) => other.id === id),
    instead: insteadOf(move),
  }));
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
function statusOf(row: Row): TrytonInvoice["status"] {
  if (row.state === "cancelled") return row.state;
  if (isDraft(row)) return "draft";
  return row.state === "paid" || row.reconciled !== null ? "settled" : "posted";
}

const factsOf = (row: Row): Facts => ({
  days: { date: row.invoice_date, ...dueOf(row) },
  money: { untaxed: row.untaxed_amount, tax: row.tax_amount, total: row.total_amount },
  words: {
    // What the platform calls a purchase may stand here as a sale.
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

/** A credit note of an invoice that counts. */
export interface Credit {
  readonly name: string;
  /** {@link Settling.name} where it settles the invoice. */
  readonly settles: string | null;
  /** Negative. */
  readonly total: Decimal;
  /** What of it has not been used yet; negative or zero. */
  readonly toPay: Decimal;
}

/** Does nothing count of it any more? */
export const isCreditedInFull = ({ total_amount, credits = [] }: TrytonInvoice): boolean => {
  const credited = Decimal.sum(credits.map(({ total }) => total)).abs();
  return credits.length > 0 && credited.compare(total_amount.abs()) >= 0;
};

/** Of a document that Tryton cannot tell whole: what it said. */
export const cannotTell = ({ message }: Error): Fault => ({
  code: "cannot-be-told",
  message: `the books cannot tell it: ${message}`,
  next: "An accountant corrects in the books what they say (a missing rate of its currency), then it is read again.",
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
