/** Files as they should not be: each is refused with a report beside it, or loses its bad rows only. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { FilesConfig } from "./config.ts";
import type { Drop } from "./folder/port.ts";
import { files } from "./index.ts";
import { formatOf, openSource } from "./source.ts";
import type { Obstacle, Reading } from "../../src/core/contract.ts";
import { Sheet } from "../../src/formats/table/text.ts";
import { expectFates, putInboxes, sourcesIn, type ToldRow } from "../../test/files/bad-inbox.ts";
import { dropFolder, type DropFolder } from "../../test/files/source.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import { COMMAS } from "../../test/files/specimens.ts";

/** Of four formats, so that each kind of the one with most of them comes. */
const COUNT = 130;

test("a file of each kind of bad ones: each is refused with a report, loses its bad rows only, or is told", async () => {
  const folder = tempFolder();
  const put = await putInboxes(folder, COUNT, { seed: 1, endlessMb: 2 });
  const settings = FilesConfig.parse({ folder: ".", settleMs: 0, sources: sourcesIn() });
  const { sources } = files.open(settings, surroundingsIn(folder));
  const rows: ToldRow[] = [];
  let left = 0;
  for (const [flow, source] of Object.entries(sources)) {
    const seen = new Map<string, { id: string; name: string; at: string; since: number }>();
    const reading: Reading = {
      signal: new AbortController().signal,
      known: (id) => seen.get(id) ?? null,
      stored: () => false,
      hindered: () => void left++,
    };
    for await (const { changes, arrival } of source.read(null, reading)) {
      for (const { id, origin = "", fault } of changes)
        rows.push({ flow, id, origin, state: fault === undefined ? "delivered" : "quarantined" });
      for (const id of [arrival?.id ?? [], arrival?.numbers ?? []].flat())
        seen.set(id, { id, name: arrival?.name ?? "", at: "before", since: 0 });
    }
  }
  expectFates(folder, put, rows);
  expect(left).toBe(put.filter(({ fate }) => fate === "left").length);
  expect(new Set(put.map(({ format, kind }) => `${format} ${kind}`)).size).toBeGreaterThan(100);
});

let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

const source = { layout: "plain/order-notes", pick: "t*.csv" };
const lines = (...rows: string[]) => ["ID,Order ID,Note", ...rows, ""].join("\r\n");

test.each<[string, Buffer, Record<string, unknown>, string[], number]>([
  [
    "bytes not of the encoding",
    Buffer.from(lines("A,1,ñ"), "latin1"),
    { encoding: "utf-8" },
    [],
    2,
  ],
  ["half of a pair of UTF-16", Buffer.from(`\ufeff${lines("A,1,\ud83d")}`, "utf16le"), {}, [], 2],
  ...["auto", "utf-8"].map(
    (encoding): [string, Buffer, Record<string, unknown>, string[], number] => [
      `a cut within a row's first character, ${encoding},`,
      Buffer.concat([Buffer.from(lines("A,1,x")), Buffer.of(0xc3)]),
      { encoding },
      ["A"],
      2,
    ],
  ),
])("%s goes by the settings of its source", async (_name, content, more, good, failed) => {
  await folder.put("t.csv", content);
  const { changes } = await folder.read({ ...source, ...more });
  expect(changes.map(({ id }) => id)).toEqual(good);
  expect((await folder.names("failed")).length).toBe(failed);
});

const X12 = {
  us: { id: "SUPPLIERCO" },
  partner: { id: "PARTNER" },
  usage: "test",
  ourCode: "S1",
} as const;
const KINDS: Readonly<Record<string, string>> = {
  "a PDF document": "%PDF-1.7\n1 0 obj\n",
  "a ZIP archive, or a workbook (.xlsx)": "PK\u0003\u0004\u0014\0\n\0",
  "a packed file (.gz, .7z, .rar)": "\u001f\u008b\u0008\0\n",
  "an old Office file (.xls, .doc)": "\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1",
  EDIFACT: "UNB+UNOC:3+A+B+261130:0145+1'UNH+1+INVOIC:D:96A:UN'UNZ+1+1'",
  "a flat IDoc (SAP's port type File)": "EDI_DC40  1000000000000004711",
  JSON: '[{"ID":"A"}]',
  "XML or a web page": '\u00ef\u00bb\u00bf<?xml version="1.0"?>\n<cXML/>\n',
  X12: "ISA*00*",
};
test.each<[reads: string, source: Record<string, unknown>]>([
  ["delimited text", source],
  ["a workbook (.xlsx)", { layout: "books.prices", profile: "terminals/rack-workbook" }],
  ["X12", { format: "x12", layout: "books.invoices", x12: X12 }],
  ["XML", { format: "idoc", message: "DEBMAS" }],
])("where %s is read, a file of another kind is refused with what it is", async (reads, it) => {
  for (const [kind, begin] of Object.entries(KINDS)) {
    await folder.put("t.x", Buffer.from(begin, "latin1"));
    const { pages } = await folder.read({ ...it, pick: "t.x" });
    const told = pages.flatMap(({ refused = [] }) => refused.map(({ fault }) => fault.message));
    const said = kind.includes(reads)
      ? /^t\.x line 1: the file (?!looks)/
      : `the file looks like ${kind}`;
    expect([kind, ...told]).toEqual([
      kind,
      typeof said === "string" ? expect.stringContaining(said) : expect.stringMatching(said),
    ]);
    expect(told[0]).toContain("Nothing of it was read");
  }
  expect((await folder.names("failed")).length).toBe(2 * Object.keys(KINDS).length);
});

test.each([
  ["without an end", "3,"],
  ["in quotes without an end", '3,"'],
])(
  "a line of 100 MB %s is refused where it begins, and not read to its end",
  async (_name, begin) => {
    const piece = "xxx".repeat(100_000);
    let read = 0;
    const pieces = async function* () {
      yield `a,b\n1,2\n${begin}`;
      for (; read < 400; read++) yield piece;
    };
    const sheet = await Sheet.open(pieces(), COMMAS);
    const rows = async () => {
      for await (const _ of sheet.rows());
    };
    await expect(rows()).rejects.toMatchObject({ line: 3 });
    expect(read).toBeLessThan(10);
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
    for await (const { changes } of openSource(formatOf(it).read(it, site), it, config, site).read(
      null,
      reading,
    ))
      expect(changes).toEqual([]);
    expect([codes, opened]).toEqual([["odd-name"], []]);
  },
);
