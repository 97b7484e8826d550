/** The rows of one file into typed values and drafts of records: which rows are one, and which blocks of them its lists. */
import { Decimal } from "../../core/decimal.ts";
import { defined } from "../../core/defined.ts";
import { stringifyExact } from "../../core/json.ts";
import { FileFault } from "../format.ts";
import { expectTotals } from "../manifest.ts";
import { BadCell, type Cell, foldedAs, shownCell } from "./cells.ts";
import { type Block, isOf, openTable, type Place, type Table } from "./columns.ts";
import { HEADS, type Profile } from "./profile.ts";
import { type Row, Sheet } from "./text.ts";

/** A cell that cannot be read, or a row that does not fit its header. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  /** The label as it stands in the file; empty for a whole row. */
  readonly column: string;
  /** A sentence with the bad value in it. */
  readonly message: string;
  /** The same without the value. */
  readonly reason: string;
  /** The cell; of a whole row: empty. */
  readonly value?: string;
}

/** Values of one row; a cell with a problem is null. */
export interface Entry {
  readonly line: number;
  readonly values: Readonly<Record<string, Cell>>;
  readonly problems: readonly Problem[];
}

/** A row, and whether it continues the record above it. */
interface TableRow extends Row {
  readonly continues: boolean;
  /** What holds for it from a row above; null: nothing does. */
  readonly heading: Entry | null;
}

/**
 * All rows but those that are empty altogether, left out, or the header of a kind of row.
 * @throws FileFault when the first row continues a record: the file was sorted or cut at the top; and when there is
 * neither a header nor a row: an export that failed leaves such a file
 */
export async function* rowsOf(table: Table): AsyncGenerator<readonly TableRow[]> {
  const continues = continuation(table);
  const { trailer } = table;
  const { header, file } = table.profile;
  const isBlank = (cell: string): boolean =>
    cell === "" || (file === "fixed" && cell.trim() === "");
  let isFirst = true;
  let isEmpty = table.sheet.header.length === 0;
  let heading: Entry | null = null;
  for await (const batch of table.sheet.rows((cells) => trailer?.is(cells) === true)) {
    const rows: TableRow[] = [];
    for (const { line, cells } of batch) {
      if (cells.every(isBlank)) continue;
      isEmpty = false;
      const ended = trailer?.row?.line;
      if (ended !== undefined)
        throw new FileFault(`has a row below its trailer, which is in line ${ended}`, line);
      if (trailer?.is(cells) === true) {
        trailer.row = { line, cells };
        continue;
      }
      if (header === "tags" && cells[0]?.startsWith("!") === true) table.relocate(cells, line);
      else if (table.leaves(cells)) table.counted.leftOut++;
      else {
        table.tally?.take(line, cells);
        if (trailer?.isCounted(cells) === true) trailer.rows++;
        if (table.heading !== null && isOf(table, table.heading.tags, cells))
          heading = headingIn(table, { line, cells });
        else rows.push({ line, cells, continues: continues(cells), heading });
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

/**
 * What the whole file came to against its last row, once all rows were read; `records`: how many there were.
 * @throws FileFault that names both values of all that differs, or says that there is no such row
 */
export function checkTrailer(table: Table, records: number): void {
  const { trailer, sheet, profile } = table;
  if (trailer === null) return;
  const { row, rows } = trailer;
  if (row === null) {
    const cut = sheet.cut === null ? "" : `${sheet.cut.reason}; it `;
    const tag = profile.trailer?.tag ?? "";
    throw new FileFault(`${cut}has no trailer ("${tag}"), so it is not known to be whole`);
  }
  const valuesOf = (places: readonly Place[]): Record<string, Decimal> => {
    const entry = readEntry(table, { template: {}, places }, row);
    const [problem] = entry?.problems ?? [];
    if (problem !== undefined || (entry === null && places.length > 0))
      throw new FileFault(
        `has a trailer that cannot be read: ${problem?.message ?? "it says nothing"}`,
        row.line,
      );
    return (entry?.values ?? {}) as Record<string, Decimal>;
  };
  const counts = { lines: row.line, rows, records };
  const told = { counts: valuesOf(trailer.counts), sums: valuesOf(trailer.sums) };
  expectTotals({ name: "its trailer", ...told }, table, counts, row.line);
}

/** Also of one that says nothing: what is missing in it is missing in each record below. */
function headingIn(table: Table, row: Row): Entry {
  const { heading } = table;
  const none = { line: row.line, values: heading?.template ?? {}, problems: NONE };
  return (heading && readEntry(table, heading, row)) ?? none;
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
    let wrong: BadCell | null = null;
    if (must !== null) {
      const cell = place.find(row.cells);
      if (foldedAs(place.anyCase, cell) === must || (place.optional && cell === "")) continue;
      wrong = new BadCell(
        `is not ${must === "" ? "empty" : `"${must}"`}, as the profile expects`,
        cell,
      );
    } else {
      try {
        const value = place.value(row.cells);
        values[name] = value === null && place.blank ? "" : value;
        empty &&= value === null;
        if (value === null && place.filled) wrong = new BadCell("is empty");
      } catch (error) {
        empty = false;
        values[name] = null;
        wrong = error as BadCell;
      }
    }
    if (wrong === null) continue;
    problems ??= [];
    problems.push(problemOf(table, row, place.label, wrong, place.find(row.cells)));
  }
  return empty ? null : { line: row.line, values, problems: problems ?? NONE };
}

const NONE: readonly Problem[] = [];

const problemOf = (
  { file }: Table,
  { line }: Row,
  column: string,
  { message, reason }: BadCell,
  value?: string,
): Problem => {
  const of = column === "" ? "The row" : column;
  return {
    file,
    line,
    column,
    message: `${of} ${message}`,
    reason: `${of} ${reason}`,
    ...defined({ value: value && shownCell(value) }),
  };
};

/** What is wrong with a row as a whole. */
const rowProblem = (table: Table, row: Row, reason: string): Problem =>
  problemOf(table, row, "", new BadCell(reason));

/** Of a row with more or fewer cells than the header: none of them can be trusted to stand under its label. */
export function raggedness(table: Table, row: Row): readonly Problem[] {
  const { width, needs } = table;
  const { length } = row.cells;
  if (width === null ? length >= needs(row.cells) : length === width) return NONE;
  const wanted = width === null ? `the profile needs ${needs(row.cells)}` : `the header ${width}`;
  return [rowProblem(table, row, `has ${length} cells, ${wanted}`)];
}

/* The rows of a table into drafts of records: which rows are one, and which blocks of them its lists. */

export interface Draft {
  readonly values: Readonly<Record<string, unknown>>;
  readonly line: number;
  readonly problems: readonly Problem[];
  /** A row that it has twice, where nothing tells whether both count. Left out: there is none. */
  readonly alike?: string;
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
  if (table.lists.length > 0 && isCutInRecord(table)) table.counted.torn = group.length;
  else if (group.length > 0) yield [groupDraft(table, group, joins)];
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
  const down = blockOf(table, (name) => name !== cell && name !== header);
  return (row) => {
    const head = readEntry(table, down, row);
    const above = [...raggedness(table, row), ...(head?.problems ?? [])];
    return table.across.flatMap(({ label, find, value: read }) => {
      const text = find(row.cells);
      const problems = [...above];
      const values = { ...table.head.template, ...head?.values, [header]: label };
      try {
        const value = read(row.cells);
        if (value === null) return [];
        values[cell] = value;
      } catch (error) {
        problems.push(problemOf(table, row, label, error as BadCell, text));
      }
      return { values, line: row.line, problems, raw: [[label, text]] };
    });
  };
}

function groupDraft(table: Table, rows: readonly TableRow[], joins: readonly Join[]): Draft {
  const first = rows[0] as TableRow;
  const head = readEntry(table, table.head, first);
  if (table.isPlain) return plainDraft(table, first, head);
  const { heading } = first;
  const values: Record<string, unknown> = {
    ...(head?.values ?? table.head.template),
    ...heading?.values,
  };
  const problems = rows.flatMap((row) => raggedness(table, row));
  problems.push(...(heading?.problems ?? []), ...(head?.problems ?? []), ...strays(table, rows));
  if (table.footer !== null) problems.push(...footerOf(table, table.footer, rows, values));
  if (table.heading !== null && heading === null)
    problems.push(rowProblem(table, first, `has no row "${table.heading.tag}" above it`));
  const { layout } = table.profile;
  let alike: Draft["alike"];
  for (const name of Object.keys(layout.lists)) {
    const blocks = table.lists.filter((one) => one.name === name);
    const join = joins.find((one) => one.name === name);
    const entries =
      blocks.length === 0 ? (join?.take(head?.values) ?? null) : entriesIn(table, blocks, rows);
    const isNone = entries === null && !layout.optional.includes(name);
    values[name] = isNone ? [] : (entries?.map((entry) => entry.values) ?? null);
    problems.push(...(entries ?? []).flatMap((entry) => entry.problems));
    problems.push(...blocks.flatMap((list) => numberedTwice(table, list, rows)));
    if (name === layout.adds) alike = alikeIn(table, name, rows, entries ?? []);
  }
  const raw = rows.map(({ cells }) => cells);
  return { values, line: first.line, problems, raw, ...defined({ alike }) };
}

/** What the last row of a record says goes into its values. */
function footerOf(
  table: Table,
  footer: NonNullable<Table["footer"]>,
  rows: readonly Row[],
  values: Record<string, unknown>,
): readonly Problem[] {
  const [row, second] = rows.filter(({ cells }) => isOf(table, footer.tags, cells));
  const wrong = row === undefined ? "has no row" : second === undefined ? null : "has two rows";
  if (row === undefined || wrong !== null)
    return [rowProblem(table, rows[0] as Row, `${wrong} "${footer.tag}" below it`)];
  const entry = readEntry(table, footer, row);
  Object.assign(values, entry?.values ?? footer.template);
  return entry?.problems ?? NONE;
}

const entriesIn = (table: Table, blocks: Table["lists"], rows: readonly Row[]): Entry[] =>
  rows.flatMap((row) =>
    blocks.flatMap((list) =>
      isOf(table, list.tags, row.cells) ? (listEntry(table, list, row) ?? []) : [],
    ),
  );

/** Rows of a record that have one number: an export has doubled them, however alike rightful ones may be. */
function numberedTwice(
  table: Table,
  { numbered, tags }: Table["lists"][number],
  rows: readonly Row[],
): Problem[] {
  return numbered.flatMap((place) => {
    const seen = new Set<string>();
    return rows.flatMap((row) => {
      const number = isOf(table, tags, row.cells) ? place.find(row.cells) : "";
      if (number !== "" && seen.has(number)) {
        const wrong = new BadCell("numbers two rows of one record", number);
        return problemOf(table, row, place.label, wrong, number);
      }
      seen.add(number);
      return [];
    });
  });
}

/** Rows that the ERP numbers are told apart by their numbers; those of a further file are known by their values. */
function alikeIn(
  { profile, lists }: Table,
  name: string,
  rows: readonly Row[],
  entries: readonly Entry[],
): Draft["alike"] {
  if (profile.lists.some((one) => one.name === name && one.counts.length > 0)) return undefined;
  const texts = lists.some((one) => one.name === name)
    ? rows.map(({ cells }) => cells.join(", "))
    : entries.map(({ values }) => stringifyExact(values));
  const seen = new Set<string>();
  return texts.find((text) => seen.size === seen.add(text).size);
}

function listEntry(table: Table, list: Table["lists"][number], row: Row): Entry | null {
  const place = list.places.find(({ name }) => name === list.when);
  if (place?.find(row.cells) === "") return null;
  const entry = readEntry(table, list, row);
  const value = list.when === null ? null : entry?.values[list.when];
  return value instanceof Decimal && value.sign === 0 ? null : entry;
}

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

/** Rows whose tag the profile does not know, and rows of one record that say different things of its head. */
function strays(table: Table, rows: readonly Row[]): Problem[] {
  const { record } = table.profile;
  const isSame = typeof record === "object" && "same" in record;
  const found: Problem[] = [];
  if (table.tag !== null) {
    const kinds = [table.head, table.footer, ...table.lists];
    const known = new Set(kinds.flatMap((one) => [...(one?.tags?.keys() ?? [])]));
    if (typeof record === "object" && "tag" in record && record.closing !== undefined)
      known.add(record.closing);
    for (const row of rows) {
      const tag = table.tag(row.cells);
      const isKnown = known.has(tag) || (tag === "" && isSame);
      if (!isKnown)
        found.push(rowProblem(table, row, `is marked "${tag}", which the profile does not know`));
    }
  }
  const [first, ...others] = rows;
  if (first === undefined || !isSame) return found;
  for (const row of others)
    for (const place of table.head.places) {
      const { name, label, find } = place;
      if (find(row.cells) === find(first.cells)) continue;
      if (record.first?.includes(name) === true && isNothing(place, row)) continue;
      const reason = "says otherwise than the first line of the same record";
      found.push(problemOf(table, row, label, new BadCell(reason)));
    }
  return found;
}

/** Empty, or 0. */
function isNothing({ find, value }: Place, { cells }: Row): boolean {
  try {
    const found = find(cells) === "" ? null : value(cells);
    return found === null || (found instanceof Decimal && found.sign === 0);
  } catch {
    return false;
  }
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

/** The table that a text is. `sums`: null, all columns of numbers are summed. @throws FileFault */
export async function openText(
  profile: Profile,
  text: string,
  file = "",
  sums?: null,
): Promise<Table> {
  const sheet = await Sheet.open(once(text), profile);
  return openTable(file, sheet, profile, HEADS, sums);
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
