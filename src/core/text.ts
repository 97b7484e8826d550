/** Texts that people take for the same one, or cannot tell apart. Pure. */
import type { Decimal } from "./decimal.ts";

/** As people read it: without case, outer blanks and repeated blanks, whichever way its accents are composed. */
export const folded = (text: string): string => inPlain(text).toLowerCase();

/** Its beginning, at most so long in UTF-16, without half a sign at its end and without blanks outside. */
export const beginningOf = (text: string, most: number): string =>
  text
    .slice(0, most)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trim();

/**
 * Two values that differ, as a sentence may show them beside each other: as they are where people see the difference;
 * else in quotation marks, with a name for every sign that hides it. Never the same text twice.
 */
export function distinctly(one: string, other: string): readonly [one: string, other: string] {
  if (one === other) return [one, "another one, which reads the same"];
  if (inPlain(one) !== inPlain(other)) return [one, other];
  const [ours, theirs] = [Array.from(one), Array.from(other)];
  const least = Math.min(ours.length, theirs.length);
  let from = 0;
  while (from < least && ours[from] === theirs[from]) from++;
  let end = 0;
  while (end < least - from && ours.at(-1 - end) === theirs.at(-1 - end)) end++;
  return [named(ours, from, end), named(theirs, from, end)];
}

/** In quotation marks, what is neither in the first `from` signs nor in the last `end` by its names. */
function named(signs: readonly string[], from: number, end: number): string {
  const till = signs.length - end;
  const shown = signs.map((sign, at) => (at >= from && at < till ? nameOf(sign) : sign));
  return `"${shown.join("")}"`;
}

/** `é<U+00E9>`; what prints nothing of its own by its name alone. */
function nameOf(sign: string): string {
  const known = NAMES[sign];
  if (known !== undefined) return `<${known}>`;
  if (/^[\x21-\x7E]$/.test(sign)) return sign;
  const code = `<${codePoint(sign)}>`;
  return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(sign) ? `${sign}${code}` : code;
}

/** `U+0007` */
export const codePoint = (sign: string): string =>
  `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

const NAMES: Readonly<Record<string, string>> = {
  " ": "space",
  "\u00A0": "no-break space",
  "\u202F": "narrow no-break space",
  "\u200B": "zero-width space",
  "\t": "tab",
  "\n": "line break",
  "\r": "carriage return",
};

/** Signs of other scripts and of typesetting that look like one of the keyboard. */
const TWINS = new Map(
  [
    ["АВЕЅІЈКМНОРСТУХаесіјорѕухԁһ", "ABESIJKMHOPCTYXaecijopsyxdh"],
    ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo"],
    ["‘’‚‛′ʼ`´“”„″", `''''''''""""`],
  ].flatMap(([alike, plain]) =>
    Array.from(alike as string, (sign, at) => [sign, (plain as string)[at] as string] as const),
  ),
);

/** What is left of a text for the eye: two texts with the same rest look alike. */
const inPlain = (text: string): string =>
  Array.from(
    text
      .normalize("NFKC")
      .replaceAll(/\p{Cf}/gu, "")
      .replaceAll(/[\s\p{Cc}]+/gu, " ")
      .replaceAll(/[\p{Pd}\u2212]/gu, "-")
      .trim(),
    (sign) => TWINS.get(sign) ?? sign,
  ).join("");

/* Text in files that people open in a spreadsheet. What would run as a formula there gets an apostrophe before it, and
   what looks guarded already gets one more, so that every text reads back as it was. Numbers are not text. */

/** What a spreadsheet takes for the start of a formula, in both widths (OWASP ASVS 1.2.10, CWE-1236). */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** The text as it may stand in a cell. */
export const guarded = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

/** The text that {@link guarded} was given. */
export const unguarded = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;

/** One text for one value: money with its cents; a unit price, and what is finer than cents, with every digit. */
export const inCents = (amount: Decimal): string => {
  const cents = amount.round(2);
  return cents.equals(amount) ? cents.fixed(2) : amount.plain();
};

const SIGNS: Readonly<Record<string, string>> = { USD: "$", EUR: "€", GBP: "£" };

/** `$20,712.42`, from digits; a currency without a sign of its own stands behind. */
export function money(amount: string, currency: string): string {
  const [, minus = "", whole = "", rest = ""] = /^(-?)(\d+)(.*)$/.exec(amount) ?? [];
  if (whole === "") return `${amount} ${currency}`;
  const shown = grouped(`${whole}${rest}`);
  const sign = SIGNS[currency];
  return sign === undefined ? `${minus}${shown} ${currency}` : `${minus}${sign}${shown}`;
}

/** An amount in a sentence, which knows its currency or not: `$20,712.42`, `-1,204.55`. */
export const amountText = (amount: Decimal, currency = ""): string =>
  money(inCents(amount), currency).trimEnd();

/** The party beside a document's number; null where the number begins with it: a party's is its code, a price's begins with its terminal. */
export const partyBeside = (number: string, party: string | null): string | null =>
  party !== null && number.startsWith(party) ? null : party;

/** `1204.55` as `1,204.55`. */
export const grouped = (digits: string): string =>
  digits.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ","));

/** As a sentence begins. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The order of two texts by code units: the same on every machine. */
export const byText = (one: string, other: string): number =>
  one < other ? -1 : one > other ? 1 : 0;

/** `1 document`, `2 documents` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** Is it a UUID as it is written, in letters of either case? */
export const isUuid = (text: string): boolean => UUID.test(text);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
