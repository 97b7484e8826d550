import { z } from "zod";
import { Decimal, withPoint } from "../../core/decimal.ts";
import { remembered } from "../../core/remembered.ts";
import { codePoint, guarded, unguarded } from "../../core/text.ts";
import { DAY_MS, dayBefore, dayOfDigits, MONTHS } from "../../core/time.ts";

/**
 * One cell of a table into one value, and one value into a cell. Only the forms that a profile names are read; anything
 * else is refused with the text in the message. Nothing is guessed: `1,234` is one and a bit or a thousand, depending
 * on who wrote it.
 */

/** A cell that cannot be read. The message is the end of a sentence with the cell in it; the reason is the same without. */
export class BadCell extends RangeError {
  readonly reason: string;

  constructor(reason: string, cell?: string) {
    super(cell === undefined ? reason : `"${short(cell)}" ${reason}`);
    this.reason = reason;
  }
}

const short = (cell: string): string => (cell.length > 60 ? `${cell.slice(0, 60)}…` : cell);

/* Days as files write them. */

/** By the token of a date's form. */
const PARTS: Readonly<Record<string, string>> = {
  yyyy: String.raw`(?<year>\d{4})`,
  yy: String.raw`(?<year>\d\d)`,
  cyy: String.raw`(?<year>[01]\d\d)`,
  MMMM: "(?<month>[A-Za-z]{3,9})",
  MMM: "(?<month>[A-Za-z]{3})",
  MM: String.raw`(?<month>\d\d)`,
  M: String.raw`(?<month>\d\d?)`,
  dd: String.raw`(?<day>\d\d)`,
  d: String.raw`(?<day>\d\d?)`,
  DDD: String.raw`(?<yearDay>\d{3})`,
  HH: String.raw`\d\d`,
  H: String.raw`\d\d?`,
  mm: String.raw`\d\d`,
  ss: String.raw`\d\d`,
  hh: String.raw`\d\d`,
  h: String.raw`\d\d?`,
  SSS: String.raw`\d+`,
  a: "[AaPp][Mm]",
};
/** `h` and `a` stand alone: those of a word are letters like others. */
const TOKEN =
  /yyyy|cyy|yy|MMMM|MMM|MM|M|DDD|dd|d|HH|H|mm|ss|SSS|(?<![A-Za-z])(?:hh?|a)(?![A-Za-z])|\[|\]|[^[\]]/g;
/** What two digits of a year may be in this century: 98 is a year of the last one, or an error. */
const SHORT_YEAR_MAX = 69;

/** Whether a form has a year, and a month and a day or a day of the year, each once; and none of them in what is not read. */
export function isDateForm(form: string): boolean {
  const bare = bareForm(form);
  const tokens = tokensOf(bare);
  const count = (pattern: RegExp): number => tokens.filter((one) => pattern.test(one)).length;
  const [months, days, yearDays] = [count(/^M/), count(/^d/), count(/^DDD/)];
  const isDay = yearDays === 0 ? months === 1 && days === 1 : yearDays === 1 && months + days === 0;
  const isTwice = tokensOf(form.slice(bare.length)).some((one) => /^(?:c?yy|M|d|DDD)/.test(one));
  return count(/^c?yy/) === 1 && isDay && !isTwice && !/[[\]]/.test(tokens.join(""));
}

/** Without what may follow and is not read. */
const bareForm = (form: string): string => form.replace(/\[[^[\]]*\]$/, "");
const tokensOf = (form: string): string[] => form.match(TOKEN) ?? [];

function datePattern(form: string): RegExp {
  const parts = tokensOf(form).map((token) => {
    if (token === "[") return "(?:";
    if (token === "]") return ")?";
    return PARTS[token] ?? escaped(token);
  });
  return new RegExp(`^${parts.join("")}$`);
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);

/** Days come again and again in a file. */
const KNOWN_MAX = 5_000;

/** A cell that two of the forms read as two days is neither. */
function dateReader({ dates }: CellForm): (cell: string) => string {
  const patterns = dates.map(datePattern);
  const called = dates.map((form) => form.replaceAll("M", "m")).join(" or ");
  return remembered((cell) => {
    const fits = patterns.map((pattern) => pattern.exec(cell)?.groups);
    const found = fits.flatMap((one) => (one === undefined ? [] : [calendarDay(one)]));
    const [day, other] = new Set(found.filter((one) => one !== null));
    if (found.length === 0) throw new BadCell(`is not a date (${called})`, cell);
    if (day === undefined) throw new BadCell("is not a day of the calendar", cell);
    if (other !== undefined) throw new BadCell(`is two days, by ${called}`, cell);
    return day;
  }, KNOWN_MAX);
}

/** `YYYY-MM-DD`; null: there is no such day. */
function calendarDay({
  year = "",
  month = "",
  day = "",
  yearDay,
}: Record<string, string>): string | null {
  const full = fullYear(year);
  if (full < 1900) return null;
  if (yearDay !== undefined) {
    // One that a year does not have is one of another year.
    const at = dayBefore(`${full}-01-01`, 1 - Number(yearDay));
    return at.startsWith(String(full)) ? at : null;
  }
  const word = `${month.slice(0, 1).toUpperCase()}${month.slice(1).toLowerCase()}`;
  const named = word.length === 3 ? MONTHS.indexOf(word) : MONTH_NAMES.indexOf(word);
  const number = /\d/.test(month) ? month : String(named + 1);
  return dayOfDigits(`${full}${number.padStart(2, "0")}${day.padStart(2, "0")}`);
}

const MONTH_NAMES =
  "January February March April May June July August September October November December".split(
    " ",
  );

/** `26` is 2026, `126` (as AS/400 has it) too; 0: it cannot be known. */
function fullYear(year: string): number {
  if (year.length === 4) return Number(year);
  if (year.length === 3) return 1900 + Number(year);
  return Number(year) > SHORT_YEAR_MAX ? 0 : 2000 + Number(year);
}

/** `2026-03-01` in `MM/dd/yyyy` is `03/01/2026`. Many documents are of few days. */
const dayIn = (form: string): ((iso: string) => string) =>
  remembered((iso) => {
    const [year = "", month = "", day = ""] = iso.split("-");
    const tokens = tokensOf(bareForm(form));
    if (tokens.includes("yy") && (!year.startsWith("20") || Number(year) > 2000 + SHORT_YEAR_MAX))
      throw new RangeError(`${iso} has no two digits for its year`);
    const values: Readonly<Record<string, string>> = {
      yyyy: year,
      yy: year.slice(2),
      cyy: String(Number(year) - 1900).padStart(3, "0"),
      MMMM: MONTH_NAMES[Number(month) - 1] ?? "",
      MMM: MONTHS[Number(month) - 1] ?? "",
      MM: month,
      M: month.replace(/^0/, ""),
      dd: day,
      d: day.replace(/^0/, ""),
      DDD: String((Date.parse(iso) - Date.parse(`${year}-01-01`)) / DAY_MS + 1).padStart(3, "0"),
    };
    return tokens.map((token) => values[token] ?? token).join("");
  });
/** By form: profiles have few. */
const dayWriters = remembered(dayIn);

/* How the writer of a file writes values. */

const sign = z.enum([".", ","]);

/** Not to be taken for a part of the number. */
const mark = z
  .string()
  .regex(/^[^\d\s.,()'-]{1,5}$/, "is a sign or a few letters, and no part of a number");

export const NumberSettings = z
  .strictObject({
    decimal: sign.describe("The decimal sign."),
    thousands: z
      .enum([",", ".", " ", "'"])
      .describe("What may stand between groups of three digits: 1,234.50."),
    parentheses: z.boolean().describe("(12.50) is less than nothing."),
    currency: mark.describe("May stand before or after the number: $."),
    trim: z.boolean().describe("Blanks may stand around the number."),
    leadingZeros: z
      .boolean()
      .describe(
        "Zeros may fill the number up (0012.50), and those beside the decimal sign may be missing (.5, 100.).",
      ),
    trailingMinus: z
      .union([z.boolean(), mark])
      .describe("12.50- is less than nothing; as a text: what stands there, CR."),
    plus: z
      .union([z.boolean(), mark])
      .describe("+12.50 and 12.50+ are more than nothing; as a text: what stands behind it, DR."),
    zero: z
      .string()
      .regex(/^[^\d\s]{1,10}$/, "is a sign or a few letters, and no number")
      .describe("What stands for nothing: -. With a currency it may stand beside it: $ -."),
    overpunch: z
      .boolean()
      .describe(
        "Of columns with decimals: the last digit has the sign, as COBOL writes it: 0012E is 125, 0012N is -125.",
      ),
  })
  .partial();

type NumberForm = z.infer<typeof NumberSettings>;
export type CellType = "text" | "decimal" | "date" | "flag" | "day" | "instant";
export type Cell = string | boolean | Decimal | null;

/** How the writer of a file writes values. ISO dates are read only where `dates` has them. */
export interface CellForm {
  /** A plain number is always read: nothing but digits, a minus before them and one decimal sign. A minus may be printed. */
  readonly numbers: NumberForm;
  /**
   * `MM/dd/yyyy`: made of `yyyy`, `yy` (2000 to 2069), `cyy` (the years since 1900), `MMM` (Jan), `MM`, `M`, `dd`, `d` and
   * whatever stands between them; what is in brackets may follow and is not read (`yyyy-MM-dd[ HH:mm]`). The first one is
   * written.
   */
  readonly dates: readonly string[];
  /** What stands in the file, and what it is in the record: `{ Gallons: gal }`. A flag is `1` or `0` in the record. */
  readonly values?: ReadonlyMap<string, string>;
  /** Small and capital letters are the same in `values`. */
  readonly anyCase?: boolean;
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

/** As our own files and the constants of profiles have values. */
export const ISO: CellForm = { numbers: {}, dates: ["yyyy-MM-dd"] };

/** What a column says of its cells counts before what its file says of all. */
export const formOf = (all: CellForm, own: Partial<CellForm>): CellForm => ({
  ...all,
  ...own,
  numbers: { ...all.numbers, ...own.numbers },
});

/* Reading: one reader for each type, made of a form once. */

type Read = (cell: string) => Cell;

const READERS: Readonly<Record<CellType, (form: CellForm) => Read>> = {
  text: textReader,
  instant: textReader,
  decimal: numberReader,
  date: dateReader,
  day: dateReader,
  flag: () => flag,
};

/** Not a character: it begins no text of a file. */
const UNREADABLE = "\uffff";

/** What stands for a cell of a workbook whose value cannot be known: it is refused with this end of a sentence. */
export const unreadable = (why: string, cell = ""): string =>
  `${UNREADABLE}${cell}${UNREADABLE}${why}`;

/** A cell as people see it: of one that is {@link unreadable}, what stands there. */
export const shownCell = (cell: string): string =>
  cell.startsWith(UNREADABLE) ? (cell.split(UNREADABLE)[1] ?? "") : cell;

/** What a workbook has for yes and no: no text, number or day. */
export const [TRUE, FALSE] = ["TRUE", "FALSE"].map((word) =>
  unreadable(`is ${word} in the workbook, which is no text, number or day`),
) as [string, string];

/** Gives the value of a cell; null when it is empty. What it gives throws {@link BadCell}. */
export function cellReader(type: CellType, form: CellForm): Read {
  const read = READERS[type](form);
  const { values, empty } = form;
  const word = values === undefined ? null : wordReader(values, form.anyCase === true);
  const isTrimmed = type === "decimal" && form.numbers.trim === true;
  return (whole) => {
    const cell = isTrimmed ? whole.trim() : whole;
    if (cell === "" || empty?.has(cell) === true) return null;
    if (cell.startsWith(UNREADABLE)) {
      if (type === "flag" && (cell === TRUE || cell === FALSE)) return cell === TRUE;
      const [, shown = "", why = ""] = cell.split(UNREADABLE);
      throw shown === "" ? new BadCell(why) : new BadCell(why, shown);
    }
    return read(word === null ? cell : word(cell));
  };
}

/** @throws BadCell */
export const readCell = (type: CellType, cell: string, form: CellForm): Cell =>
  cellReader(type, form)(cell);

/** Texts that are the same where small and capital letters are. */
export const foldedAs = (anyCase: boolean, text: string): string =>
  anyCase ? text.toLowerCase() : text;

function wordReader(values: ReadonlyMap<string, string>, anyCase: boolean) {
  const known = new Map([...values].map(([word, value]) => [foldedAs(anyCase, word), value]));
  const reason = `is none of the values that the profile knows (${[...values.keys()].join(", ")})`;
  return (cell: string): string => {
    const value = known.get(foldedAs(anyCase, cell));
    if (value === undefined) throw new BadCell(reason, cell);
    return value;
  };
}

const TEXT_MAX = 4000;
// oxlint-disable-next-line no-control-regex
const DAMAGE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffd]/;

/** Line breaks become LF, so that a file means the same however it was carried here; all else stays as it is. */
function textReader({ guarded: isGuarded, long }: CellForm): (cell: string) => string {
  return (whole) => {
    const cell = isGuarded === true ? unguarded(whole) : whole;
    if (cell.length > TEXT_MAX && long !== true)
      throw new BadCell(`is longer than the ${TEXT_MAX} characters that are read`);
    if (DAMAGE.test(cell))
      throw new BadCell(
        `holds the control character ${codePoint(DAMAGE.exec(cell)?.[0] ?? "")}; the file is damaged or in another encoding`,
      );
    return cell.includes("\r\n") ? cell.replaceAll("\r\n", "\n") : cell;
  };
}

const NUMBER_MAX = 40;
/** A plain number, by its decimal sign. */
const PLAIN = {
  ".": /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/,
  ",": /^-?(?:0|[1-9]\d*)(?:,\d+)?$/,
};

/**
 * Zoned decimals (signed overpunch): the last character by its digit. Mainframes write `{` to `R`; COBOL on PCs writes negative
 * digits as `p` to `y`. A plain digit has no sign.
 */
const OVERPUNCHED = { "": "{ABCDEFGHI", "-": "}JKLMNOPQRpqrstuvwxy" } as const;

/** `0012N` is `-00125`; what is no overpunched number stays as it is. */
function unpunched(cell: string): string {
  for (const [sign, characters] of Object.entries(OVERPUNCHED)) {
    const digit = cell === "" ? -1 : characters.indexOf(cell.slice(-1));
    if (digit >= 0) return `${sign}${cell.slice(0, -1)}${digit % 10}`;
  }
  return cell;
}

/** Digits stay as they are written. There are no exponents. */
function numberReader({ numbers, implied, negated }: CellForm): (cell: string) => Decimal {
  const { decimal = ".", thousands, trim: _, overpunch, zero, ...marks } = numbers;
  const isPunched = overpunch === true && implied !== undefined;
  const isPlain =
    implied === undefined &&
    thousands === undefined &&
    zero === undefined &&
    Object.keys(marks).length === 0;
  const mark = decimal === "," ? "comma" : "point";
  const reason =
    implied === undefined
      ? `is not a plain number with a decimal ${mark}`
      : "is not a number of nothing but digits";
  const valueOf = (digits: string): Decimal =>
    negated === true ? turned(digits) : Decimal.of(digits);
  // Most files have plain numbers, and millions of them.
  const plain = PLAIN[decimal];
  if (isPlain)
    return (cell) => {
      const number = plain.test(cell) ? cell : typed(cell);
      if (cell.length > NUMBER_MAX || !plain.test(number)) throw new BadCell(reason, cell);
      return valueOf(decimal === "," ? number.replace(",", ".") : number);
    };
  const pattern = numberPattern(numbers, implied);
  const filling = thousands === undefined ? null : new RegExp(groupSign(thousands), "g");
  return (cell) => {
    if (zero !== undefined && withoutCurrency(cell, numbers.currency) === zero) return Decimal.zero;
    const parts =
      cell.length > NUMBER_MAX ? null : pattern.exec(isPunched ? unpunched(cell) : typed(cell));
    const { open, close, before, inside, behind, plus, more, number = "" } = parts?.groups ?? {};
    const signs = [open, before, inside, behind].filter((one) => one !== undefined);
    const others = [plus, more].filter((one) => one !== undefined);
    if (
      parts === null ||
      (open === undefined) !== (close === undefined) ||
      signs.length + others.length > 1
    )
      throw new BadCell(reason, cell);
    const bare = withoutFilling(number, filling, decimal);
    const digits = (signs.length > 0 ? "-" : "") + bare;
    return valueOf(implied === undefined ? digits : withPoint(digits, implied));
  };
}

/** `− 100`, as reports print it, is `-100`. */
const typed = (cell: string): string => cell.replace(/^[-\u2212] ?/, "-").replace("\u2212", "-");

/** What may stand between groups of digits: of a blank and an apostrophe the ones that printers use, too. */
function groupSign(thousands: string): string {
  if (thousands === " ") return String.raw`[ \u00a0\u202f]`;
  return thousands === "'" ? String.raw`['\u2019]` : escaped(thousands);
}

/** `$ -` is `-`. */
const withoutCurrency = (cell: string, currency = ""): string =>
  (cell.startsWith(currency) ? cell.slice(currency.length) : cell).trim();

function numberPattern(numbers: NumberForm, implied: number | undefined): RegExp {
  const { decimal = ".", thousands, parentheses, currency, leadingZeros, trailingMinus } = numbers;
  const { plus = false } = numbers;
  const whole = leadingZeros === true ? String.raw`\d*` : String.raw`(?:0|[1-9]\d*)`;
  const grouped =
    thousands === undefined ? "" : String.raw`|[1-9]\d{0,2}(?:${groupSign(thousands)}\d{3})+`;
  const number =
    implied === undefined
      ? String.raw`(?=\D?\d)(?:${whole}${grouped})(?:${escaped(decimal)}\d${leadingZeros === true ? "*" : "+"})?`
      : String.raw`\d+`;
  const money = currency === undefined ? "" : `(?:${escaped(currency)} ?)?`;
  const behind = trailingMinus === true ? "-" : trailingMinus === false ? undefined : trailingMinus;
  const more = plus === true ? "+" : plus === false ? undefined : plus;
  return new RegExp(
    [
      // Excel writes $(12.50) where amounts are formatted as in accounts.
      parentheses === true ? String.raw`^${money}(?<open>\()?` : "^",
      `(?<before>-)?${plus === true ? String.raw`(?<plus>\+)?` : ""}${money}`,
      currency === undefined ? "" : "(?<inside>-)?",
      `(?<number>${number})`,
      currency === undefined ? "" : `(?: ?${escaped(currency)})?`,
      behind === undefined ? "" : `(?<behind> ?${escaped(behind)})?`,
      more === undefined ? "" : `(?<more> ?${escaped(more)})?`,
      parentheses === true ? String.raw`(?<close>\))?$` : "$",
    ].join(""),
  );
}

/** Digits with at most a point: `1,012.50` is `1012.50`, `.5` is `0.5`, and `100.` is `100`. */
function withoutFilling(number: string, filling: RegExp | null, decimal: string): string {
  const digits = (filling === null ? number : number.replaceAll(filling, "")).replace(decimal, ".");
  return digits
    .replace(/^0+(?=\d)/, "")
    .replace(/^\./, "0.")
    .replace(/\.$/, "");
}

/** With the other sign, and the same digits; nothing has none. */
const turned = (digits: string): Decimal =>
  Decimal.of(
    digits.startsWith("-") ? digits.slice(1) : /[1-9]/.test(digits) ? `-${digits}` : digits,
  );

function flag(cell: string): boolean {
  if (cell !== "0" && cell !== "1") throw new BadCell("is neither 1 nor 0", cell);
  return cell === "1";
}

/* Writing. */

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
      return dayWriters(form.dates[0] ?? "yyyy-MM-dd")(value);
    case "text":
    case "instant":
    case "decimal":
    case "flag":
      return form.guarded === true ? guarded(written(value)) : written(value);
  }
}

/** All digits the source wrote, but no exponent: not every importer reads one. */
function digitsOf(value: Decimal, { numbers, implied, negated }: CellForm): string {
  const digits = (negated === true ? turned(value.fixed(0)) : value).fixed(0);
  if (implied === undefined) return numbers.decimal === "," ? digits.replace(".", ",") : digits;
  const [, decimals = ""] = digits.split(".");
  if (/[1-9]/.test(decimals.slice(implied)))
    throw new RangeError(`${digits} has more than the ${implied} decimals that the file has`);
  const [whole = "", some = ""] = digits.split(".");
  const written = `${whole}${some.slice(0, implied).padEnd(implied, "0")}`;
  if (numbers.overpunch !== true) return written;
  const sign = written.startsWith("-") ? "-" : "";
  const last = OVERPUNCHED[sign].charAt(Number(written.slice(-1)));
  return written.slice(sign.length, -1) + last;
}

/** A text has a character that cannot be in a file. */
export class Unprintable extends RangeError {}

/** @throws Unprintable for a character that no reader of tables can be trusted with; nothing is changed silently */
function written(value: string): string {
  const bad = value.isWellFormed() ? UNPRINTABLE.exec(value)?.[0] : "\uFFFD";
  if (bad === undefined) return value;
  throw new Unprintable(`has a character that cannot be in a file (${codePoint(bad)})`);
}

/** Control characters but tab and line breaks. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/;
