import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { storeOffice } from "../report/store-office.ts";
import { openStore } from "../store/store.ts";
import { bill, engineOn, pagesOf, type Receiver, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { Daemon } from "./daemon.ts";

const signal = new AbortController().signal;
const file = (folder: string): string => join(folder, "fuelbridge.sqlite");

/** One daemon's life over a store: it takes these documents, and works until nothing more can go. */
async function life(
  folder: string,
  sink: Receiver,
  numbers: readonly string[],
  by?: string,
): Promise<{ stops: string[]; open: number; delivered: number }> {
  const bench = engineOn(folder);
  const changes = numbers.map((number) => bill(number, "10.00"));
  const flow = bench.flow({ sink, source: pagesOf([{ changes, position: numbers.length }]) });
  const daemon = new Daemon(bench.engine, [flow]);
  const office = storeOffice({
    engine: bench.engine,
    flows: [flow],
    daemon,
    version: "0",
    startedAt: new Date(),
  });
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

test.each([
  ["lost its mark", (folder: string) => rmSync(`${folder}.high-water`), "is missing"],
  [
    "has a damaged mark",
    (folder: string) => writeFileSync(`${folder}.high-water`, "?"),
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
