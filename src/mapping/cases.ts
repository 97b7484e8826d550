/**
 * Cases of a mapping: what a record becomes. A file holds one base and what each case changes of it, by JSON Pointer
 * (RFC 6901): `/record/status`, `/tables/items/ULSD/item`, `/document/lines/0/item`.
 */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { calendarOf } from "../core/time.ts";
import { type Mapping, type References, referencesBy, type Skip } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { ConfigurationError, Refused } from "../core/errors.ts";
import { type Json, parseExact, stringifyExact } from "../core/json.ts";
import { isGroup } from "../core/record.ts";
import { leavesOf, shownValue } from "./explain.ts";

/** A record with all that its mapping looks up, and what must become of it. */
export type Case = ReturnType<typeof caseOf>;

type Expected =
  | (Pick<z.output<typeof Whole>, "number" | "figures"> & { readonly document: Json })
  | { readonly skip: string }
  /** Members of the fault that must be so. */
  | { readonly refused: Readonly<Record<string, Json>> };

const row = z.record(z.string(), z.string());
const figure = z
  .string()
  .refine((digits) => Decimal.is(digits), "is not a decimal")
  .nullable();
const Whole = z.strictObject({
  record: z.custom<Json>((value) => value !== undefined),
  currency: z.string().default("USD"),
  timeZone: z.string().default("America/Chicago"),
  /** Rows by table and key. */
  tables: z.record(z.string(), z.record(z.string(), row)).default({}),
  /** The other side's ids by `KIND ID`. */
  counterparts: row.default({}),
  /** As a flow would set them. */
  options: z.custom<Json>().default({}),
  document: z.custom<Json>().optional(),
  number: z.string(),
  /** Digits; null: this kind of document has none. */
  figures: z.strictObject({ amount: figure, gallons: figure }),
});

const File = z.strictObject({
  mapping: z.string(),
  base: z.looseObject({}),
  cases: z.record(
    z.string(),
    z.strictObject({
      change: z.record(z.string(), z.custom<Json>()).default({}),
      without: z.array(z.string()).default([]),
      skip: z.string().optional(),
      refused: z.record(z.string(), z.custom<Json>()).optional(),
    }),
  ),
});

/** The cases of a mapping, by its name. @throws ConfigurationError when the file is not what it should be */
export function readCases(file: string) {
  try {
    const { mapping, base, cases } = File.parse(parseExact(readFileSync(file, "utf8")));
    return {
      mapping,
      cases: Object.entries(cases).map(([name, one]) => caseOf(name, base, one)),
    };
  } catch (error) {
    throw new ConfigurationError(
      `The cases ${file} cannot be read: ${saidBy(error)}.`,
      "Correct the file: docs/site-mappings.md says what stands in it.",
      error,
    );
  }
}

/** @throws Error that names the case */
function caseOf(
  name: string,
  base: Readonly<Record<string, unknown>>,
  { skip, refused, change, without }: z.output<typeof File>["cases"][string],
) {
  try {
    const { document, number, figures, ...rest } = Whole.parse(changed(base, change, without));
    const expected: Expected =
      skip !== undefined
        ? { skip }
        : refused !== undefined
          ? { refused }
          : { document: document as Json, number, figures };
    return { name, ...rest, expected };
  } catch (error) {
    throw new Error(`case ${name}: ${saidBy(error)}`, { cause: error });
  }
}

/** @param what the whole that the paths of a schema's complaints lead into */
function saidBy(error: unknown, what = ""): string {
  if (!(error instanceof z.ZodError)) return (error as Error).message;
  const whole = what === "" ? [] : [what];
  return error.issues
    .map(({ path, message }) => [[...whole, ...path].join("."), message])
    .map(([at, message]) => (at === "" ? message : `${at}: ${message}`))
    .join("; ");
}

/** A case's answers to what a mapping looks up. `read` hears of every cell that is looked at: `items.item`. */
export function referencesOf(
  {
    currency,
    timeZone,
    tables,
    counterparts,
  }: Omit<Case, "name" | "record" | "options" | "expected">,
  read: (cell: string) => void = () => {},
): References {
  const row = (table: string, key: string): Readonly<Record<string, string>> | null => {
    const cells = tables[table]?.[key];
    if (cells === undefined) return null;
    return new Proxy(cells, {
      get(row, column) {
        read(`${table}.${String(column)}`);
        return row[String(column)];
      },
    });
  };
  return referencesBy(
    { tables: { row }, currency, dayOf: calendarOf(timeZone) },
    (kind, id) => counterparts[`${kind} ${id}`] ?? null,
  );
}

/** What is otherwise than the case says, one line each; empty: the mapping holds it. */
export function runCase(
  mapping: Mapping,
  one: Case,
  read?: (cell: string) => void,
): readonly string[] {
  const { expected } = one;
  const got = resultOf(mapping, one, read);
  if ("refused" in expected) {
    if (!("refused" in got)) return [`expected a refusal, got ${inWords(got)}`];
    return differing(expected.refused, only(got.refused, expected.refused), "refused");
  }
  if ("skip" in expected)
    return "skip" in got && got.skip === expected.skip
      ? []
      : [`expected to be skipped (${expected.skip}), got ${inWords(got)}`];
  if (!("document" in got)) return [`expected a document, got ${inWords(got)}`];
  return [
    ...(expected.number === got.number
      ? []
      : [`number: expected ${expected.number}, got ${got.number}`]),
    ...figuresDiffering(expected.figures, got.figures),
    ...differing(expected.document, got.document, "document"),
  ];
}

type Got =
  | { readonly document: Json; readonly number: string; readonly figures: Figures }
  | { readonly skip: string }
  | { readonly refused: Json };
type Figures = Readonly<Record<"amount" | "gallons", Decimal | null>>;

/** What the mapping makes of a case's record. */
export function resultOf(given: Mapping, one: Case, read?: (cell: string) => void): Got {
  const options = given.options?.safeParse(one.options);
  if (options?.success === false) return doesNotFit("options", options.error);
  const mapping = options === undefined ? given : (given.using?.(options.data) ?? given);
  try {
    const record = mapping.input.parse(one.record);
    const number = mapping.number(record);
    const out = mapping.map(record, referencesOf(one, read)) as Skip | object;
    if ("skip" in out && typeof out.skip === "string") return { skip: out.skip };
    const document = mapping.output.parse(out);
    const figures = mapping.figures(document);
    return { document: parseExact(stringifyExact(document)), number, figures };
  } catch (error) {
    if (error instanceof Refused) return { refused: { ...error.fault } as unknown as Json };
    if (error instanceof z.ZodError) return doesNotFit("record", error);
    throw error;
  }
}

const doesNotFit = (what: string, error: z.ZodError): Got => ({
  refused: { code: "does-not-fit", message: saidBy(error, what) },
});

function inWords(got: Got): string {
  if ("document" in got) return "a document";
  if ("skip" in got) return `a skip (${got.skip})`;
  const { code, message } = got.refused as { code: string; message: string };
  return `a refusal (${code}: ${message})`;
}

const only = (value: Json, wanted: object): Json =>
  Object.fromEntries(Object.entries(value as object).filter(([name]) => name in wanted));

/** Values with their digits: 1.50 is not 1.5. */
function differing(expected: Json, got: Json, what: string): string[] {
  const [wanted, is] = [new Map(leavesOf(expected, what)), new Map(leavesOf(got, what))];
  return [...new Set([...wanted.keys(), ...is.keys()])].flatMap((path) => {
    const [one, other] = [wanted, is].map((leaves) =>
      leaves.has(path) ? shownValue(leaves.get(path)) + typeOf(leaves.get(path)) : "nothing",
    );
    return one === other ? [] : [`${path}: expected ${one}, got ${other}`];
  });
}

/** The text "1" is not the number 1. */
const typeOf = (value: unknown): string => (value instanceof Decimal ? " (a number)" : "");

function figuresDiffering(
  expected: Readonly<Record<"amount" | "gallons", string | null>>,
  got: Figures,
): string[] {
  return (["amount", "gallons"] as const).flatMap((name) => {
    const [wanted, is] = [expected[name], got[name]];
    const isSame = wanted === null ? is === null : is?.equals(Decimal.of(wanted)) === true;
    return isSame ? [] : [`${name}: expected ${wanted}, got ${is?.plain() ?? null}`];
  });
}

/** A copy with values set and removed. @throws Error for a pointer that leads nowhere */
function changed(
  base: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, Json>>,
  without: readonly string[],
): unknown {
  let made: unknown = base;
  for (const [pointer, value] of Object.entries(change))
    made = at(made, stepsOf(pointer), () => value);
  for (const pointer of without) made = at(made, stepsOf(pointer), () => undefined);
  return made;
}

function stepsOf(pointer: string): string[] {
  if (!pointer.startsWith("/")) throw new Error(`${pointer} is no JSON Pointer: it begins with /`);
  const steps = pointer.slice(1).split("/");
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function at(value: unknown, [step, ...rest]: readonly string[], make: () => unknown): unknown {
  if (step === undefined) return make();
  if (!isGroup(value)) throw new Error(`there is nothing at ${step}`);
  const inside = at(
    (value as Readonly<Record<string, unknown>>)[step] ?? (rest.length > 0 ? {} : null),
    rest,
    make,
  );
  if (Array.isArray(value)) {
    const list = value as readonly unknown[];
    const place = Number(step);
    if (!Number.isInteger(place) || place > list.length)
      throw new Error(`${step} is no place in a list`);
    return inside === undefined ? list.toSpliced(place, 1) : list.toSpliced(place, 1, inside);
  }
  const others = Object.entries(value).filter(([name]) => name !== step || inside !== undefined);
  const members = Object.fromEntries(others) as Record<string, unknown>;
  return inside === undefined ? members : { ...members, [step]: inside };
}
