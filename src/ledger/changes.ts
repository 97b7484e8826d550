/** Records that books tell as changes, and what is wrong with one that cannot be told: the same words for every ERP. */
import type { Change } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import type { Fault } from "../core/fault.ts";
import { stringifyExact } from "../core/json.ts";
import type { PartyRecord, PriceRecord } from "./records.ts";

/** A party by its code. One without a name cannot be told. @param books what people call the books */
export function partyChange(books: string, record: PartyRecord): Change {
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
  const { code, name, formula, byQuantity } = line;
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
 * Who paid it, and with what (ADR 0082): the one rule for every ERP. Paid means paid with money. A credit note, a
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
