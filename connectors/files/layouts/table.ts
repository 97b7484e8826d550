/**
 * The words that layouts are written in: columns with the labels each language gives them, tables whose records may
 * go on over several rows, and the schema of the record that comes out.
 */
import { z } from "zod";
import { Decimal } from "../../../src/core/decimal.ts";
import type { CellType } from "../cells.ts";

export type Language = "en" | "de";

/** A column. `T` is what its cell becomes; null stands for an empty cell. */
export interface Column<T = unknown> {
  readonly type: CellType;
  /** The header in each language; a language that a layout lacks a label for is not read. */
  readonly labels: { readonly en: string; readonly de?: string };
  /** An empty cell is a fault. */
  readonly filled: boolean;
  readonly schema: z.ZodType<T>;
}

export type Columns = Readonly<Record<string, Column>>;
type RowOf<C extends Columns> = { [K in keyof C]: C[K] extends Column<infer T> ? T : never };

const number = z.custom<Decimal>((value) => value instanceof Decimal, "expected a number");

const column =
  <T>(type: CellType, schema: z.ZodType<T>) =>
  (en: string, de?: string): Column<T | null> => ({
    type,
    labels: de === undefined ? { en } : { en, de },
    filled: false,
    schema: schema.nullable(),
  });

export const text = column("text", z.string());
export const decimal = column("decimal", number);
/** `YYYY-MM-DD` */
export const date = column("date", z.string());
/** ISO 8601, UTC */
export const stamp = column("stamp", z.string());
export const flag = column("flag", z.boolean());

/** A column that a record cannot do without. */
export const filled = <T>(from: Column<T | null>): Column<T> => ({
  ...from,
  filled: true,
  schema: from.schema as z.ZodType<T>,
});

/** Rows of a file of their own that belong to the records of the first one. */
export interface Joined<C extends Columns = Columns> {
  readonly columns: C;
  /** The column here that holds the head's `on`. */
  readonly by: string;
}

/** A record as far as it could be read: what a key is made from. */
export type Partially<R> = { readonly [K in keyof R]: R[K] | null };

export interface Layout<R = unknown> {
  /** `tryton-export/customers`: how the configuration names it. */
  readonly name: string;
  /** Columns that stand only on the first row of a record. Where all of them are empty, the row belongs above. */
  readonly head: Columns;
  /** Columns that repeat row by row under one head, by the field they become a list in. */
  readonly children: Readonly<Record<string, Columns>>;
  /** Further files of the same export, by the name of their part; the first file is the part `heads`. */
  readonly joined: Readonly<Record<string, Joined>>;
  /** The head column that joined rows name. */
  readonly on: string;
  /** The children that are records of their own, with the head's columns repeated on each. */
  readonly each: string | null;
  /** The files say how things are, not what happened: the same file may rightly come again after another one. */
  readonly restates: boolean;
  readonly record: z.ZodType<R>;
  /** The id people and the ERP know the record by; null when it cannot be made. */
  key(record: Partially<R>): string | null;
}

type Nested<
  H extends Columns,
  C extends Record<string, Columns>,
  J extends Record<string, Joined>,
> = RowOf<H> & { [K in keyof C]: RowOf<C[K]>[] } & {
  [K in keyof J]: RowOf<J[K]["columns"]>[] | null;
};

/** One record per head, its children and joined rows in lists; a list is null when its file is not exported. */
export function records<
  H extends Columns,
  C extends Record<string, Columns>,
  J extends Record<string, Joined>,
>(shape: {
  readonly name: string;
  readonly restates: boolean;
  readonly head: H;
  readonly children: C;
  readonly joined: J;
  key(record: Partially<Nested<H, C, J>>): string | null;
}): Layout<Nested<H, C, J>> {
  const schema = z.object({
    ...fields(shape.head),
    ...map(shape.children as Record<string, Columns>, (columns) =>
      z.array(z.object(fields(columns))),
    ),
    ...map(shape.joined as Record<string, Joined>, ({ columns }) =>
      z.array(z.object(fields(columns))).nullable(),
    ),
  });
  return {
    ...shape,
    on: "id",
    each: null,
    record: schema as unknown as z.ZodType<Nested<H, C, J>>,
    key: (record) => shape.key(record),
  };
}

/** One record per child row. */
export function each<H extends Columns, C extends Columns>(shape: {
  readonly name: string;
  readonly restates: boolean;
  readonly head: H;
  readonly rows: C;
  key(record: Partially<RowOf<H> & RowOf<C>>): string | null;
}): Layout<RowOf<H> & RowOf<C>> {
  const schema = z.object({ ...fields(shape.head), ...fields(shape.rows) });
  return {
    name: shape.name,
    head: shape.head,
    children: { rows: shape.rows },
    joined: {},
    on: "id",
    each: "rows",
    restates: shape.restates,
    record: schema as unknown as z.ZodType<RowOf<H> & RowOf<C>>,
    key: (record) => shape.key(record),
  };
}

const fields = (columns: Columns): Record<string, z.ZodType> =>
  map(columns, ({ schema }) => schema);

function map<A, B>(from: Readonly<Record<string, A>>, to: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value)]));
}
