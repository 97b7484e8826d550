/** The ERP's own database as the counter: documents are rows that its job takes and answers, lists come from its views. */
import { defineConnector } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/record.ts";
import { openSql, type Sql } from "../../src/ledger/sql.ts";
import { offered, openLedger } from "../../src/ledger/table.ts";
import { SqlStagingConfig } from "./config.ts";
import { tableOf } from "./documents.ts";
import { partsOf, sqlOf } from "./schema.ts";
import { BOOKS, differingView, SCHEMA, type View, viewSource } from "./sources.ts";

/** Invoices are read as what they are, and as what was paid. */
const sourcesOf = (views: readonly View[]): (readonly [string, View])[] => [
  ...views.map((view) => [view, view] as const),
  ...(views.includes("invoices") ? [["paidInvoices", "invoices"] as const] : []),
];

export const sqlStaging = defineConnector<SqlStagingConfig>({
  name: "sql-staging",
  config: SqlStagingConfig,
  offers: ({ views }) => ({
    sources: offered(sourcesOf(views).map(([name]) => name)),
    sinks: offered(["invoices", "bills", "payments"]),
  }),
  open(config, surroundings) {
    const wire = openSql(config);
    const tables = { wire, surroundings, ...config };
    const differing = (signal: AbortSignal) => differences(wire, config.views, signal);
    const looked = async (signal: AbortSignal) => {
      const all = await differing(signal);
      return all.length === 0 ? null : all.map((what) => ({ what, fault: faultOf(what) }));
    };
    const { books: _, ...ledger } = openLedger({
      ...BOOKS,
      tables: {
        invoice: tableOf(tables, "invoice"),
        bill: tableOf(tables, "bill"),
        payment: tableOf(tables, "payment"),
      },
      lists: Object.fromEntries(
        sourcesOf(config.views).map(([name, view]) => [name, viewSource(wire, view, name)]),
      ),
      config,
      surroundings,
      async check(signal) {
        const [different] = await differing(signal);
        if (different !== undefined)
          throw new SourceUnavailable(`${BOOKS.name}: ${different}`, {
            next: SCHEMA,
            stop: "scope",
          });
      },
      checks: (_needs, signal) => [["tables and views", () => looked(signal)]],
    });
    return { ...ledger, close: () => Promise.resolve() };
  },
});

const faultOf = (message: string): Fault => ({ code: "other-schema", message, next: SCHEMA });

/** Where tables, indexes, views and the encoding are not as they must be, one sentence each. @throws LedgerError */
async function differences(
  wire: Sql,
  views: readonly View[],
  signal: AbortSignal,
): Promise<string[]> {
  const rows = await wire.transaction(signal, (query) => query(sqlOf(wire.dialect)));
  const held = new Map(rows.map(({ name, type }) => [name ?? "", type ?? ""]));
  const told = [...partsOf(wire.dialect), ["encoding", "utf8"] as const].flatMap(
    ([name, wanted]) => {
      const its = held.get(name) ?? "missing";
      return its === wanted ? [] : [`${name} is ${its}, not ${wanted}`];
    },
  );
  for (const view of views) {
    const difference = await differingView(view, [...held.keys()]);
    if (difference !== null) told.push(difference);
  }
  return told;
}
