/** Payments of invoices, as people make them in Tryton: by its pay wizard. */
import type { Decimal } from "../../src/core/decimal.ts";
import type { Books } from "./books.ts";
import { busy } from "./errors.ts";
import { rowOf } from "./search.ts";
import { day } from "./values.ts";
import { wizard } from "./wizard.ts";

export interface ToPay {
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
export async function pay(books: Books, payment: ToPay): Promise<void> {
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
  { invoice, amount, date, description }: ToPay,
): Promise<object> {
  const { tryton, config, lookup } = books;
  const row = await rowOf<{ account: number; party: number }>(
    books,
    "account.invoice",
    invoice,
    "account party",
  );
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
