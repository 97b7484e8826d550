/**
 * A reconciliation as files that an auditor can check without fuelbridge: rows of both sides, totals, the mappings, the
 * journals, and SHA-256 sums of all of them in the form that `sha256sum -c` reads.
 */
import { stringify } from "csv-stringify/sync";
import { createHash } from "node:crypto";
import { guarded } from "../core/text.ts";
import { inWords } from "../ledger/compare.ts";
import { sides } from "./case.ts";
import { agreementJournal, periodJournal } from "./journal.ts";
import type { Report } from "./report.ts";
import type { CaseRow, RecordRow } from "./rows.ts";

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
    .map(([name, content]) => `${digestOf(content)}  ${name}\n`)
    .join("");

export const digestOf = (content: string | Buffer): string =>
  createHash("sha256").update(content).digest("hex");

interface Verified {
  /** The digest of {@link SUMS}: what was noted when the pack was made, it must still be. */
  readonly seal: string;
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  /** Files that no sum is for. */
  readonly extra: readonly string[];
}

/** `files`: what lies in the folder, without {@link SUMS}. */
export function verified(files: ReadonlyMap<string, Buffer>, sums: string): Verified {
  const expected = new Map(
    sums
      .split("\n")
      .map((line) => LINE.exec(line))
      .flatMap((line) => (line === null ? [] : [[line[2] ?? "", line[1] ?? ""] as const])),
  );
  const names = [...expected.keys()];
  return {
    seal: digestOf(sums),
    changed: names.filter((name) => {
      const content = files.get(name);
      return content !== undefined && digestOf(content) !== expected.get(name);
    }),
    missing: names.filter((name) => !files.has(name)),
    extra: [...files.keys()].filter((name) => !expected.has(name)),
  };
}

const LINE = /^([0-9a-f]{64}) {2}([\w.-]+)$/;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const COLUMNS = [
  "case",
  "side",
  "kind",
  "id",
  "number",
  "state",
  "date",
  "amount",
  "open",
  "gallons",
  "party",
  "party_name",
  "accounts",
  "taxes",
];

/** Each record of both sides as it was read. */
const recordsCsv = ({ cases, names }: Report): string =>
  stringify(
    cases.flatMap((one) =>
      sides.flatMap((side) =>
        one.records[side].map(({ id, number, state, day, amount, open, gallons, account, tax }) => [
          one.case,
          side,
          one.kind,
          guarded(id),
          guarded(number ?? ""),
          state,
          day,
          amount,
          open,
          gallons,
          guarded(one.parties[side] ?? ""),
          guarded(names[one.parties[side] ?? ""] ?? ""),
          guarded(codesIn(account)),
          guarded(codesIn(tax)),
        ]),
      ),
    ),
    { header: true, columns: COLUMNS },
  );

/** `4000: 100.00; 4100: 20.00`; empty where that side does not tell. */
const codesIn = (codes: Readonly<Record<string, string>> = {}): string =>
  Object.entries(codes)
    .map(([code, amount]) => `${code}: ${amount}`)
    .join("; ");

// One row per case, for spreadsheets.

const CASE_COLUMNS: Readonly<Record<string, (row: CaseRow, names: Report["names"]) => string>> = {
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
export function asCsv(report: Report): string {
  const rows = report.cases.map((row) =>
    Object.values(CASE_COLUMNS).map((of) => of(row, report.names)),
  );
  return stringify(rows, { header: true, columns: Object.keys(CASE_COLUMNS) });
}

const SIDES = { expected: "platform", held: "books" };

const idsOf = (records: readonly RecordRow[]): string => records.map(({ id }) => id).join(" ");
