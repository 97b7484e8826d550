/** Files of the store: whose they are, and what an upgrade leaves. */
import { chownSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { migrations } from "./migrations.ts";
import { storeFile } from "./rights.ts";
import { openStore } from "./store.ts";

test("an upgrade whose copy of the store was cut short makes the copy anew, and goes on", () => {
  const folder = tempFolder();
  const old = new Database(storeFile(folder));
  for (const sql of migrations.slice(0, -1)) old.exec(sql);
  old.exec("insert into identity (store) values ('S-1')");
  old.pragma(`user_version = ${migrations.length - 1}`);
  old.close();
  const copy = `${storeFile(folder)}.before-schema-${migrations.length}`;
  writeFileSync(copy, "cut short");
  openStore(folder).close();
  const kept = new Database(copy, { readonly: true });
  expect(kept.prepare("select store from identity").pluck().get()).toBe("S-1");
  kept.close();
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
