/** A proposal of a profile from a sample: what can be seen in a file, and what a person must say. */
import { open, stat } from "node:fs/promises";
import { survey, textOf } from "../bytes.ts";
import { FileFault, PartFault } from "./csv.ts";
import type { Bytes } from "../../../connectors/files/folder/port.ts";
import { lookOf, type Pattern } from "./guess-values.ts";
import { labelsByField, matchOf, type Match } from "./guess-fields.ts";
import { layouts } from "./layouts/index.ts";
import type { Layout } from "./layouts/table.ts";
import { HEADS } from "./profile.ts";
import { openProfile, shippedProfiles } from "./profile-open.ts";
import { firstBytes } from "./sheets.ts";
import { type Delimiter, type Row, tokenise } from "./tokens.ts";
import { tryProfile } from "./try-profile.ts";
import { rowsOfWorkbook, WORKBOOK_BYTES_MAX } from "./workbook.ts";

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
  const candidates = layouts.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
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
