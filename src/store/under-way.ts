/** Documents whose requests are not final, and what waits for the same outcome (src/engine/under-way.ts). */
import type Database from "better-sqlite3";
import type { Kind } from "../core/kinds.ts";
import type { State } from "../core/request-state.ts";
import { shownId } from "./ids.ts";
import { OPEN } from "./requests.ts";

export interface UnderWay {
  readonly flow: number;
  readonly request: number;
  readonly state: State;
  readonly record: number;
  readonly number: string | null;
  /** 0: a newer version has taken its place. */
  readonly isOpen: 0 | 1;
}

export interface Turn {
  readonly request: number;
  readonly lane: string;
}

export function underWay(database: Database.Database) {
  const ofKind = database.prepare<[string], UnderWay>(
    `select request.flow, request.request, request.state, record, delivery.number,
       delivery.state in ('frozen', 'quarantined') as isOpen
     from request join delivery using (request) where request.live = 1 and kind = ?`,
  );
  const records = database.prepare<[string], { flow: number; id: Buffer | string }>(
    `select record.flow, record.id from request join delivery using (request) join record using (record)
     where request.live = 1 and kind = ?`,
  );
  const turns = database.prepare<[number], Turn>(
    `select request, lane from ${OPEN} where flow = ? and live = 1 order by request`,
  );
  const newer = database
    .prepare<[number], number>(
      "select delivery from delivery where request = ? and content is null and state = 'quarantined'",
    )
    .pluck();

  return {
    /** Every one of this kind, to whichever side. */
    of(kind: Kind): UnderWay[] {
      return ofKind.all(kind);
    },
    /** The records that are carried by one of this kind. */
    records(kind: Kind): { flow: number; recordId: string }[] {
      return records.all(kind).map(({ flow, id }) => ({ flow, recordId: shownId(id) }));
    },
    /** The open requests of a flow, oldest first, without their bytes. */
    turns(flow: number): Turn[] {
      return turns.all(flow);
    },
    /** Newer versions of what a request carries, which wait for the same decision. */
    newer(request: number): number[] {
      return newer.all(request);
    },
  };
}
