/** Documents whose requests are not final, and what waits for the same outcome (src/engine/under-way.ts). */
import type Database from "better-sqlite3";
import type { Kind } from "../core/kinds.ts";
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
  readonly lane: string;
}

export function underWay(database: Database.Database) {
  // Asked of the records at hand, not read as a whole: what is on its way may be all that a receiver has not taken for days.
  const versions = database.prepare<[string, number, string], Version>(
    `select record, request.request, request.state
     from json_each(?) asked cross join delivery on delivery.record = asked.value
       cross join request using (request)
     where request.flow = +? and request.live = 1 and kind = +? order by request.request`,
  );
  const elsewhere = database
    .prepare<[string, string, number], number>(
      `select 1 from delivery cross join request using (request)
       where delivery.number = +? and delivery.state in ('frozen', 'quarantined')
         and request.live = 1 and kind = +? and request.flow <> +? limit 1`,
    )
    .pluck();
  const records = database.prepare<[string], { flow: number; id: Buffer | string }>(
    `select record.flow, record.id from request join delivery using (request) join record using (record)
     where request.live = 1 and kind = ?`,
  );
  const turns = database.prepare<[number], Turn>(
    `select request, lane from ${OPEN} where flow = ? and live = 1 and state <> 'manual' order by request`,
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
      return elsewhere.get(number, kind, flow) !== undefined;
    },
    /** The records that are carried by one of this kind. */
    records(kind: Kind): { flow: number; recordId: string }[] {
      return records.all(kind).map(({ flow, id }) => ({ flow, recordId: shownId(id) }));
    },
    /** The open requests of a flow that are no person's, oldest first, without their bytes. */
    turns(flow: number): Turn[] {
      return turns.all(flow);
    },
    /** Newer versions of what a request carries, which wait for the same decision. */
    newer(request: number): number[] {
      return newer.all(request);
    },
  };
}
