/** What is to be done next about a document, from what it should be and how it stands. Pure. */
import { amountOf, Decimal } from "../core/decimal.ts";
import { Refused } from "../core/errors.ts";
import type { FaultCode } from "../core/faults.ts";
import type { Fault } from "../core/record.ts";
import type { Day, Difference, Facts, HoldingKind } from "../core/holdings.ts";
import { bareNumber, sameNumber } from "../core/keys.ts";
import { amountText, inCents } from "../core/text.ts";
import { dayBefore } from "../core/time.ts";
import { compare, inLines, UNTOLD } from "./compare.ts";
import { adapterOf, desiredOf } from "./desired.ts";
import type { InvoiceDocument, PaymentDocument } from "./documents.ts";
import {
  type Books,
  type Call,
  type Capabilities,
  type Desired,
  type Entry,
  type GoodsKind,
  type LedgerKind,
  type PaymentOn,
  statuses,
} from "./port.ts";

/* What a person is asked about a document in the books: by its code one sentence and one next step. */

const QUESTIONS = {
  "twice-in-books": [
    "is there more than once",
    "An accountant cancels all but one of them there, then it is retried.",
  ],
  "number-taken": [
    "cannot be booked, because another document has its number",
    "An accountant decides which of them counts: the other one is voided on the platform or cancelled there; then this is retried or closed.",
  ],
  "number-alike": [
    "is not booked, because its party has one there that a person entered, whose number differs only in its signs",
    "An accountant compares both. One document: link it here, or give that one the platform's number; then this is retried. Two documents: enter this one there by hand and close it here.",
  ],
  "number-kept": [
    "cannot be booked, because a cancelled document keeps its number",
    "Give it another number on the platform; the corrected version is delivered by itself. Or book it there by hand under another number, then close it here.",
  ],
  "cancelled-in-books": [
    "is cancelled there and not on the platform",
    "An accountant voids it on the platform, or books it again there by hand; then it is closed here.",
  ],
  "draft-in-books": [
    "is there as a draft that somebody else wrote or changed",
    "Post the draft there, or delete it, then retry.",
  ],
  "other-in-books": [
    "was entered by hand and differs",
    "An accountant compares both and corrects the wrong one; then it is retried or closed here.",
  ],
  differs: [
    "differs, and these fields cannot be changed there any more",
    "An accountant corrects the platform, or cancels the document there and books it again; then it is retried or closed here.",
  ],
  "would-differ": [
    "would be booked otherwise",
    "Lines, taxes and totals may not add up, or a code names something else there: correct it where it comes from, or book it by hand; then it is retried.",
  ],
  "not-posted": ["is paid on the platform and still a draft there", "Post it there, then retry."],
  "settled-before": [
    "was settled as one, and one side has it open again",
    "An accountant finds out whether the money came. If it came, the platform marks it as paid. If it did not, the payment is taken back there; then this is retried.",
  ],
  "no-paid-date": [
    "is paid on the platform, which does not say when",
    "Enter the payment there by hand, then retry.",
  ],
  "paid-in-part": [
    "is paid on the platform, and its payments do not come to its total",
    "An accountant finds out what the rest is (a payment that is still to come, a credit note, a discount, a write-off) and enters it there as what it is; then this is retried.",
  ],
  "paid-already": [
    "is void on the platform and has payments there",
    "An accountant takes the payments back or books a credit note there; then it is closed here.",
  ],
  "cancel-by-hand": [
    "is void on the platform, and this ERP cancels no document by itself",
    "Cancel it there by hand, then retry.",
  ],
} as const satisfies Readonly<Partial<Record<FaultCode, readonly [says: string, next: string]>>>;

type Question = keyof typeof QUESTIONS;

/** @param more what follows the sentence: `: INV-7`, or a colon and one line per field */
function asked(
  { kind, books }: { readonly kind: LedgerKind; readonly books: Pick<Books, "name"> },
  { number }: Desired,
  question: Question,
  more: string,
): Fault {
  const [says, next] = QUESTIONS[question];
  return { code: question, message: `${kind} ${number} in ${books.name} ${says}${more}`, next };
}

export type Next =
  | { readonly do: "create" }
  | {
      readonly do: "amended";
      readonly entry: Entry;
      readonly differences: readonly Difference[];
    }
  | { readonly do: "posted" | "cancelled"; readonly entry: Entry }
  /** Our own draft is deleted; then it is refused with this fault. */
  | { readonly do: "retracted"; readonly entry: Entry; readonly fault: Fault }
  /** What is open is paid as one. */
  | { readonly do: "settle"; readonly entry: Entry; readonly amount: Decimal }
  /** As far as it can be brought. `until`: it waits for its payments until then, ISO 8601 UTC. */
  | { readonly do: "nothing"; readonly entry: Entry | null; readonly until: string | null }
  /** A person decides. `found`: what a read-back calls it; what these books cannot keep is not there either. */
  | {
      readonly do: "ask";
      readonly found: "several" | "different" | "none";
      readonly fault: Fault;
    };

export interface Planning {
  readonly kind: Exclude<LedgerKind, GoodsKind>;
  readonly can: Capabilities;
  readonly books: Pick<Books, "name" | "surroundings">;
}

/** The first rule that fits counts (ADR 0015, 0016). Nothing is posted while it differs. */
export function plan(planning: Planning, desired: Desired, found: Identified): Next {
  const { can } = planning;
  const ask: Ask = (question, more = "", is = "different") => ({
    do: "ask",
    found: is,
    fault: asked(planning, desired, question, more),
  });
  if (found.is === "several")
    return ask("twice-in-books", `: ${found.entries.map(nameOf).join(" and ")}`, "several");
  if (found.is === "taken")
    return ask(found.by.isCancelled ? "number-kept" : "number-taken", whose(found.by));
  if (found.is === "alike") return ask("number-alike", `: ${toldAlike(found.entries)}`);
  const isOver = desired.target === "cancelled";
  if (found.is === "none" && isOver) return nothing(null);
  if (found.is === "none")
    return desired.refusal === undefined
      ? { do: "create" }
      : { do: "ask", found: "none", fault: desired.refusal };
  const { entry, by } = found;
  const { status, refusal } = entry;
  if (refusal !== undefined) return { do: "ask", found: "different", fault: refusal };
  if (isOver && status === "cancelled" && !entry.unfinished) return nothing(entry);
  if (!isOver && status === "cancelled") return ask("cancelled-in-books", called(entry));
  const isMarked = by === "mark";
  // What is void is compared only where no mark says that it is ours.
  const differences = isOver && isMarked ? [] : contentOf(planning, desired, entry);
  const lines = linesOf(planning, desired, differences);
  if (isOver) {
    if (differences.length > 0) return ask("other-in-books", lines);
    if (status === "settled" || entry.payments.length > 0)
      return ask("paid-already", called(entry));
    if (!can.has.includes("cancelled")) return ask("cancel-by-hand", called(entry));
    return { do: "cancelled", entry };
  }
  const isOurDraft = status === "draft" && posts(can);
  if (isOurDraft && (!isMarked || entry.touched === true))
    return ask("draft-in-books", called(entry));
  if (differences.some(({ field }) => !isAmendable(can, field, entry))) {
    if (!isOurDraft || entry.touched !== false)
      return ask(isMarked ? "differs" : "other-in-books", lines);
    return { do: "retracted", entry, fault: asked(planning, desired, "would-differ", lines) };
  }
  if (differences.length > 0) return { do: "amended", entry, differences };
  if (entry.unfinished || isOurDraft) return { do: "posted", entry };
  const dispute = disputeOf(planning, desired, entry);
  if (dispute.some(({ field }) => !isAmendable(can, field, entry)))
    return ask(isMarked ? "differs" : "other-in-books", linesOf(planning, desired, dispute));
  if (dispute.length > 0) return { do: "amended", entry, differences: dispute };
  // Our settlement is not taken back by machine: it may be matched with a bank statement already.
  if (desired.target === "posted" && isSettledByUs(desired, entry))
    return ask("settled-before", called(entry) + settledBy(desired, entry));
  return status === "settled" || desired.target !== "settled"
    ? nothing(entry)
    : planSettling(planning, desired, entry, ask);
}

type Ask = (question: Question, more?: string, is?: "several" | "different") => Next;

const nothing = (entry: Entry | null, until: string | null = null): Next => ({
  do: "nothing",
  entry,
  until,
});

/** Paid on the platform, and not in the books. */
function planSettling({ can, books }: Planning, desired: Desired, entry: Entry, ask: Ask): Next {
  const { until } = desired;
  if (until !== null && books.surroundings.now().toISOString() < until)
    return nothing(entry, until);
  if (entry.status === "draft") return ask("not-posted", called(entry));
  if (can.byUs !== "settled") return nothing(entry);
  const open = entry.facts.money?.open ?? null;
  // The state of a document may follow a little later than what paid it.
  if (open === null || open.sign === 0) return nothing(entry);
  if (isSettledByUs(desired, entry))
    return ask("settled-before", called(entry) + settledBy(desired, entry));
  if (!("paidDate" in desired.document) || desired.document.paidDate === null)
    return ask("no-paid-date", called(entry));
  const total = entry.facts.money?.total ?? open;
  // Nobody has seen the money of a rest: it may be a credit note, a discount, or a payment that comes later.
  if (!open.minus(entry.underWay ?? Decimal.zero).equals(total))
    return ask("paid-in-part", partOf(entry, open, total));
  return { do: "settle", entry, amount: open };
}

const partOf = (entry: Entry, open: Decimal, total: Decimal): string => {
  const by = entry.payments.length === 0 ? "" : ` (${paymentsIn(entry.payments)})`;
  return `${called(entry)}: ${amountText(total.minus(open))} of ${amountText(total)} is settled there${by}, ${amountText(open)} is open${awaited(entry)}`;
};

/** `, of which 12.00 is to be paid by the bank` */
const awaited = ({ underWay = Decimal.zero }: Entry): string =>
  underWay.sign === 0 ? "" : `, of which ${amountText(underWay)} is to be paid by the bank`;

/** Every field that differs and that a step of ours would have to change: the content, and whether it is disputed. */
export function differencesOf(planning: Planning, desired: Desired, entry: Entry): Difference[] {
  return [...contentOf(planning, desired, entry), ...disputeOf(planning, desired, entry)];
}

/** Where these books can show it, and change it as far as the document has come. */
function disputeOf({ can }: Planning, { disputed }: Desired, entry: Entry): Difference[] {
  const isOver = entry.status === "settled" && !isAmendable(can, "state", entry);
  if (can.amend["state"] === undefined || isOver || disputed === entry.disputed) return [];
  const [expected, held] = disputed ? ["disputed", "open"] : ["open", "disputed"];
  return [{ field: "state", expected, held }];
}

function contentOf(planning: Planning, desired: Desired, { facts }: Entry): Difference[] {
  const { refusal, number } = desired;
  if (refusal !== undefined) {
    const held = `cannot be compared: ${refusal.message}`;
    return [{ field: UNTOLD, expected: number, held }];
  }
  const kind = kindOf(planning, desired);
  const ignore = planning.books.surroundings.ignore[kind] ?? [];
  return compare(kind, desired.expected, facts, { group: "content", ignore });
}

/** Of the comparison: a payment's kind is that of its direction. */
export const kindOf = ({ kind }: Pick<Planning, "kind">, { document }: Desired): HoldingKind =>
  kind === "payment" && "type" in document && document.type === "in" ? "bill-payment" : kind;

/** A colon, and one line per field. */
const linesOf = (
  planning: Planning,
  desired: Desired,
  differences: readonly Difference[],
): string => `:\n${inLines(kindOf(planning, desired), differences, planning.books.name)}`;

/** Can a step of ours change this field on this record? */
export const isAmendable = (
  { amend }: Pick<Capabilities, "amend">,
  field: string,
  { status, fixed }: Pick<Entry, "status" | "fixed">,
): boolean => {
  const group = field.split(".")[0] ?? "";
  const upTo = amend[field] ?? amend[group];
  const isFixed = fixed?.some((one) => one === field || one === group) ?? false;
  return upTo !== undefined && !isBelow(upTo, status) && !isFixed;
};

/** Do we post, or a person? */
export const posts = ({ byUs, posts }: Capabilities): boolean =>
  posts !== false && !isBelow(byUs, "posted");

const orderOf = (status: Entry["status"]): number =>
  status === "cancelled" ? statuses.length : statuses.indexOf(status);

export const isBelow = (status: Entry["status"], other: Entry["status"]): boolean =>
  orderOf(status) < orderOf(other);

/** The mark of the payment that settles an invoice as one. */
export const settlementMark = (invoice: string): string => `${SETTLEMENT}${invoice}`;
export const isSettlement = (mark: string): boolean => mark.startsWith(SETTLEMENT);
/** The platform's id that a mark is of: a settlement's is that of what it settles. */
export const platformIdOf = (mark: string): string =>
  isSettlement(mark) ? mark.slice(SETTLEMENT.length) : mark;
const SETTLEMENT = "settlement:";

/** What pays nothing of a payment that stands: somebody took it off what it paid, or entered it without any document. */
function idleOf({ status, facts, idle }: Entry): Decimal {
  const { zero } = Decimal;
  if (status === "cancelled") return zero;
  return idle ?? ((facts.words?.document ?? null) === null ? amountIn({ facts }) : zero);
}

const amountIn = ({ facts }: Pick<Entry, "facts">): Decimal => facts.money?.amount ?? Decimal.zero;

const settlementsOf = (invoice: string, { payments }: Entry): readonly PaymentOn[] =>
  payments.filter((one) => one.mark === settlementMark(invoice));

const isSettledByUs = ({ mark }: Pick<Desired, "mark">, entry: Entry): boolean =>
  settlementsOf(mark, entry).length > 0;

const settledBy = ({ mark }: Desired, entry: Entry): string =>
  `, by the payment ${paymentsIn(settlementsOf(mark, entry))}`;

/** `#12 of 20129.33, credit note #34 of 5.00` */
export const paymentsIn = (payments: readonly PaymentOn[]): string =>
  payments
    .map(({ id, amount, instead }) => {
      const name = instead ?? id;
      return (name === undefined ? "" : `${name} of `) + inCents(amount);
    })
    .join(", ");

/** What people call it. */
export const nameOf = ({ id, called }: Pick<Entry, "id" | "called">): string | null => called ?? id;

const whose = ({ mark, ...entry }: Pick<Entry, "id" | "called" | "mark">): string =>
  `: ${nameOf(entry) ?? "in the same request"}${mark === null ? "" : `, platform id ${mark}`}`;

/** `BILL-2026-00012 (FL59190010)` */
export const toldAlike = (entries: readonly Entry[]): string =>
  entries.map((one) => `${nameOf(one)} (${one.number})`).join(" and ");

const called = (entry: Entry): string => {
  const name = nameOf(entry);
  return name === null ? "" : `: ${name}`;
};

/* Which record in the books is the one of a document. Pure. */

/** How it was told: by our mark in it, by what its link calls it, or by its number (entered by hand). */
export type Identity = "mark" | "binding" | "number";

export type Identified =
  | { readonly is: "none" }
  | { readonly is: "one"; readonly entry: Entry; readonly by: Identity }
  | { readonly is: "several"; readonly entries: readonly Entry[] }
  /** It is not there, and what people entered of its party has its number but for signs and blanks. */
  | { readonly is: "alike"; readonly entries: readonly Entry[] }
  /** It is not there, and another document has its number. */
  | {
      readonly is: "taken";
      readonly by: Pick<Entry, "id" | "called" | "mark" | "goods"> & {
        /** It keeps the number for good: no retry helps. */
        readonly isCancelled: boolean;
      };
    };

/**
 * One per document, in their order. Ours is what carries our mark; else what the binding names, if it carries no other
 * mark (restored books may have given that id to another document); else what has our number and party and no mark.
 * Another document under our number is `taken`, also one that comes earlier in the same request. What people entered under
 * that number in another writing may be it or not: `alike`.
 */
export function identify(
  desired: readonly Desired[],
  all: readonly Entry[],
  { numbered }: Capabilities,
): Identified[] {
  const absent: Desired[] = [];
  const isOnce = numbered === "once";
  return desired.map((one): Identified => {
    const found = matching(one, all);
    if (found !== null) return found;
    const alike = all.filter((row) => isAlike(one, row));
    if (one.target === "cancelled" || one.party === null) return alikeOr(NONE, alike);
    const before = absent.find((other) => isNumbered(one, other, "per-party"));
    absent.push(one);
    if (before !== undefined)
      return { is: "taken", by: { id: null, mark: before.mark, isCancelled: false } };
    // Where a number is given once, links are kept by it: a cancelled document keeps its own.
    const other = all.find(
      (row) => (isOnce || row.status !== "cancelled") && isNumbered(one, row, numbered),
    );
    if (other === undefined) return alikeOr(NONE, alike);
    return { is: "taken", by: { ...other, isCancelled: other.status === "cancelled" } };
  });
}

const NONE = { is: "none" } as const;

const alikeOr = (none: Identified, entries: readonly Entry[]): Identified =>
  entries.length === 0 ? none : { is: "alike", entries };

/** Did a person enter it for the same party under the same letters and digits? What is cancelled is no booking. */
export const isAlike = (
  { number, party }: Pick<Desired, "number" | "party">,
  { mark, status, ...other }: Pick<Entry, "number" | "party" | "mark" | "status">,
): boolean =>
  party !== null &&
  mark === null &&
  status !== "cancelled" &&
  other.party === party &&
  other.number !== null &&
  bareNumber(number) !== "" &&
  bareNumber(other.number) === bareNumber(number);

function matching(desired: Desired, all: readonly Entry[]): Identified | null {
  const marked = all.filter(({ mark }) => mark === desired.mark);
  if (marked.length > 0) return foundBy("mark", marked);
  const unmarked = all.filter(({ mark }) => mark === null);
  const bound = unmarked.filter(
    ({ id, goods }) => (id !== null && id === desired.binding) || goods?.bound === true,
  );
  if (bound.length > 0) return foundBy("binding", bound);
  const numbered = unmarked.filter((row) => isNumbered(desired, row, "per-party"));
  return numbered.length > 0 ? foundBy("number", numbered) : null;
}

/** Of several the one that alone is not cancelled: a person entered it anew. */
function foundBy(by: Identity, entries: readonly Entry[]): Identified {
  const standing = entries.filter(({ status }) => status !== "cancelled");
  const [entry, another] = standing.length === 0 ? entries : standing;
  return entry !== undefined && another === undefined
    ? { is: "one", entry, by }
    : { is: "several", entries };
}

/** A document without a party (a payment) is never told by its number. */
const isNumbered = (
  { number, party }: Pick<Desired, "number" | "party">,
  other: Pick<Entry, "number" | "party">,
  numbered: Capabilities["numbered"],
): boolean =>
  party !== null &&
  other.number !== null &&
  sameNumber(other.number, number) &&
  (numbered === "once" || other.party === party);

/* May this payment be booked on this invoice, and how? The same rules for every ERP. */

/** Looks at the invoice of each payment among these. @throws Refused, LedgerError */
export async function payable(books: Books, desired: readonly Desired[], call: Call) {
  /** What is to be created; payments with the invoice that they pay. */
  const booked: Desired[] = [];
  /** Payments that are part of what was settled as one: each is noted on its invoice. */
  const covered: Desired[] = [];
  for (const one of desired) {
    const { document } = one;
    const paid = "invoiceId" in document ? await paidBy(books, document, one.expected, call) : null;
    if (paid === null) booked.push(one);
    else if (paid.isCovered) covered.push({ ...one, on: paid.invoice });
    else booked.push(await besideNone(books, { ...one, on: paid.invoice }, call));
  }
  return { booked, covered };
}

/**
 * The payment, if no person has entered one of the very sum: on its invoice, or of its party, near its day, and paying nothing.
 * That may be this very money. @throws Refused, LedgerError
 */
async function besideNone(books: Books, one: Desired, call: Call): Promise<Desired> {
  const { number, amount, invoice, type, date } = one.document as PaymentDocument;
  const on = one.on as Entry;
  const same = on.payments.filter(
    ({ mark, instead = null, amount: its }) =>
      mark === null && instead === null && its.equals(amount),
  );
  const unused =
    same.length > 0 ? [] : await idleBeside(books, one, dayBefore(date, NEAR_DAYS), call);
  const until = dayBefore(date, -NEAR_DAYS);
  const idle = idleOfSum(unused, on, amount).filter(
    ({ facts }) => (facts.days?.date ?? until) <= until,
  );
  if (same.length === 0 && idle.length === 0) return one;
  const what =
    same.length > 0
      ? `${paymentsIn(same)}, which somebody entered there on it`
      : `${toldIdle(idle)}, which names no document`;
  throw new Refused({
    code: "paid-by-others",
    message: `payment ${number} of ${amountText(amount)}: ${type === "out" ? "invoice" : "bill"} ${invoice} in ${books.name} may be paid by the same money already: ${what}`,
    next: "Is it the same money? Then an accountant applies that payment to the invoice there, and links it here. Is it other money? Then an accountant enters this one there by hand, with its reference, and links it here.",
  });
}

/** Books and platform may date the same money by the check, by the deposit, or by the day that somebody typed it. */
const NEAR_DAYS = 31;

/** Payments of the same party, from a day on, that pay nothing: none where these books do not tell them. */
const idleBeside = async (
  books: Books,
  one: Desired,
  since: Day,
  call: Call,
): Promise<readonly Entry[]> => (await adapterOf(books, "payment").idle?.(one, since, call)) ?? [];

/** What people entered for this party, of which just this sum pays nothing. */
const idleOfSum = (
  located: readonly Entry[],
  { party }: Pick<Entry, "party">,
  amount: Decimal,
): Entry[] =>
  located.filter((one) => one.mark === null && one.party === party && idleOf(one).equals(amount));

/** `20,129.33 of #12 and 5.00 of #13` */
const toldIdle = (idle: readonly Entry[]): string =>
  idle.map((one) => `${amountText(idleOf(one))} of ${nameOf(one)}`).join(" and ");

/**
 * The invoice that a payment may be booked on. `isCovered`: it is more than is open, and no more than what no payment has
 * taken up yet of a settlement of ours. More than is to pay goes on the party's account where these books can do that, but
 * only where everything that was paid before came from the platform: what somebody entered there may be this very money.
 */
async function paidBy(
  books: Books,
  document: PaymentDocument,
  { words: { currency: own } = {} }: Facts,
  call: Call,
) {
  const { number, amount, invoiceId, type } = document;
  const kind = type === "out" ? "invoice" : "bill";
  const refuse = (code: keyof typeof NEXT, says: string): never => {
    const message = `payment ${number}: ${kind} ${document.invoice} in ${books.name} ${says}`;
    throw new Refused({ code, message, next: NEXT[code] });
  };
  const adapter = adapterOf(books, kind);
  const [invoice, another] = await adapter.get([document.invoice], call);
  if (invoice === undefined) return refuse("no-such-invoice", "is not there");
  if (another !== undefined) return refuse("twice-in-books", "is there more than once");
  const { mark, status, payments } = invoice;
  if (mark !== null && invoiceId !== null && mark !== invoiceId)
    return refuse("another-invoice", `is that of the platform's id ${mark}`);
  if (status === "cancelled") return refuse("cancelled-in-books", "is cancelled");
  if (isBelow(status, "posted")) return refuse("not-posted", `is ${status}`);
  const { currency } = invoice.facts.words ?? {};
  if (own && currency && currency !== own)
    return refuse("other-currency", `is kept in ${currency}, and the payment is in ${own}`);
  if (amount.sign <= 0 || !amount.round(CENTS).equals(amount))
    return refuse("not-payable", `cannot be paid with ${amountText(amount)}`);
  const { open = null, total = open } = invoice.facts.money ?? {};
  const { underWay = Decimal.zero } = invoice;
  const left = (open ?? Decimal.zero).minus(underWay);
  if (amount.compare(left) <= 0) return { invoice, isCovered: false };
  const { covering } = adapterOf(books, "payment");
  const settled = settlementsOf(mark ?? "", invoice);
  if (covering !== undefined && settled.length > 0) {
    const free = amountOf(settled).minus(await covering.covered(invoice, call));
    if (amount.compare(free) <= 0) return { invoice, isCovered: true };
  }
  const has = `has ${amountText(left.plus(underWay))} to pay${awaited(invoice)}, not ${amountText(amount)}`;
  const ours = payments.filter((one) => one.mark !== null);
  const others = (total ?? left).minus(left).minus(underWay).minus(amountOf(ours));
  if (others.sign > 0) {
    const by = payments
      .filter((one) => one.mark === null)
      .flatMap(({ instead, id }) => instead ?? id ?? []);
    const how = by.length === 0 ? "without a payment" : `by ${by.join(", ")}`;
    refuse("paid-by-others", `${has}: ${amountText(others)} was settled there ${how}`);
  }
  // It may be this very money.
  if (underWay.sign > 0) refuse("paid-by-others", has);
  if (books.onAccount === true && left.sign > 0) return { invoice, isCovered: false };
  const isLumped = settled.length > 0 && covering === undefined;
  return refuse(isLumped ? "settled-as-one" : "more-than-to-pay", has);
}

const CENTS = 2;

const NEXT = {
  "no-such-invoice": "Book the invoice there, then retry.",
  "twice-in-books": "An accountant gives one of them another number, then it is retried.",
  "another-invoice":
    "The books may have been restored and the number given again: deliver its own invoice again, then retry.",
  "not-posted": "Post the invoice there, or enter the payment by hand; then retry.",
  "cancelled-in-books":
    "An accountant voids the payment on the platform if no money came. If it came, an accountant enters it there on the party's account, with its reference, then closes it here.",
  "other-currency":
    "An accountant books it there by hand, then closes it here: nothing is converted.",
  "not-payable": "An accountant books it there by hand, then closes it here.",
  "settled-as-one":
    "The invoice was settled as one before this payment came: an accountant notes its reference there, then closes it here.",
  "more-than-to-pay":
    "An accountant enters it there on the party's account, with its reference, then closes it here.",
  "paid-by-others":
    "Is it the same money? Then an accountant closes it here. Is it other money? Then an accountant enters it there on the party's account, with its reference, and closes it here.",
} as const;

/**
 * The payment that settles what is open of an invoice as one; its description says why. `draft`: it was made and is not
 * posted yet. @throws Refused when it was booked before, LedgerError
 */
export async function settlementOf(
  books: Books,
  { mark, document, until }: Desired,
  entry: Entry,
  amount: Decimal,
  call: Call,
): Promise<{ readonly payment: Desired; readonly draft: Entry | undefined }> {
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
  const settling = { ...desired, on: entry };
  const located = await adapter.locate([settling], call);
  const before = located.filter(({ mark: its }) => its === desired.mark);
  const since = dayBefore(invoice.invoiceDate, NEAR_DAYS);
  const unused = await idleBeside(books, settling, since, call);
  const each = [...new Map([...located, ...unused].map((one) => [one.id, one])).values()];
  refuseIdle(books, invoice, entry, amount, each);
  const draft = before.find(
    ({ status, facts }) => status === "draft" && facts.money?.amount?.equals(amount) === true,
  );
  if (before.length === 0 || draft !== undefined) return { payment: settling, draft };
  throw new Refused({
    code: "settled-before",
    message: `invoice ${invoice.number} in ${books.name} was settled as one and is open again: ${nameOf(entry)}`,
    next: "An accountant corrects the payment there, or the platform; then it is closed here.",
  });
}

/**
 * Nobody has seen the money of a settlement: it may be that of a payment which pays nothing there. One that came from the
 * platform is, where all of them suffice; one that people entered where it is the very sum.
 */
function refuseIdle(
  books: Books,
  { number }: InvoiceDocument,
  on: Entry,
  amount: Decimal,
  located: readonly Entry[],
): void {
  const names: readonly unknown[] = [on.id, ...(on.aliases ?? [])];
  const isFor = ({ mark, facts }: Entry): boolean =>
    mark !== null && !isSettlement(mark) && names.includes(facts.words?.document);
  const ours = located
    // All of the invoice is open: what was made for it pays nothing of it, though these books do not tell.
    .map((one) => (isFor(one) ? { ...one, party: on.party, idle: amountIn(one) } : one))
    .filter((one) => one.mark !== null && one.party === on.party && idleOf(one).sign > 0);
  const isPaidByOurs = amount.compare(Decimal.sum(ours.map(idleOf))) <= 0;
  const idle = ours.length > 0 && isPaidByOurs ? ours : idleOfSum(located, on, amount);
  if (idle.length === 0) return;
  const whence = idle === ours ? "came from the platform" : "names no document";
  throw new Refused({
    code: "paid-by-others",
    message: `invoice ${number} in ${books.name} has ${amountText(amount)} to pay, and ${toldIdle(idle)}, which ${whence}, pays nothing there`,
    next:
      idle === ours
        ? "An accountant applies that payment to the invoice there, or voids it; then retry: nothing is paid twice."
        : "Is it the same money? Then an accountant applies that payment to the invoice there. Is it other money? Then an accountant pays the invoice there by hand. Then retry: nothing is paid twice.",
  });
}

const hours = (ms: number): string =>
  ms % 3_600_000 === 0 ? `${ms / 3_600_000} h` : `${Math.ceil(ms / 1_000)} s`;
