import { Decimal } from "./decimal.ts";

export type Json =
  null | boolean | number | string | Decimal | readonly Json[] | { readonly [key: string]: Json };

/**
 * Parses JSON with every number as a {@link Decimal} that keeps its digits; of members of one name the last counts.
 * @throws SyntaxError for what is no JSON, RangeError for a number with an exponent of five digits
 */
export const parseExact = (text: string): Json =>
  parseWith(
    text,
    (digits) => Decimal.of(digits),
    (object) => object,
  ) as Json;

/**
 * Parses JSON in one pass: `numberOf` makes a value of each number's digits as they were written, `valueOf` of each object,
 * after what it holds. (`JSON.parse` with a reviver that is told the source does the same in more than twice the time.)
 * @throws SyntaxError for what is no JSON, and what these throw
 */
export function parseWith(
  text: string,
  numberOf: (digits: string) => unknown,
  valueOf: (object: object) => unknown,
): unknown {
  // What is no JSON ends here: the walk below relies on it.
  JSON.parse(text);
  let at = 0;
  return value();

  function value(): unknown {
    const sign = next();
    if (sign === OPEN_BRACE) return members();
    if (sign === OPEN_BRACKET) return elements();
    if (sign === QUOTE) return string();
    if (sign === LETTER_T) return word(true);
    if (sign === LETTER_F) return word(false);
    if (sign === LETTER_N) return word(null);
    return number();
  }

  function members(): unknown {
    const object: Record<string, unknown> = {};
    at++;
    for (let sign = next(); sign !== CLOSE_BRACE; sign = next()) {
      if (sign === COMMA) {
        at++;
        next();
      }
      const name = string();
      next();
      at++;
      const member = value();
      if (name === "__proto__") own(object, name, member);
      else object[name] = member;
    }
    at++;
    return valueOf(object);
  }

  function elements(): unknown {
    const list: unknown[] = [];
    at++;
    for (let sign = next(); sign !== CLOSE_BRACKET; sign = next()) {
      if (sign === COMMA) at++;
      list.push(value());
    }
    at++;
    return list;
  }

  function string(): string {
    const from = at;
    at = stringEnd(text, from) + 1;
    const inside = text.slice(from + 1, at - 1);
    if (inside.length < VIEW_FROM && !inside.includes("\\")) return inside;
    return JSON.parse(text.slice(from, at)) as string;
  }

  function number(): unknown {
    const from = at;
    while (isOfNumber(text.charCodeAt(at))) at++;
    return numberOf(text.slice(from, at));
  }

  function word<T>(meaning: T): T {
    at += String(meaning).length;
    return meaning;
  }

  /** The first sign that is no white space; `at` stands there. */
  function next(): number {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code > SPACE || Number.isNaN(code)) return code;
      at++;
    }
  }
}

/** A slice of so many characters or more is a view that keeps the whole page's text in memory (V8). */
const VIEW_FROM = 13;

/** As `JSON.parse` does: a name like any other. */
function own(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** Digits, `+`, `-`, `.`, `e`, `E`. */
const isOfNumber = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2e ||
  code === 0x2d ||
  code === 0x2b ||
  code === 0x65 ||
  code === 0x45;

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

/** The same of a value: what {@link canonical} makes of its {@link stringifyExact}, without a text in between. */
export function canonicalOf(value: unknown, text: (value: string) => string = asItIs): string {
  try {
    return stringifyExact(ordered(value, text));
  } catch {
    return stringifyExact(value);
  }
}

const asItIs = (value: string): string => value;

function ordered(value: unknown, text: (value: string) => string): unknown {
  if (value instanceof Decimal) return value.shortest();
  if (typeof value === "string") return text(value);
  if (typeof value === "number")
    return Number.isFinite(value) ? Decimal.of(String(value)).shortest() : null;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => ordered(one, text));
  if ("toJSON" in value && typeof value.toJSON === "function")
    return ordered(value.toJSON(""), text);
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members).sort();
  return Object.fromEntries(names.map((name) => [name, ordered(members[name], text)]));
}

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

const SPACE = 0x20;
const LETTER_T = 0x74;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
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
