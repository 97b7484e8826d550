/** Adds a row to the file of a cross-reference table: the rest of the file stays as its people wrote it. */
import {
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  chmodSync,
} from "node:fs";
import { stringify } from "csv-stringify/sync";
import { ConfigurationError } from "../core/errors.ts";
import type { TableReport } from "./crossref.ts";
import { causeOf, shown } from "./problems.ts";

/** A cell of a table is a name or a code. */
const CELL_MAX = 200;
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/;

/** Returns the key. @throws ConfigurationError */
export function addRow(
  { name, file, columns, separator }: TableReport,
  known: ReadonlyMap<string, unknown>,
  cells: Readonly<Record<string, string>>,
): string {
  const [first = ""] = columns;
  const key = (cells[first] ?? "").trim();
  const fault =
    faultOf(columns, cells, key) ?? (known.has(key) ? `${shown(key)} is in it already` : null);
  if (fault !== null)
    throw new ConfigurationError(
      `The row cannot be added to ${name}: ${fault}.`,
      `Its columns are ${columns.join(", ")}; the key is the first one.`,
    );
  const text = textOf(file);
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const row = columns.map((column) => (cells[column] ?? "").trim());
  const line = stringify([row], { delimiter: separator, record_delimiter: end });
  replace(file, `${text}${text.endsWith("\n") ? "" : end}${line}`);
  return key;
}

function faultOf(
  columns: readonly string[],
  cells: Readonly<Record<string, string>>,
  key: string,
): string | null {
  if (key === "") return "the key is empty";
  const strange = Object.keys(cells).find((column) => !columns.includes(column));
  if (strange !== undefined) return `it has no column ${shown(strange)}`;
  const bad = Object.values(cells).find((cell) => cell.length > CELL_MAX || UNPRINTABLE.test(cell));
  return bad === undefined
    ? null
    : `${shown(bad.slice(0, 50))} is too long, or has signs that cannot be seen`;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw refusal(file, error);
  }
}

/** Whole or not at all: the daemon may read it at any time. @throws ConfigurationError */
function replace(file: string, text: string): void {
  const unfinished = `${file}.${process.pid}.tmp`;
  try {
    // Mode and owner of the file stay as they were.
    copyFileSync(file, unfinished);
    chmodSync(unfinished, statSync(file).mode & 0o777);
    writeFileSync(unfinished, text);
    renameSync(unfinished, file);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw refusal(file, error);
  }
}

const refusal = (file: string, error: unknown): ConfigurationError =>
  new ConfigurationError(
    `The table ${file} cannot be written (${causeOf(error)}).`,
    "Let the service's user write in the folder of the tables, or add the row by hand.",
    error,
  );
