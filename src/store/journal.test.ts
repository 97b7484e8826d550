import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { appending, checkChain } from "./journal.ts";
import { storeFile } from "./database.ts";
import { openStore } from "./store.ts";

const atOnce = async (): Promise<void> => {};

/** A store with 5 entries, and what somebody who writes into the file by hand may do to it. */
function written() {
  const folder = tempFolder();
  const store = openStore(folder);
  store.transaction(() => {
    for (let at = 1; at <= 5; at++)
      store.journal.audit(at, {
        event: "decision",
        detail: `entry ${at}`,
        person: { by: "ann", note: "because" },
      });
  });
  store.close();
  const byHand = (sql: string): void => {
    const database = new Database(storeFile(folder));
    database.exec("drop trigger audit_kept; drop trigger audit_fixed;");
    database.exec(sql);
    database.close();
  };
  const check = async (noted: { entry: number; hash: string } | null = null) => {
    const opened = openStore(folder);
    const found = await opened.journal.check(noted, atOnce);
    opened.close();
    return found;
  };
  return { byHand, check, open: () => new Database(storeFile(folder)) };
}

test.each([
  ["a changed detail", "update audit set detail = 'other' where audit = 3", 3, "changed"],
  ["a changed reason", "update audit set reason = null where audit = 2", 2, "changed"],
  ["a changed time", "update audit set at_ms = 9 where audit = 1", 1, "changed"],
  ["a removed entry", "delete from audit where audit = 4", 4, "missing"],
  ["a removed beginning", "delete from audit where audit < 3", 1, "missing"],
  [
    "an entry in the place of another",
    "delete from audit where audit = 4; update audit set audit = 4 where audit = 5",
    4,
    "changed",
  ],
] as const)("%s is found, and the first one is named", async (_, sql, entry, how) => {
  const { byHand, check } = written();
  expect(await check()).toMatchObject({ entries: 5, broken: null });
  byHand(sql);
  expect((await check()).broken).toEqual({ entry, how });
});

test("an end that was cut off, and a chain that was made anew, are found by an entry that was noted elsewhere", async () => {
  const { byHand, check } = written();
  const { head } = await check();
  expect(head?.entry).toBe(5);
  expect((await check(head)).broken).toBeNull();
  byHand("delete from audit where audit = 5");
  expect((await check()).broken).toBeNull();
  expect((await check(head)).broken).toEqual({ entry: 5, how: "missing" });
  expect((await check({ entry: 3, hash: "0".repeat(64) })).broken).toEqual({
    entry: 3,
    how: "changed",
  });
});

test("the chain is whole after transactions that did not happen, and of entries that several hands add by turns", async () => {
  const folder = tempFolder();
  const store = openStore(folder);
  const tell = (at: number) => store.journal.audit(at, { event: "decision", detail: `${at}` });
  store.transaction(() => tell(1));
  const failing = (): never => {
    tell(2);
    tell(3);
    throw new Error("it fails");
  };
  expect(() => store.transaction(failing)).toThrow("it fails");
  // Each has a memory of its own of which entry is the newest.
  const database = written().open();
  const [one, other] = [appending(database), appending(database)];
  const say = (at: number) => [at, { event: "send", detail: `${at}` }] as const;
  expect([one(...say(6)), other(...say(7)), one(...say(8)), other(...say(9))]).toEqual([
    6, 7, 8, 9,
  ]);
  const undone = database.transaction(() => {
    one(...say(10));
    throw new Error("it fails");
  });
  expect(undone).toThrow("it fails");
  expect([other(...say(10)), one(...say(11))]).toEqual([10, 11]);
  expect(await checkChain(database, null, atOnce)).toMatchObject({ entries: 11, broken: null });
  database.close();
  store.transaction(() => tell(4));
  expect(await store.journal.check(null, atOnce)).toMatchObject({ entries: 2, broken: null });
  store.close();
});
