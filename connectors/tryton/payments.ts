/**
 * Payments in Tryton: accounting moves that its pay wizard makes on an invoice, with a line on what customers owe, or on what
 * we owe. The move that cancels another one is no payment; the other one was taken back. One that comes after its invoice
 * was settled as one is a note on it: taking that apart would change posted books (ADR 0010).
 */
import { Decimal } from "../../src/core/decimal.ts";
import type { Facts } from "../../src/core/holdings.ts";
import type { PaymentDocument } from "../../src/ledger/documents.ts";
import {
  coveredAmong,
  coveringBy,
  paidBy,
  paymentIn,
  payingMark,
  paymentMark,
} from "../../src/ledger/entries.ts";
import { isSettlement } from "../../src/ledger/plan.ts";
import { type Call, type Desired, type Entry, PAYMENTS, sideOf } from "../../src/ledger/port.ts";
import type { Read, Records, Table } from "../../src/ledger/table.ts";
import { type Books, notesOf, openGuard, resourceOf, wizard } from "./books.ts";
import { draftName, draftsIn, type TrytonInvoice } from "./invoice-rows.ts";
import * as rpc from "./rows.ts";
import { busy } from "./wire.ts";

const INVOICE = "account.invoice";
const MOVE = "account.move";
const MOVE_LINE = "account.move.line";

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
 * @param context of the calls @throws LedgerError (`busy` when the invoice has got another payment meanwhile), Refused
 */
export async function pay(books: Books, payment: Paying, context: rpc.Context = {}): Promise<void> {
  const { invoice, how } = payment;
  const start = await startOf(books, payment);
  await wizard(books.tryton, PAY, [INVOICE, invoice, context], async (execute) => {
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

const PAYEES = {
  ...rpc.ids("account party"),
  lines_to_pay: rpc.many(rpc.idsOrNone("party reconciliation")),
};

/** What people enter in the wizard. @throws LedgerError, Refused */
async function startOf(
  books: Books,
  { invoice, amount, date, description }: Paying,
): Promise<object> {
  const { tryton, config, lookup } = books;
  const row = await rpc.rowOf(books, INVOICE, invoice, PAYEES);
  // Whom it is owed to, or by: an accountant may have named another payee before it was posted.
  const owed = row.lines_to_pay.filter(({ reconciliation }) => reconciliation === null);
  return {
    ...(await tryton.release()).payForm(owed[0]?.party ?? row.party),
    company: (await tryton.session()).company,
    currency: await lookup.currency(config.currency),
    invoice_account: row.account,
    amount,
    payment_method: await lookup.paymentMethod(config.paymentMethod),
    date: rpc.day(date),
    description,
  };
}

/** A payment as links and the comparison have it. */
type Payment = Read<null> & { readonly facts: Facts };
type DesiredPayment = Desired<"payment">;

export const paymentTable = (books: Books): Table<"payment", Facts, Payment> => ({
  ...PAYMENTS,
  records: recordsOf(books),
  write: ({ type, invoice, amount, date, description }: PaymentDocument) => ({
    days: { date },
    money: { amount },
    words: {
      side: sideOf({ type }),
      document: invoice,
      reference: description.trim(),
      notes: null,
    },
  }),
  read: (row) => row,
  covering: coveringBy(
    () => notesOf(books),
    (invoice) => resourceOf(rowOf(invoice)),
  ),
});

const rowOf = (invoice: Entry | undefined): TrytonInvoice =>
  paidBy(invoice).native as TrytonInvoice;

/** `#12 payment:5f0c…` */
const movesIn = (ids: readonly string[]): number[] =>
  ids.flatMap((id) => /^#(\d+)/.exec(id)?.[1] ?? []).map(Number);

const DESCRIBED = ["move.description", "!=", null] as const;
const OWED = rpc.either({ "account.type.receivable =": true, "account.type.payable =": true });
const OWED_IN = rpc.either({
  "lines.account.type.receivable =": true,
  "lines.account.type.payable =": true,
});

/** What is open is not settled with anything: money on account. */
const ON_ACCOUNT = { "reconciliation =": null, "account.reconcile =": true } as const;
const UNSETTLED = [["lines", "where", rpc.where(ON_ACCOUNT)]];

const STAMPED = rpc.textsOrNone("create_date write_date");
const PAYMENT_LINE = {
  ...STAMPED,
  ...rpc.textsOrNone("origin party.code"),
  ...rpc.amounts("debit credit"),
  ...rpc.idLists("invoice_payments"),
  move: rpc.one({ ...STAMPED, ...rpc.textsOrNone("description"), ...rpc.texts("date") }),
  account: rpc.one({ type: rpc.one(rpc.flags("receivable")) }),
  reconciliation: rpc.oneOrNone({
    lines: rpc.many({ ...rpc.ids("move"), ...rpc.textsOrNone("origin") }),
  }),
};
type PaymentLine = rpc.RowOf<typeof PAYMENT_LINE>;

const PAID = { ...rpc.textsOrNone("number"), ...rpc.idsOrNone("move cancel_move") };

/** Database ids of the invoices that these pay. */
async function invoicesOf(books: Books, desired: readonly DesiredPayment[]): Promise<number[]> {
  const known = desired.flatMap(({ on }) => (on === undefined ? [] : rowOf(on).id));
  const names = desired.flatMap(({ document, on }) => (on ? [] : document.invoice));
  if (names.length === 0) return known;
  const clause = rpc.either({ "number in": names, "id in": draftsIn(names) });
  return [...known, ...(await rpc.idsOf(books, INVOICE, await rpc.ownOf(books, [clause])))];
}

function recordsOf(books: Books): Records<"payment", Facts, Payment> {
  const guard = openGuard(books, MOVE);

  async function found(domain: rpc.Domain, signal?: AbortSignal) {
    // Two companies of one database may both be on the platform: the payment of one is a payment of the other.
    const own = rpc.where(await rpc.ofCompany(books, "move.company"));
    const all = [...own, ...domain, OWED];
    const rows = await rpc.rowsOf(books, MOVE_LINE, all, PAYMENT_LINE, { signal });
    const lines = rows.filter(({ origin }) => origin?.startsWith(`${MOVE_LINE},`) !== true);
    return [...Map.groupBy(lines, ({ move }) => move.id)]
      .toSorted(([one], [other]) => one - other)
      .map(([move, of]) => payingMove(move, of));
  }

  /** Of these those that are payments, with the invoices that they pay. @param called names that links have of these */
  async function withInvoices(
    all: Awaited<ReturnType<typeof found>>,
    called: ReadonlySet<string> = new Set(),
    signal?: AbortSignal,
  ): Promise<Payment[]> {
    if (all.length === 0) return [];
    const paid = all.flatMap(({ invoices }) => invoices);
    const moves = all.flatMap(({ move, settles }) => [move, ...settles]);
    const domain = rpc.either({ "id in": paid, "move in": moves, "cancel_move in": moves });
    const invoices = await rpc.rowsOf(books, INVOICE, domain, PAID, { signal });
    // The moves that invoices made themselves are no payments.
    const own = new Set(invoices.flatMap(({ move, cancel_move }) => [move, cancel_move]));
    return all
      .filter(({ move }) => !own.has(move))
      .map(({ payment, invoices: ids, settles }) => {
        const names = invoices
          .filter(({ id, move }) => ids.includes(id) || (move !== null && settles.includes(move)))
          // Links of an invoice that was a draft when it was delivered have its id.
          .map(({ id, number }) => (called.has(draftName(id)) ? null : number) ?? draftName(id));
        const isNone = payment.status === "cancelled" || names.length === 0;
        const words = { ...payment.facts.words, document: isNone ? null : names.join(" ") };
        const several = !isNone && names.length > 1 ? { pays: names } : {};
        return { ...payment, ...several, facts: { ...payment.facts, words } };
      });
  }

  const held = async (moves: readonly number[], signal: AbortSignal) =>
    withInvoices(await found(rpc.where({ "move in": moves }), signal), undefined, signal);

  /** On the invoices that their links name, and by the entries that links and the guard name. */
  async function located(desired: readonly DesiredPayment[], { made, purpose }: Call) {
    const isOlder = ({ mark }: DesiredPayment): boolean => !made.has(mark) && !isSettlement(mark);
    const older = purpose === "delivery" ? desired.filter(isOlder) : [];
    // First of all: an entry that is known by now is seen by what looks afterwards.
    const known = await guard.known(older.map(({ mark }) => mark));
    const invoices = await invoicesOf(books, desired);
    const on = invoices.map((id) => resourceOf({ id }));
    const bound = movesIn(desired.flatMap(({ binding }) => binding ?? []));
    // What the platform has moved to another invoice since it was booked is found wherever it stands, also by a store that
    // has lost its link.
    const named = rpc.either(
      { "move.origin in": on, "move in": [...known.values(), ...bound] },
      ...older.map(({ mark }) => ["move.description", "like", `${paymentMark(mark)} %`]),
    );
    const all = await found([DESCRIBED, named]);
    const marks = new Set<string | null>(desired.map(({ mark }) => mark));
    const own = all.filter(({ payment }) => marks.has(payment.mark));
    const called = new Set(desired.map(({ document }) => document.invoice));
    const payments = await withInvoices(own, called);
    if (!all.some(({ payment }) => isSettlement(payment.mark ?? ""))) return payments;
    const absent = desired.filter(({ mark }) => payments.every((one) => one.mark !== mark));
    return [...payments, ...(await coveredAmong(notesOf(books), on, absent))];
  }

  /** Settlements have no guard of their own: a second one finds the invoice paid. */
  async function payOne({ document, mark, on }: DesiredPayment): Promise<void> {
    const { amount, date } = document;
    const { id: invoice, amount_to_pay: toPay } = rowOf(on);
    const over = isSettlement(mark) ? 0 : amount.compare(toPay);
    const how = over === 0 ? "all" : over > 0 ? "over" : "part";
    const description = `${payingMark(mark)} ${document.description}`;
    const payment: Paying = { invoice, amount, date, description, how };
    const isGuarded = guard.isErps && !isSettlement(mark);
    // The server module takes it for the move's external id.
    await guard.create(() => pay(books, payment, isGuarded ? { fuelbridge_payment: mark } : {}));
  }

  return {
    async idle({ document: { type }, on }, since, { signal }) {
      if (!on?.party) return [];
      const money = rpc.where({
        ...ON_ACCOUNT,
        "move.state =": "posted",
        "move.date >=": rpc.day(since),
        "party.code =": on.party,
        [type === "out" ? "credit >" : "debit >"]: Decimal.zero,
      });
      return withInvoices(await found(money, signal), undefined, signal);
    },
    async search({ desired, ids: named = [], numbers = [] }, call) {
      if (desired !== undefined) return located(desired, call);
      const moves = movesIn(named);
      if (numbers.length > 0) {
        const domain = rpc.where({ "invoice_payments.number in": numbers });
        const { signal } = call;
        const lines = await rpc.rowsOf(books, MOVE_LINE, domain, rpc.ids("move"), { signal });
        moves.push(...new Set(lines.map(({ move }) => move)));
      }
      return held(moves, call.signal);
    },
    async *list(scope, from, signal) {
      const stamps = ["create_date", "write_date", "lines.write_date"];
      const domain = [
        ...rpc.where({ ...(await rpc.ofCompany(books)), "state =": "posted" }),
        OWED_IN,
        rpc.scopeDomain(scope, "date", UNSETTLED, stamps),
      ];
      const read = (after: rpc.Domain, search: rpc.Search) =>
        rpc.idsOf(books, MOVE, [after, ...domain], search);
      for await (const { rows, position } of rpc.pagesOf(from, signal, read, Number))
        yield { rows: await held(rows, signal), position };
    },
    create: ({ desired }) => payOne(desired).then(() => null),
  };
}

/**
 * A move that may be a payment, with what it pays: invoices, and moves that it settles together with. Links call it by its
 * name and its mark: books that were restored give a name again.
 */
function payingMove(move: number, lines: readonly PaymentLine[]) {
  const [{ move: head, party, account }] = lines as [PaymentLine];
  const isSale = account.type.receivable;
  // The whole, what stays on account too; negative: money that went back.
  const sumOf = (its: readonly PaymentLine[]): Decimal => {
    const credit = Decimal.sum(its.map((line) => line.credit.minus(line.debit)));
    return isSale ? credit : credit.negated();
  };
  const others = lines.flatMap(({ reconciliation }) => reconciliation?.lines ?? []);
  const own = new Set<string | null>(lines.map(({ id }) => `${MOVE_LINE},${id}`));
  const stamps = [head, ...lines].map((one) => one.write_date ?? one.create_date ?? "");
  const { begins, mark, text: reference } = paymentIn(head.description);
  const payment: Payment = {
    id: begins === null ? `#${move}` : `#${move} ${begins}`,
    aliases: [`#${move}`],
    mark,
    status: others.some(({ origin }) => own.has(origin)) ? "cancelled" : "posted",
    version: stamps.toSorted().at(-1) ?? null,
    party,
    idle: sumOf(
      lines.filter(
        ({ reconciliation, invoice_payments: paid }) =>
          reconciliation === null && paid.length === 0,
      ),
    ),
    facts: {
      days: { date: head.date },
      money: { amount: sumOf(lines) },
      words: {
        side: isSale ? "sale" : "purchase",
        document: null,
        reference,
        // What settles an invoice as one has no payment of the platform's: its mark names the invoice.
        notes: mark !== null && isSettlement(mark) ? begins : null,
      },
    },
  };
  const settles = others.map((line) => line.move).filter((other) => other !== move);
  return { move, invoices: lines.flatMap((line) => line.invoice_payments), settles, payment };
}
