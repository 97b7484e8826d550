/** Files that are read as a stream: what spans pieces and pages, and what must not happen between them. */
import { appendFile, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TableSource } from "./config.ts";
import { findSets, list } from "./pickup.ts";
import { openSet, tableReader } from "./source.ts";
import type { Page, Reading } from "../../src/core/contract.ts";
import { parties } from "../../src/formats/table/layouts.ts";
import { dropFolder, type DropFolder, picks, recordsOf } from "../../test/files/source.ts";

let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

const HEADER =
  "ID,Code,Name,Phone,Mobile,E-Mail,Addresses/Building Name,Addresses/Street,Addresses/Postal Code,Addresses/City," +
  "Addresses/Subdivision/Code,Addresses/Country/Code,Customer Payment Term";
const party = (code: string, name: string) =>
  `1,${code},${name},,,,,Dock St,77520,Baytown,US-TX,US,`;
const file = (...rows: string[]) => [HEADER, ...rows, ""].join("\r\n");
const many = (count: number, name = "Acme") =>
  Array.from({ length: count }, (_, at) => party(String(at), name));

test("pages hold a thousand changes; only the last one makes the file known, and then it is archived", async () => {
  await folder.put("customers.csv", file(...many(2_500)));
  const reading: Reading = {
    signal: new AbortController().signal,
    known: () => null,
    stored: () => false,
  };
  const seen: { page: Page; names: string[] }[] = [];
  for await (const page of folder.open(picks.customers).sources["it"]?.read(null, reading) ?? [])
    seen.push({ page, names: await folder.names() });
  expect(seen.map(({ page }) => [page.changes.length, page.share, page.arrival?.name])).toEqual([
    [1000, 0.4, undefined],
    [1000, 0.8, undefined],
    [500, 1, "customers.csv"],
  ]);
  expect(seen.map(({ names }) => names)).toEqual(seen.map(() => ["customers.csv"]));
  expect(await folder.names()).toEqual(["archive"]);
});

test("a page of large records holds fewer of them, each record is in one page, and the last page makes the file known", async () => {
  await folder.put("customers.csv", file(...many(500, "x".repeat(3_000))));
  const { pages } = await folder.read(picks.customers);
  const ids = pages.map(({ changes }) => changes.map(({ id }) => id));
  expect(ids.flat()).toEqual(Array.from({ length: 500 }, (_, at) => String(at)));
  for (const { changes } of pages)
    expect(changes.slice(0, -1).reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(
      500_000,
    );
  expect(pages.map(({ arrival }) => arrival?.name)).toEqual([
    ...pages.slice(1).map(() => undefined),
    "customers.csv",
  ]);
  expect(pages.length).toBe(4);
});

test.each([
  ["a stray quote", (rows: string[]) => file(...rows, party("x", 'a"b"'), party("y", "Acme"))],
  [
    "bytes that are no UTF-8",
    (rows: string[]) => Buffer.from(file(...rows, party("x", "Peña")), "latin1"),
  ],
])("%s after thousands of good rows: nothing of the file is delivered", async (_name, content) => {
  await folder.put("customers.csv", content(many(2_500)));
  const { pages, notices } = await folder.read({ ...picks.customers, encoding: "utf-8" });
  expect(pages.map(({ changes }) => changes.length)).toEqual([0]);
  expect(notices.length).toBe(1);
  expect((await folder.names("failed")).length).toBe(2);
});

test("a key that stands in the first page and, otherwise, in the last is faulty in the first", async () => {
  await folder.put("customers.csv", file(...many(2_500), party("0", "Other")));
  const { pages } = await folder.read(picks.customers);
  expect(pages[0]?.changes[0]).toMatchObject({ id: "0", fault: { code: "key-twice" } });
  expect(pages.flatMap(({ changes }) => changes).length).toBe(2_500);
});

test("quotes, line ends and characters that lie across pieces of a file mean what they mean", async () => {
  const names = Array.from({ length: 700 }, (_, at) => `${"ñ\r\n,;".repeat(200)}${at}""`);
  const rows = names.map((name, at) => party(String(at), `"${name}"`));
  // Shifted by a byte each time, so that every kind of byte comes to lie on a boundary.
  for (const shift of ["", "x", "xx"]) {
    await folder.put("customers.csv", file(party("first", `Acme${shift}`), ...rows));
    const { changes } = await folder.read(picks.customers);
    const read = recordsOf(parties, changes.slice(1)).map(({ name }) => name);
    expect(read).toEqual(names.map((name) => name.replaceAll("\r\n", "\n").replace('""', '"')));
  }
});

const openedCustomers = async () => {
  const pattern = new Map([["heads", "customers*.csv"]]);
  const [set] = findSets(pattern, await list(folder.drop, folder.path));
  const opened = set && (await openSet(folder.drop, folder.path, set, "auto"));
  if (!opened) throw new Error("not opened");
  return opened;
};
const reader = () => tableReader(TableSource.parse(picks.customers), { folder: folder.path });

test.each([
  ["in place", (path: string) => writeFile(path, file(...many(3, "y".repeat(400_000))))],
  ["longer", (path: string) => appendFile(path, party("9", "Acme"))],
  ["shorter", (path: string) => truncate(path, 200)],
])("a file that is written to while it is read (%s) yields nothing", async (_name, write) => {
  // Of more bytes than are taken at once.
  await folder.put("customers.csv", file(...many(3, "x".repeat(400_000))));
  const opened = await openedCustomers();
  await write(join(folder.path, "customers.csv"));
  expect(await reader().read(opened, new AbortController())).toBeNull();
  await opened.close();
});

test("a file that replaces another while that one is stored is not taken for read", async () => {
  await folder.put("customers.csv", file(party("1", "Acme")));
  const reading: Reading = {
    signal: new AbortController().signal,
    known: () => null,
    stored: () => false,
  };
  for await (const { arrival } of folder.open(picks.customers).sources["it"]?.read(null, reading) ??
    [])
    await folder.put(arrival?.name ?? "", file(party("2", "Acme")));
  expect([await folder.names("archive"), (await folder.names()).at(-1)]).toEqual([
    [],
    "customers.csv",
  ]);
  expect(await readFile(join(folder.path, "customers.csv"), "utf8")).toContain("1,2,Acme");
  expect((await folder.read(picks.customers)).changes.map(({ id }) => id)).toEqual(["2"]);
});

test("how far a reading is, is told while it is under way", async () => {
  await folder.put("customers.csv", file(...many(12_000)));
  const opened = await openedCustomers();
  const told: { records: number; share: number }[] = [];
  const { signal } = new AbortController();
  const advanced = (advance: { records: number; share: number }) => void told.push(advance);
  const read = await reader().read(opened, { signal, advanced });
  await opened.close();
  expect(read?.scratch.count()).toBe(12_000);
  expect(told.length).toBeGreaterThan(1);
  expect(told.at(-1)?.share).toBe(1);
});
