/** Payments into Tryton, each once, on the invoice that its link names. */
import type { Outgoing, Sink } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import type { Answer, Finding } from "../../src/core/outcome.ts";
import type { Books } from "./books.ts";
import { PaymentDocument } from "../../src/books/documents.ts";
import { coveredOf, noteCovered, uncovered } from "./covered.ts";
import { inspectPayments } from "./holdings-payments.ts";
import { TRYTON } from "./fault.ts";
import { policyOf } from "./invoices.ts";
import { paymentMark, settlementMark } from "./marks.ts";
import { answering, finding } from "../../src/books/answering.ts";
import type { ToPay } from "./pay.ts";
import { openPaymentGuard, type PaymentGuard } from "./payment-guard.ts";
import { type Paid, paymentsOf } from "./payment-moves.ts";
import type { OpenEntry } from "../../src/books/invoices.ts";
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
    send: (request) => answering(TRYTON.faults, () => send(books, guard, documentIn(request))),
    find: (request) => finding(TRYTON.faults, () => find(books, guard, documentIn(request))),
    inspect: (delivered, signal) => inspectPayments(books, delivered, signal),
  };
}

const documentIn = ({ body }: Pick<Outgoing, "body">): PaymentDocument =>
  PaymentDocument.parse(parseExact(body));

async function send(books: Books, guard: PaymentGuard, document: PaymentDocument): Promise<Answer> {
  const { id, amount, date, description } = document;
  const invoice = await invoiceOf(books, document);
  // First of all: a move that is known by now is seen on its invoice by what looks afterwards.
  const elsewhere = await guard.known(document);
  const before = await heldOf(books, document, invoice);
  if (before.is !== "absent") return doneBy(before, document);
  if (elsewhere !== null) throw refused("other-in-tryton", document, notBy(elsewhere));
  if (invoice.state === "draft" || invoice.state === "validated" || invoice.state === "cancelled")
    throw refused("not-posted", document, `is ${invoice.state} in Tryton`);
  if (amount.sign <= 0 || !amount.round(CENTS).equals(amount))
    throw refused("not-payable", document, `cannot be paid with ${amount.text}`);
  if (before.isCovered) await noteCovered(books, invoice.id, document);
  else
    await guard.pay(document, {
      invoice: invoice.id,
      amount,
      date,
      description: `${paymentMark(id)} ${description}`,
      how: howToPay(document, invoice, before.paid),
    });
  const after = await heldOf(books, document, invoice);
  if (after.is === "absent")
    return { name: "failed", detail: `Tryton took the payment ${id} and does not show it` };
  return doneBy(after, document);
}

/**
 * More than is to pay settles the invoice, and the rest goes on the party's account: but only where everything that was
 * paid before came from the platform. What somebody entered in Tryton may be this very money. @throws Refused
 */
function howToPay(
  document: PaymentDocument,
  { toPay, total }: OpenEntry,
  paid: readonly Paid[],
): ToPay["how"] {
  const { amount } = document;
  const over = amount.compare(toPay);
  if (over <= 0) return over === 0 ? "all" : "part";
  const says = `has ${toPay.fixed(CENTS)} to pay, not ${amount.fixed(CENTS)}`;
  const ours = Decimal.sum(paid.filter((one) => !one.takenBack).map((one) => one.amount));
  const others = total.minus(toPay).minus(ours);
  if (others.sign > 0)
    throw refused("paid-by-others", document, `${says}: ${others.fixed(CENTS)} was paid in Tryton`);
  if (toPay.sign <= 0) throw refused("more-than-to-pay", document, says);
  return "over";
}

async function find(
  books: Books,
  guard: PaymentGuard,
  document: PaymentDocument,
): Promise<Finding> {
  const [invoice, another] = await linkedAs(books, document.type, [document.invoice]);
  if (invoice === undefined || another !== undefined || isAnothers(invoice, document))
    return { found: "none", detail: `${document.invoice} is not one invoice, or another one` };
  const elsewhere = await guard.known(document);
  const all = await paymentsOf(books, invoice.id);
  const own = all.filter(({ mark }) => mark === paymentMark(document.id));
  const [first] = own;
  const detail = `${document.invoice} has ${own.map(told).join(" and ") || "no such payment"}`;
  if (own.length > 1) return { found: "several", detail };
  if (first !== undefined && !first.amount.equals(document.amount))
    return { found: "different", detail: `${detail} instead of ${document.amount.text}` };
  if (first !== undefined) return { found: "exact", ids: [idOf(first)], detail };
  const covered = await coveredOf(books, invoice.id);
  if (covered.some(({ mark }) => mark === paymentMark(document.id)))
    return { found: "exact", ids: [null], detail: noted(document) };
  return elsewhere === null
    ? { found: "none", detail }
    : { found: "different", detail: `${document.invoice} ${notBy(elsewhere)}` };
}

/** `noted`: it is a note on an invoice that was settled as one. `isCovered`: it is to be noted so. */
type Held =
  | { readonly is: "paid"; readonly by: Paid }
  | { readonly is: "noted" }
  | { readonly is: "absent"; readonly isCovered: boolean; readonly paid: readonly Paid[] };

/** @throws Refused when the books have the payment otherwise, TrytonFault */
async function heldOf(
  books: Books,
  document: PaymentDocument,
  { id, platformId, toPay }: OpenEntry,
): Promise<Held> {
  const paid = await paymentsOf(books, id);
  const mark = paymentMark(document.id);
  const [first, another] = paid.filter((one) => one.mark === mark);
  if (another !== undefined || (first !== undefined && !first.amount.equals(document.amount))) {
    const own = paid.filter((one) => one.mark === mark);
    throw refused("other-in-tryton", document, `has ${own.map(told).join(" and ")}`);
  }
  if (first !== undefined) return { is: "paid", by: first };
  const isLumped =
    platformId !== null && paid.some((one) => one.mark === settlementMark(platformId));
  const covered = isLumped ? await coveredOf(books, id) : [];
  if (covered.some((one) => one.mark === mark)) return { is: "noted" };
  const isOver = document.amount.compare(toPay) > 0;
  const isCovered = isOver && document.amount.compare(uncovered(platformId, paid, covered)) <= 0;
  return { is: "absent", isCovered, paid };
}

const doneBy = (held: Exclude<Held, { is: "absent" }>, document: PaymentDocument): Answer =>
  held.is === "noted"
    ? { name: "done", detail: noted(document), ids: [null] }
    : { name: "done", detail: `${document.invoice} has ${told(held.by)}`, ids: [idOf(held.by)] };

const noted = ({ invoice, amount, description }: PaymentDocument): string =>
  `${invoice} was settled as one before: ${amount.fixed(CENTS)} (${description}) is part of that, and noted on it`;

/**
 * `#12 payment:5f0c…`. Numbers of moves begin anew each year; their database ids only in books that were restored, so
 * the mark says whose it is.
 */
const idOf = ({ move, mark }: Paid): string => `#${move} ${mark}`;
const told = ({ move, amount }: Paid): string => `the payment #${move} of ${amount.text}`;
const notBy = (move: number): string =>
  `was not paid by it: it is the payment #${move} of another invoice`;

async function invoiceOf(books: Books, document: PaymentDocument): Promise<OpenEntry> {
  const [invoice, another] = await linkedAs(books, document.type, [document.invoice]);
  if (invoice === undefined) throw refused("no-such-invoice", document, "is not in Tryton");
  if (another !== undefined) throw refused("twice-in-tryton", document, "is in Tryton twice");
  if (isAnothers(invoice, document))
    throw refused("another-invoice", document, `is ${invoice.platformId} in Tryton, another one`);
  return invoice;
}

/** One that was made in Tryton has no id of the platform. */
const isAnothers = ({ platformId }: OpenEntry, { invoiceId }: PaymentDocument): boolean =>
  platformId !== null && invoiceId !== null && platformId !== invoiceId;

const CENTS = 2;

const NEXT = {
  "not-posted": "Post the invoice in Tryton, or enter the payment there by hand; then retry.",
  "not-payable": "An accountant books it in Tryton by hand, then resolves it here.",
  "more-than-to-pay":
    "An accountant enters it in Tryton on the party's account, with its reference, then resolves it here: Tryton takes no payment of an invoice that is paid.",
  "paid-by-others":
    "Is it the same money? Then an accountant resolves it here. Is it other money? Then an accountant enters it in Tryton on the party's account, with its reference, and resolves it here.",
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
