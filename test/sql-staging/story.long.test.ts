/**
 * A month with staging tables at its end: the program's own code, the platform, a real server, and a job that takes and answers
 * rows as an ERP's own would. Its kills bring such a month in step in each long run; this one only with all numbers.
 *
 * @module-tag numbers
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dialects, type Query } from "../../src/ledger/sql.ts";
import type { Status } from "../../src/office/answers.ts";
import { figuresIn } from "../support/booked.ts";
import { type BooksSite, leaveFew, openBooksSite } from "../support/books-site.ts";
import { IN_STEP } from "../support/in-step.ts";
import { areAll } from "../support/runs.ts";
import { expected } from "../tryton/ledger.ts";
import { type Database, isThere, type Server, startServer } from "./server.ts";
import { bookedIn } from "./site.ts";

const SLOW = 900_000;
const UNKNOWN = "no such customer in the ERP";

describe.runIf(areAll).each(dialects.filter((dialect) => isThere[dialect]))(
  "a month on %s",
  (dialect) => {
    let server: Server;
    let site: BooksSite;
    let database: Database;
    let folder: string;
    beforeAll(async () => {
      server = await startServer(dialect);
      database = await server.database();
      folder = mkdtempSync(join(tmpdir(), "fuelbridge-staging-"));
      site = await openBooksSite(folder, {
        name: "sql-staging",
        isCopy: false,
        change: (yaml) => changed(yaml, dialect, database),
        secrets: { password: String(database.settings["password"]) },
        env: {},
        close: () => server.stop(),
      });
      await leaveFew(site, { invoice: (id) => /^[0-3]/.test(id) });
    }, SLOW);
    afterAll(async () => {
      await site.close();
      rmSync(folder, { recursive: true, force: true });
    });

    test(
      "each document is one row, the job answers all, and the rows say what the platform's records add up to",
      { timeout: SLOW },
      async () => {
        expect(await site.here("once")).toMatchObject({ code: 0, out: IN_STEP });
        expect(await site.causes()).toEqual([]);
        const { flows, stops } = await site.ask<Status>("status");
        expect(stops).toEqual([]);
        const delivered = new Map(flows.map((flow) => [flow.name, flow.delivered]));
        const rows = await database.run("select * from fuelbridge_document");
        const count = (kind: string): number => rows.filter((row) => row["kind"] === kind).length;
        expect(count("invoice")).toBeGreaterThan(20);
        expect(count("payment")).toBeGreaterThan(5);
        expect([count("invoice"), count("bill")]).toEqual([
          delivered.get("invoices-issued"),
          delivered.get("invoices-payable"),
        ]);
        const { invoicesByMonth } = await expected(site, new Map(), []);
        expect(figuresIn(site.folder, rows.flatMap(bookedIn), []).invoicesByMonth).toEqual(
          invoicesByMonth,
        );

        const rejected = await work(database.run, UNKNOWN);
        expect(await site.here("once")).toMatchObject({ code: 0, out: IN_STEP });
        const causes = await site.causes();
        expect(causes).toHaveLength(1);
        expect(causes[0]).toContain(UNKNOWN);
        expect(await site.here("once")).toMatchObject({ code: 0, out: IN_STEP });
        const after = await database.run("select seq, told from fuelbridge_document");
        expect(after).toHaveLength(rows.length);
        expect(after.every(({ told }) => told !== null)).toBe(true);

        await database.run("update fuelbridge_document set status = 'new' where seq = ?", [
          rejected,
        ]);
        await work(database.run);
        expect(await site.here("once")).toMatchObject({ code: 0, out: IN_STEP });
        expect(await site.causes()).toEqual([]);
      },
    );
  },
);

const changed = (yaml: string, dialect: string, { settings }: Database): string =>
  yaml
    .replace("dialect: postgresql", `dialect: ${dialect}`)
    .replace("# port: 5432", `port: ${settings.port}`)
    .replace("database: staging", `database: ${String(settings["database"])}`)
    .replace("user: fuelbridge", `user: ${String(settings["user"])}\n    settleMs: 0`);

/** What the ERP's job does: claims each row, books it, and answers; with `rejects` the first one as well. Returns that one's seq. */
async function work(run: Query, rejects: string | null = null): Promise<string> {
  const [first] = await run("select min(seq) as seq from fuelbridge_document where status = 'new'");
  const seq = first?.["seq"] ?? "";
  await run("update fuelbridge_document set status = 'taken' where status = 'new'");
  if (rejects !== null)
    await run(
      "update fuelbridge_document set status = 'rejected', message = ?, answered_at = current_timestamp where seq = ?",
      [rejects, seq],
    );
  await run(
    "update fuelbridge_document set status = 'accepted', erp_number = concat('E-', seq), answered_at = current_timestamp where status = 'taken'",
  );
  return seq;
}
