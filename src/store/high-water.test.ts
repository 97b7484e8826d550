/** The mark of how far sending had got: where it is and what a copy of it means (ADR 0002). */
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { bill, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { testClock } from "../../test/support/clock.ts";
import { isMounted, tempFolder } from "../../test/support/folder.ts";
import { Daemon } from "../engine/daemon.ts";
import { watchForRestore } from "../engine/deliver.ts";
import { faultOfState, markFile, spaceAhead } from "./database.ts";
import { openStore } from "./store.ts";

const signal = new AbortController().signal;

/** A daemon delivers these. Returns how many stand as delivered, and the stops. */
async function work(folder: string, ...numbers: string[]) {
  const bench = engineOn(folder, testClock(Date.now()));
  const changes = numbers.map((number) => bill(number, "10.00"));
  const source = pagesOf([{ changes, position: numbers.length }]);
  const flow = bench.flow({ sink: receiver(), source });
  await new Daemon(bench.engine, [flow]).once(signal);
  const delivered = bench.store.deliveries.counts(flow.flow).get("delivered") ?? 0;
  const stops = bench.store.journal.breakers().map(({ breaker }) => breaker);
  bench.store.close();
  return { delivered, stops };
}

function opened(folder: string) {
  const store = openStore(folder);
  const said = { restored: store.restored(), until: store.sentUntil() };
  store.close();
  return said;
}

const stateIn = (folder: string): string => join(folder, "state");

test("everything that is written lies inside the state folder, the mark in no-backup", async () => {
  const folder = tempFolder();
  await work(stateIn(folder), "INV-1");
  expect(existsSync(join(stateIn(folder), "no-backup", "high-water"))).toBe(true);
});

test("a mark of another store, or one that cannot be read, means restored", async () => {
  for (const [harm, sentence] of [
    [(text: string) => text.replace(/"store":"[^"]*"/, '"store":"another"'), "another store sent"],
    [() => "?", "cannot be read"],
  ] as const) {
    const state = stateIn(tempFolder());
    await work(state, "INV-1");
    writeFileSync(markFile(state), harm(readFileSync(markFile(state), "utf8")));
    expect(opened(state).restored).toContain(sentence);
    expect(opened(state).restored).toContain(sentence);
  }
});

test("a whole folder that was copied, or put back in its place with its mark, is a restored store", async () => {
  const folder = tempFolder();
  const state = stateIn(folder);
  await work(state, "INV-1");
  cpSync(state, join(folder, "backup"), { recursive: true, preserveTimestamps: true });
  await work(state, "INV-2");

  rmSync(state, { recursive: true });
  cpSync(join(folder, "backup"), state, { recursive: true, preserveTimestamps: true });
  // What was sent after the backup is unknown, so until when is not known either.
  expect(opened(state)).toEqual({ restored: expect.stringContaining("is a copy"), until: null });
  expect((await work(state)).stops).toEqual(["restored"]);
});

test("chown, chmod, a rename of the folder and a restart leave the mark what it is", async () => {
  const folder = tempFolder();
  const state = stateIn(folder);
  await work(state, "INV-1");
  const moved = join(folder, "moved");
  renameSync(state, moved);
  chmodSync(markFile(moved), 0o640);
  if (process.getuid?.() === 0) chownSync(markFile(moved), 12_345, 12_345);
  expect(opened(moved).restored).toBeNull();
  expect(await work(moved, "INV-2")).toEqual({ delivered: 2, stops: [] });
});

test("a store whose mark could never be written, stopped as restored by an older version, sends after the update", async () => {
  const state = stateIn(tempFolder());
  const bench = engineOn(state, testClock(Date.now()));
  const store = {
    ...bench.store,
    restored: () => "the record of how far sending had got is missing",
  };
  watchForRestore({ ...bench.engine, store });
  bench.store.close();
  expect(await work(state, "INV-1")).toEqual({ delivered: 1, stops: [] });
});

test("a store that sent and has no mark stays stopped until a person releases it", async () => {
  const state = stateIn(tempFolder());
  await work(state, "INV-1");
  rmSync(dirname(markFile(state)), { recursive: true });
  expect((await work(state)).stops).toEqual(["restored"]);
  expect((await work(state)).stops).toEqual(["restored"]);
});

test("a state folder that can be made or written has no fault, and looking makes nothing", () => {
  const folder = tempFolder();
  expect(faultOfState(join(folder, "a", "b"))).toBeNull();
  expect(existsSync(join(folder, "a"))).toBe(false);
  mkdirSync(join(folder, "a"));
  writeFileSync(join(folder, "file"), "");
  expect(faultOfState(join(folder, "a"))).toBeNull();
  expect(faultOfState(join(folder, "file", "b"))).toMatchObject({ code: "state-not-writable" });
});

test("a disk that fills is told before the daemon has to end, and until there is room again", () => {
  let free = 600;
  const look = spaceAhead("fuelbridge.sqlite", () => free * 1024 * 1024);
  const told = [600, 511, 700, 767, 768, 700, 100].map((now) => {
    free = now;
    return look().map(({ code, message }) => [code, message.slice(0, 16)]);
  });
  const low = (now: number) => [["space", `only ${now} MB are `]];
  expect(told).toEqual([[], low(511), low(700), low(767), [], [], low(100)]);
});

test("a disk that is too full to send is told by who looks at the state folder, not by the daemon's end alone", ({
  skip,
}) => {
  const folder = tempFolder();
  if (!isMounted(folder, "size=9m")) skip("this machine mounts nothing");
  for (const state of [folder, join(folder, "not-made-yet")])
    expect(faultOfState(state)).toMatchObject({
      code: "disk-full",
      message: expect.stringMatching(/^only \d MB are free .* 256 MB are needed/),
    });
});
