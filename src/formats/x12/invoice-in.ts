/** Transaction set 810 as invoices of the books: those that our company issued, as its ERP sends them. */
import { MONEY } from "../../ledger/changes.ts";
import type { InvoiceRecord } from "../../ledger/records.ts";
import type { Decimal } from "../../core/decimal.ts";
import {
  all,
  at,
  cents,
  codeOf,
  day,
  expectCount,
  expectKnown,
  first,
  loops,
  money,
  needed,
  placeOf,
  productIn,
  type Reading,
  recordOf,
  refused,
  type SetReader,
  sumOf,
  unitIn,
} from "./records.ts";
import { roundHalfUp } from "./rounding.ts";
import type { Segment } from "./syntax.ts";
import { joined } from "./write.ts";

export const readInvoice: SetReader = (reading, set) => {
  const { options, currency } = reading;
  const segments = set.segments.slice(1, -1);
  const { before, loops: lines, after } = loops(segments, "IT1", ["TDS"]);
  expectCount(segments, lines.length);
  const big = first(segments, "BIG");
  const number = needed(at(big, 2), "BIG02");
  expectKnown(big, 7, INVOICES, NO_INVOICE);
  expectKnown(big, 8, PURPOSES, OTHER_PURPOSE);
  const seller = codeOf(first(before, "N1", "SE", "SU", "RI"));
  if (seller !== options.ourCode)
    throw refused(
      "other-issuer",
      `the invoice was issued by ${seller ?? "nobody who is named"}, not by ${options.ourCode ?? "us"}`,
      "N104",
    );
  const invoiceDate = needed(day(at(big, 1)), "BIG01");
  const total = needed(cents(at(first(after, "TDS"), 1)), "TDS01");
  const charged = all(after, "SAC");
  const made = linesOf(reading, lines, charged);
  const { taxes, untaxed, tax } = taxed(reading, lines, after, made, total);
  const record: InvoiceRecord = {
    number,
    id: number,
    type: "out",
    state: "posted",
    reference: at(big, 4),
    description: joined(all(before, "NTE").map((note) => at(note, 2) ?? "")),
    partyCode: needed(codeOf(first(before, "N1", "BT", "BY")), "N104 of N1 BT"),
    partyCompanyId: null,
    currency: at(first(before, "CUR"), 2) ?? currency,
    invoiceDate,
    dueDate: dueDay(first(before, "ITD"), invoiceDate),
    untaxed,
    tax,
    total,
    amountToPay: total,
    paidDate: null,
    paidByPlatform: false,
    paidByOthers: null,
    clearedBy: MONEY,
    platformId: null,
    lines: made,
    taxes,
  };
  return [recordOf(number, placeOf(reading, set), record)];
};

/** Consolidated, debit invoice, debit memo, final bill, product or service: data element 640. */
const INVOICES = ["CI", "DI", "DR", "FB", "PR"];
const NO_INVOICE = {
  code: "other-type",
  message:
    "it is no plain invoice, such as a credit memo, of which some send amounts without a minus",
};
/** Original, replacement, duplicate: data element 353. */
const PURPOSES = ["00", "05", "07"];
const OTHER_PURPOSE = {
  code: "other-purpose",
  message: "it is no original, such as one that cancels an invoice",
};

type Line = InvoiceRecord["lines"][number];

/** Lines, and allowances and charges of the whole invoice as lines of their own. */
function linesOf(
  reading: Reading,
  lines: readonly (readonly Segment[])[],
  charged: readonly Segment[],
): Line[] {
  return [
    ...lines.flatMap((line) => [
      lineOf(reading, line),
      ...all(line, "SAC").map((sac) => chargeOf(sac)),
    ]),
    ...charged.map(chargeOf),
  ];
}

function lineOf({ options }: Reading, segments: readonly Segment[]): Line {
  const it1 = segments[0];
  const quantity = needed(money(at(it1, 2)), "IT102");
  const unitPrice = needed(money(at(it1, 4)), "IT104");
  const code = at(it1, 3);
  const text = joined(all(segments, "PID").map((pid) => at(pid, 5) ?? ""));
  const bol = at(first(segments, "REF", "BM"), 2);
  const isPiece = code === "EA" || code === null;
  return {
    product: productIn(it1, 6, options.product),
    productName: text,
    description: [text, bol === null ? null : `BOL ${bol}`]
      .filter((one) => one !== null)
      .join(", "),
    quantity,
    unit: isPiece ? null : unitIn(options, code),
    unitPrice,
    amount: roundHalfUp(quantity.times(unitPrice)),
    account: null,
  };
}

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
      `lines and charges come to ${untaxed.fixed(2)}, taxes to ${sum(both).fixed(2)}; TDS01 says ${total.fixed(2)}`,
      "TDS01",
    );
  const names = new Map(Object.entries(options.taxes).map(([name, code]) => [code, name]));
  const taxes = chosen.map((txi) => {
    const code = needed(at(txi, 1), "TXI01");
    const base = money(at(txi, 8)) ?? untaxed;
    return {
      description: names.get(code) ?? code,
      account: null,
      base,
      amount: needed(money(at(txi, 2)), "TXI02"),
    };
  });
  return { taxes, untaxed, tax: sum(chosen) };
}

const sum = (taxes: readonly Segment[]): Decimal => sumOf(taxes.map((txi) => money(at(txi, 2))));

function dueDay(itd: Segment | undefined, invoiceDate: string): string | null {
  const named = day(at(itd, 6));
  const days = at(itd, 7);
  if (named !== null || days === null) return named;
  const due = new Date(`${invoiceDate}T00:00:00Z`);
  due.setUTCDate(due.getUTCDate() + Number(days));
  return due.toISOString().slice(0, 10);
}
