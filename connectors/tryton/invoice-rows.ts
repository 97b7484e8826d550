/**
 * The one reader of invoices and bills: rows of `account.invoice`, what is read with them, and the entries that these are.
 * Delivery, inspection, holdings and the sources take theirs from it.
 */
import type { Change } from "../../src/core/contract.ts";
import { amountOf, Decimal } from "../../src/core/decimal.ts";
import type { Difference, FactLine, Facts } from "../../src/core/holdings.ts";
import { sameNumber } from "../../src/core/keys.ts";
import type { Fault } from "../../src/core/record.ts";
import { inCents } from "../../src/core/text.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { numberTwice, paidMarkIn, platformIdIn, toldInvoice } from "../../src/ledger/entries.ts";
import { type Desired, type Entry, type PaymentOn, sideOf } from "../../src/ledger/port.ts";

import { type Books, companyIdOf } from "./books.ts";
import * as rpc from "./rows.ts";
import { isOf as isFault, TRYTON } from "./wire.ts";

export type InvoiceType = InvoiceDocument["type"];
const MODEL = "account.invoice";

const PAYMENT = {
  ...rpc.amounts("debit credit"),
  move: rpc.one({
    ...rpc.textsOrNone("description origin"),
    ...rpc.texts("journal.type"),
  }),
};

const LINE = {
  type: rpc.as<string>(),
  ...rpc.textsOrNone("product.code account.code unit.symbol description"),
  ...rpc.amountsOrNone("quantity unit_price amount"),
};

const INVOICE = {
  type: rpc.as<InvoiceType>(),
  state: rpc.as<"draft" | "validated" | "posted" | "paid" | "cancelled">(),
  ...rpc.texts("create_date"),
  ...rpc.textsOrNone("number reference comment description invoice_date payment_term_date"),
  ...rpc.textsOrNone("write_date"),
  stamp: rpc.STAMP,
  ...rpc.ids("create_uid"),
  ...rpc.idsOrNone("write_uid payment_term move"),
  ...rpc.amounts("untaxed_amount tax_amount total_amount"),
  ...rpc.texts("party.code currency.code"),
  ...rpc.textsOrNone("reconciled"),
  ...rpc.amounts("amount_to_pay"),
  lines: rpc.many(LINE),
  taxes: rpc.many({
    ...rpc.textsOrNone("account.code"),
    ...rpc.texts("description"),
    ...rpc.amounts("base amount"),
  }),
  lines_to_pay: rpc.many({
    ...rpc.textsOrNone("maturity_date"),
    reconciliation: rpc.oneOrNone({ lines: rpc.many(PAYMENT) }),
    payments: rpc.many({ ...rpc.texts("state currency.code"), ...rpc.amounts("amount") }),
  }),
  payment_lines: rpc.many({ ...PAYMENT, ...rpc.idsOrNone("reconciliation") }),
};

/** With what sources tell besides: names for people, and the ids that other systems gave a party. */
export const TOLD = {
  ...INVOICE,
  payer: rpc.called("party", rpc.one({ identifiers: rpc.many(rpc.texts("code")) })),
  lines: rpc.many({
    ...LINE,
    name: rpc.called("product", rpc.textsOrNone("product.name").product),
  }),
};

type Row = rpc.RowOf<typeof INVOICE>;

/** An invoice in the books. What is left out was not asked for, or there is none. */
export interface TrytonInvoice extends Row {
  /** The user of the synchronisation made it. */
  readonly made: boolean;
  /** And nobody else has ever written it. */
  readonly ours: boolean;
  /** What Tryton said, where not all of it could be read. */
  readonly untold?: Error;
  /** Its mark, where only the guard knows it. */
  readonly owner?: string | null;
  readonly disputed?: boolean;
  /** Credit notes that count. */
  readonly credits?: readonly Credit[];
  /** What its link calls it, where that is not its own name. */
  readonly called?: string;
  /** What it is read for: what other hands did to it is told to an inspection, and counts in a listing. */
  readonly purpose?: "inspection" | "listing";
  /** Of one that is read with {@link TOLD}: how many that count have its number. */
  readonly namesakes?: number;
}

/** What links call one without a number. */
export const draftName = (id: number): string => `#${id}`;

/** Database ids of those that links call so. */
export const draftsIn = (names: readonly string[]): number[] =>
  names.flatMap((name) => (/^#\d+$/.test(name) ? [Number(name.slice(1))] : []));

export const isDraft = ({ state }: Pick<Row, "state">): boolean =>
  state === "draft" || state === "validated";

/** Leaves out credit notes. */
export const NO_CREDIT_NOTE = rpc.notMadeFrom("account.invoice.line", "lines.origin");

function withMaker<Of extends Row>(row: Of, user: number) {
  const made = row.create_uid === user;
  return { ...row, made, ours: made && (row.write_uid === null || row.write_uid === user) };
}

/**
 * Those that the domain names, by their ids. What is open is computed when it is asked for, and Tryton refuses all that are
 * asked for with one of which it cannot compute it (its currency has no rate). That one is found by halves and read
 * without; zero stands for what is open. @throws LedgerError
 */
export async function readInvoices(
  books: Books,
  domain: rpc.Domain,
  search: rpc.Search = {},
  fields: typeof INVOICE = INVOICE,
): Promise<TrytonInvoice[]> {
  const { user } = await books.tryton.session();
  try {
    const rows = await rpc.rowsOf(books, MODEL, domain, fields, search);
    return rows.map((row) => withMaker(row, user));
  } catch (error) {
    if (!isFault(error, "refused")) throw error;
    const ids = await rpc.idsOf(books, MODEL, domain, search);
    if (ids.length === 0) throw error;
    const { signal } = search;
    const some = (half: readonly number[], its = fields): Promise<TrytonInvoice[]> =>
      readInvoices(books, rpc.where({ "id in": half }), { signal }, its);
    const middle = ids.length >> 1;
    if (middle > 0)
      return [...(await some(ids.slice(0, middle))), ...(await some(ids.slice(middle)))];
    const { amount_to_pay: _, ...rest } = fields;
    const rows = await rpc.rowsOf(books, MODEL, rpc.where({ "id in": ids }), rest, { signal });
    const none = { amount_to_pay: Decimal.zero };
    return rows.map((row) => ({ ...withMaker({ ...row, ...none }, user), untold: error }));
  }
}

/* What rows say in neutral words. */

/**
 * The entry of an invoice. A credit note takes away of what is open, used or not; what it settles is no payment.
 * @param givesNumber we give Tryton's number @param desired what is looked for, where anything is
 */
export function entryOf(
  row: TrytonInvoice,
  givesNumber: boolean,
  desired: readonly Pick<Desired, "number" | "party">[] = [],
): Omit<Entry, "native" | "unfinished"> {
  const { credits = [], number, reference, made, purpose } = row;
  const draft = draftName(row.id);
  const mark = platformIdIn(row.comment) ?? row.owner ?? null;
  const underWay = underWayIn(row);
  const open = Decimal.sum([row.amount_to_pay, underWay, ...credits.map(({ toPay }) => toPay)]);
  const isSought = desired.length > 0;
  const status = statusOf(row);
  const facts = factsOf(row);
  return {
    id: row.called ?? number ?? draft,
    aliases: [draft],
    mark,
    number: isSought && givesNumber ? numberIn(row, desired) : reference,
    party: row.party,
    status: purpose === "listing" && isCreditedInFull(row) ? "cancelled" : status,
    touched: !row.ours,
    made,
    disputed: row.disputed ?? false,
    payments: settlingIn(row).filter(({ id }) => !credits.some(({ settles }) => settles === id)),
    paid: row.reconciled,
    underWay,
    version: row.write_date ?? row.create_date,
    fixed: fixedIn(row),
    ...(purpose === "inspection" ? { besides: besidesOf(row, mark) } : {}),
    ...(row.untold === undefined ? {} : { untold: cannotTell(row.untold) }),
    facts: {
      ...facts,
      // What a person entered has the books' number, and ours as its reference.
      ...(number === null || (isSought && !made) ? {} : { number }),
      ...(status === "draft" ? {} : { money: { ...facts.money, open } }),
    },
  };
}

/** With a queue in Tryton its state follows a little later than the payment. */
function statusOf(row: Row): "draft" | "posted" | "settled" | "cancelled" {
  if (row.state === "cancelled") return row.state;
  if (isDraft(row)) return "draft";
  return row.state === "paid" || row.reconciled !== null ? "settled" : "posted";
}

/**
 * On a posted invoice Tryton changes the due date and nothing else, where it has one term. Of a draft that nobody else
 * has touched we write the head again.
 */
export const fixedIn = (
  entry: Pick<TrytonInvoice, "state" | "made" | "ours" | "lines_to_pay">,
): string[] => {
  const isOpen = entry.made && (isDraft(entry) ? entry.ours : entry.lines_to_pay.length === 1);
  return isOpen ? [] : ["days.due", "reference", "order"];
};

/** What other hands did to it that none of its fields shows. @param mark whose it is, whatever became of its mark */
function besidesOf(row: TrytonInvoice, mark: string | null): Difference[] {
  const { made, total_amount, amount_to_pay, credits = [] } = row;
  const isMarked = platformIdIn(row.comment) !== null;
  const isOpen = amount_to_pay.plus(underWayIn(row)).sign !== 0;
  const isApart = statusOf(row) === "posted" && total_amount.sign !== 0 && !isOpen;
  const apart = "posted: what paid it is no longer reconciled with it";
  return [
    ...(made && mark !== null && !isMarked
      ? [{ field: "mark", expected: mark, held: "none" }]
      : []),
    ...credits.map(({ name, total }) => ({
      field: "credit note",
      expected: "none",
      held: `${name} of ${inCents(total)}`,
    })),
    ...(isApart ? [{ field: "state", expected: "paid", held: apart }] : []),
  ];
}

const isOf =
  (held: string | null) =>
  ({ number }: Pick<Desired, "number">): boolean =>
    held !== null && sameNumber(number, held);

/**
 * Where we give Tryton's number: one that another invoice has is taken, whoever's it is; a reference that somebody typed
 * is the number of that party's only. Null: it has none of those that are wanted.
 */
function numberIn(
  { number, reference, party }: Pick<TrytonInvoice, "number" | "reference" | "party">,
  desired: readonly Pick<Desired, "number" | "party">[],
): string | null {
  if (desired.some(isOf(number))) return number;
  const isTheirs = desired.some((one) => isOf(reference)(one) && one.party === party);
  return isTheirs ? reference : null;
}

/**
 * Payments that were entered on an invoice, and what else it was reconciled with. A payment that was reconciled with
 * something else (the move that took it back) pays nothing here.
 */
function settlingIn({ type, move: own, lines_to_pay, payment_lines }: Row): PaymentOn[] {
  const reconciliations = lines_to_pay.flatMap((term) => term.reconciliation ?? []);
  const known = new Set<number | null>([null, ...reconciliations.map(({ id }) => id)]);
  const others = reconciliations
    .flatMap(({ lines }) => lines)
    .filter(({ move }) => move.id !== own);
  const entered = payment_lines.filter(({ reconciliation }) => known.has(reconciliation));
  const lines = new Map([...entered, ...others].map((line) => [line.id, line]));
  return [...lines.values()].map(({ id, move, credit, debit }) => ({
    id: `#${move.id}`,
    mark: paidMarkIn(move.description),
    amount: type === "out" ? credit.minus(debit) : debit.minus(credit),
    instead: insteadOf(move),
    isPending: others.every((other) => other.id !== id),
  }));
}

/**
 * Payments that people prepared or sent to the bank, which has not confirmed them: nothing is booked of these yet, and Tryton
 * takes them off what is to pay.
 */
const underWayIn = ({ lines_to_pay, currency }: Row): Decimal =>
  amountOf(
    lines_to_pay
      .filter(({ reconciliation }) => reconciliation === null)
      .flatMap(({ payments }) => payments)
      .filter((one) => one.currency === currency && !CONFIRMED.includes(one.state)),
  );
const CONFIRMED: readonly string[] = ["succeeded", "failed"];

/** Journals of type cash are those that money is booked in; payments and bank statements may use others. */
function insteadOf({ id, origin, journal: type }: PayingMove): string | null {
  const model = origin?.split(",")[0] ?? "";
  if (type === "cash" || /^account\.(?:payment|statement)/.test(model)) return null;
  if (model === "account.invoice") return `credit note or other invoice #${id}`;
  return type === "write-off" ? `write-off #${id}` : `journal entry #${id}`;
}
type PayingMove = rpc.RowOf<typeof PAYMENT>["move"];

const factsOf = (row: Row): Facts => ({
  days: { date: row.invoice_date, ...dueOf(row) },
  money: { untaxed: row.untaxed_amount, tax: row.tax_amount, total: row.total_amount },
  words: {
    // What the platform calls a purchase may stand here as a sale.
    side: sideOf(row),
    reference: row.reference,
    currency: row.currency,
    order: row.description,
  },
  lines: amountLines(row.lines).map(lineOf),
  taxes: row.taxes.map(({ account, description: text, base, amount }) => ({
    code: account ?? "",
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
  const due = dueDaysOf(row).at(-1);
  if (due !== undefined) return { due };
  return row.payment_term === null ? { due: row.payment_term_date } : {};
}

/** The days on which parts of it fall due. */
const dueDaysOf = ({ lines_to_pay }: Row): string[] =>
  [...new Set(lines_to_pay.flatMap((term) => term.maturity_date ?? []))].toSorted();

const lineOf = (line: Row["lines"][number]): FactLine => ({
  product: line.product,
  account: line.account,
  quantity: line.quantity,
  unit: line.unit,
  unitPrice: line.unit_price,
  amount: line.amount ?? Decimal.zero,
  text: line.description,
});

/** States of customer invoices that sources tell: a draft may still change, without a stamp. */
export const TOLD_STATES = ["posted", "paid", "cancelled"];
export const LIVE_STATES = ["posted", "paid"];

/**
 * What a source tells of a customer invoice that has its number; null: nothing. Tryton refuses to change the number of a
 * posted invoice: it is what links call it.
 */
export function changeOf(row: TrytonInvoice): Change | null {
  const { number, state, namesakes, called = number, reconciled } = row;
  if (namesakes === undefined || number === null || called !== number) return null;
  // One that was cancelled and booked anew under its number tells nothing of the new one.
  if (!TOLD_STATES.includes(state) || (!LIVE_STATES.includes(state) && namesakes > 0)) return null;
  // Credit notes are told by what they settle; a state that follows later comes with its own stamp.
  const { credits: _, purpose: __, ...plain } = row;
  const entry = entryOf(state === "posted" ? { ...plain, reconciled: null } : plain, true);
  const { payer, lines } = row as TrytonInvoice & rpc.RowOf<typeof TOLD>;
  const due = dueDaysOf(row);
  const change = toldInvoice(
    { ...entry, facts: { ...entry.facts, party: row.party } },
    {
      partyCompanyId: companyIdOf(payer.identifiers),
      dueDate: due.at(-1) ?? null,
      ...(due.length > 1 ? { dueDates: due.map((day) => ({ due: day })) } : {}),
      paidDate: reconciled,
      productNames: amountLines(lines).map(({ name }) => name),
    },
  );
  if (change === null || row.untold === undefined)
    return change === null || namesakes < 2
      ? change
      : { ...change, fault: numberTwice(TRYTON.name, number) };
  return { ...change, fault: cannotTell(row.untold) };
}

type Credit = ReturnType<typeof creditIn>;

/** Does nothing count of it any more? */
const isCreditedInFull = ({ total_amount, credits = [] }: TrytonInvoice): boolean => {
  const credited = Decimal.sum(credits.map(({ total }) => total)).abs();
  return credits.length > 0 && credited.compare(total_amount.abs()) >= 0;
};

/** Of a document that Tryton cannot tell whole: what it said. */
const cannotTell = ({ message }: Error): Fault => ({
  code: "cannot-be-told",
  message: `the books cannot tell it: ${message}`,
  next: "An accountant corrects in the books what they say (a missing rate of its currency), then it is read again.",
});

/** Their credit notes that are posted or paid, by the ids of the invoices; in one call. @throws LedgerError */
export async function creditsOf(
  books: Books,
  entries: readonly Pick<TrytonInvoice, "id" | "lines">[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<number, readonly Credit[]>> {
  if (entries.length === 0) return new Map();
  const domain = [
    ["origin.invoice", "in", entries.map(({ id }) => id), "account.invoice.line"],
    ...rpc.where({ "invoice.state in": ["posted", "paid"] }),
  ];
  const rows = await rpc.rowsOf(books, "account.invoice.line", domain, CREDITING, { signal });
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
  ...rpc.texts("origin"),
  invoice: rpc.one({
    ...rpc.textsOrNone("number"),
    ...rpc.idsOrNone("move"),
    ...rpc.amounts("total_amount amount_to_pay"),
  }),
};

/** A credit note of an invoice that counts. */
const creditIn = (note: rpc.RowOf<typeof CREDITING>["invoice"]) => ({
  name: note.number ?? `#${note.id}`,
  /** {@link PaymentOn.id} where it settles the invoice. */
  settles: note.move === null ? null : `#${note.move}`,
  /** Negative. */
  total: note.total_amount,
  /** What of it has not been used yet; negative or zero. */
  toPay: note.amount_to_pay,
});
