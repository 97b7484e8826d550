/** Documents that were delivered and are gone at their receiver (src/engine/verify.ts). */
import type Database from "better-sqlite3";
import type { Fault } from "../core/fault.ts";
import { causes } from "./causes.ts";
import { storedId } from "./ids.ts";

export function losses(database: Database.Database) {
  const why = causes(database);
  const last = database
    .prepare<[string, number, Buffer | string], number>(
      `select delivery from delivery join record using (record)
       where number = +? and record.flow = +? and record.id = +? and state in ('delivered', 'skipped')
         and not exists (select 1 from delivery d where d.record = delivery.record
           and d.state in ('pending', 'quarantined'))
         and not exists (select 1 from delivery d where d.number = delivery.number
           and d.record = delivery.record and d.state = 'frozen')
       order by delivery desc limit 1`,
    )
    .pluck();
  const carrier = database
    .prepare<[string, number, Buffer | string], number>(
      `select request from delivery join record using (record) join request using (request)
       where delivery.number = +? and record.flow = +? and record.id = +? and request.state = 'done'
       order by delivery desc limit 1`,
    )
    .pluck();
  const before = database
    .prepare<[string, number], number>(
      `select 1 from delivery d where number = +? and record = +?
         and exists (select 1 from audit a where a.delivery = d.delivery and a.event = 'gone'
           and not exists (select 1 from delivery e join audit b using (delivery)
             where e.number = d.number and e.record = d.record and b.event = 'retried' and b.audit > a.audit))
       limit 1`,
    )
    .pluck();
  const endWait = database.prepare(
    "delete from wait where record = (select record from delivery where delivery = ?)",
  );
  const retried = database
    .prepare<[string, number, string], number>(
      `select 1 from delivery d join audit a using (delivery)
       where number = +? and record = +? and a.event = ?
         and exists (select 1 from delivery e join audit b using (delivery)
           where e.number = d.number and e.record = d.record and b.event = 'retried' and b.audit > a.audit)
         and not exists (select 1 from delivery e join audit b using (delivery)
           where e.number = d.number and e.record = d.record and b.event = a.event || ' over'
             and b.audit > a.audit)
       limit 1`,
    )
    .pluck();
  const ever = database
    .prepare<[number, Buffer | string], number>(
      `select 1 from audit join delivery using (delivery) join record using (record)
       where record.flow = +? and record.id = +? and event = 'gone' limit 1`,
    )
    .pluck();
  const lose = database.prepare(
    `update delivery set state = 'quarantined', request = null, number = coalesce(number, ?)
     where delivery = ? and state in ('delivered', 'skipped')`,
  );

  return {
    /** The last delivery of a record that has none on its way; a later version may have had nothing new to say. */
    lastDelivered(flow: number, recordId: string, number: string): number | null {
      return last.get(number, flow, storedId(recordId)) ?? null;
    },
    /** The request that a record was last delivered in; null when a person linked it. */
    lastRequest(flow: number, recordId: string, number: string): number | null {
      return carrier.get(number, flow, storedId(recordId)) ?? null;
    },
    /** Was a version of it gone, and has nobody said since that it is to go again? */
    isGone(record: number, number: string): boolean {
      return before.get(number, record) !== undefined;
    },
    /** Has a person retried it since this was audited, and was that not made use of (audited as `EVENT over`)? */
    isRetried(event: "turned", record: number, number: string): boolean {
      return retried.get(number, record, event) !== undefined;
    },
    /** Was any version of it ever gone, whatever was said since? */
    wasLost(flow: number, recordId: string): boolean {
      return ever.get(flow, storedId(recordId)) !== undefined;
    },
    /** A person decides. Call it inside a transaction. */
    lose(delivery: number, number: string, fault: Fault, atMs: number): void {
      lose.run(number, delivery);
      // Delivered anew, it waits anew.
      endWait.run(delivery);
      why.add(delivery, fault, atMs);
    },
  };
}
