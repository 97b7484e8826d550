/**
 * One cell of a table into one value. Only the forms that the configured language writes are read; anything else is
 * refused with the text in the message. Nothing is guessed: `1,234` is one and a bit or a thousand, depending on who
 * wrote it.
 */
import { Decimal } from "../../src/core/decimal.ts";

export type CellType = "text" | "decimal" | "date" | "stamp" | "flag";
export type Cell = string | boolean | Decimal | null;

/** How the writer of a file writes numbers and dates; ISO dates and stamps are read everywhere. */
export interface Locale {
  readonly decimal: "." | ",";
  /** `mdy`: 11/21/2026. `dmy`: 21.11.2026. */
  readonly dates: "mdy" | "dmy";
}

const TEXT_MAX = 4000;
const NUMBER_MAX = 40;
const POINT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const COMMA = /^-?(?:0|[1-9]\d*)(?:,\d+)?$/;
const ISO = /^(\d{4})-(\d\d)-(\d\d)$/;
const MDY = /^(\d\d)\/(\d\d)\/(\d{4})$/;
const DMY = /^(\d\d)\.(\d\d)\.(\d{4})$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(\.\d{1,6})?(?: ([AP]M))?$/;

/** The value of a cell; null when it is empty. @throws RangeError with what is wrong, as the end of a sentence. */
export function readCell(type: CellType, cell: string, locale: Locale): Cell {
  if (cell === "") return null;
  switch (type) {
    case "text":
      return text(cell);
    case "decimal":
      return decimal(cell, locale);
    case "date":
      return date(cell, locale);
    case "stamp":
      return stamp(cell, locale);
    case "flag":
      return flag(cell);
  }
}

/** Line breaks become LF, so that a file means the same however it was carried here; all else stays as it is. */
function text(cell: string): string {
  if (cell.length > TEXT_MAX)
    throw new RangeError(`is ${cell.length} characters long; ${TEXT_MAX} are read`);
  const control = controlIn(cell);
  if (control !== null)
    throw new RangeError(
      `holds the control character ${control}; the file is damaged or in another encoding`,
    );
  return cell.replaceAll("\r\n", "\n");
}

/** C0 and C1 controls other than tab and line ends, and the mark of a byte that could not be decoded. */
function controlIn(cell: string): string | null {
  for (const character of cell) {
    const code = character.codePointAt(0) ?? 0;
    const allowed = code === 0x09 || code === 0x0a || code === 0x0d;
    if ((code < 0x20 && !allowed) || (code >= 0x7f && code <= 0x9f) || code === 0xfffd)
      return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  }
  return null;
}

/** Digits stay as they are written. No thousands separators, exponents, currency signs or brackets. */
function decimal(cell: string, locale: Locale): Decimal {
  const form = locale.decimal === "," ? COMMA : POINT;
  if (cell.length > NUMBER_MAX || !form.test(cell)) {
    const mark = locale.decimal === "," ? "comma" : "point";
    throw new RangeError(`"${short(cell)}" is not a plain number with a decimal ${mark}`);
  }
  return Decimal.of(cell.replace(",", "."));
}

/** `YYYY-MM-DD`. */
function date(cell: string, locale: Locale): string {
  const iso = ISO.exec(cell);
  if (iso !== null) return calendar(cell, iso[1], iso[2], iso[3]);
  const local = (locale.dates === "dmy" ? DMY : MDY).exec(cell);
  if (local === null) {
    const form = locale.dates === "dmy" ? "dd.mm.yyyy" : "mm/dd/yyyy";
    throw new RangeError(`"${short(cell)}" is not a date (${form} or yyyy-mm-dd)`);
  }
  const [, first, second, year] = local;
  return locale.dates === "dmy"
    ? calendar(cell, year, second, first)
    : calendar(cell, year, first, second);
}

function calendar(cell: string, year = "", month = "", day = ""): string {
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const iso = `${year}-${month}-${day}`;
  if (Number(year) < 1900 || at.toISOString().slice(0, 10) !== iso)
    throw new RangeError(`"${cell}" is not a day of the calendar`);
  return iso;
}

/** ISO 8601 in UTC, with the fraction that was written: the writers known so far stamp in UTC without saying so. */
function stamp(cell: string, locale: Locale): string {
  const space = cell.indexOf(" ");
  const time = TIME.exec(cell.slice(space + 1));
  if (space < 0 || time === null)
    throw new RangeError(`"${short(cell)}" is not a date with a time`);
  const [, hour = "", minute = "", second = "", fraction = "", half] = time;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half === "PM" ? 12 : 0);
  const inRange = half === undefined || (Number(hour) >= 1 && Number(hour) <= 12);
  if (!inRange || hours > 23 || Number(minute) > 59 || Number(second) > 59)
    throw new RangeError(`"${cell}" is not a time of the day`);
  const day = date(cell.slice(0, space), locale);
  return `${day}T${String(hours).padStart(2, "0")}:${minute}:${second}${fraction}Z`;
}

function flag(cell: string): boolean {
  if (cell !== "0" && cell !== "1") throw new RangeError(`"${short(cell)}" is neither 1 nor 0`);
  return cell === "1";
}

function short(cell: string): string {
  return cell.length > 60 ? `${cell.slice(0, 60)}…` : cell;
}
