/**
 * What every ERP's connector says in the same words: facts of parties and payments, records that sources tell, what is
 * wrong with one that cannot be told, and who paid an invoice.
 */
import type { FaultCode } from "../core/faults.ts";
import type { Change } from "../core/contract.ts";
import { amountOf, Decimal } from "../core/decimal.ts";
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import type { Day, FactLine, Facts, FactTax } from "../core/holdings.ts";
import { stringifyExact } from "../core/json.ts";
import type { Fault } from "../core/record.ts";
import { inCents } from "../core/text.ts";
import {
  type InvoiceDocument,
  type InvoiceRecord,
  MONEY,
  type PartyRecord,
  type PriceRecord,
} from "./documents.ts";
import { isSettlement, platformIdOf, settlementMark as settledAs } from "./plan.ts";
import {
  type Call,
  type Capabilities,
  type Covering,
  type Desired,
  type Entry,
  type LedgerSide,
  type PaymentOn,
  PLAIN_ENTRY,
} from "./port.ts";

/** Of parties that are made and never changed. @param atomic parties that one call makes */
export const partiesOnce = (
  has: Capabilities["has"],
  atomic: number,
): { readonly can: Capabilities } => ({
  can: { has, byUs: "posted", amend: {}, atomic, numbered: "once" },
});

/** What a tax is told by where books have a text alone for it: whose, and of which product. */
export const taxText = ({
  description,
  product,
}: Pick<InvoiceDocument["taxes"][number], "description" | "product">): string =>
  product ? `${description}, ${product}` : description;

type Ordered = Partial<Pick<InvoiceDocument, "poNumber">> & Pick<InvoiceDocument, "description">;

/** PO and contract in one text, for books without a field for the PO number: `PO 4711, contract C-9`. Null: neither. */
export const orderText = ({ poNumber, description }: Ordered): string | null =>
  [...(poNumber ? [`PO ${poNumber}`] : []), description ?? ""].filter(Boolean).join(", ") || null;

/**
 * The same for books that have a field for the PO number: what it holds, and the text beside it. A number that the field
 * does not hold whole stays in the text.
 * @param held what the field keeps of it
 */
export function orderParts(
  document: Ordered,
  held: (poNumber: string) => string | null,
): { readonly field: string | null; readonly rest: string | null } {
  const { poNumber = null, description } = document;
  const field = poNumber === null ? null : held(poNumber);
  return { field, rest: field === poNumber ? description : orderText(document) };
}

/** Lines and taxes of a document in the words of what is compared. */
export const factLines = ({ lines }: Pick<InvoiceDocument, "lines">) =>
  lines.map(({ description: text, ...line }) => ({ ...line, text }));
export const factTaxes = ({ taxes }: Pick<InvoiceDocument, "taxes">) =>
  taxes.map(({ description: text, account: code, ...tax }) => ({ ...tax, code, text }));

/** What books keep of an invoice or bill, as it is compared. */
export interface KeptDocument {
  readonly date: Day;
  readonly due: Day | null;
  readonly reference: string | null;
  /** Left out: these books have no field for it. */
  readonly order?: string | null;
  /** Left out: the company's own. */
  readonly currency?: string;
  /** Each amount once. */
  readonly lines: readonly FactLine[];
  /** Left out: they are among the lines. */
  readonly taxes?: readonly FactTax[];
}

export const documentFacts = ({ date, due, lines, taxes, ...kept }: KeptDocument): Facts => ({
  days: { date, due },
  words: {
    ...defined({ currency: kept.currency }),
    reference: kept.reference,
    ...defined({ order: kept.order }),
  },
  lines,
  ...defined({ taxes }),
});

/** The same of a payment. */
export interface KeptPayment {
  readonly side: LedgerSide;
  readonly date: Day;
  readonly amount: Decimal;
  /** The books' id of what it pays; null: of nothing, or of several. Left out: they do not say. */
  readonly document?: string | null;
  readonly text: string | null;
  /** The payer's own number. Left out: whatever the books have. */
  readonly check?: string | null;
}

export const paymentFacts = ({ date, amount, side, text, ...kept }: KeptPayment): Facts => ({
  days: { date },
  money: { amount },
  words: {
    side,
    ...defined({ document: kept.document }),
    reference: text,
    ...defined({ check: kept.check }),
  },
});

/** A party of that code and name. */
export const partyFacts = (code: string, name: string | null): Facts => ({
  number: code,
  words: { name },
});

/** @throws Refused for a text of more characters than these books keep @param what `a line's text` */
export function expectFits(
  books: string,
  what: string,
  text: string,
  most: number,
  [field, code = "text-too-long"]: readonly [field: string, code?: FaultCode],
): void {
  if (text.length > most)
    throw new Refused({
      code,
      message: `${what} has more than the ${most} characters that ${books} keeps`,
      next: "Shorten it where the document comes from; it is delivered by itself.",
      field,
    });
}

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

/** What an entry does not say of an invoice that a source tells. */
interface ToldBesides extends Partial<
  Pick<InvoiceRecord, "number" | "state" | "partyCompanyId" | "dueDate" | "dueDates" | "paidDate">
> {
  /** Of its lines' products, in their order. Left out: these books tell none. */
  readonly productNames?: readonly (string | null)[];
}

/**
 * A customer invoice as a source tells it: what its entry says, and who paid it, with what (ADR 0010). A draft may still
 * change and is not told.
 */
export function toldInvoice(
  entry: Pick<Entry, "id" | "status" | "facts" | "payments" | "paid" | "mark">,
  more: ToldBesides = {},
): Change | null {
  const { id, status, facts, payments } = entry;
  if (id === null || status === "draft") return null;
  const { days, money, words, lines = [], taxes = [] } = facts;
  const { zero } = Decimal;
  const { number = id, partyCompanyId = null, paidDate = entry.paid, productNames = [] } = more;
  const { dueDate = days?.due ?? null, state = status === "settled" ? "paid" : status } = more;
  // Its fields keep their order: the text of a record says whether it is new.
  const record: InvoiceRecord = {
    number,
    id,
    type: "out",
    state,
    reference: some(words?.reference),
    description: some(words?.order),
    partyCode: shown(facts.party, "party"),
    partyCompanyId,
    currency: shown(words?.currency, "words.currency"),
    invoiceDate: shown(days?.date, "days.date"),
    dueDate,
    ...defined({ dueDates: more.dueDates }),
    untaxed: shown(money?.untaxed, "money.untaxed"),
    tax: shown(money?.tax, "money.tax"),
    total: shown(money?.total, "money.total"),
    amountToPay: money?.open ?? zero,
    paidDate,
    ...payersOfEntry({ status, payments }, money?.total ?? zero, money?.open ?? zero),
    platformId: entry.mark,
    lines: lines.map((line, at) => ({
      product: some(line.product),
      productName: some(productNames[at]),
      description: some(line.text),
      quantity: line.quantity,
      unit: some(line.unit),
      unitPrice: line.unitPrice,
      amount: line.amount,
      account: some(line.account),
    })),
    taxes: taxes.map((tax) => ({
      description: shown(tax.text, "taxes.text"),
      account: some(tax.code),
      base: tax.base ?? null,
      amount: tax.amount,
    })),
  };
  return { id, version: null, text: stringifyExact(record) };
}

/** @throws TypeError when books do not show what each of their invoices has */
function shown<T>(value: T | null | undefined, field: string): T {
  if (value === undefined || value === null)
    throw new TypeError(`the facts of an invoice that is told lack ${field}`);
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
  const fault: Fault = {
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

/** A product's price in a price list, as people enter it. */
export interface PriceLine {
  readonly list: string;
  readonly code: string | null;
  readonly name: string;
  readonly unit: string;
  /** A number, or something that books compute a price by. */
  readonly formula: string;
  /** It is for a quantity of its own. Left out: it is not. */
  readonly byQuantity?: boolean;
  /** Tax is in it. Left out: it is not. */
  readonly taxIncluded?: boolean;
}

/** How prices are told by `list|product`. */
const priceId = ({ list, code, name }: PriceLine): string => `${list}|${code ?? name}`;

/** All lines of the lists' products that are told, in the order of the books: each product of a list once. */
export const priceChanges = (books: string, lines: readonly PriceLine[]): Change[] =>
  [...Map.groupBy(lines, priceId).values()].map((same) => priceChange(books, same));

/** All lines of one product in one list, the one that counts first: the platform takes one price. */
function priceChange(books: string, lines: readonly PriceLine[]): Change {
  const [line, another] = lines as readonly [PriceLine, ...PriceLine[]];
  const { list, code, name, unit, taxIncluded = false } = line;
  const formula = line.formula.trim();
  const head = { id: priceId(line), version: null, origin: `price list ${list}` };
  const fault = priceFault(books, { ...line, formula }, another);
  if (fault === null) {
    const price = Decimal.of(formula);
    const priced = { list, product: code ?? "", price, unit };
    const record: PriceRecord = taxIncluded ? { ...priced, taxIncluded } : priced;
    return { ...head, text: stringifyExact(record) };
  }
  const formulas = lines.map((one) => one.formula);
  return { ...head, text: stringifyExact({ list, product: code ?? name, formulas }), fault };
}

function priceFault(books: string, line: PriceLine, another: PriceLine | undefined): Fault | null {
  const { list, code, name, formula, byQuantity = false } = line;
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
      next: `Leave one line without a quantity for the product in this list, and one list of this name; the price is taken when that line is written again in ${books}.`,
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

/**
 * Who paid it, and with what (ADR 0010): the one rule for every ERP. Paid means paid with money. A credit note, a
 * write-off, a discount, an entry, or an amount that no payment explains is named. One of nothing was voided.
 */
export function payersOfEntry(
  { status, payments }: Pick<Entry, "status" | "payments">,
  total: Decimal,
  open: Decimal,
) {
  const settling = exactly(payments, total.minus(open)).filter(({ amount }) => amount.sign !== 0);
  const settled = settling.filter(({ isPending }) => isPending !== true);
  const ours = amountOf(settling.filter(({ mark }) => mark !== null));
  const others = total.minus(open).minus(ours);
  const isCounted = status === "settled" || status === "posted";
  const clearedBy = isCounted ? clearedIn(total, open, settling) : MONEY;
  const isByPlatform = settled.length > 0 && settled.every(({ mark }) => mark !== null);
  return {
    /** It is settled by nothing but payments that we booked for the platform. */
    paidByPlatform: status === "settled" && isByPlatform && clearedBy === MONEY,
    /** What is settled of an open invoice, less our payments: settled in full, with a part of it, or not yet. */
    paidByOthers: status === "posted" && others.sign > 0 ? others : null,
    /** {@link MONEY}, or what else settles it, in words. */
    clearedBy,
  };
}

/**
 * What settles one document, where the amounts are those of whole payments and credits, which may settle others as well: of the
 * only one that is not ours, what is left of what is settled.
 * @param settled its total less what is open
 */
export function exactly(payments: readonly PaymentOn[], settled: Decimal): readonly PaymentOn[] {
  const ours = payments.filter(({ mark }) => mark !== null);
  const [one, another] = payments.filter(({ mark, amount }) => mark === null && amount.sign > 0);
  const left = settled.minus(amountOf(ours));
  const isShared = one !== undefined && left.sign > 0 && one.amount.compare(left) > 0;
  return isShared && another === undefined ? [...ours, { ...one, amount: left }] : payments;
}

const isMoney = ({ instead = null }: PaymentOn): boolean => instead === null;

/** What raises what is open (another invoice of the same reconciliation) settles nothing. */
function clearedIn(total: Decimal, open: Decimal, settling: readonly PaymentOn[]): string {
  const instead = settling.filter((one) => !isMoney(one) && one.amount.sign > 0);
  const money = amountOf(settling.filter(isMoney));
  const unexplained = total.minus(open).minus(money).minus(amountOf(instead));
  const parts = instead.map((one) => `${one.instead ?? ""} of ${inCents(one.amount)}`);
  if (unexplained.sign > 0) parts.push(`${inCents(unexplained)} without a payment`);
  return parts.length === 0 ? MONEY : parts.join(", ");
}

/* Notes on records of books: what these have no field for. Each begins with a mark of ours, and is for people besides. */

/*
 * By what we know our own in books that have no field for the platform's id: words of texts that survive posting and can
 * be searched. With a colon, as nobody writes it by hand.
 */

/** In an invoice's comment: it came from the platform. */
export const markOf = (platformId: string): string => `platform:${platformId}`;

/** The platform's id in an invoice's comment; null: it did not come from there. */
export const platformIdIn = (comment: string | null): string | null =>
  /(?:^|\s)platform:(\S+)/.exec(comment ?? "")?.[1] ?? null;

/** Before the description of a payment that the platform told us of. */
export const paymentMark = (paymentId: string): string => `payment:${paymentId}`;

/** The first line of the note of a payment that is counted and not booked: its mark and amount. */
export const coveredMark = (paymentId: string, amount: string): string =>
  `${paymentMark(paymentId)} ${amount}`;

/** Mark and amount in the first line of such a note; null: it is another note. */
export function coveredIn(note: string): readonly [mark: string, amount: string] | null {
  const [, mark, amount] = /^(payment:\S+) (\d+\.\d\d)(?:\s|$)/.exec(note) ?? [];
  return mark === undefined || amount === undefined ? null : [mark, amount];
}

/** The first line of the note that a dispute is `open` or `over`. */
export const disputeMark = (state: string): string => `dispute:${state}`;

/**
 * What the description of a payment says: the mark that it begins with, what the driver calls the payment (both null: the
 * platform does not know of it), and text for people.
 */
export function paymentIn(description: string | null) {
  const [begins = null, kind, id = ""] = /^(payment|platform):(\S+)/.exec(description ?? "") ?? [];
  const mark = kind === undefined ? null : kind === "payment" ? id : settledAs(id);
  return { begins, mark, text: (description ?? "").slice(begins?.length ?? 0).trim() };
}

export const paidMarkIn = (description: string | null): string | null =>
  paymentIn(description).mark;

/** What the description of a payment begins with, by what the driver calls it. */
export const payingMark = (mark: string): string =>
  isSettlement(mark) ? markOf(platformIdOf(mark)) : paymentMark(mark);

interface Note {
  /** The record that it is on, as the ERP calls it: `account.invoice,12`. */
  readonly resource: string;
  readonly message: string | null;
}

/** What an ERP adds. Every method @throws a fault of the ERP. */
export interface Notes {
  /** Those on these records, oldest first. @param beginnings of those that are wanted; none: all of them */
  on(resources: readonly string[], beginnings: readonly string[]): Promise<readonly Note[]>;
  add(resource: string, message: string): Promise<void>;
}

/** What is noted on these documents as part of their settlements, by what the driver calls the payments (ADR 0010). */
async function coveredOn(
  notes: Notes,
  resources: readonly string[],
): Promise<ReadonlyMap<string, Decimal>> {
  const all = await notes.on(resources, [paymentMark("")]);
  const noted = all.map(({ message }) => coveredIn(message ?? "")).filter((one) => one !== null);
  return new Map(noted.map(([mark, amount]) => [paidMarkIn(mark) ?? mark, Decimal.of(amount)]));
}

/**
 * What {@link Covering} is where payments are noted on their invoice.
 * @param resourceOf the record of an invoice, as {@link Note.resource}
 */
export const coveringBy = (
  notesOf: (call: Call) => Notes,
  resourceOf: (invoice: Entry) => string,
): Covering<"payment"> => ({
  async covered(invoice, call) {
    return Decimal.sum([...(await coveredOn(notesOf(call), [resourceOf(invoice)])).values()]);
  },
  async cover(desired, call) {
    for (const { document, on } of desired) {
      const { id, amount, date, description } = document;
      const note = `${coveredMark(id, inCents(amount))}\nPaid on ${date}: ${description}. It is part of what was settled as one before.`;
      await notesOf(call).add(resourceOf(paidBy(on)), note);
    }
  },
});

/** The invoice that a payment pays. @throws TypeError when the driver has not looked for it */
export function paidBy(on: Entry | undefined): Entry {
  if (on === undefined) throw new TypeError("a payment without its invoice");
  return on;
}

/** Of these payments those that are noted on one of these records. What a note says of one is its amount. */
export async function coveredAmong(
  notes: Notes,
  resources: readonly string[],
  desired: readonly Desired<"payment">[],
): Promise<Entry<null>[]> {
  const noted = desired.length === 0 ? new Map() : await coveredOn(notes, resources);
  return desired.flatMap(({ mark, expected: { words } }) => {
    const amount = noted.get(mark);
    const facts = { money: { amount }, words: { side: words?.side ?? null } };
    return amount === undefined
      ? []
      : [{ ...PLAIN_ENTRY, id: null, mark, status: "posted" as const, facts, native: null }];
  });
}
