/** Transaction set 820 as invoices of the books that were paid: what marks them as paid on the platform. */
import { MONEY } from "../../ledger/changes.ts";
import type { InvoiceRecord } from "../../ledger/records.ts";
import type { Change } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import {
  all,
  at,
  codeOf,
  day,
  faulty,
  first,
  loops,
  money,
  needed,
  placeOf,
  type Reading,
  recordOf,
  refused,
  type SetReader,
  sumOf,
} from "./records.ts";
import type { Segment, TransactionSet } from "./syntax.ts";

export const readRemittance: SetReader = (reading, set) => {
  const segments = set.segments.slice(1, -1);
  const bpr = first(segments, "BPR");
  const { before, loops: payments } = loops(segments, "RMR", ["SE"]);
  const paid = needed(money(at(bpr, 2)), "BPR02");
  const sum = sumOf(payments.map(([rmr]) => money(at(rmr, 4))));
  const fault = faultOfWhole(segments, paid, sum);
  return payments.flatMap((payment) => paymentOf(reading, set, { before, payment, fault }));
};

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
    `the payments come to ${sum.fixed(2)}; BPR02 says ${paid.fixed(2)}`,
    "BPR02",
  );
}

interface Payment {
  readonly before: readonly Segment[];
  readonly payment: readonly Segment[];
  readonly fault: Refused | null;
}

/** One that cannot be read leaves the others alone. */
function paymentOf(
  reading: Reading,
  set: TransactionSet,
  { before, payment, fault }: Payment,
): Change[] {
  const [rmr] = payment;
  const number = at(rmr, 2);
  const origin = placeOf(reading, set, rmr);
  try {
    if (at(rmr, 1) !== "IV")
      throw refused("no-invoice", `RMR01 is ${at(rmr, 1) ?? "empty"}, not IV`, "RMR01");
    const named = needed(number, "RMR02");
    if (fault !== null) throw fault;
    const bpr = first(before, "BPR");
    const date =
      day(at(bpr, 16)) ??
      day(at(first(before, "DTM"), 2)) ??
      day(at(first(payment, "DTM", "003"), 2));
    return [recordOf(named, origin, settledBy(reading, before, rmr, named, needed(date, "BPR16")))];
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return [faulty(number, origin, set, error.fault)];
  }
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
    throw refused("discount", `a discount of ${discount.fixed(2)} was taken (RMR06)`, "RMR06");
  if (paid.sign <= 0) throw refused("not-a-payment", `RMR04 is ${paid.text}`, "RMR04");
  const open = total.minus(paid);
  if (open.sign < 0)
    throw refused("overpaid", `${paid.fixed(2)} was paid of ${total.fixed(2)}`, "RMR04");
  const isPaid = open.sign === 0;
  const payer = first(before, "N1", "PR");
  return {
    number,
    id: number,
    type: "out",
    state: isPaid ? "paid" : "posted",
    reference: at(first(before, "TRN"), 2),
    description: null,
    partyCode: needed(codeOf(payer) ?? at(payer, 2), "N1 PR"),
    partyCompanyId: null,
    currency: at(first(before, "CUR"), 2) ?? currency,
    invoiceDate: paidDate,
    dueDate: null,
    untaxed: total,
    tax: Decimal.zero,
    total,
    amountToPay: open,
    paidDate: isPaid ? paidDate : null,
    paidByPlatform: false,
    paidByOthers: isPaid ? null : paid,
    clearedBy: MONEY,
    platformId: null,
    lines: [],
    taxes: [],
  };
}
