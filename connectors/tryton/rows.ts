/** Rows of Tryton, each described once: the fields that are asked for, their types, and how their values are read. */
import type { Decimal } from "../../src/core/decimal.ts";
import { exact } from "./values.ts";

/** A field of a row, or a record or list of records that the row names. */
export interface Field<T> {
  /** As Tryton calls it; left out: as the description does. */
  readonly name?: string;
  /** Of a record that it names: what is asked for of that one. */
  readonly parts?: Fields;
  readonly read: (value: unknown) => T;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** A row as its description reads it. Every one has its database id. */
export type RowOf<Of extends Fields> = { readonly id: number } & {
  readonly [Name in keyof Of]: Of[Name] extends Field<infer T> ? T : never;
};

/** What Tryton answers, taken as it is: text, a day, a stamp, a database id. */
export const as = <T>(): Field<T> => ({ read: (value) => value as T });

/** The names of `number state` as keys. */
type Named<Names extends string, T> = {
  readonly [Name in NamesIn<Names>]: Field<T>;
};
type NamesIn<Names extends string> = Names extends `${infer One} ${infer Others}`
  ? One | NamesIn<Others>
  : Names;

const each =
  <T>(read: (value: unknown) => T) =>
  <Names extends string>(names: Names): Named<Names, T> =>
    Object.fromEntries(names.split(" ").map((name) => [name, { read }])) as Named<Names, T>;

export const texts = each((value) => value as string);
export const textsOrNone = each((value) => value as string | null);
export const ids = each((value) => value as number);
export const idsOrNone = each((value) => value as number | null);
export const idLists = each((value) => value as readonly number[]);
export const flags = each(Boolean);
export const amounts = each(exact);
export const amountsOrNone = each((value): Decimal | null =>
  value === null ? null : exact(value),
);

/** A field that releases, or sides, call otherwise. */
export const called = <T>(name: string, field: Field<T>): Field<T> => ({ ...field, name });

/** A record that the row always names. */
export const one = <Of extends Fields>(parts: Of): Field<RowOf<Of>> => ({
  parts,
  read: (value) => rowIn(parts, value as Raw),
});

export const oneOrNone = <Of extends Fields>(parts: Of): Field<RowOf<Of> | null> => ({
  parts,
  read: (value) => (value === null ? null : rowIn(parts, value as Raw)),
});

export const many = <Of extends Fields>(parts: Of): Field<readonly RowOf<Of>[]> => ({
  parts,
  read: (value) => (value as readonly Raw[]).map((row) => rowIn(parts, row)),
});

export type Raw = Readonly<Record<string, unknown>>;

/** What is asked for: `number`, `lines.amount`, `lines.product.code`. */
export const namesOf = (fields: Fields): string[] =>
  Object.entries(fields).flatMap(([key, { name = key, parts }]) =>
    parts === undefined ? [name] : namesOf(parts).map((part) => `${name}.${part}`),
  );

/** Tryton answers the parts of `lines` under `lines.`. */
export const rowIn = <Of extends Fields>(fields: Of, raw: Raw): RowOf<Of> =>
  Object.fromEntries([
    ["id", raw["id"]],
    ...Object.entries(fields).map(([key, { name = key, parts, read }]) => [
      key,
      read(raw[parts === undefined ? name : `${name}.`]),
    ]),
  ]) as RowOf<Of>;
