/**
 * A reconciliation as plain-text double-entry journals, so that hledger proves the sums: `hledger check -s ordereddates`.
 * The period's journal always passes. The agreement journal includes it and passes only when nothing differs.
 */
import { Decimal } from "../core/decimal.ts";
import { exitCodes, FuelbridgeError } from "../core/errors.ts";
import type { HoldingKind } from "../core/holdings.ts";
import { byText } from "../core/text.ts";
import { type Bucket, isOpen, type Side } from "./case.ts";
import type { Report } from "./report.ts";
import type { CaseRow } from "./rows.ts";
import { moneyKinds } from "./sums.ts";

/**
 * One entry per case: the platform's amount, the books' with the opposite sign, and what differs on an account of its
 * own. So hledger proves by every entry's balance that what is called equal is equal. The last entry asserts the totals
 * of the records as they were read.
 * @throws FuelbridgeError for an amount that is finer than cents, and for a reconciliation that failed.
 */
export function periodJournal(report: Report): string {
  const entries = entriesOf(report);
  const control = controlOf(report);
  const accounts = new Set(
    [...entries, control].flatMap(({ postings }) => postings.map(accountOf)),
  );
  return `${[
    `; fuelbridge reconcile ${wordsOf(report)}, as both sides were at ${report.at}.`,
    "; platform: what the platform holds, by party. books: what the books hold, with the opposite sign: an entry",
    "; balances only where both say the same, or with what differs in `difference`, an account for each case.",
    "; unequal: cases that differ, those without money too. outofscope: what only one side has, rightly.",
    "; accepted: what differs and a person has accepted as it is.",
    "; Codes are percent-escaped.",
    "decimal-mark .",
    "; Four places: with two, hledger 1.25 takes half a cent for nothing.",
    `commodity 1000.0000 ${report.currency}`,
    "commodity 1. CASE",
    ...[...accounts].toSorted(byText).map((account) => `account ${account}`),
    "",
    ...entries.map(inText),
    inText(control),
  ].join("\n")}\n`;
}

/**
 * Asserts that the difference of every case is nothing, one by one, so that a cent here and a cent there cannot cancel;
 * and that no case is unequal. `period`: the file of the period's journal, beside this one.
 * @throws FuelbridgeError as {@link periodJournal}
 */
export function agreementJournal(report: Report, period: string): string {
  const leaves = new Set(
    entriesOf(report)
      .flatMap(({ postings }) => postings)
      .filter(({ account }) => /^(?:difference|unequal):(?!contra$)/.test(account))
      .map(({ account, commodity }) => `    ${account}  0 ${commodity} = 0 ${commodity}`),
  );
  return `${[
    `; Passes only when both sides agree (fuelbridge reconcile ${wordsOf(report)}).`,
    `include ${period}`,
    "",
    `${lastDay(report)} * agreement`,
    ...leaves,
  ].join("\n")}\n`;
}

interface Posting {
  readonly account: string;
  readonly amount: Decimal;
  readonly commodity: string;
  /** What the account must come to. */
  readonly total?: Decimal;
}

interface Entry {
  readonly day: string;
  readonly title: string;
  readonly postings: readonly Posting[];
}

const accountOf = ({ account }: Posting): string => account;

function entriesOf(report: Report): Entry[] {
  if (report.state === "failed")
    throw new FuelbridgeError(
      exitCodes.runtime,
      "reconciliation-failed",
      `the reconciliation failed and judged nothing: ${report.failures.join("; ")}`,
      { next: "Remove the cause, reconcile again, and write the journal then." },
    );
  const last = lastDay(report);
  return report.cases
    .filter(({ within }) => within)
    .flatMap((row) => {
      const postings = postingsOf(row, report.currency);
      const day = row.day ?? last;
      const title = `(${escaped(row.number)}) ${row.kind} ; case:${row.case}`;
      return postings.length === 0 ? [] : [{ day, title, postings }];
    })
    .toSorted((one, other) => byText(one.day, other.day));
}

function postingsOf(row: CaseRow, currency: string): Posting[] {
  const postings: Posting[] = [];
  const post = (account: string, amount: Decimal, commodity = currency): void => {
    if (amount.sign !== 0) postings.push({ account, amount, commodity });
  };
  if (moneyKinds.has(row.kind)) {
    const [platform, books] = [cents(row, "platform"), cents(row, "books")];
    post(ledgerOf("platform", row.kind, row.parties.platform), platform);
    post(ledgerOf("books", row.kind, row.parties.books), books.negated());
    const top = APART[row.bucket] ?? "difference";
    const own = [row.party ?? "none", row.number, row.case].map(escaped).join(":");
    post(`${top}:${own}`, books.minus(platform));
  }
  if (isOpen(row)) {
    post(`unequal:${row.bucket.replaceAll(" ", "-")}`, ONE, "CASE");
    post("unequal:contra", ONE.negated(), "CASE");
  }
  return postings;
}

const ONE = Decimal.of("1");

/** Accounts of what may differ and keeps nothing from agreeing. */
const APART: Partial<Readonly<Record<Bucket, string>>> = {
  "out of scope": "outofscope",
  accepted: "accepted",
};

/** What the party owes by it. @throws FuelbridgeError when it is finer than cents */
function cents({ kind, number, amount }: CaseRow, side: Side): Decimal {
  const value = Decimal.of(amount[side]);
  if (value.round(2).equals(value)) return signed(kind, value);
  throw new FuelbridgeError(
    exitCodes.runtime,
    "finer-than-cents",
    `${kind} ${number} has ${amount[side]} on the side "${side}", which is finer than cents: a journal cannot prove it`,
    { next: `Correct the amount of ${number} on that side, then write the journal again.` },
  );
}

/** A payment takes from what its party owes; what we owe is negative. */
function signed(kind: HoldingKind, amount: Decimal): Decimal {
  return kind === "payment" || kind === "bill" ? amount.negated() : amount;
}

function ledgerOf(side: Side, kind: HoldingKind, party: string | null): string {
  const ledger = kind === "invoice" || kind === "payment" ? "receivable" : "payable";
  return `${side}:${ledger}:${escaped(party ?? "none")}`;
}

/** Per account, what the records as they were read come to. */
function controlOf(report: Report): Entry {
  const totals = new Map<string, Decimal>();
  for (const { side, kind, party, amount } of report.accounts) {
    const account = ledgerOf(side, kind, party);
    const before = totals.get(account) ?? Decimal.zero;
    const owed = signed(kind, Decimal.of(amount));
    totals.set(account, side === "platform" ? before.plus(owed) : before.minus(owed));
  }
  return {
    day: lastDay(report),
    title: "control totals ; of the records as they were read",
    postings: [...totals].map(([account, total]) => ({
      account,
      amount: Decimal.zero,
      commodity: report.currency,
      total,
    })),
  };
}

/** On or after every entry: hledger checks that dates are in order. */
function lastDay({ period, today, cases }: Report): string {
  return [period?.to ?? today, ...cases.flatMap(({ day }) => day ?? [])].reduce((last, day) =>
    day > last ? day : last,
  );
}

function inText({ day, title, postings }: Entry): string {
  const lines = postings.map(({ account, amount, commodity, total }) => {
    const digits = commodity === "CASE" ? amount.plain() : amount.fixed(2);
    const asserted = total === undefined ? "" : ` = ${total.fixed(2)} ${commodity}`;
    return `    ${account}  ${digits} ${commodity}${asserted}`;
  });
  return `${[`${day} * ${title}`, ...lines].join("\n")}\n`;
}

const wordsOf = ({ period }: Report): string =>
  period === null ? "of everything" : `${period.from} to ${period.to}`;

/** As in a URL: what hledger could take for its own signs cannot occur. */
const escaped = (text: string): string =>
  text === ""
    ? "none"
    : text.replaceAll(/[^A-Za-z0-9._-]/gu, (sign) =>
        Buffer.from(sign).reduce(
          (hex, byte) => `${hex}%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
          "",
        ),
      );
