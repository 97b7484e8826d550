/** Questions that people ask: quarantine by cause, and everything about a number. Read only. */
import type Database from "better-sqlite3";
import { shownId, storedId } from "./ids.ts";

export interface CauseRow {
  readonly flow: string;
  readonly code: string;
  readonly cause: string;
  readonly next: string;
  readonly count: number;
  readonly sinceMs: number;
}

export interface QuarantinedRow {
  readonly delivery: number;
  readonly request: number | null;
  readonly number: string | null;
  readonly recordId: string;
  readonly version: string | null;
  readonly origin: string | null;
  readonly field: string | null;
  readonly sinceMs: number;
}

export interface DeliveryRow {
  readonly delivery: number;
  readonly flow: string;
  readonly recordId: string;
  readonly receivedMs: number;
  readonly version: string | null;
  readonly origin: string | null;
  readonly state: string;
  readonly sinceMs: number | null;
  readonly number: string | null;
  readonly note: string | null;
  readonly cause: string | null;
  readonly request: number | null;
}

export interface AuditRow {
  readonly atMs: number;
  readonly flow: string | null;
  readonly request: number | null;
  readonly delivery: number | null;
  readonly event: string;
  readonly detail: string;
}

type WithId<Row> = Omit<Row, "recordId"> & { id: Buffer | string };

export function questions(database: Database.Database) {
  const causes = database.prepare<[], CauseRow>(
    `select flow.name as flow, code, cause, min(next) as next, count(*) as count, min(since_ms) as sinceMs
     from quarantine join delivery using (delivery) join flow using (flow)
     where delivery.state = 'quarantined' group by flow.name, code, cause order by count desc, cause`,
  );
  const ofCause = database.prepare<[string, string, string], WithId<QuarantinedRow>>(
    `select delivery, delivery.request, delivery.number, record.id, record.version, record.origin, field,
            since_ms as sinceMs
     from quarantine join delivery using (delivery) join flow using (flow) join record using (record)
     where delivery.state = 'quarantined' and flow.name = ? and code = ? and cause = ? order by delivery`,
  );
  const ofNumber = database.prepare<[string, string, Buffer | string], WithId<DeliveryRow>>(
    `select delivery.delivery, flow.name as flow, record.id, received_ms as receivedMs, record.version,
            record.origin, delivery.state, since_ms as sinceMs, delivery.number, note, cause, delivery.request
     from delivery join flow using (flow) join record using (record)
       left join quarantine on quarantine.delivery = delivery.delivery and delivery.state = 'quarantined'
     where delivery.delivery in (
       select delivery from delivery where number = ?
       union select delivery from delivery where record in
         (select r.record from flow f join record r on r.flow = f.flow and r.id in (?, ?)))
     order by delivery.delivery`,
  );
  const auditOf = database.prepare<[number | null, number], AuditRow>(
    `select at_ms as atMs, flow.name as flow, request, delivery, event, detail
     from audit left join flow using (flow) where request = ? or delivery = ? order by audit`,
  );

  const worked = database
    .prepare<[], number>(
      `select exists (select 1 from link)
         or exists (select 1 from request where state not in ('ready', 'preflight', 'cancelled'))`,
    )
    .pluck();
  const retried = database
    .prepare<[string, number], string | null>(
      `select group_concat(detail, '; ') from audit where event = 'retried' and delivery in (
         select delivery from delivery
         where number = ? and +record = (select record from delivery where delivery = ?))`,
    )
    .pluck();
  const givenUp = database.prepare<[string], AuditRow>(
    `select at_ms as atMs, flow.name as flow, audit.request, audit.delivery, event, detail
     from request join audit using (request) left join flow on flow.flow = audit.flow
     where request.number = ? and not exists (select 1 from delivery where delivery.request = request.request)
     order by audit`,
  );

  const delivered = database
    .prepare<[string], Buffer | string>(
      `select distinct record.id from delivery join record using (record)
       where delivery.flow = (select flow from flow where name = ?) and state = 'delivered'`,
    )
    .pluck();

  return {
    /** The source's ids of the records of which some version was delivered. */
    deliveredIds(flow: string): string[] {
      return delivered.all(flow).map(shownId);
    },
    quarantine(): CauseRow[] {
      return causes.all();
    },
    quarantined(flow: string, code: string, cause: string): QuarantinedRow[] {
      return ofCause.all(flow, code, cause).map(withId);
    },
    /** Every delivery of a record with this number or this id. */
    deliveries(text: string): DeliveryRow[] {
      return ofNumber.all(text, text, storedId(text)).map(withId);
    },
    audit(delivery: number, request: number | null): AuditRow[] {
      return auditOf.all(request, delivery);
    },
    /** Of requests for this number that carry nothing any more: a person, or newer content, gave them up. */
    givenUp(number: string): AuditRow[] {
      return givenUp.all(number);
    },
    /** Was anything ever sent from here, found at its receiver, or linked? */
    hasWorked: (): boolean => worked.get() === 1,
    /** The causes in spite of which a person had this record go again; null: nobody had. */
    retriedDespite(delivery: number, number: string): string | null {
      return retried.get(number, delivery) ?? null;
    },
  };
}

function withId<Row extends { id: Buffer | string }>(
  row: Row,
): Omit<Row, "id"> & { recordId: string } {
  const { id, ...rest } = row;
  return { ...rest, recordId: shownId(id) };
}
