import { copyFileSync, mkdirSync, readdirSync, renameSync, rmdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { execFileSync } from "node:child_process";
import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { freshRequest, legalMoves, requestStates } from "../core/request.ts";
import { StorageError } from "../core/errors.ts";
import { openDatabase, storeFile } from "./database.ts";
import { preparedLate } from "./statements.ts";
import { LOG_GROWS_AT, openStore, rooms, type Store } from "./store.ts";

const change = (id: string, version: string | null, text: string) => ({ id, version, text });
const at = 1_000;

function setup() {
  const folder = tempFolder();
  const store = openStore(folder);
  const { flow } = store.flows.open("bills");
  return { folder, store, flow, file: join(folder, "fuelbridge.sqlite") };
}

test("a page, its deliveries and the position are one transaction", () => {
  const { store, flow } = setup();
  const page = { changes: [change("a", "1", "{}")], position: { cursor: "c1" } };
  expect(() =>
    store.transaction(() => {
      store.intake.page(flow, page, at);
      throw new Error("crash");
    }),
  ).toThrow("crash");
  expect(store.flows.position("bills")).toBeNull();
  expect(store.deliveries.counts(flow).size).toBe(0);
  store.transaction(() => store.intake.page(flow, page, at));
  expect(store.flows.position("bills")).toEqual({ cursor: "c1" });
  expect(store.deliveries.counts(flow)).toEqual(new Map([["pending", 1]]));
});

test("a stop that was rolled back never stood, and one that is committed stands at once", () => {
  const { store } = setup();
  const stop = { breaker: "scope", scope: "platform", sinceMs: at, retryMs: null };
  const told = { ...stop, message: "403", next: "ask" };
  expect(store.journal.breakers()).toEqual([]);
  expect(() =>
    store.transaction(() => {
      store.journal.trip(told);
      expect(store.journal.breakers()).toEqual([told]);
      throw new Error("crash");
    }),
  ).toThrow("crash");
  expect(store.journal.breakers()).toEqual([]);
  store.transaction(() => store.journal.trip(told));
  expect(store.journal.breakers()).toEqual([told]);
  store.transaction(() => store.journal.release("scope", "Ann", at));
  expect(store.journal.breakers()).toEqual([]);
});

test("a newer version replaces what waits, an older one and a repeated one change nothing", () => {
  const { store, flow } = setup();
  const take = (version: string | null, text: string) =>
    store.transaction(() =>
      store.intake.page(flow, { changes: [change("a", version, text)], position: 1 }, at),
    );
  expect(take("2", '{"v":2}')).toMatchObject({ received: 1, unchanged: 0, stale: 0 });
  expect(take("2", '{"v":2}')).toMatchObject({ received: 0, unchanged: 1, stale: 0 });
  expect(take("1", '{"v":1}')).toMatchObject({ received: 0, unchanged: 0, stale: 1 });
  expect(take("3", '{"v":3}')).toMatchObject({ received: 1, unchanged: 0, stale: 0 });
  expect(take("3", '{"v":33}'), "equal times, other content: the later read wins").toMatchObject({
    received: 1,
  });
  expect(store.deliveries.counts(flow)).toEqual(
    new Map([
      ["pending", 1],
      ["superseded", 2],
    ]),
  );
  expect(store.deliveries.pending(flow, 0, 10)[0]?.text).toBe('{"v":33}');
});

test("without versions only changed content is new, and going back is new again", () => {
  const { store, flow } = setup();
  const take = (text: string) => {
    store.transaction(() =>
      store.intake.page(flow, { changes: [change("a", null, text)], position: 1 }, at),
    );
    return store.deliveries.pending(flow, 0, 10)[0]?.revision;
  };
  const revisions = [take("A"), take("A"), take("B"), take("A")];
  expect(revisions[1]).toBe(revisions[0]);
  expect(new Set(revisions).size).toBe(3);
});

test("a record that could be read at last is new, though its text is the same", () => {
  const { store, flow } = setup();
  const fault = { code: "cut", message: "cut off", next: "" };
  const take = (one: object) => {
    const page = { changes: [{ ...change("a", null, "{}"), ...one }], position: 1 };
    return store.transaction(() => store.intake.page(flow, page, at)).received;
  };
  expect([take({ fault }), take({ fault }), take({}), take({})]).toEqual([1, 0, 1, 0]);
  expect(store.deliveries.pending(flow, 0, 10)).toMatchObject([{ fault: null }]);
});

test("ids come back as they were, UUIDs and others", () => {
  const { store, flow } = setup();
  const ids = [
    "0190c1f2-0000-7000-8000-0000000000ff",
    "0190C1F2-0000-7000-8000-0000000000FF",
    "000417",
    "10E205",
  ];
  const changes = ids.map((id) => change(id, "1", "{}"));
  store.transaction(() => store.intake.page(flow, { changes, position: 1 }, at));
  expect(store.deliveries.pending(flow, 0, 10).map(({ recordId }) => recordId)).toEqual(ids);
});

test("a second process is refused with a clear message", () => {
  const { folder } = setup();
  const script = `import { openStore } from "./src/store/store.ts"; try { openStore(process.argv[1]); } catch (e) { console.log(e.exitCode, e.message); }`;
  const said = execFileSync(
    process.execPath,
    ["--input-type=module-typescript", "-e", script, folder],
    {
      encoding: "utf8",
    },
  );
  expect(said).toMatch(/^3 The store .* is in use by another fuelbridge process/);
});

test("a commit is durable: synchronous is FULL after the first statement, and no shared memory file exists", () => {
  const { folder, store } = setup();
  expect(readdirSync(folder).sort()).toEqual(["fuelbridge.sqlite", "fuelbridge.sqlite-wal"]);
  store.close();
});

test("a file that is no database ends in a storage error, not in a new store", () => {
  const { folder, store, file } = setup();
  store.close();
  execFileSync("sh", ["-c", `head -c 20000 /dev/urandom > ${file}; rm -f ${file}-wal`]);
  expect(() => openStore(folder)).toThrow(/cannot be written or read safely/);
});

test("the database itself refuses illegal moves, changed bytes and a changed audit", () => {
  const { store, flow, file } = setup();
  const request = store.transaction(() => {
    store.journal.audit(at, { event: "made", detail: "" });
    return store.requests.add(
      {
        flow,
        operation: "bill.create",
        kind: "bill",
        number: "1",
        revision: "r",
        orderingKey: "l",
        key: "k",
        machine: freshRequest,
        target: "t",
        body: "b",
      },
      at,
    );
  });
  store.close();
  const database = new Database(file);
  let refused = 0;
  for (const from of requestStates)
    for (const to of requestStates) {
      if (from === to) continue;
      database.exec("drop trigger if exists paused");
      const legal = legalMoves[from].includes(to);
      const move = database.transaction(() => {
        database.exec("create temp table if not exists keep (x)");
        const moves = database
          .prepare("select sql from sqlite_schema where name = 'request_moves'")
          .pluck()
          .get() as string;
        database.exec("drop trigger request_moves");
        database.prepare("update request set state = ?").run(from);
        database.exec(moves);
        database.prepare("update request set state = ?").run(to);
      });
      if (legal) move();
      else {
        expect(move, `${from} to ${to}`).toThrow("illegal move");
        refused++;
      }
    }
  expect(refused).toBeGreaterThan(30);
  expect(() => database.exec(`update request set body = 'x' where request = ${request}`)).toThrow(
    "frozen bytes",
  );
  expect(() => database.exec("delete from audit")).toThrow("append only");
  expect(() => database.exec("update audit set detail = 'x'")).toThrow("append only");
  database.close();
});

test("frozen bytes that a disk has damaged are not sent", () => {
  const { folder, store, flow, file } = setup();
  const added = {
    flow,
    operation: "o",
    kind: "bill" as const,
    number: "1",
    revision: "r",
    orderingKey: "l",
    key: "k",
    machine: freshRequest,
    target: "t",
    body: "12.50",
  };
  store.transaction(() => store.requests.add(added, at));
  store.close();
  const database = new Database(file);
  database.exec("drop trigger request_frozen; update request set body = '92.50'");
  database.close();
  const reopened = openStore(folder);
  expect(() => reopened.requests.open(flow)).toThrow(/frozen bytes of request 1 are damaged/);
  reopened.close();
});

test("one live request per operation and number", () => {
  const { store, flow } = setup();
  const add = (key: string) =>
    store.transaction(() =>
      store.requests.add(
        {
          flow,
          operation: "o",
          kind: "bill" as const,
          number: "1",
          revision: "r",
          orderingKey: "l",
          key,
          machine: freshRequest,
          target: "t",
          body: "b",
        },
        at,
      ),
    );
  const request = add("k1");
  expect(() => add("k2")).toThrow(/UNIQUE/);
  const stored = store.requests.get(request);
  if (stored === null) throw new Error("it was just added");
  const machine = { ...freshRequest, state: "cancelled" } as const;
  store.transaction(() => store.requests.move(stored, machine, "k1", at));
  expect(add("k2")).toBe(2);
  expect(store.requests.nextGeneration("o", "1", "r")).toBe(1);
});

test("what is handed in together is durable together, and what throws is undone alone", async () => {
  const folder = tempFolder();
  const store = openStore(folder);
  const flow = store.flows.open("bills").flow;
  const settled = await Promise.allSettled([
    store.together(() => store.flows.setDue(flow, 1)),
    store.together(() => {
      store.flows.setDue(flow, 2);
      throw new Error("a fault of its own");
    }),
    store.together(() => store.flows.find("bills")?.next_due_ms),
  ]);
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(settled[2]).toMatchObject({ value: 1 });
  store.close();
  const again = openStore(folder);
  expect(again.flows.find("bills")?.next_due_ms).toBe(1);
  again.close();
});

test("a log of commits that cannot be written ends the process, and loses nothing", async () => {
  const { store, flow, file } = setup();
  const page = { changes: [change("a", "1", "{}")], position: 1 };
  store.transaction(() => store.intake.page(flow, page, at));
  const log = `${file}-wal`;
  await commits(store, LOG_GROWS_AT - 1);
  renameSync(log, `${log}.away`);
  mkdirSync(log);
  await expect(store.together(() => 1)).rejects.toThrow(StorageError);
  rmdirSync(log);
  renameSync(`${log}.away`, log);
  store.close();
  const after = openStore(dirname(file));
  expect(after.deliveries.counts(flow)).toEqual(new Map([["pending", 1]]));
});

async function commits(store: Store, count: number): Promise<void> {
  for (let at = 0; at < count; at++) await store.together(() => 1);
}

test("what a log was grown by is never read, not even after a kill", async () => {
  const { store, flow, file } = setup();
  const page = { changes: [change("a", "1", "{}")], position: 1 };
  await store.together(() => store.intake.page(flow, page, at));
  expect(statSync(`${file}-wal`).size).toBeLessThan(1_000_000);
  await commits(store, LOG_GROWS_AT - 1);
  const folder = tempFolder();
  for (const name of ["fuelbridge.sqlite", "fuelbridge.sqlite-wal"])
    copyFileSync(join(dirname(file), name), join(folder, name));
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(8_000_000);
  const killed = new Database(join(folder, "fuelbridge.sqlite"));
  expect(killed.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(killed.prepare("select count(*) as count from record").get()).toEqual({ count: 1 });
  killed.close();
});

test("a store prepares its statements late, and the schema has what each of them names", () => {
  const folder = tempFolder();
  openStore(folder).close();
  const database = openDatabase(storeFile(folder));
  const prepare = vi.spyOn(database, "prepare");
  try {
    rooms(database, folder, () => {});
    expect(prepare.mock.calls.length).toBeGreaterThan(150);
    prepare.mockClear();
    rooms(preparedLate(database), folder, () => {});
    expect(prepare).not.toHaveBeenCalled();
  } finally {
    database.close();
  }
});
