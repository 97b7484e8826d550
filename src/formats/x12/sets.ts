/**
 * Transaction sets as records of books and of lists: 810 as invoices, 832 as prices, 820 as invoices that were paid, 855 as
 * notes on our orders, 856 as delivery tickets.
 */
import type { FaultCode } from "../../core/faults.ts";
import { hash } from "node:crypto";
import type { z } from "zod";
import type { Change } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { amountText } from "../../core/text.ts";
import { dayBefore, dayOfDigits } from "../../core/time.ts";
import type { InvoiceRecord, PriceRecord } from "../../ledger/documents.ts";
import { MONEY } from "../../ledger/documents.ts";
import { changeIn, FileFault, type RecordPlace } from "../format.ts";
import type { deliveryTickets, orderNotes, PlainTicketLine } from "../table/layouts.ts";
import type { x12Layouts, X12Options } from "./config.ts";
import {
  all,
  at,
  componentsOf,
  explicitDecimal,
  first,
  impliedDecimals,
  loops,
  type Segment,
  type TransactionSet,
} from "./grammar.ts";
import { joined, roundHalfUp } from "./set-writer.ts";

export interface Reading {
  readonly options: X12Options;
  /** ISO 4217. */
  readonly currency: string;
  /** The file's name, for people. */
  readonly file: string;
  readonly isToCome: (moment: Told) => boolean;
}

/** The records of one set that is without faults. @throws Refused when nothing of it can be taken */
type SetReader = (reading: Reading, set: TransactionSet) => Change[];

/** A set that is one record, known by an element; or by its own id, where what it names is not itself. */
const single =
  (
    segment: string,
    element: number,
    make: (reading: Reading, segments: readonly Segment[], id: string) => object,
  ): SetReader =>
  (reading, set) => {
    const segments = set.segments.slice(1, -1);
    const named = at(first(segments, segment), element);
    return [
      changeIn(recordPlace(reading, set, named), () => {
        const id = needed(named, `${segment}0${element}`);
        const record = make(reading, segments, id);
        return ["id" in record && typeof record.id === "string" ? record.id : id, record];
      }),
    ];
  };

/**
 * CTT01 is the number of lines (IT1 of an 810, LIN of an 832, PO1 of an 855, HL of an 856), where the set has a CTT.
 * @throws Refused where it says another number: lines are missing, or there are too many
 */
function expectCount(segments: readonly Segment[], lines: number, or = lines): void {
  const told = at(first(segments, "CTT"), 1);
  if (told !== null && ![lines, or].map(String).includes(money(told)?.plain() ?? ""))
    throw refused("lines-counted", `CTT01 says ${told} lines, and there are ${lines}`, "CTT01");
}

/** Codes that decide what the figures mean: the element, which of its codes are taken, and what any other would mean. */
const TAKEN = {
  // Data element 640: consolidated, debit invoice, debit memo, final bill, product or service.
  BIG07: {
    known: "CI DI DR FB PR",
    code: "other-type",
    message:
      "it is no plain invoice, such as a credit memo, of which some send amounts without a minus",
  },
  // Data element 353: original, replacement, duplicate.
  BIG08: {
    known: "00 05 07",
    code: "other-purpose",
    message: "it is no original, such as one that cancels an invoice",
  },
  // Original, change, replacement, confirmation, duplicate.
  BAK01: {
    known: "00 04 05 06 07",
    code: "other-purpose",
    message: "it says nothing of the order, such as one that takes an answer back",
  },
  // Original, addition, change, replacement, duplicate.
  BCT10: {
    known: "00 02 04 05 07",
    code: "other-purpose",
    message: "it tells no prices that hold, such as one that deletes them",
  },
  // Data element 875: changed, added, reinstated.
  G5301: {
    known: "001 021 025",
    code: "not-offered",
    message: "the product is not offered any more, or what is meant is not known",
  },
  // Data element 353: original, cancellation, replacement, duplicate.
  BSN01: {
    known: "00 01 05 07",
    code: "other-purpose",
    message: "it tells no delivery",
  },
  // Data element 639: per piece, and per unit of measure.
  CTP09: { known: "PE UM", code: "other-price", message: "the price is not that of one unit" },
  CTP11: { known: "1", code: "other-price", message: "the price is not that of one unit" },
} as const;

/** An empty code is none. @throws Refused for one that is not taken */
function expectTaken(segment: Segment | undefined, element: keyof typeof TAKEN): void {
  const value = at(segment, Number(element.slice(-2)));
  const { known, code, message } = TAKEN[element];
  if (value !== null && !known.split(" ").includes(value))
    throw refused(code, `${element} is ${value}: ${message}`, element);
}

const day = (text: string | null): string | null => (text === null ? null : dayOfDigits(text));
const money = (text: string | null): Decimal | null =>
  text === null ? null : explicitDecimal(text);
const cents = (text: string | null): Decimal | null =>
  text === null ? null : impliedDecimals(text, 2);

const sumOf = (values: readonly (Decimal | null)[]): Decimal =>
  Decimal.sum(values.flatMap((value) => (value === null ? [] : [value])));

/** The code of the product among the pairs that begin at an element; without ours, the first. */
function productIn(segment: Segment | undefined, from: number, wanted: string): string | null {
  const pairs = Array.from({ length: 10 }, (_, pair) => from + 2 * pair).map((place) => ({
    qualifier: at(segment, place),
    code: at(segment, place + 1),
  }));
  return pairs.find(({ qualifier }) => qualifier === wanted)?.code ?? null;
}

/** What the site calls the partner's unit. @throws Refused */
function unitIn({ units }: X12Options, code: string | null): string | null {
  if (code === null) return null;
  const [unit] = Object.entries(units).find(([, known]) => known === code) ?? [];
  return unit === undefined ? code : (BOOKS[unit] ?? unit);
}

/** Units as the records of books call them. */
const BOOKS: Readonly<Record<string, string>> = { ltr: "l", mt: "t" };

/** The code of a party. A name alone identifies nobody. */
const codeOf = (n1: Segment | undefined): string | null => at(n1, 4);

/** Where a record stands; what is shown of one that is refused are its own segments, of a set that is one record all of them. */
export const recordPlace = (
  reading: Reading,
  set: TransactionSet,
  id: string | null,
  own: readonly Segment[] = set.segments,
): RecordPlace => ({
  id,
  origin: `${reading.file} set ${set.id} ${set.control} segment ${own[0]?.at ?? set.at}`,
  raw: said(own),
});

/** What segments say, wherever they stand. */
const said = (segments: readonly Segment[]): string[][] =>
  segments.map(({ id, elements }) => [id, ...elements]);

const refused = (code: FaultCode, message: string, field: string): Refused =>
  new Refused({
    code,
    message,
    next: "Ask the partner to correct it and to send it again under a new control number.",
    field,
  });

/** @throws Refused where it is missing */
function needed<T>(value: T | null | undefined, field: string): T {
  if (value !== null && value !== undefined) return value;
  throw refused("missing", `${field} is missing`, field);
}

/** Of an invoice of ours, what no set tells. */
const untold = {
  type: "out",
  partyCompanyId: null,
  paidByPlatform: false,
  clearedBy: MONEY,
  platformId: null,
} as const;

/* Transaction set 810 as invoices of the books: those that our company issued, as its ERP sends them. */

/** @throws Refused */
function invoiceIn(reading: Reading, segments: readonly Segment[], number: string): InvoiceRecord {
  const { options, currency } = reading;
  const { before, loops: lines, after } = loops(segments, "IT1", ["TDS"]);
  expectCount(segments, lines.length);
  const big = first(segments, "BIG");
  expectTaken(big, "BIG07");
  expectTaken(big, "BIG08");
  const seller = codeOf(first(before, "N1", "SE", "SU", "RI"));
  if (seller !== options.ourCode)
    throw refused(
      "other-issuer",
      `the invoice was issued by ${seller ?? "nobody who is named"}, not by ${options.ourCode ?? "us"}`,
      "N104",
    );
  const invoiceDate = needed(day(at(big, 1)), "BIG01");
  const total = needed(cents(at(first(after, "TDS"), 1)), "TDS01");
  // Allowances and charges of a line, and those of the whole invoice, are lines of their own.
  const made = [
    ...lines.flatMap((line) => [lineOf(reading, line), ...chargesIn(line)]),
    ...chargesIn(after),
  ];
  return {
    ...untold,
    number,
    id: number,
    state: "posted",
    reference: at(big, 4),
    description: joined(all(before, "NTE").map((note) => at(note, 2) ?? "")),
    partyCode: needed(codeOf(first(before, "N1", "BT", "BY")), "N104 of N1 BT"),
    currency: at(first(before, "CUR"), 2) ?? currency,
    invoiceDate,
    dueDate: dueDay(first(before, "ITD"), invoiceDate),
    ...taxed(reading, lines, after, made, total),
    total,
    amountToPay: total,
    paidDate: null,
    paidByOthers: null,
    lines: made,
  };
}

type Line = NonNullable<InvoiceRecord["lines"]>[number];

function lineOf({ options }: Reading, segments: readonly Segment[]): Line {
  const it1 = segments[0];
  const quantity = needed(money(at(it1, 2)), "IT102");
  const unitPrice = needed(money(at(it1, 4)), "IT104");
  const code = at(it1, 3);
  const text = joined(all(segments, "PID").map((pid) => at(pid, 5) ?? ""));
  const bol = at(first(segments, "REF", "BM"), 2);
  return {
    product: productIn(it1, 6, options.product),
    productName: text,
    // Nothing is empty text: a line without a PID and a BOL is called as its product is.
    description: [text, bol === null ? null : `BOL ${bol}`].filter(Boolean).join(", ") || null,
    quantity,
    unit: code === "EA" ? null : unitIn(options, code),
    unitPrice,
    amount: roundHalfUp(quantity.times(unitPrice)),
    account: null,
  };
}

/** Data element 248: with N nothing is charged, and what it would be is told for people. */
const chargesIn = (segments: readonly Segment[]): Line[] =>
  all(segments, "SAC")
    .filter((sac) => at(sac, 1) !== "N")
    .map(chargeOf);

function chargeOf(sac: Segment): Line {
  const amount = needed(cents(at(sac, 5)), "SAC05");
  return {
    product: null,
    productName: null,
    description: at(sac, 15) ?? at(sac, 2) ?? "charge",
    quantity: null,
    unit: null,
    unitPrice: null,
    amount: at(sac, 1) === "A" ? amount.negated() : amount,
    account: null,
  };
}

/**
 * Taxes stand with the lines, at the end, or at both as the same ones. All of it comes to TDS01, to the cent.
 * @throws Refused
 */
function taxed(
  { options }: Reading,
  lines: readonly (readonly Segment[])[],
  after: readonly Segment[],
  made: readonly Line[],
  total: Decimal,
): Pick<InvoiceRecord, "taxes" | "untaxed" | "tax"> {
  const own = lines.flatMap((line) => all(line, "TXI"));
  const atEnd = all(after, "TXI");
  const untaxed = sumOf(made.map(({ amount }) => amount));
  const both = [...own, ...atEnd];
  const isRepeated = own.length > 0 && sum(own).equals(sum(atEnd));
  const chosen = (isRepeated ? [both, own] : [both]).find((taxes) =>
    untaxed.plus(sum(taxes)).equals(total),
  );
  if (chosen === undefined)
    throw refused(
      "does-not-add-up",
      `lines and charges come to ${amountText(untaxed)}, taxes to ${amountText(sum(both))}; TDS01 says ${amountText(total)}`,
      "TDS01",
    );
  const names = new Map(Object.entries(options.taxes).map(([name, code]) => [code, name]));
  const levied = new Map(Object.entries(options.authorities).map(([name, code]) => [code, name]));
  const taxes = chosen.map((txi) => {
    const code = needed(at(txi, 1), "TXI01");
    const base = money(at(txi, 8)) ?? untaxed;
    return {
      description: names.get(code) ?? code,
      account: null,
      base,
      amount: needed(money(at(txi, 2)), "TXI02"),
      authority: levied.get(at(txi, 5) ?? "") ?? at(txi, 5),
    };
  });
  return { taxes, untaxed, tax: sum(chosen) };
}

const sum = (taxes: readonly Segment[]): Decimal => sumOf(taxes.map((txi) => money(at(txi, 2))));

function dueDay(itd: Segment | undefined, invoiceDate: string): string | null {
  const named = day(at(itd, 6));
  const days = at(itd, 7);
  if (named !== null || days === null) return named;
  return dayBefore(invoiceDate, -Number(days));
}

/* Transaction set 832 as prices of the books: a rack price for each terminal and product. */

function readCatalogue(reading: Reading, set: TransactionSet): Change[] {
  const segments = set.segments.slice(1, -1);
  const { before, loops: lines } = loops(segments, "LIN", ["CTT"]);
  expectCount(segments, lines.length);
  expectTaken(first(before, "BCT"), "BCT10");
  expectCurrency(reading, segments);
  const ofSet = terminalIn(before);
  return lines.map((line) => {
    const terminal = terminalIn(line) ?? ofSet;
    const product = productIn(line[0], 2, reading.options.product);
    const id = terminal === null || product === null ? null : `${terminal.trim()}|${product}`;
    return changeIn(recordPlace(reading, set, id, line), () => {
      const list = needed(terminal, "the terminal (N104 of N1 SF)");
      const named = needed(product, `the product (LIN03 with LIN02 ${reading.options.product})`);
      expectHolding(reading, line, before);
      const record: PriceRecord = { list, product: named, ...priceIn(reading, line, named) };
      return [`${list.trim()}|${named}`, record];
    });
  });
}

const terminalIn = (segments: readonly Segment[]): string | null =>
  codeOf(first(segments, "N1", "SF", "TM", "ST"));

/** @throws Refused: a rack price has no currency of its own */
function expectCurrency({ currency }: Reading, segments: readonly Segment[]): void {
  const other = all(segments, "CUR").find((cur) => at(cur, 2) !== currency);
  if (other !== undefined)
    throw refused(
      "other-currency",
      `CUR02 is ${at(other, 2) ?? "empty"}; the company's currency is ${currency}`,
      "CUR02",
    );
}

/** @throws Refused where it is not one price for one unit, whatever the quantity */
function priceIn(
  { options }: Reading,
  line: readonly Segment[],
  product: string,
): Pick<PriceRecord, "price" | "unit"> {
  const prices = all(line, "CTP").filter((ctp) => (at(ctp, 2) ?? options.price) === options.price);
  const [ctp, second] = prices;
  if (second !== undefined)
    throw refused("several-prices", `${product} has ${prices.length} unit prices`, "CTP");
  const quantity = money(at(ctp, 4));
  if (quantity !== null && !quantity.isInteger)
    throw refused("quantity-break", `the price is for ${quantity.text}`, "CTP04");
  if (quantity !== null && quantity.plain() !== "1" && quantity.sign !== 0)
    throw refused("quantity-break", `the price holds from ${quantity.plain()} on`, "CTP04");
  const price = needed(money(at(ctp, 3)), "CTP03");
  expectTaken(first(line, "G53"), "G5301");
  const told = at(ctp, 5) ?? "";
  const [code = "", ...factors] = componentsOf(told);
  const isOne = (text: string | null): boolean => money(text)?.plain() === "1";
  if (factors.some((factor) => factor !== "" && !isOne(factor)))
    throw refused("other-price", `CTP05 is ${told}: ${TAKEN.CTP09.message}`, "CTP05");
  if (at(ctp, 7) !== null && !isOne(at(ctp, 7)))
    throw refused("other-price", `CTP07 is ${at(ctp, 7) ?? ""}: the price has a factor`, "CTP07");
  expectTaken(ctp, "CTP09");
  expectTaken(ctp, "CTP11");
  needed(at(ctp, 5), "CTP05");
  return { price, unit: needed(unitIn(options, code), "CTP05") };
}

/** Data element 623: whose clock a time is by. Nothing, or LT: the company's. */
const ZONES: Readonly<Record<string, string>> = {
  ET: "America/New_York",
  CT: "America/Chicago",
  MT: "America/Denver",
  PT: "America/Los_Angeles",
  ES: "Etc/GMT+5",
  CS: "Etc/GMT+6",
  MS: "Etc/GMT+7",
  PS: "Etc/GMT+8",
  ED: "Etc/GMT+4",
  CD: "Etc/GMT+5",
  MD: "Etc/GMT+6",
  PD: "Etc/GMT+7",
  GM: "UTC",
  UT: "UTC",
};

/** A moment as a set tells it: `hour` 24 is the end of the day; `zone`: null, the company's. */
export type Told = ReturnType<typeof toldIn>[number];

/**
 * When the prices of these segments begin to hold (`007`), or hold no longer (`036`). @throws FileFault for a clock that is not
 * known, and for a period
 */
export const toldIn = (segments: readonly Segment[], qualifier: "007" | "036") =>
  all(segments, "DTM")
    .filter((dtm) => at(dtm, 1) === qualifier)
    .flatMap((dtm) => {
      const date = day(at(dtm, 2));
      const whole = qualifier === "007" ? "00" : "24";
      const [, hour = whole, minute = "00"] = /^(\d\d)(\d\d)/.exec(at(dtm, 3) ?? "") ?? [];
      const code = at(dtm, 4);
      const zone = ZONES[code ?? ""] ?? null;
      if (zone === null && code !== null && code !== "LT")
        throw new FileFault(`has prices from a time on that is by the clock ${code} (DTM04)`);
      if (at(dtm, 5) !== null)
        throw new FileFault(`has prices of a period (DTM05), not from a day on (DTM02)`);
      return date === null ? [] : [{ day: date, hour, minute, code, zone }];
    });

export const wordsOf = ({ day, hour, minute, code }: Told): string =>
  [day, hour === "24" ? "" : `${hour}:${minute}`, code ?? ""].filter(Boolean).join(" ");

/** A line's own end counts instead of its set's. @throws Refused for a price that holds no longer */
function expectHolding({ isToCome }: Reading, line: Segment[], before: Segment[]): void {
  const [ended] =
    [line, before]
      .map((segments) => toldIn(segments, "036"))
      .find(({ length }) => length > 0)
      ?.filter((moment) => !isToCome(moment)) ?? [];
  if (ended !== undefined)
    throw refused("ended", `the price held until ${wordsOf(ended)} (DTM 036)`, "DTM");
}

/* Transaction set 820 as invoices of the books that were paid: what marks them as paid on the platform. */

function readRemittance(reading: Reading, set: TransactionSet): Change[] {
  const segments = set.segments.slice(1, -1);
  const bpr = first(segments, "BPR");
  const { before, loops: payments } = loops(segments, "RMR", ["SE"]);
  const paid = needed(money(at(bpr, 2)), "BPR02");
  const sum = sumOf(payments.map(([rmr]) => money(at(rmr, 4))));
  const fault = faultOfWhole(segments, paid, sum);
  return payments.map((payment) => {
    const [rmr] = payment;
    return changeIn(recordPlace(reading, set, at(rmr, 2), payment), () => {
      if (at(rmr, 1) !== "IV")
        throw refused("no-invoice", `RMR01 is ${at(rmr, 1) ?? "empty"}, not IV`, "RMR01");
      const number = needed(at(rmr, 2), "RMR02");
      if (fault !== null) throw fault;
      const date =
        day(at(bpr, 16)) ??
        day(at(first(before, "DTM"), 2)) ??
        day(at(first(payment, "DTM", "003"), 2));
      return [number, settledBy(reading, before, rmr, number, needed(date, "BPR16"))];
    });
  });
}

/** With a payment, pay only, credit advice, remittance only, split (twice): data element 305. */
const PAYMENTS: ReadonlySet<string> = new Set(["C", "D", "E", "I", "U", "X"]);

/** What keeps every payment of it from counting; null: nothing. */
function faultOfWhole(segments: readonly Segment[], paid: Decimal, sum: Decimal): Refused | null {
  const bpr = first(segments, "BPR");
  if (at(bpr, 3) !== "C")
    return refused(
      "not-a-credit",
      `BPR03 is ${at(bpr, 3) ?? "empty"}: it is no payment to us`,
      "BPR03",
    );
  const handling = at(bpr, 1) ?? "empty";
  if (!PAYMENTS.has(handling) || at(bpr, 4) === "NON")
    return refused(
      "not-paid",
      `BPR01 is ${handling} and BPR04 is ${at(bpr, 4) ?? "empty"}: it does not say that money was sent, such as a prenotification`,
      "BPR01",
    );
  const [adjustment] = all(segments, "ADX");
  if (adjustment !== undefined)
    return refused(
      "adjusted",
      `the payment is adjusted by ${at(adjustment, 1) ?? "an amount"} (reason ${at(adjustment, 2) ?? "none"}): nobody can tell which invoices are paid in full`,
      "ADX",
    );
  if (paid.equals(sum)) return null;
  return refused(
    "does-not-add-up",
    `the payments come to ${amountText(sum)}; BPR02 says ${amountText(paid)}`,
    "BPR02",
  );
}

/**
 * The invoice as far as a remittance tells of it: what is paid, of how much. Its lines and taxes the mapping of paid
 * invoices does not read. @throws Refused
 */
function settledBy(
  { currency }: Reading,
  before: readonly Segment[],
  rmr: Segment | undefined,
  number: string,
  paidDate: string,
): InvoiceRecord {
  const paid = needed(money(at(rmr, 4)), "RMR04");
  const total = needed(money(at(rmr, 5)), "RMR05");
  const discount = money(at(rmr, 6)) ?? Decimal.zero;
  if (discount.sign !== 0)
    throw refused("discount", `a discount of ${amountText(discount)} was taken (RMR06)`, "RMR06");
  const adjusted = money(at(rmr, 8)) ?? Decimal.zero;
  if (adjusted.sign !== 0)
    throw refused("adjusted", `it is adjusted by ${amountText(adjusted)} (RMR08)`, "RMR08");
  if (paid.sign <= 0) throw refused("not-a-payment", `RMR04 is ${paid.text}`, "RMR04");
  const open = total.minus(paid);
  if (open.sign < 0)
    throw refused("overpaid", `${amountText(paid)} was paid of ${amountText(total)}`, "RMR04");
  const isPaid = open.sign === 0;
  const payer = first(before, "N1", "PR");
  return {
    ...untold,
    number,
    id: number,
    state: isPaid ? "paid" : "posted",
    reference: at(first(before, "TRN"), 2),
    description: null,
    partyCode: needed(codeOf(payer) ?? at(payer, 2), "N1 PR"),
    currency: at(first(before, "CUR"), 2) ?? currency,
    invoiceDate: paidDate,
    dueDate: null,
    untaxed: total,
    tax: Decimal.zero,
    total,
    amountToPay: open,
    paidDate: isPaid ? paidDate : null,
    paidByOthers: isPaid ? null : paid,
    lines: [],
    taxes: [],
  };
}

/* Transaction set 855 as a note on the order that it is of: what the supplier made of it, for people. */

/** Data element 587. */
const ACKNOWLEDGED: Readonly<Record<string, string>> = {
  AC: "acknowledged with changes",
  AD: "acknowledged without changes",
  AE: "acknowledged with exceptions",
  AK: "acknowledged",
  AP: "accepted",
  AT: "accepted",
  RD: "rejected",
  RF: "rejected",
  RJ: "rejected",
};

/** Data element 668. */
const LINE_ACKNOWLEDGED: Readonly<Record<string, string>> = {
  AC: "accepted and shipped",
  AR: "accepted and released for shipment",
  DR: "accepted on another day",
  IA: "accepted",
  IB: "back-ordered",
  IC: "accepted with changes",
  ID: "deleted",
  IF: "on hold",
  IP: "accepted at another price",
  IQ: "accepted with another quantity",
  IR: "rejected",
  IS: "accepted with a substitute",
  R2: "rejected",
};

const worded = (words: Readonly<Record<string, string>>, code: string | null): string =>
  `${words[code ?? ""] ?? "answered"} (${code ?? "no code"})`;

function noteIn(
  _: Reading,
  segments: readonly Segment[],
  orderId: string,
): z.infer<typeof orderNotes.record> {
  const bak = first(segments, "BAK");
  expectTaken(bak, "BAK01");
  const { before, loops: lines } = loops(segments, "PO1", ["CTT", "SE"]);
  expectCount(segments, lines.length);
  const from = first(before, "N1", "SE", "SU", "VN");
  const answers = lines.flatMap((line, place) =>
    all(line, "ACK").map((ack) => {
      const told = [at(ack, 2), at(ack, 3), day(at(ack, 5))].filter((one) => one !== null);
      const words = [worded(LINE_ACKNOWLEDGED, at(ack, 1)), ...told].join(" ");
      return `line ${at(line[0], 1) ?? place + 1}: ${words}`;
    }),
  );
  const theirs = at(bak, 8) === null ? [] : [`their number ${at(bak, 8)}`];
  const words = [`Order ${orderId} ${worded(ACKNOWLEDGED, at(bak, 2))}`, ...theirs, ...answers];
  const content = hash("sha256", JSON.stringify(said(segments)), "hex").slice(0, 8);
  const note = `${at(from, 2) ?? codeOf(from) ?? "The supplier"}: ${words.join("; ")}`;
  return { id: `855 ${orderId} ${content}`, orderId, note };
}

/* Transaction set 856 as a delivery ticket of the shipment: one order, its items, what was lifted and when. */

/** @throws Refused */
function ticketIn(
  reading: Reading,
  segments: readonly Segment[],
  number: string,
): z.infer<typeof deliveryTickets.record> {
  const { ourCode } = reading.options;
  const { loops: levels } = loops(segments, "HL", ["CTT"]);
  const of = (code: string) => levels.filter(([hl]) => at(hl, 3) === code);
  const items = of("I");
  expectCount(segments, levels.length, items.length);
  const bsn = first(segments, "BSN");
  expectTaken(bsn, "BSN01");
  const orders = new Set(of("O").flatMap((level) => at(first(level, "PRF"), 1) ?? []));
  const [orderId = null, another] = orders;
  if (another !== undefined)
    throw refused("several-orders", `the shipment is of ${orders.size} orders`, "PRF01");
  const party = (...roles: string[]): Segment | undefined => first(segments, "N1", ...roles);
  const other = (code: string | null): string | null => (code === ourCode ? null : code);
  const nameOf = (n1: Segment | undefined): string | null => at(n1, 2) ?? codeOf(n1);
  const lifted = first(segments, "DTM", "011");
  const [hours, minutes] = [at(lifted, 3)?.slice(0, 2), at(lifted, 3)?.slice(2, 4)];
  const liftedAt = [day(at(lifted, 2)), minutes ? `${hours}:${minutes}` : null].filter(Boolean);
  const bols = all(segments, "REF").filter((ref) => at(ref, 1) === "BM");
  return {
    number,
    status: at(bsn, 1) === "01" ? "VOID" : "ISSUED",
    orderId,
    supplier: other(codeOf(party("SU", "SE", "VN"))),
    receiver: other(codeOf(party("BY", "BT"))),
    bolNumber: [...new Set(bols.flatMap((ref) => at(ref, 2) ?? []))].join(", ") || null,
    delivered: day(at(first(segments, "DTM", "035", "017", "011"), 2)),
    driver: null,
    carrier: nameOf(party("CA")) ?? at(first(segments, "TD5"), 5) ?? at(first(segments, "TD5"), 3),
    terminal: nameOf(party("SF")),
    destination: nameOf(party("ST")),
    notes: liftedAt.length === 0 ? null : `lifted ${liftedAt.join(" ")}`,
    lines: items.map((item) => itemIn(reading, item)),
  };
}

/** @throws Refused where it is not in gallons, or not in degrees Fahrenheit: nothing is converted */
function itemIn({ options }: Reading, item: readonly Segment[]): PlainTicketLine {
  const sn1 = first(item, "SN1");
  const isGallons = (code: string): boolean => unitIn(options, code) === "gal";
  expectUnit(at(sn1, 3) ?? "empty", isGallons, "SN103", "gallons");
  const measured = (code: string | undefined, isUnit = isGallons, words = "gallons") => {
    const [mea, ...more] = all(item, "MEA").filter(
      (one) => code !== undefined && at(one, 2) === code,
    );
    if (more.some((one) => at(one, 3) !== at(mea, 3)))
      throw refused(
        "measured-twice",
        `MEA03 of ${code} stands there with different values`,
        "MEA03",
      );
    const [unit = ""] = componentsOf(at(mea, 4) ?? "");
    if (unit !== "") expectUnit(unit, isUnit, "MEA04", words);
    return money(at(mea, 3));
  };
  const shipped = needed(money(at(sn1, 2)), "SN102");
  const grossGallons = measured(options.gross);
  const netGallons = measured(options.net) ?? shipped;
  if (![netGallons, grossGallons].some((gallons) => gallons?.equals(shipped)))
    throw refused(
      "measured-twice",
      `SN102 is ${shipped.plain()}: neither the net (${netGallons.plain()}) nor the gross gallons of MEA03`,
      "SN102",
    );
  return {
    product: needed(
      productIn(first(item, "LIN"), 2, options.product),
      `LIN03 (${options.product})`,
    ),
    spec: null,
    grossGallons,
    netGallons,
    temperature: measured(options.temperature, (unit) => unit === "FA", "degrees Fahrenheit"),
    apiGravity: measured(options.gravity, () => true),
  };
}

/** @throws Refused */
function expectUnit(
  code: string,
  isUnit: (code: string) => boolean,
  field: string,
  words: string,
): void {
  if (!isUnit(code))
    throw refused("other-unit", `${field} is ${code}, not a unit of ${words}`, field);
}

/* By the form of the records. */

export interface Kind {
  readonly set: string;
  readonly functionalId: string;
  /** Segments that it cannot be read without. */
  readonly needed: readonly string[];
  readonly read: SetReader;
}

export const KINDS: Readonly<Record<(typeof x12Layouts)[number], Kind>> = {
  "books.invoices": {
    set: "810",
    functionalId: "IN",
    needed: ["BIG", "IT1", "TDS"],
    read: single("BIG", 2, invoiceIn),
  },
  "books.prices": {
    set: "832",
    functionalId: "SC",
    needed: ["BCT", "LIN"],
    read: readCatalogue,
  },
  "books.paidInvoices": {
    set: "820",
    functionalId: "RA",
    needed: ["BPR", "RMR"],
    read: readRemittance,
  },
  "plain/order-notes": {
    set: "855",
    functionalId: "PR",
    needed: ["BAK"],
    read: single("BAK", 3, noteIn),
  },
  "plain/delivery-tickets": {
    set: "856",
    functionalId: "SH",
    needed: ["BSN", "HL"],
    read: single("BSN", 2, ticketIn),
  },
};
