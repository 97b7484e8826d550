/** Files with manifests: what does not come to its counts and sums is not read; what we write has a manifest, crash or not. */
import { mkdtemp, readdir, readFile, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { localDrop } from "./folder/local.ts";
import { failure } from "./folder/port.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { config, invoice, item, request, rowsOf, sinkOf } from "../../test/files/sink.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import { dropFolder, type DropFolder } from "../../test/files/source.ts";

const signal = new AbortController().signal;
const HEADER =
  "Code,Name,City,State,ZIP,Country,Latitude,Longitude,Capacity,Operating Hours,Active";
const row = (code: string, capacity: string) => `${code},Plant,Tulsa,OK,74101,US,,,${capacity},,1`;
const FILE = [HEADER, row("A", "1000.50"), row("B", "0.25"), row("C", ""), ""].join("\r\n");
const source = { layout: "plain/terminals", pick: "t*.csv", manifest: ".manifest" };

let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

async function outcome(manifest: string, file = FILE) {
  await folder.put("t.csv", file);
  await folder.put("t.csv.manifest", manifest);
  const { changes } = await folder.read(source);
  const failed = await folder.names("failed");
  const report = failed.find((name) => name.endsWith(".errors.csv"));
  const text =
    report === undefined ? "" : await readFile(join(folder.path, "failed", report), "utf8");
  const strip = (names: readonly string[]) =>
    names.map((name) => name.replace(/\.[0-9a-f]{8}/, ""));
  return {
    read: changes.length,
    archived: strip(await folder.names("archive")),
    failed: strip(failed),
    left: await folder.names(),
    report: text,
  };
}

test.each([
  ['{"rows": 3, "documents": 3, "sums": {"Capacity": "1000.75"}}'],
  ['{"file": "t.csv", "bytes": ' + FILE.length + ', "sums": {"Capacity": 1000.750}}'],
])("a file that comes to its manifest %s is read, and archived with it", async (manifest) => {
  const { read, archived, failed, left } = await outcome(manifest);
  expect({ read, failed, left }).toEqual({ read: 3, failed: [], left: ["archive"] });
  expect(archived).toEqual(["t.csv", "t.csv.manifest"]);
});

test.each([
  ["rows", '{"rows": 4}', "has 3 rows, and t.csv.manifest says 4"],
  ["documents", '{"documents": 2}', "has 3 documents, and t.csv.manifest says 2"],
  [
    "sum",
    '{"sums": {"Capacity": "1000.76"}}',
    "has the sum 1000.75 in Capacity, and t.csv.manifest says 1000.76",
  ],
  [
    "rows and sum",
    '{"rows": 1, "sums": {"Capacity": 0.3}}',
    "has 3 rows, and t.csv.manifest says 1; has the sum 1000.75 in Capacity, and t.csv.manifest says 0.3",
  ],
  ["bytes", '{"bytes": 5}', `has ${FILE.length} bytes, and t.csv.manifest says 5`],
  ["hash", '{"sha256": "00"}', "and t.csv.manifest says 00"],
  ["a column that is none", '{"sums": {"Name": 1}}', "has no column of numbers Name"],
  [
    "the manifest of another file",
    '{"file": "u.csv"}',
    "manifest (t.csv.manifest) that is of u.csv",
  ],
  ["a member that is none", '{"count": 3}', "that is not as it should be"],
  ["no JSON", "rows=3", "that is not JSON in UTF-8"],
])(
  "%s: a file that does not agree is not read, and its report names both values",
  async (_what, manifest, reason) => {
    const { read, archived, failed, left, report } = await outcome(manifest);
    expect({ read, archived, left }).toEqual({ read: 0, archived: [], left: ["failed"] });
    expect(failed).toEqual(["t.csv", "t.csv.manifest", "t.errors.csv"]);
    expect(report).toContain(reason);
  },
);

test("a file that was refused and is put back with its manifest corrected is read", async () => {
  await outcome('{"file": "t.csv", "rows": 4}');
  for (const name of await folder.names("failed"))
    if (name.endsWith(".csv") && !name.endsWith(".errors.csv")) {
      await folder.put(name, FILE);
      await folder.put(`${name}.manifest`, '{"file": "t.csv", "rows": 3}');
    }
  expect((await folder.read(source)).changes.length).toBe(3);
});

test("a cell that is no number, and an end in the middle of a row, are no agreement", async () => {
  const bad = await outcome('{"sums": {"Capacity": 1000.75}}', FILE.replace("0.25", "$0.25"));
  expect(bad.report).toContain(
    'cannot be summed in Capacity: line 3 ""$0.25"" is not a plain number',
  );
  expect(bad.read).toBe(0);
  const cut = await outcome('{"rows": 2}', FILE.slice(0, -20));
  expect([cut.read, cut.report.includes("ends without a line end")]).toEqual([0, true]);
});

test("a file waits for its manifest, and is not judged by that of an older file", async () => {
  await folder.put("t.csv", FILE);
  const obstacles = async () =>
    (await folder.read(source)).obstacles.map(({ fault }) => fault.code);
  expect(await obstacles()).toEqual(["no-manifest"]);
  await folder.put("t.csv.manifest", '{"rows": 3}');
  await utimes(join(folder.path, "t.csv.manifest"), 1_000, 1_000);
  expect(await obstacles()).toEqual(["no-manifest"]);
  await folder.put("t.csv.manifest", '{"rows": 3}');
  expect((await folder.read(source)).changes.length).toBe(3);
});

/** A sink with manifest and marker whose moves fail from the `good`-th on; `mended`: they succeed again. */
async function sinkThat(good: number) {
  const path = await mkdtemp(join(tmpdir(), "manifest-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  const drop = localDrop(path);
  let left = good;
  const site = {
    ...surroundingsIn(path, { now: () => new Date("2026-03-02T08:00:00Z") }),
    drop: {
      ...drop,
      move: (from: string, to: string) =>
        left-- > 0 ? drop.move(from, to) : Promise.reject(failure("EIO", "the share is gone")),
    },
  };
  const settings = config({ manifest: ".manifest", marker: ".ok", per: "batch" });
  const sink = sinkOf(settings, site);
  return { sink, inbox: join(path, "import/invoices"), mended: () => void (left = 9) };
}

const items = [
  item(invoice({ total: Decimal.of("0.1"), subtotal: Decimal.of("-12.345") })),
  item(invoice({ id: "b", number: "INV-2", total: Decimal.of("0.2") })),
];

test("our manifest has the counts, the hash and the sum of every column of numbers of its file, and comes before the marker", async () => {
  const { sink, inbox } = await sinkThat(9);
  const asked = { ...request(sink, items), firstSentAt: "2026-03-02T09:00:00.000Z" };
  await sink.prepare?.({ ...asked, firstSentAt: null }, signal);
  expect(await sink.send(asked, signal)).toMatchObject({ outcome: "done" });
  const names = (await readdir(inbox)).toSorted();
  const [file = ""] = names;
  expect(names).toEqual([file, `${file}.manifest`, `${file}.ok`]);
  const told = JSON.parse(await readFile(join(inbox, `${file}.manifest`), "utf8")) as {
    sums: Record<string, string>;
  };
  const rows = rowsOf(await readFile(join(inbox, file), "utf8"));
  const sumOf = (label: string) =>
    Decimal.sum(rows.flatMap((cells) => (cells[label] ? [Decimal.of(cells[label])] : [])));
  expect(told).toMatchObject({ file, documents: 2, rows: rows.length });
  expect(told.sums["total"]).toBe("0.3");
  expect(Object.keys(told.sums)).toContain("net_gallons");
  for (const [label, sum] of Object.entries(told.sums)) expect(sum).toBe(sumOf(label).plain());
});

test.each([0, 1, 2])(
  "after a crash with %i of file, manifest and marker moved, all three are there once, or what the ERP left of them",
  async (moved) => {
    const { sink, inbox, mended } = await sinkThat(moved);
    const asked = { ...request(sink, items), firstSentAt: "2026-03-02T09:00:00.000Z" };
    await sink.prepare?.({ ...asked, firstSentAt: null }, signal);
    expect((await sink.send(asked, signal)).outcome).not.toBe("done");
    // The ERP takes away what it sees.
    const taken = await readdir(inbox);
    expect(taken.length).toBe(moved);
    for (const name of taken) await rm(join(inbox, name));
    mended();
    expect(await sink.find(asked, signal)).toMatchObject({ found: "none" });
    await sink.prepare?.(asked, signal);
    expect(await sink.send(asked, signal)).toMatchObject({ outcome: "done" });
    expect((await readdir(inbox)).length).toBe(3 - moved);
    expect(await sink.find(asked, signal)).toMatchObject({ found: "exact" });
  },
);
