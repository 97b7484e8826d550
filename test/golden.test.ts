/**
 * What lies in a store or at a receiver stays as it was, byte by byte: keys, marks, numbers, targets, names of files, and
 * every kind of document of every connector. `test/golden/` has what was recorded; `npm run emit` writes the same files.
 *
 * A failure here is a change that a receiver, or a store, sees. Where that is meant, say so in the commit and record anew:
 * `FUELBRIDGE_GOLDEN=record npx vitest run test/golden.test.ts -t CONNECTOR`, which records the numbers of the long run, too
 * (several minutes for a connector). To see two versions of a document side by side, emit on both commits and compare:
 * `npm run emit -- --connector NAME --out DIR --seed N --count N`, then `diff -r`. Where only the type of a document changes,
 * test/emit keeps drawing the same values.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DAY_MS } from "../src/core/time.ts";
import type { Emitted } from "./emit/emitted.ts";
import { connectors, formats } from "./emit/formats.ts";
import { differences, digestOf, Tally } from "./golden/golden.ts";
import { grammars } from "./golden/grammars.ts";
import { areAll, isLongRun, numbers } from "./support/runs.ts";

const FOLDER = join(import.meta.dirname, "golden");
const isRecording = process.env["FUELBRIDGE_GOLDEN"] === "record";

/** Random documents per kind in the ordinary run. */
const SEED = 1;
const COUNT = 8;
/** 10,000 per kind are recorded. QuickBooks Desktop makes a whole life of each, and 30 requests. */
const LONG = { seeds: 50, count: 200 };
const SHORTER: Readonly<Record<string, typeof LONG>> = {
  "quickbooks-desktop": { seeds: 20, count: 50 },
};
/** The long run makes a fifth of their seeds, another one each day; all of them where all numbers are asked for. */
const PARTS = 5;
const today = Math.floor(Date.now() / DAY_MS) % PARTS;
const isMade = (seed: number): boolean => areAll || isRecording || seed % PARTS === today;

const emitters = { ...formats, ...connectors };

/** What changes nothing may be asked in another way. */
const isWrite = ({ path }: Emitted): boolean => !/Query\//.test(path);

type Recorded = Record<string, Record<string, string>>;

const read = (name: string): Recorded => {
  const path = join(FOLDER, name);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Recorded) : {};
};

/** Sorted, so that a new recording shows what changed and nothing else. */
function record(name: string, key: string, value: Record<string, string>): void {
  const sorted = Object.entries({ ...read(name), [key]: value }).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  writeFileSync(join(FOLDER, name), `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

const HINT = "If this is meant: the head of test/golden.test.ts says how to record it anew.";

test("every grammar that lies in a store or at a receiver is as it was", () => {
  const now = JSON.parse(JSON.stringify(grammars())) as Recorded;
  if (isRecording)
    for (const [name, rows] of Object.entries(now)) record("grammars.json", name, rows);
  expect(now, HINT).toEqual(read("grammars.json"));
});

test.each(Object.entries(emitters))(
  "every document of %s has the bytes that it had",
  async (name, emit) => {
    const files = [...(await emit(SEED, COUNT))].filter(isWrite);
    expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
    if (isRecording) {
      record(
        "emitted.json",
        name,
        Object.fromEntries(files.map(({ path, bytes }) => [path, digestOf(bytes)])),
      );
      // One of each folder, to be read.
      const first = Map.groupBy(files, ({ path }) => path.replace(/[^/]*$/, ""));
      record(
        "samples.json",
        name,
        Object.fromEntries(
          [...first.values()].flatMap(([one]) =>
            one === undefined ? [] : [[one.path, one.bytes.toString()]],
          ),
        ),
      );
    }
    const changed = differences(
      read("emitted.json")[name] ?? {},
      files,
      read("samples.json")[name] ?? {},
    );
    expect(
      changed.slice(0, 5),
      `${changed.length} documents of ${name} are not as they were. ${HINT}`,
    ).toEqual([]);
  },
);

test.runIf(isLongRun || isRecording).each(Object.entries(emitters))(
  "of 10,000 documents of each kind of %s, those of a day have the bytes that they had",
  { ...numbers, timeout: 1_800_000 },
  async (name, emit) => {
    const { seeds, count } = SHORTER[name] ?? LONG;
    const tally = new Tally();
    const made = Array.from({ length: seeds }, (_, at) => at + 1).filter(isMade);
    for (const seed of made)
      for (const file of await emit(seed, count)) if (isWrite(file)) tally.add(seed, file);
    const now = tally.digests();
    if (isRecording) record("numbers.json", name, now);
    const recorded = read("numbers.json")[name] ?? {};
    // A folder's digest is of all seeds; which of the folders changed is told where all are made.
    const isWhole = made.length === seeds;
    const isCompared = (key: string) => isWhole || made.some((seed) => key === `seed ${seed}`);
    const compared = (all: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(all).filter(([key]) => isCompared(key)));
    expect(compared(now), HINT).toEqual(compared(recorded));
    expect(Object.keys(compared(now)).length).toBeGreaterThanOrEqual(made.length);
  },
);
