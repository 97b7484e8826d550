import { Decimal } from "./decimal.ts";
import type { Lookout, Sighting } from "./shape.ts";

export type Json =
  null | boolean | number | string | Decimal | readonly Json[] | { readonly [key: string]: Json };

/** Null: it is no JSON. Its numbers are doubles. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

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
 * Parses JSON: `numberOf` makes a value of each number's digits as they were written, `valueOf` of each object, after what it
 * holds. `JSON.parse` makes everything else, and the digits are read beside it: a reviver that is told the source does the same
 * in five times the time. It is left what is seldom: members of one name, and names that begin with a digit, which stand first.
 * @throws SyntaxError for what is no JSON, and what these throw
 */
export function parseWith(
  text: string,
  numberOf: (digits: string) => unknown,
  valueOf: (object: object) => unknown,
): unknown {
  const parsed: unknown = JSON.parse(text);
  const { digits, members } = numbersIn(text);
  let [at, left] = [0, members];
  const whole = made(parsed);
  if (left === 0) return whole;
  return REVIVING.parse(text, (_, value, { source }) => {
    if (typeof value === "number") return numberOf(source);
    return isParent(value) && !Array.isArray(value) ? valueOf(value) : value;
  });

  function made(value: unknown): unknown {
    if (typeof value === "number") return numberOf(digits[at++] ?? "0");
    if (!isParent(value)) return value;
    if (Array.isArray(value)) {
      for (let place = 0; place < value.length; place++) value[place] = made(value[place]);
      return value;
    }
    for (const name in value) {
      left -= isDigit(name.charCodeAt(0)) ? Infinity : 1;
      const member = value[name];
      if (typeof member === "number" || isParent(member)) value[name] = made(member);
    }
    return valueOf(value);
  }
}

const isParent = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Present since Node 21; not yet in TypeScript's library. */
const REVIVING = JSON as unknown as {
  parse(
    text: string,
    revive: (name: string, value: unknown, context: { source: string }) => unknown,
  ): unknown;
};

/** The digits of each number of a text that is JSON, in its order, and how many members its objects have. */
function numbersIn(text: string): { digits: string[]; members: number } {
  const digits: string[] = [];
  let members = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === COLON) members++;
    else if (code === MINUS || isDigit(code)) {
      const from = at;
      while (isOfNumber(text.charCodeAt(at + 1))) at++;
      digits.push(text.slice(from, at + 1));
    }
  }
  return { digits, members };
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** Digits, `+`, `-`, `.`, `e`, `E`. */
const isOfNumber = (code: number): boolean =>
  isDigit(code) || code === POINT || code === MINUS || code === PLUS || (code | 0x20) === LETTER_E;

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
    return inOrder(parseExact(json), text) ?? json;
  } catch {
    return json;
  }
}

/** The same of a value: what {@link canonical} makes of its {@link stringifyExact}, without a text in between. */
export function canonicalOf(value: unknown, text: (value: string) => string = asItIs): string {
  try {
    return inOrder(value, text) ?? stringifyExact(value);
  } catch {
    return stringifyExact(value);
  }
}

const asItIs = (value: string): string => value;

/** Undefined for what JSON leaves out. Written at once: nothing is made of what it goes through. */
function inOrder(value: unknown, text: (value: string) => string): string | undefined {
  if (typeof value === "string") return JSON.stringify(text(value));
  if (value === null || typeof value !== "object")
    return typeof value === "number" && Number.isFinite(value)
      ? Decimal.of(String(value)).plain()
      : JSON.stringify(value);
  if (value instanceof Decimal) return value.plain();
  if (Array.isArray(value)) return `[${value.map((one) => inOrder(one, text) ?? "null").join()}]`;
  if ("toJSON" in value && typeof value.toJSON === "function")
    return inOrder(value.toJSON(""), text);
  let written = "";
  for (const { name, label } of orderOf(Object.keys(value))) {
    const member = inOrder((value as Readonly<Record<string, unknown>>)[name], text);
    if (member === undefined) continue;
    written += `${written === "" ? "" : ","}${label}${member}`;
  }
  return `{${written}}`;
}

interface Order {
  readonly names: readonly string[];
  readonly sorted: readonly { readonly name: string; readonly label: string }[];
}

/** By the first name: of documents of one kind, and of their lines, the same names come again and again. */
const orders = new Map<string, Order>();
const ORDERS_MAX = 1_000;

/** The names in their order, each with what is written before its value. */
function orderOf(names: readonly string[]): Order["sorted"] {
  const [first = ""] = names;
  const known = orders.get(first);
  const isSame = known?.names.length === names.length;
  if (isSame && names.every((name, at) => name === known.names[at])) return known.sorted;
  const sorted = names.toSorted().map((name) => ({ name, label: `${JSON.stringify(name)}:` }));
  if (orders.size >= ORDERS_MAX) orders.clear();
  orders.set(first, { names, sorted });
  return sorted;
}

/** Of a record: the text of each member that was asked for, as its sender wrote it; left out: it has no such member. */
export type Members = Readonly<Record<string, string>>;

interface SlicedArray {
  readonly elements: string[];
  /** Of each element the members that were asked for; null: it is no plain object, and must be parsed. */
  readonly members: readonly (Members | null)[];
  /** Of each element what its lookout saw; empty where there is none. */
  readonly found: readonly (readonly Sighting[])[];
  /** The text with an empty array in its place. */
  readonly rest: string;
}

/**
 * The elements of the array under the top-level member `name`, each as the exact text its sender wrote. `wanted`: members of
 * each element that are read while it is cut, so that it need not be parsed for them. An element that has them is valid JSON;
 * parse `rest`, and each other element, to be sure. `lookout`: what each is looked at by. Returns null when there is no such array.
 */
export function sliceArray(
  text: string,
  name: string,
  wanted: readonly string[] = [],
  lookout: Lookout | null = null,
): SlicedArray | null {
  const start = valueStart(text, name, "[");
  if (start < 0) return null;
  const elements: string[] = [];
  const members: (Members | null)[] = [];
  const isSkimmed = wanted.length > 0 || lookout !== null;
  const skim = isSkimmed ? skimmer(text, wanted, lookout) : null;
  const found: (readonly Sighting[])[] = [];
  for (let from = start + 1; ; from++) {
    while (text.charCodeAt(from) === SPACE) from++;
    const plain = skim?.(from) ?? null;
    const end = endOfElement(text, plain?.end ?? from);
    if (end < 0) return null;
    const isLast = text.charCodeAt(end) === CLOSE_BRACKET;
    const element = text.slice(from, end).trim();
    if (element !== "" || !isLast) {
      elements.push(element);
      const whole = plain?.end === from + element.length ? plain : null;
      members.push(whole?.members ?? null);
      if (lookout !== null) found.push(lookout.see(whole?.alike ?? null, element));
    }
    if (isLast)
      return { elements, members, found, rest: `${text.slice(0, start + 1)}${text.slice(end)}` };
    from = end;
  }
}

/** Where the element of an array that goes on at `from` ends: at a comma or the array's end; -1: it does not. */
function endOfElement(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && depth > 0) depth--;
    else if (depth === 0 && (code === COMMA || code === CLOSE_BRACKET)) return at;
  }
  return -1;
}

interface Skimmed {
  readonly members: Members;
  readonly end: number;
  /** For a lookout: the same for objects of the same fields, and of the same values that it does not know. */
  readonly alike: number | string;
}

/**
 * Walks an object in a text as strictly as `JSON.parse`, in half of its time, for it makes nothing of what it walks over. Null:
 * it is no object, no valid JSON, or has what is seldom and left to it (line ends, exponents, names with escapes, more than 100 levels).
 */
function skimmer(
  text: string,
  wanted: readonly string[],
  lookout: Lookout | null,
): (from: number) => Skimmed | null {
  const isPlain = !CONTROL.test(text);
  let escape = text.indexOf("\\");
  let found: Record<string, string> = {};
  let fields = 0;
  let unknown = "";
  const isLooked = lookout !== null;
  const lengths = lookout?.lengths ?? 0;

  return (from) => {
    if (!isPlain || text.charCodeAt(from) !== OPEN_BRACE) return null;
    found = {};
    fields = 0;
    unknown = "";
    const end = object(from, 0);
    const alike = unknown === "" ? fields : `${fields} ${unknown}`;
    return end < 0 ? null : { members: found, end, alike };
  };

  /** Each returns where what begins at `at` ends; -1: it is not what it should be. */
  function value(at: number, depth: number): number {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return string(at);
    if (code === OPEN_BRACE) return object(at, depth + 1);
    if (code === OPEN_BRACKET) return array(at, depth + 1);
    if (code === LETTER_T) return text.startsWith("true", at) ? at + 4 : -1;
    if (code === LETTER_F) return text.startsWith("false", at) ? at + 5 : -1;
    if (code === LETTER_N) return text.startsWith("null", at) ? at + 4 : -1;
    return number(at);
  }

  function object(from: number, depth: number): number {
    if (depth > LEVELS_MAX) return -1;
    let at = blanks(from + 1);
    if (text.charCodeAt(at) === CLOSE_BRACE) return at + 1;
    for (;;) {
      if (text.charCodeAt(at) !== QUOTE) return -1;
      const nameEnd = string(at);
      // A name with an escape may be one that is asked for.
      if (escape > at && escape < nameEnd) return -1;
      const colon = nameEnd < 0 ? -1 : blanks(nameEnd);
      if (text.charCodeAt(colon) !== COLON) return -1;
      const begin = blanks(colon + 1);
      const end = value(begin, depth);
      if (end < 0) return -1;
      if (depth === 0) keep(at + 1, nameEnd - 1, begin, end);
      if (isLooked) {
        // By the length and two signs of each name, and the sign that its value ends with where it is an object or array.
        const length = nameEnd - at;
        const last = text.charCodeAt(end - 1);
        const signs = (text.charCodeAt(at + (length >> 1)) << 8) ^ text.charCodeAt(nameEnd - 2);
        const kind = (last | SPACE) === CLOSE_BRACE ? last << 16 : 0;
        fields = Math.imul(fields ^ signs ^ kind ^ (length << 24), 0x01000193) | 0;
        if (last === QUOTE && (lengths & (1 << (length - 2))) !== 0)
          look(at + 1, nameEnd - 1, begin, end);
      }
      at = blanks(end);
      const code = text.charCodeAt(at);
      if (code === CLOSE_BRACE) return at + 1;
      if (code !== COMMA) return -1;
      at = blanks(at + 1);
    }
  }

  function array(from: number, depth: number): number {
    if (depth > LEVELS_MAX) return -1;
    let at = blanks(from + 1);
    if (text.charCodeAt(at) === CLOSE_BRACKET) return at + 1;
    for (;;) {
      const end = value(at, depth);
      if (end < 0) return -1;
      at = blanks(end);
      const code = text.charCodeAt(at);
      if (code === CLOSE_BRACKET) return at + 1;
      if (code !== COMMA) return -1;
      at = blanks(at + 1);
    }
  }

  /** Of members of one name the last counts. */
  function keep(nameFrom: number, nameTo: number, from: number, to: number): void {
    for (const name of wanted)
      if (name.length === nameTo - nameFrom && text.startsWith(name, nameFrom))
        found[name] = text.slice(from, to);
  }

  /** A value of a field by whose name's length it may be one of those that are known. */
  function look(nameFrom: number, nameTo: number, from: number, to: number): void {
    for (const { name, values } of lookout?.enums ?? [])
      if (name.length === nameTo - nameFrom && text.startsWith(name, nameFrom)) {
        const value = text.slice(from, to);
        if (!values.has(value)) unknown += value;
      }
  }

  function string(at: number): number {
    if (escape >= 0 && escape < at) escape = text.indexOf("\\", at);
    const end = text.indexOf('"', at + 1);
    if (end < 0) return -1;
    if (escape < 0 || escape > end) return end + 1;
    const last = stringEnd(text, at);
    return last < text.length && ESCAPED.test(text.slice(at + 1, last)) ? last + 1 : -1;
  }

  function number(from: number): number {
    let at = text.charCodeAt(from) === MINUS ? from + 1 : from;
    const whole = digits(at);
    if (whole === at || (whole > at + 1 && text.charCodeAt(at) === ZERO)) return -1;
    at = whole;
    if (text.charCodeAt(at) === POINT) {
      const fraction = digits(at + 1);
      if (fraction === at + 1) return -1;
      at = fraction;
    }
    return (text.charCodeAt(at) | 0x20) === LETTER_E ? -1 : at;
  }

  function digits(from: number): number {
    let at = from;
    for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE;)
      code = text.charCodeAt(++at);
    return at;
  }

  function blanks(from: number): number {
    let at = from;
    while (text.charCodeAt(at) === SPACE) at++;
    return at;
  }
}

/** Outside strings they are blanks, in strings they are no JSON. */
// oxlint-disable-next-line no-control-regex -- It is what is looked for.
const CONTROL = /[\u0000-\u001f]/;
const ESCAPED = /^(?:[^\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;
const LEVELS_MAX = 100;

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
const LETTER_E = 0x65;
const LETTER_T = 0x74;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
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
