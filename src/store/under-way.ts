/** Documents whose requests are not final, and what waits for the same outcome (src/engine/under-way.ts). */
import type Database from "better-sqlite3";
import { comparedNumber, type Kind } from "../core/kinds.ts";
import type { State } from "../core/request-state.ts";
import { shownId } from "./ids.ts";
import { OPEN } from "./requests.ts";

export interface Version {
  readonly record: number;
  readonly request: number;
  readonly state: State;
}

export interface Turn {
  readonly request: number;
  readonly orderingKey: string;
}

/** A request that has not ended, and what its receiver said last. */
export interface Unended {
  readonly request: number;
  readonly state: State;
  readonly sinceMs: number;
  readonly documents: number;
  /** What came of its last send or look; null: it was neither sent nor looked for. */
  readonly said: string | null;
}

/** A delivery that waits to be mapped, and since when. */
export interface Unmapped {
  readonly delivery: number;
  readonly text: string;
  readonly sinceMs: number;
}

/** So many of the oldest are asked about. */
export const OLDEST = 500;

export function underWay(database: Database.Database) {
  // Asked of the records at hand, not read as a whole: what is on its way may be all that a receiver has not taken for days.
  const versions = database.prepare<[string, number, string], Version>(
    `select record, request.request, request.state
     from json_each(?) asked cross join delivery on delivery.record = asked.value
       cross join request using (request)
     where request.flow = +? and request.live = 1 and kind = +? order by request.request`,
  );
  const elsewhere = database
    .prepare<[{ number: string; kind: Kind; flow: number }], number>(
      `select 1 from delivery cross join request using (request)
       where (delivery.number = :number and delivery.folded is null or delivery.folded = :number)
         and delivery.state in ('frozen', 'quarantined')
         and request.live = 1 and kind = +:kind and request.flow <> +:flow limit 1`,
    )
    .pluck();
  const records = database.prepare<[string], { flow: number; id: Buffer | string }>(
    `select record.flow, record.id from request indexed by request_ordering_key
       cross join delivery on delivery.request = request.request
       cross join record on record.record = delivery.record
     where request.live = 1 and kind = ?`,
  );
  const turns = database.prepare<[number], Turn>(
    `select request, ordering_key as orderingKey from ${OPEN} where flow = ? and live = 1 and state <> 'manual' order by request`,
  );
  const unended = database.prepare<[number, number], Unended>(
    `select request, state, created_ms as sinceMs,
            (select count(*) from delivery
             where delivery.request = r.request and delivery.state = 'frozen') as documents,
            (select detail from audit where audit.request = r.request and delivery is null
               and event in ('ready', 'unknown', 'sending') order by audit desc limit 1) as said
     from request r indexed by request_ordering_key
     where flow = ? and live = 1 and state <> 'manual' and created_ms <= ? order by request`,
  );
  // A person who retried it, a wait that ended: from then on it waits again.
  const unmapped = database.prepare<[number, number], Unmapped>(
    `select delivery, text, sinceMs from (
       select oldest.delivery, record, max(received_ms, coalesce(
         (select max(at_ms) from audit where audit.delivery = oldest.delivery), 0)) as sinceMs
       from (select delivery, record, received_ms from delivery indexed by delivery_pending
             where flow = ? and state = 'pending' order by delivery limit ${OLDEST}) oldest)
       join record using (record)
     where sinceMs <= ? order by sinceMs`,
  );
  const newer = database
    .prepare<[number], number>(
      "select delivery from delivery where request = ? and content is null and state = 'quarantined'",
    )
    .pluck();

  return {
    /** Those of these records that a request of this flow carries, the newest last. */
    versions(kind: Kind, flow: number, asked: readonly number[]): Version[] {
      return versions.all(JSON.stringify(asked), flow, kind);
    },
    /** Does a request of another flow carry a document of this number, whose place no newer version has taken? */
    elsewhere(kind: Kind, number: string, flow: number): boolean {
      return elsewhere.get({ number: comparedNumber(kind, number), kind, flow }) !== undefined;
    },
    /** The records that are carried by one of this kind. */
    records(kind: Kind): { flow: number; recordId: string }[] {
      return records.all(kind).map(({ flow, id }) => ({ flow, recordId: shownId(id) }));
    },
    /** The open requests of a flow that are no person's, oldest first, without their bytes. */
    turns(flow: number): Turn[] {
      return turns.all(flow);
    },
    /** The open requests of a flow that are no person's and are as old as that, the oldest first. */
    unended(flow: number, beforeMs: number): Unended[] {
      return unended.all(flow, beforeMs);
    },
    /** Of the {@link OLDEST} pending deliveries of a flow those that wait since then, the oldest first. */
    unmapped(flow: number, beforeMs: number): Unmapped[] {
      return unmapped.all(flow, beforeMs);
    },
    /** Newer versions of what a request carries, which wait for the same decision. */
    newer(request: number): number[] {
      return newer.all(request);
    },
  };
}
