/** What was found, for a terminal, for a spreadsheet, and as a claim for one supplier. */
import { stringify } from "csv-stringify/sync";
import { Decimal } from "../core/decimal.ts";
import { byText, guarded } from "../core/text.ts";
import { type MatchReport, sizeOf } from "./report.ts";
import type { Finding } from "./situation.ts";

/** The sentence that says how it stands. */
export function headOf({
  invoices,
  sums,
  notBilled,
}: Pick<MatchReport, "invoices" | "sums" | "notBilled">): string {
  const { all, match, differ, wait, left } = invoices;
  return [
    `Of ${all} invoices ${match} match; ${differ} differ: ${grouped(sums.forUs)} for us, ${grouped(sums.againstUs)} against us`,
    ...(wait > 0 ? [`${wait} wait for a paper`] : []),
    ...(left > 0 ? [`${left} bill no fuel or are drafts or void`] : []),
    `${notBilled.deliveries} deliveries not billed: about ${grouped(notBilled.about)}.`,
  ].join("; ");
}

/** `1204.55` as `1,204.55`. */
const grouped = (digits: string): string =>
  digits.replace(/\B(?=(?:\d{3})+(?!\d))(?<!\.\d*)/g, ",");

/** Both values, and the gallons between them. */
export const valuesOf = ({ compared, billed, expected, gallons }: Finding): string =>
  `${compared}: ${billed ?? "none"} billed, ${expected ?? "none"} expected${gallons === null ? "" : `; ${gallons} gallons`}`;

/** Who is owed it. */
export const whom = ({ favour }: Finding): string =>
  favour === null ? "" : favour === "us" ? "for us" : "against us";

/** In one line: the papers, both values, gallons, amount, for whom, how certain. */
const lineOf = (finding: Finding): string =>
  [
    finding.papers.map(({ kind, number }) => `${kind} ${number}`).join(", "),
    valuesOf(finding),
    finding.amount === null ? "no amount" : `${grouped(finding.amount)} ${whom(finding)}`.trim(),
    finding.certainty,
  ].join("; ");

export function asText(report: MatchReport): string {
  const { from, to, findings, parties, notCompared } = report;
  const groups = Map.groupBy(findings, ({ rule, partyName }) => `${rule}: ${partyName}`);
  return [
    `${from} to ${to}. ${headOf(report)}`,
    ...(parties.length === 0 ? [] : ["", "By party, the largest sum first:"]),
    ...parties.map(
      ({ partyName, direction, findings: count, forUs, againstUs }) =>
        `  ${partyName} (${direction}): ${count} found, ${grouped(forUs)} for us, ${grouped(againstUs)} against us`,
    ),
    ...[...groups].flatMap(([title, own]) => [
      "",
      title,
      ...own.flatMap((one) => [`  ${lineOf(one)}`, `    ${one.cause} Next: ${one.next}`]),
    ]),
    ...(notCompared.length === 0 ? [] : ["", "Not compared:"]),
    ...notCompared.map((one) => `  ${one}`),
  ].join("\n");
}

const numbersOf = ({ papers }: Finding, kind: Finding["papers"][number]["kind"]): string =>
  papers.flatMap((paper) => (paper.kind === kind ? [paper.number] : [])).join(", ");

const COLUMNS: Readonly<Record<string, (finding: Finding) => string | null>> = {
  rule: ({ rule }) => rule,
  certainty: ({ certainty }) => certainty,
  direction: ({ direction }) => direction,
  party: ({ partyName }) => guarded(partyName),
  day: ({ day }) => day,
  invoices: (one) => guarded(numbersOf(one, "invoice")),
  tickets: (one) => guarded(numbersOf(one, "ticket")),
  orders: (one) => guarded(numbersOf(one, "order")),
  compared: ({ compared }) => guarded(compared),
  billed: ({ billed }) => guarded(billed ?? ""),
  expected: ({ expected }) => guarded(expected ?? ""),
  gallons: ({ gallons }) => gallons,
  amount: ({ amount }) => amount,
  favour: ({ favour }) => favour,
  joined_by: ({ joined }) => joined,
  cause: ({ cause }) => guarded(cause),
  next: ({ next }) => guarded(next),
};

/** One row for each finding, in the order of the report. */
export const asCsv = (findings: readonly Finding[]): string =>
  stringify([
    Object.keys(COLUMNS),
    ...findings.map((one) => Object.values(COLUMNS).map((cell) => cell(one) ?? "")),
  ]);

/** What is claimed from one party: what it owes us by these findings, and all of it. */
export function claimOf(findings: readonly Finding[], party: string) {
  const own = findings.filter((one) => one.party === party && one.favour === "us");
  const rows = own
    .toSorted((one, other) => byText(one.day, other.day) || byText(one.key, other.key))
    .map((one) => ({
      bill: numbersOf(one, "invoice"),
      day: one.day,
      ticket: numbersOf(one, "ticket"),
      differs: `${one.cause} (${valuesOf(one)})`,
      amount: one.amount ?? "0.00",
    }));
  const total = Decimal.sum(own.map(sizeOf)).fixed(2);
  return { partyName: own[0]?.partyName ?? "nobody", rows, total };
}
export type Claim = ReturnType<typeof claimOf>;

export const claimCsv = ({ rows, total }: Claim): string =>
  stringify([
    ["bill", "day", "ticket", "differs", "amount"],
    ...rows.map((row) => Object.values(row).map(guarded)),
    ["total", "", "", "", total],
  ]);
