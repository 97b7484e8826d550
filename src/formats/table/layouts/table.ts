/**
 * The words that layouts are written in: what a record is made of. Where its fields stand in a file is said by a profile
 * (`profile.ts`), which may be a site's own.
 */
import { z } from "zod";
import { Decimal } from "../../../core/decimal.ts";
import type { CellType } from "../cells.ts";

/** A field. `T` is what its cell becomes; null stands for an empty cell. */
export interface Field<T = unknown> {
  readonly type: CellType;
  /** An empty cell is a fault. */
  readonly filled: boolean;
  /** An empty cell is an empty text. */
  readonly blank?: true;
  readonly schema: z.ZodType<T>;
}

export type Fields = Readonly<Record<string, Field>>;
type RowOf<F extends Fields> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never };

const number = z.custom<Decimal>((value) => value instanceof Decimal, "expected a number");

const field = <T>(type: CellType, schema: z.ZodType<T>): Field<T | null> => ({
  type,
  filled: false,
  schema: schema.nullable(),
});

export const text = field("text", z.string());
export const decimal = field("decimal", number);
/** `YYYY-MM-DD` */
export const date = field("date", z.string());
/** ISO 8601, UTC */
export const stamp = field("stamp", z.string());
export const flag = field("flag", z.boolean());

/** A field that a record cannot do without. */
export const filled = <T>(from: Field<T | null>): Field<T> => ({
  ...from,
  filled: true,
  schema: from.schema as z.ZodType<T>,
});

/** A record as far as it could be read: what a key is made from. */
export type Partially<R> = { readonly [K in keyof R]: R[K] | null };

export interface Layout<R = unknown> {
  /** `tryton-export/customers`: how the configuration names it. */
  readonly name: string;
  readonly head: Fields;
  /** Lists of the record, by the field that they are. */
  readonly lists: Readonly<Record<string, Fields>>;
  /** Those of the lists that are null where they are not exported at all. */
  readonly optional: readonly string[];
  /** The files say how things are, not what happened: the same file may rightly come again after another one. */
  readonly restates: boolean;
  readonly record: z.ZodType<R>;
  /** The id people and the ERP know the record by; null when it cannot be made. */
  key(record: Partially<R>): string | null;
}

type Lists = Readonly<Record<string, Fields>>;
type Nested<H extends Fields, L extends Lists, O extends Lists> = RowOf<H> & {
  [K in keyof L]: RowOf<L[K]>[];
} & { [K in keyof O]: RowOf<O[K]>[] | null };

/** `optional`: further lists, null where they are not exported. */
export function records<H extends Fields, L extends Lists, O extends Lists>(shape: {
  readonly name: string;
  readonly restates: boolean;
  readonly head: H;
  readonly lists: L;
  readonly optional: O;
  key(record: Partially<Nested<H, L, O>>): string | null;
}): Layout<Nested<H, L, O>> {
  const lists: Lists = shape.lists;
  const optional: Lists = shape.optional;
  const schema = z.object({
    ...schemas(shape.head),
    ...map(lists, (fields) => z.array(z.object(schemas(fields)))),
    ...map(optional, (fields) => z.array(z.object(schemas(fields))).nullable()),
  });
  return {
    name: shape.name,
    head: shape.head,
    lists: { ...lists, ...optional },
    optional: Object.keys(optional),
    restates: shape.restates,
    record: schema as unknown as z.ZodType<Nested<H, L, O>>,
    key: (record) => shape.key(record),
  };
}

const schemas = (fields: Fields): Record<string, z.ZodType> => map(fields, ({ schema }) => schema);

function map<A, B>(from: Readonly<Record<string, A>>, to: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value)]));
}
