/** The invariant of every store: nothing that has not ended is without a time or a person. */
import { existsSync } from "node:fs";
import Database from "better-sqlite3";
import { expect, onTestFinished } from "vitest";
import { storeFile } from "../../src/store/database.ts";
import type { Store } from "../../src/store/store.ts";

const BREACHES: Readonly<Record<string, string>> = {
  "a request that is a person's, and no delivery in the quarantine shows it": `
    select request from request where live = 1 and state = 'manual' and not exists (
      select 1 from delivery where delivery.request = request.request and delivery.state = 'quarantined')`,
  "a request of several documents that is a person's": `
    select request from request where live = 1 and state = 'manual' and 1 < (
      select count(*) from delivery where delivery.request = request.request and content is not null)`,
  "a frozen delivery whose request has ended, or is a person's": `
    select delivery from delivery left join request using (request)
    where delivery.state = 'frozen' and (request.live is null or request.state = 'manual')`,
  "a delivery in the quarantine without a cause": `
    select delivery from delivery where state = 'quarantined' and delivery not in (select delivery from quarantine)`,
  "a document that is to go by itself shares its request": `
    select delivery from delivery d where state = 'frozen' and bisect_group < 0 and exists (
      select 1 from delivery other where other.request = d.request and other.delivery <> d.delivery
        and other.state = 'frozen')`,
  "a wait of a document whose delivery is not there": `
    select record from wait where not exists (select 1 from delivery where delivery.delivery = wait.delivery)`,
};

/** Looks at the store of this folder when the test has ended; what it has open is closed for that. */
export function expectSeen(folder: string, store: Pick<Store, "close">): void {
  // A program that a test starts has no test of its own.
  if (expect.getState().currentTestName === undefined) return;
  onTestFinished(() => {
    try {
      store.close();
    } catch {
      // The test has closed it.
    }
    if (!existsSync(storeFile(folder))) return;
    const database = new Database(storeFile(folder), { fileMustExist: true });
    const found = Object.entries(BREACHES).flatMap(([breach, sql]) => {
      const rows = database.prepare(sql).pluck().all();
      return rows.length === 0 ? [] : [`${breach}: ${rows.join(", ")}`];
    });
    database.close();
    expect(found).toEqual([]);
  });
}
