/** A bit that a disk has flipped in what the store holds is found, named, and delivered to nobody (ADR 0001). */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { exitCodes, StorageError } from "../src/core/errors.ts";
import { runFlow } from "../src/engine/daemon.ts";
import { examineCopy, restoreStore } from "../src/store/backup.ts";
import { tidy } from "../src/engine/retention.ts";
import { storeFile } from "../src/store/database.ts";
import { openStore } from "../src/store/store.ts";
import { bill, engineOn, pagesOf, receiver } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";
import { Random } from "../src/sandbox/scenes/random.ts";

const { signal } = new AbortController();
const COUNT = 60;

/** A store after some deliveries, as one file; the last documents were read and not delivered. */
async function filled(folder = tempFolder()): Promise<{ folder: string; file: string }> {
  const bench = engineOn(folder);
  const bills = (from: number, count: number, more: object) =>
    Array.from({ length: count }, (_, at) =>
      bill(`BILL-${from + at}`, `${100 + at}.25`, { note: `ticket ${from + at} of Gulf`, ...more }),
    );
  const sink = receiver();
  const waiting = bills(COUNT, 20, { payer: "nobody" });
  const source = pagesOf([{ changes: [...bills(0, COUNT, {}), ...waiting], position: 1 }]);
  const flow = bench.flow({ sink, source });
  await runFlow(bench.engine, flow, signal);
  expect(sink.executed.length).toBe(COUNT);
  bench.store.close();
  return { folder, file: storeFile(folder) };
}

/** The texts that matter, by where they are; one row each. */
const TEXTS = {
  "the text of a record": "select text from record",
  "the id of a record": "select id from record",
  "the bytes of a request": "select body from request",
  "the key of a request": "select key from request",
  "the state of a request": "select machine from request",
  "what a link names": "select erp_id from link",
  "the hash in a link": "select content from link",
  "the number of a link": "select number from link",
  "the hash of a delivery": "select content from delivery where content is not null",
  "the amount of a delivery": "select amount || content from delivery where content is not null",
  "what became of a delivery": "select note from delivery where note is not null and note <> ''",
  // A status code alone is also a part of other values.
  "an entry of the audit": "select detail from audit where length(detail) > 8",
} as const;

/** Where a text stands in the file, the first byte of each place. */
function placesOf(bytes: Buffer, text: string): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) found.push(at);
  return found;
}

function textsOf(file: string, sql: string): string[] {
  const database = new Database(file, { readonly: true });
  try {
    return database
      .prepare(sql)
      .pluck()
      .all()
      .filter((one) => typeof one === "string" && one !== "") as string[];
  } finally {
    database.close();
  }
}

/** A copy of the store with one bit flipped. */
function flipped(bytes: Buffer, at: number, bit: number): string {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  const file = join(tempFolder(), "copy.sqlite");
  writeFileSync(file, copy);
  return file;
}

/** Every row of every table, as it is read; or why it cannot be. */
function contentOf(file: string): string {
  const database = new Database(file);
  try {
    const tables = database
      .prepare("select name from sqlite_schema where type = 'table' order by name")
      .pluck()
      .all() as string[];
    return JSON.stringify(tables.map((name) => database.prepare(`select * from ${name}`).all()));
  } catch (error) {
    return (error as Error).message;
  } finally {
    database.close();
  }
}

const EACH = 5;

describe("a single flipped bit", () => {
  let file = "";
  const folder = mkdtempSync(join(tmpdir(), "damage-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const filledOnce = async (): Promise<void> => {
    if (file === "") ({ file } = await filled(folder));
  };

  test.each(Object.entries(TEXTS))("in %s is found by backup and by restore", async (_, sql) => {
    await filledOnce();
    const bytes = readFileSync(file);
    const random = new Random(11);
    const texts = textsOf(file, sql).filter((text) => placesOf(bytes, text).length > 0);
    expect(texts.length).toBeGreaterThan(0);
    const missed: string[] = [];
    const whole = contentOf(file);
    for (let turns = 0, tries = 0; turns < EACH && tries < EACH * 20; tries++) {
      const text = texts[random.int(0, texts.length - 1)] as string;
      const places = placesOf(bytes, text);
      const place = places[random.int(0, places.length - 1)] as number;
      const at = place + random.int(0, Buffer.byteLength(text) - 1);
      const bit = random.int(0, 7);
      const copy = flipped(bytes, at, bit);
      // A page has remains of rows that lie elsewhere now: nobody reads them, and nobody finds a bit in them.
      if (contentOf(copy) === whole) continue;
      turns++;
      try {
        examineCopy(copy, "The copy");
        missed.push(`${text} at ${at - place}, bit ${bit}`);
      } catch (error) {
        expect(error).toBeInstanceOf(StorageError);
      }
      const restore = (): unknown =>
        restoreStore({
          folder: tempFolder(),
          file: copy,
          owner: { company: "bluebonnet", platform: "p", environment: "test" } as never,
          by: "ann",
          atMs: 0,
        });
      expect(restore).toThrow();
    }
    expect(missed).toEqual([]);
  });

  test("a whole copy passes", async () => {
    await filledOnce();
    const copy = join(tempFolder(), "copy.sqlite");
    copyFileSync(file, copy);
    expect(examineCopy(copy, "The copy").counts.record).toBe(COUNT + 20);
  });
});

/** Flips a bit of a text in the store itself, wherever it stands. */
function damage(file: string, text: string): void {
  const bytes = readFileSync(file);
  const places = placesOf(bytes, text);
  if (places.length === 0) throw new Error(`${text} is not in the file`);
  for (const place of places) bytes[place] = (bytes[place] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

test("a damaged record is not mapped: the process ends with exit 4, and the record is named", async () => {
  const { folder, file } = await filled();
  damage(file, "ticket 71 of Gulf");
  const bench = engineOn(folder);
  const { engine, store } = bench;
  onTestFinished(() => store.close());
  const flow = bench.flow({ sink: receiver(), source: pagesOf([]) });
  // What it waits for has come.
  store.transaction(() => {
    for (const { record } of [{ record: 72 }]) {
      const row = store.disagreements.last(flow.flow, `BILL-${record - 1}`);
      if (row !== null) store.deliveries.reopen(row.delivery);
    }
  });
  const error: unknown = await runFlow(engine, flow, signal).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StorageError);
  expect(error).toMatchObject({ exitCode: exitCodes.storage });
  expect((error as StorageError).message).toContain("record 72 (BILL-71) is damaged");
  expect((error as StorageError).next).toContain("fuelbridge restore");
});

test.each([
  ["what a delivery left", "id-of-BILL-3", /delivery 4 of record 4 is damaged/],
  ["a record", "ticket 7 of Gulf", /record 8 \(BILL-7\) is damaged/],
])("the nightly run finds %s that is damaged, and ends the process", async (_, text, told) => {
  const { folder, file } = await filled();
  damage(file, text);
  const { engine, store } = engineOn(folder);
  onTestFinished(() => store.close());
  const keep = { replacedMs: null, differencesMs: null };
  const error: unknown = await tidy(engine, keep, signal).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StorageError);
  expect((error as StorageError).message).toMatch(told);
});

test("the nightly run finds a link that says something else than what was written", async () => {
  const { folder, file } = await filled();
  const database = new Database(file);
  database.exec("update link set content = 'x' where number = 'BILL-3'");
  database.close();
  const store = openStore(folder);
  onTestFinished(() => store.close());
  await expect(store.examine(signal, async () => {})).rejects.toThrow(
    "the link of invoice BILL-3 is damaged",
  );
  expect(() => store.links.find("invoice", "erp", "BILL-3")).toThrow(StorageError);
});

test("the nightly run passes over a whole store, also after corrections, moves and a restart", async () => {
  const { folder } = await filled();
  const store = openStore(folder);
  onTestFinished(() => store.close());
  await store.examine(signal, async () => {});
});
