/**
 * The connector kit over a real server, and in the long run over one of each kind: what they do otherwise is in traps.test.ts.
 */
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import { connectorSuite, type Ground } from "../../test/connector.suite.ts";
import { never } from "../../test/support/connector.ts";
import { invoiceOf, itemOf, paymentOf } from "../../test/support/ledger-documents.ts";
import { isLongRun, numbers } from "../../test/support/runs.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { type Dialect, dialects } from "../../src/ledger/sql.ts";
import { sqlStaging } from "./index.ts";
import {
  createViews,
  isThere,
  lossy,
  type Server,
  startServer,
} from "../../test/sql-staging/server.ts";

const SINKS: Readonly<Record<string, string>> = {
  invoices: "invoice",
  bills: "bill",
  payments: "payment",
};
const invoice = (number: string, more: Partial<InvoiceDocument> = {}) =>
  invoiceOf(number, "2300", more);
const LONG = { description: "x".repeat(1_001) };
const PLAIN = {
  batches: "a transaction carries one document",
  "batches-cut-off": "a transaction carries one document",
  codes: "the ERP's job looks codes up",
  clock: "rows have no stamps that count",
  "shared-code": "parties are the ERP's own: a row names them",
};

const there = dialects.filter((dialect) => isThere[dialect]);

// What needs no numbers of the first one is shown in the ordinary run.
for (const dialect of isLongRun ? there : there.slice(0, 1))
  describe(dialect, dialect === there[0] ? {} : numbers, () => suite(dialect));

function suite(dialect: Dialect): void {
  let server: Server;
  beforeAll(async () => {
    server = await startServer(dialect);
  });
  afterAll(() => server.stop());

  connectorSuite({
    connector: sqlStaging,
    ground: () => groundOf(server),
    bad: [
      { field: "port", config: (good) => ({ ...good, port: 0 }) },
      { field: "dialect", config: (good) => ({ ...good, dialect: "oracle" }) },
      { field: "password", config: (good) => ({ ...good, password: undefined }) },
      { field: "colour", config: (good) => ({ ...good, colour: "blue" }) },
    ],
    sources: ["parties", "invoices", "paidInvoices", "prices"],
    lacksClock: "views have no stamps",
    sinks: {
      invoices: {
        good: itemOf(invoice("FL-1")),
        voided: itemOf(invoice("FL-1", { status: "void" })),
        refused: itemOf(invoice("FL-2", LONG)),
        lacks: PLAIN,
      },
      bills: {
        good: itemOf(invoice("R-1", { type: "in" })),
        voided: itemOf(invoice("R-1", { type: "in", status: "void" })),
        refused: itemOf(invoice("R-2", { type: "in", ...LONG })),
        lacks: PLAIN,
      },
      payments: {
        good: itemOf(paymentOf("pay-1", "id-FL-0")),
        refused: itemOf(paymentOf("pay-2", "id-FL-404")),
        lacks: { ...PLAIN, cancellation: "the platform voids no payment" },
      },
    },
  });
}

async function groundOf(server: Server): Promise<Ground> {
  const { settings, run } = await server.database();
  await createViews(run);
  const config = { ...settings, views: ["parties", "invoices", "prices"] };
  const opened = (more: object = {}) => {
    const endpoint = sqlStaging.open(
      sqlStaging.config.parse({ ...config, ...more }),
      surroundingsIn("."),
    );
    onTestFinished(() => endpoint.close());
    return endpoint;
  };
  const first = itemOf(invoice("FL-0"));
  const sink = opened().sinks["invoices"];
  await sink?.send({ ...sink.freeze([first]), key: "k", items: [first], firstSentAt: null }, never);
  const rowsOf = (name: string, id: string) =>
    run(
      "select * from fuelbridge_document d where d.kind = ? and d.id = ? and not exists (select 1 from fuelbridge_document n where n.kind = d.kind and n.id = d.id and n.version > d.version)",
      [SINKS[name] ?? "", id],
    );
  return {
    folder: ".",
    config,
    unreachable: { ...config, port: 9 },
    wrongCredentials: { ...config, password: "wrong-password" },
    async fill(source) {
      const view = source === "paidInvoices" ? "invoices" : source;
      const values = {
        parties: (at: number) =>
          `('P-${at}', 'Party ${at}', true, false, null, null, null, null, null, null, null, null, true)`,
        invoices: (at: number) =>
          `('${at}', 'S-${at}', 'posted', 'P-1', null, '2026-11-21', null, null, 'USD', 100.10, 0, 100.10, 100.10, null, null)`,
        prices: (at: number) => `('T-1', 'P-${at}', 2.310001, 'gal')`,
      }[view];
      const all = Array.from({ length: 450 }, (_, at) => values?.(1_000 + at));
      await run(`insert into fuelbridge_${view} values ${all.join(", ")}`);
    },
    effects: async (name, { id }) =>
      (await rowsOf(name, id)).map((row) => JSON.stringify({ ...row, seq: "", written_at: "" })),
    async backup() {
      const rows = await run("select seq from fuelbridge_document");
      const kept = rows.map(({ seq }) => seq ?? "");
      return async () => {
        for (const [table, column] of [
          ["fuelbridge_line", "document_seq"],
          ["fuelbridge_tax", "document_seq"],
          ["fuelbridge_document", "seq"],
        ] as const)
          await run(
            `delete from ${table} where ${column} not in (${kept.map(() => "?").join(", ")})`,
            kept,
          );
      };
    },
    async change(name, { id }) {
      await run(
        "update fuelbridge_document set document_date = '2026-11-30' where kind = ? and id = ?",
        [SINKS[name] ?? "", id],
      );
    },
    async interrupt(name, request, step) {
      const line = await lossy(settings.port, step);
      const endpoint = opened({ port: line.port });
      const answer = await endpoint.sinks[name]?.send(request, never);
      const over = line.isOver();
      line.close();
      return { over, answer: answer ?? null };
    },
  };
}
