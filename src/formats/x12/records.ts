/** What the readers of transaction sets share: elements by their place, and changes with their faults. */
import type { Change } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import type { Fault } from "../../core/fault.ts";
import { stringifyExact } from "../../core/json.ts";
import type { X12Options } from "./config.ts";
import type { Segment, TransactionSet } from "./syntax.ts";
import { dayOf, explicitDecimal, impliedDecimals } from "./values.ts";

export interface Reading {
  readonly options: X12Options;
  /** ISO 4217. */
  readonly currency: string;
  /** The file's name, for people. */
  readonly file: string;
}

/** The records of one set that is without faults. @throws Refused when nothing of it can be taken */
export type SetReader = (reading: Reading, set: TransactionSet) => Change[];

/** `BIG02`: element 2; null: it is empty. */
export const at = (segment: Segment | undefined, place: number): string | null => {
  const value = segment?.elements[place - 1]?.trim() ?? "";
  return value === "" ? null : value;
};

/** The first segment of this name, where element 1 is one of these; of any, where none is named. */
export const first = (
  segments: readonly Segment[],
  id: string,
  ...qualifiers: readonly string[]
): Segment | undefined =>
  qualifiers.length === 0
    ? segments.find((segment) => segment.id === id)
    : qualifiers
        .map((qualifier) => segments.find((one) => one.id === id && at(one, 1) === qualifier))
        .find((one) => one !== undefined);

export const all = (segments: readonly Segment[], id: string): Segment[] =>
  segments.filter((segment) => segment.id === id);

/** Each loop begins with a segment of this name, and ends before the next one or a segment that ends all loops. */
export function loops(
  segments: readonly Segment[],
  id: string,
  endedBy: readonly string[],
): { readonly before: Segment[]; readonly loops: Segment[][]; readonly after: Segment[] } {
  const start = segments.findIndex((segment) => segment.id === id);
  if (start === -1) return { before: [...segments], loops: [], after: [] };
  const length = segments.slice(start).findIndex((segment) => endedBy.includes(segment.id));
  const end = length === -1 ? segments.length : start + length;
  const found: Segment[][] = [];
  for (const segment of segments.slice(start, end))
    if (segment.id === id) found.push([segment]);
    else found.at(-1)?.push(segment);
  return { before: segments.slice(0, start), loops: found, after: segments.slice(end) };
}

/**
 * CTT01 is the number of lines (IT1 of an 810, LIN of an 832), where the set has a CTT.
 * @throws Refused where it says another number: lines are missing, or there are too many
 */
export function expectCount(segments: readonly Segment[], lines: number): void {
  const told = at(first(segments, "CTT"), 1);
  if (told !== null && money(told)?.plain() !== String(lines))
    throw refused("lines-counted", `CTT01 says ${told} lines, and there are ${lines}`, "CTT01");
}

/**
 * A code that decides what the figures mean is one of those that are known here; an empty one is none.
 * @throws Refused for any other: `message` says what it means
 */
export function expectKnown(
  segment: Segment | undefined,
  place: number,
  known: readonly string[],
  { code, message }: { readonly code: string; readonly message: string },
): void {
  const value = at(segment, place);
  if (segment === undefined || value === null || known.includes(value)) return;
  const field = `${segment.id}${String(place).padStart(2, "0")}`;
  throw refused(code, `${field} is ${value}: ${message}`, field);
}

export const day = (text: string | null): string | null => (text === null ? null : dayOf(text));
export const money = (text: string | null): Decimal | null =>
  text === null ? null : explicitDecimal(text);
export const cents = (text: string | null): Decimal | null =>
  text === null ? null : impliedDecimals(text, 2);

export const sumOf = (values: readonly (Decimal | null)[]): Decimal =>
  Decimal.sum(values.flatMap((value) => (value === null ? [] : [value])));

/** The code of the product among the pairs that begin at an element; without ours, the first. */
export function productIn(
  segment: Segment | undefined,
  from: number,
  wanted: string,
): string | null {
  const pairs = Array.from({ length: 10 }, (_, pair) => from + 2 * pair).map((place) => ({
    qualifier: at(segment, place),
    code: at(segment, place + 1),
  }));
  return pairs.find(({ qualifier }) => qualifier === wanted)?.code ?? null;
}

/** What the site calls the partner's unit. @throws Refused */
export function unitIn({ units }: X12Options, code: string | null): string | null {
  if (code === null) return null;
  const [unit] = Object.entries(units).find(([, known]) => known === code) ?? [];
  return unit === undefined ? code : (BOOKS[unit] ?? unit);
}

/** Units as the records of books call them. */
const BOOKS: Readonly<Record<string, string>> = { ltr: "l", mt: "t" };

/** The code of a party. A name alone identifies nobody. */
export const codeOf = (n1: Segment | undefined): string | null => at(n1, 4);

export const placeOf = ({ file }: Reading, set: TransactionSet, segment?: Segment): string =>
  `${file} set ${set.id} ${set.control} segment ${(segment ?? set.segments[0])?.at ?? set.at}`;

export const recordOf = (id: string, origin: string, record: unknown): Change => ({
  id,
  version: null,
  text: stringifyExact(record),
  origin,
});

/** Stands for what could not be read, with everything that came of it. */
export const faulty = (
  id: string | null,
  origin: string,
  set: TransactionSet,
  fault: Fault,
): Change => ({
  id: id === null || id.length > ID_MAX ? origin : id,
  version: null,
  text: stringifyExact({
    set: set.segments.map(({ id, elements }) => [id, ...elements]),
    code: fault.code,
    message: fault.message,
  }),
  origin,
  fault,
});

const ID_MAX = 200;

export const refused = (code: string, message: string, field: string): Refused =>
  new Refused({
    code,
    message,
    next: "Ask the partner to correct it and to send it again under a new control number.",
    field,
  });

/** @throws Refused where it is missing */
export function needed<T>(value: T | null | undefined, field: string): T {
  if (value !== null && value !== undefined) return value;
  throw refused("missing", `${field} is missing`, field);
}
