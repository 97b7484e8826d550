/** Payments of invoices, as people make them in Tryton: by its pay wizard. */
import type { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import { isOurPayment, markIn } from "./marks.ts";
import { Waiting } from "./outcome.ts";
import { day, exact } from "./values.ts";

export interface ToPay {
  /** The invoice's database id. */
  readonly invoice: number;
  readonly amount: Decimal;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** It begins with the mark that the payment is found again by. */
  readonly description: string;
  /** Less than is to pay. */
  readonly partial: boolean;
}

/** @throws TrytonFault, Refused, Waiting when the invoice has got another payment meanwhile */
export async function pay(books: Books, payment: ToPay): Promise<void> {
  const { invoice, partial } = payment;
  const context = { active_model: "account.invoice", active_id: invoice, active_ids: [invoice] };
  const start = await startOf(books, payment);
  const call = <T>(step: string, ...params: unknown[]): Promise<T> =>
    books.tryton.call<T>(`wizard.account.invoice.pay.${step}`, params, { context });
  const [session] = await call<[number]>("create");
  try {
    // It pays at once what settles the invoice, or one of its terms, and asks about everything else.
    const { view } = await call<{ view?: unknown }>("execute", session, { start }, "choice");
    if (view === undefined) return;
    if (!partial) throw new Waiting(`invoice #${invoice} got another payment meanwhile`, SOON_MS);
    await call("execute", session, { ask: { type: "partial" } }, "pay");
  } finally {
    await call("delete", session).catch(() => {});
  }
}

const SOON_MS = 1_000;

/** What people enter in the wizard. @throws TrytonFault, Refused */
export async function startOf(
  books: Books,
  { invoice, amount, date, description }: ToPay,
): Promise<object> {
  const { tryton, config, lookup } = books;
  return {
    company: (await tryton.session()).company,
    currency: await lookup.currency(config.currency),
    currency_digits: 2,
    invoice_account: await accountOf(books, invoice),
    amount,
    payment_method: await lookup.paymentMethod(config.paymentMethod),
    date: day(date),
    description,
  };
}

/** A payment in the books that the platform told us of. */
export interface Paid {
  /** What its description begins with. */
  readonly mark: string;
  /** Its accounting move. */
  readonly move: number;
  readonly amount: Decimal;
}

/** Those of one invoice, taken back or not. @throws TrytonFault */
export async function paymentsOf(books: Books, invoice: number): Promise<Paid[]> {
  const domain = [
    ["move.origin", "=", `account.invoice,${invoice}`],
    ["account", "=", await accountOf(books, invoice)],
    ["move.description", "!=", null],
  ];
  const fields = ["move", "move.description", "debit", "credit"];
  const method = "model.account.move.line.search_read";
  const rows = await books.tryton.call<PaymentRow[]>(method, [domain, 0, null, null, fields]);
  return rows
    .filter((row) => isOurPayment(row["move."].description))
    .map((row) => ({
      mark: markIn(row["move."].description),
      move: row.move,
      amount: exact(row.debit).minus(exact(row.credit)).abs(),
    }));
}

interface PaymentRow {
  readonly move: number;
  readonly "move.": { readonly description: string };
  readonly debit: unknown;
  readonly credit: unknown;
}

async function accountOf({ tryton }: Books, invoice: number): Promise<number> {
  const [row] = await tryton.call<[{ account: number }]>("model.account.invoice.read", [
    [invoice],
    ["account"],
  ]);
  return row.account;
}
