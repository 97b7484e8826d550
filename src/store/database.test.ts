/** Files of the store: whose they are, and what an upgrade leaves. */
import { chownSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { openDatabase, storeFile } from "./database.ts";
import { openStore } from "./store.ts";

const FIRST = "create table identity (store text) strict; insert into identity values ('S-1')";
const SECOND = "alter table identity add column company text";

test("a step of the schema runs once, after a copy of the store as it was; a store of a newer version is refused", () => {
  const path = storeFile(tempFolder());
  const columns = (steps: readonly string[]): number => {
    const database = openDatabase(path, steps);
    const count = (database.pragma("table_info(identity)") as unknown[]).length;
    database.close();
    return count;
  };
  expect(columns([FIRST])).toBe(1);
  const copy = `${path}.before-schema-2`;
  // As an upgrade left it that was cut short.
  writeFileSync(copy, "cut short");
  expect([columns([FIRST, SECOND]), columns([FIRST, SECOND])]).toEqual([2, 2]);
  const kept = new Database(copy, { readonly: true });
  expect(kept.prepare("select * from identity").get()).toEqual({ store: "S-1" });
  kept.close();
  expect(() => columns([FIRST])).toThrow(
    "written by a newer fuelbridge (schema 2, this one knows 1)",
  );
  expect(() => columns([FIRST, SECOND, "no SQL"])).toThrow("syntax error");
  expect(columns([FIRST, `${SECOND} -- of another wording`])).toBe(2);
  const otherwise = SECOND.replace("company", "owner");
  for (const steps of [
    [FIRST, otherwise],
    [FIRST, otherwise, "select 1"],
  ])
    expect(() => columns(steps)).toThrow("made by a fuelbridge that was never released");
});

test.skipIf(process.getuid?.() !== 0)(
  "a command of root in a service's state folder leaves no file that the service cannot write",
  () => {
    const folder = tempFolder();
    chownSync(folder, 12_345, 12_345);
    const store = openStore(folder);
    store.transaction(() => store.acknowledge(0));
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
    expect(names).toEqual(expect.arrayContaining(["fuelbridge.sqlite-wal", "no-backup"]));
    for (const name of names)
      expect([name, statSync(join(folder, name)).uid]).toEqual([name, 12_345]);
    store.close();
  },
);
