/** The same instants in another notation (reading `timesWritten`). */
import type { Readings } from "./readings.ts";

type Notation = Exclude<Readings["timesWritten"], "alternating">;

/** A whole string that is an instant as the sandbox writes it; its end keeps it from being part of a text. */
const INSTANT = /"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z"/g;
const OFFSET_MS = 6 * 3_600_000;

/** JSON text with its instants written so. */
export function retimed(text: string, notation: Notation): string {
  if (notation === "utc") return text;
  return text.replaceAll(INSTANT, (_, time: string, fraction: string = "") =>
    notation === "offset"
      ? `"${shifted(time)}${fraction}-06:00"`
      : `"${time}${trimmed(fraction)}Z"`,
  );
}

const shifted = (time: string): string =>
  new Date(Date.parse(`${time}Z`) - OFFSET_MS).toISOString().slice(0, 19);

/** `.500` as `.5`, `.000` as nothing. */
const trimmed = (fraction: string): string => fraction.replace(/\.?0*$/, "");

/** What the `nth` answer is written in: with `alternating`, one notation after the other. */
export const timesOf = (reading: Readings["timesWritten"], nth: number): Notation =>
  reading === "alternating" ? (NOTATIONS[nth % NOTATIONS.length] ?? "utc") : reading;

const NOTATIONS: readonly Notation[] = ["utc", "offset", "trimmed"];
