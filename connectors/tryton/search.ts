/** Records of Tryton, as every part of this connector looks for them. */
import type { Scope } from "../../src/core/holdings.ts";
import { foldedNumber } from "../../src/core/keys.ts";
import { type Fields, namesOf, type Raw, rowIn, type RowOf } from "./rows.ts";
import { day, stamp } from "./values.ts";

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

/** Clauses for a field that is one of these texts in any case, as people type it. What has a sign for "anything" is left out. */
export const inAnyCase = (field: string, texts: readonly string[]): Domain[] =>
  [...new Set(texts.map(foldedNumber))]
    .filter((text) => !/[%_\\]/.test(text) && text !== "")
    .map((text) => [field, "ilike", text]);

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
   * @throws TrytonError
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

/** Those in a domain, in the order of their ids where no other is given. @throws TrytonError */
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

/** Their database ids. @throws TrytonError */
export const idsOf = (
  books: Wire,
  model: string,
  domain: Domain,
  search: Search = {},
): Promise<number[]> => searched(books, `${model}.search`, domain, search);

/** How many there are. @throws TrytonError */
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

/** One record, by its id. @throws TrytonError */
export async function rowOf<Of extends Fields>(
  { tryton }: Wire,
  model: string,
  id: number,
  fields: Of,
): Promise<RowOf<Of>> {
  const [row] = await tryton.call<[Raw]>(`model.${model}.read`, [[id], namesOf(fields)]);
  return rowIn(fields, row);
}

/** Of the company. @param field where a part of a record is searched: `move.company` @throws TrytonError */
export const ofCompany = async (
  { tryton }: { readonly tryton: { session(): Promise<Identity> } },
  field = "company",
): Promise<Clauses> => ({ [`${field} =`]: (await tryton.session()).company });

/**
 * What is dated within a scope, or changed since, or open.
 * @param date the field of its day @param stamps fields that change with it @param isOpen the clause of what is open
 */
export function scopeDomain(
  { dated, changedSince, open }: Scope,
  date: string,
  stamps: readonly string[],
  isOpen: Domain,
): Domain {
  const within = dated && where({ [`${date} >=`]: day(dated.from), [`${date} <=`]: day(dated.to) });
  const changed =
    changedSince === null ? [] : stamps.map((one) => [one, ">=", stamp(changedSince)]);
  const parts = [...(within === null ? [] : [within]), ...changed, ...(open ? [isOpen] : [])];
  return parts.length === 0 ? ["id", "=", -1] : ["OR", ...parts];
}
