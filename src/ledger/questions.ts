/** What a person is asked about a document in the books: one code, one sentence and one next step each. */
import type { Fault } from "../core/fault.ts";
import type { LedgerKind, Books, Desired } from "./port.ts";

const QUESTIONS = {
  twice: {
    code: "twice-in-books",
    says: "is there more than once",
    next: "An accountant cancels all but one of them there, then it is retried.",
  },
  taken: {
    code: "number-taken",
    says: "cannot be booked, because another document has its number",
    next: "An accountant decides which of them counts: the other one is voided on the platform or cancelled there; then this is retried or resolved.",
  },
  kept: {
    code: "number-kept",
    says: "cannot be booked, because a cancelled document keeps its number",
    next: "Give it another number on the platform; the corrected version is delivered by itself. Or book it there by hand under another number, then resolve it here.",
  },
  "refused-there": {
    code: "refused-there",
    says: "was refused after it had been taken",
    next: "Correct what the message says, then retry.",
  },
  "cancelled-there": {
    code: "cancelled-in-books",
    says: "is cancelled there and not on the platform",
    next: "An accountant voids it on the platform, or books it again there by hand; then it is resolved here.",
  },
  "draft-there": {
    code: "draft-in-books",
    says: "is there as a draft that somebody else wrote or changed",
    next: "Post the draft there, or delete it, then retry.",
  },
  different: {
    code: "other-in-books",
    says: "was entered by hand and differs",
    next: "An accountant compares both and corrects the wrong one; then it is retried or resolved here.",
  },
  differs: {
    code: "differs",
    says: "differs, and these fields cannot be changed there any more",
    next: "An accountant corrects the platform, or cancels the document there and books it again; then it is retried or resolved here.",
  },
  "would-differ": {
    code: "would-differ",
    says: "would be booked otherwise",
    next: "Lines, taxes and totals may not add up, or a code names something else there: correct it where it comes from, or book it by hand; then it is retried.",
  },
  "not-posted": {
    code: "not-posted",
    says: "is paid on the platform and still a draft there",
    next: "Post it there, then retry.",
  },
  "settled-before": {
    code: "settled-before",
    says: "was settled as one, and one side has it open again",
    next: "An accountant finds out whether the money came. If it came, the platform marks it as paid. If it did not, the payment is taken back there; then this is retried.",
  },
  "no-paid-date": {
    code: "no-paid-date",
    says: "is paid on the platform, which does not say when",
    next: "Enter the payment there by hand, then retry.",
  },
  "paid-in-part": {
    code: "paid-in-part",
    says: "is paid on the platform, and its payments do not come to its total",
    next: "An accountant finds out what the rest is (a payment that is still to come, a credit note, a discount, a write-off) and enters it there as what it is; then this is retried.",
  },
  "paid-already": {
    code: "paid-already",
    says: "is void on the platform and has payments there",
    next: "An accountant takes the payments back or books a credit note there; then it is resolved here.",
  },
  "cancel-by-hand": {
    code: "cancel-by-hand",
    says: "is void on the platform, and this ERP cancels no document by itself",
    next: "Cancel it there by hand, then retry.",
  },
} as const;

export type Question = keyof typeof QUESTIONS;

/** @param more what follows the sentence: `: INV-7`, or a colon and one line per field */
export function asked(
  { kind, books }: { readonly kind: LedgerKind; readonly books: Pick<Books, "name"> },
  { number }: Desired,
  question: Question,
  more: string,
): Fault {
  const { code, says, next } = QUESTIONS[question];
  return { code, message: `${kind} ${number ?? ""} in ${books.name} ${says}${more}`, next };
}
