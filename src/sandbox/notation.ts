/** The same numbers, instants and ids in another notation (readings `numbersWritten`, `timesWritten` and `idsWritten`). */
import type { Readings } from "./settings.ts";

const NUMBERS = { plain: null, padded, exponent };
const TIMES = { utc: null, offset, trimmed };
const IDS = { small: null, capitals: (id: string): string => id.toUpperCase() };

/** A string is left as it is: it may hold digits. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** A whole string that is an instant as the sandbox writes it; its end keeps it from being part of a text. */
const INSTANT = /"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z"/g;
const ID = /"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"/g;
const OFFSET_MS = 6 * 3_600_000;

/** The `nth` answer's JSON text as the readings have it written: with `alternating`, one notation after the other. */
export function written(
  text: string,
  nth: number,
  {
    numbersWritten,
    timesWritten,
    idsWritten,
  }: Pick<Readings, "numbersWritten" | "timesWritten" | "idsWritten">,
): string {
  const number = chosen(NUMBERS, numbersWritten, nth);
  const time = chosen(TIMES, timesWritten, nth);
  // Numbers with an exponent stay as they are.
  const numbers =
    number === null
      ? text
      : text.replaceAll(TOKENS, (token) => (/^-?[\d.]+$/.test(token) ? number(token) : token));
  const times =
    time === null
      ? numbers
      : numbers.replaceAll(INSTANT, (_, at: string, fraction: string = "") => time(at, fraction));
  const id = chosen(IDS, idsWritten, nth);
  return id === null ? times : times.replaceAll(ID, id);
}

const chosen = <Way>(ways: Readonly<Record<string, Way>>, reading: string, nth: number): Way => {
  const names = Object.keys(ways);
  return ways[reading === "alternating" ? (names[nth % names.length] as string) : reading] as Way;
};

/** `100` as `100.00`, `1.5` as `1.500`. */
function padded(number: string): string {
  return number.includes(".") ? `${number}00` : `${number}.00`;
}

/** `100` as `1e2`, `1.5` as `15e-1`, `0` as `0e0`. */
function exponent(number: string): string {
  const [whole = "", fraction = ""] = number.replace("-", "").split(".");
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, "");
  const mantissa = digits.replace(/0+$/, "") || "0";
  const power = mantissa === "0" ? 0 : digits.length - mantissa.length - fraction.length;
  return `${number.startsWith("-") ? "-" : ""}${mantissa}e${power}`;
}

function offset(time: string, fraction: string): string {
  const shifted = new Date(Date.parse(`${time}Z`) - OFFSET_MS).toISOString().slice(0, 19);
  return `"${shifted}${fraction}-06:00"`;
}

/** `.500` as `.5`, `.000` as nothing. */
function trimmed(time: string, fraction: string): string {
  return `"${time}${fraction.replace(/\.?0*$/, "")}Z"`;
}
