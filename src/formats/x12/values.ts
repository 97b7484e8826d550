/** Values of elements as text and back. No number passes through a double. */
import { Decimal } from "../../core/decimal.ts";
import type { Element } from "./elements.ts";

/** `123` of `N2` is 1.23; null: it is not digits with an optional sign. */
export function impliedDecimals(text: string, places: number): Decimal | null {
  const [, sign = "", digits] = /^(-?)(\d+)$/.exec(text) ?? [];
  if (digits === undefined) return null;
  const whole = digits.padStart(places + 1, "0");
  const at = whole.length - places;
  const integer = whole.slice(0, at).replace(/^0+(?=\d)/, "");
  return Decimal.of(`${sign}${integer}${places === 0 ? "" : `.${whole.slice(at)}`}`);
}

/** `N2` of 1.23 is `123`. @throws RangeError for a value with more decimals */
export function withoutPoint(value: Decimal, places: number): string {
  if (!value.round(places).equals(value))
    throw new RangeError(`is ${value.text}, which has more than ${places} decimals`);
  const digits = value.round(places).fixed(places).replace(".", "");
  return digits.replace(/^(-?)0+(?=\d)/, "$1");
}

/** An `R` with or without a point (`.5`, `12.`, `-3.10`); null: it is none. Exponents are refused. */
export function explicitDecimal(text: string): Decimal | null {
  const [, sign = "", integer = "", fraction = ""] = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text) ?? [];
  if (integer === "" && fraction === "") return null;
  const whole = integer.replace(/^0+(?=\d)/, "") || "0";
  return Decimal.of(`${sign === "-" ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`);
}

/** `20261118` as `2026-11-18`; null: it is no day of the calendar. */
export function dayOf(text: string): string | null {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return null;
  const at = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const shown = `${year}-${month}-${day}`;
  return at.toISOString().startsWith(shown) ? shown : null;
}

/** `2026-11-18` as `20261118`. @throws RangeError */
export function dateOf(day: string): string {
  const date = day.replaceAll("-", "");
  if (dayOf(date) !== day) throw new RangeError(`is "${day}", which is no day`);
  return date;
}

/** Of a composite of codes and numbers, whatever separates them. */
export const componentsOf = (value: string): string[] => value.split(/[^A-Za-z0-9.-]/);

/** HHMM, HHMMSS, and up to hundredths of a second. */
const isTime = (text: string): boolean =>
  /^(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d(?:\d{1,2})?)?$/.test(text);

/** The codes of data element 723 that this connector tells: what is wrong with an element. */
export const elementErrors = {
  missing: "1",
  tooMany: "3",
  tooShort: "4",
  tooLong: "5",
  badCharacter: "6",
  badCode: "7",
  badDate: "8",
  badTime: "9",
} as const;

/** Why a value does not fit its element, as a code of data element 723; null: it fits. `most`: its greatest length. */
export function faultOf(value: string, { type, min }: Element, most: number): string | null {
  if (/[\p{Cc}\ufffd]/u.test(value)) return elementErrors.badCharacter;
  if (type === "DT") return dayOf(value) === null ? elementErrors.badDate : null;
  if (type === "TM") return isTime(value) ? null : elementErrors.badTime;
  const isNumber = type === "N0" || type === "N2" || type === "R";
  if (isNumber) {
    const number = type === "R" ? explicitDecimal(value) : impliedDecimals(value, 0);
    if (number === null) return elementErrors.badCharacter;
  }
  const text = type === "C" ? (componentsOf(value)[0] ?? "") : value;
  const length = isNumber ? value.replace(/[^\d]/g, "").length : text.length;
  if (length > most) return elementErrors.tooLong;
  return length < min ? elementErrors.tooShort : null;
}
