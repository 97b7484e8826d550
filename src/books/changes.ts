/** Records that books tell as changes, and what is wrong with one that cannot be told: the same words for every ERP. */
import type { Change } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import type { Fault } from "../core/fault.ts";
import { stringifyExact } from "../core/json.ts";
import { isOurPayment } from "./marks.ts";
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
    /** Of the payment; it begins with a mark where it came from the platform. */
    readonly description: string | null;
    /** Positive when it lowers what is open. */
    readonly amount: Decimal;
    /** The two are settled with each other; else it waits for that. */
    readonly isReconciled: boolean;
  }[];
}

/**
 * Who paid it. `paidByPlatform`: it is settled by nothing but payments that we booked for the platform. `paidByOthers`:
 * payments of an open invoice, less ours; they are settled with it in full, or with a part of it, or not yet.
 */
export function payersOf({ state, total, open, settling }: PaidInvoice): {
  readonly paidByPlatform: boolean;
  readonly paidByOthers: Decimal | null;
} {
  const settled = settling.filter(({ isReconciled }) => isReconciled);
  const isOurs = ({ description }: (typeof settling)[number]): boolean => isOurPayment(description);
  const ours = Decimal.sum(settling.filter(isOurs).map(({ amount }) => amount));
  const others = total.minus(open).minus(ours);
  return {
    paidByPlatform: state === "paid" && settled.length > 0 && settled.every(isOurs),
    paidByOthers: state === "posted" && others.sign > 0 ? others : null,
  };
}
