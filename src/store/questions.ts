/** Questions that people ask: quarantine by cause, and everything about a number. Read only. */
import type Database from "better-sqlite3";
import { shownId, storedId } from "./ids.ts";

export interface CauseRow {
  readonly flow: string;
  readonly code: string;
  readonly cause: string;
  readonly next: string;
  readonly field: string | null;
  /** The kind and, of one of them, the id of the document that they wait for. */
  readonly awaitsKind: string | null;
  readonly awaitsId: string | null;
  /** The row that is missing in a cross-reference table. */
  readonly lookupTable: string | null;
  readonly lookupKey: string | null;
  readonly count: number;
  readonly sinceMs: number;
  /** It stands for all causes of this code and field, of which it is one; left out: for itself. */
  readonly several?: true;
}

export interface QuarantinedRow {
  readonly delivery: number;
  readonly record: number;
  readonly request: number | null;
  readonly number: string | null;
  readonly recordId: string;
  readonly version: string | null;
  readonly origin: string | null;
  readonly code: string;
  readonly cause: string;
  readonly field: string | null;
  readonly awaitsId: string | null;
  readonly sinceMs: number;
}

export interface DeliveryRow {
  readonly delivery: number;
  readonly flow: string;
  readonly recordId: string;
  readonly receivedMs: number;
  /** Null: the source gives none, or a store of an older version has forgotten it. */
  readonly version: string | null;
  /** File and line; null: it came from no file, or a store of an older version has forgotten it. */
  readonly origin: string | null;
  readonly state: string;
  readonly sinceMs: number | null;
  readonly number: string | null;
  readonly note: string | null;
  readonly code: string | null;
  readonly cause: string | null;
  readonly field: string | null;
  readonly awaitsKind: string | null;
  readonly request: number | null;
  /** When the bytes that carried it went; null: they are here, or there are none. */
  readonly goneMs: number | null;
}

export interface AuditRow {
  readonly audit: number;
  readonly atMs: number;
  readonly flow: string | null;
  readonly request: number | null;
  readonly delivery: number | null;
  readonly event: string;
  readonly detail: string;
  /** What it says of each delivery of a request that carried several, JSON; null: it says nothing of each. */
  readonly parts: string | null;
}

type WithId<Row> = Omit<Row, "recordId"> & { id: Buffer | string };

export function questions(database: Database.Database) {
  const ofNumber = database.prepare<[string, string, Buffer | string], WithId<DeliveryRow>>(
    `select delivery.delivery, flow.name as flow, record.id, received_ms as receivedMs,
            coalesce(delivery.version, iif(delivery.revision = record.revision, record.version, null)) as version,
            coalesce(delivery.origin, iif(delivery.revision = record.revision, record.origin, null)) as origin,
            delivery.state, since_ms as sinceMs, delivery.number, note, code, cause, field,
            awaits_kind as awaitsKind, delivery.request,
            (select body_gone_ms from request where request.request = delivery.request) as goneMs
     from delivery join flow using (flow) join record using (record)
       left join quarantine on quarantine.delivery = delivery.delivery and delivery.state = 'quarantined'
     where delivery.delivery in (
       select delivery from delivery where number = ?
       union select delivery from delivery where record in
         (select r.record from flow f cross join record r on r.flow = f.flow and r.id in (?, ?)))
     order by delivery.delivery`,
  );
  const auditOf = database.prepare<[{ delivery: number; request: number | null }], AuditRow>(
    `select audit, at_ms as atMs, flow.name as flow, request, delivery, event, detail, parts
     from audit left join flow using (flow)
     where delivery = :delivery or request = :request and delivery is null
       or request in (select request from carried_before where delivery = :delivery) and delivery is null
     order by audit`,
  );

  const worked = database
    .prepare<[], number>(
      `select exists (select 1 from link)
         or exists (select 1 from request where state not in ('ready', 'preflight', 'cancelled'))`,
    )
    .pluck();
  const givenUp = database.prepare<[string], AuditRow>(
    `select audit, at_ms as atMs, flow.name as flow, audit.request, audit.delivery, event, detail,
            parts
     from request join audit using (request) left join flow on flow.flow = audit.flow
     where request.number = ? and not exists (select 1 from delivery where delivery.request = request.request)
     order by audit`,
  );

  const delivered = database
    .prepare<[string], Buffer | string>(
      `select distinct record.id from delivery join record using (record)
       where delivery.flow = (select flow from flow where name = ?) and state = 'delivered'
         and not exists (select 1 from delivery d where d.record = delivery.record
           and d.delivery > delivery.delivery and d.state in ('pending', 'quarantined', 'resolved'))`,
    )
    .pluck();

  return {
    /**
     * The source's ids of the records that were delivered, and of which no newer version is still to be decided, or
     * was settled by hand. For small stores: it compares each with all.
     */
    deliveredIds(flow: string): string[] {
      return delivered.all(flow).map(shownId);
    },
    ...quarantined(database),
    /** Every delivery of a record with this number or this id. */
    deliveries(text: string): DeliveryRow[] {
      return ofNumber.all(text, text, storedId(text)).map(withId);
    },
    audit(delivery: number, request: number | null): AuditRow[] {
      return auditOf.all({ delivery, request });
    },
    /** Of requests for this number that carry nothing any more: a person, or newer content, gave them up. */
    givenUp(number: string): AuditRow[] {
      return givenUp.all(number);
    },
    /** Was anything ever sent from here, found at its receiver, or linked? */
    hasWorked: (): boolean => worked.get() === 1,
  };
}

/**
 * What needs a person. `cross join` keeps the order of the tables: SQLite has no statistics here, and would begin with
 * the millions of records and deliveries instead of the few flows or the quarantine.
 */
function quarantined(database: Database.Database) {
  // Neither grouped nor sorted here: SQLite would hold all of it in memory.
  const causes = database.prepare<[], CauseRow>(
    `select flow.name as flow, code, cause, next, field, awaits_kind as awaitsKind, awaits_id as awaitsId,
            lookup_table as lookupTable, lookup_key as lookupKey, 1 as count, since_ms as sinceMs
     from quarantine cross join delivery using (delivery) join flow using (flow)
     where delivery.state = 'quarantined'`,
  );
  const deliveriesWhere = (isOne: string) =>
    database.prepare<[string, string, string], WithId<QuarantinedRow>>(
      `select delivery, record.record, delivery.request, delivery.number, record.id, record.version, record.origin,
              code, cause, field, awaits_id as awaitsId, since_ms as sinceMs
       from quarantine cross join delivery using (delivery) join flow using (flow) join record using (record)
       where delivery.state = 'quarantined' and flow.name = ? and code = ? and ${isOne} order by delivery`,
    );
  const ofCause = deliveriesWhere("cause = ?");
  const ofField = deliveriesWhere("awaits_kind is null and coalesce(field, '') = ?");
  const numbered = database
    .prepare<[Buffer | string], string>(
      `select delivery.number from flow cross join record on record.flow = flow.flow and record.id = ?
         join delivery on delivery.record = record.record
       where delivery.number is not null and state in ('pending', 'quarantined') limit 1`,
    )
    .pluck();

  return {
    /** The causes, the most frequent first. `together`: those of one code and field are one row of which no more is kept. */
    quarantine(together: (row: CauseRow) => boolean = () => false): CauseRow[] {
      const found = new Map<string, CauseRow>();
      for (const row of causes.iterate()) {
        const isPart = together(row);
        const which = isPart ? `field ${row.field ?? ""}` : `cause ${row.cause}`;
        const key = `${row.flow}\n${row.code}\n${which}`;
        const known = found.get(key);
        found.set(key, known === undefined ? row : joined(known, row));
      }
      return [...found.values()].toSorted(
        (one, other) => other.count - one.count || compareText(one.cause, other.cause),
      );
    },
    /** The deliveries that a row of {@link quarantine} stands for. */
    quarantined({ flow, code, cause, field, several }: CauseRow): QuarantinedRow[] {
      const rows =
        several === true ? ofField.all(flow, code, field ?? "") : ofCause.all(flow, code, cause);
      return rows.map(withId);
    },
    /** What people call the document that is still to be delivered and that its source knows by this id. */
    numberOf(id: string): string | null {
      return numbered.get(storedId(id)) ?? null;
    },
  };
}

function joined(known: CauseRow, row: CauseRow): CauseRow {
  const isOther = known.several === true || row.cause !== known.cause;
  return {
    ...known,
    cause: least(known.cause, row.cause),
    next: least(known.next, row.next),
    count: known.count + 1,
    sinceMs: Math.min(known.sinceMs, row.sinceMs),
    ...(isOther ? { several: true } : {}),
  };
}

const least = (one: string, other: string): string => (other < one ? other : one);
const compareText = (one: string, other: string): number =>
  Number(one > other) - Number(one < other);

function withId<Row extends { id: Buffer | string }>(
  row: Row,
): Omit<Row, "id"> & { recordId: string } {
  const { id, ...rest } = row;
  return { ...rest, recordId: shownId(id) };
}
