/** A table of blocks as a file for spreadsheets: every text guarded, amounts as bare digits. */
import { stringify } from "csv-stringify/sync";
import { guarded } from "../core/text.ts";
import { type Inline, isFigure, type Table } from "./blocks.ts";
import { inLine } from "./text.ts";

export const asCsv = ({ columns, rows }: Table): string => {
  const shown = columns.map(({ medium }) => medium !== "page");
  const kept = <Cell>(cells: readonly Cell[]): Cell[] => cells.filter((_, at) => shown[at]);
  return stringify(
    rows.map((row) =>
      kept(row).map((cell: Inline) => (isFigure(cell) ? inLine(cell) : guarded(inLine(cell)))),
    ),
    { header: true, columns: kept(columns).map(({ title }) => title.toLowerCase()) },
  );
};
