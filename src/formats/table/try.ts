/** How files are read with a profile: for the person who writes one. Nothing is moved, stored or delivered. */
import { open, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Change } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { parseExact } from "../../core/json.ts";
import { memoryScratch } from "../../core/scratch.ts";
import {
  type Bytes,
  ChangedMeanwhile,
  FileFault,
  PartFault,
  survey,
  textOf,
  firstBytes,
} from "../format.ts";
import { dateForm } from "./cells.ts";
import { type Fields, type Layout, layouts } from "./layouts.ts";
import { openProfile, shippedProfiles } from "./profile-load.ts";
import { HEADS, type Profile } from "./profile.ts";
import { changesOf, encodingOf, openSheet, type Part, readRecords } from "./records.ts";
import { type Delimiter, type Row, tokenise } from "./text.ts";
import { rowsOfWorkbook, WORKBOOK_BYTES_MAX } from "./workbook.ts";

/** A row, or a cell of one, that is refused. */
export interface Refusal {
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
export interface ControlTotal {
  /** `total`, `lines.gallons` */
  readonly field: string;
  readonly count: number;
  readonly sum: Decimal;
}

export interface Trial {
  /** How many records were read whole, and how many refused. */
  readonly read: number;
  readonly refused: number;
  /** Records as they would be delivered, at most as many as were asked for. */
  readonly records: readonly {
    readonly id: string;
    readonly origin: string;
    readonly values: Values;
  }[];
  /** At most {@link REFUSALS}. */
  readonly refusals: readonly Refusal[];
  readonly totals: readonly ControlTotal[];
  /** Rows that the profile leaves out. */
  readonly leftOut: number;
  readonly notices: readonly string[];
}

export type Values = Readonly<Record<string, unknown>>;

/** No more refused cells are listed; all are counted. */
const REFUSALS = 1_000;
const PAGE = 1_000;

/**
 * `files`: by the part of the export, at least `heads`.
 * @throws PartFault when a file is not what the profile says, SourceUnavailable when one cannot be read
 */
export async function tryProfile(
  profile: Profile,
  files: ReadonlyMap<string, string>,
  shown: number,
): Promise<Trial> {
  const notices: string[] = [];
  const parts = new Map<string, Part>();
  const handles = [];
  try {
    for (const [part, path] of files) {
      const file = basename(path);
      const handle = await open(path);
      handles.push(handle);
      const told = await survey(handle, encodingOf("auto", profile));
      if (told.fallback) notices.push(`${file} is not UTF-8; it is read as Windows-1252.`);
      const surveyed = { name: file, handle, survey: told };
      parts.set(part, { file, sheet: await openSheet(profile, surveyed, "auto", () => {}) });
    }
    return await trialOf(profile, parts, notices, shown);
  } catch (error) {
    if (error instanceof ChangedMeanwhile)
      throw new PartFault(HEADS, new FileFault("was written to while it was read"));
    throw error;
  } finally {
    for (const handle of handles) await handle.close();
  }
}

async function trialOf(
  profile: Profile,
  parts: ReadonlyMap<string, Part>,
  notices: string[],
  shown: number,
): Promise<Trial> {
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
  const { cut, leftOut, ...said } = await readRecords(
    profile,
    parts,
    {
      refused: (id, { file, line, column, value = "", message }) =>
        refuse({ id, file, line, column, value, message }),
    },
    scratch,
  );
  if (cut !== null)
    notices.push(`${cut.file} line ${cut.line} ${cut.reason}: the rest was not read.`);
  const sums = new Sums(profile.layout.head, profile.layout.lists);
  const records: Trial["records"][number][] = [];
  let refused = 0;
  for (let at = 0; at < scratch.count(); at += PAGE)
    for (const change of changesOf(scratch, at, PAGE)) {
      const fault = faultOf(profile, change);
      if (fault !== null) {
        refused++;
        if (!refusals.some(({ id }) => id === change.id)) refuse(fault);
        continue;
      }
      const values = parseExact(change.text) as Values;
      sums.add(values);
      const { id, origin = "" } = change;
      if (records.length < shown) records.push({ id, origin, values });
    }
  const read = scratch.count() - refused;
  return {
    read,
    refused,
    records,
    refusals,
    totals: sums.all(),
    leftOut,
    notices: [...notices, ...said.notices],
  };
}

/** Why a mapping would not get a record, or could not take it; null: it would. */
function faultOf({ layout }: Profile, { id, fault, text, origin = "" }: Change): Refusal | null {
  const of = (column: string, message: string): Refusal => ({
    id,
    file: origin,
    line: 0,
    column,
    value: "",
    message,
  });
  if (fault !== undefined) return of(fault.field ?? "", fault.message);
  const parsed = layout.record.safeParse(parseExact(text));
  const [issue] = parsed.error?.issues ?? [];
  return issue === undefined ? null : of(issue.path.map(String).join("."), issue.message);
}

class Sums {
  readonly #totals = new Map<string, { count: number; sum: Decimal }>();
  readonly #lists: readonly string[];

  constructor(head: Fields, lists: Readonly<Record<string, Fields>>) {
    this.#lists = Object.keys(lists);
    const expect = (prefix: string, fields: Fields): void => {
      for (const [name, { type }] of Object.entries(fields))
        if (type === "decimal") this.#totals.set(prefix + name, { count: 0, sum: Decimal.zero });
    };
    expect("", head);
    for (const [name, fields] of Object.entries(lists)) expect(`${name}.`, fields);
  }

  add(values: Values): void {
    this.#take("", values);
    for (const list of this.#lists)
      for (const row of (values[list] ?? []) as Values[]) this.#take(`${list}.`, row);
  }

  #take(prefix: string, values: Values): void {
    for (const [name, value] of Object.entries(values)) {
      const total = this.#totals.get(prefix + name);
      if (total === undefined || !(value instanceof Decimal)) continue;
      total.count++;
      total.sum = total.sum.plus(value);
    }
  }

  all(): ControlTotal[] {
    return [...this.#totals]
      .filter(([, { count }]) => count > 0)
      .map(([field, total]) => ({ field, ...total }));
  }
}

/* What the cells of a column look like: how its writer writes numbers and days. */

export interface Pattern {
  readonly kind: "empty" | "decimal" | "date" | "text";
  /** Of numbers: the sign that they have; null: none has one. */
  readonly sign: "." | "," | null;
  /** Of days: every form that fits all of them, the likeliest first. */
  readonly forms: readonly string[];
  /** Some of its cells, as they stand. */
  readonly samples: readonly string[];
}

const FORMS = [
  "yyyy-MM-dd",
  "MM/dd/yyyy",
  "dd/MM/yyyy",
  "dd.MM.yyyy",
  "yyyy/MM/dd",
  "yyyyMMdd",
  "MM-dd-yyyy",
  "dd-MM-yyyy",
  "M/d/yyyy",
  "d/M/yyyy",
  "d.M.yyyy",
  "MM/dd/yy",
  "dd.MM.yy",
  "M/d/yy",
];
const ENDS = ["", "[ HH:mm]", "[ HH:mm:ss]", "[ H:mm]"];
const SAMPLES = 3;

/** `cells`: of one column. */
function lookOf(cells: readonly string[]): Pattern {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== "");
  const samples = [...new Set(filled)].slice(0, SAMPLES);
  if (filled.length === 0) return { kind: "empty", sign: null, forms: [], samples };
  const forms = formsOf(filled);
  if (forms.length > 0) return { kind: "date", sign: null, forms, samples };
  const sign = signOf(filled);
  return sign === undefined
    ? { kind: "text", sign: null, forms: [], samples }
    : { kind: "decimal", sign, forms: [], samples };
}

function formsOf(cells: readonly string[]): string[] {
  for (const end of ENDS) {
    const fitting = FORMS.map((form) => form + end).filter((form) => {
      const { read } = dateForm([form]);
      return cells.every((cell) => {
        try {
          return read(cell) !== "";
        } catch {
          return false;
        }
      });
    });
    if (fitting.length > 0) return fitting;
  }
  return [];
}

/** Undefined: they are no numbers. Codes with leading zeros are none. */
function signOf(cells: readonly string[]): "." | "," | null | undefined {
  if (cells.every((cell) => /^-?(?:0|[1-9]\d*)$/.test(cell))) return null;
  if (cells.every((cell) => /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(cell))) return ".";
  if (cells.every((cell) => /^-?(?:0|[1-9]\d*)(?:,\d+)?$/.test(cell))) return ",";
  return undefined;
}

/* Which label may be which field: by its words, and by the labels that shipped profiles have for it. */

/** A layout, and the columns (from 0) that its fields were found in. */
export interface Match {
  readonly layout: Layout;
  readonly head: ReadonlyMap<string, number>;
  readonly lists: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly missing: readonly string[];
  readonly score: number;
}

/** Labels by the field that they are known for. */
type Known = ReadonlyMap<string, ReadonlySet<string>>;

/** Words that mean the same in labels. */
const ALIKE: Readonly<Record<string, string>> = {
  no: "number",
  code: "number",
  id: "number",
  nr: "number",
  num: "number",
  numero: "number",
  gal: "gallons",
  gals: "gallons",
  gallon: "gallons",
  units: "gallons",
  qty: "quantity",
  billoflading: "bol",
  prod: "product",
  grade: "product",
  item: "product",
  sku: "product",
  term: "terminal",
  rack: "list",
  cust: "customer",
  party: "customer",
  vendor: "supplier",
  amt: "amount",
  postal: "zip",
  postcode: "zip",
  mail: "email",
  uom: "unit",
  dest: "destination",
};
const NONE = new Set(["the", "of"]);

function labelsByField(): Known {
  const known = new Map<string, Set<string>>();
  for (const name of shippedProfiles()) {
    const { head, lists } = openProfile(name, "");
    for (const { name: field, labels } of [...head, ...lists.flatMap(({ columns }) => columns)]) {
      const set = known.get(field) ?? new Set();
      known.set(field, set);
      for (const label of Object.values(labels ?? {})) set.add(wordsOf(label).join(" "));
    }
  }
  return known;
}

/** The best column for each field, each column for one field. */
function matchOf(layout: Layout, labels: readonly string[], known: Known): Match {
  const blocks = [["", layout.head], ...Object.entries(layout.lists)] as const;
  const pairs = blocks
    .flatMap(([list, fields]) => pairsOf(list, fields, labels, known))
    .toSorted((one, other) => other.likeness - one.likeness);
  const columns = new Set<number>();
  const found = new Map<string, Map<string, number>>();
  let likenesses = 0;
  for (const { list, field, at, likeness } of pairs) {
    const taken = found.get(list) ?? new Map<string, number>();
    if (columns.has(at) || taken.has(field)) continue;
    columns.add(at);
    found.set(list, taken.set(field, at));
    likenesses += likeness;
  }
  const inOrder = (list: string, fields: Fields): Map<string, number> =>
    new Map(
      Object.keys(fields).flatMap((field) => {
        const at = found.get(list)?.get(field);
        return at === undefined ? [] : [[field, at]];
      }),
    );
  const head = inOrder("", layout.head);
  const missing = Object.entries(layout.head)
    .filter(([field, { filled }]) => filled && !head.has(field))
    .map(([field]) => field);
  const lists = new Map(
    Object.entries(layout.lists)
      .map(([name, fields]) => [name, inOrder(name, fields)] as const)
      .filter(([, columns]) => columns.size > 0),
  );
  const needed = Object.values(layout.head).filter(({ filled }) => filled).length;
  // The share of the file that it explains, and of what its records need: a layout of many fields wins by neither.
  const explained = likenesses / Math.max(labels.length, 1);
  const told = new Set(labels.flatMap(wordsOf));
  const isNamed = nounsOf(layout).some((noun) => told.has(noun));
  const score = explained * (1 - missing.length / (needed + 1)) + (isNamed ? 0.2 : 0);
  return { layout, head, lists, missing, score };
}

function pairsOf(list: string, fields: Fields, labels: readonly string[], known: Known) {
  return Object.keys(fields).flatMap((field) =>
    labels.flatMap((label, at) => {
      const likeness = likenessOf(field, label, list, known);
      return likeness >= 0.5 ? [{ list, field, at, likeness }] : [];
    }),
  );
}

/**
 * 1: a label that is known for the field and has a word of its name; nearly 1: one that is known. Else the share of words
 * in common.
 */
function likenessOf(field: string, label: string, list: string, known: Known): number {
  const words = wordsOf(label);
  const text = words.join(" ");
  const prefixed = list !== "" && words[0] === list;
  const plain = prefixed ? words.slice(1) : words;
  const wanted = wordsOf(field);
  const common = wanted.filter((word) => plain.includes(word)).length;
  if (known.get(field)?.has(text) === true)
    return (prefixed || list === "" ? 1 : 0.9) - (common > 0 ? 0 : 0.01);
  // `Customer Name` may be a name: all words of the field count, and half of those that are more.
  return (0.95 * (common / wanted.length + common / Math.max(plain.length, 1))) / 2;
}

/** What the records of a layout are called: `terminal` of `plain/terminals`. */
const nounsOf = ({ name }: Layout): string[] =>
  name === "books.parties"
    ? ["customer", "supplier"]
    : name.split(/[/.-]/).map((word) => word.replace(/s$/, ""));

/** `grossGallons`, `Gross_Gal.` and `GROSS GALLONS` are the same words. */
function wordsOf(text: string): string[] {
  const words = text
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => ALIKE[word] ?? word);
  const telling = words.filter((word) => !NONE.has(word));
  return telling.length > 0 ? telling : words;
}

/* A proposal of a profile from a sample: what can be seen in a file, and what a person must say. */

export interface Guess {
  readonly layout: string;
  /** The profile, as YAML with comments. */
  readonly yaml: string;
  /** Fields that a record cannot do without and that were not found. */
  readonly missing: readonly string[];
  /** Columns of the file that the proposal has no use for. */
  readonly unused: readonly string[];
  /** Shipped profiles that read the sample, and how many records of it. */
  readonly shipped: readonly Shipped[];
}

interface Shipped {
  readonly profile: string;
  readonly layout: string;
  readonly read: number;
  readonly refused: number;
}

/** What is looked at of a sample. */
const CHARACTERS = 300_000;
const ROWS = 500;
const HEADER_ROWS = 30;

interface Sample {
  /** Null: it is a workbook. */
  readonly encoding: string | null;
  readonly delimiter: string;
  /** The line of the header; 0: there is none. */
  readonly header: number;
  readonly labels: readonly string[];
  readonly looks: readonly Pattern[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * `layout`: what its records are; null: what fits best. `called`: how the comment calls the file.
 * @throws RangeError for a file that is no text, what the file system throws
 */
export async function guessProfile(
  path: string,
  called: string,
  layout: string | null,
): Promise<Guess> {
  const sample = await sampleOf(path);
  const shipped = await shippedFor(path, layout);
  const wanted = layout === null ? shipped.map((one) => one.layout) : [layout];
  // Tryton's own exports are read by the shipped profiles; another file is none of them.
  const candidates = layouts.filter(({ name }) =>
    wanted.length === 0 ? !name.startsWith("tryton-export/") : wanted.includes(name),
  );
  const known = labelsByField();
  const [best] = candidates
    .map((one) => matchOf(one, sample.labels, known))
    .toSorted((one, other) => other.score - one.score);
  if (best === undefined) throw new RangeError(`there is no layout ${layout}`);
  const others = candidates
    .map((one) => matchOf(one, sample.labels, known))
    .filter((one) => one.layout !== best.layout && one.score > best.score * 0.7)
    .map((one) => one.layout.name);
  const used = new Set([
    ...best.head.values(),
    ...[...best.lists.values()].flatMap((list) => [...list.values()]),
  ]);
  const unused = sample.labels.filter((_, at) => !used.has(at));
  return {
    layout: best.layout.name,
    yaml: yamlOf(sample, best, called, others, shipped),
    missing: best.missing,
    unused,
    shipped,
  };
}

/** So large a sample is read once, for the proposal. */
const TRIED_BYTES_MAX = 5_000_000;

async function shippedFor(path: string, layout: string | null): Promise<Shipped[]> {
  if ((await stat(path)).size > TRIED_BYTES_MAX) return [];
  const found: Shipped[] = [];
  for (const name of shippedProfiles()) {
    const profile = openProfile(name, "");
    if (layout !== null && profile.layout.name !== layout) continue;
    try {
      const { read, refused } = await tryProfile(profile, new Map([[HEADS, path]]), 0);
      if (read > 0) found.push({ profile: name, layout: profile.layout.name, read, refused });
    } catch (error) {
      if (!(error instanceof PartFault)) throw error;
    }
  }
  return found;
}

async function sampleOf(path: string): Promise<Sample> {
  const handle = await open(path);
  try {
    const start = await firstBytes(handle, 4);
    if (start.equals(ZIP)) return { encoding: null, ...tableIn(await workbookRows(handle), "") };
    const told = await survey(handle, "auto");
    if (told.fault !== null) throw new RangeError(`the file ${told.fault.message}`);
    let text = "";
    for await (const piece of textOf(handle, told, () => {})) {
      text += piece;
      if (text.length >= CHARACTERS) break;
    }
    const whole = text.slice(0, text.lastIndexOf("\n") + 1) || `${text}\n`;
    return { encoding: told.encoding, ...tableOf(whole) };
  } finally {
    await handle.close();
  }
}

/** What a workbook begins with, as any ZIP archive. */
const ZIP = Buffer.from("PK\u0003\u0004", "latin1");

/** Of its first sheet, without the empty cells at the end of each: a title is one cell wide. @throws RangeError */
async function workbookRows(handle: Bytes): Promise<Row[]> {
  try {
    const rows = await rowsOfWorkbook(await firstBytes(handle, WORKBOOK_BYTES_MAX + 1), 1);
    return rows.slice(0, ROWS + HEADER_ROWS).map(({ line, cells }) => {
      const last = cells.findLastIndex((cell) => cell !== "");
      return { line, cells: cells.slice(0, last + 1) };
    });
  } catch (error) {
    if (error instanceof FileFault) throw new RangeError(`the file ${error.message}`);
    throw error;
  }
}

function tableOf(text: string): Omit<Sample, "encoding"> {
  const [best] = (["\t", ";", "|", ","] as const)
    .map((delimiter) => ({ delimiter, ...widthOf(rowsIn(text, delimiter)) }))
    .toSorted((one, other) => other.alike * other.width - one.alike * one.width);
  const { delimiter = ",", rows = [] } = best ?? {};
  return tableIn(rows, delimiter);
}

function tableIn(rows: readonly Row[], delimiter: string): Omit<Sample, "encoding"> {
  const { width } = widthOf(rows);
  // A title above the header is wide, too, where a spreadsheet program wrote the file: its other cells are empty.
  const at = rows
    .slice(0, HEADER_ROWS)
    .findIndex(
      ({ cells }) =>
        cells.length === width && cells.filter((cell) => cell.trim() !== "").length * 2 >= width,
    );
  const [top, ...rest] = rows.slice(Math.max(at, 0));
  const isHeader = top !== undefined && isLabels(top, rest);
  const body = (isHeader ? rest : rows).slice(0, ROWS).map(({ cells }) => cells);
  const labels = isHeader
    ? top.cells.map((label) => label.trim())
    : Array.from({ length: width }, (_, column) => String(column + 1));
  return {
    delimiter,
    header: isHeader ? top.line : 0,
    labels,
    looks: labels.map((_, column) => lookOf(body.map((cells) => cells[column] ?? ""))),
    rows: body,
  };
}

const rowsIn = (text: string, delimiter: Delimiter): readonly Row[] =>
  tokenise(text, { delimiter, quotes: true, longest: CHARACTERS }, 1).rows;

/** How many cells most of the rows have, and how many have so many. */
function widthOf(rows: readonly Row[]) {
  const widths = [...Map.groupBy(rows, ({ cells }) => cells.length)];
  const [[width, most] = [0, []]] = widths.toSorted(([, a], [, b]) => b.length - a.length);
  return { rows, width, alike: width < 2 ? 0 : most.length / rows.length };
}

/** Labels are texts that are all different, above something that is no label. */
function isLabels({ cells }: Row, below: readonly Row[]): boolean {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== "");
  if (filled.length === 0 || new Set(filled).size < filled.length) return false;
  if (filled.some((cell) => lookOf([cell]).kind !== "text")) return false;
  return below.length > 0;
}

function yamlOf(
  sample: Sample,
  { layout, head, lists, missing }: Match,
  called: string,
  others: readonly string[],
  shipped: readonly Shipped[],
): string {
  const { encoding, delimiter, header, labels, looks } = sample;
  const sign = looks.find((look) => look.sign !== null)?.sign ?? ".";
  const dates = looks.filter(({ kind }) => kind === "date");
  const forms = [...new Set(dates.flatMap(({ forms: [form = "yyyy-MM-dd"] }) => form))];
  const unclear = dates.some((look) => look.forms.length > 1);
  const used = new Set([
    ...head.values(),
    ...[...lists.values()].flatMap((one) => [...one.values()]),
  ]);
  const entry =
    (indent: string) =>
    ([field, at]: readonly [string, number]): string =>
      `${indent}${field}: ${header === 0 ? `{ column: ${at + 1} }` : JSON.stringify(labels[at])}${examples(looks[at])}`;
  const unused = labels.flatMap((label, at) =>
    used.has(at) ? [] : `#   ${label}${examples(looks[at])}`,
  );
  const lines = [
    ...shipped.map(
      ({ profile, read, refused }) =>
        `# A shipped profile reads it (${read} records, ${refused} refused): fuelbridge profile try ${called} --profile ${profile}`,
    ),
    `# Proposed from ${called}. Read every line, correct it, then look: fuelbridge profile try ${called} --profile THIS.yaml`,
    `layout: ${layout.name} # what the records are${others.length > 0 ? `; perhaps ${others.join(" or ")}` : ""}`,
    ...(encoding === null
      ? ["file: xlsx", "sheet: 1 # its number, or its name"]
      : [
          `encoding: ${encoding === "utf-8" || encoding === "windows-1252" ? encoding : "auto"}`,
          `delimiter: ${JSON.stringify(delimiter)}`,
        ]),
    ...(header === 1
      ? []
      : [`header: ${header} # ${header === 0 ? "there is none" : "the line that has the labels"}`]),
    ...(encoding === null ? [] : [`decimal: ${JSON.stringify(sign)}`]),
    ...(forms.length === 0
      ? []
      : [
          `dates: ${JSON.stringify(forms)}${unclear ? " # days and months could be the other way round: check this" : ""}`,
        ]),
    ...recordLines(sample, layout, head, lists),
    "columns:",
    ...[...head].map(entry("  ")),
    ...missing.map(
      (field) => `  # ${field}: is needed and was not found: LABEL, or { constant: TEXT }`,
    ),
    ...(lists.size === 0 ? [] : ["lists:"]),
    ...[...lists].flatMap(([name, fields]) => [
      `  ${name}:`,
      "    columns:",
      ...[...fields].map(entry("      ")),
    ]),
    ...(unused.length === 0 ? [] : ["# Columns of the file that are not read:", ...unused]),
    ...openLines(layout, head, lists),
  ];
  return `${lines.join("\n")}\n`;
}

const examples = (look: Pattern | undefined): string =>
  look === undefined || look.samples.length === 0
    ? ""
    : ` # ${look.samples.map((cell) => cell.replaceAll(/\s+/g, " ").slice(0, 30)).join(" | ")}`;

/** Several rows are one record: the head is empty on the further ones, or stands on each of them. */
function recordLines(
  { rows }: Sample,
  layout: Layout,
  head: ReadonlyMap<string, number>,
  lists: Match["lists"],
): string[] {
  const places = [...head.values()];
  if (lists.size === 0) {
    const [first = -1] = places;
    const below = rows.filter((cells) => cells[first] === "");
    const inherited = [...head].filter(([, at]) => below.every((cells) => cells[at] === ""));
    if (below.length === 0) return [];
    const fields = inherited.map(([field]) => field).join(", ");
    return [`record: { inherits: [${fields}] } # they stand on the first of several rows only`];
  }
  const isEmptyBelow = rows.some((cells) => places.every((at) => (cells[at] ?? "") === ""));
  if (isEmptyBelow)
    return ["record: continues # the head is empty on the further rows of a record"];
  const [key = "number"] = [...head.keys()].filter((field) => layout.head[field]?.filled === true);
  return [`record: { same: [${key}] } # neighbours that say the same of it are one record`];
}

/** Fields that no column was found for, so that a person sees what there could be. */
function openLines(
  layout: Layout,
  head: ReadonlyMap<string, number>,
  lists: Match["lists"],
): string[] {
  const left = Object.keys(layout.head).filter(
    (field) => !head.has(field) && layout.head[field]?.filled !== true,
  );
  const inLists = Object.entries(layout.lists).flatMap(([name, fields]) =>
    Object.keys(fields)
      .filter((field) => lists.get(name)?.has(field) !== true)
      .map((field) => `${name}.${field}`),
  );
  const all = [...left, ...inLists];
  return all.length === 0 ? [] : [`# Fields that could have a column too: ${all.join(", ")}`];
}
