/**
 * Records and documents as the text of files, as a profile says: the one way in which tables are written. Nothing is
 * changed silently: what a file has no room for is refused, with its field.
 */
import { hash } from "node:crypto";
import { checkedBy, type Item, type Surroundings } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { canonicalOf, parseExact } from "../../core/json.ts";
import { sortableInstant } from "../../core/keys.ts";
import { amountText } from "../../core/text.ts";
import { type DocumentName, documents, endedAs, isBooked } from "../documents.ts";
import {
  type DocumentWriter,
  expectCents,
  FileFault,
  fileName,
  foreignTo,
  sentOf,
  type Totals,
} from "../format.ts";
import { type CellForm, type CellType, formOf, readCell, Unprintable, writeCell } from "./cells.ts";
import {
  type Column,
  guardedAs,
  HEADS,
  isPlaced,
  type List,
  openProfile,
  type Profile,
} from "./profile.ts";
import { columnsOf, headersOf } from "./columns.ts";
import { type Draft, draftsIn, openText, rowsOf } from "./read.ts";

export interface Writing {
  readonly document: DocumentName;
  /** Guarded as the sink is set: an apostrophe stands before text that a spreadsheet would run as a formula. */
  readonly profile: Profile;
  /** The calendar day of an instant, see `calendarOf`. */
  readonly dayOf: (instant: string) => string;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * What makes the text of one file of documents. The rows of a document are made once, however many files it is tried in.
 * @throws Refused when a value has no place in the file: a character that no reader can be trusted with, a text that is
 * too long
 */
export function documentsWriter({ document: name, profile, dayOf }: Writing) {
  const { header, rows } = tableText(profile, dayOf);
  const known = new WeakMap<object, string>();
  const textOf = (document: object): string => {
    const { schema } = documents[name];
    const isChecked = checkedBy.get(document) === schema;
    const checked = isChecked ? (document as Fields) : schema.parse(document);
    const { version } = checked as Fields;
    const dated = typeof version === "string" ? { ...checked, version: utc(version) } : checked;
    const text = rows(dated);
    known.set(document, text);
    return text;
  };
  return (list: readonly unknown[]): string =>
    header + list.map((one) => known.get(one as object) ?? textOf(one as object)).join("");
}

/** UTC with six or nine fraction digits: texts of one form, of which the greatest is the latest. */
const utc = (instant: string): string => sortableInstant(instant)?.replace(/000Z$/, "Z") ?? instant;

/** A column as it is written: what is the same for every row is found once. */
interface Place {
  readonly column: Column;
  readonly type: CellType;
  readonly form: CellForm;
  /** Which cell of a row it is. */
  readonly at: number;
}

/** A cell as it stands in the file: one of a head is in the row of every line. */
interface WrittenCell {
  readonly place: Place;
  readonly text: string | null;
}

const typeOf = ({ constant, field }: Column): CellType =>
  constant === null ? (field?.type ?? "text") : "text";

const LINE_ENDS = { crlf: "\r\n", lf: "\n", cr: "\r" };

/** The lines of a file, each with its end. */
function lineWriter(profile: Profile) {
  const { file, header, record, quotes, tag: tagColumn } = profile;
  const delimiter = profile.delimiter === "auto" ? "," : profile.delimiter;
  const end = LINE_ENDS[profile.lineEnd];
  const columns = columnsOf(profile, HEADS);
  const all = columns.flatMap(({ label }) => label ?? []);
  const labels = [...new Set([...profile.order.filter((label) => all.includes(label)), ...all])];
  const width =
    header === 0 ? Math.max(...columns.map(({ index }) => index ?? -1)) + 1 : labels.length;

  const placeOf = (column: Column, type = typeOf(column)): Place => ({
    column,
    type,
    form: formOf(profile.form, column.form),
    at: column.index ?? labels.indexOf(column.label ?? ""),
  });
  const tagPlace = tagColumn === null ? null : placeOf(tagColumn);
  const quoted = (text: string, isText: boolean): string => {
    if (quotes === "none" || file === "fixed") return text;
    const hasQuote = text.includes('"');
    const isQuoted =
      hasQuote || (quotes === "text" && isText) || text.includes(delimiter) || /[\r\n]/.test(text);
    if (!isQuoted) return text;
    return `"${hasQuote ? text.replaceAll('"', '""') : text}"`;
  };
  const cellOf = (place: Place, text: string | null): WrittenCell => ({
    place,
    text: text === null ? null : quoted(text, place.type !== "decimal"),
  });
  /** `tag`: what kind of row it is. */
  const row = (tag: string | null, cells: readonly WrittenCell[]): string => {
    const own = tagPlace === null || tag === null ? [] : [cellOf(tagPlace, tag)];
    const all = [...own, ...cells];
    if (file === "fixed") return fixedLine(all) + end;
    if (header === "tags")
      return [tag ?? "", ...all.map(({ text }) => text ?? "")].join(delimiter) + end;
    const line = Array<string>(width).fill("");
    for (const { place, text } of all) line[place.at] = text ?? "";
    return line.join(delimiter) + end;
  };
  const headerLines = (): string[][] => {
    if (header === 0 || file === "fixed") return [];
    if (header !== "tags")
      return [
        ...Array.from({ length: header - 1 }, () => []),
        labels.map((label) => quoted(label, false)),
      ];
    const closing = typeof record === "object" && "tag" in record ? record.closing : undefined;
    return [
      ...[...headersOf(profile)].map(([tag, own]) => [`!${tag}`, ...own]),
      ...(closing === undefined ? [] : [[`!${closing}`]]),
    ];
  };
  return {
    delimiter,
    placeOf,
    cellOf,
    row,
    header: () =>
      headerLines()
        .map((line) => line.join(delimiter) + end)
        .join(""),
  };
}

/** The header of a file, and the rows of a record. What it gives throws Refused. */
export function tableText(profile: Profile, dayOf: Writing["dayOf"]) {
  const { file, record: mode, quotes, encoding } = profile;
  const { delimiter, placeOf, cellOf, row, header } = lineWriter(profile);
  const placesOf = (some: readonly Column[]): Place[] =>
    some.filter(isPlaced).map((one) => placeOf(one));
  const head = placesOf(profile.head);
  const lists = profile.lists
    .filter((list) => list.part === null)
    .map((list) => ({
      list,
      repeats: placesOf(list.repeats),
      counts: list.counts.map((one) => placeOf(one, "decimal")),
      own: placesOf(list.columns),
    }));

  /** @throws RangeError as the end of a sentence */
  const checkRoom = (text: string, { most }: Column): void => {
    const foreign = foreignTo(text, encoding);
    if (foreign !== null)
      throw new Unprintable(`has the character "${foreign}", which is not in ${encoding}`);
    if (most !== null && lengthOf(text) > most)
      throw new RangeError(`is ${lengthOf(text)} characters long; the file has room for ${most}`);
    if (file !== "fixed" && quotes !== "none") return;
    if (file === "fixed" && text.trim() !== text)
      throw new RangeError("begins or ends with a blank, which fixed width cannot keep");
    const bars = ["\n", "\r", ...(file === "fixed" ? [] : [delimiter])];
    const bar = bars.find((one) => text.includes(one));
    const what = bar === delimiter ? "the delimiter" : "a line break";
    if (bar !== undefined) throw new RangeError(`has ${what} in it, and the file has no quotes`);
  };

  /** Of the record that is being written: what its cells of the profile's `balance` say, as they stand in the file. */
  const balance: Decimal[] = [];
  const cell = (place: Place, value: unknown, field: string): WrittenCell => {
    try {
      const { column, type, form } = place;
      const text = writeCell(type, value, form);
      if (text !== null) checkRoom(text, column);
      const isAmount = profile.balance !== undefined && column.label === profile.balance;
      if (text !== null && isAmount)
        balance.push(readCell("decimal", text, { ...form, negated: false }) as Decimal);
      return cellOf(place, text);
    } catch (error) {
      throw refusal(error, field);
    }
  };
  const cells = (places: readonly Place[], values: Fields, at: string): WrittenCell[] =>
    places.map((place) => {
      const { name, constant } = place.column;
      if (constant !== null) return cellOf(place, constant);
      const value = values[name];
      const shown = place.type === "day" && typeof value === "string" ? dayOf(value) : value;
      return cell(place, shown, `${at}${name}`);
    });

  const element = ({ list, own }: (typeof lists)[number], record: Fields, at: number) => {
    const values = elementsOf(record, list)[at];
    return values === undefined ? [] : cells(own, values, `${list.name}[${at}].`);
  };
  const listRows = (one: (typeof lists)[number], record: Fields, before: WrittenCell[]) =>
    elementsOf(record, one.list).map((values, at) =>
      row(tagOf(one.list, values), [
        ...before,
        ...cells(one.repeats, record, ""),
        ...one.counts.map((place) => cell(place, Decimal.of(String(at + 1)), "")),
        ...element(one, record, at),
      ]),
    );

  /** As the profile says which rows a record is. */
  const rows = (record: Fields): string => {
    const heads = cells(head, record, "");
    if (typeof mode === "object" && "tag" in mode) {
      const closing = mode.closing === undefined ? "" : row(mode.closing, []);
      const within = lists.flatMap((one) => listRows(one, record, []));
      return [row(mode.tag, heads), ...within, closing].join("");
    }
    if (typeof mode === "object" && "same" in mode)
      return lists.flatMap((one) => listRows(one, record, heads)).join("") || row(null, heads);
    const most = Math.max(1, ...lists.map(({ list }) => elementsOf(record, list).length));
    return Array.from({ length: most }, (_, at) =>
      row(null, [...(at === 0 ? heads : []), ...lists.flatMap((one) => element(one, record, at))]),
    ).join("");
  };

  return {
    header: header(),
    rows: (record: Fields): string => {
      balance.length = 0;
      const text = rows(record);
      if (profile.balance !== undefined)
        expectCents(
          balance,
          Decimal.zero,
          (sum) => `total, lines and taxes differ by ${amountText(sum.abs())}`,
        );
      return text;
    },
  };
}

const lengthOf = (text: string): number =>
  text.isWellFormed() ? Array.from(text).length : text.length;

const elementsOf = (record: Fields, { name }: List): readonly Fields[] =>
  (record[name] ?? []) as readonly Fields[];

/** Of several tags, the first whose field has a value. */
const tagOf = ({ tags }: List, element: Fields): string | null =>
  [...(tags ?? [])].find(([, field]) => field === "" || !isNone(element[field]))?.[0] ?? null;

const isNone = (value: unknown): boolean => value === null || value === undefined || value === "";

/** Text to the left, numbers to the right; what has its decimals implied is filled up with zeros. */
function fixedLine(cells: readonly WrittenCell[]): string {
  const line: string[] = [];
  for (const { place, text } of cells) {
    const { slice } = place.column;
    if (slice === null || text === null) continue;
    const isImplied = place.form.implied !== undefined;
    const sign = isImplied && text.startsWith("-") ? "-" : "";
    const filling = (isImplied ? "0" : " ").repeat(slice.length - Array.from(text).length);
    const filled = place.type === "decimal" ? sign + filling + text.slice(sign.length) : text;
    for (const [at, character] of Array.from(filled).entries()) line[slice.from + at] = character;
  }
  return Array.from(line, (character) => character ?? " ").join("");
}

function refusal(error: unknown, field: string): unknown {
  if (!(error instanceof RangeError)) return error;
  const isUnprintable = error instanceof Unprintable;
  return new Refused({
    code: isUnprintable ? "unprintable" : "no-room",
    message: `${field} ${error.message}`,
    next: isUnprintable
      ? "Correct the text on the platform; the corrected version is delivered by itself."
      : "Correct it on the platform, or give it room in the profile; then retry it.",
    field,
  });
}

/* Documents as tables, laid out as a profile says. */

/** What is written, and into which files. */
interface TableSettings {
  readonly document: DocumentName;
  /** A profile of the site, or a shipped one; left out: the shipped one of the document. */
  readonly profile?: string | undefined;
  readonly per: "document" | "batch";
  readonly itemsMax?: number | undefined;
  /** Left out: as the profile says. */
  readonly spreadsheetSafe?: boolean | undefined;
}

const BATCH_ITEMS_MAX = 200;

/** @throws InvalidProfile */
export function tableWriter(
  config: TableSettings,
  surroundings: Pick<Surroundings, "folder" | "dayOf">,
): DocumentWriter {
  const writing = writingOf(config, surroundings);
  const { document, per, itemsMax } = config;
  const { encoding, ending } = writing.profile;
  const write = documentsWriter(writing);
  const isUpsert = tellsWhich(writing.profile) || !isBooked(document);
  return {
    form: `files.${document}`,
    operation: documents[document].operation,
    writes: isUpsert ? "upsert" : "create",
    concerns: isUpsert
      ? (document) => sentOf(document as Fields, "", surroundings.dayOf)
      : concernsOf(write),
    itemsMax: per === "batch" ? (itemsMax ?? BATCH_ITEMS_MAX) : 1,
    encoding,
    nameOf: (items) => nameOf(config, items, ending),
    textOf: (items) => write(items.map((item) => item.document)),
    totalsOf: (name, body) => totalsIn(writing, name, body),
  };
}

/** What a reader who cannot tell versions apart gets of a document: its file, in whatever digits, and that it counts no more. */
const concernsOf =
  (write: ReturnType<typeof documentsWriter>) =>
  (document: unknown): unknown => [
    write([parseExact(canonicalOf(document))]),
    endedAs(document as { status: string }),
  ];

/** @throws InvalidProfile */
export const writingOf = (
  { document, profile, spreadsheetSafe }: TableSettings,
  { folder, dayOf }: Pick<Surroundings, "folder" | "dayOf">,
): Writing => {
  const opened = openProfile(profile ?? `files/${document}`, folder);
  const { file, formulas = file === "fixed" ? "plain" : "guarded" } = opened;
  return { document, profile: guardedAs(opened, spreadsheetSafe ?? formulas !== "plain"), dayOf };
};

/** Follows from number, id and revision alone. */
function nameOf({ document, per }: TableSettings, items: readonly Item[], ending: string): string {
  const [item] = items;
  if (per === "document" && item !== undefined)
    return fileName(document, item.number, `_${hash8(item.id)}_${hash8(item.revision)}.${ending}`);
  const content = JSON.stringify(items.map(({ id, revision }) => [id, revision]));
  return `${document}_${items.length}_${hash8(content)}.${ending}`;
}

const hash8 = (text: string): string => hash("sha256", text, "hex").slice(0, 8);

/** Whether files of a profile tell which document they are of, and which version of it. */
export const tellsWhich = ({ head }: Profile): boolean =>
  ["id", "number", "version"].every((name) => head.some((column) => column.name === name));

/**
 * Every document of one of our own files, read as it was written; what it has no column for is none.
 * @throws FileFault for a text that is not as the profile says
 */
export async function documentsIn({ profile }: Writing, text: string): Promise<Draft["values"][]> {
  if (text === "") return [];
  return (await draftsIn(profile, text)).map(({ values, problems: [problem] }) => {
    if (problem !== undefined) throw new FileFault(problem.message, problem.line, problem.column);
    return values;
  });
}

/** The rows and sums of a text of ours. @throws FileFault for a text that is not as the profile says */
async function totalsIn({ profile }: Writing, name: string, body: string): Promise<Totals> {
  const table = await openText(profile, body, name, null);
  for await (const _ of rowsOf(table));
  const { rows = 0, sums = [] } = table.tally ?? {};
  return {
    rows,
    sums: Object.fromEntries([...sums].map(([label, sum]) => [label, sum.plain()])),
  };
}
