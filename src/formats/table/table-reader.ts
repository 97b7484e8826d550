/** The rows of one file into typed values: where a profile's columns stand in it, and which rows belong together. */
import { type Cell, type CellForm, type CellType, readCell } from "./cells.ts";
import { FileFault, type Sheet } from "./csv.ts";
import type { Fields } from "./layouts/table.ts";
import { type Column, HEADS, type List, type Profile } from "./profile.ts";
import { headersOf, labelOf, locate, type TableOptions } from "./locate.ts";
import { Tally } from "./tally.ts";
import type { Row } from "./tokens.ts";

/** A cell that cannot be read, or a row that does not fit its header. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  /** The label as it stands in the file; empty for a whole row. */
  readonly column: string;
  /** A sentence with the bad value in it. */
  readonly message: string;
  /** The cell; of a whole row: empty. */
  readonly value?: string;
}

/** Values of one row; a cell with a problem is null. */
export interface Entry {
  readonly line: number;
  readonly values: Readonly<Record<string, Cell>>;
  readonly problems: readonly Problem[];
}

type Find = (cells: readonly string[]) => string;

/** A column of this file. */
interface Place {
  readonly name: string;
  readonly label: string;
  readonly type: CellType;
  readonly filled: boolean;
  readonly blank: boolean;
  readonly form: CellForm;
  readonly find: Find;
  /** What the cell must be; null: what it likes. It is no field then. */
  readonly must: string | null;
  /** An empty cell is none that contradicts {@link must}. */
  readonly optional: boolean;
}

/** What of a row becomes an entry. */
export interface Block {
  /** What the fields are that no column has: constants, null. In the order of the layout. */
  readonly template: Readonly<Record<string, Cell>>;
  readonly places: readonly Place[];
}

/** A file's sheet with its columns found. */
export interface Table {
  readonly file: string;
  readonly sheet: Sheet;
  readonly profile: Profile;
  /** Of the head; of another part of an export: of its list. */
  readonly head: Block;
  /** Of the lists in this file, with the tags of their rows. */
  readonly lists: readonly (Block & { readonly name: string; readonly tags: List["tags"] })[];
  /** One record per cell: where they stand. */
  readonly across: readonly {
    readonly label: string;
    readonly find: Find;
    readonly form: CellForm;
  }[];
  readonly tag: Find | null;
  readonly leaves: (cells: readonly string[]) => boolean;
  /** A record is a row, and has no lists. */
  readonly isPlain: boolean;
  /** How many cells a row has; null: as many as it likes. */
  readonly width: number | null;
  /** Of the kinds of rows that have each a header of their own: their labels. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly counted: { leftOut: number };
  /** Its rows and sums as of the rows that were read; null: nobody asked. */
  readonly tally: Tally | null;
}

export type { TableOptions } from "./locate.ts";

/** Finds the columns in the header. @throws FileFault when columns are missing, unknown or there twice. */
export function openTable(
  file: string,
  sheet: Sheet,
  profile: Profile,
  part: string,
  options: TableOptions,
): Table {
  const isHeads = part === HEADS;
  const own = profile.lists.filter((list) => list.part === (isHeads ? null : part));
  const { language, indexOf, width, across } = locate(sheet.header, profile, part, options);
  const written = profile.languages[language];
  const base: CellForm = {
    decimal: options.decimal ?? written?.decimal ?? ".",
    dates: written?.dates ?? ["yyyy-MM-dd"],
    ...profile.form,
  };
  const find = (column: Column): Find => {
    const { slice } = column;
    if (slice !== null) return ([line = ""]) => sliced(line, slice);
    const at = indexOf(column);
    return (cells) => cells[at] ?? "";
  };
  const block = (columns: readonly Column[], fields: Fields): Block => ({
    template: templateOf(columns, fields),
    places: columns
      .filter(
        ({ constant, labels, index, slice }) =>
          constant === null || labels !== null || index !== null || slice !== null,
      )
      .map((column) => placeOf(column, find(column), language, base)),
  });
  const { layout, across: crossed } = profile;
  const [list] = own;
  const form = { ...base, ...profile.head.find(({ name }) => name === crossed?.cell)?.form };
  const table: Table = {
    file,
    sheet,
    profile,
    head: isHeads
      ? block(profile.head, layout.head)
      : block(list?.columns ?? [], layout.lists[list?.name ?? ""] ?? {}),
    lists: isHeads
      ? own.map(({ name, tags, columns }) => ({
          name,
          tags,
          ...block(columns, layout.lists[name] ?? {}),
        }))
      : [],
    across: across.map(({ label, at }) => ({ label, find: (cells) => cells[at] ?? "", form })),
    tag: profile.tag === null ? (profile.header === "tags" ? firstCell : null) : find(profile.tag),
    leaves: leavesOf(profile, language, find),
    isPlain:
      profile.record === "row" && profile.tag === null && Object.keys(layout.lists).length === 0,
    width,
    headers: headersOf(profile, language),
    counted: { leftOut: 0 },
    tally: null,
  };
  const { sums } = options;
  return sums === undefined ? table : { ...table, tally: new Tally(table, sums) };
}

const firstCell: Find = ([cell = ""]) => cell;

/** By characters, as people count them; blanks around a value fill it up. */
function sliced(line: string, { from, length }: { from: number; length: number }): string {
  const whole = ASTRAL.test(line)
    ? Array.from(line)
        .slice(from, from + length)
        .join("")
    : line.slice(from, from + length);
  return whole.trim();
}

const ASTRAL = /[\ud800-\udfff]/;

const ISO: CellForm = { decimal: ".", dates: ["yyyy-MM-dd"] };

const templateOf = (columns: readonly Column[], fields: Fields): Record<string, Cell> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { type, blank }]) => {
      const constant = columns.find((column) => column.name === name)?.constant ?? null;
      if (constant !== null) return [name, readCell(type, constant, ISO)];
      return [name, blank === true ? "" : null];
    }),
  );

function placeOf(column: Column, find: Find, language: string, base: CellForm): Place {
  const { name, field, form, constant: must, optional } = column;
  const { type = "text", filled = false, blank = false } = field ?? {};
  const label = labelOf(column, language) ?? name;
  return { name, label, type, filled, blank, form: { ...base, ...form }, find, must, optional };
}

/** Rows that the profile leaves out: by a label, or by the name of a field or of the tag where there is no header. */
function leavesOf(
  { leaveOut, head, tag }: Profile,
  language: string,
  find: (column: Column) => Find,
): Table["leaves"] {
  const rules = Object.entries(leaveOut).flatMap(([named, texts]) => {
    const column =
      head.find((one) => labelOf(one, language) === named || one.name === named) ??
      (named === "tag" ? tag : null);
    return column === null || column === undefined
      ? []
      : [{ at: find(column), texts: new Set(texts) }];
  });
  if (rules.length === 0) return () => false;
  return (cells) => rules.some(({ at, texts }) => texts.has(at(cells).trim()));
}

/** A row, and whether it continues the record above it. */
export interface TableRow extends Row {
  readonly continues: boolean;
}

/**
 * All rows but those that are empty altogether, left out, or the header of a kind of row.
 * @throws FileFault when the first row continues a record: the file was sorted or cut at the top; and when there is
 * neither a header nor a row: an export that failed leaves such a file
 */
export async function* rowsOf(table: Table): AsyncGenerator<readonly TableRow[]> {
  const continues = continuation(table);
  const { header, file } = table.profile;
  const isBlank = (cell: string): boolean =>
    cell === "" || (file === "fixed" && cell.trim() === "");
  let isFirst = true;
  let isEmpty = table.sheet.header.length === 0;
  for await (const batch of table.sheet.rows()) {
    const rows: TableRow[] = [];
    for (const { line, cells } of batch) {
      if (cells.every(isBlank)) continue;
      isEmpty = false;
      if (header === "tags" && cells[0]?.startsWith("!") === true) checkHeader(table, line, cells);
      else if (table.leaves(cells)) table.counted.leftOut++;
      else {
        table.tally?.take(line, cells);
        rows.push({ line, cells, continues: continues(cells) });
      }
    }
    const [first] = rows;
    if (isFirst && first?.continues === true)
      throw new FileFault("begins with a row that continues a record; was it sorted?", first.line);
    isFirst &&= first === undefined;
    yield rows;
  }
  if (isEmpty && table.sheet.cut === null) throw new FileFault("is empty: it has no row");
}

/** @throws FileFault when a kind of row has other columns than the profile says, or in another order */
function checkHeader(
  { headers }: Table,
  line: number,
  [tag = "", ...cells]: readonly string[],
): void {
  const labels = headers.get(tag.slice(1)) ?? cells;
  if (labels.every((label, at) => cells[at] === label)) return;
  throw new FileFault(`has other columns after ${tag} than ${labels.join(", ")}`, line, tag);
}

/**
 * Of a record that is whole only with its last row: does the row in which the file stops continue it, perhaps? Then it
 * is not known to be whole. To be asked once all rows were read.
 */
export function isCutInRecord(table: Table): boolean {
  const { cut } = table.sheet;
  if (cut === null) return false;
  return table.profile.record !== "continues" || continuation(table)(cut.cells);
}

/** Asked row by row: whether it belongs to the record of the one before. */
function continuation(table: Table): (cells: readonly string[]) => boolean {
  const { record } = table.profile;
  if (record === "row") return () => false;
  if (record === "continues") return areEmpty(table.head.places);
  if ("tag" in record) return (cells) => table.tag?.(cells) !== record.tag;
  const names = "same" in record ? record.same : record.inherits;
  const places = table.head.places.filter(({ name }) => names.includes(name));
  if ("inherits" in record) return areEmpty(places);
  let before: string | null = null;
  return (cells) => {
    const now = JSON.stringify(places.map(({ find }) => find(cells)));
    const same = now === before;
    before = now;
    return same;
  };
}

/** Asked of every row: a loop that makes nothing. */
const areEmpty =
  (places: readonly Place[]) =>
  (cells: readonly string[]): boolean => {
    for (let at = 0; at < places.length; at++) if (places[at]?.find(cells) !== "") return false;
    return true;
  };

/**
 * The values of a block in a row; null when all its cells are empty. `only`: of these fields. It runs for every row, so what
 * it needs for a problem is made where there is one.
 */
export function readEntry(
  table: Table,
  { template, places }: Block,
  row: Row,
  only: ((name: string) => boolean) | null = null,
): Entry | null {
  const values: Record<string, Cell> = { ...template };
  let problems: Problem[] | null = null;
  let empty = true;
  for (const place of places) {
    const { name, must } = place;
    if (only !== null && !only(name)) continue;
    const cell = place.find(row.cells);
    if (must !== null && (cell === must || (place.optional && cell === ""))) continue;
    let wrong: string | null = null;
    if (must !== null) {
      const expected = must === "" ? "nothing there" : `"${must}"`;
      wrong = `is "${cell.slice(0, 60)}", and the profile expects ${expected}`;
    } else {
      try {
        const value = readCell(place.type, cell, place.form);
        values[name] = value === null && place.blank ? "" : value;
        empty &&= value === null;
        if (value === null && place.filled) wrong = "is empty";
      } catch (error) {
        empty = false;
        values[name] = null;
        wrong = (error as RangeError).message;
      }
    }
    if (wrong === null) continue;
    const message = `${place.label} ${wrong}`;
    problems ??= [];
    problems.push({ file: table.file, line: row.line, column: place.label, message, value: cell });
  }
  return empty ? null : { line: row.line, values, problems: problems ?? NONE };
}

const NONE: readonly Problem[] = [];

/** A row with more or fewer cells than the header: none of them can be trusted to stand under its label. */
export function raggedness(table: Table, row: Row): Problem | null {
  const { width, profile } = table;
  const { length } = row.cells;
  if (width === null || (profile.header === 0 ? length >= width : length === width)) return null;
  const wanted = profile.header === 0 ? `the profile needs ${width}` : `the header ${width}`;
  const message = `The row has ${length} cells, ${wanted}`;
  return { file: table.file, line: row.line, column: "", message };
}
