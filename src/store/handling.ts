/** Who sees to deliveries in quarantine, what people wrote about them, and the audit as a list. */
import type Database from "better-sqlite3";

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

export function handling(database: Database.Database) {
  const assign = database.prepare(
    `insert into assignment (delivery, assignee, at_ms) values (?, ?, ?)
     on conflict do update set assignee = excluded.assignee, at_ms = excluded.at_ms`,
  );
  const unassign = database.prepare("delete from assignment where delivery = ?");
  const assignee = database
    .prepare<[number], string>("select assignee from assignment where delivery = ?")
    .pluck();
  const write = database.prepare(
    "insert into quarantine_note (delivery, at_ms, who, text) values (?, ?, ?, ?)",
  );
  const notes = database.prepare<[number], Note>(
    "select at_ms as atMs, who, text from quarantine_note where delivery = ? order by note",
  );
  const listed = database.prepare<[Omit<AuditQuestion, "people"> & { people: number }], AuditRow>(
    `${rowsOf("audit")}
     where audit > :after and at_ms >= :fromMs and at_ms < :toMs and (:people = 0 or who is not null)
     order by audit limit :limit`,
  );
  const decided = database.prepare<[number, number], AuditRow>(
    `${rowsOf("audit indexed by audit_of_people")}
     where who is not null and audit < ? order by audit desc limit ?`,
  );

  return {
    /** Null: nobody any more. Inside a transaction. */
    assign(delivery: number, to: string | null, atMs: number): void {
      if (to === null) unassign.run(delivery);
      else assign.run(delivery, to, atMs);
    },
    write(delivery: number, { atMs, who, text }: Note): void {
      write.run(delivery, atMs, who, text);
    },
    assignee: (delivery: number): string | null => assignee.get(delivery) ?? null,
    /** The oldest first. */
    notes: (delivery: number): Note[] => notes.all(delivery),
    /** The oldest first. */
    audit: ({ people, ...asked }: AuditQuestion): AuditRow[] =>
      listed.all({ ...asked, people: people ? 1 : 0 }),
    /** What people decided before that entry, the newest first. */
    decided: (before: number, limit: number): AuditRow[] => decided.all(before, limit),
  };
}

const rowsOf = (audit: string): string =>
  `select audit, at_ms as atMs, who, event, flow.name as flow, coalesce(delivery.number, request.number) as number,
          audit.delivery, audit.request, detail, reason, delivery.record
   from ${audit}
   left join flow on flow.flow = audit.flow
   left join delivery on delivery.delivery = audit.delivery
   left join request on request.request = audit.request`;
