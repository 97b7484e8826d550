/** Documents that were delivered and are gone at their receiver (src/engine/verify.ts). */
import type Database from "better-sqlite3";
import type { Fault } from "../core/fault.ts";
import { causes } from "./causes.ts";
import { storedId } from "./ids.ts";
import { incidents } from "./incidents.ts";
import { moving } from "./moves.ts";

export function losses(database: Database.Database) {
  const why = causes(database);
  const happened = incidents(database);
  const last = database
    .prepare<[number, Buffer | string], number>(
      `select delivery from delivery join record using (record)
       where record.flow = +? and record.id = +? and state in ('delivered', 'skipped')
         and not exists (select 1 from delivery d where d.record = delivery.record
           and d.state in ('pending', 'quarantined'))
         and not exists (select 1 from delivery d where d.record = delivery.record and d.state = 'frozen')
       order by delivery desc limit 1`,
    )
    .pluck();
  const carrier = database
    .prepare<[number, Buffer | string], number>(
      `select request from delivery join record using (record) join request using (request)
       where record.flow = +? and record.id = +? and request.state = 'done'
       order by delivery desc limit 1`,
    )
    .pluck();
  const endWait = database.prepare(
    "delete from wait where record = (select record from delivery where delivery = ?)",
  );
  const lose = moving(database, {
    from: ["delivered", "skipped"],
    to: "quarantined",
    set: "request = null, number = coalesce(number, ?)",
    where: "delivery = ?",
  });

  return {
    /** The last delivery of a record that has none on its way; a later version may have had nothing new to say. */
    lastDelivered(flow: number, recordId: string): number | null {
      return last.get(flow, storedId(recordId)) ?? null;
    },
    /** The request that a record was last delivered in; null when a person linked it. */
    lastRequest(flow: number, recordId: string): number | null {
      return carrier.get(flow, storedId(recordId)) ?? null;
    },
    /** A person decides. Call it inside a transaction. */
    lose(delivery: number, number: string, fault: Fault, atMs: number): void {
      lose.run(number, delivery);
      // Delivered anew, it waits anew.
      endWait.run(delivery);
      happened.open(delivery, "gone");
      why.add(delivery, fault, atMs);
    },
  };
}
