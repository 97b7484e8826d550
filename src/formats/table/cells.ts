import { Decimal } from "../../core/decimal.ts";
import { guarded, unguarded } from "../../core/text.ts";

/**
 * Days as files write them. A form is made of `yyyy`, `yy` (2000 to 2099), `MM`, `M`, `dd`, `d` and whatever stands
 * between them; what is in brackets may follow and is not read (`yyyy-MM-dd[ HH:mm]`).
 */

interface DateForm {
  /** `YYYY-MM-DD`. @throws RangeError as the end of a sentence */
  readonly read: (cell: string) => string;
  /** In the first form. */
  readonly write: (day: string) => string;
}

const PARTS: Readonly<Record<string, string>> = {
  yyyy: "(?<year>\\d{4})",
  yy: "(?<year>\\d\\d)",
  MM: "(?<month>\\d\\d)",
  M: "(?<month>\\d\\d?)",
  dd: "(?<day>\\d\\d)",
  d: "(?<day>\\d\\d?)",
  HH: "\\d\\d",
  H: "\\d\\d?",
  mm: "\\d\\d",
  ss: "\\d\\d",
};
const TOKEN = /yyyy|yy|MM|M|dd|d|HH|H|mm|ss|\[|\]|[^[\]]/g;

/** Whether a form has a year, a month and a day, each once. */
export function isDateForm(form: string): boolean {
  const tokens = tokensOf(form.replace(/\[[^[\]]*\]$/, ""));
  const count = (pattern: RegExp): number => tokens.filter((one) => pattern.test(one)).length;
  return (
    count(/^y/) === 1 && count(/^M/) === 1 && count(/^d/) === 1 && !/[[\]]/.test(tokens.join(""))
  );
}

const tokensOf = (form: string): string[] => form.match(TOKEN) ?? [];
const made = new Map<string, DateForm>();

/** @throws RangeError from `read`: it is none of these forms, or no day of the calendar */
function dateForm(forms: readonly string[]): DateForm {
  const key = forms.join("|");
  const known = made.get(key);
  if (known !== undefined) return known;
  const patterns = forms.map(patternOf);
  const called = forms.map((form) => form.replaceAll("M", "m")).join(" or ");
  const [first = "yyyy-MM-dd"] = forms;
  const form: DateForm = {
    read(cell) {
      for (const pattern of patterns) {
        const { year, month = "", day = "" } = pattern.exec(cell)?.groups ?? {};
        if (year !== undefined) return calendar(cell, year, month, day);
      }
      throw new RangeError(`"${cell.slice(0, 60)}" is not a date (${called})`);
    },
    write: (day) => dayIn(first, day),
  };
  made.set(key, form);
  return form;
}

function patternOf(form: string): RegExp {
  const parts = tokensOf(form).map((token) => {
    if (token === "[") return "(?:";
    if (token === "]") return ")?";
    return PARTS[token] ?? token.replace(/[.*+?^${}()|\\/-]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join("")}$`);
}

function calendar(cell: string, year: string, month: string, day: string): string {
  const full = year.length === 2 ? `20${year}` : year;
  // A day that a month does not have is one of the next month.
  const at = new Date(Date.UTC(Number(full), Number(month) - 1, Number(day)));
  const isDay = at.getUTCMonth() === Number(month) - 1 && at.getUTCDate() === Number(day);
  if (Number(full) < 1900 || !isDay) throw new RangeError(`"${cell}" is not a day of the calendar`);
  return `${full}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

/** `2026-03-01` in `MM/dd/yyyy` is `03/01/2026`. */
function dayIn(form: string, iso: string): string {
  const [year = "", month = "", day = ""] = iso.split("-");
  if (form.includes("yy") && !form.includes("yyyy") && !year.startsWith("20"))
    throw new RangeError(`${iso} has no two digits for its year`);
  const values: Readonly<Record<string, string>> = {
    yyyy: year,
    yy: year.slice(2),
    MM: month,
    M: month.replace(/^0/, ""),
    dd: day,
    d: day.replace(/^0/, ""),
  };
  return tokensOf(form.replace(/\[[^[\]]*\]$/, ""))
    .map((token) => values[token] ?? token)
    .join("");
}

/*
 * One cell of a table into one value, and one value into a cell. Only the forms that a profile names are read; anything
 * else is refused with the text in the message. Nothing is guessed: `1,234` is one and a bit or a thousand, depending
 * on who wrote it.
 */

export type CellType = "text" | "decimal" | "date" | "flag" | "day" | "instant";
export type Cell = string | boolean | Decimal | null;

/** How the writer of a file writes values. ISO dates are read only where `dates` has them. */
export interface CellForm {
  readonly decimal: "." | ",";
  /** `MM/dd/yyyy`, see {@link dateForm}; the first one is written. */
  readonly dates: readonly string[];
  /** What stands in the file, and what it is in the record: `{ Gallons: gal }`. A flag is `1` or `0` in the record. */
  readonly values?: ReadonlyMap<string, string>;
  /** So many of a number's last digits are decimals, without a sign for it: 3 reads `0023457` as 23.457. */
  readonly implied?: number;
  /** The sign is the other way round in the file. */
  readonly negated?: boolean;
  /** Text that a spreadsheet would run has an apostrophe before it. */
  readonly guarded?: boolean;
  /** Texts of any length are read: we wrote them. */
  readonly long?: boolean;
  /** Texts that mean an empty cell: `N/A`. */
  readonly empty?: ReadonlySet<string>;
}

const TEXT_MAX = 4000;
const NUMBER_MAX = 40;
const POINT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const COMMA = /^-?(?:0|[1-9]\d*)(?:,\d+)?$/;
const DIGITS = /^-?\d+$/;

/** Not a character: it begins no text of a file. */
const UNREADABLE = "\uffff";

/** What stands for a cell of a workbook whose value cannot be known: it is refused with this end of a sentence. */
export const unreadable = (why: string): string => `${UNREADABLE}${why}`;

/** The value of a cell; null when it is empty. @throws RangeError with what is wrong, as the end of a sentence. */
export function readCell(type: CellType, cell: string, form: CellForm): Cell {
  if (cell.startsWith(UNREADABLE)) throw new RangeError(cell.slice(1));
  if (cell === "" || form.empty?.has(cell) === true) return null;
  const known = form.values === undefined ? cell : worded(cell, form.values);
  switch (type) {
    case "text":
    case "instant":
      return text(form.guarded === true ? unguarded(known) : known, form.long === true);
    case "decimal":
      return decimal(known, form);
    case "date":
    case "day":
      return dateForm(form.dates).read(known);
    case "flag":
      return flag(known);
  }
}

function worded(cell: string, values: ReadonlyMap<string, string>): string {
  const value = values.get(cell);
  if (value !== undefined) return value;
  throw new RangeError(
    `"${short(cell)}" is none of the values that the profile knows (${[...values.keys()].join(", ")})`,
  );
}

/** Line breaks become LF, so that a file means the same however it was carried here; all else stays as it is. */
function text(cell: string, isLong: boolean): string {
  if (cell.length > TEXT_MAX && !isLong)
    throw new RangeError(`is ${cell.length} characters long; ${TEXT_MAX} are read`);
  if (DAMAGE.test(cell))
    throw new RangeError(
      `holds the control character ${codeOf(DAMAGE.exec(cell)?.[0] ?? "")}; the file is damaged or in another encoding`,
    );
  return cell.includes("\r\n") ? cell.replaceAll("\r\n", "\n") : cell;
}

// oxlint-disable-next-line no-control-regex
const DAMAGE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffd]/;

const codeOf = (character: string): string =>
  `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Digits stay as they are written. No thousands separators, exponents, currency signs or brackets. */
function decimal(cell: string, { decimal: sign, implied, negated }: CellForm): Decimal {
  const form = implied !== undefined ? DIGITS : sign === "," ? COMMA : POINT;
  if (cell.length > NUMBER_MAX || !form.test(cell)) {
    const mark = sign === "," ? "comma" : "point";
    const wanted =
      implied === undefined
        ? `a plain number with a decimal ${mark}`
        : `a number of nothing but digits`;
    throw new RangeError(`"${short(cell)}" is not ${wanted}`);
  }
  const plain = sign === "," ? cell.replace(",", ".") : cell;
  const digits = implied === undefined ? plain : pointed(cell, implied);
  return negated === true ? turned(digits) : Decimal.of(digits);
}

/** `0023457` with 3 decimals is `23.457`. */
function pointed(cell: string, implied: number): string {
  const minus = cell.startsWith("-") ? "-" : "";
  const digits = cell.slice(minus.length).padStart(implied + 1, "0");
  const whole = digits.slice(0, digits.length - implied).replace(/^0+(?=\d)/, "");
  return `${minus}${whole}${implied === 0 ? "" : `.${digits.slice(-implied)}`}`;
}

/** With the other sign, and the same digits; nothing has none. */
const turned = (digits: string): Decimal =>
  Decimal.of(
    digits.startsWith("-") ? digits.slice(1) : /[1-9]/.test(digits) ? `-${digits}` : digits,
  );

function flag(cell: string): boolean {
  if (cell !== "0" && cell !== "1") throw new RangeError(`"${short(cell)}" is neither 1 nor 0`);
  return cell === "1";
}

/**
 * The cell of a value; null: it has none. Days of the calendar and instants must be such already.
 * @throws RangeError when the form has no room for it, as the end of a sentence
 */
export function writeCell(type: CellType, value: unknown, form: CellForm): string | null {
  if (value === null || value === undefined) return null;
  const plain = plainOf(type, value as string | boolean | Decimal, form);
  if (form.values === undefined) return plain;
  for (const [written, meant] of form.values) if (meant === plain) return written;
  throw new RangeError(`"${short(plain)}" has no word in the profile's values`);
}

function plainOf(type: CellType, value: string | boolean | Decimal, form: CellForm): string {
  if (value instanceof Decimal) return digitsOf(value, form);
  if (typeof value === "boolean") return value ? "1" : "0";
  switch (type) {
    case "date":
    case "day":
      return dateForm(form.dates).write(value);
    case "text":
    case "instant":
    case "decimal":
    case "flag":
      return form.guarded === true ? guarded(written(value)) : written(value);
  }
}

/** All digits the source wrote, but no exponent: not every importer reads one. */
function digitsOf(value: Decimal, { decimal: sign, implied, negated }: CellForm): string {
  const digits = (negated === true ? turned(value.fixed(0)) : value).fixed(0);
  if (implied === undefined) return sign === "," ? digits.replace(".", ",") : digits;
  const [, decimals = ""] = digits.split(".");
  if (/[1-9]/.test(decimals.slice(implied)))
    throw new RangeError(`${digits} has more than the ${implied} decimals that the file has`);
  const [whole = "", some = ""] = digits.split(".");
  return `${whole}${some.slice(0, implied).padEnd(implied, "0")}`;
}

/** A text has a character that cannot be in a file. */
export class Unprintable extends RangeError {}

/** @throws Unprintable for a character that no reader of tables can be trusted with; nothing is changed silently */
function written(value: string): string {
  const bad = value.isWellFormed() ? UNPRINTABLE.exec(value)?.[0] : "\uFFFD";
  if (bad === undefined) return value;
  throw new Unprintable(`has a character that cannot be in a file (${codeOf(bad)})`);
}

/** Control characters but tab and line breaks. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/;

const short = (cell: string): string => (cell.length > 60 ? `${cell.slice(0, 60)}…` : cell);
