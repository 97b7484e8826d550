/** Where the columns of a profile stand in one file: its header against the profile's labels. */
import { Decimal } from "../../core/decimal.ts";
import { FileFault } from "../format.ts";
import { type Cell, type CellForm, type CellType, readCell } from "./cells.ts";
import type { Fields } from "./layouts.ts";
import { type Column, HEADS, isPlaced, type List, type Profile, textFormOf } from "./profile.ts";
import { type Row, Sheet } from "./text.ts";

export interface TableOptions {
  /** The language of the labels; left out: any that the profile knows. */
  readonly labels?: string | undefined;
  readonly decimal?: "." | "," | undefined;
  /** The columns to be summed, null: all of numbers. Left out: nothing is counted. */
  readonly sums?: readonly string[] | null;
}

interface Located {
  readonly language: string;
  /** -1: the column is not there. */
  readonly indexOf: (column: Column) => number;
  /** How many cells a row has; null: as many as it likes. */
  readonly width: number | null;
  /** The columns of a table with one record per cell. */
  readonly across: readonly { readonly label: string; readonly at: number }[];
}

/** @throws FileFault when columns are missing, unknown or there twice */
function locate(
  labels: readonly string[],
  profile: Profile,
  part: string,
  options: TableOptions,
): Located {
  const columns = columnsOf(profile, part);
  const languages = languagesOf(profile, columns, options);
  const [language = ""] = languages;
  if (profile.header === "tags") return taggedPlaces(profile, language);
  if (profile.header === 0) {
    const indexes = columns.map(({ index }) => (index ?? -1) + 1);
    const width = profile.file === "fixed" ? null : Math.max(...indexes, 0);
    return { language, indexOf: ({ index }) => index ?? -1, width, across: [] };
  }
  return byLabels(
    labels.map((label) => label.trim()),
    profile,
    columns,
    languages,
  );
}

/** The label of a column in a language; null: it has none. */
export const labelOf = ({ labels }: Column, language: string): string | null =>
  labels?.[language] ?? labels?.[""] ?? null;

/** All columns of a part, each once. */
export function columnsOf({ head, lists, tag }: Profile, part: string): Column[] {
  const own = lists.filter((list) => list.part === (part === HEADS ? null : part));
  return [
    ...(part === HEADS ? [...(tag === null ? [] : [tag]), ...head] : []),
    ...own.flatMap(({ repeats, counts, columns }) => [
      ...repeats,
      ...(counts === null ? [] : [counts]),
      ...columns,
    ]),
  ];
}

/** The languages that every column has a label in, where it has any. @throws FileFault */
function languagesOf(
  profile: Profile,
  columns: readonly Column[],
  { labels }: TableOptions,
): string[] {
  const whole = Object.keys(profile.languages).filter((language) =>
    columns.every((column) => column.labels === null || labelOf(column, language) !== null),
  );
  const wanted = whole.filter((language) => labels === undefined || labels === language);
  if (wanted.length === 0) throw new FileFault(`is of a layout without labels in "${labels}"`);
  return wanted;
}

function byLabels(
  header: readonly string[],
  { otherColumns, across }: Profile,
  columns: readonly Column[],
  languages: readonly string[],
): Located {
  const candidates = languages.map((language) => {
    const labelled = columns.filter(({ labels }) => labels !== null);
    const named = labelled.map((column) => labelOf(column, language) ?? "");
    const needed = labelled
      .filter(({ optional }) => !optional)
      .map((column) => labelOf(column, language) ?? "");
    const missing = [...new Set(needed)].filter((label) => !header.includes(label));
    return { language, missing, others: header.filter((label) => !named.includes(label)) };
  });
  const [best] = candidates.toSorted((a, b) => a.missing.length - b.missing.length);
  const { language = "", missing = [], others = [] } = best ?? {};
  const unknown = otherColumns === "refused" && across === undefined ? others : [];
  if (missing.length > 0 || unknown.length > 0) throw headerFault(language, missing, unknown);
  const crossed =
    across === undefined
      ? []
      : others.filter(
          (label) =>
            label !== "" &&
            !across.except.includes(label) &&
            (across.columns?.includes(label) ?? true),
        );
  const used = new Set([
    ...columns.flatMap((column) => labelOf(column, language) ?? []),
    ...crossed,
  ]);
  const twice = header.find(
    (label, at) => header.indexOf(label) !== at && (otherColumns === "refused" || used.has(label)),
  );
  if (twice !== undefined)
    throw new FileFault(`has the column ${quoted([twice])} twice`, 1, twice.slice(0, LABEL_SHOWN));
  const absent = (across?.columns ?? []).filter((label) => !header.includes(label));
  if (absent.length > 0) throw headerFault(language, absent, []);
  return {
    language,
    indexOf: (column) => header.indexOf(labelOf(column, language) ?? ""),
    width: header.length,
    across: crossed.map((label) => ({ label, at: header.indexOf(label) })),
  };
}

/** The kinds of rows of a file in which each begins with its tag, and their columns in their order. */
function kindsOf({ record, head, lists }: Profile): (readonly [string, readonly Column[]])[] {
  const tag = typeof record === "object" && "tag" in record ? record.tag : "";
  return [
    [tag, head],
    ...lists.flatMap(({ tags, repeats, columns }) =>
      [...(tags?.keys() ?? [])].map((one) => [one, [...repeats, ...columns]] as const),
    ),
  ];
}

/** Where each kind of row has a header of its own: its labels. */
export const headersOf = (profile: Profile, language: string): Map<string, string[]> =>
  profile.header === "tags"
    ? new Map(
        kindsOf(profile).map(([tag, columns]) => [
          tag,
          columns.map((column) => labelOf(column, language) ?? ""),
        ]),
      )
    : new Map();

/** Its tag is the first cell. */
function taggedPlaces(profile: Profile, language: string): Located {
  const places = new Map<Column, number>();
  for (const [, columns] of kindsOf(profile))
    for (const [at, column] of columns.entries()) places.set(column, at + 1);
  return { language, indexOf: (column) => places.get(column) ?? -1, width: null, across: [] };
}

function headerFault(
  language: string,
  missing: readonly string[],
  unknown: readonly string[],
): FileFault {
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

/* The rows of one file into typed values: where a profile's columns stand in it, and which rows belong together. */

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
interface Block {
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
      .filter((column) => column.constant === null || isPlaced(column))
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
interface TableRow extends Row {
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
function isCutInRecord(table: Table): boolean {
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
 * The values of a block in a row; null when all its cells are empty. It runs for every row, so what it needs for a problem is
 * made where there is one.
 */
export function readEntry(table: Table, { template, places }: Block, row: Row): Entry | null {
  const values: Record<string, Cell> = { ...template };
  let problems: Problem[] | null = null;
  let empty = true;
  for (const place of places) {
    const { name, must } = place;
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
    problems ??= [];
    problems.push(problemOf(table, row, place.label, `${place.label} ${wrong}`, cell));
  }
  return empty ? null : { line: row.line, values, problems: problems ?? NONE };
}

const NONE: readonly Problem[] = [];

const problemOf = (
  { file }: Table,
  { line }: Row,
  column: string,
  message: string,
  value?: string,
): Problem => ({ file, line, column, message, ...(value === undefined ? {} : { value }) });

/** Of a row with more or fewer cells than the header: none of them can be trusted to stand under its label. */
export function raggedness(table: Table, row: Row): readonly Problem[] {
  const { width, profile } = table;
  const { length } = row.cells;
  if (width === null || (profile.header === 0 ? length >= width : length === width)) return NONE;
  const wanted = profile.header === 0 ? `the profile needs ${width}` : `the header ${width}`;
  return [problemOf(table, row, "", `The row has ${length} cells, ${wanted}`)];
}

/* Control totals of a file: how many rows it has, and the sums of its columns of numbers as they stand there. */

interface Summed extends Pick<Place, "find" | "form"> {
  /** Whether a row has it. */
  readonly isOn: (cells: readonly string[]) => boolean;
}

export class Tally {
  rows = 0;
  readonly sums = new Map<string, Decimal>();
  /** The first cell of a column that is no number, by the column. */
  readonly unreadable = new Map<string, { readonly line: number; readonly message: string }>();
  /** By label. Rows of several kinds may each have a column of one name. */
  readonly #columns = new Map<string, Summed[]>();

  /** `wanted`: labels, where there is no header the names of fields; null: all columns of numbers. */
  constructor(table: Table, wanted: readonly string[] | null) {
    const { record } = table.profile;
    const tag = typeof record === "object" && "tag" in record ? new Map([[record.tag, ""]]) : null;
    const add = (label: string, summed: Summed): void => {
      if (wanted !== null && !wanted.includes(label)) return;
      this.#columns.set(label, [...(this.#columns.get(label) ?? []), summed]);
      this.sums.set(label, Decimal.zero);
    };
    for (const { places, tags } of [{ ...table.head, tags: tag }, ...table.lists])
      for (const { label, type, find, form } of places)
        if (type === "decimal")
          add(label, { find, form, isOn: (cells) => isOf(table, tags, cells) });
    for (const { label, find, form } of table.across) add(label, { find, form, isOn: () => true });
  }

  take(line: number, cells: readonly string[]): void {
    this.rows++;
    for (const [name, places] of this.#columns) {
      const place = places.find(({ isOn }) => isOn(cells));
      if (place === undefined) continue;
      try {
        const value = readCell("decimal", place.find(cells), place.form);
        if (value instanceof Decimal)
          this.sums.set(name, (this.sums.get(name) ?? Decimal.zero).plus(value));
      } catch (error) {
        const { message } = error as RangeError;
        if (!this.unreadable.has(name)) this.unreadable.set(name, { line, message });
      }
    }
  }
}

/* The rows of a table into drafts of records: which rows are one, and which blocks of them its lists. */

export interface Draft {
  readonly values: Readonly<Record<string, unknown>>;
  readonly line: number;
  readonly problems: readonly Problem[];
  /** The cells of its rows as they stand: what is kept of a record that cannot be read. */
  readonly raw: readonly (readonly string[])[];
}

/** Rows of a further file. */
export interface Join {
  readonly name: string;
  /** Takes the rows of a head; null when the file is not exported at all. */
  readonly take: (head: Entry["values"] | undefined) => readonly Entry[] | null;
  /** Says which rows no head has asked for. */
  readonly orphans: (heads: string) => string[];
}

/** Records as soon as they are known to be whole, in batches. @throws FileFault */
export async function* draftsOf(
  table: Table,
  joins: readonly Join[],
): AsyncGenerator<readonly Draft[]> {
  const draftsOfRow = rowReader(table);
  let group: TableRow[] = [];
  for await (const rows of rowsOf(table)) {
    const drafts: Draft[] = [];
    for (const row of rows) {
      if (draftsOfRow !== null) drafts.push(...draftsOfRow(row));
      else if (row.continues) group.push(row);
      else {
        if (group.length > 0) drafts.push(groupDraft(table, group, joins));
        group = [row];
      }
    }
    yield drafts;
  }
  const isSpread = table.lists.length > 0;
  if (group.length > 0 && !(isSpread && isCutInRecord(table)))
    yield [groupDraft(table, group, joins)];
}

/** What makes records of each row by itself, to be asked row by row; null: several rows are one record. */
function rowReader(table: Table): ((row: TableRow) => Draft[]) | null {
  const { record, across } = table.profile;
  if (across !== undefined) return crossReader(table, across);
  return typeof record === "object" && "inherits" in record
    ? inheritReader(table, record.inherits)
    : null;
}

const blockOf = ({ head }: Table, isIn: (name: string) => boolean): Block => ({
  template: head.template,
  places: head.places.filter(({ name }) => isIn(name)),
});

/** One record of each row; some of its fields stand on the first row only. */
function inheritReader(table: Table, inherited: readonly string[]): (row: TableRow) => Draft[] {
  const shared = blockOf(table, (name) => inherited.includes(name));
  const own = blockOf(table, (name) => !inherited.includes(name));
  let first: Row | null = null;
  let above: Readonly<Record<string, unknown>> = {};
  let problems: readonly Problem[] = [];
  return (row) => {
    const ragged = raggedness(table, row);
    if (!row.continues) {
      first = row;
      const head = readEntry(table, shared, row);
      problems = [...ragged, ...(head?.problems ?? [])];
      above = Object.fromEntries(inherited.map((name) => [name, head?.values[name] ?? null]));
    }
    const entry = readEntry(table, own, row);
    if (entry === null) return [];
    return [
      {
        values: { ...entry.values, ...above },
        line: entry.line,
        problems: [...problems, ...(row.continues ? ragged : []), ...entry.problems],
        raw: first === null || first === row ? [row.cells] : [first.cells, row.cells],
      },
    ];
  };
}

/** One record of each cell that is not empty, of the columns that lie across. */
function crossReader(
  table: Table,
  { header, cell }: { readonly header: string; readonly cell: string },
): (row: TableRow) => Draft[] {
  const type = table.profile.layout.head[cell]?.type ?? "text";
  const down = blockOf(table, (name) => name !== cell && name !== header);
  return (row) => {
    const head = readEntry(table, down, row);
    const above = [...raggedness(table, row), ...(head?.problems ?? [])];
    return table.across.flatMap(({ label, find, form }) => {
      const text = find(row.cells);
      const problems = [...above];
      const values = { ...table.head.template, ...head?.values, [header]: label };
      try {
        const value = readCell(type, text, form);
        if (value === null) return [];
        values[cell] = value;
      } catch (error) {
        const message = `${label} ${(error as RangeError).message}`;
        problems.push(problemOf(table, row, label, message, text));
      }
      return { values, line: row.line, problems, raw: [[label, text]] };
    });
  };
}

function groupDraft(table: Table, rows: readonly Row[], joins: readonly Join[]): Draft {
  const first = rows[0] as Row;
  const head = readEntry(table, table.head, first);
  if (table.isPlain) return plainDraft(table, first, head);
  const values: Record<string, unknown> = { ...(head?.values ?? table.head.template) };
  const problems = rows.flatMap((row) => raggedness(table, row));
  problems.push(...(head?.problems ?? []), ...strays(table, rows));
  const { layout } = table.profile;
  for (const name of Object.keys(layout.lists)) {
    const list = table.lists.find((one) => one.name === name);
    const join = joins.find((one) => one.name === name);
    const entries =
      list === undefined ? (join?.take(head?.values) ?? null) : entriesIn(table, list, rows);
    const isNone = entries === null && !layout.optional.includes(name);
    values[name] = isNone ? [] : (entries?.map((entry) => entry.values) ?? null);
    problems.push(...(entries ?? []).flatMap((entry) => entry.problems));
  }
  return { values, line: first.line, problems, raw: rows.map(({ cells }) => cells) };
}

const entriesIn = (table: Table, list: Table["lists"][number], rows: readonly Row[]): Entry[] =>
  rows.flatMap((row) =>
    isOf(table, list.tags, row.cells) ? (readEntry(table, list, row) ?? []) : [],
  );

/** A record that is a row and nothing else. */
function plainDraft(table: Table, row: Row, head: Entry | null): Draft {
  const ragged = raggedness(table, row);
  const { values = table.head.template, problems = NONE } = head ?? {};
  return {
    values,
    line: row.line,
    problems: ragged.length === 0 ? problems : [...ragged, ...problems],
    raw: [row.cells],
  };
}

const isOf = (table: Table, tags: List["tags"], cells: readonly string[]): boolean =>
  tags === null || tags.has(table.tag?.(cells) ?? "");

/** Rows whose tag the profile does not know, and rows of one record that say different things of its head. */
function strays(table: Table, rows: readonly Row[]): Problem[] {
  const { record } = table.profile;
  const isTagged = typeof record === "object" && "tag" in record;
  const isSame = typeof record === "object" && "same" in record;
  const found: Problem[] = [];
  if (table.tag !== null) {
    const known = new Set<string | undefined>(
      table.lists.flatMap(({ tags }) => [...(tags?.keys() ?? [])]),
    );
    if (isTagged) known.add(record.tag).add(record.closing);
    for (const row of rows) {
      const tag = table.tag(row.cells);
      const message = `The row is marked "${tag}", which the profile does not know`;
      if (!known.has(tag) && !(tag === "" && isSame))
        found.push(problemOf(table, row, "", message));
    }
  }
  const [first, ...others] = rows;
  if (first === undefined || !isSame) return found;
  for (const row of others)
    for (const { label, find } of table.head.places)
      if (find(row.cells) !== find(first.cells)) {
        const message = `${label} says otherwise than in line ${first.line} of the same record`;
        found.push(problemOf(table, row, label, message));
      }
  return found;
}

/** All records of a text that is whole. @throws FileFault */
export async function draftsIn(profile: Profile, text: string): Promise<Draft[]> {
  const table = await openText(profile, text);
  const drafts: Draft[] = [];
  for await (const batch of draftsOf(table, [])) drafts.push(...batch);
  const { cut } = table.sheet;
  if (cut !== null) throw new FileFault(cut.reason, cut.line);
  return drafts;
}

/** The table that a text is. @throws FileFault */
export async function openText(
  profile: Profile,
  text: string,
  file = "",
  options: TableOptions = {},
): Promise<Table> {
  const sheet = await Sheet.open(once(text), textFormOf(profile));
  return openTable(file, sheet, profile, HEADS, options);
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
