import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { answersOfSap } from "./migration-partners.ts";
import { migrations } from "./migrations.ts";
import { storeFile } from "./rights.ts";
import { openStore } from "./store.ts";

const before = migrations.indexOf(answersOfSap);
const IDOC = "0123456789012345";
const named = (docnum: string): string => `to-sap/INVOIC_FUELBRIDGE_${docnum}.xml`;

/** A delivery of each request, under the same number. */
function oldStore(requests: readonly (readonly [operation: string, target: string])[]) {
  const folder = tempFolder();
  const old = new Database(storeFile(folder));
  for (const sql of migrations.slice(0, before)) old.exec(sql);
  old.exec("insert into flow (flow, name) values (1, 'bills')");
  const request = old.prepare(
    `insert into request (request, flow, operation, kind, number, revision, lane, key, target, body, body_sha256, state,
       live, machine, created_ms, updated_ms)
     values (:at, 1, :operation, 'bill', :at, 'r', 'l', :at, :target, 'b', 'x', 'done', 0, '{}', 0, 0)`,
  );
  for (const [index, [operation, target]] of requests.entries()) {
    const at = String(index + 1);
    request.run({ at, operation, target });
    old.exec(`
      insert into record (record, flow, id, revision, text) values (${at}, 1, 'P-${at}', 'r', '{}');
      insert into delivery (delivery, flow, record, revision, received_ms, state, number, request)
        values (${at}, 1, ${at}, 'r', 0, 'delivered', '${at}', ${at})`);
  }
  old.exec(`
    insert into acknowledgement (exchange, item, flow, delivery, state, is_delivered, detail)
      values ('x12 117', '0001', 1, 1, 'refused', 1, 'AK5*R')`);
  old.pragma(`user_version = ${before}`);
  old.close();
  return openStore(folder);
}

test("a store from before SAP's answers were stored finds the delivery of each IDoc by its number, and takes its answer", () => {
  const store = oldStore([
    ["files.bills", named("9999999999999999")],
    ["idoc.invoic.deliver", named(IDOC)],
    ["idoc.invoic.deliver", "to-sap/INVOIC_FUELBRIDGE_012345678901234x.xml"],
    ["idoc.orders.deliver", "to-sap/ORDERS_FUELBRIDGE_0000000000000007.xml"],
    ["idoc.orders.deliver", "to-sap/ORDERS_FUELBRIDGE_0000000000000007.xml"],
  ]);
  const { acknowledgements } = store;
  const deliveryOf = (docnum: string): unknown =>
    acknowledgements
      .named({ exchange: `idoc ${docnum}`, item: null })
      .map(({ delivery, state }) => [delivery, state]);
  expect(deliveryOf(IDOC)).toEqual([[2, "awaited"]]);
  // Of two deliveries under one name the newer one is in SAP's hands.
  expect(deliveryOf("0000000000000007")).toEqual([[5, "awaited"]]);
  expect(deliveryOf("9999999999999999")).toEqual([]);
  // A person is told of none of them before SAP has answered.
  expect(acknowledgements.open(1, 1e15).map(({ exchange }) => exchange)).toEqual(["x12 117"]);
  expect(acknowledgements.nextDueMs(1)).toBeNull();

  const [row] = acknowledgements.named({ exchange: `idoc ${IDOC}`, item: null });
  if (row === undefined) throw new Error("no row");
  const detail = "status 51";
  acknowledgements.take(row, { verdict: "refused", detail, at: "2026-08-14 16:00" });
  expect(acknowledgements.last(2, "2")).toEqual({ verdict: "refused", detail });
  expect(acknowledgements.open(1, 0).map(({ exchange }) => exchange)).toContain(`idoc ${IDOC}`);
  expect(acknowledgements.named({ exchange: "x12 117", item: "0001" })).toMatchObject([
    { delivery: 1, state: "refused", detail: "AK5*R", said_at: "" },
  ]);
  store.close();
});
