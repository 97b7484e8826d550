/**
 * Reconciliation of staging tables: over a real server, with a job that answers rows, and people who change them.
 *
 * @module-tag numbers
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SqlRow as Row } from "../../src/ledger/sql.ts";
import { agreeing } from "../../src/reconcile/case.ts";
import type { CaseRow, Report } from "../../src/reconcile/report.ts";
import { type BooksSite, leaveFew, openBooksSite } from "../support/books-site.ts";
import { IN_STEP } from "../support/in-step.ts";
import { type Database, isThere, type Server, startServer } from "./server.ts";

const SLOW = 300_000;

describe.skipIf(!isThere.postgresql)("staging tables of PostgreSQL", { timeout: SLOW }, () => {
  let server: Server;
  let site: BooksSite;
  let database: Database;
  let folder: string;
  beforeAll(async () => {
    server = await startServer("postgresql");
    database = await server.database();
    folder = mkdtempSync(join(tmpdir(), "fuelbridge-staging-"));
    const { settings } = database;
    site = await openBooksSite(folder, {
      name: "sql-staging",
      isCopy: false,
      change: (yaml) =>
        yaml
          .replace("# port: 5432", `port: ${settings.port}`)
          .replace("database: staging", `database: ${String(settings["database"])}`)
          .replace("user: fuelbridge", `user: ${String(settings["user"])}\n    settleMs: 0`),
      secrets: { password: String(settings["password"]) },
      env: {},
      close: () => server.stop(),
    });
    await leaveFew(site, { invoice: (id) => /^[01]/.test(id) });
  }, SLOW);
  afterAll(async () => {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (sql: string, values: readonly string[] = []) => database.run(sql, values);
  const reconciled = async (...days: readonly string[]): Promise<readonly CaseRow[]> => {
    const { out } = await site.here("reconcile", "--json", ...days);
    return (JSON.parse(out) as { data: Report }).data.cases;
  };
  /** What does not agree, by its id: `bucket: field, field`. */
  const differing = async (...days: readonly string[]) =>
    new Map(
      (await reconciled(...days))
        .filter(({ bucket }) => !agreeing.has(bucket))
        .map(({ bucket, key, differences }) => [
          key.replace(/^\w+:/, ""),
          `${bucket}: ${differences.map(({ field }) => field).join(", ")}`,
        ]),
    );
  const answer = (rows: readonly Row[], status: string) =>
    run(
      `update fuelbridge_document set status = ?, message = 'no such customer', answered_at = current_timestamp where seq in (${rows.map(() => "?").join(", ")})`,
      [status, ...rows.map(({ seq }) => seq ?? "")],
    );
  test("before the first run everything waits; then what has its row agrees, what the job rejected is with a person, and each planted difference is told", async () => {
    const before = await reconciled();
    expect(before.filter(({ bucket }) => bucket === "waiting").length).toBeGreaterThan(20);
    expect(before.filter(({ records }) => records.books.length > 0)).toEqual([]);

    expect(await site.here("once")).toMatchObject({ code: 0, out: IN_STEP });
    expect(await differing()).toEqual(new Map());
    // Nothing is paid on these.
    const unpaid = await run(
      "select * from fuelbridge_document d where kind = 'invoice' and state = 'open' and not exists (select 1 from fuelbridge_document p where p.invoice_id = d.id) order by seq",
    );
    const [rejected, withdrawn, changed, deleted, another] = unpaid as [Row, Row, Row, Row, Row];
    const rows = await run("select seq from fuelbridge_document where status = 'new'");
    const left = [rejected, withdrawn].map(({ seq }) => seq);
    await answer(
      rows.filter(({ seq }) => !left.includes(seq ?? "")),
      "accepted",
    );
    await answer([rejected], "rejected");
    await site.here("once");
    expect(await differing()).toEqual(new Map([[rejected["id"], "in quarantine: state"]]));

    await answer([rejected], "accepted");
    await site.control.patch("invoices", withdrawn["id"] ?? "", { status: "VOID" });
    await site.here("once");
    await answer([withdrawn], "accepted");
    await run("update fuelbridge_document set total = total + 0.01 where seq = ?", [
      changed["seq"] ?? "",
    ]);
    for (const [table, column] of [
      ["line", "document_seq"],
      ["tax", "document_seq"],
      ["document", "seq"],
    ] as const)
      await run(`delete from fuelbridge_${table} where ${column} = ?`, [deleted["seq"] ?? ""]);
    await run(
      "insert into fuelbridge_document (kind, id, version, content, number, state, side, party_code, party_company_id, document_date, currency, subtotal, tax, total, status, answered_at) select kind, 'entered', 1, content, 'ENTERED-1', state, side, party_code, party_company_id, document_date, currency, subtotal, tax, total, status, answered_at from fuelbridge_document where seq = ?",
      [another["seq"] ?? ""],
    );
    const [payment, bill] = await Promise.all(
      ["payment' and side = 'sale", "bill' and state = 'open"].map(async (which) => {
        const [row] = await run(
          `select * from fuelbridge_document where kind = '${which}' order by seq`,
        );
        return row as Row;
      }),
    );
    await run("update fuelbridge_document set total = total + 0.01 where seq in (?, ?)", [
      payment?.["seq"] ?? "",
      bill?.["seq"] ?? "",
    ]);
    const found = await differing();
    const planted = new Map([
      [changed["id"], "differs: money.total, money.open"],
      [bill?.["id"], "differs: state, money.total, money.open"],
      [payment?.["id"], "differs: money.amount"],
      // What it pays.
      [payment?.["invoice_id"], "differs: state, money.open"],
      [deleted["id"], "only on the platform: "],
      ["entered", "only in the ERP: "],
      [withdrawn["id"], "differs: state"],
    ]);
    expect(found).toEqual(planted);

    // Payments of other days.
    const [{ seq = "", id = "", document_date: day = "" }] = (await run(
      "select * from fuelbridge_document where kind = 'payment' and side = 'purchase' order by seq",
    )) as [Record<string, string>];
    const date = (to: string) =>
      run("update fuelbridge_document set document_date = ? where seq = ?", [to, seq]);
    const asked = (on: string) => differing("--from", on, "--to", on);
    const first = day.slice(0, 10);
    await date("2026-01-03");
    for (const on of [first, "2026-01-03"])
      expect((await asked(on)).get(id)).toBe("differs: days.date");
    await date(first);
    expect((await asked(first)).get(id)).toBe(undefined);
    const copied =
      "kind, version, content, number, state, side, document_date, currency, total, status, answered_at, invoice_id";
    await run(
      `insert into fuelbridge_document (id, ${copied}) select 'copy', ${copied} from fuelbridge_document where seq = ?`,
      [seq],
    );
    expect((await asked(first)).get("copy")).toBe("only in the ERP: ");
  });
});
