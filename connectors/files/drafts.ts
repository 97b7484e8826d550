/** The rows of a table into drafts of records: which rows are one, and which blocks of them its lists. */
import { readCell } from "./cells.ts";
import { FileFault, Sheet } from "./csv.ts";
import { HEADS, type List, type Profile, textFormOf } from "./profile.ts";
import type { Problem, Entry, Table, TableRow } from "./table-reader.ts";
import { isCutInRecord, openTable, raggedness, readEntry, rowsOf } from "./table-reader.ts";
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

/** Records as soon as they are known to be whole. @throws FileFault */
export async function* draftsOf(table: Table, joins: readonly Join[]): AsyncGenerator<Draft> {
  const { record, across } = table.profile;
  if (across !== undefined) yield* crossDrafts(table, across);
  else if (typeof record === "object" && "inherits" in record)
    yield* rowDrafts(table, record.inherits);
  else yield* groupDrafts(table, joins);
}

async function* groupDrafts(table: Table, joins: readonly Join[]): AsyncGenerator<Draft> {
  let group: TableRow[] = [];
  for await (const rows of rowsOf(table))
    for (const row of rows) {
      if (!row.continues && group.length > 0) yield groupDraft(table, group, joins);
      if (row.continues) group.push(row);
      else group = [row];
    }
  const isSpread = table.lists.length > 0;
  if (group.length > 0 && !(isSpread && isCutInRecord(table)))
    yield groupDraft(table, group, joins);
}

/** One record of each row; some of its fields stand on the first row only. */
async function* rowDrafts(table: Table, inherited: readonly string[]): AsyncGenerator<Draft> {
  let first: Row | null = null;
  let head: { entry: Entry | null; problems: readonly Problem[] } = { entry: null, problems: [] };
  for await (const rows of rowsOf(table))
    for (const row of rows) {
      const ragged = raggedness(table, row);
      if (!row.continues) {
        first = row;
        const entry = readEntry(table, table.head, row, (name) => inherited.includes(name));
        head = { entry, problems: [...listed(ragged), ...(entry?.problems ?? [])] };
      }
      const entry = readEntry(table, table.head, row, (name) => !inherited.includes(name));
      if (entry === null) continue;
      const above = Object.fromEntries(
        inherited.map((name) => [name, head.entry?.values[name] ?? null]),
      );
      yield {
        values: { ...entry.values, ...above },
        line: entry.line,
        problems: [...head.problems, ...(row.continues ? listed(ragged) : []), ...entry.problems],
        raw: first === null || first === row ? [row.cells] : [first.cells, row.cells],
      };
    }
}

/** One record of each cell that is not empty, of the columns that lie across. */
async function* crossDrafts(
  table: Table,
  { header, cell }: { readonly header: string; readonly cell: string },
): AsyncGenerator<Draft> {
  const type = table.profile.layout.head[cell]?.type ?? "text";
  for await (const rows of rowsOf(table))
    for (const row of rows) {
      const ragged = raggedness(table, row);
      const head = readEntry(table, table.head, row, (name) => name !== cell && name !== header);
      for (const { label, find, form } of table.across) {
        const text = find(row.cells);
        const problems = [...listed(ragged), ...(head?.problems ?? [])];
        const values = { ...table.head.template, ...head?.values, [header]: label };
        try {
          const value = readCell(type, text, form);
          if (value === null) continue;
          values[cell] = value;
        } catch (error) {
          const message = `${label} ${(error as RangeError).message}`;
          problems.push({ file: table.file, line: row.line, column: label, message, value: text });
        }
        yield { values, line: row.line, problems, raw: [[label, text]] };
      }
    }
}

const listed = <T>(one: T | null): T[] => (one === null ? [] : [one]);

function groupDraft(table: Table, rows: readonly Row[], joins: readonly Join[]): Draft {
  const first = rows[0] as Row;
  const head = readEntry(table, table.head, first);
  const values: Record<string, unknown> = { ...(head?.values ?? table.head.template) };
  const problems = [
    ...rows.flatMap((row) => raggedness(table, row) ?? []),
    ...(head?.problems ?? []),
    ...strays(table, rows),
  ];
  const { layout } = table.profile;
  for (const name of Object.keys(layout.lists)) {
    const list = table.lists.find((one) => one.name === name);
    const join = joins.find((one) => one.name === name);
    const entries =
      list === undefined
        ? (join?.take(head?.values) ?? null)
        : rows
            .filter(({ cells }) => isOf(table, list.tags, cells))
            .flatMap((row) => readEntry(table, list, row) ?? []);
    const isNone = entries === null && !layout.optional.includes(name);
    values[name] = isNone ? [] : (entries?.map((entry) => entry.values) ?? null);
    problems.push(...(entries ?? []).flatMap((entry) => entry.problems));
  }
  return { values, line: first.line, problems, raw: rows.map(({ cells }) => cells) };
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
  for await (const draft of draftsOf(openTable("", sheet, profile, HEADS, {}), []))
    drafts.push(draft);
  if (sheet.cut !== null) throw new FileFault(sheet.cut.reason, sheet.cut.line);
  return drafts;
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
