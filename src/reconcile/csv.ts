/** One row per case, for spreadsheets. */
import { stringify } from "csv-stringify/sync";
import { inWords } from "../ledger/compare.ts";
import { guarded } from "../core/text.ts";
import type { Report } from "./report.ts";
import type { RecordRow } from "./rows.ts";

const columns = [
  "case",
  "bucket",
  "kind",
  "number",
  "party",
  "date",
  "within_period",
  "began",
  "platform_ids",
  "books_ids",
  "platform_amount",
  "books_amount",
  "platform_open",
  "books_open",
  "platform_gallons",
  "books_gallons",
  "differences",
  "cause",
  "explanation",
  "next",
  "perhaps",
] as const;

/** In the order of the report: differences first. Amounts in the company's currency; gallons of orders and tickets. */
export function asCsv(report: Report): string {
  const rows = report.cases.map((row): Record<(typeof columns)[number], string> => ({
    case: row.case,
    bucket: row.bucket,
    kind: row.kind,
    number: guarded(row.number),
    party: guarded(row.party ?? ""),
    date: row.day ?? "",
    within_period: row.within ? "yes" : "no",
    began: row.began,
    platform_ids: guarded(idsOf(row.records.platform)),
    books_ids: guarded(idsOf(row.records.books)),
    platform_amount: row.amount.platform,
    books_amount: row.amount.books,
    platform_open: row.open.platform,
    books_open: row.open.books,
    platform_gallons: row.gallons.platform,
    books_gallons: row.gallons.books,
    differences: guarded(
      row.differences
        .map(({ field, platform, books }) =>
          inWords(row.kind, { field, expected: platform, held: books }, SIDES),
        )
        .join("; "),
    ),
    cause: row.cause?.code ?? "",
    explanation: guarded(row.cause?.message ?? ""),
    next: guarded(row.cause?.next ?? ""),
    perhaps: guarded(row.suspects.join("; ")),
  }));
  return stringify(rows, { header: true, columns: [...columns] });
}

const SIDES = { expected: "platform", held: "books" };

const idsOf = (records: readonly RecordRow[]): string => records.map(({ id }) => id).join(" ");
