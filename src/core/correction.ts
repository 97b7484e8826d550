/** Corrections of single fields of a record. Pure: what was received is never changed, a copy of it is (ADR 0007). */
import { Decimal } from "./decimal.ts";
import { type Json, parseExact, stringifyExact } from "./json.ts";

export interface FieldCorrection {
  /** The way to a value, members and places from 1, as people see it: `lines.1.product`. */
  readonly field: string;
  /** What was received; null: the field was empty. */
  readonly was: string | null;
  readonly value: string;
}

export interface Leaf {
  readonly field: string;
  readonly value: null | boolean | number | string | Decimal;
}

/** Every single value of a record with the way to it; empty ones included. */
export function leavesIn(value: Json, way = ""): Leaf[] {
  if (isGroup(value))
    return Object.entries(value).flatMap(([name, one]) =>
      leavesIn(one as Json, joined(way, Array.isArray(value) ? String(Number(name) + 1) : name)),
    );
  return [{ field: way, value }];
}

/**
 * The text with every correction whose field still holds what was received when it was corrected; the text itself where
 * there is none. @throws SyntaxError when it is no JSON
 */
export function corrected(text: string, corrections: readonly FieldCorrection[]): string {
  if (corrections.length === 0) return text;
  const all = new Map(corrections.map((one) => [one.field, one]));
  return stringifyExact(written(parseExact(text), "", all));
}

function written(value: Json, way: string, all: ReadonlyMap<string, FieldCorrection>): Json {
  if (Array.isArray(value))
    return value.map((one: Json, at) => written(one, joined(way, String(at + 1)), all));
  if (isGroup(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        written(one as Json, joined(way, name), all),
      ]),
    );
  const one = all.get(way);
  return one !== undefined && one.was === value ? one.value : value;
}

const isGroup = (value: Json): value is object & Json =>
  typeof value === "object" && value !== null && !(value instanceof Decimal);

const joined = (way: string, name: string): string => (way === "" ? name : `${way}.${name}`);
