/**
 * The entries of a ZIP archive, within limits: a workbook is one, and a small archive may hold gigabytes. Sizes are checked
 * as they are declared and as they are, and every byte against its checksum.
 */
import { crc32, inflateRawSync } from "node:zlib";
import { Decimal } from "../../core/decimal.ts";
import { FileFault } from "../format.ts";
import { FALSE, TRUE, unreadable } from "./cells.ts";
import type { Row } from "./text.ts";

const ENTRIES_MAX = 1_000;
/** Of all entries that are taken, unpacked. */
const BYTES_MAX = 32_000_000;

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const COMMENT_MAX = 65_535;
const STORED = 0;
const DEFLATED = 8;

/** By name, those that `isTaken` says. @throws FileFault for what is no archive, is damaged or too large */
function unzipped(archive: Buffer, isTaken: (name: string) => boolean): Map<string, Buffer> {
  const entries = new Map<string, Buffer>();
  let left = BYTES_MAX;
  try {
    for (const { name, method, crc, packed, size, at } of directoryOf(archive)) {
      if (!isTaken(name)) continue;
      if (size > left)
        throw new FileFault(`unpacks to more than ${BYTES_MAX / 1_000_000} MB; is it a workbook?`);
      left -= size;
      if (archive.readUInt32LE(at) !== LOCAL) throw damaged();
      const begin =
        at + LOCAL_BYTES + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
      const data = archive.subarray(begin, begin + packed);
      const bytes =
        method === STORED ? data : inflateRawSync(data, { maxOutputLength: Math.max(size, 1) });
      if (bytes.length !== size || crc32(bytes) !== crc || entries.has(name)) throw damaged();
      entries.set(name, bytes);
    }
  } catch (error) {
    // Node's own errors (a range, an inflation that goes on) say the same.
    throw error instanceof FileFault ? error : damaged();
  }
  return entries;
}

const damaged = (): FileFault =>
  new FileFault("is damaged, or no workbook: it is no whole ZIP archive");

/** Where each entry is, and how it is packed. @throws FileFault, RangeError */
function* directoryOf(archive: Buffer) {
  const from = Math.max(archive.length - END_BYTES - COMMENT_MAX, 0);
  const end = archive.lastIndexOf(Buffer.of(0x50, 0x4b, 0x05, 0x06));
  if (end < from || archive.readUInt32LE(end) !== END) throw damaged();
  const count = archive.readUInt16LE(end + 10);
  if (count > ENTRIES_MAX) throw new FileFault(`has ${count} parts; is it a workbook?`);
  let at = archive.readUInt32LE(end + 16);
  for (let entry = 0; entry < count; entry++) {
    if (archive.readUInt32LE(at) !== ENTRY) throw damaged();
    const [nameBytes = 0, extra = 0, comment = 0] = [28, 30, 32].map((offset) =>
      archive.readUInt16LE(at + offset),
    );
    const method = archive.readUInt16LE(at + 10);
    const isEncrypted = (archive.readUInt16LE(at + 8) & 1) === 1;
    if (isEncrypted || (method !== STORED && method !== DEFLATED))
      throw new FileFault("is encrypted, or packed in a way that is not read");
    yield {
      name: archive.toString("utf8", at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes),
      method,
      crc: archive.readUInt32LE(at + 16),
      packed: archive.readUInt32LE(at + 20),
      size: archive.readUInt32LE(at + 24),
      at: archive.readUInt32LE(at + 42),
    };
    at += ENTRY_BYTES + nameBytes + extra + comment;
  }
}

/*
 * One sheet of an Excel workbook (.xlsx, ECMA-376 part 1, sections 12 and 18) as rows of texts. A workbook keeps numbers as
 * doubles: 2.3456 may stand in it as 2.3456000000000001. Excel shows 15 digits, and so many are exact; a number that needs
 * more is marked as not exact.
 */

/** Larger ones are no price sheets, and would be read into memory whole. */
export const WORKBOOK_BYTES_MAX = 5_000_000;
/** Rows times columns of the sheet as it is laid out: cells far apart make a large one. */
const CELLS_MAX = 500_000;
const COLUMNS_MAX = 1_000;

/**
 * The rows that are neither empty nor hidden, all as wide as the widest; `line` is the row's number. Numbers have a decimal
 * point, days are `yyyy-MM-dd`, with a time `yyyy-MM-dd HH:mm:ss`; true and false are {@link TRUE} and {@link FALSE}.
 * `sheet`: its name, or its number from 1. `hidden`: how many rows a person or a filter has hidden.
 * @throws FileFault when it is no workbook, is too large, or has no such sheet
 */
export async function rowsOfWorkbook(
  bytes: Buffer,
  sheet: string | number,
): Promise<{ readonly rows: Row[]; readonly hidden: number }> {
  if (bytes.length > WORKBOOK_BYTES_MAX)
    throw new FileFault(
      `has ${bytes.length} bytes; a workbook is read up to ${WORKBOOK_BYTES_MAX}`,
    );
  const parts = unzipped(bytes, (name) => /\.(?:xml|rels)$/.test(name));
  const parse = await openParser();
  const part = (path = ""): Element => parse(parts.get(path)?.toString() ?? "");
  const book = relatedTo("", part).find(({ type }) => type === "officeDocument")?.path;
  if (book === undefined) throw new FileFault("is no workbook that can be read");
  const workbook = child(part(book), "workbook");
  const related = relatedTo(book, part);
  const chosen = children(child(workbook, "sheets"), "sheet").find(
    (one, at) => sheet === one["@name"] || sheet === at + 1,
  );
  if (chosen === undefined)
    throw new FileFault(`has no sheet ${typeof sheet === "number" ? sheet : `"${sheet}"`}`);
  const only = (name: string): Element => part(related.find(({ type }) => type === name)?.path);
  const said: Said = {
    texts: children(child(only("sharedStrings"), "sst"), "si").map(textIn),
    isDay: dayStyles(child(only("styles"), "styleSheet")),
    is1904: isTrue(child(workbook, "workbookPr")["@date1904"]),
    isUncalculated: isTrue(child(workbook, "calcPr")["@fullCalcOnLoad"]),
  };
  const { path } = related.find(({ id }) => id === chosen["@id"]) ?? {};
  const [, data = ""] = (parts.get(path ?? "")?.toString() ?? "").split(SHEET_DATA);
  // Row by row: the whole of a sheet as a tree takes 2 KB of memory for each cell.
  const rows = data.split(ROW_END).filter((text) => ROW.test(text));
  return rowsIn(
    Iterator.from(rows).flatMap((text) => children(parse(text), "row")),
    said,
  );
}

// Programs that are not Excel write the namespace before each element: `<x:row>`.
const SHEET_DATA = /<\/?(?:\w+:)?sheetData(?=[\s/>])/;
const ROW = /<(?:\w+:)?row[\s/>]/;
const ROW_END = /(?<=<\/(?:\w+:)?row>)/;

/** What a workbook says for all its sheets. `isUncalculated`: its results are not its formulas', but 0, or a template's. */
interface Said {
  readonly texts: readonly string[];
  /** By the number of a cell's style. */
  readonly isDay: readonly boolean[];
  readonly is1904: boolean;
  readonly isUncalculated: boolean;
}

/** @throws FileFault for a sheet that is too large */
function rowsIn(all: Iterable<Element>, said: Said): { rows: Row[]; hidden: number } {
  const rows: { line: number; cells: string[] }[] = [];
  let [hidden, line, columns] = [0, 0, 0];
  for (const row of all) {
    line = following(line, row["@r"] ?? child(row, "c")["@r"]?.replace(/^[A-Z]+/, ""));
    const cells: string[] = [];
    let column = 0;
    for (const cell of children(row, "c")) {
      column = following(column, cell["@r"]?.replace(/\d+$/, ""), columnOf);
      columns = Math.max(columns, column);
      if (columns > COLUMNS_MAX || line * columns > CELLS_MAX)
        throw new FileFault(
          `has a sheet of ${line} rows and ${columns} columns; ${CELLS_MAX} cells are read`,
        );
      cells[column - 1] = cellText(cell, said);
    }
    if (isTrue(row["@hidden"])) hidden++;
    else if (cells.some((text) => text !== "")) rows.push({ line, cells });
  }
  const filled = (cells: readonly string[]): string[] =>
    Array.from({ length: columns }, (_, at) => cells[at] ?? "");
  return { rows: rows.map(({ line, cells }) => ({ line, cells: filled(cells) })), hidden };
}

/** Where a row or cell stands. It need not say so; then it follows the last one. @throws FileFault */
function following(
  last: number,
  place: string | undefined,
  numberOf: (place: string) => number = Number,
): number {
  const at = place === undefined ? last + 1 : numberOf(place);
  if (Number.isSafeInteger(at) && at > last) return at;
  throw new FileFault("has a sheet that no spreadsheet program writes: its cells are in no order");
}

/** `A` is 1, `AA` is 27. */
const columnOf = (letters: string): number =>
  /^[A-Z]{1,3}$/.test(letters)
    ? Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
    : Number.NaN;

/** The types of cells: ECMA-376 part 1, 18.18.11. */
function cellText(cell: Element, { texts, isDay, is1904, isUncalculated }: Said): string {
  const type = cell["@t"] ?? "n";
  const value = child(cell, "v")["#text"] ?? "";
  // A result that is a text may have no characters.
  const isEmpty = value.trim() === "" && (type !== "str" || children(cell, "v").length === 0);
  if (children(cell, "f").length > 0 && type !== "e" && (isEmpty || isUncalculated))
    return unreadable(NO_RESULT);
  if (type === "inlineStr") return textIn(child(cell, "is"));
  if (type === "s") return texts[Number(value)] ?? unreadable("is a text that the workbook lacks");
  if (type === "b") return value === "1" ? TRUE : FALSE;
  if (isEmpty || type === "str" || type === "e") return value;
  if (type === "d") return dayText(new Date(/T[^Z+-]*$/.test(value) ? `${value}Z` : value));
  if (isDay[Number(cell["@s"] ?? 0)] !== true) return exact(value);
  const days = Number(value) - DAYS_TO_1970 + (is1904 ? DAYS_TO_1904 : 0);
  return dayText(new Date(days * 86_400_000));
}

const NO_RESULT =
  "is a formula without a result; open the workbook in a spreadsheet program and save it";
const DAYS_TO_1970 = 25_569;
const DAYS_TO_1904 = 1_462;

/** A text in one piece, or in pieces of different looks; without its phonetic reading. */
const textIn = (text: Element): string =>
  [text, ...children(text, "r")]
    .flatMap((piece) => children(piece, "t"))
    .map((piece) => piece["#text"] ?? "")
    .join("");

/** Which styles show a number as a day or a time: ECMA-376 part 1, 18.8.30, and formats of the writer's own. */
function dayStyles(styles: Element): boolean[] {
  const formats = new Map(
    children(child(styles, "numFmts"), "numFmt").map((format) => [
      format["@numFmtId"],
      // Without texts, colours and conditions.
      /[ymdhs]/i.test((format["@formatCode"] ?? "").replaceAll(/"[^"]*"|\\.|_.|\[[^\]]*\]/g, "")),
    ]),
  );
  return children(child(styles, "cellXfs"), "xf").map(
    ({ "@numFmtId": id = "0" }) =>
      formats.get(id) ?? /^(?:1[4-9]|2[0-2]|2[7-9]|3[0-6]|4[5-7]|5[0-8])$/.test(id),
  );
}

/** A day is a whole number, and exact; a time is a fraction of a day, and exact to the second. */
function dayText(date: Date): string {
  if (Number.isNaN(date.valueOf())) return unreadable("is no date that a calendar has");
  const seconds = new Date(Math.round(date.valueOf() / 1_000) * 1_000).toISOString();
  const [day = "", time = ""] = seconds.slice(0, 19).split("T");
  return time === "00:00:00" ? day : `${day} ${time}`;
}

/** An element of XML: its attributes (`@name`), its text, and by name the elements in it. */
interface Element {
  readonly [attribute: `@${string}`]: string;
  readonly "#text"?: string;
  readonly [name: string]: unknown;
}

const children = (element: Element, name: string): readonly Element[] =>
  (element[name] ?? []) as readonly Element[];

const child = (element: Element, name: string): Element => children(element, name)[0] ?? {};

const isTrue = (text: string | undefined): boolean => text === "1" || text === "true";

/** What a part refers to: the part's path from the archive's root, and the last word of the relation's type. */
function relatedTo(path: string, part: (path: string) => Element) {
  const [, folder = "", name = ""] = /^(.*\/)?(.*)$/.exec(path) ?? [];
  const relations = child(part(`${folder}_rels/${name}.rels`), "Relationships");
  return children(relations, "Relationship").map((relation) => ({
    id: relation["@Id"],
    type: relation["@Type"]?.split("/").at(-1),
    path: new URL(relation["@Target"] ?? "", `file:///${folder}`).pathname.slice(1),
  }));
}

async function openParser(): Promise<(xml: string) => Element> {
  // Loaded with the first workbook: most sites have none.
  const { XMLParser } = await import("fast-xml-parser");
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "@",
    alwaysCreateTextNode: true,
    removeNSPrefix: true,
    parseTagValue: false,
    trimValues: false,
    htmlEntities: true,
    processEntities: { enabled: true, maxExpandedLength: BYTES_MAX },
    isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
  });
  return (xml) => {
    if (xml.includes("<!DOCTYPE"))
      throw new FileFault("has a part that no spreadsheet program writes");
    try {
      return parser.parse(xml) as Element;
    } catch (error) {
      throw new FileFault(`is no workbook that can be read (${(error as Error).message})`);
    }
  };
}

/** What a spreadsheet shows and keeps of a number. */
const DIGITS = 15;
const EXPONENT_MAX = 20;

/** The number as its writer entered it, without an exponent; marked when that cannot be known. */
export function exact(text: string): string {
  const [, exponent = "0"] = text.split(/e/i);
  if (!Decimal.is(text) || Math.abs(Number(exponent)) > EXPONENT_MAX) return notExact(text);
  const number = Decimal.of(text);
  const digits = number
    .plain()
    .replace(/\D/g, "")
    .replace(/^0+|0+$/g, "");
  if (digits.length <= DIGITS) return number.fixed(0);
  const shown = Number(text).toPrecision(DIGITS);
  return Number(shown) === Number(text) ? Decimal.of(shown).plain() : notExact(text);
}

const notExact = (text: string): string =>
  unreadable(
    "is calculated in the workbook and has more digits than a spreadsheet shows; round it there (ROUND), or enter the number",
    text.slice(0, 40),
  );
