/** Why deliveries are in quarantine. */
import type Database from "better-sqlite3";
import type { Fault } from "../core/fault.ts";
import type { Kind } from "../core/kinds.ts";
import { appending } from "./chain.ts";
import { shortened } from "./journal.ts";

export function causes(database: Database.Database) {
  const add = database.prepare(
    `insert into quarantine (delivery, code, cause, next, field, awaits_kind, awaits_id, candidates, lookup_table, lookup_key, since_ms)
     values (:delivery, :code, :message, :next, :field, :kind, :id, :candidates, :table, :key, :at)
     on conflict do update set code = excluded.code, cause = excluded.cause, next = excluded.next,
       field = excluded.field, awaits_kind = excluded.awaits_kind, awaits_id = excluded.awaits_id,
       candidates = excluded.candidates,
       lookup_table = excluded.lookup_table, lookup_key = excluded.lookup_key, since_ms = excluded.since_ms`,
  );
  const append = appending(database);
  const flowOf = database
    .prepare<[number], number>("select flow from delivery where delivery = ?")
    .pluck();
  const drop = database.prepare("delete from quarantine where delivery = ?");
  // `+?`: see requests.ts. A list of two is made a table of, for every document.
  const waiting = database
    .prepare<[string, string, string, string], number>(
      `select delivery from quarantine cross join delivery using (delivery)
       where (awaits_kind = +? and awaits_id = +? or awaits_kind = +? and awaits_id = +?) and state = 'quarantined'`,
    )
    .pluck();
  const waitingIn = database.prepare<[number], { delivery: number; version: string | null }>(
    `select delivery, record.version
     from quarantine cross join delivery using (delivery) cross join record using (record)
     where delivery.flow = ? and awaits_id is not null and state = 'quarantined'`,
  );

  return {
    /** It stays in the audit when the quarantine is over. Call it inside a transaction. */
    add(delivery: number, fault: Fault, atMs: number): void {
      const { code, message, next, field = null, awaits, candidates, lookup } = fault;
      add.run({
        delivery,
        code,
        message,
        next,
        field,
        kind: awaits?.kind ?? null,
        id: awaits?.id ?? null,
        candidates: candidates === undefined ? null : JSON.stringify(candidates),
        table: lookup?.table ?? null,
        key: lookup?.key ?? null,
        at: atMs,
      });
      const flow = flowOf.get(delivery) ?? null;
      append({ at: atMs, flow, delivery, event: "quarantined", detail: shortened(message) });
    },
    drop(delivery: number): void {
      drop.run(delivery);
    },
    /** What a flow has in quarantine until another document is delivered. */
    waiting(flow: number): { delivery: number; version: string | null }[] {
      return waitingIn.all(flow);
    },
    /** Deliveries that wait for this document, which each side knows under an id of its own. */
    waitingFor(kind: Kind, [id, other]: readonly [string, string]): number[] {
      return waiting.all(kind, id, kind, other);
    },
  };
}
