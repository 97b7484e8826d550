/** The ERP's own database as the counter: documents are rows that its job takes and answers, lists come from its views. */
import { defineConnector } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { openSql, type Sql } from "../../src/ledger/sql.ts";
import { offered, openLedger } from "../../src/ledger/table.ts";
import { SqlStagingConfig } from "./config.ts";
import { tableOf } from "./documents.ts";
import { partsOf, sqlOf } from "./schema.ts";
import { BOOKS, neededIn, SCHEMA, type View, viewSource } from "./sources.ts";

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
    const tables = { ...surroundings, ...config, wire };
    const ledger = openLedger({
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
      check: (signal) => expectSchema(wire, config.views, signal),
    });
    return { ...ledger, close: () => Promise.resolve() };
  },
});

/**
 * Tables, indexes, views and the encoding are as they must be. @throws LedgerError, SourceUnavailable, which names all that
 * are not
 */
async function expectSchema(wire: Sql, views: readonly View[], signal: AbortSignal): Promise<void> {
  const rows = await wire.transaction(signal, (query) => query(sqlOf(wire.dialect)));
  const held = new Map(rows.map(({ name = null, type = null }) => [name, type]));
  const told = [...partsOf(wire.dialect), ["encoding", "utf8"] as const].flatMap(
    ([name, wanted]) => {
      const its = held.get(name) ?? "missing";
      return its === wanted ? [] : [`${name} is ${its}, not ${wanted}`];
    },
  );
  for (const column of views.flatMap(neededIn))
    if (!held.has(column)) told.push(`${column} is missing`);
  if (told.length > 0)
    throw new SourceUnavailable(`${BOOKS.name}: ${told.join("; ")}`, {
      next: SCHEMA,
      stop: "scope",
    });
}
