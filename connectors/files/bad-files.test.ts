/** Files as they should not be: each is refused with a report beside it, or loses its bad rows only. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { FilesConfig } from "./config.ts";
import type { Drop } from "./folder/port.ts";
import { openSource, readerOf } from "./source.ts";
import type { Obstacle } from "../../src/core/contract.ts";
import { Sheet } from "../../src/formats/table/text.ts";
import { expectFates } from "../../test/files/bad-files-suite.ts";
import { putBadFiles } from "../../test/files/bad-files.ts";
import { badFormats } from "../../test/files/bad-formats.ts";
import { FIXED_PROFILE } from "../../test/files/bad-inbox.ts";
import { dropFolder, type DropFolder } from "../../test/files/source.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";

let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

const HEADER =
  "Code,Name,City,State,ZIP,Country,Latitude,Longitude,Capacity,Operating Hours,Active";
const row = (code: string, name = "Plant", capacity = "1000.50") =>
  `${code},${name},Tulsa,OK,74101,US,36.1,-95.9,${capacity},,1`;
const lines = (...rows: string[]) => [HEADER, ...rows, ""].join("\r\n");
const utf16 = (text: string, mark: readonly number[], big: boolean) => {
  const bytes = Buffer.from(text, "utf16le");
  return Buffer.concat([Buffer.from(mark), big ? bytes.swap16() : bytes]);
};
const source = { layout: "plain/terminals", pick: "t*.csv" };

/** What of a file was read as it should be, what was refused, and what lies in `failed`. */
async function outcome(content: string | Buffer, more: Record<string, unknown> = {}) {
  await folder.put("t.csv", content);
  const { changes, notices } = await folder.read({ ...source, ...more });
  return {
    good: changes.filter(({ fault }) => fault === undefined).map(({ id }) => id),
    bad: changes.flatMap(({ id, fault }) => (fault === undefined ? [] : [`${id} ${fault.code}`])),
    failed: (await folder.names("failed")).map((name) => name.replace(/\.[0-9a-f]{8}/, "")),
    notices,
  };
}

const REFUSED = { good: [], bad: [], failed: ["t.csv", "t.errors.csv"] };

test.each<[string, string | Buffer, Record<string, unknown>]>([
  ["an empty file", "", {}],
  ["old Macintosh line ends", lines(row("A")).replaceAll("\r\n", "\r"), {}],
  ["UTF-16 without a mark", utf16(lines(row("A")), [], false), {}],
  ["a workbook under the name of a CSV", Buffer.from("PK\u0003\u0004\u0014\u0000\n\u0000\n"), {}],
  [
    "bytes that are not in the encoding",
    Buffer.from(lines(row("A", "Peña")), "latin1"),
    { encoding: "utf-8" },
  ],
  ["a NUL byte in the header", lines(row("A")).replace("Name", "Na\u0000me"), {}],
  ["another delimiter than the settings say", lines(row("A")), { delimiter: ";" }],
  ["a column that is there twice", lines(row("A")).replace("City", "Name"), {}],
  ["a quote where none may be", lines(row("A"), row("B", 'a"b"')), {}],
])("%s: nothing is delivered, and a report lies beside the file", async (_name, content, more) => {
  const { notices, ...found } = await outcome(content, more);
  expect(found).toEqual(REFUSED);
  expect(notices.length).toBeGreaterThan(0);
  const report = (await folder.names("failed")).find((name) => name.endsWith(".errors.csv")) ?? "";
  expect(await readFile(join(folder.path, "failed", report), "utf8")).toMatch(
    /^file,line,column,reason\r\n"t/,
  );
});

test.each(["", "\r\n\r\n"])(
  "a file without a header and without a row (%j) is refused with a report: an export that failed leaves such a file",
  async (content) => {
    const profile = join(folder.path, "fixed.yaml");
    await writeFile(profile, FIXED_PROFILE);
    const own = { layout: "books.prices", profile, pick: "b1.dat" };
    expect(await outcomeOf(own, content)).toEqual({
      good: [],
      bad: 0,
      failed: ["b1.dat", "b1.errors.csv"],
    });
  },
);

test.each<[string, string | Buffer, string[], string[]]>([
  ["mixed line ends", `${HEADER}\n${row("A")}\r\n${row("B")}\n`, ["A", "B"], []],
  [
    "UTF-16 with a mark, low byte first",
    utf16(lines(row("A", "Peña")), [0xff, 0xfe], false),
    ["A"],
    [],
  ],
  [
    "UTF-16 with a mark, high byte first",
    utf16(lines(row("A", "Peña")), [0xfe, 0xff], true),
    ["A"],
    [],
  ],
  [
    "a NUL byte in a cell",
    lines(row("A"), row("B", "Pl\u0000ant"), row("C")),
    ["A", "C"],
    ["B bad-cell"],
  ],
  [
    "too few and too many cells",
    lines(row("A"), "B,Plant", `${row("C")},x`, row("D")),
    ["A", "D"],
    ["B bad-row", "C bad-row"],
  ],
  [
    "a formula in place of a number",
    lines(row("A", "Plant", "=1+1"), row("B")),
    ["B"],
    ["A bad-cell"],
  ],
  ["scientific notation", lines(row("A", "Plant", "4.47E+06"), row("B")), ["B"], ["A bad-cell"]],
  ["a text that is too long", lines(row("A", "x".repeat(4001)), row("B")), ["B"], ["A bad-cell"]],
  [
    "characters of four bytes, and text like a formula",
    lines(row("😀", "=𝔘"), row("B")),
    ["😀", "B"],
    [],
  ],
  [
    "half of a pair of UTF-16",
    utf16(lines(row("A", "\ud83d"), row("B")), [0xff, 0xfe], false),
    [],
    [],
  ],
])(
  "%s: good rows go through, bad ones are quarantined with their place",
  async (_name, content, good, bad) => {
    const found = await outcome(content);
    expect({ good: found.good, bad: found.bad }).toEqual({ good, bad });
  },
);

test("a file that is cut in a row gives its whole rows and a report", async () => {
  const { good, failed } = await outcome(lines(row("A"), row("B")).slice(0, -40));
  expect([good, failed]).toEqual([["A"], ["t.csv", "t.errors.csv"]]);
});

test.each(["auto", "utf-8"])(
  "a file that is cut within the first character of a row gives its whole rows and a report (%s)",
  async (encoding) => {
    const whole = lines(row("A"), row("B"));
    const cut = Buffer.concat([Buffer.from(whole), Buffer.from("ñ").subarray(0, 1)]);
    const { good, failed } = await outcome(cut, { encoding });
    expect({ good, failed }).toEqual({ good: ["A", "B"], failed: ["t.csv", "t.errors.csv"] });
  },
);

test.each([
  ["without an end", "3,"],
  ["in quotes without an end", '3,"'],
])("a line of 100 MB %s is refused in little memory", async (_name, begin) => {
  const piece = "x".repeat(262_144);
  const before = process.memoryUsage().rss;
  let most = 0;
  const pieces = async function* () {
    yield `a,b\n1,2\n${begin}`;
    for (let at = 0; at < 400; at++) {
      yield piece;
      if (at % 20 === 0) most = Math.max(most, process.memoryUsage().rss - before);
    }
  };
  const sheet = await Sheet.open(pieces(), ",");
  const found: number[] = [];
  for await (const rows of sheet.rows()) found.push(...rows.map(({ line }) => line));
  expect(found).toEqual([2]);
  expect(sheet.cut?.line).toBe(3);
  expect(most).toBeLessThan(100_000_000);
});

test("a file of each kind of bad ones: each is refused with a report, loses its bad rows only, or is told", async () => {
  const put = await putBadFiles(folder.path, 1);
  const { changes, obstacles } = await folder.read(source);
  const idsOf = (isGood: boolean) =>
    changes.flatMap(({ id, fault }) => ((fault === undefined) === isGood ? [id] : []));
  const left = obstacles.map(({ what }) => what);
  expectFates(folder.path, put, { good: idsOf(true), bad: idsOf(false), left });
});

/** What of a file of another format was read, and where it lies. */
async function outcomeOf(source: Readonly<Record<string, unknown>>, content: string | Buffer) {
  const own = await dropFolder();
  onTestFinished(() => own.remove());
  await own.put("b1.dat", content);
  const { changes } = await own.read(source);
  return {
    good: changes.flatMap(({ id, fault }) => (fault === undefined ? [id] : [])).toSorted(),
    bad: changes.filter(({ fault }) => fault !== undefined).length,
    failed: (await own.names("failed")).map((name) => name.replace(/\.[0-9a-f]{8}/, "")),
  };
}

test.each(badFormats)(
  "$name, of each kind of bad files one: refused with a report, or what is bad is quarantined",
  async ({ source: format, right, bad }) => {
    const whole = await outcomeOf(format, right);
    expect(whole.good.length).toBeGreaterThan(0);
    const fates = [];
    for (const { kind, content } of bad) {
      const found = await outcomeOf(format, content);
      const isRefused = found.failed.join() === "b1.dat,b1.errors.csv";
      const isGood = found.good.join() === whole.good.join() && found.bad === whole.bad;
      if (isRefused) expect([kind, found.good, found.bad]).toEqual([kind, [], 0]);
      else expect([kind, found.failed]).toEqual([kind, []]);
      fates.push([kind, isRefused ? "refused" : isGood ? "good" : "rows"]);
    }
    expect(fates).toEqual(bad.map(({ kind, fate }) => [kind, fate]));
  },
);

test.each(["t/../../x.csv", "t/x.csv", "t\u0000.csv"])(
  "a server that lists the name %j is not followed",
  async (name) => {
    const { drop } = folder;
    const opened: string[] = [];
    const visit: Drop["visit"] = (path, see) =>
      Promise.resolve(
        see({ name, kind: "file", size: 5, mtimeMs: 1_790_000_000_000 + path.length }),
      );
    const hostile: Drop = {
      ...drop,
      visit,
      open: (path) => {
        opened.push(path);
        return Promise.resolve(null);
      },
    };
    const config = FilesConfig.parse({ folder: ".", settleMs: 0, sources: { it: source } });
    const { it } = config.sources;
    if (it === undefined) throw new Error("no source");
    const site = { ...surroundingsIn(folder.path), drop: hostile };
    const codes: string[] = [];
    const hindered = ({ fault }: Obstacle): void => void codes.push(fault.code);
    const { signal } = new AbortController();
    const reading = { signal, known: () => null, stored: () => false, hindered };
    for await (const { changes } of openSource(readerOf(it, site), it, config, site).read(
      null,
      reading,
    ))
      expect(changes).toEqual([]);
    expect([codes, opened]).toEqual([["odd-name"], []]);
  },
);
