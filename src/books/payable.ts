/** May this payment be booked on this invoice? The same rules for every ERP. */
import { Decimal } from "../core/decimal.ts";
import { Refused } from "../core/errors.ts";
import type { Books, Call, Standing, Wanted } from "./adapter.ts";
import type { InvoiceDocument, PaymentDocument } from "./documents.ts";
import { isBelow, settlementMark } from "./plan.ts";
import { adapterOf, wantedOf } from "./wanted.ts";

/** Looks at the invoice of each payment among these. @throws Refused, BookError */
export async function expectPayable(
  books: Books,
  wanted: readonly Wanted[],
  { signal }: Call,
): Promise<void> {
  for (const { document } of wanted)
    if ("invoiceId" in document) {
      const adapter = adapterOf(books, document.type === "out" ? "invoice" : "bill");
      expectOne(books, document, await adapter.get([document.invoice], signal));
    }
}

function expectOne(
  books: Books,
  document: PaymentDocument,
  [invoice, another]: readonly Standing[],
): void {
  const { amount, invoiceId } = document;
  const refuse = (code: keyof typeof NEXT, says: string): never => {
    const message = `payment ${document.number}: invoice ${document.invoice} in ${books.name} ${says}`;
    throw new Refused({ code, message, next: NEXT[code] });
  };
  if (invoice === undefined) return refuse("no-such-invoice", "is not there");
  if (another !== undefined) return refuse("twice-in-books", "is there more than once");
  if (invoice.mark !== null && invoiceId !== null && invoice.mark !== invoiceId)
    return refuse("another-invoice", `is that of the platform's id ${invoice.mark}`);
  if (invoice.rung === "cancelled" || isBelow(invoice.rung, "posted"))
    return refuse("not-posted", `is ${invoice.rung}`);
  if (amount.sign <= 0 || !amount.round(CENTS).equals(amount))
    return refuse("not-payable", `cannot be paid with ${amount.text}`);
  const open = invoice.facts.money?.open ?? Decimal.zero;
  if (amount.compare(open) <= 0) return;
  const has = `has ${open.fixed(CENTS)} to pay, not ${amount.fixed(CENTS)}`;
  const isLumped = invoice.payments.some(
    ({ mark }) => invoice.mark !== null && mark === settlementMark(invoice.mark),
  );
  refuse(isLumped ? "settled-as-one" : "more-than-to-pay", has);
}

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
    "An accountant compares it with what was paid: the same money is resolved here, other money is booked by hand.",
} as const;

/** The payment that settles an invoice as one. @throws Refused when it was booked before, BookError */
export async function settlementOf(
  books: Books,
  { mark, document }: Wanted,
  standing: Standing,
  amount: Decimal,
  call: Call,
): Promise<Wanted> {
  const invoice = document as InvoiceDocument;
  const adapter = adapterOf(books, "payment");
  const payment: PaymentDocument = {
    id: settlementMark(mark),
    number: invoice.number,
    type: invoice.type,
    invoice: standing.id ?? "",
    invoiceId: mark,
    amount,
    date: invoice.paidDate ?? "",
    description: "settled as one",
  };
  const carried = { document: payment, counterpart: null, until: null };
  const wanted = wantedOf(adapter, "payment", carried, null);
  const before = await adapter.locate([wanted], call);
  if (before.every((one) => one.mark !== wanted.mark)) return wanted;
  throw new Refused({
    code: "settled-before",
    message: `invoice ${invoice.number} in ${books.name} was settled as one and is open again: ${standing.id}`,
    next: "An accountant corrects the payment there, or the platform; then it is resolved here.",
  });
}
