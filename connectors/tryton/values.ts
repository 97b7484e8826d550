/**
 * Values as Tryton's JSON-RPC writes them. Money is a `Decimal` with its digits, a day is `YYYY-MM-DD`, an instant is
 * UTC with all of its microseconds: a JavaScript Date would cut them, and a walk by `write_date` would loop or skip.
 */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { parseWith } from "../../src/core/json.ts";

/** A value as it travels: of a class that JSON lacks. */
interface Wired {
  readonly __class__: string;
  readonly [field: string]: string | number;
}

/** For a Date field: `YYYY-MM-DD`. @throws RangeError */
export function day(text: string): Wired {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? unfit(text, "a day");
  return {
    __class__: "date",
    year: Number(year),
    month: Number(month),
    day: Number(date),
  };
}

/** For a Timestamp or DateTime field: `2026-11-21T09:10:11.425559`, UTC, as answers give it. @throws RangeError */
export function stamp(text: string): Wired {
  const [, date = "", hour, minute, second, fraction = ""] =
    /^(.{10})T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?Z?$/.exec(text) ?? unfit(text, "a stamp");
  return {
    ...day(date),
    __class__: "datetime",
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    microsecond: Number(fraction.padEnd(6, "0")),
  };
}

/**
 * For a Float field (quantities): Tryton keeps it in a double, so digits that a double would change are refused.
 * @throws Refused
 */
export function float(value: Decimal): unknown {
  const kept = Decimal.of(String(Number(value.text)));
  if (kept.equals(value)) return value.toJSON();
  throw new Refused({
    code: "too-many-digits",
    message: `Tryton would keep the quantity ${value.text} as ${kept.text}`,
    next: "Correct the quantity where the document comes from: no meter reads so many digits.",
  });
}

/** A number field of an answer: floats come as Decimal, but a computed 0 comes as an integer. */
export const exact = (value: unknown): Decimal =>
  value instanceof Decimal ? value : Decimal.of(String(value));

/** JSON text for Tryton. @throws RangeError for a number with a fraction: only a Decimal keeps its digits */
export function encode(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, made: unknown) {
    const given = this[key];
    if (given instanceof Decimal) return { __class__: "Decimal", decimal: given.text };
    if (typeof given === "number" && !Number.isSafeInteger(given))
      return unfit(String(given), "exact");
    return made;
  });
}

/**
 * What Tryton's JSON text says: ids and counts as integers, Decimals and floats as Decimal, days and stamps as text.
 * @throws SyntaxError
 */
export const decode = (text: string): unknown =>
  parseWith(text, (all) => (/^-?\d{1,15}$/.test(all) ? Number(all) : Decimal.of(all)), plain);

function plain(value: object): unknown {
  if (!("__class__" in value)) return value;
  const fields = value as Fields;
  const name = fields["__class__"];
  if (name === "Decimal") return Decimal.of(fields["decimal"] as string);
  if (name === "date") return dayText(fields);
  if (name === "datetime") return stampText(fields);
  return fields;
}

const dayText = (fields: Fields): string =>
  `${digits(fields, 4, "year")}-${digits(fields, 2, "month")}-${digits(fields, 2, "day")}`;

const stampText = (fields: Fields): string =>
  `${dayText(fields)}T${digits(fields, 2, "hour")}:${digits(fields, 2, "minute")}:` +
  `${digits(fields, 2, "second")}.${digits(fields, 6, "microsecond")}`;

const digits = (fields: Fields, length: number, name: string): string =>
  (fields[name] as number).toString().padStart(length, "0");

type Fields = Readonly<Record<string, unknown>>;

function unfit(text: string, what: string): never {
  throw new RangeError(`"${text}" is not ${what}`);
}
