/** Deliveries that need a person: why, who sees to them, what people wrote about them, and the fields that they corrected. */
import type Database from "better-sqlite3";
import type { FieldCorrection } from "../core/correction.ts";
import type { Fault } from "../core/record.ts";
import type { Kind } from "../core/kinds.ts";
import { appending, shortened } from "./journal.ts";
import { asking, RECORD_OF } from "./statements.ts";
import { resumming } from "./sums.ts";

/** Why deliveries are in quarantine. */
export function causes(database: Database.Database) {
  const { rows, run, value, values } = asking(database);
  const add = run<[object]>(
    `insert into quarantine (delivery, code, cause, next, field, awaits_kind, awaits_id, candidates, amount, lookup_table, lookup_key, since_ms)
     values (:delivery, :code, :message, :next, :field, :kind, :id, :candidates, :amount, :table, :key, :at)
     on conflict do update set code = excluded.code, cause = excluded.cause, next = excluded.next,
       field = excluded.field, awaits_kind = excluded.awaits_kind, awaits_id = excluded.awaits_id,
       candidates = excluded.candidates, amount = excluded.amount,
       lookup_table = excluded.lookup_table, lookup_key = excluded.lookup_key, since_ms = excluded.since_ms`,
  );
  const append = appending(database);
  const flowOf = value<[delivery: number], number>("select flow from delivery where delivery = ?");
  // A list of two is made a table of, for every document.
  const waitingFor = values<[kind: Kind, id: string, kind: Kind, other: string], number>(
    `select delivery from quarantine cross join delivery using (delivery)
     where (awaits_kind = ? and awaits_id = ? or awaits_kind = ? and awaits_id = ?) and state = 'quarantined'`,
  );

  return {
    /** It stays in the audit when the quarantine is over. Call it inside a transaction. */
    add(delivery: number, fault: Fault, atMs: number): void {
      const {
        code,
        message,
        next,
        field = null,
        awaits,
        candidates,
        amount = null,
        lookup,
      } = fault;
      add({
        delivery,
        code,
        message,
        next,
        field,
        kind: awaits?.kind ?? null,
        id: awaits?.id ?? null,
        candidates: candidates === undefined ? null : JSON.stringify(candidates),
        amount,
        table: lookup?.table ?? null,
        key: lookup?.key ?? null,
        at: atMs,
      });
      const flow = flowOf(delivery);
      append({ at: atMs, flow, delivery, event: "quarantined", detail: shortened(message) });
    },
    drop: run<[delivery: number]>("delete from quarantine where delivery = ?"),
    /** What a flow has in quarantine until another document is delivered. */
    waiting: rows<[flow: number], { delivery: number; version: string | null }>(
      `select delivery, record.version
       from quarantine cross join delivery using (delivery) cross join record using (record)
       where delivery.flow = ? and awaits_id is not null and state = 'quarantined'`,
    ),
    /** Deliveries that wait for this document, which each side knows under an id of its own. */
    waitingFor: (kind: Kind, [id, other]: readonly [string, string]): number[] =>
      waitingFor(kind, id, kind, other),
  };
}

export interface Correction extends FieldCorrection {
  readonly who: string;
  readonly reason: string;
  readonly atMs: number;
}

export interface Correcting extends Correction {
  readonly record: number;
  /** The delivery that is in quarantine with it. */
  readonly delivery: number;
  /** The record's revision from now on: its content for the receiver is another one. */
  readonly revision: string;
}

/** Fields of records that people corrected (ADR 0007). The record itself stays as it was received. */
export function corrections(database: Database.Database) {
  const { rows, run, value } = asking(database);
  const correctionsWhere = (revision: "=" | "<>") =>
    rows<[record: number], Correction>(
      `select field, was, value, who, reason, at_ms as atMs from correction
       where record = ? and ended_ms is null
         and revision ${revision} (select revision from record where record = correction.record)
       order by correction`,
    );
  const standing = correctionsWhere("=");
  const recordOf = value<[flow: number, id: string], number>(`select ${RECORD_OF}`);
  const endField = run<[atMs: number, record: number, field: string]>(
    "update correction set ended_ms = ? where record = ? and field = ? and ended_ms is null",
  );
  const endAll = run<[atMs: number, record: number]>(
    "update correction set ended_ms = ? where record = ? and ended_ms is null",
  );
  const add = run<[Omit<Correcting, "delivery">]>(
    `insert into correction (record, field, was, value, revision, who, reason, at_ms)
     values (:record, :field, :was, :value, :revision, :who, :reason, :atMs)`,
  );
  const carry = run<[revision: string, record: number]>(
    "update correction set revision = ? where record = ? and ended_ms is null",
  );
  const revise = run<[revision: string, record: number]>(
    "update record set revision = ? where record = ?",
  );
  const reviseDelivery = run<[revision: string, delivery: number]>(
    "update delivery set revision = ? where delivery = ?",
  );
  const resum = resumming(database, "record");
  const resumDelivery = resumming(database, "delivery");

  return {
    /** Those that are applied before the mapping, the oldest first. */
    standing,
    /** Those of a version that a newer one has replaced. */
    outdated: correctionsWhere("<>"),
    /** The standing ones, by what the source calls the record. */
    ofSource(flow: number, id: string): Correction[] {
      const record = recordOf(flow, id);
      return record === null ? [] : standing(record);
    },
    /** In place of what was corrected in the field before; what was received again only ends that. In a transaction. */
    correct({ delivery, ...one }: Correcting): void {
      endField(one.atMs, one.record, one.field);
      if (one.value !== (one.was ?? "")) add(one);
      carry(one.revision, one.record);
      revise(one.revision, one.record);
      resum.run(one.record);
      reviseDelivery(one.revision, delivery);
      resumDelivery.run(delivery);
    },
    /** A newer version has come. In a transaction. */
    end: (record: number, atMs: number): void => void endAll(atMs, record),
  };
}

export interface Note {
  readonly atMs: number;
  readonly who: string;
  readonly text: string;
}

export interface AuditRow {
  readonly audit: number;
  readonly atMs: number;
  /** Null: fuelbridge itself. */
  readonly who: string | null;
  readonly event: string;
  readonly flow: string | null;
  /** Of the document that it is about. */
  readonly number: string | null;
  readonly delivery: number | null;
  readonly request: number | null;
  readonly detail: string;
  /** The person's; null: none was given. */
  readonly reason: string | null;
  /** The document that the delivery is of. */
  readonly record: number | null;
}

export interface AuditQuestion {
  /** ms UTC, the first included, the last not. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Entries after this one. */
  readonly after: number;
  readonly limit: number;
  /** What people decided alone. */
  readonly people: boolean;
}

/** Who sees to deliveries in quarantine, what people wrote about them, and the audit as a list. */
export function handling(database: Database.Database) {
  const { rows, run, value } = asking(database);
  const assign = run<[delivery: number, assignee: string, atMs: number]>(
    `insert into assignment (delivery, assignee, at_ms) values (?, ?, ?)
     on conflict do update set assignee = excluded.assignee, at_ms = excluded.at_ms`,
  );
  const unassign = run<[delivery: number]>("delete from assignment where delivery = ?");
  const write = run<[delivery: number, atMs: number, who: string, text: string]>(
    "insert into quarantine_note (delivery, at_ms, who, text) values (?, ?, ?, ?)",
  );
  const listed = rows<[Omit<AuditQuestion, "people"> & { people: number }], AuditRow>(
    `${rowsOf("audit")}
     where audit > :after and at_ms >= :fromMs and at_ms < :toMs and (:people = 0 or who is not null)
     order by audit limit :limit`,
  );

  return {
    /** Null: nobody any more. Inside a transaction. */
    assign(delivery: number, to: string | null, atMs: number): void {
      if (to === null) unassign(delivery);
      else assign(delivery, to, atMs);
    },
    write: (delivery: number, { atMs, who, text }: Note): void =>
      void write(delivery, atMs, who, text),
    assignee: value<[delivery: number], string>(
      "select assignee from assignment where delivery = ?",
    ),
    /** The oldest first. */
    notes: rows<[delivery: number], Note>(
      "select at_ms as atMs, who, text from quarantine_note where delivery = ? order by note",
    ),
    /** The oldest first. */
    audit: ({ people, ...asked }: AuditQuestion): AuditRow[] =>
      listed({ ...asked, people: people ? 1 : 0 }),
    /** What people decided before that entry, the newest first. */
    decided: rows<[before: number, limit: number], AuditRow>(
      `${rowsOf("audit indexed by audit_of_people")}
       where who is not null and audit < ? order by audit desc limit ?`,
    ),
  };
}

const rowsOf = (audit: string): string =>
  `select audit, at_ms as atMs, who, event, flow.name as flow, coalesce(delivery.number, request.number) as number,
          audit.delivery, audit.request, detail, reason, delivery.record
   from ${audit}
   left join flow on flow.flow = audit.flow
   left join delivery on delivery.delivery = audit.delivery
   left join request on request.request = audit.request`;
