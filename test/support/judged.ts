/** All records of a list through a mapping, with the cross-reference tables of the demo. */
import { join } from "node:path";
import { openTables } from "../../src/config/crossref.ts";
import { calendarOf } from "../../src/core/time.ts";
import type { Mapping, References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { NotMapped, Refused } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/record.ts";
import { mappings } from "../../mappings/index.ts";

const tables = openTables(join(import.meta.dirname, "../../config/crossref"));

/** Nothing is delivered yet, except what others wait for. */
const demoReferences: References = {
  currency: "USD",
  dayOf: calendarOf("America/Chicago"),
  find: () => null,
  counterpart: () => "00000000-0000-4000-8000-000000000001",
  row(table, key) {
    const row = tables.row(table, key);
    if (row === null) throw new NotMapped(table, key);
    return row;
  },
};

export function mappingNamed(name: string): Mapping {
  const mapping = mappings.find((one) => one.name === name);
  if (mapping === undefined) throw new Error(`no mapping ${name}`);
  return mapping;
}

export interface Verdict {
  readonly number: string;
  readonly document?: unknown;
  readonly skip?: string;
  readonly fault?: Fault;
  readonly amount?: Decimal | null;
  readonly gallons?: Decimal | null;
}

/** What becomes of a record, as it was parsed from JSON. */
export function judged(mapping: Mapping, record: unknown, references = demoReferences): Verdict {
  const input = mapping.input.parse(record);
  const number = mapping.number(input);
  try {
    const out = mapping.map(input, references) as object;
    if ("skip" in out) return { number, skip: String(out.skip) };
    const document = mapping.output.parse(out);
    return { number, document, ...mapping.figures(document) };
  } catch (error) {
    if (error instanceof Refused) return { number, fault: error.fault };
    throw error;
  }
}

export const sum = (values: readonly (Decimal | null | undefined)[]): Decimal =>
  Decimal.sum(values.map((value) => value ?? Decimal.zero));
