/**
 * The one reader of invoices and bills: rows of `account.invoice` as entries, with what they say in neutral words.
 * Delivery, inspection, holdings and the sources take theirs from it.
 */
import type { InvoiceDocument } from "../../src/books/documents.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import type { Facts, FactLine, FactTax } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import { platformIdIn } from "../../src/books/marks.ts";
import { type Domain, rowsOf, type Search } from "./search.ts";
import { exact } from "./values.ts";

export type InvoiceType = InvoiceDocument["type"];

/** An invoice in the books. */
export interface Entry extends Row {
  /** The user of the synchronisation made it. */
  readonly made: boolean;
  /** And nobody else has ever written it. */
  readonly ours: boolean;
  /** What is written in it; null: it did not come from the platform. */
  readonly platformId: string | null;
  readonly total: Decimal;
  /** Zero unless it is posted. */
  readonly toPay: Decimal;
  /** Its content, without state and what is open. */
  readonly facts: Facts;
  /** Ledger lines that say when it is due: one for each term. None while it is a draft. */
  readonly terms: readonly number[];
  /** Its lines with an amount. */
  readonly lineIds: readonly number[];
  /** Without those that were taken back. */
  readonly settling: readonly Settling[];
  /** Of its last change. */
  readonly stamp: string;
}

/** Something that pays it, or counts as paying it. */
interface Settling {
  readonly move: number;
  /** Of that move; it begins with a mark where it came from the platform. */
  readonly description: string | null;
  /** Positive when it lowers what is open. */
  readonly amount: Decimal;
  /** The two are reconciled; else it waits for that. */
  readonly isReconciled: boolean;
}

export const isDraft = ({ state }: Pick<Entry, "state">): boolean =>
  state === "draft" || state === "validated";

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

const FIELDS = `
  type number reference comment state party.code untaxed_amount tax_amount total_amount
  create_uid write_uid description currency.code invoice_date payment_term payment_term_date
  lines_to_pay.maturity_date
  lines(type product.code account.code quantity unit.symbol unit_price amount description)
  taxes(account.code description base amount)
  create_date write_date amount_to_pay reconciled move lines_to_pay.reconciliation
  payment_lines(reconciliation debit credit move.description)
  lines_to_pay.reconciliation.lines(debit credit move.description)
`;

/** What sources tell besides: names for people, and the ids that other systems gave a party. */
export const MORE = "party.identifiers.code lines.product.name";

/** Those that the domain names, by their ids. @param more fields besides @throws TrytonError */
export async function readInvoices(
  books: Books,
  domain: Domain,
  search: Search = {},
  more = "",
): Promise<Entry[]> {
  const rows = await rowsOf<Row>(books, "account.invoice", domain, `${FIELDS} ${more}`, search);
  const { user } = await books.tryton.session();
  return rows.map((row) => entryIn(row, user));
}

type Number = Decimal | number;

interface Row {
  readonly id: number;
  readonly type: InvoiceType;
  readonly number: string | null;
  /** The platform's number, or the supplier's. */
  readonly reference: string | null;
  readonly comment: string | null;
  readonly state: "draft" | "validated" | "posted" | "paid" | "cancelled";
  readonly "party.": {
    readonly code: string;
    readonly "identifiers."?: readonly { readonly code: string }[];
  };
  readonly untaxed_amount: Number;
  readonly tax_amount: Number;
  readonly total_amount: Number;
  readonly create_uid: number;
  readonly write_uid: number | null;
  readonly description: string | null;
  readonly "currency.": { readonly code: string };
  readonly invoice_date: string | null;
  readonly payment_term: number | null;
  readonly payment_term_date: string | null;
  readonly "lines_to_pay.": readonly TermRow[];
  readonly "lines.": readonly LineRow[];
  readonly "taxes.": readonly TaxRow[];
  readonly amount_to_pay: Number;
  readonly create_date: string;
  readonly write_date: string | null;
  /** The day of the last payment of one that is reconciled in full. */
  readonly reconciled: string | null;
  readonly move: number | null;
  readonly "payment_lines.": readonly PaymentRow[];
}

interface TermRow {
  readonly id: number;
  readonly maturity_date: string | null;
  readonly "reconciliation.": {
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
  readonly "product.": { readonly code: string | null; readonly name?: string } | null;
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

function entryIn(row: Row, user: number): Entry {
  const made = row.create_uid === user;
  return {
    ...row,
    made,
    ours: made && (row.write_uid === null || row.write_uid === user),
    platformId: platformIdIn(row.comment),
    total: exact(row.total_amount),
    toPay: exact(row.amount_to_pay),
    facts: factsOf(row),
    terms: row["lines_to_pay."].map(({ id }) => id),
    lineIds: amountLines(row).map(({ id }) => id),
    settling: settlingOf(row),
    stamp: row.write_date ?? row.create_date,
  };
}

const factsOf = (row: Row): Facts => ({
  ...(row.number === null ? {} : { number: row.number }),
  party: row["party."].code,
  days: { date: row.invoice_date, ...dueOf(row) },
  money: {
    untaxed: exact(row.untaxed_amount),
    tax: exact(row.tax_amount),
    total: exact(row.total_amount),
  },
  words: {
    side: row.type === "out" ? "sale" : "purchase",
    reference: row.reference,
    currency: row["currency."].code,
    order: row.description,
  },
  lines: amountLines(row).map(lineOf),
  taxes: row["taxes."].map(taxOf),
});

/** Titles, comments and subtotals are left out. */
export const amountLines = (row: Pick<Row, "lines.">): LineRow[] =>
  row["lines."].filter(({ type }) => type === "line");

/** The last day on which a part of it falls due. A draft with a payment term does not say yet. */
function dueOf(row: Row): { due?: string | null } {
  const days = row["lines_to_pay."].flatMap((term) => term.maturity_date ?? []);
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
  const reconciliations = row["lines_to_pay."].flatMap((term) => term["reconciliation."] ?? []);
  const own = new Set(reconciliations.map(({ id }) => id));
  const entered = row["payment_lines."].filter(
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
      amount: row.type === "out" ? amount : amount.negated(),
      isReconciled: others.some(({ id }) => id === line.id),
    };
  });
}
