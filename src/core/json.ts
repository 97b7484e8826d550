import { Decimal } from "./decimal.ts";

export type Json =
  null | boolean | number | string | Decimal | readonly Json[] | { readonly [key: string]: Json };

/** Parses JSON with every number as a {@link Decimal} that keeps its digits. @throws SyntaxError */
export function parseExact(text: string): Json {
  return parseWith(text, (digits) => Decimal.of(digits)) as Json;
}

/**
 * Parses JSON in one pass: `number` makes a value of each number's digits as they were written, `other` of each other
 * value, after what it holds. @throws SyntaxError, what these throw
 */
export const parseWith = (
  text: string,
  number: (digits: string) => unknown,
  other: (value: unknown) => unknown = (value) => value,
): unknown =>
  (JSON.parse as ParseWithSource)(text, (_key, value, context) =>
    typeof value === "number" ? number(context.source ?? String(value)) : other(value),
  );

/** JSON text in which every Decimal keeps its digits. */
export function stringifyExact(value: unknown): string {
  return JSON.stringify(value);
}

/**
 * One text for one value: numbers by value (`1e2`, `100.00` and `100` are the same), members in the order of their
 * names, no white space; strings as `text` writes them, letter by letter when it is left out. A text that is no JSON, or
 * has a number out of range, is returned as it is.
 */
export function canonical(json: string, text: (value: string) => string = asItIs): string {
  try {
    return stringifyExact(ordered(parseExact(json), text));
  } catch {
    return json;
  }
}

const asItIs = (value: string): string => value;

function ordered(value: Json, text: (value: string) => string): Json {
  if (value instanceof Decimal) return Decimal.of(value.plain());
  if (isList(value)) return value.map((one) => ordered(one, text));
  if (typeof value === "string") return text(value);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value as Readonly<Record<string, Json>>);
  const sorted = members.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, member]) => [name, ordered(member, text)]));
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown;

/**
 * The elements of the array under the top-level member `name`, each as the exact text its sender wrote, and the text
 * with an empty array in its place. It relies on `text` being valid JSON (parse `rest`, and each element, to be sure).
 * Returns null when there is no such array.
 */
export function sliceArray(
  text: string,
  name: string,
): { readonly elements: string[]; readonly rest: string } | null {
  const start = valueStart(text, name, "[");
  if (start < 0) return null;
  const elements: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && depth > 0) depth--;
    else if (code === COMMA && depth === 0) {
      elements.push(text.slice(from, at).trim());
      from = at + 1;
    } else if (code === CLOSE_BRACKET) {
      const last = text.slice(from, at).trim();
      if (last !== "") elements.push(last);
      return { elements, rest: `${text.slice(0, start + 1)}${text.slice(at)}` };
    }
  }
  return null;
}

/** The text of the object under the top-level member `name`, exactly as its sender wrote it; null when there is none. */
export function sliceObject(text: string, name: string): string | null {
  const start = valueStart(text, name, "{");
  if (start < 0) return null;
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === OPEN_BRACE) depth++;
    else if (code === CLOSE_BRACE && --depth === 0) return text.slice(start, at + 1);
  }
  return null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Where the value of top-level member `name` opens with `bracket`, or -1. */
function valueStart(text: string, name: string, bracket: "[" | "{"): number {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = stringEnd(text, at);
      const isName = depth === 1 && text.slice(at + 1, end) === name;
      at = end;
      const opening = isName ? /^\s*:\s*([[{])/.exec(text.slice(at + 1, at + 100)) : null;
      if (opening?.[1] === bracket) return at + opening[0].length;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return -1;
}

/** The index of the quote that closes the string opening at `at`. */
function stringEnd(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end > 0) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
