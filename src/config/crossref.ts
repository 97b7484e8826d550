/**
 * Cross-reference tables: `<table>.csv` in one folder, maintained by people in a spreadsheet. The first column is the
 * key. A file is read again when it has changed, so a row that is added counts at once.
 */
import { counted } from "../core/text.ts";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CsvError, parse } from "csv-parse/sync";
import { aboutMachine, ConfigurationError } from "../core/errors.ts";
import { push } from "../core/groups.ts";
import { lookedUp } from "../core/keys.ts";
import { causeOf, type Complaint, shown } from "./problems.ts";
import { writeWhole } from "../transport/whole.ts";
import { readText } from "./document.ts";

export interface TableReport {
  readonly name: string;
  readonly file: string;
  /** Empty for a table without a header. */
  readonly columns: readonly string[];
  readonly rows: number;
  /** What its cells are separated by: `,` unless the file says or shows otherwise. */
  readonly separator: string;
  /** Each cause once, at the first line that has it. With one of them, no row of the table is used. */
  readonly faults: readonly TableFault[];
}

interface TableFault extends Complaint {
  readonly line: number;
}

interface LinedRow {
  readonly row: Readonly<Record<string, string>>;
  readonly line: number;
}

interface Table {
  readonly report: TableReport;
  readonly rows: ReadonlyMap<string, LinedRow>;
  /** The keys that look alike, by how they are looked up. */
  readonly alike: ReadonlyMap<string, readonly string[]>;
  /** What the file looked like; null: its bytes could not be had, which may be otherwise the next time. */
  readonly state: string | null;
}

const TABLE = /^[a-z0-9][a-z0-9-]*$/;
const BYTES_MAX = 10_000_000;

export type Tables = ReturnType<typeof openTables>;

export function openTables(folder: string) {
  const known = new Map<string, Table>();
  const names = (): string[] =>
    listed(folder)
      .filter((name) => name.endsWith(".csv") && TABLE.test(name.slice(0, -4)))
      .map((name) => name.slice(0, -4))
      .toSorted();
  const stateIn = (name: string): string | null => {
    const file = join(folder, `${name}.csv`);
    const stats = TABLE.test(name) ? statSync(file, { throwIfNoEntry: false }) : undefined;
    return stats === undefined ? null : `${stats.mtimeMs}/${stats.size}`;
  };

  function tableOf(name: string): Table | null {
    const state = stateIn(name);
    if (state === null) return null;
    const before = known.get(name);
    if (before?.state === state) return before;
    const table = readTable(name, join(folder, `${name}.csv`), state);
    known.set(name, table);
    return table;
  }

  function trusted(name: string): Pick<Table, "rows" | "alike"> {
    const table = tableOf(name);
    if (table !== null && table.report.faults.length > 0) throw refusalOf(table.report);
    return table ?? { rows: new Map(), alike: new Map() };
  }
  const rowsOf = (name: string): Table["rows"] => trusted(name).rows;

  return {
    /**
     * The row of this key; where none is written so, the only one that looks like it. Null when the table has none, or there is no
     * such table yet.
     * @throws ConfigurationError when the table cannot be trusted: it is never read in part.
     */
    row(name: string, key: string) {
      const { rows, alike } = trusted(name);
      const [like = key, another] = alike.get(lookedUp(key)) ?? [];
      return (rows.get(key) ?? (another === undefined ? rows.get(like) : undefined))?.row ?? null;
    },
    /** Every row with its line, in their order; none where there is no such table. @throws ConfigurationError */
    rows: (name: string) => [...rowsOf(name).values()],
    /** Changes whenever a table does: what was not mapped may be now. */
    version() {
      const states = names().map((name) => `${name}:${stateIn(name)};`);
      return createHash("sha256").update(states.join("")).digest("hex").slice(0, 16);
    },
    /**
     * Adds a row to the file, in its separator and line ends; the key is the first column. A table that is not there is made with these
     * columns. Returns the key.
     * @throws ConfigurationError when the table has it, lacks a column of it, cannot be used or written, or is not there and has no columns
     */
    add(name: string, cells: Readonly<Record<string, string>>, columns: readonly string[]) {
      const there = tableOf(name)?.report;
      if (there === undefined && (!TABLE.test(name) || columns.length === 0))
        throw new ConfigurationError(
          `There is no table ${name}.csv, and no flow reads one.`,
          "The page Cross-references names the tables.",
        );
      const report = there ?? made(name, join(folder, `${name}.csv`), columns);
      const key = addRow(report, rowsOf(name), cells);
      known.delete(name);
      return key;
    },
    /** Reads every table there is, and says what is wrong in each. @throws ConfigurationError for a folder that cannot be listed */
    check: () => names().flatMap((name) => tableOf(name)?.report ?? []),
  };
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (causeOf(error) === "ENOENT") return [];
    throw new ConfigurationError(
      `${folder} cannot be listed (${causeOf(error)}).`,
      aboutMachine(causeOf(error)) ?? "Let the service's user read it.",
      error,
    );
  }
}

/** A table without rows. @throws ConfigurationError */
function made(name: string, file: string, columns: readonly string[]): TableReport {
  written(file, () => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o750 });
    writeFileSync(file, `${columns.join(",")}\n`, { flag: "wx", mode: 0o640 });
  });
  return { name, file, columns, rows: 0, separator: ",", faults: [] };
}

function readTable(name: string, file: string, state: string): Table {
  const rows = new Map<string, LinedRow>();
  const empty = { name, file, columns: [], rows: 0, separator: "," };
  const none = { rows, alike: new Map<string, string[]>() };
  const text = textOf(file);
  if (typeof text !== "string")
    return { report: { ...empty, faults: [text] }, ...none, state: null };
  const sheet = parsed(text);
  if (!("records" in sheet)) return { report: { ...empty, faults: [sheet] }, ...none, state };
  const { separator, records } = sheet;
  const [header, ...body] = records;
  const columns = header?.record ?? [];
  const lines = new Map<string, number>();
  const causes = new Map<string, TableFault[]>();
  const complain = (cause: string, line: number, message: string, remedy = CORRECT): void => {
    push(causes, cause, { line, message, remedy });
  };
  for (const { record, line } of body) {
    const [key = ""] = record;
    const before = lines.get(key);
    const cells = `${counted(record.length, "cell")}, but ${columns.length} in the header`;
    if (record.length !== columns.length) complain(cells, line, cells, ragged(separator));
    else if (key === "") complain("no key", line, "the first cell, the key, is empty");
    else if (before !== undefined)
      complain("key twice", line, `${shown(key)} is in line ${before} already`);
    else {
      const row = Object.fromEntries(columns.map((name, at) => [name, record[at] ?? ""]));
      rows.set(key, { row, line });
    }
    if (before === undefined) lines.set(key, line);
  }
  const faults = [
    ...(header === undefined ? [NO_HEADER] : faultsOfHeader(columns, header.line)),
    ...[...causes.values()].map(asOne),
  ];
  const report = { ...empty, columns, separator, rows: rows.size, faults };
  const alike = new Map<string, string[]>();
  for (const key of rows.keys()) push(alike, lookedUp(key), key);
  return { report, rows, alike, state };
}

const CORRECT =
  "Correct it and save it; nothing that needs it is delivered until then, and nothing is lost.";
const NO_HEADER: TableFault = { line: 1, message: "there is no header", remedy: CORRECT };

function faultsOfHeader(header: readonly string[], line: number): TableFault[] {
  return header.flatMap((name, at) => {
    if (name === "") return [{ line, message: `column ${at + 1} has no name`, remedy: CORRECT }];
    if (header.indexOf(name) === at) return [];
    return [{ line, message: `the column ${shown(name)} is there twice`, remedy: CORRECT }];
  });
}

const ragged = (separator: string): string =>
  `The header's cells are separated by ${separatorText(separator)}: those of every row must be, and a cell with that sign in it stands in quotes. ${CORRECT}`;

/** One cause, however many rows have it. */
function asOne([first = NO_HEADER, ...others]: readonly TableFault[]): TableFault {
  if (others.length === 0) return first;
  const shown = others.slice(0, 5).map(({ line }) => line);
  const rest = others.length > 5 ? ` and ${others.length - 5} more` : "";
  const lines = others.length === 1 ? "line" : "lines";
  return {
    ...first,
    message: `${first.message} (the same in ${lines} ${shown.join(", ")}${rest})`,
  };
}

/** The text of the file, or why there is none. */
function textOf(file: string): string | TableFault {
  try {
    return readText(file, BYTES_MAX);
  } catch (error) {
    const cause = causeOf(error);
    if (error instanceof TypeError && cause === "ERR_ENCODING_INVALID_ENCODED_DATA")
      return {
        line: 1,
        message: "it is not UTF-8",
        remedy: `A spreadsheet saves it so as "CSV UTF-8". ${CORRECT}`,
      };
    return {
      line: 1,
      message: `it cannot be read (${cause})`,
      remedy:
        aboutMachine(cause) ?? `Let it be a text file that the service's user can read. ${CORRECT}`,
    };
  }
}

const SEPARATORS: Readonly<Record<string, string>> = {
  ",": "commas",
  ";": "semicolons",
  "\t": "tabs",
  "|": "bars",
};

/** In words, for people: `semicolons`. */
export const separatorText = (separator: string): string => SEPARATORS[separator] ?? separator;

/**
 * Rows with the line they end in. Spreadsheets of some countries separate with semicolons, some write tabs; a first line
 * `sep=;` (Excel) names the separator and is no row.
 */
function parsed(
  text: string,
): { separator: string; records: { record: string[]; line: number }[] } | TableFault {
  const [, named, rest] = /^\uFEFF?sep=([,;\t|])\r?\n?(.*)$/is.exec(text) ?? [];
  const skipped = named === undefined ? 0 : 1;
  const body = named === undefined ? text : (rest ?? "");
  const [first = ""] = body.split(/\r?\n/, 1);
  const separator = named ?? [",", ";", "\t"].find((sign) => first.includes(sign)) ?? ",";
  try {
    const rows: unknown = parse(body, {
      bom: true,
      delimiter: separator,
      info: true,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      trim: true,
    });
    const records = (rows as { record: string[]; info: { lines: number } }[]).map(
      ({ record, info }) => ({ record, line: info.lines + skipped }),
    );
    return { separator, records };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as CsvError & { lines?: number };
    return { line: (lines ?? 1) + skipped, message: error.message, remedy: CORRECT };
  }
}

function refusalOf({ file, faults }: TableReport): ConfigurationError {
  const lines = faults.map(({ line, message }) => `    ${file}:${line} ${message}`);
  return new ConfigurationError(
    `The cross-reference table ${file} cannot be used:\n${lines.join("\n")}`,
    faults[0]?.remedy ?? CORRECT,
  );
}

/** A cell of a table is a name or a code. */
const CELL_MAX = 200;
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/;

/** Adds a row to the file of a table: the rest of it stays as its people wrote it. Returns the key. @throws ConfigurationError */
function addRow(
  { name, file, columns, separator }: TableReport,
  known: ReadonlyMap<string, unknown>,
  cells: Readonly<Record<string, string>>,
): string {
  const [first = ""] = columns;
  const key = (cells[first] ?? "").trim();
  const fault =
    rowFault(columns, cells, key) ?? (known.has(key) ? `${shown(key)} is in it already` : null);
  if (fault !== null)
    throw new ConfigurationError(
      `The row cannot be added to ${name}: ${fault}.`,
      `Its columns are ${columns.join(", ")}; the key is the first one.`,
    );
  const row = columns.map((column) => (cells[column] ?? "").trim());
  extend(file, (text) => {
    const end = text.includes("\r\n") ? "\r\n" : "\n";
    const line = row.map((cell) => quoted(cell, separator)).join(separator);
    return `${text}${text.endsWith("\n") ? "" : end}${line}${end}`;
  });
  return key;
}

const quoted = (cell: string, separator: string): string =>
  cell.includes(separator) || /["\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

function rowFault(
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

/** Whole or not at all: the daemon may read it at any time. @throws ConfigurationError */
const extend = (file: string, extended: (text: string) => string): void =>
  written(file, () =>
    writeWhole(file, extended(readFileSync(file, "utf8")), statSync(file).mode & 0o777),
  );

/** @throws ConfigurationError */
function written(file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new ConfigurationError(
      `The table ${file} cannot be written (${causeOf(error)}).`,
      aboutMachine(causeOf(error)) ??
        "Let the service's user write in the folder of the tables, or add the row by hand.",
      error,
    );
  }
}
