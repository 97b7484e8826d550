/** What was found, for a terminal, for a spreadsheet, and as a claim for one supplier. */
import { stringify } from "csv-stringify/sync";
import { Decimal } from "../core/decimal.ts";
import { guarded } from "../core/text.ts";
import type { MatchReport } from "./report.ts";
import type { Finding } from "./situation.ts";

/** The sentence that says how it stands. */
export function headOf({
  invoices,
  sums,
  notBilled,
}: Pick<MatchReport, "invoices" | "sums" | "notBilled">): string {
  const { all, match, differ, wait, left } = invoices;
  const more = [
    ...(wait > 0 ? [`${wait} wait for a paper`] : []),
    ...(left > 0 ? [`${left} bill no fuel or are drafts or void`] : []),
  ];
  return [
    `Of ${all} invoices ${match} match; ${differ} differ: ${grouped(sums.forUs)} for us, ${grouped(sums.againstUs)} against us`,
    ...more,
    `${notBilled.deliveries} deliveries not billed: about ${grouped(notBilled.about)}.`,
  ].join("; ");
}

/** `1204.55` as `1,204.55`. */
const grouped = (digits: string): string =>
  digits.replace(/\B(?=(?:\d{3})+(?!\d))(?<!\.\d*)/g, ",");

/** In one line: the papers, both values, gallons, amount, for whom, how certain. */
function lineOf(finding: Finding): string {
  const { papers, compared, billed, expected, gallons, amount, favour, certainty } = finding;
  return [
    papersOf(finding, papers.length),
    `${compared}: ${billed ?? "none"} billed, ${expected ?? "none"} expected`,
    ...(gallons === null ? [] : [`${gallons} gallons`]),
    amount === null ? "amount not known" : `${grouped(amount)}${whom(favour)}`,
    certainty,
  ].join("; ");
}

const whom = (favour: Finding["favour"]): string =>
  favour === null ? "" : favour === "us" ? " for us" : " against us";

const papersOf = ({ papers }: Finding, most: number): string =>
  papers
    .slice(0, most)
    .map(({ kind, number }) => `${kind} ${number}`)
    .join(", ");

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

const COLUMNS = [
  "rule",
  "certainty",
  "direction",
  "party",
  "day",
  "invoices",
  "tickets",
  "orders",
  "compared",
  "billed",
  "expected",
  "gallons",
  "amount",
  "favour",
  "joined_by",
  "cause",
  "next",
] as const;

/** One row for each finding, in the order of the report. */
export const asCsv = (findings: readonly Finding[]): string =>
  stringify(
    findings.map((one): Record<(typeof COLUMNS)[number], string> => {
      const numbers = (kind: string): string =>
        guarded(
          one.papers.flatMap((paper) => (paper.kind === kind ? [paper.number] : [])).join(" "),
        );
      return {
        rule: one.rule,
        certainty: one.certainty,
        direction: one.direction,
        party: guarded(one.partyName),
        day: one.day,
        invoices: numbers("invoice"),
        tickets: numbers("ticket"),
        orders: numbers("order"),
        compared: guarded(one.compared),
        billed: guarded(one.billed ?? ""),
        expected: guarded(one.expected ?? ""),
        gallons: one.gallons ?? "",
        amount: one.amount ?? "",
        favour: one.favour ?? "",
        joined_by: one.joined,
        cause: guarded(one.cause),
        next: guarded(one.next),
      };
    }),
    { header: true, columns: [...COLUMNS] },
  );

/** What is claimed from one party: what it owes us by these findings. */
export interface Claim {
  readonly partyName: string;
  readonly rows: readonly {
    readonly bill: string;
    readonly day: string;
    readonly ticket: string;
    readonly differs: string;
    readonly amount: string;
  }[];
  readonly total: string;
}

const numbers = ({ papers }: Finding, kind: string): string =>
  papers.flatMap((paper) => (paper.kind === kind ? [paper.number] : [])).join(", ");

export function claimOf(findings: readonly Finding[], party: string): Claim {
  const own = findings.filter((one) => one.party === party && one.favour === "us");
  return {
    partyName: own[0]?.partyName ?? "nobody",
    rows: own
      .toSorted((one, other) => compared(one.day, other.day) || compared(one.key, other.key))
      .map((one) => ({
        bill: numbers(one, "invoice"),
        day: one.day,
        ticket: numbers(one, "ticket"),
        differs: `${one.cause} (${one.compared}: ${one.billed ?? "none"} billed, ${one.expected ?? "none"} expected)`,
        amount: one.amount ?? "0.00",
      })),
    total: Decimal.sum(own.map(({ amount }) => Decimal.of(amount ?? "0"))).fixed(2),
  };
}

const compared = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

export const claimCsv = ({ rows, total }: Claim): string =>
  stringify(
    [
      ...rows.map(({ bill, day, ticket, differs, amount }) => ({
        bill: guarded(bill),
        day,
        ticket: guarded(ticket),
        differs: guarded(differs),
        amount,
      })),
      { bill: "total", day: "", ticket: "", differs: "", amount: total },
    ],
    { header: true, columns: ["bill", "day", "ticket", "differs", "amount"] },
  );
