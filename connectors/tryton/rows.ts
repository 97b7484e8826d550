/** Rows of Tryton, each described once: the fields that are asked for, their types, and how their values are read. */
import { Decimal } from "../../src/core/decimal.ts";
import type { Scope } from "../../src/core/holdings.ts";
import { parseWith } from "../../src/core/json.ts";
import { bareNumber, writingsOf } from "../../src/core/keys.ts";

/*
 * Values as Tryton's JSON-RPC writes them. Money is a `Decimal` with its digits, a day is `YYYY-MM-DD`, an instant is
 * UTC with all of its microseconds: a JavaScript Date would cut them, and a walk by `write_date` would loop or skip.
 */

/** A value as it travels: of a class that JSON lacks. */
interface Wired {
  readonly __class__: string;
  readonly [field: string]: string | number;
}

/** For a Date field: `YYYY-MM-DD`. @throws RangeError */
export function day(text: string): Wired {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? unfit(text, "a day");
  return {
    __class__: "date",
    year: Number(year),
    month: Number(month),
    day: Number(date),
  };
}

/** For a Timestamp or DateTime field: `2026-11-21T09:10:11.425559`, UTC, as answers give it. @throws RangeError */
export function stamp(text: string): Wired {
  const [, date = "", hour, minute, second, fraction = ""] =
    /^(.{10})T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?Z?$/.exec(text) ?? unfit(text, "a stamp");
  return {
    ...day(date),
    __class__: "datetime",
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    microsecond: Number(fraction.padEnd(6, "0")),
  };
}

/** For a Float field (quantities): Tryton keeps it in a double. What that changes is seen before the draft is posted. */
export const float = (value: Decimal): unknown => value.toJSON();

/** A number field of an answer: floats come as Decimal, but a computed 0 comes as an integer. */
export const exact = (value: unknown): Decimal =>
  value instanceof Decimal ? value : Decimal.of(String(value));

/** JSON text for Tryton. @throws RangeError for a number with a fraction: only a Decimal keeps its digits */
export function encode(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, made: unknown) {
    const given = this[key];
    if (given instanceof Decimal) return { __class__: "Decimal", decimal: given.text };
    if (typeof given === "number" && !Number.isSafeInteger(given))
      return unfit(String(given), "exact");
    return made;
  });
}

/**
 * What Tryton's JSON text says: ids and counts as integers, Decimals and floats as Decimal, days and stamps as text.
 * @throws SyntaxError
 */
export const decode = (text: string): unknown =>
  parseWith(text, (all) => (/^-?\d{1,15}$/.test(all) ? Number(all) : Decimal.of(all)), plain);

function plain(value: object): unknown {
  if (!("__class__" in value)) return value;
  const fields = value as WiredFields;
  const name = fields["__class__"];
  if (name === "Decimal") return Decimal.of(fields["decimal"] as string);
  if (name === "date") return dayText(fields);
  if (name === "datetime") return stampText(fields);
  return fields;
}

const dayText = (fields: WiredFields): string =>
  `${digits(fields, 4, "year")}-${digits(fields, 2, "month")}-${digits(fields, 2, "day")}`;

const stampText = (fields: WiredFields): string =>
  `${dayText(fields)}T${digits(fields, 2, "hour")}:${digits(fields, 2, "minute")}:` +
  `${digits(fields, 2, "second")}.${digits(fields, 6, "microsecond")}`;

const digits = (fields: WiredFields, length: number, name: string): string =>
  (fields[name] as number).toString().padStart(length, "0");

type WiredFields = Readonly<Record<string, unknown>>;

function unfit(text: string, what: string): never {
  throw new RangeError(`"${text}" is not ${what}`);
}

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

/** The names of `number party.code` as keys, `number` and `party`: of a record that the row names one value is read. */
type Named<Names extends string, T> = {
  readonly [Name in NamesIn<Names>]: Field<T>;
};
type NamesIn<Names extends string> = Names extends `${infer One} ${infer Others}`
  ? NamesIn<One> | NamesIn<Others>
  : Names extends `${infer Key}.${string}`
    ? Key
    : Names;

const each =
  <T>(read: (value: unknown) => T) =>
  <Names extends string>(names: Names): Named<Names, T> =>
    Object.fromEntries(
      names.split(" ").map((name) => {
        const [key, part] = name.split(".");
        if (part === undefined) return [key, { read }];
        const inPart = (value: unknown) => read((value as Raw | null)?.[part] ?? null);
        return [key, { parts: { [part]: { read } }, read: inPart }];
      }),
    ) as Named<Names, T>;

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

/** Which version of a record it is. */
export const STAMP = called("_timestamp", as<string>());

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

/* Records of Tryton, as every part of this connector looks for them. */

/** A clause, or several of which all must hold. */
export type Domain = readonly unknown[];

/** By field and operator, what a field must be: `{ "state in": ["posted", "paid"] }`. */
type Clauses = Readonly<Record<string, unknown>>;

/** All of them hold. */
export const where = (clauses: Clauses): Domain =>
  Object.entries(clauses).map(([clause, value]) => {
    const [, field, operator] = /^(\S+) (.+)$/.exec(clause) ?? [];
    return [field, operator, value];
  });

/** One of them holds, or one of `others`. To be in an empty list never holds: it is left out where others are asked for. */
export function either(clauses: Clauses, ...others: readonly Domain[]): Domain {
  const all = where(clauses) as readonly (readonly [string, string, unknown])[];
  const asked = all.filter(
    ([, operator, value]) => operator !== "in" || (value as readonly unknown[]).length > 0,
  );
  return ["OR", ...(asked.length + others.length === 0 ? all : asked), ...others];
}

/** Leaves out what Tryton makes from another record, with that one's comment: credit notes and returns. */
export const notMadeFrom = (model: string, origin: string): Domain => [
  "OR",
  [origin, "=", null],
  [origin, "not like", `${model},%`],
];

/**
 * Clauses for a field that has the letters and digits of one of these numbers in their order, whatever is written between
 * them. Three or fewer are in too many others: then the usual writings alone are asked for.
 */
export const inAnyWriting = (field: string, numbers: readonly string[]): Domain[] =>
  [...new Map(numbers.map((number) => [bareNumber(number), number]))].map(([bare, number]) => {
    const text = Array.from(bare);
    return text.length > 3
      ? [field, "ilike", `%${text.join("%")}%`]
      : [field, "in", writingsOf(number)];
  });

export interface Search {
  /** At most so many. */
  readonly most?: number;
  /** Inactive records too. */
  readonly inactive?: true;
  readonly order?: readonly (readonly [field: string, direction: "ASC" | "DESC"])[];
  readonly signal?: AbortSignal | undefined;
}

export type Context = Readonly<Record<string, unknown>>;

/** Who makes calls. */
export interface Caller {
  /**
   * One call, of `model.account.invoice.create` say, without the trailing context: it is added. A call that meets an
   * ended session, or a server that was upgraded since the login, has not run; it is made once more in a new one.
   * @throws LedgerError
   */
  call<T = unknown>(
    method: string,
    params: readonly unknown[],
    options?: { readonly context?: Context; readonly signal?: AbortSignal },
  ): Promise<T>;
}

/** Who we are in Tryton: ids of its database. */
export interface Identity {
  readonly user: number;
  readonly company: number | null;
}

interface Wire {
  readonly tryton: Caller;
}

/** Those in a domain, in the order of their ids where no other is given. @throws LedgerError */
export async function rowsOf<Of extends Fields>(
  books: Wire,
  model: string,
  domain: Domain,
  fields: Of,
  search: Search = {},
): Promise<RowOf<Of>[]> {
  const rows = await searched<Raw>(books, `${model}.search_read`, domain, search, namesOf(fields));
  return rows.map((row) => rowIn(fields, row));
}

/** Their database ids. @throws LedgerError */
export const idsOf = (
  books: Wire,
  model: string,
  domain: Domain,
  search: Search = {},
): Promise<number[]> => searched(books, `${model}.search`, domain, search);

/** How many there are. @throws LedgerError */
export const countOf = (
  { tryton }: Wire,
  model: string,
  domain: Domain,
  signal?: AbortSignal,
): Promise<number> =>
  tryton.call(`model.${model}.search_count`, [domain], signal === undefined ? {} : { signal });

function searched<Found>(
  { tryton }: Wire,
  method: string,
  domain: Domain,
  { most, inactive, order = BY_ID, signal }: Search,
  ...fields: readonly unknown[]
): Promise<Found[]> {
  return tryton.call<Found[]>(`model.${method}`, [domain, 0, most ?? null, order, ...fields], {
    ...(inactive === true ? { context: { active_test: false } } : {}),
    ...(signal === undefined ? {} : { signal }),
  });
}

const BY_ID = [["id", "ASC"]] as const;

/** One record, by its id. @throws LedgerError */
export async function rowOf<Of extends Fields>(
  { tryton }: Wire,
  model: string,
  id: number,
  fields: Of,
): Promise<RowOf<Of>> {
  const [row] = await tryton.call<[Raw]>(`model.${model}.read`, [[id], namesOf(fields)]);
  return rowIn(fields, row);
}

/** Of the company. @param field where a part of a record is searched: `move.company` @throws LedgerError */
export const ofCompany = async (
  { tryton }: { readonly tryton: { session(): Promise<Identity> } },
  field = "company",
): Promise<Clauses> => ({ [`${field} =`]: (await tryton.session()).company });

/** Those of the company in a domain. @throws LedgerError */
export const ownOf = async (
  books: Parameters<typeof ofCompany>[0],
  domain: Domain,
): Promise<Domain> => [...where(await ofCompany(books)), ...domain];

/**
 * What is dated within a scope, or changed since, or open.
 * @param date the field of its day @param isOpen the clause of what is open @param stamps fields that change with it
 */
export function scopeDomain(
  { dated, changedSince, open }: Scope,
  date: string,
  isOpen: Domain,
  stamps: readonly string[] = ["write_date", "create_date"],
): Domain {
  const within = dated && where({ [`${date} >=`]: day(dated.from), [`${date} <=`]: day(dated.to) });
  const changed =
    changedSince === null ? [] : stamps.map((one) => [one, ">=", stamp(changedSince)]);
  const parts = [...(within === null ? [] : [within]), ...changed, ...(open ? [isOpen] : [])];
  return parts.length === 0 ? ["id", "=", -1] : ["OR", ...parts];
}

/** Records that one call asks for. */
const PAGE_RECORDS = 200;

/**
 * Pages in the order of database ids, which are their positions: what is made meanwhile comes last.
 * @param read the first of those after an id, as many as its search says
 */
export async function* pagesOf<Row>(
  from: string | null,
  signal: AbortSignal,
  read: (after: Domain, search: Search) => Promise<readonly Row[]>,
  idOf: (row: Row) => number,
  most: number = PAGE_RECORDS,
): AsyncGenerator<{ rows: readonly Row[]; position: string; isEnd: boolean }> {
  let last = Number(from ?? 0);
  for (let isEnd = false; !isEnd;) {
    const rows = await read(["id", ">", last], { most, signal });
    const row = rows.at(-1);
    last = row === undefined ? last : idOf(row);
    isEnd = rows.length < most;
    yield { rows, position: String(last), isEnd };
  }
}
