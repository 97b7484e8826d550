/** Payments of invoices, as people make them in Tryton: by its pay wizard. */
import type { Paying } from "../../src/ledger/payments.ts";
import type { Books } from "./books.ts";
import { busy } from "./errors.ts";
import { ids } from "./rows.ts";
import { rowOf } from "./search.ts";
import { day } from "./values.ts";
import { wizard } from "./wizard.ts";

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
export async function startOf(
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
