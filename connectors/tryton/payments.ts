/**
 * Payments in Tryton: accounting moves that its pay wizard makes on an invoice, with a line on what customers owe, or on what
 * we owe. The move that cancels another one is no payment; the other one was taken back. One that comes after its invoice
 * was settled as one is a note on it: taking that apart would change posted books (ADR 0010).
 */
import { Decimal } from "../../src/core/decimal.ts";
import type { Facts, Scope } from "../../src/core/holdings.ts";
import type { PaymentDocument } from "../../src/ledger/documents.ts";
import { inPages, PAGE_RECORDS } from "../../src/ledger/holdings.ts";
import {
  coveredAmong,
  coveringBy,
  isOurPayment,
  markIn,
  paidBy,
  paidMarkIn,
  payingMark,
  paymentMark,
} from "../../src/ledger/notes.ts";
import { isSettlement } from "../../src/ledger/plan.ts";
import {
  type Call,
  type Desired,
  type Entry,
  LedgerError,
  PAYMENTS,
} from "../../src/ledger/port.ts";
import type { Records, Table } from "../../src/ledger/table.ts";
import { type Books, notesOf, resourceOf, wizard } from "./books.ts";
import { noGuard, openGuard } from "./guard.ts";
import { draftName, draftsIn, type TrytonInvoice } from "./invoice-rows.ts";
import * as row from "./rows.ts";
import {
  day,
  type Domain,
  either,
  ids,
  idsOf,
  ofCompany,
  rowOf,
  rowsOf,
  scopeDomain,
  where,
} from "./rows.ts";
import { busy } from "./wire.ts";

/* Payments of invoices, as people make them in Tryton: by its pay wizard. */

/** A payment as it is made. */
interface Paying {
  /** The invoice's database id. */
  readonly invoice: number;
  readonly amount: Decimal;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** It begins with the mark that the payment is found again by. */
  readonly description: string;
  /** Of what is to pay: `over` settles it, and the rest stays on the party's account. */
  readonly how: "all" | "part" | "over";
}

/**
 * One accounting move, made and posted in one call.
 * @throws TrytonError (`busy` when the invoice has got another payment meanwhile), Refused
 */
export async function pay(books: Books, payment: Paying): Promise<void> {
  const { invoice, how } = payment;
  const start = await startOf(books, payment);
  await wizard(books.tryton, PAY, ["account.invoice", invoice], async (execute) => {
    // It pays at once what settles the invoice, or one of its terms, and asks about everything else.
    const { view } = await execute<{ view?: Asked }>({ start }, "choice");
    if (view === undefined) return;
    if (how === "all") throw busy(`invoice #${invoice} got another payment meanwhile`, SOON_MS);
    const ask =
      how === "part"
        ? { type: "partial" }
        : { type: "overpayment", lines: view.defaults.lines_to_pay, writeoff: null };
    await execute({ ask }, "pay");
  });
}

const PAY = "account.invoice.pay";

/** What it asks: its form is filled in with the lines that are still to pay. */
interface Asked {
  readonly defaults: { readonly lines_to_pay: readonly number[] };
}

const SOON_MS = 1_000;

/** What people enter in the wizard. @throws TrytonError, Refused */
async function startOf(
  books: Books,
  { invoice, amount, date, description }: Paying,
): Promise<object> {
  const { tryton, config, lookup } = books;
  const row = await rowOf(books, INVOICE, invoice, ids("account party"));
  return {
    ...(await tryton.release()).payForm(row.party),
    company: (await tryton.session()).company,
    currency: await lookup.currency(config.currency),
    invoice_account: row.account,
    amount,
    payment_method: await lookup.paymentMethod(config.paymentMethod),
    date: day(date),
    description,
  };
}

const INVOICE = "account.invoice";
const MOVE = "account.move";
const MOVE_LINE = "account.move.line";

/** A payment as links and the comparison have it. */
interface Payment {
  readonly facts: Facts;
  readonly entry: Pick<Entry, "id" | "mark" | "status"> & Partial<Entry>;
}
type Kept = Pick<Payment, "facts">;
type DesiredPayment = Desired<"payment">;

export const paymentTable = (books: Books): Table<"payment", Kept, Payment> => ({
  ...PAYMENTS,
  records: recordsOf(books),
  write: ({ type, invoice, amount, date, description }: PaymentDocument) => ({
    facts: {
      days: { date },
      money: { amount },
      words: {
        side: type === "out" ? "sale" : "purchase",
        document: invoice,
        reference: description.trim(),
        notes: null,
      },
    },
  }),
  facts: ({ facts }) => facts,
  read: ({ entry }) => entry,
  covering: coveringBy(
    () => notesOf(books),
    (invoice) => resourceOf(invoiceOf(invoice)),
  ),
});

const invoiceOf = (on: Entry | undefined): TrytonInvoice => paidBy(on).native as TrytonInvoice;

/** `#12 payment:5f0c…` */
const movesIn = (ids: readonly string[]): number[] =>
  ids.flatMap((id) => /^#(\d+)/.exec(id)?.[1] ?? []).map(Number);

/** What is looked for: everything that one of these names. Left out: none. */
interface Names {
  /** Invoices that they were booked on. */
  readonly invoices?: readonly number[];
  readonly moves?: readonly number[];
  /** Marks that their descriptions begin with. */
  readonly marks?: readonly string[];
}

/** A move that may be a payment, with what it pays: invoices, and moves that it settles together with. */
interface Found extends Payment {
  readonly move: number;
  readonly invoices: readonly number[];
  readonly settles: readonly number[];
}

function recordsOf(books: Books): Records<"payment", Kept, Payment> {
  const guards = { out: openGuard(books, MOVE, "out"), in: openGuard(books, MOVE, "in") };

  /** @param marked only what has a description */
  async function found(
    { invoices = [], moves = [], marks = [] }: Names,
    marked: boolean,
    signal?: AbortSignal,
  ): Promise<Found[]> {
    const clause = either(
      { "move.origin in": invoices.map((id) => resourceOf({ id })), "move in": moves },
      ...marks.map((mark) => ["move.description", "like", `${paymentMark(mark)} %`]),
    );
    const domain = [...(marked ? [["move.description", "!=", null]] : []), clause, OWED];
    const rows = await rowsOf(books, MOVE_LINE, domain, PAYMENT_LINE, { signal });
    const lines = rows.filter(({ origin }) => origin?.startsWith(`${MOVE_LINE},`) !== true);
    return [...Map.groupBy(lines, ({ move }) => move.id)]
      .toSorted(([one], [other]) => one - other)
      .map(([move, of]) => paymentIn(move, of));
  }

  /** On the invoices that their links name, and by the entries that links and the guard name. */
  async function located(
    desired: readonly DesiredPayment[],
    { made, purpose }: Call,
  ): Promise<Payment[]> {
    const older =
      purpose === "delivery"
        ? desired.filter(({ mark }) => !made.has(mark) && !isSettlement(mark))
        : [];
    const known: number[] = [];
    // First of all: an entry that is known by now is seen by what looks afterwards.
    for (const { document, mark } of older)
      known.push(...(await guards[document.type].known([mark])).values());
    const invoices = await invoicesOf(books, desired);
    const bound = movesIn(desired.flatMap(({ binding }) => binding ?? []));
    // What the platform has moved to another invoice since it was booked is found wherever it stands, also by a store that
    // has lost its link.
    const names = { invoices, moves: [...known, ...bound], marks: older.map(({ mark }) => mark) };
    const all = await found(names, true);
    const marks = new Set<string | null>(desired.map(({ mark }) => mark));
    const own = all.filter(({ entry }) => marks.has(entry.mark));
    const called = new Set(desired.map(({ document }) => document.invoice));
    const payments = await withInvoices(books, own, called);
    const absent = desired.filter(({ mark }) => !payments.some(({ entry }) => entry.mark === mark));
    if (!all.some(({ entry }) => isSettlement(entry.mark ?? ""))) return payments;
    const on = invoices.map((id) => resourceOf({ id }));
    const covered = await coveredAmong(notesOf(books), on, absent);
    return [...payments, ...covered.map((entry) => ({ facts: entry.facts, entry }))];
  }

  /** Settlements have no guard of their own: a second one finds the invoice paid. */
  async function payOne({ document, mark, on }: DesiredPayment): Promise<void> {
    const { amount, date, description, type } = document;
    const { id: invoice, amount_to_pay: toPay } = invoiceOf(on);
    const over = isSettlement(mark) ? 0 : amount.compare(toPay);
    const payment: Paying = {
      invoice,
      amount,
      date,
      description: `${payingMark(mark)} ${description}`,
      how: over === 0 ? "all" : over > 0 ? "over" : "part",
    };
    if (isSettlement(mark)) return pay(books, payment);
    const guard = guards[type];
    await guard.create([mark], async () => {
      if (guard.isErps) {
        // One call pays, or does nothing.
        const params = [invoice, mark, await startOf(books, payment)];
        await books.tryton.call("model.account.invoice.fuelbridge_pay", params);
        return [null];
      }
      await pay(books, payment);
      if (guard === noGuard) return [null];
      // It is paid: without its entry the claim stays as it is, and the next look finds the payment by its mark.
      const its = await found({ invoices: [invoice] }, true).catch((error: unknown) => {
        if (error instanceof LedgerError) return [];
        throw error;
      });
      return [its.find(({ entry }) => entry.mark === mark)?.move ?? null];
    });
  }

  const held = async (moves: readonly number[], signal: AbortSignal): Promise<Payment[]> =>
    withInvoices(books, await found({ moves }, false, signal), new Set(), signal);

  return {
    async search({ desired, ids: named = [], numbers = [] }, call) {
      if (desired !== undefined) return located(desired, call);
      const moves = movesIn(named);
      if (numbers.length > 0) moves.push(...(await movesOn(books, numbers, call.signal)));
      return held(moves, call.signal);
    },
    async *list(scope, from, signal) {
      const domain = await listed(books, scope);
      const search = { most: PAGE_RECORDS, signal };
      const read = (after: number) => idsOf(books, MOVE, [["id", ">", after], ...domain], search);
      for await (const { rows, last } of inPages(Number(from ?? 0), Number, read))
        yield { rows: await held(rows, signal), position: String(last) };
    },
    async create(all) {
      for (const { desired } of all) await payOne(desired);
      return all.map(() => null);
    },
  };
}

/** Database ids of the invoices that these pay. */
async function invoicesOf(books: Books, desired: readonly DesiredPayment[]): Promise<number[]> {
  const known = desired.flatMap(({ on }) => (on === undefined ? [] : [invoiceOf(on).id]));
  const names = desired.flatMap(({ document, on }) => (on === undefined ? [document.invoice] : []));
  if (names.length === 0) return known;
  const clause = either({ "number in": names, "id in": draftsIn(names) });
  const domain = [...where(await ofCompany(books)), clause];
  return [...known, ...(await idsOf(books, INVOICE, domain))];
}

/** Moves on invoices with one of these numbers. */
async function movesOn(
  books: Books,
  numbers: readonly string[],
  signal: AbortSignal,
): Promise<readonly number[]> {
  const company = await ofCompany(books, "move.company");
  const domain = where({ ...company, "invoice_payments.number in": numbers });
  const lines = await rowsOf(books, MOVE_LINE, domain, row.ids("move"), { signal });
  return [...new Set(lines.map(({ move }) => move))];
}

const listed = async (books: Books, scope: Scope): Promise<Domain> => [
  ...where({ ...(await ofCompany(books)), "state =": "posted" }),
  either({ "lines.account.type.receivable =": true, "lines.account.type.payable =": true }),
  scopeDomain(scope, "date", UNSETTLED, ["create_date", "write_date", "lines.write_date"]),
];

/** Of these those that are payments, with the invoices that they pay. @param called names that links have of these */
async function withInvoices(
  books: Books,
  all: readonly Found[],
  called: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<Payment[]> {
  if (all.length === 0) return [];
  const paid = all.flatMap(({ invoices }) => invoices);
  const moves = all.flatMap(({ move, settles }) => [move, ...settles]);
  const domain = either({ "id in": paid, "move in": moves, "cancel_move in": moves });
  const invoices = await rowsOf(books, INVOICE, domain, PAID, { signal });
  // The moves that invoices made themselves are no payments.
  const own = new Set(invoices.flatMap(({ move, cancelMove }) => [move, cancelMove]));
  // Links of an invoice that was a draft when it was delivered have its id.
  const nameOf = ({ id, number }: (typeof invoices)[number]): string =>
    number === null || called.has(draftName(id)) ? draftName(id) : number;
  return all
    .filter(({ move }) => !own.has(move))
    .map(({ entry, facts, invoices: ids, settles }) => {
      const names = invoices
        .filter(({ id, move }) => ids.includes(id) || (move !== null && settles.includes(move)))
        .map(nameOf);
      const isNone = entry.status === "cancelled" || names.length === 0;
      const words = { ...facts.words, document: isNone ? null : names.join(" ") };
      return { entry, facts: { ...facts, words } };
    });
}

const PAID = {
  ...row.textsOrNone("number"),
  ...row.idsOrNone("move"),
  cancelMove: row.called("cancel_move", row.as<number | null>()),
};

/** What is open is not settled with anything: money on account. */
const UNSETTLED = [
  ["lines", "where", where({ "reconciliation =": null, "account.reconcile =": true })],
];

const OWED = either({ "account.type.receivable =": true, "account.type.payable =": true });

const STAMPED = row.textsOrNone("create_date write_date");
const PAYMENT_LINE = {
  ...STAMPED,
  ...row.textsOrNone("origin"),
  ...row.amounts("debit credit"),
  ...row.idLists("invoice_payments"),
  move: row.one({ ...STAMPED, ...row.textsOrNone("description"), ...row.texts("date") }),
  party: row.oneOrNone(row.texts("code")),
  account: row.one({ type: row.one(row.flags("receivable")) }),
  reconciliation: row.oneOrNone({
    lines: row.many({ ...row.ids("move"), ...row.textsOrNone("origin") }),
  }),
};
type PaymentLine = row.RowOf<typeof PAYMENT_LINE>;

/** Links call it by its name and its mark: books that were restored give a name again. */
function paymentIn(move: number, lines: readonly PaymentLine[]): Found {
  const [{ move: head, party, account }] = lines as [PaymentLine];
  const credit = Decimal.sum(lines.map((line) => line.credit.minus(line.debit)));
  const isSale = account.type.receivable;
  const others = lines.flatMap(({ reconciliation }) => reconciliation?.lines ?? []);
  const own = new Set(lines.map(({ id }) => `${MOVE_LINE},${id}`));
  const isTakenBack = others.some(({ origin }) => origin !== null && own.has(origin));
  const stamps = [head, ...lines].map((one) => one.write_date ?? one.create_date ?? "");
  const name = `#${move}`;
  const description = head.description ?? "";
  const begins = isOurPayment(description) ? markIn(description) : null;
  const mark = paidMarkIn(begins);
  return {
    move,
    invoices: lines.flatMap((line) => line.invoice_payments),
    settles: others.map((line) => line.move).filter((other) => other !== move),
    entry: {
      id: begins === null ? name : `${name} ${begins}`,
      aliases: [name],
      mark,
      status: isTakenBack ? "cancelled" : "posted",
      version: stamps.toSorted().at(-1) ?? null,
      facts: { party: party?.code ?? null },
    },
    facts: {
      days: { date: head.date },
      // The whole, what stays on account too; negative: money that went back.
      money: { amount: isSale ? credit : credit.negated() },
      words: {
        side: isSale ? "sale" : "purchase",
        document: null,
        reference: description.slice(begins?.length ?? 0).trim(),
        // What settles an invoice as one has no payment of the platform's: its mark names the invoice.
        notes: mark !== null && isSettlement(mark) ? begins : null,
      },
    },
  };
}
