/** What keeps a payment from being made twice, beyond being looked for; the same three as for invoices: see guard.ts. */
import type { Books } from "./books.ts";
import { busyWhen, openClaims } from "./claims.ts";
import type { PaymentDocument } from "../../src/books/documents.ts";
import { paymentMark } from "./marks.ts";
import { pay, startOf, type ToPay } from "./pay.ts";
import { paymentsOf } from "./payment-moves.ts";

type Which = Pick<PaymentDocument, "id" | "type">;

export interface PaymentGuard {
  /** Its accounting move, whatever invoice it paid, as far as this guard keeps it. @throws TrytonFault */
  known(payment: Which): Promise<number | null>;
  /** @throws TrytonFault (`busy` when another send of it may be under way or came first), Refused */
  pay(payment: Which, toPay: ToPay): Promise<void>;
}

export function openPaymentGuard(books: Books): PaymentGuard {
  switch (books.config.guard) {
    case "search":
      return { known: async () => null, pay: (_, toPay) => pay(books, toPay) };
    case "claim":
      return claimGuard(books);
    case "module":
      return moduleGuard(books);
  }
}

/** See claims.ts. */
function claimGuard(books: Books): PaymentGuard {
  const claims = openClaims(books, "account.move");
  // Both sides of one payment may be companies of one database.
  const nameOf = async ({ id, type }: Which): Promise<string> =>
    `${id}.${type}.${(await books.tryton.session()).company}`;
  return {
    async known(payment) {
      const name = await nameOf(payment);
      return (await claims.known([name])).get(name) ?? null;
    },
    async pay(payment, toPay) {
      const taken = await claims.take([await nameOf(payment)]);
      await pay(books, toPay).catch(claims.dropping(taken));
      const all = await paymentsOf(books, toPay.invoice);
      const made = all.find(({ mark }) => mark === paymentMark(payment.id));
      if (made !== undefined) await claims.keep(taken, [made.move]);
    },
  };
}

/** The server module of `server-module/`: one call pays, or does nothing. */
function moduleGuard(books: Books): PaymentGuard {
  const { tryton } = books;
  return {
    async known({ id }) {
      const domain = [
        ["company", "=", (await tryton.session()).company],
        ["external_id", "=", id],
      ];
      const [move] = await tryton.call<number[]>("model.account.move.search", [domain, 0, 1, null]);
      return move ?? null;
    },
    async pay({ id }, toPay) {
      const params = [toPay.invoice, id, await startOf(books, toPay)];
      await tryton
        .call("model.account.invoice.fuelbridge_pay", params)
        .catch(busyWhen(/FUELBRIDGE-DUPLICATE/));
    },
  };
}
