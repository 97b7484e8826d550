/**
 * The entries of a ZIP archive, within limits: a workbook is one, and a small archive may hold gigabytes. Sizes are checked
 * as they are declared and as they are, and every byte against its checksum.
 */
import { crc32, inflateRawSync } from "node:zlib";
import { Decimal } from "../../core/decimal.ts";
import { zipped } from "../../core/zip.ts";
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
 * One sheet of an Excel workbook (.xlsx) as rows of texts. A workbook keeps numbers as doubles: 2.3456 may stand in it as
 * 2.3456000000000001. Excel shows 15 digits, and so many are exact; a number that needs more is marked as not exact.
 */

/** Larger ones are no price sheets, and would be read into memory whole. */
export const WORKBOOK_BYTES_MAX = 5_000_000;
/** Rows times columns of the sheet as it is laid out: cells far apart make a large one. */
const CELLS_MAX = 500_000;
const COLUMNS_MAX = 1_000;

/**
 * The rows that are neither empty nor hidden; `line` is the row's number. Numbers have a decimal point, days are
 * `yyyy-MM-dd`, with a time `yyyy-MM-dd HH:mm:ss`; true and false are {@link TRUE} and {@link FALSE}. `sheet`: its name, or
 * its number from 1. `hidden`: how many rows a person or a filter has hidden.
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
  const parts = unzipped(bytes, (name) => /\.xml(?:\.rels)?$/.test(name));
  const isUncalculated = UNCALCULATED.test(parts.get("xl/workbook.xml")?.toString() ?? "");
  for (const [name, bytes] of parts) {
    if (!/<(?:\w+:)?sheetData\b/.test(bytes.toString())) continue;
    const xml = bytes.toString().replaceAll(PREFIX, "<$1");
    checkSize(xml);
    parts.set(name, Buffer.from(withTexts(xml, isUncalculated)));
  }
  const cells = await cellsOf(zipped(parts), sheet);
  let hidden = 0;
  const rows = cells.flatMap((row, at) => {
    const texts = row.map(textOf);
    const isHidden = texts.includes(HIDDEN);
    if (isHidden) hidden++;
    return isHidden || texts.every((text) => text === "") ? [] : [{ line: at + 1, cells: texts }];
  });
  return { rows, hidden };
}

/** Every row is as wide as the widest: a single cell far away makes a sheet of millions. @throws FileFault */
function checkSize(xml: string): void {
  if (/<!DOCTYPE|\sr\s*=\s*(?:"[^"]*&|'[^']*&)/.test(xml))
    throw new FileFault("has a sheet that no spreadsheet program writes");
  let rows = 0;
  let columns = 0;
  for (const [, letters = "", digits = ""] of xml.matchAll(/\sr\s*=\s*["']([A-Z]*)(\d*)/g)) {
    rows = Math.max(rows, Number(digits));
    columns = Math.max(columns, columnOf(letters));
  }
  // Cells need not say where they stand; then they are counted.
  const unplaced = xml.match(/<c[\s/>]/g)?.length ?? 0;
  if (columns > COLUMNS_MAX || rows * columns > CELLS_MAX || unplaced > CELLS_MAX)
    throw new FileFault(
      `has a sheet of ${rows} rows and ${columns} columns; ${CELLS_MAX} cells are read`,
    );
}

/** Programs that are not Excel write the namespace before each element: `<x:row>`. */
const PREFIX = /<(\/?)\w+:(?=(?:row|c|f|v|is|t)[\s/>])/g;
/** What the writer says of a workbook whose results are not its formulas': 0, or those of the template. */
const UNCALCULATED = /<(?:\w+:)?calcPr\b[^>]*\bfullCalcOnLoad=["'](?:1|true)["']/;
/** What stands in place of the cells of a row that is hidden. */
const HIDDEN = unreadable("is hidden");
const HIDDEN_ROW =
  /(<row\b(?=[^>]*\bhidden=["'](?:1|true)["'])[^>]*\br=["'](\d+)["'][^>]*?)(?:\/>|>.*?<\/row>)/gs;

/**
 * Errors (`#N/A`) and formulas without a result as texts: the library takes both for empty cells. Hidden rows are marked: it
 * takes them for others.
 */
const withTexts = (xml: string, isUncalculated: boolean): string =>
  xml
    .replaceAll(
      HIDDEN_ROW,
      (_, open: string, line: string) =>
        `${open}><c r="A${line}" t="str"><v>${HIDDEN}</v></c></row>`,
    )
    .replaceAll(ERROR, '$1t="str"')
    .replaceAll(FORMULA, (whole, open: string, result: string | undefined) => {
      // A result that is a text may have no characters.
      const isEmpty = !result?.trim() && (result === undefined || !/\st=["']str["']/.test(open));
      if (!isEmpty && !isUncalculated) return whole;
      return `${open.replace(/\st=["']\w*["']/, "")} t="str"><v>${unreadable(NO_RESULT)}</v></c>`;
    });

const ERROR = /(<c\s(?:[^>]*\s)?)t=["']e["']/g;
const FORMULA =
  /(<c\b[^>]*)><f\b[^>]*(?:\/>|>[^<]*<\/f>)(?:<v(?:\s[^>]*)?>([^<]*)<\/v>|<v\s*\/>)?<\/c>/g;
const NO_RESULT =
  "is a formula without a result; open the workbook in a spreadsheet program and save it";

/** `A` is 1, `AA` is 27. */
const columnOf = (letters: string): number =>
  Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);

type Value = string | boolean | Date | Digits | null;

/** What stands in the file for a number. */
class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

async function cellsOf(bytes: Buffer, sheet: string | number): Promise<Value[][]> {
  // Loaded with the first workbook: most sites have none.
  const { readSheet, SheetNotFoundError } = await import("read-excel-file/universal");
  // A buffer of Node may be a piece of a larger one.
  const whole = new Uint8Array(bytes).buffer;
  try {
    const options = { trim: false, parseNumber: (text: string) => new Digits(text) };
    return (await readSheet(whole, sheet, options)) as Value[][];
  } catch (error) {
    if (error instanceof SheetNotFoundError)
      throw new FileFault(`has no sheet ${typeof sheet === "number" ? sheet : `"${sheet}"`}`);
    throw new FileFault(`is no workbook that can be read (${(error as Error).message})`);
  }
}

function textOf(value: Value): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? TRUE : FALSE;
  return value instanceof Digits ? exact(value.text) : dayText(value);
}

/** A day is a whole number, and exact; a time is a fraction of a day, and exact to the second. */
function dayText(date: Date): string {
  if (Number.isNaN(date.valueOf())) return unreadable("is no date that a calendar has");
  const seconds = new Date(Math.round(date.valueOf() / 1_000) * 1_000).toISOString();
  const [day = "", time = ""] = seconds.slice(0, 19).split("T");
  return time === "00:00:00" ? day : `${day} ${time}`;
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
