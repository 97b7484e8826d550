/** The same numbers in another notation (reading `numbersWritten`). */
import type { Readings } from "./readings.ts";

type Notation = Exclude<Readings["numbersWritten"], "alternating">;

/** A string is left as it is: it may hold digits. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** JSON text with its numbers written so; numbers with an exponent stay as they are. */
export function renumbered(text: string, notation: Notation): string {
  if (notation === "plain") return text;
  const write = notation === "padded" ? padded : withExponent;
  return text.replaceAll(TOKENS, (token) => (/^-?[\d.]+$/.test(token) ? write(token) : token));
}

/** `100` as `100.00`, `1.5` as `1.500`. */
const padded = (number: string): string => (number.includes(".") ? `${number}00` : `${number}.00`);

/** `100` as `1e2`, `1.5` as `15e-1`, `0` as `0e0`. */
function withExponent(number: string): string {
  const [whole = "", fraction = ""] = number.replace("-", "").split(".");
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, "");
  const mantissa = digits.replace(/0+$/, "") || "0";
  const exponent = mantissa === "0" ? 0 : digits.length - mantissa.length - fraction.length;
  return `${number.startsWith("-") ? "-" : ""}${mantissa}e${exponent}`;
}

/** What the `nth` answer is written in: with `alternating`, one notation after the other. */
export const notationOf = (reading: Readings["numbersWritten"], nth: number): Notation =>
  reading === "alternating" ? (NOTATIONS[nth % NOTATIONS.length] ?? "plain") : reading;

const NOTATIONS: readonly Notation[] = ["plain", "padded", "exponent"];
