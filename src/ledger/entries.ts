/**
 * Invoices, bills and payments as books with drafts, reconciliation and credit notes show them, and how one stands for the
 * driver. What only people do there (a credit note, a payment that was set apart again) is told beside its fields.
 */
import type { Change } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { Refused } from "../core/errors.ts";
import type { Fault } from "../core/fault.ts";
import type { Day, Difference, FactLine, Facts } from "../core/holdings.ts";
import { stringifyExact } from "../core/json.ts";
import { sameNumber } from "../core/keys.ts";
import type {
  InvoiceDocument,
  InvoiceRecord,
  PartyRecord,
  PaymentDocument,
  PriceRecord,
} from "./documents.ts";
import { isOurPayment, markIn, paidMarkIn } from "./notes.ts";
import { isBelow, isSettlement } from "./plan.ts";
import {
  type Capabilities,
  type Desired,
  type Entry,
  type PartyAdapter,
  PLAIN_ENTRY,
} from "./port.ts";

/** An invoice or a bill as books show it. */
export interface BookedInvoice {
  /** What links keep of it: its number, or its name as a draft while it has none. */
  readonly name: string;
  /** `#12` */
  readonly draftName: string;
  /** That the books gave it; null: they have given none yet. */
  readonly number: string | null;
  /** The platform's number, or the supplier's. */
  readonly reference: string | null;
  /** What is written in it; null: it did not come from the platform. */
  readonly platformId: string | null;
  readonly status: "draft" | "posted" | "settled" | "cancelled";
  /** The user of the synchronisation made it. */
  readonly made: boolean;
  /** And nobody else has ever written it. */
  readonly ours: boolean;
  readonly total: Decimal;
  /** Zero unless it is posted. */
  readonly toPay: Decimal;
  /** The day of the last payment, once it is settled in full. */
  readonly reconciled: Day | null;
  /** Without those that were taken back. */
  readonly settling: readonly Settling[];
  /** Its content, without state and what is open. */
  readonly facts: Facts;
  /** Of its last change. */
  readonly stamp: string;
  /** The fault of the books for which not all of it could be read. Left out: all was. */
  readonly untold?: Error;
}

/** Something that pays an invoice, or counts as paying it. */
type Settling = Omit<PaidInvoice["settling"][number], "isOurs"> & {
  /** What people call it there: `#12`. */
  readonly name: string;
  /** Of the payment; it begins with a mark where it came from the platform. */
  readonly description: string | null;
};

/** An entry in the ledger that pays, or is reconciled with what does. */
interface PayingLine<Move> {
  readonly id: number;
  readonly move: Move & { readonly id: number; readonly description: string | null };
  readonly debit: Decimal;
  readonly credit: Decimal;
}

/** A part of what is owed by one day, and what it is reconciled with. */
interface Term<Move> {
  readonly reconciliation: {
    readonly id: number;
    readonly lines: readonly PayingLine<Move>[];
  } | null;
}

/**
 * Payments that were entered on an invoice, and what else it was reconciled with. A payment that was reconciled with
 * something else (the move that took it back) pays nothing here.
 * @param own the move of the invoice itself
 * @param insteadOf what a move is that is no money, as people call it; null: it is money
 */
export function settlingIn<Move>(
  own: number | null,
  terms: readonly Term<Move>[],
  payments: readonly (PayingLine<Move> & { readonly reconciliation: number | null })[],
  isSale: boolean,
  insteadOf: (move: Move & { readonly id: number }) => string | null,
): Settling[] {
  const reconciliations = terms.flatMap((term) => term.reconciliation ?? []);
  const known = new Set(reconciliations.map(({ id }) => id));
  const entered = payments.filter(
    ({ reconciliation }) => reconciliation === null || known.has(reconciliation),
  );
  const others = reconciliations
    .flatMap(({ lines }) => lines)
    .filter(({ move }) => move.id !== own);
  const lines = new Map<number, PayingLine<Move>>(
    [...entered, ...others].map((line) => [line.id, line]),
  );
  return [...lines.values()].map(({ id, move, credit, debit }) => {
    const amount = credit.minus(debit);
    return {
      name: `#${move.id}`,
      description: move.description,
      amount: isSale ? amount : amount.negated(),
      isReconciled: others.some((other) => other.id === id),
      instead: insteadOf(move),
    };
  });
}

/** A credit note of an invoice that counts. */
export interface Credit {
  readonly name: string;
  /** {@link Settling.name} where it settles the invoice. */
  readonly settles: string | null;
  /** Negative. */
  readonly total: Decimal;
  /** What of it has not been used yet; negative or zero. */
  readonly toPay: Decimal;
}

/** What else is known of an invoice. */
export interface Beside {
  /** What its link calls it; left out: its own name. */
  readonly id?: string;
  readonly disputed?: boolean;
  readonly credits?: readonly Credit[] | undefined;
  readonly change?: Change | null;
  readonly fixed?: readonly string[];
}

/** Of a document that the books cannot tell whole: what they said. */
export const cannotTell = ({ message }: Error): Fault => ({
  code: "cannot-be-told",
  message: `the books cannot tell it: ${message}`,
  next: "An accountant corrects in the books what they say (a missing rate of its currency), then it is read again.",
});

/** A credit note takes away of what is open, used or not; what it settles is no payment. */
export function invoiceEntry<Native extends BookedInvoice>(
  native: Native,
  { credits = [], disputed = false, change = null, ...more }: Beside = {},
): Entry<Native> {
  const { facts, settling, status } = native;
  const payments = settling.filter(({ name }) => !credits.some(({ settles }) => settles === name));
  const open = Decimal.sum([native.toPay, ...credits.map(({ toPay }) => toPay)]);
  return {
    ...PLAIN_ENTRY,
    id: native.name,
    aliases: [native.draftName],
    mark: native.platformId,
    number: native.reference,
    party: facts.party ?? null,
    status,
    touched: !native.ours,
    made: native.made,
    disputed,
    payments: payments.map(({ name, description, amount, instead = null }) => ({
      mark: paidMarkIn(description),
      amount,
      id: name,
      instead,
    })),
    facts: isBelow(status, "posted") ? facts : { ...facts, money: { ...facts.money, open } },
    ...(native.untold === undefined ? {} : { untold: cannotTell(native.untold) }),
    paid: native.reconciled,
    version: native.stamp,
    change,
    native,
    ...more,
  };
}

/** Does nothing count of it any more? */
export const isCreditedInFull = (
  { total }: Pick<BookedInvoice, "total">,
  credits: readonly Credit[],
): boolean => {
  const credited = Decimal.sum(credits.map((one) => one.total)).abs();
  return credits.length > 0 && credited.compare(total.abs()) >= 0;
};

/**
 * What other hands did to it that none of its fields shows.
 * @param mark whose it is, whatever became of its mark
 */
export function besidesOf(
  { platformId, made, status, total, toPay }: BookedInvoice,
  mark: string | null,
  credits: readonly Credit[],
): Difference[] {
  const isApart = status === "posted" && total.sign !== 0 && toPay.sign === 0;
  const apart = "posted: what paid it is no longer reconciled with it";
  return [
    ...(made && mark !== platformId ? [{ field: "mark", expected: `${mark}`, held: "none" }] : []),
    ...credits.map(({ name, total }) => ({
      field: "credit note",
      expected: "none",
      held: `${name} of ${total.fixed(2)}`,
    })),
    ...(isApart ? [{ field: "state", expected: "paid", held: apart }] : []),
  ];
}

const isOf =
  (held: string | null) =>
  ({ number }: Pick<Desired, "number">): boolean =>
    held !== null && sameNumber(number, held);

/**
 * Where we give the books' number: one that another invoice has is taken, whoever's it is; a reference that somebody typed
 * is the number of that party's only. Null: it has none of those that are wanted.
 */
export function numberIn(
  { number, reference, facts }: Pick<BookedInvoice, "number" | "reference" | "facts">,
  desired: readonly Pick<Desired, "number" | "party">[],
): string | null {
  if (desired.some(isOf(number))) return number;
  const isTheirs = desired.some((one) => isOf(reference)(one) && one.party === facts.party);
  return isTheirs ? reference : null;
}

/** What parties owe, or are owed; a party without anything open is left out. @param entries open ones, page by page */
export async function openByParty(
  entries: AsyncIterable<readonly { readonly party: string; readonly open: Decimal }[]>,
): Promise<{ readonly party: string; readonly open: Decimal }[]> {
  const sums = new Map<string, Decimal>();
  for await (const page of entries)
    for (const { party, open } of page)
      sums.set(party, (sums.get(party) ?? Decimal.zero).plus(open));
  return [...sums].map(([party, open]) => ({ party, open })).filter(({ open }) => open.sign !== 0);
}

/** A payment as books show it. */
interface BookedPayment<Native> {
  /** What people call it there: `#12`. */
  readonly name: string;
  /** It begins with a mark where it came from the platform. */
  readonly description: string;
  readonly party: string | null;
  readonly date: Day;
  /** The whole, what stays on account too; negative: money that went back. */
  readonly amount: Decimal;
  readonly side: "sale" | "purchase";
  readonly currency: string;
  /** What it pays, by the names that links have of these; null: nothing, or it is told later. */
  readonly document: string | null;
  readonly takenBack: boolean;
  readonly version: string | null;
  readonly native: Native;
}

/** Links call it by its name and its mark: books that were restored give a name again. */
export function paymentEntry<Native>(payment: BookedPayment<Native>): Entry<Native> {
  const { name, description, party, date, amount, takenBack, version, native } = payment;
  const { side, currency, document } = payment;
  const begins = isOurPayment(description) ? markIn(description) : null;
  const mark = paidMarkIn(begins);
  return {
    ...PLAIN_ENTRY,
    id: begins === null ? name : `${name} ${begins}`,
    aliases: [name],
    mark,
    status: takenBack ? "cancelled" : "posted",
    version,
    facts: {
      party,
      days: { date },
      money: { amount },
      words: {
        side,
        currency,
        document,
        reference: description.slice(begins?.length ?? 0).trim(),
        // What settles an invoice as one has no payment of the platform's: its mark names the invoice.
        notes: mark !== null && isSettlement(mark) ? begins : null,
      },
    },
    native,
  };
}

/** Of parties that are made and never changed. @param atomic parties that one call makes */
export const partiesOnce = (
  has: Capabilities["has"],
  atomic: number,
): Pick<PartyAdapter, "can" | "apply"> => ({
  can: { has, byUs: "posted", amend: {}, atomic, numbered: "once" },
  apply: () => Promise.resolve(),
});

/** A party of that code and name. */
export const partyFacts = (code: string, name: string | null): Facts => ({
  number: code,
  words: { name },
});

/* Documents as facts, and facts as records that sources tell: what every ERP's connector says in the same words. */

const sideOf = ({ type }: { readonly type: "in" | "out" }): "sale" | "purchase" =>
  type === "out" ? "sale" : "purchase";

/** An invoice or a bill as books show it, with the lines that these would keep. Its number there is left out. */
export const invoiceFacts = (
  document: InvoiceDocument,
  currency: string,
  lines: readonly FactLine[],
): Facts => ({
  days: { date: document.invoiceDate, due: document.dueDate },
  money: { untaxed: document.subtotal, tax: document.tax, total: document.total },
  words: {
    side: sideOf(document),
    currency,
    reference: document.number,
    order: document.description,
  },
  lines,
  taxes: document.taxes.map(({ account, description, base, amount }) => ({
    code: account,
    text: description,
    base,
    amount,
  })),
});

/** The codes that these documents name, for one look at each kind. */
export const codesIn = (
  documents: readonly InvoiceDocument[],
): Readonly<Record<"account" | "product" | "unit", readonly string[]>> => {
  const lines = documents.flatMap((document) => document.lines);
  const taxes = documents.flatMap((document) => document.taxes);
  return {
    account: [...lines, ...taxes].flatMap(({ account }) => account ?? []),
    product: lines.flatMap(({ product }) => product ?? []),
    unit: lines.flatMap(({ unit }) => unit ?? []),
  };
};

/** A payment as books show it. */
export const paymentFacts = (document: PaymentDocument, currency: string): Facts => ({
  days: { date: document.date },
  money: { amount: document.amount },
  words: {
    side: sideOf(document),
    currency,
    document: document.invoice,
    reference: document.description,
  },
});

/** What is made of each, one after the other, or why it cannot be. @throws what is no Refused */
export async function orRefused<One, Made>(
  all: readonly One[],
  make: (one: One) => Promise<Made>,
): Promise<(Made | Refused)[]> {
  const made: (Made | Refused)[] = [];
  for (const one of all)
    made.push(
      await make(one).catch((error: unknown) => {
        if (error instanceof Refused) return error;
        throw error;
      }),
    );
  return made;
}

/** What a record says beside its facts: fields of {@link InvoiceRecord}. */
interface RecordHead extends Pick<
  InvoiceRecord,
  "id" | "state" | "partyCompanyId" | "paidByPlatform" | "paidByOthers" | "clearedBy" | "platformId"
> {
  readonly number: string;
  readonly dueDate: Day | null;
  readonly open: Decimal;
  readonly paidDate: Day | null;
  /** Of its lines' products, in their order. Left out: these books tell none. */
  readonly productNames?: readonly (string | null)[];
}

/** A customer invoice as a source tells it. Its fields keep their order: the text of a record says whether it is new. */
export function invoiceRecord(facts: Facts, head: RecordHead): InvoiceRecord {
  const { days, money, words, lines = [], taxes = [] } = facts;
  return {
    number: head.number,
    id: head.id,
    type: "out",
    state: head.state,
    reference: some(words?.reference),
    description: some(words?.order),
    partyCode: shown(facts.party),
    partyCompanyId: head.partyCompanyId,
    currency: shown(words?.currency),
    invoiceDate: shown(days?.date),
    dueDate: head.dueDate,
    untaxed: shown(money?.untaxed),
    tax: shown(money?.tax),
    total: shown(money?.total),
    amountToPay: head.open,
    paidDate: head.paidDate,
    paidByPlatform: head.paidByPlatform,
    paidByOthers: head.paidByOthers,
    clearedBy: head.clearedBy,
    platformId: head.platformId,
    lines: lines.map((line, at) => ({
      product: some(line.product),
      productName: some(head.productNames?.[at]),
      description: some(line.text),
      quantity: line.quantity,
      unit: some(line.unit),
      unitPrice: line.unitPrice,
      amount: line.amount,
      account: some(line.account),
    })),
    taxes: taxes.map((tax) => ({
      description: shown(tax.text),
      account: some(tax.code),
      base: shown(tax.base),
      amount: tax.amount,
    })),
  };
}

/** @throws TypeError when books do not show what each of their invoices has */
function shown<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new TypeError("an invoice lacks a field");
  return value;
}

/** Text of books, where what is empty is null. */
export function some(text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" ? null : trimmed;
}

/* Records that books tell as changes, and what is wrong with one that cannot be told: the same words for every ERP. */

/** What a party has at least; the rest of it, left out, is none. */
type ToldParty = Pick<PartyRecord, "code" | "name" | "isCustomer" | "isSupplier"> &
  Partial<PartyRecord>;

/** A party by its code. One without a name cannot be told. @param books what people call the books */
export function partyChange(books: string, party: ToldParty): Change {
  const record = { ...EMPTY_PARTY, ...party } satisfies PartyRecord;
  const change = { id: record.code, version: null, text: stringifyExact(record) };
  if (record.name !== "") return change;
  const fault = {
    code: "no-name",
    message: "the party has no name",
    next: `Give the party a name in ${books}; it is read again by itself.`,
    field: "Name",
  };
  return { ...change, fault };
}

/** In the order in which a party's fields are told. */
const EMPTY_PARTY: PartyRecord = {
  code: "",
  name: "",
  isCustomer: false,
  isSupplier: false,
  companyId: null,
  email: null,
  phone: null,
  street: null,
  city: null,
  state: null,
  zip: null,
  country: null,
  active: true,
};

/** The platform's UUID among a party's identifiers; of the others (tax numbers) none looks like one. */
export const companyIdOf = (identifiers: readonly { readonly code: string }[]): string | null =>
  identifiers.find(({ code }) => UUID.test(code))?.code.toLowerCase() ?? null;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A product's price in a price list, as people enter it. */
export interface PriceLine {
  readonly list: string;
  readonly code: string | null;
  readonly name: string;
  readonly unit: string;
  /** A number, or something that books compute a price by. */
  readonly formula: string;
  /** It is for a quantity of its own. */
  readonly byQuantity: boolean;
}

/** How prices are told by `list|product`. */
export const priceId = ({ list, code, name }: PriceLine): string => `${list}|${code ?? name}`;

/** All lines of one product in one list, the one that counts first: the platform takes one price. */
export function priceChange(books: string, lines: readonly PriceLine[]): Change {
  const [line, another] = lines as readonly [PriceLine, ...PriceLine[]];
  const { list, code, name, unit } = line;
  const formula = line.formula.trim();
  const head = { id: priceId(line), version: null, origin: `price list ${list}` };
  const fault = priceFault(books, { ...line, formula }, another);
  if (fault === null) {
    const price = Decimal.of(formula);
    const record = { list, product: code ?? "", price, unit } satisfies PriceRecord;
    return { ...head, text: stringifyExact(record) };
  }
  const formulas = lines.map((one) => one.formula);
  return { ...head, text: stringifyExact({ list, product: code ?? name, formulas }), fault };
}

function priceFault(books: string, line: PriceLine, another: PriceLine | undefined): Fault | null {
  const { list, code, name, formula, byQuantity } = line;
  if (code === null || code === "")
    return {
      code: "no-code",
      message: `the product "${name}" has no code`,
      next: `Give the product a code in ${books}; the price is taken when its line is written again.`,
      field: "Product",
    };
  if (another !== undefined || byQuantity)
    return {
      code: "no-single-price",
      message: `${code} has prices by quantity, or several lines under this list's name; the platform takes one price`,
      next: "Leave one line without a quantity for the product in this list, and one list of this name.",
      field: "Quantity",
    };
  if (Decimal.is(formula)) return null;
  if (formula === "")
    return {
      code: "no-price",
      message: `${code} has no price in the list ${list}`,
      next: `Enter the price in ${books}; it is read again by itself.`,
      field: "Price",
    };
  return {
    code: "no-constant",
    message: `the formula "${formula.slice(0, 80)}" is not a number`,
    next: `Correct the line in ${books}; the price is taken when it is read again.`,
    field: "Formula",
  };
}

/** Books that take a number twice: links are kept by it, and an amount would be delivered under the other's. */
export const numberTwice = (books: string, number: string): Fault => ({
  code: "number-twice",
  message: `${books} has more than one customer invoice ${number}`,
  next: `An accountant looks which of them counts and cancels the other in ${books}; that one is then read again.`,
  field: "Number",
});

/** An invoice with what pays it, or counts as paying it. */
export interface PaidInvoice {
  /** As a record has it: `posted`, `paid`. */
  readonly state: string;
  readonly total: Decimal;
  readonly open: Decimal;
  readonly settling: readonly {
    /** It is a payment that we booked for the platform. */
    readonly isOurs: boolean;
    /** Positive when it lowers what is open. */
    readonly amount: Decimal;
    /** The two are settled with each other; else it waits for that. */
    readonly isReconciled: boolean;
    /** See {@link PaymentOn.instead}. */
    readonly instead?: string | null;
  }[];
}

/** Fields of a record that say who paid it, and with what. */
export interface Payers {
  /** It is settled by nothing but payments that we booked for the platform. */
  readonly paidByPlatform: boolean;
  /** What is settled of an open invoice, less our payments: settled in full, with a part of it, or not yet. */
  readonly paidByOthers: Decimal | null;
  /** {@link MONEY}, or what else settles it, in words. */
  readonly clearedBy: string;
}

/** What {@link Payers.clearedBy} says of an invoice that is settled by payments alone. */
export const MONEY = "money";

/**
 * Who paid it, and with what (ADR 0010): the one rule for every ERP. Paid means paid with money. A credit note, a
 * write-off, a discount, an entry, or an amount that no payment explains is named.
 */
export function payersOf({ state, total, open, settling }: PaidInvoice): Payers {
  const settled = settling.filter(({ isReconciled }) => isReconciled);
  const ours = sumOf(settling.filter(({ isOurs }) => isOurs));
  const others = total.minus(open).minus(ours);
  const clearedBy =
    state === "paid" || state === "posted" ? clearedIn(total, open, settling) : MONEY;
  const isByPlatform = settled.length > 0 && settled.every(({ isOurs }) => isOurs);
  return {
    paidByPlatform: state === "paid" && isByPlatform && clearedBy === MONEY,
    paidByOthers: state === "posted" && others.sign > 0 ? others : null,
    clearedBy,
  };
}

/** The same of an entry whose payments are all settled with it. One of nothing was voided. */
export const payersOfEntry = (
  { status, payments }: Pick<Entry, "status" | "payments">,
  total: Decimal,
  open: Decimal,
): Payers =>
  payersOf({
    state: status === "settled" ? "paid" : status,
    total,
    open,
    settling: payments
      .filter(({ amount }) => amount.sign !== 0)
      .map((one) => ({ ...one, isOurs: one.mark !== null, isReconciled: true })),
  });

/** What raises what is open (another invoice of the same reconciliation) settles nothing. */
function clearedIn(total: Decimal, open: Decimal, settling: PaidInvoice["settling"]): string {
  const isMoney = ({ instead = null }: (typeof settling)[number]): boolean => instead === null;
  const instead = settling.filter((one) => !isMoney(one) && one.amount.sign > 0);
  const money = sumOf(settling.filter(isMoney));
  const unexplained = total.minus(open).minus(money).minus(sumOf(instead));
  const parts = instead.map((one) => `${one.instead ?? ""} of ${one.amount.fixed(2)}`);
  if (unexplained.sign > 0) parts.push(`${unexplained.fixed(2)} without a payment`);
  return parts.length === 0 ? MONEY : parts.join(", ");
}

const sumOf = (all: readonly { readonly amount: Decimal }[]): Decimal =>
  Decimal.sum(all.map(({ amount }) => amount));
