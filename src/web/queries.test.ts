/** What the console asks of a large store: no page reads a table that grows with the documents (ADR 0001). */
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { testConsole } from "../../test/support/console.ts";
import { bill, billMapping, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Change } from "../core/contract.ts";
import { openTables } from "../config/crossref.ts";
import { orders } from "../core/record.ts";
import { runFlow } from "../engine/daemon.ts";
import type { Store } from "../store/store.ts";
import { catchUp } from "../office/documents.ts";
import { storeOffice } from "../../test/support/office.ts";
import { routes } from "./routes.ts";

const signal = new AbortController().signal;

/** Two delivered invoices and one that waits for a product; and more. */
async function site(more: readonly Change[] = []) {
  const folder = tempFolder();
  const made = engineOn(join(folder, "state"));
  const flow = made.flow({
    mapping: { ...billMapping, about: ({ amount }) => ({ partyName: "Prairie Fuel", amount }) },
    sink: receiver(),
    source: pagesOf([
      {
        changes: [
          bill("INV-1", "9.50"),
          { ...bill("INV-2", "20.00"), version: "2026-11-20T10:00:00Z" },
          bill("INV-3", "1.00", { product: "ULSD" }),
          ...more,
        ],
        position: 1,
      },
    ]),
  });
  const tables = openTables(folder);
  const engine = { ...made.engine, tables, flows: [flow] };
  const parts = { engine, flows: [flow], daemon: null, version: "1", startedAt: new Date(0) };
  const office = storeOffice({ ...parts, tables });
  await runFlow(engine, flow, signal);
  return { ...made, engine, flow, office };
}

interface Asked {
  readonly statement: Database.Statement;
  readonly args: unknown[];
}

/** Every statement that reads, with what it was asked. */
function listening(): Asked[] {
  const asked: Asked[] = [];
  const prototype = Object.getPrototypeOf(
    new Database(":memory:").prepare("select 1"),
  ) as Database.Statement;
  for (const name of ["all", "get", "iterate"] as const) {
    const own = prototype[name] as (...args: unknown[]) => unknown;
    const spy = vi.spyOn(prototype, name) as unknown as {
      mockImplementation(work: (this: Database.Statement, ...args: unknown[]) => unknown): void;
      mockRestore(): void;
    };
    spy.mockImplementation(function (...args) {
      asked.push({ statement: this, args });
      return own.apply(this, args);
    });
    onTestFinished(() => spy.mockRestore());
  }
  return asked;
}

/**
 * As the query planner names them, with the aliases that statements give them. `request_ordering_key` has none but the requests
 * that are open.
 */
const GROWS =
  /^SCAN (?!request USING (COVERING )?INDEX request_ordering_key)(record|delivery|request|link|audit|search_record|carried_before|d|r)\b|^SEARCH r USING INTEGER PRIMARY KEY \(rowid<\?\)/;
/** By the row's own number from the newest on, and no more than so many. */
const FEW = /from (delivery|audit|record)\b[^()]* order by \1 desc limit/;

test("no page of the console, and no search, reads a table that grows with the documents", async () => {
  const { office, clock, store, flow } = await site();
  const { as } = await testConsole(office, clock);
  const operator = await as("operator");
  const [group] = await office.quarantine();
  const asked = listening();
  const pages = routes
    .filter(({ method, path }) => method === "GET" && !path.includes(":job") && path !== COST)
    .map(({ path }) => path.replace(":group", group?.id ?? "").replace(":document", "1"));
  const searches = ["INV", "id-of-INV-1", "9.50", "Prairie", "2026-11-21"].map(
    (text) => `text=${text}`,
  );
  const filters = ["state=quarantined&least=1&most=9", "party=Prairie&month=2026-11", "flow=bills"];
  const sorted = orders.map((order) => `state=all&order=${order}`);
  for (const path of [
    ...pages,
    ...[...searches, ...filters, ...sorted].map((query) => `/documents?${query}`),
  ])
    expect([path, (await operator.get(path)).status]).toEqual([path, 200]);
  // What tells when the daemon compares both sides next.
  expect(store.sweeps.recordsSince(flow.flow, "2026-11-20")).toBe(3);
  vi.restoreAllMocks();

  const found = new Set<string>();
  const statements = new Map(asked.map((one) => [one.statement.source, one]));
  for (const [source, { statement, args }] of statements)
    for (const { detail } of statement.database
      .prepare<unknown[], { detail: string }>(`explain query plan ${source}`)
      .all(...args))
      if (GROWS.test(detail) && !FEW.test(source)) found.add(`${detail}: ${source}`);
  expect([...found]).toEqual([]);
  expect(statements.size).toBeGreaterThan(20);
});

const COST = "/reconciliation/cost";

test("the counts of deliveries and records are those of their tables, after every move and change", async () => {
  const { engine, flow, office, store } = await site();
  const [group] = await office.quarantine();
  await office.resolve(group?.id ?? "", { by: "ann", note: "by hand" });
  const newer = [
    { ...bill("INV-2", "21.00"), version: "2026-11-21T10:00:00Z" },
    bill("INV-1", "9.75"),
  ];
  await runFlow(engine, { ...flow, source: pagesOf([{ changes: newer, position: 2 }]) }, signal);
  const { rows } = expectCounted(store, flow.flow);
  expect(rows(DAYS)).toHaveLength(2);
  expect(rows(KEPT).length).toBeGreaterThan(2);
});

test("the counts are exact after pages that bring a record twice, that fail, and that tell odd versions", async () => {
  const { store } = await site();
  // One that has brought nothing yet.
  const { flow } = store.transaction(() => store.flows.open("another"));
  const at = (id: string, version: string | null, text = id) => ({
    id,
    version,
    text: `"${text}"`,
  });
  const take = (...changes: Change[]) =>
    store.transaction(() => store.intake.page(flow, { changes, position: 2 }, 1));
  const again = [at("A", "2026-11-20T10"), at("A", "2026-11-21T10"), at("B", "2026-11-20T10")];
  take(...again, at("C", null), at("C", null, "other"), at("D", "\u{1F6E2}".repeat(9)));
  expectCounted(store, flow);
  const failing = (): never => {
    store.intake.page(flow, { changes: [at("E", "2026-11-20T10")], position: 3 }, 1);
    throw new Error("it fails");
  };
  expect(() => store.transaction(failing)).toThrow("it fails");
  take(at("F", "2026-11-22T10"), at("D", "\u{1F6E2}".repeat(12)), at("A", "2026-11-19T10"));
  expectCounted(store, flow);
  expect(() => take(at("G", "2026-11-20"), null as never)).toThrow();
  take(at("B", "2026-11-23T10"));
  expectCounted(store, flow);
});

const KEPT = "select * from delivery_count where count <> 0";
const DAYS = "select * from record_count where count <> 0";

/** Expects of a store that its tables of counts say what its tables hold. */
function expectCounted(store: Store, flow: number) {
  const asked = listening();
  store.deliveries.counts(flow);
  vi.restoreAllMocks();
  const database = asked[0]?.statement.database as Database.Database;
  const rows = (sql: string) => database.prepare(sql).all();
  const deliveries = "select flow, state, count(*) as count from delivery group by 1, 2";
  expect(rows(`${KEPT} order by 1, 2`)).toEqual(rows(`${deliveries} order by 1, 2`));
  const records =
    "select flow, coalesce(substr(version, 1, 10), '') as day, count(*) as count from record group by 1, 2";
  expect(rows(`${DAYS} order by 1, 2`)).toEqual(rows(`${records} order by 1, 2`));
  return { rows };
}

test("the newest documents under a number's beginning are found: few, many, and many that are old", async () => {
  const { store, flow } = await site();
  const asked = listening();
  store.deliveries.counts(flow.flow);
  vi.restoreAllMocks();
  const database = asked[0]?.statement.database as Database.Database;
  // OLD-1 to OLD-3000, then NEW-3001 to NEW-9000, one of each ten in two versions.
  database.exec(`
    with recursive n (i) as (select 1 union all select i + 1 from n where i < 9000)
    insert into record (record, flow, id, revision, text) select 1000 + i, ${flow.flow}, 'x' || i, 'r', '{}' from n;
    insert into delivery (flow, record, revision, received_ms, state, number)
    select flow, record, 'r', 0, 'delivered', iif(record <= 4000, 'OLD-', 'NEW-') || (record - 1000)
    from record where record > 1000;
    insert into delivery (flow, record, revision, received_ms, state, number)
    select flow, record, 's', 0, 'delivered', number from delivery where record > 1000 and record % 10 = 0`);
  const numbers = database
    .prepare<[], { record: number; number: string }>(
      "select distinct record, number from delivery where number is not null order by record desc",
    )
    .all();
  for (const text of ["NEW-", "OLD-", "OLD-29", "NEW-77", "INV-", "N", "X"])
    for (const before of [1e9, 6_000, 2_500]) {
      const expected = numbers
        .filter(({ record, number }) => record < before && number.startsWith(text))
        .slice(0, 26)
        .map(({ record }) => record);
      expect([text, before, store.found.byNumber(text, before, 26)]).toEqual([
        text,
        before,
        expected,
      ]);
    }
});

test("words that fit more documents than are looked through say so", async () => {
  const many = Array.from({ length: 401 }, (_, at) => bill(`MANY-${at}`, "9.50"));
  const { office, engine, flow } = await site(many);
  catchUp(engine, [flow], 60_000);
  const newestOf = async (text: string) => (await office.documents({ text, before: null })).newest;
  expect(await Promise.all(["MANY-", "Prairie", "INV-"].map(newestOf))).toEqual([400, 400, null]);
});

test("in each order every document is on one page, once, whatever is asked for beside it", async () => {
  const many = Array.from({ length: 41 }, (_, at) => bill(`MANY-${at}`, `${at % 5}.50`));
  const { office, engine, flow } = await site(many);
  catchUp(engine, [flow], 60_000);
  for (const order of orders)
    for (const filter of [{}, { state: "delivered" as const }, { flow: flow.name, least: "1" }]) {
      const seen: string[] = [];
      let before: string | null = null;
      do {
        const asked = { text: null, before, order, limit: 7, ...filter };
        const page = await office.documents(asked);
        seen.push(...page.documents.map(({ number }) => number));
        before = page.next;
      } while (before !== null);
      const all = await office.documents({
        text: null,
        before: null,
        limit: 100,
        order,
        ...filter,
      });
      expect([order, filter, seen]).toEqual([
        order,
        filter,
        all.documents.map((one) => one.number),
      ]);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.length).toBeGreaterThan(30);
    }
  const byNumber = await office.documents({ text: null, before: null, limit: 3, order: "number" });
  expect(byNumber.documents.map(({ number }) => number)).toEqual(["INV-1", "INV-2", "INV-3"]);
});
