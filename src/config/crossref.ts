/**
 * Cross-reference tables: `<table>.csv` in one folder, maintained by people in a spreadsheet. The first column is the
 * key. A file is read again when it has changed, so a row that is added counts at once.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { CsvError, parse } from "csv-parse/sync";
import { ConfigurationError } from "../core/errors.ts";
import { causeOf, shown } from "./problems.ts";

export interface Tables {
  /**
   * Null when the table has no such row, or there is no such table yet.
   * @throws ConfigurationError when the table cannot be trusted: it is never read in part.
   */
  row(table: string, key: string): Readonly<Record<string, string>> | null;
  /** Every row with its line, in their order; none where there is no such table. @throws ConfigurationError */
  rows(
    table: string,
  ): readonly { readonly row: Readonly<Record<string, string>>; readonly line: number }[];
  /** Changes whenever a table does: what was not mapped may be now. */
  version(): string;
  /** Reads every table and returns their names. @throws ConfigurationError with all that is wrong in the first bad one. */
  check(): readonly string[];
}

type Row = Readonly<Record<string, string>>;
interface Read {
  readonly state: string;
  readonly rows: ReadonlyMap<string, Lined>;
}
interface Lined {
  readonly row: Row;
  readonly line: number;
}

const TABLE = /^[a-z0-9][a-z0-9-]*$/;
const BYTES_MAX = 10_000_000;

export function openTables(folder: string): Tables {
  const read = new Map<string, Read>();
  const names = (): string[] =>
    listed(folder)
      .filter((name) => name.endsWith(".csv") && TABLE.test(name.slice(0, -4)))
      .map((name) => name.slice(0, -4))
      .toSorted();

  function rowsOf(table: string): ReadonlyMap<string, Lined> {
    const file = join(folder, `${table}.csv`);
    const stats = TABLE.test(table) ? statSync(file, { throwIfNoEntry: false }) : undefined;
    if (stats === undefined) return new Map();
    const known = read.get(table);
    if (known?.state === stateOf(stats)) return known.rows;
    const rows = readTable(file, stats);
    read.set(table, { state: stateOf(stats), rows });
    return rows;
  }

  return {
    row: (table, key) => rowsOf(table).get(key)?.row ?? null,
    rows: (table) => [...rowsOf(table).values()],
    version() {
      const hash = createHash("sha256");
      for (const name of names()) {
        const stats = statSync(join(folder, `${name}.csv`), { throwIfNoEntry: false });
        if (stats !== undefined) hash.update(`${name}:${stateOf(stats)};`);
      }
      return hash.digest("hex").slice(0, 16);
    },
    check() {
      const all = names();
      for (const name of all) rowsOf(name);
      return all;
    },
  };
}

const stateOf = ({ mtimeMs, size }: Stats): string => `${mtimeMs}/${size}`;

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (causeOf(error) === "ENOENT") return [];
    throw unreadable(folder, error);
  }
}

function readTable(file: string, stats: Stats): ReadonlyMap<string, Lined> {
  if (stats.size > BYTES_MAX) throw refuse(file, [`it is longer than ${BYTES_MAX} bytes`]);
  const [header, ...records] = parsed(file, textOf(file));
  if (header === undefined) throw refuse(file, ["line 1: there is no header"]);
  const faults = faultsOfHeader(header.record);
  const rows = new Map<string, Lined>();
  const lines = new Map<string, number>();
  for (const { record, line } of records) {
    const [key = ""] = record;
    const before = lines.get(key);
    if (record.length !== header.record.length)
      faults.push(
        `line ${line}: ${record.length} cells, but ${header.record.length} in the header`,
      );
    else if (key === "") faults.push(`line ${line}: the first cell, the key, is empty`);
    else if (before !== undefined)
      faults.push(`line ${line}: ${shown(key)} is in line ${before} already`);
    else {
      const row = Object.fromEntries(header.record.map((name, at) => [name, record[at] ?? ""]));
      rows.set(key, { row, line });
    }
    if (before === undefined) lines.set(key, line);
  }
  if (faults.length > 0) throw refuse(file, faults);
  return rows;
}

function faultsOfHeader(header: readonly string[]): string[] {
  return header.flatMap((name, at) => {
    if (name === "") return [`line 1: column ${at + 1} has no name`];
    return header.indexOf(name) === at ? [] : [`line 1: the column ${shown(name)} is there twice`];
  });
}

function textOf(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof TypeError && causeOf(error) === "ERR_ENCODING_INVALID_ENCODED_DATA")
      throw refuse(file, ['it is not UTF-8; a spreadsheet saves it so as "CSV UTF-8"']);
    throw unreadable(file, error);
  }
}

/** Rows with the line they end in. Spreadsheets of some countries separate with semicolons. */
function parsed(file: string, text: string): { record: string[]; line: number }[] {
  const [first = ""] = text.split(/\r?\n/, 1);
  const delimiter = first.includes(";") && !first.includes(",") ? ";" : ",";
  try {
    const rows: unknown = parse(text, {
      delimiter,
      info: true,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      trim: true,
    });
    return (rows as { record: string[]; info: { lines: number } }[]).map(({ record, info }) => ({
      record,
      line: info.lines,
    }));
  } catch (error) {
    if (error instanceof CsvError) throw refuse(file, [error.message]);
    throw error;
  }
}

const refuse = (file: string, faults: readonly string[]): ConfigurationError =>
  new ConfigurationError(
    `The cross-reference table ${file} cannot be used:\n${faults.map((fault) => `    ${fault}`).join("\n")}`,
    "Correct it and save it; nothing that needs it is delivered until then, and nothing is lost.",
  );

const unreadable = (path: string, error: unknown): ConfigurationError =>
  new ConfigurationError(
    `${path} cannot be read (${causeOf(error)}).`,
    "Let the service's user read it.",
    error,
  );
