/** May this payment be booked on this invoice, and how? The same rules for every ERP. */
import { Decimal } from "../core/decimal.ts";
import { Refused } from "../core/errors.ts";
import type { Books, Call, Entry, Desired } from "./port.ts";
import type { InvoiceDocument, PaymentDocument } from "./documents.ts";
import { isBelow, settlementMark, settlementsOf } from "./plan.ts";
import { adapterOf, desiredOf } from "./desired.ts";

export interface Payable {
  /** What is to be created; payments with the invoice that they pay. */
  readonly booked: readonly Desired[];
  /** Payments that are part of what was settled as one: each is noted on its invoice. */
  readonly covered: readonly Desired[];
}

/** Looks at the invoice of each payment among these. @throws Refused, LedgerError */
export async function payable(
  books: Books,
  desired: readonly Desired[],
  call: Call,
): Promise<Payable> {
  const booked: Desired[] = [];
  const covered: Desired[] = [];
  for (const one of desired) {
    const { document } = one;
    if (!("invoiceId" in document)) {
      booked.push(one);
      continue;
    }
    const adapter = adapterOf(books, document.type === "out" ? "invoice" : "bill");
    const on = expectOne(books, document, await adapter.get([document.invoice], call));
    const isCovered = await isPartOfSettlement(books, document, on, call);
    if (!isCovered) expectOpen(books, document, on);
    (isCovered ? covered : booked).push({ ...one, on });
  }
  return { booked, covered };
}

/** The invoice, which a payment may be booked on. */
function expectOne(
  books: Books,
  document: PaymentDocument,
  [invoice, another]: readonly Entry[],
): Entry {
  const { amount, invoiceId } = document;
  const refuse = refusing(books, document);
  if (invoice === undefined) return refuse("no-such-invoice", "is not there");
  if (another !== undefined) return refuse("twice-in-books", "is there more than once");
  if (invoice.mark !== null && invoiceId !== null && invoice.mark !== invoiceId)
    return refuse("another-invoice", `is that of the platform's id ${invoice.mark}`);
  if (invoice.status === "cancelled" || isBelow(invoice.status, "posted"))
    return refuse("not-posted", `is ${invoice.status}`);
  if (amount.sign <= 0 || !amount.round(CENTS).equals(amount))
    return refuse("not-payable", `cannot be paid with ${amount.text}`);
  return invoice;
}

/** It is more than is open, and no more than what no payment has taken up yet of a settlement of ours. */
async function isPartOfSettlement(
  books: Books,
  { amount }: PaymentDocument,
  invoice: Entry,
  call: Call,
): Promise<boolean> {
  const { covering } = adapterOf(books, "payment");
  const settled = settlementsOf(invoice.mark ?? "", invoice);
  if (covering === undefined || settled.length === 0 || amount.compare(openOf(invoice)) <= 0)
    return false;
  const left = Decimal.sum(settled.map((one) => one.amount));
  return amount.compare(left.minus(await covering.covered(invoice, call))) <= 0;
}

/**
 * More than is to pay goes on the party's account where these books can do that, but only where everything that was paid
 * before came from the platform. What somebody entered there may be this very money.
 */
function expectOpen(books: Books, document: PaymentDocument, invoice: Entry): void {
  const { amount } = document;
  const open = openOf(invoice);
  if (amount.compare(open) <= 0) return;
  const refuse = refusing(books, document);
  const has = `has ${open.fixed(CENTS)} to pay, not ${amount.fixed(CENTS)}`;
  const ours = invoice.payments.filter(({ mark }) => mark !== null).map((one) => one.amount);
  const total = invoice.facts.money?.total ?? open;
  const others = total.minus(open).minus(Decimal.sum(ours));
  if (others.sign > 0)
    refuse("paid-by-others", `${has}: ${others.fixed(CENTS)} was paid in ${books.name}`);
  if (books.onAccount === true && open.sign > 0) return;
  const isLumped = settlementsOf(invoice.mark ?? "", invoice).length > 0;
  const isNoted = adapterOf(books, "payment").covering !== undefined;
  refuse(isLumped && !isNoted ? "settled-as-one" : "more-than-to-pay", has);
}

const openOf = ({ facts }: Entry): Decimal => facts.money?.open ?? Decimal.zero;

const refusing =
  ({ name }: Books, { number, invoice }: PaymentDocument) =>
  (code: keyof typeof NEXT, says: string): never => {
    const message = `payment ${number}: invoice ${invoice} in ${name} ${says}`;
    throw new Refused({ code, message, next: NEXT[code] });
  };

const CENTS = 2;

const NEXT = {
  "no-such-invoice": "Book the invoice there, then retry.",
  "twice-in-books": "An accountant gives one of them another number, then it is retried.",
  "another-invoice":
    "The books may have been restored and the number given again: deliver its own invoice again, then retry.",
  "not-posted": "Post the invoice there, or enter the payment by hand; then retry.",
  "not-payable": "An accountant books it there by hand, then resolves it here.",
  "settled-as-one":
    "The invoice was settled as one before this payment came: an accountant notes its reference there, then resolves it here.",
  "more-than-to-pay":
    "An accountant enters it there on the party's account, with its reference, then resolves it here.",
  "paid-by-others":
    "Is it the same money? Then an accountant resolves it here. Is it other money? Then an accountant enters it there on the party's account, with its reference, and resolves it here.",
} as const;

/**
 * The payment that settles what is open of an invoice as one; its description says why.
 * @throws Refused when it was booked before, LedgerError
 */
export async function settlementOf(
  books: Books,
  { mark, document, until }: Desired,
  entry: Entry,
  amount: Decimal,
  call: Call,
): Promise<Desired> {
  const invoice = document as InvoiceDocument;
  const adapter = adapterOf(books, "payment");
  const what = "settled as one";
  const after = hours(books.settleAfterMs);
  const payment: PaymentDocument = {
    id: settlementMark(mark),
    number: invoice.number,
    type: invoice.type,
    invoice: entry.id ?? "",
    invoiceId: mark,
    amount,
    date: invoice.paidDate ?? "",
    reference: null,
    description: until === null ? what : `${what} because no payment of it came within ${after}`,
  };
  const carried = { document: payment, counterpart: null, until: null };
  const [desired] = (await desiredOf(adapter, [carried], [], call)) as [Desired];
  const before = await adapter.locate([{ ...desired, on: entry }], call);
  if (before.every((one) => one.mark !== desired.mark)) return { ...desired, on: entry };
  throw new Refused({
    code: "settled-before",
    message: `invoice ${invoice.number} in ${books.name} was settled as one and is open again: ${entry.id}`,
    next: "An accountant corrects the payment there, or the platform; then it is resolved here.",
  });
}

const hours = (ms: number): string =>
  ms % 3_600_000 === 0 ? `${ms / 3_600_000} h` : `${Math.ceil(ms / 1_000)} s`;
