/** Documents that were delivered and are gone at their receiver (src/engine/verify.ts). */
import type Database from "better-sqlite3";
import type { Fault } from "../core/fault.ts";
import { causes } from "./causes.ts";
import { storedId } from "./ids.ts";

export function losses(database: Database.Database) {
  const why = causes(database);
  const last = database
    .prepare<[number, Buffer | string], number>(
      `select delivery from delivery join record using (record)
       where record.flow = ? and record.id = ? and state in ('delivered', 'skipped')
         and not exists (select 1 from delivery d where d.record = record.record
           and d.state in ('pending', 'frozen', 'quarantined'))
       order by delivery desc limit 1`,
    )
    .pluck();
  const lose = database.prepare(
    `update delivery set state = 'quarantined', request = null, number = coalesce(number, ?)
     where delivery = ? and state in ('delivered', 'skipped')`,
  );

  return {
    /** The last delivery of a record that has none on its way; a later version may have had nothing new to say. */
    lastDelivered(flow: number, recordId: string): number | null {
      return last.get(flow, storedId(recordId)) ?? null;
    },
    /** A person decides. Call it inside a transaction. */
    lose(delivery: number, number: string, fault: Fault, atMs: number): void {
      lose.run(number, delivery);
      why.add(delivery, fault, atMs);
    },
  };
}
