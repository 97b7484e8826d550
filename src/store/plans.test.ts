/** How the store's statements find their rows: a table that grows with the documents is read whole by none of daily work. */
import type Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { join } from "node:path";
import { tempFolder } from "../../test/support/folder.ts";
import { openDatabase } from "./database.ts";
import { plannedOnce } from "./statements.ts";
import { rooms } from "./store.ts";

/** Every statement that the store prepares, with its plan. */
function plans(): { sql: string; plan: string[] }[] {
  const folder = tempFolder();
  const database = openDatabase(join(folder, "store.sqlite"));
  onTestFinished(() => void database.close());
  const told: string[] = [];
  const prepare = (written: string): Database.Statement => {
    const sql = plannedOnce(written);
    told.push(sql);
    return database.prepare(sql);
  };
  const listening = Object.create(database, { prepare: { value: prepare } }) as Database.Database;
  rooms(listening, folder, () => {});
  return [...new Set(told)].map((sql) => ({ sql, plan: planOf(database, sql) }));
}

function planOf(database: Database.Database, sql: string): string[] {
  const bare = sql.replaceAll(/'[^']*'/g, "''");
  const named = Object.fromEntries(
    [...bare.matchAll(/[:@$]([a-z]\w*)/gi)].map(([, name]) => [name, null]),
  );
  const anonymous = bare
    .split("?")
    .slice(1)
    .map(() => null);
  return database
    .prepare<unknown[], { detail: string }>(`explain query plan ${sql}`)
    .all(...anonymous, ...(Object.keys(named).length > 0 ? [named] : []))
    .map(({ detail }) => detail);
}

/** Tables with a row for each document, or more; partial indices have none but those that are open. */
const GROWS =
  /^SCAN (?!request USING (COVERING )?INDEX request_ordering_key|delivery USING INDEX delivery_open)(record|delivery|request|link|likeness|audit|search_record|routed)\b/;
/** All rows of a kind, of a flow or after a place, whose ever they are: as many as there are documents. */
const READS_ALL_OF_ONE =
  /^SEARCH (link USING PRIMARY KEY \(kind=\?\)|routed USING INTEGER PRIMARY KEY \(rowid>|record USING (COVERING )?INDEX sqlite_autoindex_record_1 \(flow=\?\))/;
/** From the newest row on, and no more than so many. */
const FEW = /from (delivery|audit) order by \1 desc limit/;

/** Read a table whole, and by whom: nobody does in a round of daily work. */
const ASKED_SELDOM = [
  // Once at each start: was anything ever sent from here?
  /^select 1 where exists \(select 1 from link\)/,
  // By a person, for records to try a mapping on; read until enough are found.
  /as newest from delivery join record using \(record\)/,
  // By a person, who compares totals.
  /^select distinct shown_id\(record\.id\) from delivery/,
  // By receivers that cannot be asked, for a reconciliation.
  /^select delivery\.request, shown_id\(record\.id\) as id, delivery\.number/,
  // By a person, who chooses documents of a flow: 401 at most.
  /^select record from flow cross join record on .* limit \+\?$/s,
  // By a list that was read whole, and has as many records as it reads here.
  /^select (record|shown_id\(id\) as id, whole_record\(.*\) as text) from record\s+where flow = \+\?/s,
  // At the start at which a flow leads to another receiver than before.
  /^select max\(at_ms\) from \(\s+select max\(since_ms\) as at_ms from receiver/,
  // By a reading for changes of what was delivered last, once an hour.
  /from link where kind = \+\? and born = \+\? order by linked_ms desc/,
];

test("no statement of daily work reads a table that grows with the documents", () => {
  const scanning = plans().filter(
    ({ sql, plan }) =>
      plan.some((step) => GROWS.test(step) || READS_ALL_OF_ONE.test(step)) &&
      !FEW.test(sql) &&
      !ASKED_SELDOM.some((seldom) => seldom.test(sql)),
  );
  expect(scanning).toEqual([]);
});

test("no statement is planned anew for the number of rows that is asked for, or for a value that is compared", () => {
  const bound = /(?:[=<>]|\b(?:limit|offset|like))\s*[?:]/i;
  expect(plans().filter(({ sql }) => bound.test(sql))).toEqual([]);
});

test("what people choose documents by is read in the order of an index, and never sorted first", () => {
  const chosen = plans().filter(({ sql }) => /from search_record\b/.test(sql));
  expect(chosen.length).toBeGreaterThan(8);
  expect(chosen.filter(({ plan }) => plan.some((step) => /TEMP B-TREE/.test(step)))).toEqual([]);
});
