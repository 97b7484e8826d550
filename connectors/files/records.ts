/** The files of one export into changes: typed records, each with the line a person finds it in. */
import type { Change } from "../../src/core/contract.ts";
import type { Fault } from "../../src/core/fault.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { FileFault, type Cut, type Sheet } from "./csv.ts";
import type { Column, Layout } from "./layouts/table.ts";
import {
  groupRows,
  openTable,
  raggedness,
  readEntry,
  type Entry,
  type Group,
  type Problem,
  type Table,
  type TableOptions,
} from "./table-reader.ts";

/** The part of a layout that its records begin in; the only one of most layouts. */
export const HEADS = "heads";
const ID_MAX = 200;

export interface Part {
  readonly file: string;
  readonly sheet: Sheet;
}

export interface Extract {
  readonly changes: readonly Change[];
  readonly notices: readonly string[];
  /** Where the first file stops in the middle of a row, and how many rows before it are whole. */
  readonly cut: (Cut & { readonly file: string; readonly wholeRows: number }) | null;
}

interface Draft {
  readonly values: Readonly<Record<string, unknown>>;
  readonly line: number;
  readonly problems: readonly Problem[];
  /** The cells of all its rows as they stand: what is kept of a record that cannot be read. */
  readonly raw: readonly (readonly string[])[];
}

/** A fault of a file by its name: what can be read of it is nothing. */
export class PartFault extends Error {
  readonly file: string;
  readonly fault: FileFault;

  constructor(file: string, fault: FileFault) {
    super(`${file} line ${fault.line}: the file ${fault.message}`);
    this.name = "PartFault";
    this.file = file;
    this.fault = fault;
  }
}

/** @throws PartFault when one of the files is not what the layout says. */
export function readRecords(
  layout: Layout,
  parts: ReadonlyMap<string, Part>,
  options: TableOptions,
): Extract {
  const heads = parts.get(HEADS);
  if (heads === undefined) throw new TypeError(`${layout.name} is read without its heads`);
  const columns = [layout.head, ...Object.values(layout.children)].flatMap((it) =>
    Object.values(it),
  );
  const table = open(heads, columns, options);
  const spread = layout.each === null && Object.keys(layout.children).length > 0;
  const groups = within(table.file, () => groupRows(table, layout.head, spread));
  const joins = Object.keys(layout.joined).map((name) => join(layout, name, parts, options));
  const drafts = groups.flatMap((group) => draftsOf(layout, table, group, joins));
  const { cut } = table.sheet;
  return {
    changes: unique(drafts.map((draft) => change(layout, table.file, draft))),
    notices: joins.flatMap(({ orphans }) => orphans(table.file)),
    cut: cut && { ...cut, file: table.file, wholeRows: table.sheet.rows.length },
  };
}

function open({ file, sheet }: Part, columns: readonly Column[], options: TableOptions): Table {
  return within(file, () => openTable(file, sheet, columns, options));
}

function within<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof FileFault) throw new PartFault(file, error);
    throw error;
  }
}

interface Join {
  readonly name: string;
  /** Takes the rows of a head; null when the file is not exported at all. */
  readonly take: (key: unknown) => readonly Entry[] | null;
  /** Says which rows no head has asked for. */
  readonly orphans: (heads: string) => string[];
}

/** Joined rows may stand in any order. A cut file might lack rows of any record, so nothing of the set is read. */
function join(
  layout: Layout,
  name: string,
  parts: ReadonlyMap<string, Part>,
  options: TableOptions,
): Join {
  const part = parts.get(name);
  const joined = layout.joined[name];
  if (part === undefined || joined === undefined)
    return { name, take: () => null, orphans: () => [] };
  const table = open(part, Object.values(joined.columns), options);
  const { cut, rows } = table.sheet;
  if (cut !== null)
    throw new PartFault(
      part.file,
      new FileFault(`${cut.reason}; ${rows.length} rows before that are whole`, cut.line),
    );
  const byKey = new Map<unknown, Entry[]>();
  for (const row of rows) {
    const entry = readEntry(table, joined.columns, row);
    if (entry === null) continue;
    const ragged = raggedness(table, row);
    const key = entry.values[joined.by];
    const problems = ragged === null ? entry.problems : [ragged];
    const entries = byKey.get(key) ?? [];
    entries.push({ ...entry, problems });
    byKey.set(key, entries);
  }
  return {
    name,
    take(key) {
      const entries = byKey.get(key) ?? [];
      byKey.delete(key);
      return entries;
    },
    orphans(heads) {
      const left = [...byKey.values()].flat();
      const [first] = left;
      if (first === undefined) return [];
      return [
        `${part.file}: ${left.length} rows (the first in line ${first.line}) belong to no record of ${heads}; ` +
          "they were left out. Export both files together.",
      ];
    },
  };
}

function draftsOf(layout: Layout, table: Table, group: Group, joins: readonly Join[]): Draft[] {
  const [first, ...more] = group.rows;
  if (first === undefined) return [];
  const ragged = group.rows.flatMap((row) => raggedness(table, row) ?? []);
  const head = readEntry(table, layout.head, first);
  const raw = group.rows.map(({ cells }) => cells);
  const problems = [...ragged, ...(head?.problems ?? [])];
  const children = Object.entries(layout.children).map(([name, columns]) => ({
    name,
    entries: [first, ...more].flatMap((row) => readEntry(table, columns, row) ?? []),
  }));
  if (layout.each !== null)
    return children
      .flatMap(({ entries }) => entries)
      .map((entry) => ({
        values: { ...head?.values, ...entry.values },
        line: entry.line,
        problems: [...problems, ...entry.problems],
        raw,
      }));
  const values: Record<string, unknown> = { ...head?.values };
  for (const { name, entries } of children) {
    values[name] = entries.map((entry) => entry.values);
    problems.push(...entries.flatMap((entry) => entry.problems));
  }
  for (const { name, take } of joins) {
    const entries = take(head?.values[layout.on]);
    values[name] = entries?.map((entry) => entry.values) ?? null;
    problems.push(...(entries ?? []).flatMap((entry) => entry.problems));
  }
  return [{ values, line: group.line, problems, raw }];
}

/**
 * A record that cannot be read has another text than one that can, so that a correction is always a change; its place
 * in the file is no part of it, so that it does not come up again when it moves.
 */
function change(layout: Layout, file: string, draft: Draft): Change {
  const place = `${file} line ${draft.line}`;
  const key = layout.key(draft.values);
  const [problem] = draft.problems;
  if (problem === undefined && key !== null && key.length <= ID_MAX)
    return { id: key, version: null, text: stringifyExact(draft.values), origin: place };
  const problems = draft.problems.map(({ message }) => message);
  const text = stringifyExact({ rows: draft.raw, problems });
  const id = key === null || key.length > ID_MAX ? place : key;
  if (problem === undefined)
    return { id, version: null, text, origin: place, fault: keyFault(key ?? "") };
  const column = problem.column === "" ? "" : `, column ${problem.column}`;
  const origin = `${problem.file} line ${problem.line}${column}`;
  return { id, version: null, text, origin, fault: cellFault(problem) };
}

const NEXT = "Correct it in the ERP and export again; a corrected file is read like any other.";

function cellFault({ column, message }: Problem): Fault {
  const fault = { code: column === "" ? "bad-row" : "bad-cell", message: `${message}.` };
  return { ...fault, next: NEXT, ...(column === "" ? {} : { field: column }) };
}

const keyFault = (key: string): Fault => ({
  code: "bad-key",
  message: `The key is ${key.length} characters long; 1 to ${ID_MAX} are possible.`,
  next: NEXT,
});

/** One change for an id. Two records with one id and different content are a fault: neither is more right. */
function unique(changes: readonly Change[]): Change[] {
  const byId = new Map<string, Change>();
  for (const change of changes) {
    const other = byId.get(change.id);
    if (other === undefined || other.text !== change.text)
      byId.set(change.id, other === undefined ? change : twice(other, change));
  }
  return [...byId.values()];
}

const twice = (first: Change, second: Change): Change => ({
  ...first,
  text: stringifyExact({ twice: [first.text, second.text] }),
  fault: first.fault ?? {
    code: "key-twice",
    message: `${first.id} stands twice with different content (${first.origin} and ${second.origin}).`,
    next: "Find out in the ERP which of the two is right, rename or remove the other, and export again.",
  },
});
