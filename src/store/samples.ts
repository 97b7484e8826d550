/** Records as they are stored, with what was last sent of them: for whoever tries a mapping. Read only. */
import type Database from "better-sqlite3";
import { wholeIn } from "./sums.ts";
import { shownId, storedId } from "./ids.ts";

/** A record at its newest version. */
export interface Sample {
  /** What its source calls it. */
  readonly id: string;
  readonly version: string | null;
  /** File and line; null: it came from no file. */
  readonly origin: string | null;
  readonly text: string;
  readonly revision: string;
  /** The state of its newest delivery. */
  readonly state: string;
  readonly sent: Sent | null;
}

/** The request that carried it last. */
export interface Sent {
  readonly target: string;
  readonly body: string;
  /** It carried the newest version of the record. */
  readonly newest: boolean;
  /** Hash of the document; null: a person linked it. */
  readonly content: string | null;
  /** Its place among the documents of the request, from 0, and how many they are. */
  readonly place: number;
  readonly of: number;
}

interface Row {
  readonly delivery: number;
  readonly record: number;
  readonly id: Buffer | string;
  readonly version: string | null;
  readonly origin: string | null;
  readonly text: string;
  readonly revision: string;
  readonly state: string;
  readonly request: number | null;
  readonly content: string | null;
  readonly newest: number;
}

/** How many deliveries are looked at for each record that is asked for, at most. */
const DELIVERIES_EACH = 20;

export function samples(database: Database.Database) {
  const columns = `delivery.delivery, record.record, record.id, record.version, record.origin, ${wholeIn("record")} as text,
    record.revision, delivery.state, request, delivery.content, delivery.revision = record.revision as newest`;
  const latest = database.prepare<[number], Row>(
    `select ${columns} from delivery join record using (record)
     where delivery.flow = ? order by delivery.delivery desc`,
  );
  const named = database.prepare<
    { flow: number; number: string; id: Buffer | string; text: string },
    Row
  >(
    `select ${columns} from delivery join record using (record)
     where delivery.flow = +:flow and record in (
       select record from delivery where number = :number
       union select record from record where flow = :flow and id in (:id, :text))
     order by delivery.delivery desc`,
  );
  const bytes = database.prepare<
    { request: number; delivery: number },
    Pick<Sent, "target" | "body" | "place" | "of">
  >(
    `select target, body,
       (select count(*) from delivery d where d.request = :request and d.delivery < :delivery) as place,
       (select count(*) from delivery d where d.request = :request) as "of"
     from request where request = :request and body_gone_ms is null`,
  );

  /** The first rows of each record are its newest. */
  function collected(rows: Iterable<Row>, records: number): Sample[] {
    const found = new Map<number, Sample>();
    let looked = 0;
    for (const row of rows) {
      if (++looked > records * DELIVERIES_EACH) break;
      const known = found.get(row.record);
      if (known === undefined && found.size === records) continue;
      if (known?.sent) continue;
      const { id, version, origin, text, revision, state } = known ?? {
        ...row,
        id: shownId(row.id),
      };
      found.set(row.record, { id, version, origin, text, revision, state, sent: sentBy(row) });
    }
    return [...found.values()];
  }

  function sentBy({ request, delivery, content, newest }: Row): Sent | null {
    const sent = request === null ? undefined : bytes.get({ request, delivery });
    return sent === undefined ? null : { ...sent, content, newest: newest === 1 };
  }

  return {
    /** The records whose deliveries are the newest of the flow, newest first. */
    latest: (flow: number, records: number): Sample[] => collected(latest.iterate(flow), records),
    /** Those with this number or this id. */
    named: (flow: number, text: string): Sample[] =>
      collected(named.iterate({ flow, number: text, id: storedId(text), text }), NAMED_MAX),
  };
}

const NAMED_MAX = 10;
