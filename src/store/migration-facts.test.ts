/** A store from before facts had columns: what its audit and its sentences say is in them once it is opened. */
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { factsInColumns } from "./migration-facts.ts";
import { migrations } from "./migrations.ts";
import { storeFile } from "./rights.ts";
import { openStore } from "./store.ts";

const OTHER = "2cf3f8b1-0000-4000-8000-000000000001";
const FURTHER = "2cf3f8b1-0000-4000-8000-000000000002";
const SAME_NAME = `the platform has 2 companies with "Acme" in the name and no id of ours: ${OTHER}, ${FURTHER}`;

/** One delivery of each record, numbered `N-1` and so on, and these entries in the audit, one a second. */
function oldStore(
  deliveries: number,
  entries: readonly (readonly [event: string, detail?: string, delivery?: number])[],
  more: (database: Database.Database) => void = () => {},
) {
  const folder = tempFolder();
  const database = new Database(storeFile(folder));
  database.pragma("synchronous = off");
  const before = migrations.slice(0, migrations.indexOf(factsInColumns));
  for (const sql of before) database.exec(sql);
  database.pragma(`user_version = ${before.length}`);
  database.exec("insert into flow (flow, name) values (1, 'bills')");
  for (let at = 1; at <= deliveries; at++)
    database.exec(`
      insert into record (record, flow, id, revision, text) values (${at}, 1, 'R-${at}', '', '{}');
      insert into delivery (delivery, flow, record, revision, received_ms, state, number)
      values (${at}, 1, ${at}, '', 0, 'quarantined', 'N-${at}')`);
  database.exec(`
    insert into request (request, flow, operation, kind, number, revision, lane, key, target, body, body_sha256,
      state, live, machine, created_ms, updated_ms)
    values (1, 1, 'o', 'invoice', 'N-1', '', '', 'k', '', '', '', 'unknown', 1, '{}', 0, 0)`);
  const add = database.prepare(
    "insert into audit (at_ms, flow, request, delivery, event, detail) values (?, 1, ?, ?, ?, ?)",
  );
  for (const [at, [event, detail = "", delivery = null]] of entries.entries())
    add.run(at * 1_000, delivery === null ? 1 : null, delivery, event, detail);
  more(database);
  database.close();
  return openStore(folder);
}

test("what is gone, turned and unfinished is as the audit says, with what people decided since", () => {
  const store = oldStore(6, [
    ["gone", "N-1", 1],
    ["gone", "N-2", 2],
    ["retried", "by a person", 2],
    ["turned", "bill 7", 3],
    ["turned", "bill 8", 4],
    ["retried", "by a person", 4],
    ["turned", "bill 9", 5],
    ["retried", "by a person", 5],
    ["turned over", "bill 9", 5],
    ["unfinished", "a draft", 1],
    ["unfinished", "a draft", 6],
    ["finished", "", 6],
  ]);
  const state = (record: number, incident: "gone" | "turned" | "unfinished") =>
    store.incidents.state(record, incident);
  expect([1, 2, 3].map((record) => state(record, "gone"))).toEqual(["open", "retried", null]);
  expect([3, 4, 5].map((record) => state(record, "turned"))).toEqual(["open", "retried", "over"]);
  expect([1, 6].map((record) => state(record, "unfinished"))).toEqual(["open", "over"]);
  const { ever } = store.incidents;
  expect(["R-1", "R-2", "R-3"].map((id) => ever(1, id, "gone"))).toEqual([true, true, false]);
  store.close();
});

test("released stops, replays, sends and the trouble of a flow are as they were", () => {
  const store = oldStore(
    1,
    [
      ["send", "POST /bills"],
      ["released: restored", "by ann"],
      ["released: restored", "by bob"],
      ["warning: replayed", "again"],
      ["send", "POST /bills"],
    ],
    (database) =>
      database.exec("update flow set last_error = 'paused: budget: orders was not read'"),
  );
  const { journal, sweeps, flows } = store;
  expect(journal.releasedAt("restored")).toBe(2_000);
  expect(journal.releasedAt("emptied")).toBeNull();
  expect([2_999, 3_000].map(journal.replaysSince)).toEqual([1, 0]);
  expect([store.everSent(), sweeps.lastSentMs(1)]).toEqual([true, 4_000]);
  expect(flows.find("bills")?.last_error_code).toBe("budget");
  store.close();
});

test("a wait has the kind and the id of what it waits for, and a person's word about others of the same name still counts", () => {
  const store = oldStore(
    3,
    [["retried", `by a person, who was told: ${SAME_NAME}`, 2]],
    (database) => {
      const add = database.prepare(
        "insert into quarantine (delivery, code, cause, next, awaits, since_ms) values (?, ?, ?, '', ?, 0)",
      );
      add.run(1, "waits-for", "waits for bill a b", "bill a b");
      add.run(3, "same-name", SAME_NAME, null);
    },
  );
  const { incidents } = store;
  expect(store.causes.waitingFor("bill", ["a b", "other"])).toEqual([1]);
  const told = (delivery: number) =>
    [OTHER, FURTHER, "another"].map((id) => incidents.isDismissed(delivery, id));
  expect(told(2)).toEqual([true, true, false]);
  expect(told(3)).toEqual([false, false, false]);
  store.transaction(() => incidents.retried(3));
  expect(told(3)).toEqual([true, true, false]);
  store.close();
});
