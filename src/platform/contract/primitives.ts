/**
 * Building blocks of the platform's schemas. Responses are read with `parseExact`, so every number in them is a
 * Decimal, and they are read with tolerance: unknown fields survive, unknown enum values pass (specification part 9,
 * rule 3). Requests are checked to the letter.
 */
import { z } from "zod";
import { Decimal } from "../../core/decimal.ts";
import { defined } from "../../core/defined.ts";
import { usualId, usualInstant } from "../../core/keys.ts";

/** Money, prices and quantities of a response, with the digits the platform wrote: but for the noise of sums in doubles. */
export const decimal = z
  .custom<Decimal>((value) => value instanceof Decimal, { error: "must be a number" })
  .overwrite((value) => (value instanceof Decimal ? value.withoutNoise() : value));

/** A count of a response, as a JS number. Quantities are not counts: they enter exact sums and stay Decimals. */
export const integer = decimal
  .refine((value) => Number.isSafeInteger(Number(value.text)) && value.isInteger, {
    error: "must be a whole number",
  })
  .transform((value) => Number(value.text));

/**
 * A nullable field of a response. A missing one reads as null: fields that v1 gained later are absent from older
 * payloads.
 */
export const orNull = <T extends z.ZodType>(schema: T) => z.nullable(schema).default(null);

export const text = z.string();
export const textOrNull = orNull(text);
export const decimalOrNull = orNull(decimal);
export const integerOrNull = orNull(integer);

/** Any UUID, whatever its version digit (the platform does not promise RFC 9562 variants), as it is kept. */
export const id = z.guid().overwrite(usualId);
export const idOrNull = orNull(id);

/**
 * ISO 8601 with time and zone, in whichever of its notations; it stays text, so that no fraction digit is lost. What comes
 * after reads one notation.
 */
export const timestamp = text.overwrite(usualInstant).check(z.iso.datetime({ offset: true }));
export const timestampOrNull = orNull(timestamp);

/** What most records have: an id, when it was made, and its last change. */
export const record = { id, createdAt: timestamp, updatedAt: timestamp };

/** A value of `V`, or one that v1 has gained since. */
type Open<V extends string> = V | (string & {});

/** An enum of a response: every string passes, the type completes the known ones; see {@link isKnown}. */
export function openEnum<const V extends string>(known: readonly V[]): z.ZodType<Open<V>> {
  const schema = text.meta({ description: `${known.join(", ")}; v1 may gain others.` });
  knownValues.set(schema, new Set(known.map((value) => JSON.stringify(value))));
  return schema;
}

const knownValues = new WeakMap<object, ReadonlySet<string>>();

/** The values that an enum of a response is known to have, as JSON has them; null: it is none. */
export const knownIn = (schema: unknown): ReadonlySet<string> | null =>
  typeof schema === "object" && schema !== null ? (knownValues.get(schema) ?? null) : null;

export function isKnown<V extends string>(known: readonly V[], value: string): value is V {
  return (known as readonly string[]).includes(value);
}

/** A number in a request: mappings write Decimals, a JSON body carries JS numbers. */
export type Numeric = number | Decimal;

export const toDecimal = (value: Numeric): Decimal =>
  typeof value === "number" ? Decimal.of(String(value)) : value;

interface Limits {
  readonly min?: number;
  /** Exclusive lower limit. */
  readonly gt?: number;
  readonly max?: number;
  readonly integer?: true;
}

/** A number of a request; limits are compared exactly. The meta data is what JSON Schema says of them. */
export const numeric = (limits: Limits = {}) =>
  z
    .custom<Numeric>((value) => value instanceof Decimal || Number.isFinite(value), {
      error: "must be a number",
      abort: true,
    })
    .superRefine((value, context) => {
      const breach = breachOf(value, limits);
      if (breach !== null) context.addIssue({ code: "custom", message: breach });
    })
    .meta({
      type: limits.integer ? "integer" : "number",
      ...defined({ minimum: limits.min, exclusiveMinimum: limits.gt, maximum: limits.max }),
    });

function breachOf(number: Numeric, { min, gt, max, integer }: Limits): string | null {
  const value = toDecimal(number);
  if (integer && !value.isInteger) return "must be a whole number";
  if (min !== undefined && value.compare(toDecimal(min)) < 0) return `must be at least ${min}`;
  if (gt !== undefined && value.compare(toDecimal(gt)) <= 0) return `must be greater than ${gt}`;
  if (max !== undefined && value.compare(toDecimal(max)) > 0) return `must be at most ${max}`;
  return null;
}

export const latitude = numeric({ min: -90, max: 90 });
export const longitude = numeric({ min: -180, max: 180 });
export const percent = numeric({ min: 0, max: 100 });

/** Text of at most `max` UTF-16 units. Zod's own `max` counts code points, which lets longer text pass. */
const upTo = (max: number) =>
  z
    .string()
    .refine((value) => value.length <= max, { error: `must have at most ${max} characters` })
    .meta({ maxLength: max });

/** A required text of a request: at least one character. */
export const required = (max: number) => upTo(max).min(1);

/** An optional text of a request. */
export const optional = (max: number) => upTo(max).optional();

/** The same where the field is nullable. */
export const optionalOrNull = (max: number) => upTo(max).nullish();

/** An object whose fields may all be missing. A Decimal, to zod an object as well, is a number here. */
export const object = <T extends z.ZodRawShape>(shape: T) =>
  z.preprocess(
    (value: z.input<z.ZodObject<T, z.core.$loose>>) =>
      value instanceof Decimal ? Number(value.text) : value,
    z.looseObject(shape),
  );

/** Query values are text; an empty one counts as not sent. */
const sent = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === "" ? undefined : value), schema);

export const queryText = (max: number) => sent(upTo(max).optional());
export const queryEnum = <const V extends string>(values: readonly V[]) =>
  sent(z.enum(values).optional());
export const queryChoice = <const V extends string>(values: readonly V[], fallback: NoInfer<V>) =>
  sent(
    (z.enum(values) as z.ZodType<V>)
      .meta({ default: fallback })
      .optional()
      .transform((value) => value ?? fallback),
  );
export const queryId = sent(id.optional());
const queryTimestamp = sent(timestamp.optional());
export const queryFlag = sent(
  z
    .enum(["true", "false"])
    .transform((value) => value === "true")
    .optional(),
);

/** Default and maximum of a list's `pageSize` (rule P1). */
export interface PageSize {
  readonly default: number;
  readonly max: number;
}

const queryCount = (fallback: number, max: number) =>
  sent(
    z
      .string()
      .regex(/^\d{1,15}$/, { error: "must be a whole number" })
      .transform(Number)
      .pipe(z.int().min(1).max(max))
      .optional()
      .transform((value) => value ?? fallback),
  );

/** Sizes of rule P1. */
export const pages = { default: 20, max: 100 } as const;
export const widePages = { default: 20, max: 500 } as const;
export const rackPages = { default: 50, max: 500 } as const;
export const terminalPages = { default: 50, max: 100 } as const;

export const paging = (size: PageSize) => ({
  page: queryCount(1, Number.MAX_SAFE_INTEGER),
  pageSize: queryCount(size.default, size.max),
});

/** What a change-sync walk adds to a list (rule P2). */
export const walk = { updatedSince: queryTimestamp, cursor: queryText(2000) };
