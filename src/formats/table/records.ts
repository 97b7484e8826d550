/** The files of one export into changes: typed records, each with the line a person finds it in. */
import { hash } from "node:crypto";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import type { Change, Page } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { defined } from "../../core/defined.ts";
import { sumOf } from "../../core/groups.ts";
import { parseExact, stringifyExact } from "../../core/json.ts";
import type { Fault } from "../../core/record.ts";
import { remembered } from "../../core/remembered.ts";
import { memoryScratch, type Scratch } from "../../core/scratch.ts";
import {
  type Bytes,
  ChangedMeanwhile,
  type Encoding,
  FileFault,
  firstBytes,
  PartFault,
  readAs,
  type Survey,
  survey,
  textOf,
  within,
} from "../format.ts";
import { checkTotals, type Manifest } from "../manifest.ts";
import { columnsOf, openTable, type Table } from "./columns.ts";
import type { Layout } from "./layouts.ts";
import { HEADS, type Profile } from "./profile.ts";
import {
  checkTrailer,
  type Draft,
  draftsOf,
  type Entry,
  type Join,
  type Problem,
  raggedness,
  readEntry,
} from "./read.ts";
import { type Row, Sheet } from "./text.ts";
import { rowsOfWorkbook, WORKBOOK_BYTES_MAX } from "./workbook.ts";

const ID_MAX = 200;

interface Part {
  readonly file: string;
  readonly sheet: Sheet;
  /** What it must come to; left out: it has no manifest. */
  readonly manifest?: Manifest | undefined;
}

/** What is said of an export besides its changes. */
export type Extract = Awaited<ReturnType<typeof readRecords>>;

/** How an export is read. */
interface ExportOptions {
  /** Takes each cell and row that cannot be read. */
  readonly refused?: (id: string, problem: Problem) => void;
  /** Takes how many bytes and rows of all files were read so far. What it throws ends the reading. */
  readonly advanced?: (bytes: number, rows: number) => void;
  /** What each part must come to. Left out: there are no manifests. */
  readonly manifests?: ReadonlyMap<string, Manifest> | undefined;
}

/**
 * The files of one export, by its parts, into changes in `scratch`: what the daemon delivers, and what people try.
 * @throws PartFault when one of the files is not what the profile says, ChangedMeanwhile when one was written to
 */
export const readExport = (
  profile: Profile,
  files: ReadonlyMap<string, SurveyedFile>,
  options: ExportOptions,
  scratch: Scratch,
): Promise<Extract> =>
  readAs(KINDS[profile.file], files.values(), () => extracted(profile, files, options, scratch));

/** What files of each kind are called. */
const KINDS: Readonly<Record<Profile["file"], string>> = {
  csv: "delimited text",
  fixed: "text of fixed width",
  xlsx: "a workbook (.xlsx)",
};

async function extracted(
  profile: Profile,
  files: ReadonlyMap<string, SurveyedFile>,
  options: ExportOptions,
  scratch: Scratch,
): Promise<Extract> {
  const parts = new Map<string, Part>();
  const bytes = new Map<string, number>();
  const advance = (part: string, count: number): void => {
    bytes.set(part, count);
    const rows = [...parts.values()].map(({ sheet }) => sheet.wholeRows);
    options.advanced?.(sumOf(bytes.values()), sumOf(rows));
  };
  for (const [part, file] of files)
    parts.set(part, {
      file: file.name,
      sheet: await openSheet(profile, file, (count) => advance(part, count)),
      manifest: options.manifests?.get(part),
    });
  const guessed = [...files.values()].filter(({ survey }) => survey.fallback);
  const notices = guessed.map(
    ({ name }) => `${name} is not UTF-8; it was read as Windows-1252. Set "encoding" to be sure.`,
  );
  const extract = await readRecords(profile, parts, options, scratch);
  return { ...extract, notices: [...notices, ...extract.notices] };
}

/**
 * Reads all of an export and puts its changes into `scratch` (see {@link changesOf}): which of them stand, and whether
 * any may be delivered, is known at the end of the files only. `refused` takes each cell and row that cannot be read.
 * @throws PartFault when one of the files is not what the profile says
 */
export async function readRecords(
  profile: Profile,
  parts: ReadonlyMap<string, Part>,
  { refused }: Pick<ExportOptions, "refused">,
  scratch: Scratch,
) {
  const { layout } = profile;
  const heads = parts.get(HEADS);
  if (heads === undefined) throw new TypeError(`${layout.name} is read without its heads`);
  const table = await openPart(heads, profile, HEADS);
  const joins: Join[] = [];
  for (const { name, part } of profile.lists)
    if (part !== null) joins.push(await join(profile, name, part, parts, scratch));
  let count = 0;
  let nameless = 0;
  await within(table.file, async () => {
    for await (const drafts of draftsOf(table, joins))
      for (const draft of drafts) {
        count++;
        const made = change(layout, table.file, draft);
        if (made.fault !== undefined && layout.key(draft.values) === null) nameless++;
        for (const problem of draft.problems) refused?.(made.id, problem);
        keep(scratch, made, isScattered(profile));
      }
    checkTrailer(table, count);
    if (heads.manifest !== undefined) checkTotals(heads.manifest, table, count);
  });
  const { cut, hidden } = table.sheet;
  const { leftOut, torn } = table.counted;
  const wholeRows = table.sheet.wholeRows - torn;
  const hiding = hidden > 0 ? [`${table.file}: ${hidden} hidden rows were not read.`] : [];
  return {
    notices: [...hiding, ...joins.flatMap(({ orphans }) => orphans(table.file))],
    /** Where the first file stops in the middle of a row, and how many rows before it were read. */
    cut: cut && { ...cut, file: table.file, wholeRows },
    /** How many rows the profile leaves out. */
    leftOut,
    /** Records whose key cannot be read: nobody knows which they are. */
    nameless,
  };
}

/** Rows of a record are neighbours: where it comes again, its rows were torn apart, however alike they are. */
const isScattered = ({ record }: Profile): boolean =>
  typeof record === "object" && "same" in record;

/** What {@link readRecords} has put there, in the order of the file: as {@link Scratch.page} gives it. */
export const changesOf = (scratch: Scratch, ...page: Parameters<Scratch["page"]>): Change[] =>
  scratch.page(...page).map(({ key, text }) => unpackedChange(key, text));

const openPart = (
  { file, sheet, manifest }: Part,
  profile: Profile,
  part: string,
): Promise<Table> =>
  within(file, async () =>
    openTable(file, sheet, profile, part, manifest && Object.keys(manifest.sums ?? {})),
  );

/** Joined rows may stand in any order. A cut file might lack rows of any record, so nothing of the set is read. */
async function join(
  profile: Profile,
  name: string,
  partName: string,
  parts: ReadonlyMap<string, Part>,
  scratch: Scratch,
): Promise<Join> {
  const list = profile.lists.find((one) => one.name === name);
  const part = parts.get(partName);
  if (part === undefined || list === undefined)
    return { name, take: () => null, orphans: () => [] };
  const table = await openPart(part, profile, partName);
  const isField = Object.hasOwn(profile.layout.lists[name] ?? {}, list.by);
  await within(part.file, async () => {
    for await (const rows of table.sheet.rows())
      for (const row of rows) {
        const entry = readEntry(table, table.head, row);
        if (entry === null) continue;
        table.tally?.take(row.line, row.cells);
        const ragged = raggedness(table, row);
        const problems = ragged.length === 0 ? entry.problems : ragged;
        const { [list.by]: key, ...rest } = entry.values;
        const values = isField ? entry.values : rest;
        scratch.add(name, keyText(key), packed({ ...entry, values, problems }));
      }
    const { cut, wholeRows } = table.sheet;
    if (cut !== null)
      throw new FileFault(`${cut.reason}; ${wholeRows} rows before that are whole`, cut.line);
    if (part.manifest !== undefined) checkTotals(part.manifest, table, null);
  });
  return {
    name,
    take: (values) => scratch.take(name, keyText(values?.[list.on])).map(unpacked),
    orphans(heads) {
      const { count, first } = scratch.left(name);
      if (first === null) return [];
      return [
        `${part.file}: ${count} rows (the first in line ${unpacked(first).line}) belong to no record of ${heads}; ` +
          "they were left out. Export both files together.",
      ];
    },
  };
}

/** Keys are texts; an empty cell is null, never an empty text. */
const keyText = (key: unknown): string => (typeof key === "string" ? key : "");

/** Values have exact numbers, the rest has plain ones; a line end stands in neither. */
const packed = ({ line, problems, values }: Entry): string =>
  `${JSON.stringify({ line, problems })}\n${stringifyExact(values)}`;

function unpacked(text: string): Entry {
  const [plain = "", exact = ""] = text.split("\n");
  const { line, problems } = JSON.parse(plain) as Pick<Entry, "line" | "problems">;
  return { line, problems, values: parseExact(exact) as Entry["values"] };
}

/**
 * A record that cannot be read has another text than one that can, so that a correction is always a change; its place
 * in the file is no part of it, so that it does not come up again when it moves.
 */
function change(layout: Layout, file: string, draft: Draft): Change {
  const place = `${file} line ${draft.line}`;
  const key = layout.key(draft.values);
  const [problem] = draft.problems;
  if (problem === undefined && key !== null && key.length <= ID_MAX) {
    const fault = draft.alike === undefined ? undefined : alikeFault(key, draft.alike);
    const text = recordText(draft.values);
    return { id: key, version: null, text, origin: place, ...defined({ fault }) };
  }
  const problems = draft.problems.map(({ message }) => message);
  const text = stringifyExact({ rows: draft.raw, problems });
  const id = key === null || key.length > ID_MAX ? place : key;
  if (problem === undefined)
    return { id, version: null, text, origin: place, fault: keyFault(key ?? "") };
  const column = problem.column === "" ? "" : `, column ${problem.column}`;
  const origin = `${problem.file} line ${problem.line}${column}`;
  return { id, version: null, text, origin, fault: cellFault(problem) };
}

/** What {@link stringifyExact} gives for the values of a record, in half of its time. */
const recordText = (values: Draft["values"]): string => withValue("", values);

/** By appending alone: each text in between would be one more to make and to clear away. */
function withValue(before: string, value: unknown): string {
  if (value === null) return `${before}null`;
  if (value instanceof Decimal) return before + value.text;
  if (typeof value === "string" && PLAIN.test(value)) return `${before}"${value}"`;
  if (typeof value !== "object") return before + JSON.stringify(value);
  let text = before;
  if (Array.isArray(value)) {
    text += "[";
    for (let at = 0; at < value.length; at++)
      text = withValue(at === 0 ? text : `${text},`, value[at]);
    return `${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  let isFirst = true;
  for (const name in members) {
    const { first, later } = labelOf(name);
    text = withValue(text + (isFirst ? first : later), members[name]);
    isFirst = false;
  }
  return isFirst ? `${text}{}` : `${text}}`;
}

/** Text that JSON writes as it is. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Names of fields are those of the layouts: there are some hundred. */
const labelOf = remembered((name: string) => ({ first: `{"${name}":`, later: `,"${name}":` }));

const NEXT =
  "Correct it in the ERP and export again; a corrected file is read like any other. Where the ERP always writes it so, say it in the profile, start fuelbridge anew, and put the same file in again.";

const cellFault = ({ column, message, reason }: Problem): Fault => ({
  code: column === "" ? "bad-row" : "bad-cell",
  message: `${message}.`,
  reason,
  next: NEXT,
  ...(column === "" ? {} : { field: column }),
});

const keyFault = (key: string): Fault => ({
  code: "bad-key",
  message: `The key is ${key.length} characters long; 1 to ${ID_MAX} are possible.`,
  next: NEXT,
});

/** It is read whole, and says nothing of its place in the file, which moves: who retries it says that both count (src/engine/lifecycle.ts). */
const alikeFault = (key: string, row: string): Fault => ({
  code: "row-twice",
  message: `${key} has one row twice, and both would count: ${row}.`,
  reason: "two rows of one record are the same",
  next: "Has the export doubled it? Correct it there: the corrected one is taken by itself. If both are right, retry it. Where the ERP numbers its rows, name that column in `counts` of the profile: then they are told apart.",
});

/** The same for a change that no table has. */
export const keepChange = (scratch: Scratch, change: Change): void => keep(scratch, change, false);

/** One change for an id. Two records with one id and different content are a fault: neither is more right. */
function keep(scratch: Scratch, change: Change, scattered: boolean): void {
  const found = scratch.put(change.id, packedChange(change));
  if (found === null) return;
  const other = unpackedChange(change.id, found);
  if (scattered || other.text !== change.text)
    scratch.replace(change.id, packedChange(twice(other, change, scattered)));
}

/** Its key is its id. The first line says how long its place is, and has its fault: a line end stands in neither. */
const packedChange = ({ origin = "", fault, text }: Change): string =>
  `${origin.length} ${fault === undefined ? "" : JSON.stringify(fault)}\n${origin}${text}`;

function unpackedChange(id: string, packed: string): Change {
  const space = packed.indexOf(" ");
  const end = packed.indexOf("\n", space);
  const place = end + 1 + Number(packed.slice(0, space));
  const origin = packed.slice(end + 1, place);
  const fault = packed.slice(space + 1, end);
  return {
    id,
    version: null,
    text: packed.slice(place),
    ...(origin === "" ? {} : { origin }),
    ...(fault === "" ? {} : { fault: JSON.parse(fault) as Fault }),
  };
}

const twice = (first: Change, second: Change, scattered: boolean): Change => {
  const places = `(${first.origin} and ${second.origin})`;
  const fault = scattered
    ? {
        message: `The rows of ${first.id} are no neighbours ${places}.`,
        next: "Have the ERP export the rows of each record one below the other; where two records have one key, rename or remove one.",
      }
    : {
        message: `${first.id} stands twice with different content ${places}.`,
        next: "Find out in the ERP which of the two is right, rename or remove the other, and export again.",
      };
  return {
    ...first,
    text: stringifyExact({ twice: [first.text, second.text] }),
    fault: first.fault ?? { code: "key-twice", ...fault },
  };
};

/* A file that was surveyed, opened as the table that a profile says it is. */

export interface SurveyedFile {
  readonly name: string;
  readonly handle: Bytes;
  readonly survey: Survey;
}

/**
 * `read` takes how many bytes were read so far.
 * @throws PartFault when it is no such table, ChangedMeanwhile while it is read
 */
async function openSheet(
  profile: Profile,
  { name, handle, survey }: SurveyedFile,
  read: (bytes: number) => void,
): Promise<Sheet> {
  return within(name, async () => {
    if (survey.fault !== null) throw survey.fault;
    if (profile.file === "xlsx") return openWorkbook(profile, handle, survey, read);
    return Sheet.open(textOf(handle, survey, read), profile);
  });
}

/** A workbook is no text: its bytes are taken as they are. */
export const encodingOf = (encoding: Encoding, profile: Profile): Encoding => {
  if (profile.file === "xlsx") return "latin1";
  return encoding === "auto" ? profile.encoding : encoding;
};

/** Read whole, for its parts stand in any order. */
async function openWorkbook(
  { sheet, header }: Profile,
  handle: Bytes,
  survey: Survey,
  read: (bytes: number) => void,
): Promise<Sheet> {
  const bytes = await firstBytes(handle, WORKBOOK_BYTES_MAX + 1);
  if (bytes.length <= WORKBOOK_BYTES_MAX && hash("sha256", bytes, "hex") !== survey.hash)
    throw new ChangedMeanwhile();
  const { rows, hidden } = await rowsOfWorkbook(bytes, sheet);
  read(bytes.length);
  return Sheet.of(batchOf(rows), header === "tags" ? 0 : header, hidden);
}

// oxlint-disable-next-line require-await -- a sheet takes its batches as they come
async function* batchOf(rows: readonly Row[]): AsyncGenerator<readonly Row[], null> {
  yield rows;
  return null;
}

/* A whole list that comes as rows (a view of a database), read as the table that a profile says it is. */

const PAGE = 1_000;
/** Of a view, whose pages are kept as they come. */
const VIEW_PAGE = 200;

/** A part of a list, and how people call it. All rows have the same columns. */
export interface RowsOf {
  readonly name: string;
  readonly rows: readonly Readonly<Record<string, string | null>>[];
}

/**
 * Its pages. A record that cannot be read is a fault with the name of the part that has the cell, its key, the column and the value.
 * @param parts by the parts of the profile @param next what a person does about a record that cannot be read
 * @throws PartFault when columns are missing
 */
export async function* pagesOfRows(
  profile: Profile,
  parts: ReadonlyMap<string, RowsOf>,
  next: string,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  const scratch = memoryScratch();
  const sheets = new Map<string, Part>();
  for (const [part, { name, rows }] of parts) {
    const labels = columnsOf(profile, part).flatMap(({ label }) => label ?? []);
    // A part without a row does not tell its columns.
    const header = rows[0] === undefined ? labels : Object.keys(rows[0]);
    const cells = [header, ...rows.map((row) => header.map((column) => row[column] ?? ""))];
    const batch = batchOf(cells.map((one, at) => ({ line: at + 1, cells: one })));
    sheets.set(part, { file: name, sheet: await Sheet.of(batch, 1) });
  }
  const { nameless } = await readRecords(profile, sheets, {}, scratch);
  const name = parts.get(HEADS)?.name ?? "";
  const total = scratch.count();
  for (let at = 0; (at === 0 || at < total) && !signal.aborted; at += VIEW_PAGE) {
    // Rows of a view have no lines.
    const changes = changesOf(scratch, at, VIEW_PAGE).map(
      ({ id, version, text, fault, origin = name }): Change => {
        const change = { id, version, text };
        if (fault === undefined) return change;
        const [where = name] = origin.split(" line ");
        return {
          ...change,
          fault: { ...fault, message: `${where}, ${id}: ${fault.message}`, next },
        };
      },
    );
    const list = { name, total, isLast: at + VIEW_PAGE >= total, isComplete: nameless === 0 };
    yield { changes, position: null, list };
  }
}

/* How files are read with a profile: for the person who writes one. Nothing is moved, stored or delivered. */

/** A row, or a cell of one, that is refused. */
interface Refusal {
  readonly id: string;
  readonly file: string;
  /** 0: it is about the whole record. */
  readonly line: number;
  /** Empty: the whole row. */
  readonly column: string;
  readonly value: string;
  readonly message: string;
}

/** A sum over all records that were read, so that people can compare it with what they have. */
interface ControlTotal {
  /** `total`, `lines.gallons` */
  readonly field: string;
  readonly count: number;
  readonly sum: Decimal;
}

export type Trial = Awaited<ReturnType<typeof tryProfile>>;
export type Values = Readonly<Record<string, unknown>>;

/** No more refused cells are listed; all are counted. */
const REFUSALS = 1_000;

/**
 * `files`: paths by the part of the export, at least `heads`. They are read as the files of a source are.
 * @throws PartFault when a file is not what the profile says, what the file system throws
 */
export async function tryProfile(
  profile: Profile,
  files: ReadonlyMap<string, string>,
  shown: number,
) {
  const opened = new Map<string, SurveyedFile>();
  const handles = [];
  try {
    for (const [part, path] of files) {
      const handle = await open(path);
      handles.push(handle);
      const told = await survey(handle, encodingOf("auto", profile));
      opened.set(part, { name: basename(path), handle, survey: told });
    }
    return await trialOf(profile, opened, shown);
  } catch (error) {
    if (error instanceof ChangedMeanwhile)
      throw new PartFault(HEADS, new FileFault("was written to while it was read"));
    throw error;
  } finally {
    for (const handle of handles) await handle.close();
  }
}

async function trialOf(profile: Profile, files: ReadonlyMap<string, SurveyedFile>, shown: number) {
  const scratch = memoryScratch();
  const refusals: Refusal[] = [];
  // Two fields may stand in one column.
  const refuse = (one: Refusal): void => {
    const isTold = refusals.some(
      ({ line, column, message }) =>
        line === one.line && column === one.column && message === one.message,
    );
    if (!isTold && refusals.length < REFUSALS) refusals.push(one);
  };
  const refused = (id: string, problem: Omit<Refusal, "id" | "value"> & { value?: string }): void =>
    refuse({ value: "", ...problem, id });
  const { cut, leftOut, notices } = await readExport(profile, files, { refused }, scratch);
  const totals = new Map<string, ControlTotal>();
  /** As they would be delivered, at most as many as were asked for. */
  const records: { readonly id: string; readonly origin: string; readonly values: Values }[] = [];
  let refusedCount = 0;
  for (let at = 0; at < scratch.count(); at += PAGE)
    for (const change of changesOf(scratch, at, PAGE)) {
      const { id, origin = "" } = change;
      const fault = faultOf(profile, change);
      if (fault !== null) {
        refusedCount++;
        if (!refusals.some((one) => one.id === id))
          refuse({ ...fault, id, file: origin, line: 0, value: "" });
        continue;
      }
      const values = parseExact(change.text) as Values;
      addTotals(totals, "", values);
      if (records.length < shown) records.push({ id, origin, values });
    }
  const cutNotice = cut && `${cut.file} line ${cut.line} ${cut.reason}: the rest was not read.`;
  return {
    /** How many records were read whole, and how many refused. */
    read: scratch.count() - refusedCount,
    refused: refusedCount,
    /** False: a file stops in the middle of a row, and goes to `failed`. */
    whole: cut === null,
    records,
    /** At most {@link REFUSALS}. */
    refusals,
    totals: [...totals.values()],
    /** Rows that the profile leaves out. */
    leftOut,
    notices: [...(cutNotice === null ? [] : [cutNotice]), ...notices],
  };
}

/** Why a mapping would not get a record, or could not take it; null: it would. */
function faultOf(
  { layout }: Profile,
  { fault, text }: Change,
): Pick<Refusal, "column" | "message"> | null {
  if (fault !== undefined) return { column: fault.field ?? "", message: fault.message };
  const [issue] = layout.record.safeParse(parseExact(text)).error?.issues ?? [];
  return issue === undefined
    ? null
    : { column: issue.path.map(String).join("."), message: issue.message };
}

/** Every number of a record, and of the rows of its lists. */
function addTotals(totals: Map<string, ControlTotal>, prefix: string, values: Values): void {
  for (const [name, value] of Object.entries(values)) {
    const field = prefix + name;
    if (Array.isArray(value))
      for (const row of value as Values[]) addTotals(totals, `${field}.`, row);
    if (!(value instanceof Decimal)) continue;
    const { count, sum } = totals.get(field) ?? { count: 0, sum: Decimal.zero };
    totals.set(field, { field, count: count + 1, sum: sum.plus(value) });
  }
}
