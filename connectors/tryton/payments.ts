/** Payments into Tryton, each once, on the invoice that its link names. */
import type { Outgoing, Sink } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import type { Answer, Finding } from "../../src/core/outcome.ts";
import type { Books } from "./books.ts";
import { PaymentDocument } from "./documents.ts";
import { inspectionsOf } from "./inspection.ts";
import { policyOf } from "./invoices.ts";
import { markIn, paymentMark, settlementMark } from "./marks.ts";
import { answering, finding } from "./outcome.ts";
import { type Paid, paymentsOf } from "./pay.ts";
import { openPaymentGuard, type PaymentGuard } from "./payment-guard.ts";
import { unavailable } from "./sources/unavailable.ts";
import type { Standing } from "./invoice-facts.ts";
import { linkedAs } from "./standing.ts";

export function paymentSink(books: Books): Sink {
  const guard = openPaymentGuard(books);
  return {
    operation: "payment.book",
    writes: "create",
    itemsMax: 1,
    atOnce: 1,
    policy: policyOf(books),
    freeze: ([item]) => ({
      target: "account.invoice.pay",
      body: stringifyExact(PaymentDocument.parse(item?.document)),
    }),
    send: (request) => answering(() => send(books, guard, documentIn(request))),
    find: (request) => finding(() => find(books, guard, documentIn(request))),
    inspect: (delivered, signal) => inspectionsOf(delivered, (ids) => missing(books, ids, signal)),
  };
}

const documentIn = ({ body }: Outgoing): PaymentDocument => PaymentDocument.parse(parseExact(body));

async function send(books: Books, guard: PaymentGuard, document: PaymentDocument): Promise<Answer> {
  const { id, amount, date, description } = document;
  const invoice = await invoiceOf(books, document);
  const before = await paidOf(books, document, invoice);
  if (before !== null) return doneBy(before, document);
  const elsewhere = await guard.known(document);
  if (elsewhere !== null) throw refused("other-in-tryton", document, notBy(elsewhere));
  if (invoice.state === "draft" || invoice.state === "validated" || invoice.state === "cancelled")
    throw refused("not-posted", document, `is ${invoice.state} in Tryton`);
  const { toPay } = invoice;
  if (amount.sign <= 0 || !amount.round(CENTS).equals(amount))
    throw refused("not-payable", document, `cannot be paid with ${amount.text}`);
  const over = amount.compare(toPay);
  if (over > 0)
    throw refused("more-than-to-pay", document, `has ${toPay.text} to pay, not ${amount.text}`);
  await guard.pay(document, {
    invoice: invoice.id,
    amount,
    date,
    description: `${paymentMark(id)} ${description}`,
    partial: over < 0,
  });
  const after = await paidOf(books, document, invoice);
  if (after === null)
    return { name: "failed", detail: `Tryton took the payment ${id} and does not show it` };
  return doneBy(after, document);
}

async function find(
  books: Books,
  guard: PaymentGuard,
  document: PaymentDocument,
): Promise<Finding> {
  const [invoice, another] = await linkedAs(books, document.type, [document.invoice]);
  if (invoice === undefined || another !== undefined || isAnothers(invoice, document))
    return { found: "none", detail: `${document.invoice} is not one invoice, or another one` };
  const all = await paymentsOf(books, invoice.id);
  const own = all.filter(({ mark }) => mark === paymentMark(document.id));
  const [first] = own;
  const detail = `${document.invoice} has ${own.map(told).join(" and ") || "no such payment"}`;
  if (own.length > 1) return { found: "several", detail };
  if (first !== undefined && !first.amount.equals(document.amount))
    return { found: "different", detail: `${detail} instead of ${document.amount.text}` };
  if (first !== undefined) return { found: "exact", ids: [idOf(first)], detail };
  if (isCovered(document, invoice, all))
    return { found: "exact", ids: [null], detail: covered(document) };
  const elsewhere = await guard.known(document);
  return elsewhere === null
    ? { found: "none", detail }
    : { found: "different", detail: `${document.invoice} ${notBy(elsewhere)}` };
}

/** Its own accounting move; `covered`: it was settled before this payment was told; null: it is still to be made. */
async function paidOf(
  books: Books,
  document: PaymentDocument,
  invoice: Standing,
): Promise<Paid | "covered" | null> {
  const all = await paymentsOf(books, invoice.id);
  const own = all.filter(({ mark }) => mark === paymentMark(document.id));
  const [first] = own;
  if (own.length > 1 || (first !== undefined && !first.amount.equals(document.amount)))
    throw refused("other-in-tryton", document, `has ${own.map(told).join(" and ")}`);
  return first ?? (isCovered(document, invoice, all) ? "covered" : null);
}

/** The platform called the invoice paid before it told of this payment: what was still to pay is paid already. */
function isCovered(
  { amount }: PaymentDocument,
  { platformId, toPay }: Standing,
  all: readonly Paid[],
): boolean {
  if (platformId === null || amount.compare(toPay) <= 0) return false;
  const settled = all.filter(({ mark }) => mark === settlementMark(platformId));
  return amount.compare(Decimal.sum(settled.map((one) => one.amount))) <= 0;
}

const doneBy = (paid: Paid | "covered", document: PaymentDocument): Answer =>
  paid === "covered"
    ? { name: "done", detail: covered(document), ids: [null] }
    : { name: "done", detail: `${document.invoice} has ${told(paid)}`, ids: [idOf(paid)] };

const covered = ({ invoice, amount }: PaymentDocument): string =>
  `${invoice} was settled as paid before: ${amount.text} is part of that`;

/**
 * `#12 payment:5f0c…`. Numbers of moves begin anew each year; their database ids only in books that were restored, so
 * the mark says whose it is.
 */
const idOf = ({ move, mark }: Paid): string => `#${move} ${mark}`;
const told = ({ move, amount }: Paid): string => `the payment #${move} of ${amount.text}`;
const notBy = (move: number): string =>
  `was not paid by it: it is the payment #${move} of another invoice`;

async function invoiceOf(books: Books, document: PaymentDocument): Promise<Standing> {
  const [invoice, another] = await linkedAs(books, document.type, [document.invoice]);
  if (invoice === undefined) throw refused("no-such-invoice", document, "is not in Tryton");
  if (another !== undefined) throw refused("twice-in-tryton", document, "is in Tryton twice");
  if (isAnothers(invoice, document))
    throw refused("another-invoice", document, `is ${invoice.platformId} in Tryton, another one`);
  return invoice;
}

/** One that was made in Tryton has no id of the platform. */
const isAnothers = ({ platformId }: Standing, { invoiceId }: PaymentDocument): boolean =>
  platformId !== null && invoiceId !== null && platformId !== invoiceId;

const CENTS = 2;

const NEXT = {
  "not-posted": "Post the invoice in Tryton, or enter the payment there by hand; then retry.",
  "not-payable": "An accountant books it in Tryton by hand, then resolves it here.",
  "more-than-to-pay":
    "An accountant decides in Tryton what the rest is for (an overpayment, a second payment), then resolves it here.",
  "other-in-tryton":
    "An accountant compares both and corrects the wrong one, then resolves it here.",
  "no-such-invoice": "Book the invoice in Tryton, then retry.",
  "another-invoice":
    "Were the books restored, and its number given again? Deliver its own invoice again, then retry.",
  "twice-in-tryton":
    "An accountant gives one of them another number in Tryton, then it is retried.",
} as const;

const refused = (code: keyof typeof NEXT, document: PaymentDocument, says: string): Refused =>
  new Refused({
    code,
    message: `payment ${document.number}: invoice ${document.invoice} ${says}`,
    next: NEXT[code],
  });

/** Ids that one search asks for. */
const LOT = 200;

async function missing(
  { tryton }: Books,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const there = new Set<string>();
  try {
    for (let at = 0; at < ids.length; at += LOT) {
      const domain = [
        ["id", "in", ids.slice(at, at + LOT).flatMap(movesIn)],
        ["description", "like", paymentMark("%")],
      ];
      const rows = await tryton.call<{ id: number; description: string }[]>(
        "model.account.move.search_read",
        [domain, 0, null, null, ["description"]],
        { signal },
      );
      for (const { id, description } of rows)
        there.add(`#${id}`).add(`#${id} ${markIn(description)}`);
    }
  } catch (error) {
    throw unavailable(error);
  }
  return ids.filter((id) => !there.has(id));
}

/** Before they had a mark, ids were `#12`. */
const movesIn = (id: string): number[] => {
  const move = /^#(\d+)/.exec(id)?.[1];
  return move === undefined ? [] : [Number(move)];
};
