/**
 * OData 4 over {@link openRest}: sets of rows in pages with links of their own, records that are changed only if they are
 * still the version that was read, and sets as the tables of a connector ask for them.
 */
import { z } from "zod";
import { defined } from "../core/defined.ts";
import { inGroups } from "../core/groups.ts";
import type { Day } from "../core/holdings.ts";
import type { HttpRequest } from "../transport/http.ts";
import { text } from "./documents.ts";
import { openList, paged, type Rest } from "./rest.ts";
import { conditionsIn, rowsIn } from "./stamps.ts";

/** Options of a query (`$filter`), or headers. */
type Query = Readonly<Record<string, string>>;

interface OdataOptions {
  /** The path that sets are under. @throws LedgerError */
  readonly root: (signal: AbortSignal) => Promise<string>;
  /** With every request. */
  readonly headers: Query;
  /** With lists and walks, for which a copy that may be behind will do. */
  readonly replica: Query;
  /** The field of a row's last change. */
  readonly stamp: string;
}

interface Asked {
  readonly method?: HttpRequest["method"];
  readonly body?: object;
  /** The record is changed only if it is still this version. */
  readonly etag?: string | undefined;
}

/** A record and its version. */
export const Version = z.object({ etag: text, id: text });
type Version = z.infer<typeof Version>;
type Acted = Pick<Version, "id"> & Partial<Version>;

/** A row as records have it: what its annotation says is its version. */
const versioned = <T>(row: z.ZodType<T>) =>
  z.preprocess((told: Query | null) => ({ ...told, etag: told?.["@odata.etag"] }), row);

interface SetOptions<Raw, Row> {
  readonly row: z.ZodType<Raw>;
  readonly query?: Query;
  /** The field of its day. Left out: it has none, and every scope is all of them. */
  readonly date?: string;
  /** A condition of what is not over. Left out: nothing stays open. */
  readonly open?: string;
  /** What is told of these rows. Left out: they say all there is. */
  readonly complete?: (rows: readonly Raw[], signal: AbortSignal) => Promise<readonly Row[]>;
}

/** Rows of a page; conditions in one filter, because an address has a bound. */
const [PAGE, CONDITIONS] = [200, 40];

/** Questions for rows with one of these conditions, which are on one field: many servers join no others by `or`. */
const anyOf = (conditions: readonly string[], query: Query): Query[] =>
  [...inGroups([...new Set(conditions)], CONDITIONS)].map((some) => ({
    ...query,
    $filter: some.join(" or "),
  }));

/** Every method @throws LedgerError */
export function openOdata(rest: Rest, { root, headers, replica, stamp }: OdataOptions) {
  const exchange = <T>(
    path: string,
    schema: z.ZodType<T>,
    { method, body, etag }: Asked,
    signal: AbortSignal,
    more: Query = {},
  ): Promise<T> =>
    rest.call(path, body ?? null, schema, signal, {
      ...defined({ method }),
      headers: { ...headers, ...defined({ "if-match": etag }), ...more },
    });
  /** One exchange with what is under the root: `/salesInvoices(…)`. */
  const call = async <T>(path: string, schema: z.ZodType<T>, asked: Asked, signal: AbortSignal) =>
    exchange(`${await root(signal)}${path}`, schema, asked, signal);

  /** Of what has changed. */
  const since = (at: string): string => `${stamp} ge ${at}`;

  /**
   * Rows of a set, page by page; `position` reads on after them, null: they were the last.
   * @param more headers
   */
  async function* pages<T>(
    set: string,
    query: Query,
    row: z.ZodType<T>,
    signal: AbortSignal,
    { from = null, more = {} }: { from?: string | null; more?: Query } = {},
  ): AsyncGenerator<{ readonly rows: readonly T[]; readonly position: string | null }> {
    const Page = z.object({
      value: z.array(versioned(row)),
      "@odata.nextLink": z.string().optional(),
    });
    const asked = Object.entries(query).map(([name, one]) => `${name}=${encodeURIComponent(one)}`);
    const first = `${await root(signal)}/${set}?${asked.join("&")}`;
    const own = { prefer: `odata.maxpagesize=${PAGE}`, ...more };
    yield* paged(from, async (path) => {
      const page = await exchange(path ?? first, Page, {}, signal, own);
      const link = page["@odata.nextLink"];
      return { rows: page.value, position: link === undefined ? null : rest.pathIn(link) };
    });
  }

  /** All rows of these pages. */
  const all = <T>(set: string, query: Query, row: z.ZodType<T>, signal: AbortSignal) =>
    rowsIn(pages(set, query, row, signal));

  /** Rows with one of these conditions, which are on one field. */
  async function either<T>(
    set: string,
    conditions: readonly string[],
    row: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<T[]> {
    const found: T[] = [];
    for (const query of anyOf(conditions, {})) found.push(...(await all(set, query, row, signal)));
    return found;
  }

  return {
    call,
    all,
    either,
    create: (set: string, body: object, signal: AbortSignal) =>
      call(`/${set}`, versioned(Version), { body }, signal),
    change: (set: string, { id, etag }: Version, body: object, signal: AbortSignal) =>
      call(`/${set}(${id})`, z.unknown(), { method: "PATCH", body, etag }, signal),
    remove: (set: string, { id, etag }: Version, signal: AbortSignal) =>
      call(`/${set}(${id})`, z.unknown(), { method: "DELETE", etag }, signal),
    /** A bound action; of a version where one is given (OData 4.0, 11.5.4.1). */
    act: (set: string, { id, etag }: Acted, action: string, signal: AbortSignal) =>
      call(`/${set}(${id})/${action}`, z.unknown(), { method: "POST", etag }, signal),

    /** A set as tables ask for it: what some conditions name, all in a scope, and what changed by its stamps. */
    set<Raw extends { readonly id: string }, Row = Raw>(
      name: string,
      { row, query = {}, date, open, complete }: SetOptions<Raw, Row>,
    ) {
      const asked = (...conditions: readonly string[]): Query => {
        const all = [query["$filter"] ?? [], conditions].flat(2);
        return { ...query, ...(all.length === 0 ? {} : { $filter: all.join(" and ") }) };
      };
      const dated = (first: Day, last: Day) => `${date} ge ${first} and ${date} le ${last}`;
      const copied = (query: Query) => ({ query, more: replica });
      const rows = openList<{ readonly query: Query; readonly more?: Query }, Raw, Row>({
        name,
        pages: ({ query, more }, from, signal) =>
          pages(name, query, row, signal, { from, ...defined({ more }) }),
        scope: (scope) =>
          date === undefined
            ? [copied(asked())]
            : conditionsIn(scope, { dated, changed: since, open }).map((one) => copied(asked(one))),
        since: (at) => copied({ ...(at === null ? asked() : asked(since(at))), $orderby: stamp }),
        stampOf: (one) => String((one as Readonly<Record<string, unknown>>)[stamp]),
        ...defined({ whole: complete }),
      });
      return {
        ...rows,
        /** Each once. The conditions of one list are on one field. */
        search: (conditions: readonly (readonly string[])[], signal: AbortSignal) =>
          rows.search(
            conditions.map((one) => anyOf(one, query).map((query) => ({ query }))),
            signal,
          ),
      };
    },
    close: () => rest.close(),
  };
}
export type Odata = ReturnType<typeof openOdata>;

/** A text as a filter has it. */
export const quoted = (told: string): string => `'${told.replaceAll("'", "''")}'`;
export const equals = (field: string, values: readonly string[]): string[] =>
  values.map((value) => `${field} eq ${quoted(value)}`);
/** What is no id is none of theirs. */
export const idsAre = (ids: readonly string[]): string[] =>
  ids.filter((id) => z.guid().safeParse(id).success).map((id) => `id eq ${id}`);
