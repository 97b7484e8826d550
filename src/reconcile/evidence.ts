/**
 * A reconciliation as files that an auditor can check without fuelbridge: rows of both sides, totals, the mappings, the
 * journals, and SHA-256 sums of all of them in the form that `sha256sum -c` reads.
 */
import { stringify } from "csv-stringify/sync";
import { byText, guarded } from "../core/text.ts";
import { inWords } from "../ledger/compare.ts";
import { type Bucket, isOpen, moneyKinds, type Side, sides } from "./case.ts";
import type { CaseRow, RecordRow, Report } from "./report.ts";
import { Decimal } from "../core/decimal.ts";
import { exitCodes, FuelbridgeError } from "../core/errors.ts";
import type { HoldingKind } from "../core/holdings.ts";
import { sha256Hex } from "../core/keys.ts";

/** What a pack is about, beside its report. */
export interface EvidenceAbout {
  readonly company: string;
  readonly environment: string;
  /** Of fuelbridge. */
  readonly version: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly by: string;
  /**
   * The newest entry of the store's audit when both sides had been compared, and its hash; null: there was none. The audit
   * up to it cannot be changed or cut off later without disagreeing with the pack.
   */
  readonly audit: { readonly entry: number; readonly hash: string } | null;
  /** The flows with their mappings, and digests of what the mappings and tables say. */
  readonly mappings: {
    readonly flows: readonly {
      readonly flow: string;
      readonly from: string;
      readonly to: string;
      readonly mapping: string;
      readonly options: unknown;
    }[];
    /** SHA-256 by file or folder: the shipped mappings, the site's own, and each cross-reference table. */
    readonly digests: Readonly<Record<string, string>>;
  };
}

export const SUMS = "SHA256SUMS";
/** {@link EvidenceAbout} without the mappings, as JSON. */
export const ABOUT = "about.json";
const PERIOD = "period.journal";

/** By name, without {@link SUMS}. `text`: the report as people read it. @throws FuelbridgeError as the journals */
export function evidenceOf(
  report: Report,
  about: EvidenceAbout,
  text: string,
): Readonly<Record<string, string>> {
  const { cases: _, ...totals } = report;
  const { mappings, ...made } = about;
  return {
    [ABOUT]: json(made),
    "cases.csv": asCsv(report),
    "records.csv": recordsCsv(report),
    "report.json": json(report),
    "report.txt": `${text}\n`,
    "totals.json": json(totals),
    "mappings.json": json(mappings),
    [PERIOD]: periodJournal(report),
    "agreement.journal": agreementJournal(report, PERIOD),
  };
}

/** The text of {@link SUMS} for these files. */
export const sumsOf = (files: Readonly<Record<string, string | Buffer>>): string =>
  Object.entries(files)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, content]) => `${sha256Hex(content)}  ${name}\n`)
    .join("");

/** `files`: what lies in the folder, without {@link SUMS}. */
export function verified(files: ReadonlyMap<string, Buffer>, sums: string) {
  const expected = new Map(
    sums
      .split("\n")
      .map((line) => LINE.exec(line))
      .flatMap((line) => (line === null ? [] : [[line[2] ?? "", line[1] ?? ""] as const])),
  );
  const names = [...expected.keys()];
  return {
    /** The digest of {@link SUMS}: what was noted when the pack was made, it must still be. */
    seal: sha256Hex(sums),
    changed: names.filter((name) => {
      const content = files.get(name);
      return content !== undefined && sha256Hex(content) !== expected.get(name);
    }),
    missing: names.filter((name) => !files.has(name)),
    /** Files that no sum is for. */
    extra: [...files.keys()].filter((name) => !expected.has(name)),
  };
}

const LINE = /^([0-9a-f]{64}) {2}([\w.-]+)$/;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** What each column of a table says of a row. */
type Columns<Row> = Readonly<Record<string, (row: Row, names: Report["names"]) => string | null>>;

const csvOf = <Row>(columns: Columns<Row>, rows: readonly Row[], names: Report["names"]): string =>
  stringify(
    rows.map((row) => Object.values(columns).map((of) => of(row, names))),
    { header: true, columns: Object.keys(columns) },
  );

interface RecordOf extends RecordRow {
  readonly one: CaseRow;
  readonly side: Side;
}

const RECORD_COLUMNS: Columns<RecordOf> = {
  case: ({ one }) => one.case,
  side: ({ side }) => side,
  kind: ({ one }) => one.kind,
  id: ({ id }) => guarded(id),
  number: ({ number }) => guarded(number ?? ""),
  state: ({ state }) => state,
  date: ({ day }) => day,
  amount: ({ amount }) => amount,
  open: ({ open }) => open,
  gallons: ({ gallons }) => gallons,
  party: ({ one, side }) => guarded(one.parties[side] ?? ""),
  party_name: ({ one, side }, names) => guarded(names[one.parties[side] ?? ""] ?? ""),
  accounts: ({ account }) => guarded(codesIn(account)),
  taxes: ({ tax }) => guarded(codesIn(tax)),
};

/** Each record of both sides as it was read. */
const recordsCsv = ({ cases, names }: Report): string => {
  const rows = cases.flatMap((one) =>
    sides.flatMap((side) => one.records[side].map((record) => ({ ...record, one, side }))),
  );
  return csvOf(RECORD_COLUMNS, rows, names);
};

/** `4000: 100.00; 4100: 20.00`; empty where that side does not tell. */
const codesIn = (codes: Readonly<Record<string, string>> = {}): string =>
  Object.entries(codes)
    .map(([code, amount]) => `${code}: ${amount}`)
    .join("; ");

// One row per case, for spreadsheets.

const CASE_COLUMNS: Columns<CaseRow> = {
  case: (row) => row.case,
  bucket: ({ bucket }) => bucket,
  kind: ({ kind }) => kind,
  number: ({ number }) => guarded(number),
  party: ({ party }) => guarded(party ?? ""),
  party_name: ({ party }, names) => guarded(names[party ?? ""] ?? ""),
  date: ({ day }) => day ?? "",
  within_period: ({ within }) => (within ? "yes" : "no"),
  began: ({ began }) => began,
  platform_ids: ({ records }) => guarded(idsOf(records.platform)),
  books_ids: ({ records }) => guarded(idsOf(records.books)),
  platform_amount: ({ amount }) => amount.platform,
  books_amount: ({ amount }) => amount.books,
  platform_open: ({ open }) => open.platform,
  books_open: ({ open }) => open.books,
  platform_gallons: ({ gallons }) => gallons.platform,
  books_gallons: ({ gallons }) => gallons.books,
  differences: ({ kind, differences }) =>
    guarded(
      differences
        .map(({ field, platform, books }) =>
          inWords(kind, { field, expected: platform, held: books }, SIDES),
        )
        .join("; "),
    ),
  cause: ({ cause }) => cause?.code ?? "",
  explanation: ({ cause }) => guarded(cause?.message ?? ""),
  next: ({ cause }) => guarded(cause?.next ?? ""),
  perhaps: ({ suspects }) => guarded(suspects.join("; ")),
};

/** In the order of the report: differences first. Amounts in the company's currency; gallons of orders and tickets. */
export const asCsv = ({ cases, names }: Report): string => csvOf(CASE_COLUMNS, cases, names);

const SIDES = { expected: "platform", held: "books" };

const idsOf = (records: readonly RecordRow[]): string => records.map(({ id }) => id).join(" ");

// A reconciliation as plain-text double-entry journals, so that hledger proves the sums: `hledger check -s ordereddates`.
// The period's journal always passes. The agreement journal includes it and passes only when nothing differs.

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
    post(`unequal:${row.bucket.replaceAll(" ", "-")}`, Decimal.one, "CASE");
    post("unequal:contra", Decimal.one.negated(), "CASE");
  }
  return postings;
}

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
