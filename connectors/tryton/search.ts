/** Records of Tryton, as every part of this connector looks for them. */
import type { Scope } from "../../src/core/holdings.ts";
import { day, stamp } from "./values.ts";
import type { Tryton } from "./wire.ts";

/** A clause, or several of which all must hold. */
export type Domain = readonly unknown[];

export interface Search {
  /** At most so many. */
  readonly most?: number;
  /** Inactive records too. */
  readonly inactive?: true;
  readonly order?: readonly (readonly [field: string, direction: "ASC" | "DESC"])[];
  readonly signal?: AbortSignal | undefined;
}

interface Wire {
  readonly tryton: Pick<Tryton, "call" | "session">;
}

/**
 * Those in a domain, in the order of their ids where no other is given.
 * @param fields as {@link fieldsIn} takes them @throws TrytonError
 */
export const rowsOf = <Row>(
  books: Wire,
  model: string,
  domain: Domain,
  fields: string,
  search: Search = {},
): Promise<Row[]> => searched(books, `${model}.search_read`, domain, search, fieldsIn(fields));

/** Their database ids. @throws TrytonError */
export const idsOf = (
  books: Wire,
  model: string,
  domain: Domain,
  search: Search = {},
): Promise<number[]> => searched(books, `${model}.search`, domain, search);

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
export async function rowOf<Row>(
  { tryton }: Wire,
  model: string,
  id: number,
  fields: string,
): Promise<Row> {
  const [row] = await tryton.call<[Row]>(`model.${model}.read`, [[id], fieldsIn(fields)]);
  return row;
}

/** Of the company. @param field where a part of a record is searched: `move.company` @throws TrytonError */
export const ofCompany = async ({ tryton }: Wire, field = "company"): Promise<Domain> => [
  field,
  "=",
  (await tryton.session()).company,
];

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
  const within = dated && [
    [date, ">=", day(dated.from)],
    [date, "<=", day(dated.to)],
  ];
  const changed =
    changedSince === null ? [] : stamps.map((one) => [one, ">=", stamp(changedSince)]);
  const parts = [...(within === null ? [] : [within]), ...changed, ...(open ? [isOpen] : [])];
  return parts.length === 0 ? ["id", "=", -1] : ["OR", ...parts];
}

/** Of `number lines(amount product.code)`: `number`, `lines.amount`, `lines.product.code`. */
const fieldsIn = (names: string): string[] =>
  names
    .replaceAll(/(\S+)\(([^)]*)\)/g, (_, part: string, of: string) =>
      of.trim().replaceAll(/\S+/g, (name) => `${part}.${name}`),
    )
    .trim()
    .split(/\s+/);
