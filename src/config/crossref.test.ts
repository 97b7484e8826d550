import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ConfigurationError } from "../core/errors.ts";
import { openTables } from "./crossref.ts";

function setup(items: string | Buffer = "product,item\nULSD,ITEM-1\n") {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-crossref-"));
  const file = join(folder, "items.csv");
  let second = 1_700_000_000;
  /** Each write has a time of its own, as it would have in life. */
  const write = (content: string | Buffer): void => {
    writeFileSync(file, content);
    second += 1;
    utimesSync(file, second, second);
  };
  write(items);
  return { folder, file, write, tables: openTables(folder) };
}

test.skipIf(process.platform === "win32")(
  "where this machine has too many files open, nobody is told to mend the table",
  () => {
    const { folder, tables } = setup();
    const program = `
    import { openSync } from "node:fs";
    import { openTables } from ${JSON.stringify(join(import.meta.dirname, "crossref.ts"))};
    const tables = openTables(${JSON.stringify(folder)});
    try { for (;;) openSync("/dev/null"); } catch {}
    try { tables.row("items", "ULSD"); } catch (error) { process.stdout.write(error.next); }`;
    const start = ["-c", `ulimit -n 60; exec "$0" --input-type=module -e "$1"`, process.execPath];
    const { stdout } = spawnSync("sh", [...start, program], { encoding: "utf8" });
    expect(stdout).toContain("This machine has too much open");
    expect(tables.row("items", "ULSD")).not.toBeNull();
  },
);

test("a row is found by the first column, whole", () => {
  const { tables } = setup("product,item,note\nULSD,ITEM-1,clear\nUNL-87,087,\n");
  expect(tables.row("items", "UNL-87")).toEqual({ product: "UNL-87", item: "087", note: "" });
});

const COMPANY = "0942f541-2340-4858-9502-8b0979809fca";
test.each([
  ["an id in capitals", COMPANY.toUpperCase(), COMPANY],
  ["an id that the table has in capitals", COMPANY, COMPANY.toUpperCase()],
  ["an accent that is a sign of its own", "E\u0301thanol", "\u00C9thanol"],
  ["an accent that is a sign of its own in the table", "\u00C9thanol", "E\u0301thanol"],
])("%s is the same key, unless the table has both", (_, asked, written) => {
  const { tables, write } = setup(`product,item\n${written},ITEM-1\n`);
  expect(tables.row("items", asked)).toEqual({ product: written, item: "ITEM-1" });
  write(`product,item\n${written},ITEM-1\n${asked},ITEM-2\n`);
  expect(tables.row("items", asked)?.["item"]).toBe("ITEM-2");
  expect(tables.row("items", written)?.["item"]).toBe("ITEM-1");
});

test("two keys that look like a third are none of it, and letters count in what is no id", () => {
  const mixed = COMPANY.replace("f541", "F541");
  const { tables } = setup(`product,item\n${COMPANY},ITEM-1\n${mixed},ITEM-2\nulsd,ITEM-3\n`);
  expect(tables.row("items", COMPANY.toUpperCase())).toBeNull();
  expect(tables.row("items", "ULSD")).toBeNull();
});

test("no row, no table and no folder are answers", () => {
  const { tables, folder } = setup();
  expect(tables.row("items", "KERO")).toBeNull();
  expect(tables.row("terminals", "T-1")).toBeNull();
  expect(tables.row("../items", "ULSD")).toBeNull();
  expect(tables.row("items", "__proto__")).toBeNull();
  expect(openTables(join(folder, "nowhere")).check()).toEqual([]);
});

const SPREADSHEETS: [name: string, content: string | Buffer][] = [
  ["a byte order mark and CRLF", "\uFEFFproduct,item\r\nULSD,ITEM-1\r\n"],
  ["semicolons", "product;item\r\nULSD;ITEM-1\r\n"],
  ["quotes", '"product","item"\n"ULSD","ITEM-1"'],
  ["blanks around cells", "product , item\n ULSD , ITEM-1 \n"],
  ["empty rows", "product,item\n\n,\nULSD,ITEM-1\n,,\n"],
  ["tabs", "product\titem\r\nULSD\tITEM-1\r\n"],
  ["sep=; in the first line", "sep=;\r\nproduct;item\r\nULSD;ITEM-1\r\n"],
  ["old line ends", "product,item\rULSD,ITEM-1\r"],
];

test.each(SPREADSHEETS)("%s of a spreadsheet make no difference", (_, content) => {
  expect(setup(content).tables.row("items", "ULSD")).toEqual({ product: "ULSD", item: "ITEM-1" });
});

const BAD: [
  name: string,
  content: string | Buffer,
  ...faults: [line: number, message: string][],
][] = [
  ["a key twice", "a,b\n1,x\n2,y\n1,z\n", [4, '"1" is in line 2 already']],
  ["a row that is short", "a,b\n1\n", [2, "1 cell, but 2 in the header"]],
  ["a row that is long", 'a,b\n"1\n1",x\n2,x,y\n', [4, "3 cells, but 2 in the header"]],
  ["no key", "a,b\n,x\n", [2, "the first cell, the key, is empty"]],
  ["a column twice", "a,b,b\n", [1, 'the column "b" is there twice']],
  ["a column without name", "a,\n1,x\n", [1, "column 2 has no name"]],
  ["nothing in it", "", [1, "there is no header"]],
  ["an open quote", 'a,b\n1,"x\n', [2, "Quote"]],
  ["another encoding", Buffer.from("a,b\n1,Caf\xe9\n", "latin1"), [1, "it is not UTF-8"]],
  ["several faults", "a,b\n1\n,x\n", [2, "1 cell, but"], [3, "the first cell"]],
  [
    "the same in many rows: once per cause, not once per row",
    `a,b,c\n${"1;2;3\n".repeat(60)}x,y\nx,y\n`,
    [2, "1 cell, but 3 in the header (the same in lines 3, 4, 5, 6, 7 and 54 more)"],
    [62, "2 cells, but 3 in the header (the same in line 63)"],
  ],
  [
    "a table pasted twice",
    "a,b\n1,x\n2,y\n1,x\n2,y\n",
    [4, '"1" is in line 2 already (the same in line 5)'],
  ],
];

test.each(BAD)("%s is told with its file and line", (_, content, ...faults) => {
  const { tables, file } = setup(content);
  const [report] = tables.check();
  expect(report?.faults.map(({ line, message }) => [line, message])).toEqual(
    faults.map(([line, message]) => [line, expect.stringContaining(message)]),
  );
  const attempt = () => tables.row("items", "2");
  expect(attempt).toThrow(ConfigurationError);
  for (const [line, message] of faults) {
    expect(attempt).toThrow(`${file}:${line} `);
    expect(attempt).toThrow(message);
  }
});

test("a table that is a device is refused at once, and one that is too long", () => {
  const { tables, folder, file, write } = setup();
  rmSync(file);
  symlinkSync("/dev/zero", file);
  const messageOf = () => tables.check()[0]?.faults[0]?.message;
  expect(messageOf()).toBe("it cannot be read (it is a device or a pipe, not a file)");
  rmSync(file);
  write(`a,b\n${"x".repeat(10_000_000)},y\n`);
  expect(openTables(folder).check()[0]?.faults[0]?.message).toContain("longer than 10 MB");
});

test("a row that is added counts at once, and the version tells", () => {
  const { tables, write } = setup();
  const before = tables.version();
  expect(tables.row("items", "KERO")).toBeNull();
  expect(tables.version()).toBe(before);
  write("product,item\nULSD,ITEM-1\nKERO,ITEM-2\n");
  expect(tables.row("items", "KERO")).toEqual({ product: "KERO", item: "ITEM-2" });
  expect(tables.version()).not.toBe(before);
});

test.skipIf(process.getuid?.() !== 0)(
  "a row that root adds leaves the table its owner's, with its rights",
  () => {
    const { folder, file, tables } = setup();
    chmodSync(file, 0o640);
    chownSync(file, 12_345, 12_346);
    tables.add("items", { product: "B5", item: "ITEM-2" }, []);
    expect(statSync(file)).toMatchObject({ mode: 0o100_640, uid: 12_345, gid: 12_346 });
    expect(readdirSync(folder)).toEqual(["items.csv"]);
  },
);

test("a table that was bad is good again once it is corrected", () => {
  const { tables, write } = setup("product,item\nULSD\n");
  expect(() => tables.row("items", "ULSD")).toThrow("items.csv:2 1 cell");
  write("product,item\nULSD,ITEM-1\n");
  expect(tables.row("items", "ULSD")).toMatchObject({ item: "ITEM-1" });
});

test("a table that is taken away has no rows, and the version tells", () => {
  const { tables, file } = setup();
  const before = tables.version();
  expect(tables.check()).toMatchObject([{ name: "items", rows: 1, separator: "," }]);
  rmSync(file);
  expect(tables.row("items", "ULSD")).toBeNull();
  expect(tables.version()).not.toBe(before);
});
