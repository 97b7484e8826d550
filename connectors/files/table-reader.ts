/** The rows of one file into groups of typed values: which columns stand where, and which rows belong together. */
import { readCell, type Cell, type Locale } from "./cells.ts";
import { FileFault, type Row, type Sheet } from "./csv.ts";
import type { Column, Columns, Language } from "./layouts/table.ts";

/** A cell that cannot be read, or a row that does not fit its header. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  /** The label as it stands in the file; empty for a whole row. */
  readonly column: string;
  /** A sentence with the bad value in it. */
  readonly message: string;
}

/** Values of one row; a cell with a problem is null. */
export interface Entry {
  readonly line: number;
  readonly values: Readonly<Record<string, Cell>>;
  readonly problems: readonly Problem[];
}

/** A file's sheet with its columns found. */
export interface Table {
  readonly file: string;
  readonly sheet: Sheet;
  readonly language: Language;
  readonly locale: Locale;
  /** By label. */
  readonly at: ReadonlyMap<string, number>;
}

const LOCALES: Readonly<Record<Language, Locale>> = {
  en: { decimal: ".", dates: "mdy" },
  de: { decimal: ",", dates: "dmy" },
};

export interface TableOptions {
  readonly labels?: Language | undefined;
  readonly decimal?: "." | "," | undefined;
}

/** Finds the columns in the header. @throws FileFault when columns are missing, unknown or there twice. */
export function openTable(
  file: string,
  sheet: Sheet,
  columns: readonly Column[],
  options: TableOptions,
): Table {
  const header = sheet.header.map((label) => label.trim());
  const candidates = languages(columns)
    .filter((language) => options.labels === undefined || options.labels === language)
    .map((language) => ({ language, ...compare(header, labelsOf(columns, language)) }));
  const [best] = candidates.sort((a, b) => a.missing.length - b.missing.length);
  if (best === undefined)
    throw new FileFault(`is of a layout without labels in "${options.labels}"`);
  const { language, missing, unknown } = best;
  if (missing.length > 0 || unknown.length > 0) throw headerFault(language, missing, unknown);
  const twice = header.find((label, at) => header.indexOf(label) !== at);
  if (twice !== undefined)
    throw new FileFault(`has the column ${quoted([twice])} twice`, 1, twice.slice(0, LABEL_SHOWN));
  const locale = { ...LOCALES[language], decimal: options.decimal ?? LOCALES[language].decimal };
  return { file, sheet, language, locale, at: new Map(header.map((label, at) => [label, at])) };
}

/** The languages that every column has a label in. */
function languages(columns: readonly Column[]): Language[] {
  return columns.every(({ labels }) => labels.de !== undefined) ? ["en", "de"] : ["en"];
}

const labelsOf = (columns: readonly Column[], language: Language): string[] =>
  columns.map(({ labels }) => labels[language] ?? labels.en);

function compare(header: readonly string[], labels: readonly string[]) {
  return {
    missing: labels.filter((label) => !header.includes(label)),
    unknown: header.filter((label) => !labels.includes(label)),
  };
}

function headerFault(language: Language, missing: string[], unknown: string[]): FileFault {
  const parts = [
    ...(missing.length > 0 ? [`lacks the columns ${quoted(missing)} (labels: ${language})`] : []),
    ...(unknown.length > 0 ? [`has the unknown columns ${quoted(unknown)}`] : []),
  ];
  return new FileFault(parts.join(" and "), 1, missing[0] ?? "");
}

const LABELS_SHOWN = 30;
const LABEL_SHOWN = 60;

function quoted(labels: readonly string[]): string {
  const shown = labels.slice(0, LABELS_SHOWN).map((label) => `"${label.slice(0, LABEL_SHOWN)}"`);
  const more = labels.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** A row, and whether it continues the record above it. */
export interface TableRow extends Row {
  readonly continues: boolean;
}

/**
 * All rows but those that are empty altogether.
 * @throws FileFault when the first row continues a record: the file was sorted or cut at the top
 */
export async function* rowsOf(table: Table, head: Columns): AsyncGenerator<readonly TableRow[]> {
  const isContinuation = continuation(table, head);
  let isFirst = true;
  for await (const batch of table.sheet.rows()) {
    const rows = batch
      .filter(({ cells }) => cells.some((cell) => cell !== ""))
      .map(({ line, cells }) => ({ line, cells, continues: isContinuation(cells) }));
    const [first] = rows;
    if (isFirst && first?.continues === true)
      throw new FileFault("begins with a row that continues a record; was it sorted?", first.line);
    isFirst &&= first === undefined;
    yield rows;
  }
}

/**
 * Of a record that is whole only with its last row: does the row in which the file stops continue it, perhaps? Then it
 * is not known to be whole. To be asked once all rows were read.
 */
export function isCutInRecord(table: Table, head: Columns): boolean {
  const { cut } = table.sheet;
  return cut !== null && continuation(table, head)(cut.cells);
}

/** Columns of the head that are all empty say that a row continues the record above it. */
function continuation(table: Table, head: Columns): (cells: readonly string[]) => boolean {
  const places = labelsOf(Object.values(head), table.language).flatMap(
    (label) => table.at.get(label) ?? [],
  );
  return (cells) => places.every((at) => (cells[at] ?? "") === "");
}

/** The values of `columns` in a row; null when all its cells are empty. */
export function readEntry(table: Table, columns: Columns, row: Row): Entry | null {
  const values: Record<string, Cell> = {};
  const problems: Problem[] = [];
  let empty = true;
  for (const [field, { type, labels, filled }] of Object.entries(columns)) {
    const label = labels[table.language] ?? labels.en;
    const cell = row.cells[table.at.get(label) ?? -1] ?? "";
    empty &&= cell === "";
    const found = (message: string): number =>
      problems.push({ file: table.file, line: row.line, column: label, message });
    values[field] = null;
    try {
      values[field] = readCell(type, cell, table.locale);
    } catch (error) {
      found(`${label} ${(error as RangeError).message}`);
    }
    if (filled && cell === "") found(`${label} is empty`);
  }
  return empty ? null : { line: row.line, values, problems };
}

/** A row with more or fewer cells than the header: none of them can be trusted to stand under its label. */
export function raggedness(table: Table, row: Row): Problem | null {
  const { length } = table.sheet.header;
  if (row.cells.length === length) return null;
  const message = `The row has ${row.cells.length} cells, the header ${length}`;
  return { file: table.file, line: row.line, column: "", message };
}
