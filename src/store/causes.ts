/** Why deliveries are in quarantine; equal causes are one group. */
import type Database from "better-sqlite3";
import type { Fault } from "../core/fault.ts";

export function causes(database: Database.Database) {
  const add = database.prepare(
    `insert into quarantine (delivery, code, cause, next, field, since_ms) values (?, ?, ?, ?, ?, ?)
     on conflict do update set code = excluded.code, cause = excluded.cause, next = excluded.next,
       field = excluded.field, since_ms = excluded.since_ms`,
  );
  const drop = database.prepare("delete from quarantine where delivery = ?");
  // `+?`: see requests.ts.
  const waiting = database
    .prepare<[string, string], number>(
      `select delivery from quarantine join delivery using (delivery)
       where cause in (+?, +?) and code = 'waits-for' and state = 'quarantined'`,
    )
    .pluck();
  const waitingIn = database.prepare<[number], { delivery: number; version: string | null }>(
    `select delivery, record.version
     from quarantine join delivery using (delivery) join record using (record)
     where delivery.flow = ? and code = 'waits-for' and state = 'quarantined'`,
  );

  return {
    add(delivery: number, { code, message, next, field }: Fault, atMs: number): void {
      add.run(delivery, code, message, next, field ?? null, atMs);
    },
    drop(delivery: number): void {
      drop.run(delivery);
    },
    /** What a flow has in quarantine until another document is delivered. */
    waiting(flow: number): { delivery: number; version: string | null }[] {
      return waitingIn.all(flow);
    },
    /** Deliveries that wait for this document, which each side knows under an id of its own. */
    waitingFor(kind: string, [id, other]: readonly [string, string]): number[] {
      return waiting.all(`waits for ${kind} ${id}`, `waits for ${kind} ${other}`);
    },
  };
}
