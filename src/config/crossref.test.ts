import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
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

test("a row is found by the first column, whole", () => {
  const { tables } = setup("product,item,note\nULSD,ITEM-1,clear\nUNL-87,087,\n");
  expect(tables.row("items", "UNL-87")).toEqual({ product: "UNL-87", item: "087", note: "" });
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
  ["old line ends", "product,item\rULSD,ITEM-1\r"],
];

test.each(SPREADSHEETS)("%s of a spreadsheet make no difference", (_, content) => {
  expect(setup(content).tables.row("items", "ULSD")).toEqual({ product: "ULSD", item: "ITEM-1" });
});

const BAD: [name: string, content: string | Buffer, ...faults: string[]][] = [
  ["a key twice", "a,b\n1,x\n2,y\n1,z\n", 'line 4: "1" is in line 2 already'],
  ["a row that is short", "a,b\n1\n", "line 2: 1 cells, but 2 in the header"],
  ["a row that is long", 'a,b\n"1\n1",x\n2,x,y\n', "line 4: 3 cells, but 2 in the header"],
  ["no key", "a,b\n,x\n", "line 2: the first cell, the key, is empty"],
  ["a column twice", "a,b,b\n", 'line 1: the column "b" is there twice'],
  ["a column without name", "a,\n1,x\n", "line 1: column 2 has no name"],
  ["nothing in it", "", "line 1: there is no header"],
  ["an open quote", 'a,b\n1,"x\n', "line 2"],
  ["another encoding", Buffer.from("a,b\n1,Caf\xe9\n", "latin1"), "it is not UTF-8"],
  ["several faults", "a,b\n1\n,x\n", "line 2: 1 cells", "line 3: the first cell"],
];

test.each(BAD)("%s is told with its file and line", (_, content, ...faults) => {
  const { tables, file } = setup(content);
  for (const attempt of [() => tables.row("items", "2"), () => tables.check()]) {
    expect(attempt).toThrow(ConfigurationError);
    for (const part of [file, ...faults]) expect(attempt).toThrow(part);
  }
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

test("a table that was bad is good again once it is corrected", () => {
  const { tables, write } = setup("product,item\nULSD\n");
  expect(() => tables.row("items", "ULSD")).toThrow("line 2");
  write("product,item\nULSD,ITEM-1\n");
  expect(tables.row("items", "ULSD")).toMatchObject({ item: "ITEM-1" });
});

test("a table that is taken away has no rows, and the version tells", () => {
  const { tables, file } = setup();
  const before = tables.version();
  expect(tables.check()).toEqual(["items"]);
  rmSync(file);
  expect(tables.row("items", "ULSD")).toBeNull();
  expect(tables.version()).not.toBe(before);
});
