/** What goes after its time, and that nothing rests on it: sending, traces, restored stores and reconciliation go on. */
import { copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { Daemon, push, runFlow } from "../src/engine/daemon.ts";
import type { Flow } from "../src/engine/engine.ts";
import { tidy } from "../src/engine/retention.ts";
import { lifeOf, trace } from "../src/office/documents.ts";
import { storeFile } from "../src/store/database.ts";
import { openStore } from "../src/store/store.ts";
import { times } from "./conformance/support.ts";
import { never, usePlatform } from "./platform/support.ts";
import { testClock } from "./support/clock.ts";
import { bill, engineOn, pagesOf, type Receiver, receiver } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";
import { inWords, useOffice } from "./support/reconciled-site.ts";

const DAY_MS = 86_400_000;
const keep = { replacedMs: 730 * DAY_MS, differencesMs: 730 * DAY_MS };
const office = useOffice(usePlatform());

const version = (number: string, at: number) =>
  bill(number, "10.00", { notes: `${at}`.repeat(20_000) });
const upsert = (): Receiver => receiver({ writes: "upsert", operation: "price.upsert" });

/** 20 documents in two versions, ten of them in a third; one that needs a person. */
async function delivered(folder: string, sink: Receiver, clock = testClock()) {
  const bench = engineOn(folder, clock);
  const all = times(20, (at) => `INV-${at}`);
  const pages = [all, all, all.slice(10)].map((numbers, at) => [
    { changes: numbers.map((number) => version(number, at)), position: at },
  ]);
  const odd = bill("INV-X", "1", { product: "ULSD" });
  const flow = bench.flow({ sink, source: pagesOf(...pages, [{ changes: [odd], position: 9 }]) });
  for (let run = 0; run < 4; run++) await runFlow(bench.engine, flow, never);
  return { ...bench, flow };
}

test("after retention the file is smaller, a trace still tells the story and what is gone, and nothing is sent again", async () => {
  const folder = tempFolder();
  const sink = upsert();
  const { engine, store, clock, flow } = await delivered(folder, sink);
  expect(sink.executed).toHaveLength(50);
  expect(await tidy(engine, keep, never)).toEqual({ requests: 0, bytes: 0, differences: 0 });
  const before = store.retention.size();
  const steps = trace(store, "INV-15").steps.length;
  const newest = [...store.remembered.of(sink.operation)];

  clock.advance(800 * DAY_MS);
  // Only what a newer delivered version has replaced.
  expect(await tidy(engine, keep, never)).toMatchObject({ requests: 30 });
  const after = store.retention.size();
  expect(after.freeBytes).toBe(0);
  expect(after.bytes).toBeLessThan(before.bytes - 30 * 16_000);
  expect(await tidy(engine, keep, never)).toMatchObject({ requests: 0 });

  const story = trace(store, "INV-15").steps;
  expect(story).toHaveLength(steps + 2);
  expect(story.filter(({ event }) => event === "bytes removed")).toHaveLength(2);
  expect(story.filter(({ event }) => event === "done")).toHaveLength(3);
  const [record] = store.found.byNumber("INV-15", Number.MAX_SAFE_INTEGER, 1);
  const life = lifeOf(engine, [flow], String(record));
  const sent = Array.from({ length: 50 }, (_, at) => store.requests.bytes(at + 1));
  expect(sent.filter((bytes) => bytes === null)).toHaveLength(30);
  expect(life.requests.map(({ removedAt, body }) => [removedAt === null, body === ""])).toEqual([
    [true, false],
    [false, true],
    [false, true],
  ]);
  expect(life.requests.every(({ sha256, key }) => sha256 !== "" && key !== "")).toBe(true);
  expect([...store.remembered.of(sink.operation)]).toEqual(newest);
  expect(store.questions.quarantine()).toMatchObject([{ code: "not-mapped", count: 1 }]);

  // What comes again is known, after a restart too.
  store.close();
  expect(statSync(storeFile(folder)).size).toBeLessThanOrEqual(after.bytes);
  const changes = [version("INV-1", 1), version("INV-15", 2)];
  const again = engineOn(folder, clock);
  const reading = again.flow({ sink, source: pagesOf([{ changes, position: 1 }]) });
  await new Daemon(again.engine, [reading]).once(never);
  expect(sink.executed).toHaveLength(50);
  expect(await again.store.journal.check(null, async () => {})).toMatchObject({ broken: null });
  again.store.close();
});

test("a store that was restored from after retention looks for what was sent since, and doubles nothing", async () => {
  const folder = tempFolder();
  const backup = join(tempFolder(), "backup.sqlite");
  const sink = upsert();
  const clock = testClock(Date.now());
  const { engine, store } = await delivered(folder, sink, clock);
  clock.advance(800 * DAY_MS);
  await tidy(engine, keep, never);
  store.close();
  copyFileSync(storeFile(folder), backup);
  const life = async () => {
    const bench = engineOn(folder, clock);
    const changes = [version("INV-1", 7), version("INV-2", 1)];
    const flow = bench.flow({ sink, source: pagesOf([{ changes, position: 1 }]) });
    await new Daemon(bench.engine, [flow]).once(never);
    const stops = bench.store.journal.breakers().map(({ breaker }) => breaker);
    bench.store.close();
    return stops;
  };
  expect(await life()).toEqual([]);
  expect(sink.executed).toHaveLength(51);
  copyFileSync(backup, storeFile(folder));
  expect(await life()).toEqual(["restored"]);
  expect(sink.executed).toHaveLength(51);
});

test("both sides still agree in a reconciliation after retention", async () => {
  const { engine } = office.bench;
  const [flow] = office.flows as [Flow];
  const before = await office.ask();
  await tidy(engine, { replacedMs: -DAY_MS, differencesMs: -DAY_MS }, never);
  await push(engine, flow, never);
  const after = await office.ask();
  expect(inWords(after)).toEqual([]);
  expect(after.controls).toEqual(before.controls);
});

test("a final request alone may lose its bytes", () => {
  const folder = tempFolder();
  openStore(folder).close();
  const open = new Database(storeFile(folder));
  open.exec(`insert into flow (flow, name) values (1, 'orders');
    insert into request (flow, operation, kind, number, revision, ordering_key, key, target, body, body_sha256, state, machine,
      created_ms, updated_ms, live)
    values (1, 'a', 'invoice', '1', 'r', 'l', 'k', 't', 'bytes', 's', 'ready', '{}', 0, 0, 1)`);
  const remove = "update request set body = '', body_gone_ms = 1";
  expect(() => open.exec(remove)).toThrow("frozen bytes");
  open.exec("update request set live = null");
  expect(() => open.exec("update request set body = 'other', body_gone_ms = 1")).toThrow("frozen");
  open.exec(remove);
  open.close();
});
