/**
 * Payments in Tryton, for src/ledger/payments.ts: accounting moves that its pay wizard makes on an invoice, with a line on
 * what customers owe, or on what we owe. The move that cancels another one is no payment; the other one was taken back.
 */
import { Decimal } from "../../src/core/decimal.ts";
import { paymentEntry } from "../../src/ledger/entries.ts";
import { PAGE_RECORDS } from "../../src/ledger/holdings.ts";
import { paymentMark } from "../../src/ledger/notes.ts";
import {
  paymentAdapter as adapterOf,
  type LedgerPayment,
  type Paying,
} from "../../src/ledger/payments.ts";
import type { LedgerAdapter } from "../../src/ledger/port.ts";
import { type Books, notesOf, resourceOf, wizard } from "./books.ts";
import { openGuard } from "./invoices.ts";
import * as row from "./rows.ts";
import { day, either, ids, idsOf, ofCompany, rowOf, rowsOf, scopeDomain, where } from "./rows.ts";
import { busy } from "./wire.ts";

/* Payments of invoices, as people make them in Tryton: by its pay wizard. */

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
  const row = await rowOf(books, "account.invoice", invoice, ids("account party"));
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

export const paymentAdapter = (books: Books): LedgerAdapter<"payment"> =>
  adapterOf({
    currency: books.config.currency,
    guards: { out: openGuard(books, MOVE, "out"), in: openGuard(books, MOVE, "in") },
    notes: notesOf(books),
    resourceOf,
    async called(numbers, ids) {
      const clause = either({ "number in": numbers, "id in": ids });
      return idsOf(books, INVOICE, [...where(await ofCompany(books)), clause]);
    },
    async search({ invoices = [], moves = [], marks = [] }, marked, signal) {
      const clause = either(
        { "move.origin in": invoices.map((id) => resourceOf({ id })), "move in": moves },
        ...marks.map((mark) => ["move.description", "like", `${paymentMark(mark)} %`]),
      );
      const domain = [...(marked ? [["move.description", "!=", null]] : []), clause, OWED];
      const rows = await rowsOf(books, MOVE_LINE, domain, PAYMENT_LINE, { signal });
      const lines = rows.filter(({ origin }) => origin?.startsWith(`${MOVE_LINE},`) !== true);
      return [...Map.groupBy(lines, ({ move }) => move.id)]
        .toSorted(([one], [other]) => one - other)
        .map(([move, of]) => paymentIn(books.config.currency, move, of));
    },
    async invoices(ids, moves, signal) {
      const domain = either({ "id in": ids, "move in": moves, "cancel_move in": moves });
      return rowsOf(books, INVOICE, domain, PAID, { signal });
    },
    async on(numbers, signal) {
      const company = await ofCompany(books, "move.company");
      const domain = where({ ...company, "invoice_payments.number in": numbers });
      const lines = await rowsOf(books, MOVE_LINE, domain, row.ids("move"), { signal });
      return [...new Set(lines.map(({ move }) => move))];
    },
    async page(scope, after, signal) {
      const stamps = ["create_date", "write_date", "lines.write_date"];
      const domain = [
        ...where({ "id >": after, ...(await ofCompany(books)), "state =": "posted" }),
        either({ "lines.account.type.receivable =": true, "lines.account.type.payable =": true }),
        scopeDomain(scope, "date", stamps, UNSETTLED),
      ];
      return idsOf(books, MOVE, domain, { most: PAGE_RECORDS, signal });
    },
    pay: (payment) => pay(books, payment),
    async payOnce(payment, mark) {
      const params = [payment.invoice, mark, await startOf(books, payment)];
      await books.tryton.call("model.account.invoice.fuelbridge_pay", params);
    },
  });

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

function paymentIn(currency: string, move: number, lines: readonly PaymentLine[]): LedgerPayment {
  const [{ move: head, party, account }] = lines as [PaymentLine];
  const credit = Decimal.sum(lines.map((line) => line.credit.minus(line.debit)));
  const isSale = account.type.receivable;
  const others = lines.flatMap(({ reconciliation }) => reconciliation?.lines ?? []);
  const ids = new Set(lines.map(({ id }) => `${MOVE_LINE},${id}`));
  const stamps = [head, ...lines].map((one) => one.write_date ?? one.create_date ?? "");
  return {
    move,
    invoices: lines.flatMap((line) => line.invoice_payments),
    settles: others.map((line) => line.move).filter((other) => other !== move),
    entry: paymentEntry({
      name: `#${move}`,
      description: head.description ?? "",
      party: party?.code ?? null,
      date: head.date,
      amount: isSale ? credit : credit.negated(),
      side: isSale ? "sale" : "purchase",
      currency,
      document: null,
      takenBack: others.some(({ origin }) => origin !== null && ids.has(origin)),
      version: stamps.toSorted().at(-1) ?? null,
      native: null,
    }),
  };
}
