/** The rows of a table into drafts of records: which rows are one, and which blocks of them its lists. */
import { readCell } from "./cells.ts";
import { FileFault, Sheet } from "./csv.ts";
import { HEADS, type List, type Profile, textFormOf } from "./profile.ts";
import {
  type Entry,
  isCutInRecord,
  openTable,
  type Problem,
  raggedness,
  readEntry,
  rowsOf,
  type Table,
  type TableRow,
} from "./table-reader.ts";
import type { Row } from "./tokens.ts";

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
  const { record, across } = table.profile;
  if (across !== undefined) yield* crossDrafts(table, across);
  else if (typeof record === "object" && "inherits" in record)
    yield* rowDrafts(table, record.inherits);
  else yield* groupDrafts(table, joins);
}

async function* groupDrafts(
  table: Table,
  joins: readonly Join[],
): AsyncGenerator<readonly Draft[]> {
  let group: TableRow[] = [];
  for await (const rows of rowsOf(table)) {
    const drafts: Draft[] = [];
    for (const row of rows) {
      if (!row.continues && group.length > 0) drafts.push(groupDraft(table, group, joins));
      if (row.continues) group.push(row);
      else group = [row];
    }
    yield drafts;
  }
  const isSpread = table.lists.length > 0;
  if (group.length > 0 && !(isSpread && isCutInRecord(table)))
    yield [groupDraft(table, group, joins)];
}

/** One record of each row; some of its fields stand on the first row only. */
async function* rowDrafts(
  table: Table,
  inherited: readonly string[],
): AsyncGenerator<readonly Draft[]> {
  const isHead = (name: string): boolean => inherited.includes(name);
  let first: Row | null = null;
  let above: Readonly<Record<string, unknown>> = {};
  let problems: readonly Problem[] = [];
  for await (const rows of rowsOf(table)) {
    const drafts: Draft[] = [];
    for (const row of rows) {
      const ragged = raggedness(table, row);
      if (!row.continues) {
        first = row;
        const head = readEntry(table, table.head, row, isHead);
        problems = [...listed(ragged), ...(head?.problems ?? [])];
        above = Object.fromEntries(inherited.map((name) => [name, head?.values[name] ?? null]));
      }
      const entry = readEntry(table, table.head, row, (name) => !isHead(name));
      if (entry === null) continue;
      drafts.push({
        values: { ...entry.values, ...above },
        line: entry.line,
        problems: [...problems, ...(row.continues ? listed(ragged) : []), ...entry.problems],
        raw: first === null || first === row ? [row.cells] : [first.cells, row.cells],
      });
    }
    yield drafts;
  }
}

/** One record of each cell that is not empty, of the columns that lie across. */
async function* crossDrafts(
  table: Table,
  names: { readonly header: string; readonly cell: string },
): AsyncGenerator<readonly Draft[]> {
  for await (const rows of rowsOf(table)) yield rows.flatMap((row) => crossed(table, row, names));
}

function crossed(
  table: Table,
  row: Row,
  { header, cell }: { readonly header: string; readonly cell: string },
): Draft[] {
  const type = table.profile.layout.head[cell]?.type ?? "text";
  const above = listed(raggedness(table, row));
  const head = readEntry(table, table.head, row, (name) => name !== cell && name !== header);
  return table.across.flatMap(({ label, find, form }) => {
    const text = find(row.cells);
    const problems = [...above, ...(head?.problems ?? [])];
    const values = { ...table.head.template, ...head?.values, [header]: label };
    try {
      const value = readCell(type, text, form);
      if (value === null) return [];
      values[cell] = value;
    } catch (error) {
      const message = `${label} ${(error as RangeError).message}`;
      problems.push({ file: table.file, line: row.line, column: label, message, value: text });
    }
    return { values, line: row.line, problems, raw: [[label, text]] };
  });
}

const listed = <T>(one: T | null): T[] => (one === null ? [] : [one]);

function groupDraft(table: Table, rows: readonly Row[], joins: readonly Join[]): Draft {
  const first = rows[0] as Row;
  const head = readEntry(table, table.head, first);
  if (table.isPlain) return plainDraft(table, first, head);
  const values: Record<string, unknown> = { ...(head?.values ?? table.head.template) };
  const problems = [...raggedIn(table, rows), ...(head?.problems ?? []), ...strays(table, rows)];
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

function raggedIn(table: Table, rows: readonly Row[]): Problem[] {
  const found: Problem[] = [];
  for (const row of rows) {
    const ragged = raggedness(table, row);
    if (ragged !== null) found.push(ragged);
  }
  return found;
}

function entriesIn(table: Table, list: Table["lists"][number], rows: readonly Row[]): Entry[] {
  const found: Entry[] = [];
  for (const row of rows) {
    const entry = isOf(table, list.tags, row.cells) ? readEntry(table, list, row) : null;
    if (entry !== null) found.push(entry);
  }
  return found;
}

/** A record that is a row and nothing else. */
function plainDraft(table: Table, row: Row, head: Entry | null): Draft {
  const ragged = raggedness(table, row);
  const { values = table.head.template, problems = [] } = head ?? {};
  return {
    values,
    line: row.line,
    problems: ragged === null ? problems : [ragged, ...problems],
    raw: [row.cells],
  };
}

const isOf = (table: Table, tags: List["tags"], cells: readonly string[]): boolean =>
  tags === null || tags.has(table.tag?.(cells) ?? "");

/** Rows whose tag the profile does not know, and rows of one record that say different things of its head. */
function strays(table: Table, rows: readonly Row[]): Problem[] {
  const { record } = table.profile;
  const found: Problem[] = [];
  const say = ({ line }: Row, column: string, message: string): number =>
    found.push({ file: table.file, line, column, message });
  if (table.tag !== null) {
    const known = new Set(table.lists.flatMap(({ tags }) => [...(tags?.keys() ?? [])]));
    if (typeof record === "object" && "tag" in record)
      for (const tag of [record.tag, record.closing]) if (tag !== undefined) known.add(tag);
    for (const row of rows) {
      const tag = table.tag(row.cells);
      const isPlain = tag === "" && typeof record === "object" && "same" in record;
      if (!isPlain && !known.has(tag))
        say(row, "", `The row is marked "${tag}", which the profile does not know`);
    }
  }
  const [first, ...others] = rows;
  if (first === undefined || typeof record === "string" || !("same" in record)) return found;
  for (const row of others)
    for (const { label, find } of table.head.places)
      if (find(row.cells) !== find(first.cells))
        say(row, label, `${label} says otherwise than in line ${first.line} of the same record`);
  return found;
}

/** All records of a text that is whole. @throws FileFault */
export async function draftsIn(profile: Profile, text: string): Promise<Draft[]> {
  const sheet = await Sheet.open(once(text), textFormOf(profile));
  const drafts: Draft[] = [];
  for await (const batch of draftsOf(openTable("", sheet, profile, HEADS, {}), []))
    drafts.push(...batch);
  if (sheet.cut !== null) throw new FileFault(sheet.cut.reason, sheet.cut.line);
  return drafts;
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
