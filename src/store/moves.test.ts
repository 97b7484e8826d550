/** The moves of deliveries: one table, held by the function that writes them and by the database itself. */
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { deliveryMoves, type DeliveryState, deliveryStates, mayMove } from "../core/record.ts";
import { moving } from "./statements.ts";
import { storeFile } from "./database.ts";
import { openStore } from "./store.ts";

/** A store with one delivery, open for statements of the test's own. */
function stored(): Database.Database {
  const folder = tempFolder();
  const store = openStore(folder);
  const { flow } = store.flows.open("bills");
  const changes = [{ id: "a", version: "1", text: "{}" }];
  store.transaction(() => store.intake.page(flow, { changes, position: 1 }, 0));
  store.close();
  return new Database(storeFile(folder));
}

/** As a repair by hand would: the trigger away, and there again. */
function put(database: Database.Database, state: DeliveryState): void {
  const trigger = database
    .prepare<[], string>("select sql from sqlite_schema where name = 'delivery_moves'")
    .pluck()
    .get() as string;
  database.exec("drop trigger delivery_moves");
  database.prepare("update delivery set state = ?").run(state);
  database.exec(trigger);
}

const pairs = deliveryStates.flatMap((from) => deliveryStates.map((to) => ({ from, to })));

test("every pair of states: what is not in the table is refused by the database and by the function that writes moves", () => {
  const database = stored();
  const set = database.prepare("update delivery set state = ?");
  const legal: string[] = [];
  for (const { from, to } of pairs) {
    const isLegal = from === to || deliveryMoves[from].includes(to);
    expect(mayMove(from, to)).toBe(isLegal);
    put(database, from);
    const move = (): unknown => moving(database, { from: [from], to, where: "delivery = 1" })();
    if (isLegal) {
      expect(move()).toBe(1);
      put(database, from);
      set.run(to);
      if (from !== to) legal.push(`${from} ${to}`);
    } else {
      expect(move).toThrow(`a delivery does not move from ${from} to ${to}`);
      expect(() => set.run(to)).toThrow("illegal move of a delivery");
    }
  }
  expect(pairs.length).toBe(64);
  expect(legal.length).toBe(Object.values(deliveryMoves).flat().length);
  database.close();
});

test("a delivery in a state that the move does not begin in stays as it is", () => {
  const database = stored();
  put(database, "resolved");
  const move = moving(database, { from: ["pending"], to: "frozen", where: "delivery = 1" });
  expect(move()).toBe(0);
  expect(database.prepare("select state from delivery").pluck().get()).toBe("resolved");
  database.close();
});
