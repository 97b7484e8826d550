import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";

import { oneSpellingOfKinds } from "./migration-kinds.ts";
import { migrations } from "./migrations.ts";
import { storeFile } from "./rights.ts";
import { openStore } from "./store.ts";

const before = migrations.indexOf(oneSpellingOfKinds);

test("a store that spelt bills in two ways finds each link, request and wait under the one spelling", () => {
  const folder = tempFolder();
  const old = new Database(storeFile(folder));
  for (const sql of migrations.slice(0, before)) old.exec(sql);
  old.exec(`
    insert into flow (flow, name) values (1, 'bills'), (2, 'payments');
    insert into record (record, flow, id, revision, text) values (1, 1, 'P-1', 'r', '{}'), (2, 2, 'Q-1', 'r', '{}');
    insert into delivery (delivery, flow, record, revision, received_ms, state)
      values (1, 1, 1, 'r', 0, 'pending'), (2, 2, 2, 'r', 0, 'quarantined');
    insert into quarantine (delivery, code, cause, next, awaits, since_ms)
      values (2, 'waits-for', 'waits', 'Wait.', 'supplier-invoice P-1', 0);
    insert into request (request, flow, operation, kind, number, revision, lane, key, target, body, body_sha256, state,
        live, machine, created_ms, updated_ms)
      values (1, 1, 'o', 'supplier-invoice', '7', 'r', 'l', 'k', 't', 'b', 'x', 'unknown', 1, '{}', 0, 0);
    update delivery set request = 1, state = 'frozen' where delivery = 1;
    insert into link (kind, platform_id, erp_id, born, number, linked_ms) values
      ('supplier-invoice', 'P-1', 'bill-1.csv', 'platform', '1', 0),
      ('supplier-invoice', 'P-2', 'bill-2.csv', 'platform', '2', 0),
      ('bill', 'P-2', 'BILL-2', 'platform', '2', 0);
  `);
  old.pragma(`user_version = ${before}`);
  old.close();
  const store = openStore(folder);
  expect(store.links.find("bill", "platform", "P-1")?.erpId).toBe("bill-1.csv");
  expect(store.links.find("bill", "platform", "P-2")?.erpId).toBe("BILL-2");
  expect(store.links.search("2").map(({ erpId }) => erpId)).toEqual(["BILL-2", "bill-2.csv"]);
  expect(store.underWay.versions("bill", 1, [1])).toMatchObject([{ request: 1 }]);
  expect(store.causes.waitingFor("bill", ["P-1", "bill-1.csv"])).toEqual([2]);
  store.close();
});
