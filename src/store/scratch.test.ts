import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { memoryScratch } from "../core/scratch.ts";
import { openScratch } from "./scratch.ts";

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
    { at: 1, text: "A" },
    { at: 2, text: "b1" },
  ]);
  expect(scratch.page(2, 2)).toEqual([{ at: 3, text: "c3" }]);
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
  expect(() => openScratch(tempFolder(), 1e15)).toThrow(/MB free; to read a file of \d+ MB/);
});
