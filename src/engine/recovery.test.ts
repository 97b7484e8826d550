import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import type { Change } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { storeOffice } from "../../test/support/office.ts";
import { highWater, markFile } from "../store/database.ts";
import { schemaSteps } from "../store/schema.ts";
import { addFunctions } from "../store/statements.ts";
import { openStore } from "../store/store.ts";
import {
  bill,
  billMapping,
  engineOn,
  pagesOf,
  quickPolicy,
  type Receiver,
  receiver,
} from "../../test/support/engine.ts";
import { officeOn } from "../../test/support/office.ts";
import { testClock } from "../../test/support/clock.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { Daemon } from "./daemon.ts";
import type { Flow } from "./engine.ts";

const signal = new AbortController().signal;
const file = (folder: string): string => join(folder, "fuelbridge.sqlite");

/** One daemon's life over a store: it takes these documents, and works until nothing more can go. */
async function life(
  folder: string,
  sink: Receiver,
  numbers: readonly string[],
  by?: string,
): Promise<{ stops: string[]; open: number; delivered: number }> {
  const bench = engineOn(folder, testClock(Date.now()));
  const changes = numbers.map((number) => bill(number, "10.00"));
  const flow = bench.flow({ sink, source: pagesOf([{ changes, position: numbers.length }]) });
  const daemon = new Daemon(bench.engine, [flow]);
  const office = officeOn(bench.engine, [flow], daemon);
  if (by !== undefined) await office.release("restored", by);
  await daemon.once(signal);
  const stops = bench.store.journal.breakers().map(({ breaker }) => breaker);
  const open = bench.store.requests.openCount(flow.flow);
  const delivered = bench.store.deliveries.counts(flow.flow).get("delivered") ?? 0;
  bench.store.close();
  return { stops, open, delivered };
}

test("a restored store sends nothing until it has looked for everything and a person has released it", async () => {
  const folder = tempFolder();
  const backup = join(tempFolder(), "backup.sqlite");
  const sink = receiver();
  await life(folder, sink, ["INV-1"]);
  copyFileSync(file(folder), backup);
  await life(folder, sink, ["INV-2"]);
  expect(sink.executed).toHaveLength(2);

  copyFileSync(backup, file(folder));
  const held = await life(folder, sink, ["INV-2", "INV-3"]);
  // INV-2 was found at the receiver; INV-3 was looked for, and waits.
  expect(held).toEqual({ stops: ["restored"], open: 1, delivered: 2 });
  expect(sink.executed).toHaveLength(2);
  expect(await life(folder, sink, [])).toEqual({ stops: ["restored"], open: 1, delivered: 2 });

  const released = await life(folder, sink, [], "eva");
  expect(released).toEqual({ stops: [], open: 0, delivered: 3 });
  expect(sink.executed.map(({ body }) => body.includes("INV-3"))).toEqual([false, false, true]);
  expect(await life(folder, sink, ["INV-4"])).toMatchObject({ stops: [], delivered: 4 });
});

test("a receiver that tells of more than the store knows stops it as restored: nothing is sent there before a person has looked", async () => {
  const bench = engineOn(tempFolder(), testClock(Date.now()));
  const { store } = bench;
  const at = new Date(Date.now() + 60_000).toISOString();
  const said = JSON.stringify({ store: store.sender.store, audit: 1_000, at });
  let isTold = false;
  const sink = receiver({
    forgets: true,
    async prepare() {
      const isAhead = !isTold && store.sender.whose(said) === "ahead";
      isTold = true;
      if (isAhead) throw new SourceUnavailable("more was sent", { stop: "restored", next: "See." });
    },
  });
  const changes = [bill("INV-1", "10.00"), bill("INV-2", "10.00")];
  const flow = bench.flow({
    sink,
    side: "platform",
    source: pagesOf([{ changes, position: 2 }]),
  });
  const daemon = new Daemon(bench.engine, [flow]);
  await daemon.once(signal);
  expect(store.journal.breakers()).toMatchObject([{ breaker: "restored" }]);
  await daemon.once(signal);
  await officeOn(bench.engine, [flow], daemon).release("restored", "eva");
  await daemon.once(signal);
  expect(sink.executed).toEqual([]);
  expect(store.deliveries.counts(flow.flow).get("quarantined")).toBe(2);
  store.close();
});

test("what could not be looked for before the release is looked for after it, whatever its policy", async () => {
  const folder = tempFolder();
  const backup = join(tempFolder(), "backup.sqlite");
  const sink = receiver();
  await life(folder, sink, ["INV-1"]);
  copyFileSync(file(folder), backup);
  await life(folder, sink, ["INV-2"]);

  copyFileSync(backup, file(folder));
  const blind = { ...sink, find: async () => ({ found: "unreadable", detail: "" }) as const };
  expect(await life(folder, blind, ["INV-2"])).toMatchObject({ open: 1, delivered: 1 });
  expect(await life(folder, sink, [], "eva")).toEqual({ stops: [], open: 0, delivered: 2 });
  expect(sink.executed).toHaveLength(2);
});

test("what was not even frozen before the release is looked for after it, whatever its policy", async () => {
  const folder = tempFolder();
  const backup = join(tempFolder(), "backup.sqlite");
  // Requests of two documents: one is made when the last is settled.
  const sink = receiver({ itemsMax: 2 });
  await life(folder, sink, ["INV-1"]);
  copyFileSync(file(folder), backup);
  await life(folder, sink, ["INV-2", "INV-3"]);

  copyFileSync(backup, file(folder));
  await life(folder, sink, ["NEW-1", "NEW-2", "INV-2", "INV-3"]);
  expect(await life(folder, sink, [], "eva")).toMatchObject({ open: 0, delivered: 5 });
  const sent = sink.executed.map(({ body }) => body.match(/(?:INV|NEW)-\d/g));
  expect(sent).toEqual([["INV-1"], ["INV-2", "INV-3"], ["NEW-1", "NEW-2"]]);
});

/** A site with both directions: an ERP that keeps what it took to itself, and the platform. */
function twoWays(folder: string, erp: Receiver, platform: Receiver, told: readonly Change[]) {
  const bench = engineOn(folder, testClock(Date.now()));
  const out = bench.flow({
    sink: platform,
    source: pagesOf([{ changes: [bill("INV-1", "10.00")], position: 1 }]),
  });
  const home = bench.flow({
    name: "home",
    side: "platform",
    from: "platform.bills",
    to: "erp.bills",
    sink: erp,
    source: pagesOf([{ changes: told, position: 1 }]),
  });
  const daemon = new Daemon(bench.engine, [home, out]);
  const parts = { engine: bench.engine, flows: [home, out], daemon, version: "0" };
  const office = storeOffice({ ...parts, startedAt: new Date() });
  const counts = (flow: Flow) => Object.fromEntries(bench.store.deliveries.counts(flow.flow));
  return { bench, daemon, office, out: () => counts(out), home: () => counts(home) };
}

test("after a restore our own documents are not taken for the platform's, and what may be delivered already waits", async () => {
  const folder = tempFolder();
  const old = join(tempFolder(), "backup.sqlite");
  await life(folder, receiver(), []);
  copyFileSync(file(folder), old);
  const platform = receiver();
  const erp = receiver({ operation: "file.bill", forgets: true });
  const theirs = { ...bill("INV-9", "5.00"), id: "P-9", version: "2026-01-01T00:00:00.000000000Z" };
  const ours = { ...bill("INV-1", "10.00"), id: "id-of-INV-1", version: theirs.version };
  const before = twoWays(folder, erp, platform, [theirs]);
  await before.daemon.once(signal);
  before.bench.store.close();
  expect([erp.executed.length, platform.executed.length]).toEqual([1, 1]);

  copyFileSync(old, file(folder));
  const after = twoWays(folder, erp, platform, [ours, theirs]);
  await expect(after.office.release("restored", "eva")).rejects.toThrow(/: bills, home\./);
  await after.daemon.once(signal);
  expect([after.out(), after.home()]).toEqual([{ delivered: 1 }, { pending: 1, echo: 1 }]);
  await after.office.release("restored", "eva");
  await after.daemon.once(signal);
  const [maybe] = after.bench.store.questions.quarantine();
  expect(maybe).toMatchObject({ code: "maybe-delivered", count: 1, number: "INV-9" });
  await after.office.retry("all");
  await after.daemon.once(signal);
  // A person retried it: nobody else could tell.
  expect(after.home()).toEqual({ echo: 1, delivered: 1 });
  expect([erp.executed.length, platform.executed.length]).toEqual([2, 1]);
  after.bench.store.close();
});

test("after a restore what waits for another document does not go by itself to where it may be already", async () => {
  const folder = tempFolder();
  const erp = receiver({ operation: "file.bill", forgets: true });
  const waiting = { ...bill("INV-9", "5.00", { payer: "P-5" }), id: "P-9" };
  const before = twoWays(folder, erp, receiver(), [waiting]);
  await before.daemon.once(signal);
  expect(before.bench.store.questions.quarantine()).toMatchObject([{ code: "waits-without-flow" }]);
  before.bench.store.close();

  rmSync(markFile(folder));
  const { bench, daemon, office } = twoWays(folder, erp, receiver(), []);
  await daemon.once(signal);
  await office.release("restored", "eva");
  expect(bench.store.questions.quarantine()).toMatchObject([{ code: "maybe-delivered" }]);
  bench.store.close();
});

test("all that was sent is in the mark once the work rests, and the first of a burst before it leaves", async () => {
  const folder = tempFolder();
  const bench = engineOn(folder);
  const mark = () => JSON.parse(readFileSync(markFile(folder), "utf8")) as { audit: number };
  const marks: number[] = [];
  const sink = receiver();
  const send = sink.send.bind(sink);
  sink.send = (request, by) => {
    marks.push(mark().audit);
    return send(request, by);
  };
  const changes = Array.from({ length: 40 }, (_, at) => bill(`INV-${at}`, "1.00"));
  const flow = bench.flow({ sink, source: pagesOf([{ changes, position: 1 }]) });
  await new Daemon(bench.engine, [flow]).once(signal);
  bench.store.rest();
  const rested = mark().audit;
  bench.store.close();
  const store = new Database(file(folder));
  const sends = "select min(audit) as first, max(audit) as last from audit where event = 'send'";
  const { first, last } = store.prepare(sends).get() as { first: number; last: number };
  store.close();
  expect(marks).toHaveLength(40);
  expect(Math.min(...marks)).toBeGreaterThanOrEqual(first);
  expect(rested).toBeGreaterThanOrEqual(last);
});

test.each([
  ["lost its mark", (folder: string) => rmSync(markFile(folder)), "is missing"],
  [
    "has a damaged mark",
    (folder: string) => writeFileSync(markFile(folder), "?"),
    "cannot be read",
  ],
  ["was replaced by an empty one", (folder: string) => rmSync(file(folder)), "another store sent"],
])("a store that %s is no store to send from", async (_, harm, sentence) => {
  const folder = tempFolder();
  await life(folder, receiver(), ["INV-1"]);
  harm(folder);
  const store = openStore(folder);
  expect(store.restored()).toContain(sentence);
  store.close();
});

test("a store that sent and was opened again is not taken for a restored one", async () => {
  const folder = tempFolder();
  await life(folder, receiver(), ["INV-1"]);
  const store = openStore(folder);
  expect(store.restored()).toBeNull();
  store.close();
});

test("a process that ends in the first second of the first run, after reads only, leaves no restored store", async () => {
  const folder = tempFolder();
  // Every document is looked for, and nothing is sent: the process ends first.
  const preflight = { ...quickPolicy, preflight: true };
  const stop = new AbortController();
  const find = async () => {
    stop.abort();
    return { found: "none", detail: "not there" } as const;
  };
  const bench = engineOn(folder, testClock(Date.now()));
  const looking = receiver({ policy: preflight, find });
  const source = pagesOf([{ changes: [bill("INV-1", "10.00")], position: 1 }]);
  await new Daemon(bench.engine, [bench.flow({ sink: looking, source })]).once(stop.signal);
  expect(looking.sent).toEqual([]);
  bench.store.close();
  const entries = new Database(file(folder));
  expect(entries.prepare("select count(*) from audit").pluck().get()).toBeGreaterThan(0);
  entries.close();

  const sink = receiver({ policy: preflight });
  expect(await life(folder, sink, [])).toEqual({ stops: [], open: 0, delivered: 1 });
});

test("a process that ends between its first commit and the first mark leaves no restored store", () => {
  const folder = tempFolder();
  const database = new Database(":memory:");
  addFunctions(database);
  for (const sql of schemaSteps) database.exec(sql);
  const sent = highWater(database, folder);
  database.exec(`
    insert into audit (at_ms, event, detail, chain) values (0, 'send', 'POST /invoices', x'00');
    insert into flow (flow, name) values (1, 'bills');
    insert into request (flow, operation, kind, number, revision, ordering_key, key, target, body, body_sha256, state, machine,
      created_ms, updated_ms, sent_ms) values (1, '', '', '', '', '', '', '', '', '', 'sending', '{}', 0, 0, 0)`);
  sent.leaving(0);
  // Nothing was told of the commit: the process has ended.
  expect(highWater(database, folder).restored()).toBeNull();
  rmSync(markFile(folder));
  expect(highWater(database, folder).restored()).toContain("is missing");
});

test("a copy from before the first send beside a mark of later sends is a restored store", async () => {
  const folder = tempFolder();
  const backup = join(tempFolder(), "backup.sqlite");
  await life(folder, receiver(), []);
  copyFileSync(file(folder), backup);
  await life(folder, receiver(), ["INV-1"]);
  copyFileSync(backup, file(folder));
  const store = openStore(folder);
  expect(store.restored()).toContain("restored from a backup");
  store.close();
});

test("what a lost store may have delivered is said to be lost, before the release and after it; by no other store", async () => {
  const said = async (more: object): Promise<boolean[]> => {
    const bench = engineOn(tempFolder(), testClock(Date.now()));
    const engine = { ...bench.engine, ...more };
    const lost: boolean[] = [];
    const mapping: typeof billMapping = {
      ...billMapping,
      map(one, references) {
        lost.push(references.wasLost?.(one.number) === true);
        return billMapping.map(one, references);
      },
    };
    const source = pagesOf(
      [{ changes: [bill("INV-1", "10.00")], position: 1 }],
      [{ changes: [bill("INV-2", "10.00")], position: 2 }],
    );
    const flow = bench.flow({ sink: receiver(), source, mapping });
    const daemon = new Daemon(engine, [flow]);
    const parts = { engine, flows: [flow], daemon, version: "0", startedAt: new Date() };
    await daemon.once(signal);
    if (lost[0]) await storeOffice(parts).release("restored", "eva");
    bench.clock.advance(60_000);
    await daemon.once(signal);
    return lost;
  };
  expect(await said({ knowsUs: async () => "invoices" })).toEqual([true, true]);
  expect(await said({})).toEqual([false, false]);
});
