import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isMounted, tempFolder } from "../../test/support/folder.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { memoryScratch } from "../core/scratch.ts";
import { openScratch } from "./scratch.ts";

const MB = 1024 * 1024;
const step = fc.constantFrom("put", "put", "put", "replace");
const key = fc.nat({ max: 250 }).map((at) => `${at}é😀`);
const text = fc.oneof(
  { arbitrary: fc.string({ unit: "grapheme" }), weight: 9 },
  { arbitrary: fc.nat({ max: 70_000 }).map((length) => "\n\0x".repeat(length / 3)), weight: 1 },
);

test.each([
  ["in memory", () => memoryScratch()],
  ["on disk", () => openScratch(tempFolder(), 1)],
])("a scratch %s keeps records once per key in their order, and lists by key", (_name, open) => {
  const scratch = open();
  expect(["a", "b", "a", "c"].map((key, at) => scratch.put(key, `${key}${at}`))).toEqual([
    null,
    null,
    "a0",
    null,
  ]);
  scratch.replace("a", "A");
  scratch.replace("never there", "-");
  expect(scratch.count()).toBe(3);
  expect(scratch.page(0, 2)).toEqual([
    { key: "a", text: "A" },
    { key: "b", text: "b1" },
  ]);
  expect(scratch.page(2, 2)).toEqual([{ key: "c", text: "c3" }]);
  const texts = (characters: number): string[] =>
    scratch.page(0, 9, characters).map(({ text }) => text);
  expect([1, 2, 3, 4].map(texts)).toEqual([["A"], ["A", "b1"], ["A", "b1"], ["A", "b1", "c3"]]);
  for (const [key, text] of ["x1", "y2", "x3", "z4"].map((one) => [one.charAt(0), one] as const))
    scratch.add("lines", key, text);
  scratch.add("taxes", "x", "other");
  expect(scratch.take("lines", "x")).toEqual(["x1", "x3"]);
  expect(scratch.take("lines", "x")).toEqual([]);
  expect(scratch.left("lines")).toEqual({ count: 2, first: "y2" });
  expect(scratch.left("taxes")).toEqual({ count: 1, first: "other" });
  expect(scratch.left("nothing")).toEqual({ count: 0, first: null });
  scratch.close();
});

test("a scratch on disk says of every key what one in memory says, over many records of any size and character", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, key, text), { size: "max", maxLength: 400 }), (steps) => {
      const [disk, memory] = [openScratch(tempFolder(), 1), memoryScratch()];
      for (const [what, name, content] of steps)
        if (what === "replace") for (const one of [disk, memory]) one.replace(name, content);
        else expect(disk.put(name, content)).toBe(memory.put(name, content));
      expect(disk.count()).toBe(memory.count());
      for (const [after, limit] of [
        [0, 1_000],
        [1, 2],
        [33, 40],
        [399, 10],
      ] as const)
        for (const characters of [undefined, 1, 70_000])
          expect(disk.page(after, limit, characters)).toEqual(
            memory.page(after, limit, characters),
          );
      disk.close();
    }),
    { numRuns: 8 },
  );
});

test.skipIf(process.platform === "win32")(
  "a scratch on disk leaves no file, and removes what was left by another",
  () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "scratch-7-1.sqlite"), "");
    const scratch = openScratch(folder, 1);
    scratch.put("a", "a");
    expect(readdirSync(folder)).toEqual([]);
    scratch.close();
  },
);

test("without room on the disk nothing is begun, and the message says how much is needed", () => {
  expect(() => openScratch(tempFolder(), 1e15)).toThrow(SourceUnavailable);
  expect(() => openScratch(tempFolder(), 1e15)).toThrow(/MB free; what is read needs \d+ MB/);
});

test("a scratch that grows leaves the store what it needs, and says how it goes on", () => {
  let free = 600 * MB;
  const goesOn = "papers are compared the next night";
  const scratch = openScratch(tempFolder(), 0, { goesOn, free: () => free });
  const filled = () => {
    for (let at = 0; at < 9; at++) scratch.put(`${at}`, "x".repeat(MB));
  };
  filled();
  free = 383 * MB;
  expect(filled).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/ has 383 MB free; the store is left 384 MB\.$/),
      next: "Free space on that disk; papers are compared the next night.",
    }),
  );
  expect(scratch.page(0, 1)).toHaveLength(1);
  scratch.close();
});

test("a disk that is full while a scratch is written is told with SQLite's own words, and what to do", ({
  skip,
}) => {
  const folder = tempFolder();
  if (!isMounted(folder, "size=2m")) skip("this machine mounts nothing");
  const scratch = openScratch(folder, 0, { free: () => Infinity });
  expect(() => {
    for (let at = 0; at < 99; at++) scratch.put(`${at}`, "x".repeat(MB / 8));
  }).toThrow(
    expect.objectContaining({
      name: "SourceUnavailable",
      message: expect.stringMatching(
        /^The temporary file in .* cannot be used: .* \(SQLITE_(?:FULL|IOERR\w*)\)\.$/,
      ),
      next: "Free space on that disk, and look at it: it is read at the next look. Nothing was read, and nothing is lost.",
    }),
  );
  scratch.close();
});
