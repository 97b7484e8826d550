/**
 * The one reader of invoices and bills: rows of `account.invoice` as entries, with what they say in neutral words.
 * Delivery, inspection and holdings compare these facts and read nothing else.
 */
import { Decimal } from "../../src/core/decimal.ts";
import type {
  Entry,
  InvoiceType,
  OpenEntry,
  Progressed,
  Settling,
} from "../../src/books/invoices.ts";
import type { Facts, FactLine, FactTax } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import { platformIdIn } from "./marks.ts";
import { exact } from "./values.ts";

/** What links keep of it: its number, or `#12` while it has none. */
export const idOf = ({ number, id }: Pick<Entry, "number" | "id">): string => number ?? `#${id}`;

/** A draft in links: `#12`. */
const DRAFT = /^#(\d+)$/;
export const draftsIn = (ids: readonly string[]): number[] =>
  ids.flatMap((id) => Number(DRAFT.exec(id)?.[1] ?? []));

/** Leaves credit notes out: they have the comment of what they credit. */
export const NO_CREDIT_NOTE: readonly unknown[] = [
  "OR",
  ["lines.origin", "=", null],
  ["lines.origin", "not like", "account.invoice.line,%"],
];

const HEAD = [
  "type",
  "number",
  "reference",
  "comment",
  "state",
  "party",
  "party.code",
  "untaxed_amount",
  "tax_amount",
  "total_amount",
  "create_uid",
  "write_uid",
];
const CONTENT = [
  ...HEAD,
  "description",
  "currency.code",
  "invoice_date",
  "payment_term",
  "payment_term_date",
  "lines_to_pay.maturity_date",
  "lines.type",
  "lines.product.code",
  "lines.account.code",
  "lines.quantity",
  "lines.unit.symbol",
  "lines.unit_price",
  "lines.amount",
  "lines.description",
  "taxes.account.code",
  "taxes.description",
  "taxes.base",
  "taxes.amount",
];
const PAYMENT = ["debit", "credit", "move.description"];
const fields = {
  head: HEAD,
  content: CONTENT,
  toPay: [...HEAD, "amount_to_pay"],
  progress: [
    ...CONTENT,
    "create_date",
    "write_date",
    "amount_to_pay",
    "reconciled",
    "move",
    "lines_to_pay.reconciliation",
    "payment_lines.reconciliation",
    ...PAYMENT.map((field) => `payment_lines.${field}`),
    ...PAYMENT.map((field) => `lines_to_pay.reconciliation.lines.${field}`),
  ],
} as const;

/** What {@link readRows} reads besides: names for people, and the ids that other systems gave a party. */
const MORE = ["party.identifiers.code", "lines.product.name"];

interface Depths {
  readonly head: Entry;
  readonly content: Entry;
  readonly toPay: OpenEntry;
  readonly progress: Progressed;
}

/** Those that the domain names, in any order unless one is given. @throws TrytonFault */
export async function readInvoices<Depth extends keyof Depths>(
  { tryton }: Books,
  domain: readonly unknown[],
  depth: Depth,
  { most = null, order = null, signal }: ReadOptions = {},
): Promise<Depths[Depth][]> {
  const params = [domain, 0, most, order, fields[depth]];
  const method = "model.account.invoice.search_read";
  const rows = await tryton.call<Row[]>(method, params, signal === undefined ? {} : { signal });
  const { user } = await tryton.session();
  return rows.map((row) => entryIn(row, user) as Depths[Depth]);
}

interface ReadOptions {
  readonly most?: number | null;
  readonly order?: readonly unknown[] | null;
  readonly signal?: AbortSignal;
}

/** These as they are now, in this order; what is gone is left out. @throws TrytonFault */
export async function readByIds<Depth extends keyof Depths>(
  books: Books,
  ids: readonly number[],
  depth: Depth,
): Promise<Depths[Depth][]> {
  if (ids.length === 0) return [];
  const rows = await readInvoices(books, [["id", "in", ids]], depth);
  return ids.flatMap((id) => rows.filter((row) => row.id === id));
}

/** Whole rows, for the sources: everything in them is of one moment. @throws TrytonFault */
export function readRows(
  { tryton }: Books,
  domain: readonly unknown[],
  signal: AbortSignal,
): Promise<WholeRow[]> {
  const params = [domain, 0, null, [["id", "ASC"]], [...fields.progress, ...MORE]];
  return tryton.call<WholeRow[]>("model.account.invoice.search_read", params, { signal });
}

type Number = Decimal | number;

/** Of `account.invoice`, with everything; of those that have their number. */
export type WholeRow = Required<Omit<Row, "number" | "invoice_date" | "party." | "lines.">> & {
  readonly number: string;
  readonly invoice_date: string;
  readonly "party.": Row["party."] & { readonly "identifiers.": readonly { code: string }[] };
  readonly "lines.": readonly WholeLine[];
};
export type WholeLine = LineRow & { readonly "product.": { readonly name: string } | null };

interface Row {
  readonly id: number;
  readonly type: InvoiceType;
  readonly number: string | null;
  readonly reference: string | null;
  readonly comment: string | null;
  readonly state: Entry["state"];
  readonly party: number;
  readonly "party.": { readonly code: string };
  readonly untaxed_amount: Number;
  readonly tax_amount: Number;
  readonly total_amount: Number;
  readonly create_uid: number;
  readonly write_uid: number | null;
  readonly description?: string | null;
  readonly "currency."?: { readonly code: string };
  readonly invoice_date?: string | null;
  readonly payment_term?: number | null;
  readonly payment_term_date?: string | null;
  readonly "lines_to_pay."?: readonly TermRow[];
  readonly "lines."?: readonly LineRow[];
  readonly "taxes."?: readonly TaxRow[];
  readonly amount_to_pay?: Number;
  readonly create_date?: string;
  readonly write_date?: string | null;
  readonly reconciled?: string | null;
  readonly move?: number | null;
  readonly "payment_lines."?: readonly PaymentRow[];
}

interface TermRow {
  readonly id: number;
  readonly maturity_date: string | null;
  readonly "reconciliation."?: {
    readonly id: number;
    readonly "lines.": readonly PaymentRow[];
  } | null;
}

interface PaymentRow {
  readonly id: number;
  readonly debit: Number;
  readonly credit: Number;
  readonly reconciliation?: number | null;
  readonly "move.": { readonly id: number; readonly description: string | null };
}

interface LineRow {
  readonly id: number;
  readonly type: string;
  readonly "product.": { readonly code: string | null } | null;
  readonly "account.": { readonly code: string | null } | null;
  readonly quantity: Number | null;
  readonly "unit.": { readonly symbol: string } | null;
  readonly unit_price: Number | null;
  readonly amount: Number;
  readonly description: string | null;
}

interface TaxRow {
  readonly "account.": { readonly code: string | null };
  readonly description: string;
  readonly base: Number;
  readonly amount: Number;
}

function entryIn(row: Row, user: number): Entry | OpenEntry | Progressed {
  const made = row.create_uid === user;
  const entry: Entry = {
    id: row.id,
    type: row.type,
    number: row.number,
    reference: row.reference,
    state: row.state,
    made,
    ours: made && (row.write_uid === null || row.write_uid === user),
    platformId: platformIdIn(row.comment),
    partyId: row.party,
    total: exact(row.total_amount),
    facts: { ...headFacts(row), ...(row["lines."] === undefined ? {} : contentFacts(row)) },
    terms: (row["lines_to_pay."] ?? []).map(({ id }) => id),
    lineIds: amountLines(row).map(({ id }) => id),
  };
  if (row.amount_to_pay === undefined) return entry;
  const standing: OpenEntry = { ...entry, toPay: exact(row.amount_to_pay) };
  if (row["payment_lines."] === undefined) return standing;
  return {
    ...standing,
    reconciled: row.reconciled ?? null,
    settling: settlingOf(row),
    stamp: row.write_date ?? row.create_date ?? "",
  } satisfies Progressed;
}

const headFacts = (row: Row): Facts => ({
  ...(row.number === null ? {} : { number: row.number }),
  party: row["party."].code,
  money: {
    untaxed: exact(row.untaxed_amount),
    tax: exact(row.tax_amount),
    total: exact(row.total_amount),
  },
  words: { side: row.type === "out" ? "sale" : "purchase", reference: row.reference },
});

function contentFacts(row: Row): Facts {
  const { words } = headFacts(row);
  return {
    days: { date: row.invoice_date ?? null, ...dueOf(row) },
    words: { ...words, currency: row["currency."]?.code ?? null, order: row.description ?? null },
    lines: amountLines(row).map(lineOf),
    taxes: (row["taxes."] ?? []).map(taxOf),
  };
}

/** Titles, comments and subtotals are left out. */
export const amountLines = <Line extends LineRow>({
  "lines.": lines = [],
}: {
  readonly "lines."?: readonly Line[];
}): Line[] => lines.filter(({ type }) => type === "line");

/** The last day on which a part of it falls due. A draft with a payment term does not say yet. */
function dueOf(row: Row): { due?: string | null } {
  const days = (row["lines_to_pay."] ?? []).flatMap((term) => term.maturity_date ?? []);
  if (days.length > 0) return { due: days.toSorted().at(-1) ?? null };
  return row.payment_term === null ? { due: row.payment_term_date ?? null } : {};
}

const lineOf = (line: LineRow): FactLine => ({
  product: line["product."]?.code ?? null,
  account: line["account."]?.code ?? null,
  quantity: line.quantity === null ? null : exact(line.quantity),
  unit: line["unit."]?.symbol ?? null,
  unitPrice: line.unit_price === null ? null : exact(line.unit_price),
  amount: exact(line.amount),
  text: line.description,
});

const taxOf = (tax: TaxRow): FactTax => ({
  code: tax["account."].code ?? "",
  text: tax.description,
  base: exact(tax.base),
  amount: exact(tax.amount),
});

/**
 * Payments that were entered on it, and what else it was reconciled with. A payment that was reconciled with something
 * else (the move that took it back) pays nothing here.
 */
function settlingOf(row: Row): Settling[] {
  const reconciliations = (row["lines_to_pay."] ?? []).flatMap(
    (term) => term["reconciliation."] ?? [],
  );
  const own = new Set(reconciliations.map(({ id }) => id));
  const entered = (row["payment_lines."] ?? []).filter(
    ({ reconciliation = null }) => reconciliation === null || own.has(reconciliation),
  );
  const others = reconciliations
    .flatMap((one) => one["lines."])
    .filter((line) => line["move."].id !== row.move);
  const lines = new Map([...entered, ...others].map((line) => [line.id, line]));
  return [...lines.values()].map((line) => {
    const amount = exact(line.credit).minus(exact(line.debit));
    return {
      move: line["move."].id,
      description: line["move."].description,
      amount: row.type === "out" ? amount : Decimal.zero.minus(amount),
    };
  });
}
