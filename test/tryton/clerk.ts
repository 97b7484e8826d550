/** What people of the office change in Tryton after an invoice was booked: each by Tryton's own means. */
import { Decimal } from "../../src/core/decimal.ts";
import { today } from "./ledger.ts";
import { settle } from "./office.ts";
import { day, payForm, type Rpc } from "./rpc.ts";

interface InvoiceRow {
  readonly id: number;
  readonly company: number;
  readonly account: number;
  readonly party: number;
  readonly lines: readonly number[];
  readonly lines_to_pay: readonly number[];
}

const INVOICE = "account.invoice";

/** `number`: an invoice's own, or the reference of a bill. */
export interface Clerk {
  post(number: string): Promise<void>;
  cancel(number: string): Promise<void>;
  /** With a refund it is cancelled by the credit note; without, the credit note stands beside it, posted. */
  credit(number: string, withRefund: boolean): Promise<void>;
  payPart(number: string, amount: string): Promise<void>;
  payAll(number: string): Promise<void>;
  changeDueDate(number: string, date: string): Promise<void>;
  /** Another one like it, posted, under Tryton's next number. */
  enterAgain(number: string, values: object): Promise<void>;
  /** Of its first line; only a draft can be edited. */
  editAmount(number: string, unitPrice: string): Promise<void>;
  /** Only a draft can be deleted, once it is cancelled. */
  deleteDraft(number: string): Promise<void>;
  renameParty(code: string, name: string): Promise<void>;
}

/**
 * Whatever is entered is of the company's day. The server's own is UTC's, in Chicago's evening the day after, and a
 * number of that day is too late for what we book.
 */
export function clerkAt(tryton: Rpc): Clerk {
  async function invoice(number: string): Promise<InvoiceRow> {
    const fields = ["company", "account", "party", "lines", "lines_to_pay"];
    const domain = ["OR", ["number", "=", number], ["reference", "=", number]];
    const [row] = await tryton.rows<InvoiceRow>(INVOICE, domain, ...fields);
    if (row === undefined) throw new Error(`Tryton has no invoice ${number}`);
    return row;
  }
  const call = async (method: string, number: string, ...params: unknown[]): Promise<void> => {
    await tryton.call(`${INVOICE}.${method}`, [(await invoice(number)).id], ...params);
  };
  return {
    post: (number) => call("post", number),
    cancel: (number) => call("cancel", number),
    async credit(number, with_refund) {
      const start = { with_refund, invoice_date: day(today()) };
      const { id } = await invoice(number);
      await tryton.wizard("account.invoice.credit", "credit", start, [INVOICE, id]);
      if (with_refund) return;
      const drafts = await tryton.rows<{ id: number }>(INVOICE, [["state", "=", "draft"]], "id");
      await tryton.call(
        `${INVOICE}.post`,
        drafts.map((draft) => draft.id),
      );
    },
    async payPart(number, amount) {
      const { id, company, account, party } = await invoice(number);
      const start = {
        company,
        currency: await tryton.one("currency.currency", "code", "USD"),
        ...payForm(party),
        invoice_account: account,
        amount: Decimal.of(amount),
        payment_method: await tryton.one("account.invoice.payment.method", "name", "Bank transfer"),
        date: day(today()),
        description: "check 8",
      };
      const partial = ["pay", { ask: { type: "partial" } }] as const;
      await tryton.wizard("account.invoice.pay", "choice", start, [INVOICE, id], partial);
    },
    payAll: async (number) => settle(tryton, (await invoice(number)).id, today()),
    async changeDueDate(number, due) {
      const { lines_to_pay } = await invoice(number);
      const values = { maturity_date: day(due) };
      await tryton.call("account.move.line.write", lines_to_pay, values);
    },
    async enterAgain(number, values) {
      const copied = {
        comment: null,
        invoice_date: day(today()),
        // Not before the server's day, or Tryton warns of a payment in the past.
        payment_term_date: day(new Date().toISOString().slice(0, 10)),
        ...values,
      };
      const { id } = await invoice(number);
      const [copy] = await tryton.call<[number]>(`${INVOICE}.copy`, [id], copied);
      await tryton.call(`${INVOICE}.post`, [copy]);
    },
    async editAmount(number, unitPrice) {
      const { lines } = await invoice(number);
      const values = { unit_price: Decimal.of(unitPrice) };
      await tryton.call("account.invoice.line.write", lines.slice(0, 1), values);
    },
    async deleteDraft(number) {
      const { id } = await invoice(number);
      await tryton.call(`${INVOICE}.cancel`, [id]);
      await tryton.call(`${INVOICE}.delete`, [id]);
    },
    async renameParty(code, name) {
      const party = await tryton.one("party.party", "code", code);
      await tryton.call("party.party.write", [party], { name });
    },
  };
}
