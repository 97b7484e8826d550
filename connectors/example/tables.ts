/** The ledger's tables as every part of this connector uses them: search, create, change. */
import { z } from "zod";
import type { LedgerAdapter, Call, Entry } from "../../src/ledger/port.ts";
import type { Scope } from "../../src/core/holdings.ts";
import type { Wire } from "./wire.ts";

/** What a search asks for: a union. */
export interface Search {
  readonly ids?: readonly string[];
  readonly marks?: readonly string[];
  /** Of the record itself, its reference, or the document that it pays. */
  readonly numbers?: readonly string[];
  readonly scope?: Scope;
}

export interface Table<Row> {
  search(search: Search, signal: AbortSignal): Promise<readonly Row[]>;
  /** In the order of `seq`, pages of {@link PAGE} rows. */
  pages(scope: Scope, from: string | null, signal: AbortSignal): AsyncGenerator<readonly Row[]>;
  /** All of them or none. Their ids, in order. */
  create(records: readonly object[], call: Call): Promise<readonly string[]>;
  /** All of them or none; one whose version is another by now is refused (`stale`). */
  step(
    what: "change" | "post" | "cancel" | "delete",
    records: readonly object[],
    call: Call,
  ): Promise<void>;
}

const PAGE = 200;
const Ids = z.object({ ids: z.array(z.string()) });

export function table<Row extends { readonly seq: number }>(
  wire: Wire,
  name: string,
  schema: z.ZodType<Row>,
): Table<Row> {
  const Rows = z.object({ rows: z.array(schema) });
  return {
    search: async (search, signal) =>
      (await wire.call(`/${name}/search`, search, Rows, signal)).rows,
    async *pages(scope, from, signal) {
      let after = Number(from ?? 0);
      for (let goesOn = true; goesOn;) {
        const asked = { scope, after, most: PAGE };
        const { rows } = await wire.call(`/${name}/search`, asked, Rows, signal);
        goesOn = rows.length === PAGE;
        after = rows.at(-1)?.seq ?? after;
        yield rows;
      }
    },
    create: async (records, { signal }) =>
      (await wire.call(`/${name}/create`, { records }, Ids, signal)).ids,
    step: async (what, records, { signal }) => {
      await wire.call(`/${name}/${what}`, { records }, z.object({}), signal);
    },
  };
}

/** The reading half of an adapter, the same for every table. */
export function reading<Row extends { readonly seq: number }>(
  rows: Table<Row>,
  entry: (row: Row) => Entry<Row>,
): Pick<LedgerAdapter<never, Row>, "get" | "named" | "list"> {
  return {
    get: async (ids, { signal }) => (await rows.search({ ids }, signal)).map(entry),
    named: async (numbers, signal) => (await rows.search({ numbers }, signal)).map(entry),
    async *list(scope, from, signal) {
      for await (const page of rows.pages(scope, from, signal))
        yield { entries: page.map(entry), position: String(page.at(-1)?.seq ?? from ?? 0) };
    },
  };
}
