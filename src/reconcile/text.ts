/** A reconciliation for people at a terminal: differences first, then counts and sums of both sides. */
import { inDigits, inWords, labelOf } from "../ledger/compare.ts";
import { Decimal } from "../core/decimal.ts";
import { isGoodsHolding, type Strength } from "../core/holdings.ts";
import { ages, type Balance, type CaseRow, type Group, type Total } from "./rows.ts";
import { isOpen, manyOf, type Side } from "./case.ts";
import type { Report, Unasked } from "./report.ts";

/** Columns for the terminal, given a header and rows. */
type Table = (header: readonly string[], rows: readonly (readonly string[])[]) => string;

export function asText(report: Report, table: Table): string {
  return [
    headOf(report),
    differencesOf(report),
    section(
      "Accepted by a person",
      acceptedIn(report)
        .map((row) => caseInWords(row))
        .join("\n"),
    ),
    section("Cases", totalsTable(report.totals, table)),
    section("Outside of the period, but open or changed", totalsTable(report.outside, table)),
    section("From the platform's total to the books'", bridgeTable(report, table)),
    section("By party and month", monthsTable(report, table)),
    section("Open by party and age, in days past due", balancesTable(report, table)),
    [...report.notices.map((notice) => `Note: ${notice}`), ...limitsOf(report)].join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

const section = (title: string, body: string): string => (body === "" ? "" : `${title}\n${body}`);

type Compared = Pick<Report, "cases" | "unasked">;

export const acceptedIn = ({ cases }: Pick<Report, "cases">): CaseRow[] =>
  cases.filter(({ bucket }) => bucket === "accepted");

/** What was not compared is no disagreement, and no agreement either. */
export function agreementOf({ cases, unasked }: Compared): string {
  if (cases.some(isOpen)) return "Both sides do not agree";
  if (cases.length === 0 && unasked.length > 0) return "Nothing could be compared";
  const accepted = acceptedIn({ cases }).length;
  const but = accepted === 0 ? "" : `, but for ${acceptedCount(accepted)}`;
  return unasked.length === 0
    ? `Both sides agree${but}`
    : `Both sides agree in what was compared${but}; ${partsOf(unasked)} not compared`;
}

const acceptedCount = (count: number): string =>
  `${count} ${count === 1 ? "difference" : "differences"} that a person accepted`;

const partsOf = (unasked: readonly Unasked[]): string => {
  const parts = unasked.map(
    ({ kind, what }) => `${manyOf(kind)}${what === undefined ? "" : ` of ${what}`}`,
  );
  return [...new Set(parts)].join(", ");
};

function verdictOf({ cases, unasked }: Compared): string {
  const open = cases.filter(isOpen).length;
  const accepted = acceptedIn({ cases }).length;
  const beside = accepted === 0 ? "" : `, beside ${acceptedCount(accepted)}`;
  const said = agreementOf({ cases, unasked });
  return open > 0
    ? `${said.replace("do not agree", "DO NOT AGREE")}: ${open} of ${cases.length} cases${beside}.`
    : `${said}: ${cases.length} cases.`;
}

/** Why a kind, or a part of it, was not compared, and what to do. */
export function unaskedInWords({ endpoint, kind, what, why, next, records }: Unasked): string {
  const part = what === undefined ? "" : `, ${what}`;
  const count = records === undefined ? "" : ` (${records} on the platform)`;
  return `${endpoint}: ${manyOf(kind)}${part}${count}: ${why}${next === undefined ? "" : ` ${next}`}`;
}

function headOf(report: Report): string {
  const { period, at, currency, state, failures, unasked } = report;
  const of = period === null ? "everything" : `${period.from} to ${period.to}`;
  const head = `Reconciliation of ${of}, both sides as of ${at}. Amounts in ${currency}.`;
  if (state === "failed")
    return [head, "FAILED, nothing was judged:", ...failures.map((why) => `  ${why}`)].join("\n");
  const missing = unasked.map((one) => `NOT COMPARED: ${unaskedInWords(one)}`);
  return [head, verdictOf(report), ...missing].join("\n");
}

/** Each with both values, cause and next step. What is alike in a storm is told once, waiting only when overdue. */
function differencesOf({ cases, groups }: Report): string {
  const storms = groups.filter(({ isStorm }) => isStorm);
  const inStorm = new Set(storms.flatMap((storm) => storm.cases));
  const byId = new Map(cases.map((row) => [row.case, row]));
  const single = cases.filter(
    (row) => isOpen(row) && (row.bucket !== "waiting" || row.overdue) && !inStorm.has(row.case),
  );
  return [
    ...storms.map((storm) => stormInWords(storm, byId)),
    ...single.map((row) => caseInWords(row)),
  ].join("\n");
}

const EXAMPLES = 3;

function stormInWords(
  { kind, bucket, cases, fields }: Group,
  byId: ReadonlyMap<string, CaseRow>,
): string {
  const rows = cases.slice(0, EXAMPLES).flatMap((id) => byId.get(id) ?? []);
  const [first] = rows;
  const alike =
    fields.length === 0 ? "" : ` in ${fields.map((field) => labelOf(kind, field)).join(", ")}`;
  return [
    `MISMATCH: ${cases.length} ${manyOf(kind)} are "${bucket}" alike${alike}: ${rows.map(({ number }) => number).join(", ")}, ...`,
    ...(first === undefined ? [] : reasonsOf(first)),
  ].join("\n");
}

/** A case with both values, cause and next step. `name`: what it is called in its list; null: nothing. */
export function caseInWords(row: CaseRow, name: string | null = row.case): string {
  const { kind, number, party, day, bucket, overdue, within, suspects } = row;
  const figure = (side: Side): string =>
    figureOf(kind, { amount: row.amount[side], gallons: row.gallons[side] });
  const known = [party, day, within ? null : "outside of the period"].filter(Boolean);
  const sums =
    isZero(row.amount) && isZero(row.gallons)
      ? ""
      : `, books ${figure("books")}, platform ${figure("platform")}`;
  return [
    `${name === null ? "" : `${name} `}${kind} ${number}${known.length === 0 ? "" : ` (${known.join(", ")})`}: ${bucket}` +
      `${overdue ? " for longer than a day" : ""}${sums}`,
    ...reasonsOf(row),
    ...suspects.map((suspect) => `  perhaps the same: ${suspect}`),
  ].join("\n");
}

const isZero = ({ platform, books }: CaseRow["amount"]): boolean =>
  platform === "0.00" && books === "0.00";

const reasonsOf = ({ kind, differences, cause }: CaseRow): string[] => [
  ...differences.map(
    ({ field, platform, books }) =>
      `  ${inWords(kind, { field, expected: platform, held: books }, SIDES)}`,
  ),
  ...(cause === null ? [] : [`  cause: ${cause.message}`, `  next: ${cause.next}`]),
];

const SIDES = { expected: "platform", held: "books" };

function totalsTable(totals: readonly Total[], table: Table): string {
  if (totals.length === 0) return "";
  return table(
    ["KIND", "BUCKET", "CASES", "PLATFORM", "AMOUNT", "BOOKS", "AMOUNT"],
    totals.map(({ kind, bucket, cases, platform, books }) => [
      kind,
      bucket,
      String(cases),
      String(platform.records),
      figureOf(kind, platform),
      String(books.records),
      figureOf(kind, books),
    ]),
  );
}

/** What records come to: an amount, and of goods their gallons. */
const figureOf = (
  kind: Total["kind"],
  { amount, gallons }: Pick<Total["books"], "amount" | "gallons">,
): string => (isGoodsHolding(kind) ? `${gallons} gal` : amount);

function bridgeTable({ bridges }: Report, table: Table): string {
  if (bridges.length === 0) return "";
  return table(
    ["KIND", "STEP", "AMOUNT"],
    bridges.flatMap(({ kind, platform, steps, books }) => [
      [kind, "platform", platform],
      ...steps.map(({ bucket, difference }) => [kind, `less ${bucket}`, difference]),
      [kind, "books", books],
    ]),
  );
}

function monthsTable({ months }: Report, table: Table): string {
  if (months.length === 0) return "";
  return table(
    ["KIND", "PARTY", "MONTH", "PLATFORM", "BOOKS", "DIFFERENCE"],
    months.map(({ kind, party, month, platform, books, difference }) => [
      kind,
      party,
      month,
      platform,
      books,
      difference,
    ]),
  );
}

function balancesTable({ balances }: Report, table: Table): string {
  if (balances.length === 0) return "";
  const columns = [...ages, "total"] as const;
  const rowsOf = ({ kind, party, platform, books, difference }: Balance): string[][] => {
    const owed = kind === "invoice" ? "receivable" : "payable";
    const rowOf = (side: string, of: (column: (typeof columns)[number]) => string): string[] => [
      owed,
      party,
      side,
      ...columns.map(of),
    ];
    const less = (column: (typeof columns)[number]): string =>
      inDigits(Decimal.of(platform[column]).minus(Decimal.of(books[column])));
    return [
      rowOf("platform", (column) => platform[column]),
      rowOf("books", (column) => books[column]),
      ...(difference === "0.00" ? [] : [rowOf("difference", less)]),
    ];
  };
  const header = ["OPEN", "PARTY", "SIDE", "CURRENT", "1-30", "31-60", "61-90", "OLDER", "TOTAL"];
  return table(header, balances.flatMap(rowsOf));
}

/** What this reconciliation does not prove, one sentence each. */
export function limitsOf({ ignore, strength }: Report): string[] {
  const ignored = Object.entries(ignore).flatMap(([kind, fields]) =>
    fields.length === 0 ? [] : [`${kind}: ${fields.join(", ")}`],
  );
  const weak = strength.filter((one) => one.strength !== "asked");
  return [
    `Not compared, by the configuration (ignore): ${ignored.join("; ") || "nothing"}.`,
    ...weak.map(
      ({ endpoint, kind, strength: how }) => `${endpoint}, ${manyOf(kind)}: ${strengths[how]}.`,
    ),
  ];
}

const strengths: Readonly<Record<Strength, string>> = {
  asked: "as they are now",
  exported: "as of the last file that was read, not as they are now",
  remembered: "what was written, not what the ERP did with it",
};
