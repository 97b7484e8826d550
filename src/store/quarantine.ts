/** Deliveries that need a person: why, who sees to them, what people wrote about them, and the fields that they corrected. */
import type Database from "better-sqlite3";
import type { Acknowledgement, Delivered, Reference } from "../core/contract.ts";
import { type DeliveryState, type Fault, type FieldCorrection, groupKey } from "../core/record.ts";
import type { Kind } from "../core/kinds.ts";
import { appending } from "./journal.ts";
import { asking, moving, RECORD_OF, sumIn } from "./statements.ts";

/** Of a fault. */
const NOT_SAID = {
  field: null,
  reason: null,
  amount: null,
  kind: null,
  id: null,
  table: null,
  key: null,
};

/** Why deliveries are in quarantine. */
export function causes(database: Database.Database) {
  const { rows, run, value, values } = asking(database);
  const add = run<[object]>(
    `insert into quarantine (delivery, code, cause, next, field, reason, group_key, awaits_kind, awaits_id, candidates, amount, lookup_table, lookup_key, since_ms)
     values (:delivery, :code, :message, :next, :field, :reason, :groupKey, :kind, :id, :candidates, :amount, :table, :key, :at)
     on conflict do update set code = excluded.code, cause = excluded.cause, next = excluded.next,
       field = excluded.field, reason = excluded.reason, group_key = excluded.group_key, awaits_kind = excluded.awaits_kind, awaits_id = excluded.awaits_id,
       candidates = excluded.candidates, amount = excluded.amount,
       lookup_table = excluded.lookup_table, lookup_key = excluded.lookup_key, since_ms = excluded.since_ms`,
  );
  const append = appending(database);
  const flowOf = value<[delivery: number], number>("select flow from delivery where delivery = ?");
  // A retry that changes nothing is no new trouble, unless it was carried by a request meanwhile.
  const alikeSince = value<[delivery: number, cause: string], number>(
    `select min(at_ms) from audit where delivery = ?1 and event = 'quarantined' and detail = ?2
       and not exists (select 1 from carried_before where delivery = ?1) having min(at_ms) is not null`,
  );

  return {
    /** It stays in the audit when the quarantine is over. Call it inside a transaction. */
    add(delivery: number, fault: Fault, atMs: number): void {
      const { awaits, candidates, lookup } = fault;
      add({
        ...NOT_SAID,
        ...fault,
        ...awaits,
        ...lookup,
        candidates: candidates === undefined ? null : JSON.stringify(candidates),
        groupKey: groupKey(fault),
        delivery,
        at: alikeSince(delivery, fault.message) ?? atMs,
      });
      const flow = flowOf(delivery);
      append(atMs, { flow, delivery, event: "quarantined", detail: fault.message });
    },
    drop: run<[delivery: number]>("delete from quarantine where delivery = ?"),
    /** What a flow has in quarantine until another document is delivered. */
    waiting: rows<[flow: number], { delivery: number; version: string | null }>(
      `select delivery, record.version
       from quarantine cross join delivery using (delivery) cross join record using (record)
       where delivery.flow = ? and awaits_id is not null and state = 'quarantined'`,
    ),
    /** Deliveries that wait for this document, which each side knows under an id of its own. */
    waitingFor: values<[kind: Kind, id: string, other: string], number>(
      // A list of two is made a table of, for every document.
      `select delivery from quarantine cross join delivery using (delivery)
       where (awaits_kind = ?1 and awaits_id = ?2 or awaits_kind = ?1 and awaits_id = ?3) and state = 'quarantined'`,
    ),
  };
}

export interface Correction extends FieldCorrection {
  readonly who: string;
  readonly reason: string;
  readonly atMs: number;
}

interface Correcting extends Correction {
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
  const add = run<[Omit<Correcting, "delivery">]>(
    `insert into correction (record, field, was, value, revision, who, reason, at_ms)
     values (:record, :field, :was, :value, :revision, :who, :reason, :atMs)`,
  );
  const carry = run<[revision: string, record: number]>(
    "update correction set revision = ? where record = ? and ended_ms is null",
  );
  const revising = (table: "record" | "delivery") =>
    run<[revision: string, revision: string, row: number]>(
      `update ${table} set revision = ?, sum = ${sumIn(table, ["revision"])} where ${table} = ?`,
    );
  const [revise, reviseDelivery] = [revising("record"), revising("delivery")];

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
      revise(one.revision, one.revision, one.record);
      reviseDelivery(one.revision, one.revision, delivery);
    },
    /** A newer version has come. In a transaction. */
    end: run<[record: number, atMs: number]>(
      "update correction set ended_ms = ?2 where record = ?1 and ended_ms is null",
    ),
  };
}

interface Note {
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

interface AuditQuestion {
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
    write: run<[Note & { delivery: number }]>(
      "insert into quarantine_note (delivery, at_ms, who, text) values (:delivery, :atMs, :who, :text)",
    ),
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

// What becomes of documents after their delivery: they wait for what settles them, a person must finish them at their
// receiver, they are gone there, or their receiver tells later what it made of them.

interface Wait {
  readonly delivery: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface DueWait {
  readonly record: number;
  /** The newest delivery of the record, and its state. */
  readonly delivery: number;
  readonly state: string;
}

interface WaitingOfFlow {
  readonly count: number;
  /** The last of them, at the latest. */
  readonly untilMs: number;
}

/** The newest delivery that was mapped; none of the record is still to be decided or on its way. */
const NEWEST = `wait join delivery on delivery.delivery = (
    select max(d.delivery) from delivery d where d.number is not null and d.record = wait.record)
  where wait.flow = ? and delivery.state <> 'frozen' and not exists (
    select 1 from delivery d where d.record = wait.record and d.state in ('pending', 'quarantined'))`;

const END_WAIT = "delete from wait where record = (select record from delivery where delivery = ?)";

/** Documents that were delivered and wait for what settles them (src/engine/delivered.ts). */
export function waits(database: Database.Database) {
  const { is, row, rows, run, value } = asking(database);
  const waitWhere = <Bound extends readonly unknown[]>(condition: string) =>
    row<Bound, Wait>(
      `select delivery, since_ms as sinceMs, until_ms as untilMs from wait where ${condition}`,
    );
  const end = run<[record: number]>("delete from wait where record = ?");
  const point = run<[delivery: number, record: number]>(
    "update wait set delivery = ? where record = ?",
  );
  const reopen = moving(database, {
    from: ["delivered", "skipped"],
    to: "pending",
    set: "request = null, bisect_group = null",
    where: "delivery = ?",
  });
  const ofFlow = row<[flow: number], { count: number; untilMs: number | null }>(
    `select count(*) as count, max(wait.until_ms) as untilMs from ${NEWEST}
       and delivery.state in ('delivered', 'skipped')`,
  );

  return {
    /** Another version goes on with the same wait. */
    keep: run<[delivery: number, untilMs: number, sinceMs: number]>(
      `insert into wait (record, flow, number, delivery, since_ms, until_ms, due_ms)
       select record, flow, number, delivery, ?3, ?2, ?2 from delivery where delivery = ?1
       on conflict (record) do update set number = excluded.number, delivery = excluded.delivery,
         since_ms = excluded.since_ms, until_ms = excluded.until_ms, due_ms = excluded.due_ms`,
    ),
    /** All that this delivery's record says is done. */
    end: run<[delivery: number]>(END_WAIT),
    of: waitWhere<[record: number]>("record = ?"),
    /** By what the source calls it. */
    ofDocument: waitWhere<[flow: number, id: string]>(`record = ${RECORD_OF}`),
    due: rows<[flow: number, nowMs: number], DueWait>(
      `select wait.record, delivery.delivery, delivery.state from ${NEWEST} and wait.due_ms <= ?`,
    ),
    /** When the next one is due; null: none is. */
    nextMs: value<[flow: number], number>(`select min(wait.due_ms) from ${NEWEST}`),
    /** To be mapped and sent again. False: a person has settled it by hand, and it waits no longer. */
    reopen({ record, delivery }: DueWait): boolean {
      if (reopen(delivery) === 0) {
        end(record);
        return false;
      }
      point(delivery, record);
      return true;
    },
    /** Does anything of a flow wait for another time than this, ms? */
    isUnbound: is<[flow: number, boundMs: number]>(
      "select 1 from wait where flow = ? and until_ms <> since_ms + ? limit 1",
    ),
    /** All of it waits for so long, each since it began to wait. What was hastened is due as soon as it was. */
    bind: run<[flow: number, boundMs: number]>(
      `update wait set until_ms = since_ms + ?2,
         due_ms = iif(due_ms < until_ms, min(due_ms, since_ms + ?2), since_ms + ?2)
       where flow = ?1 and until_ms <> since_ms + ?2`,
    ),
    /** What began to wait later than now begins now. */
    redate: run<[nowMs: number]>(
      `update wait set until_ms = until_ms - since_ms + ?1, due_ms = min(due_ms, until_ms - since_ms + ?1),
         since_ms = ?1 where since_ms > ?1`,
    ),
    /** Something came that may settle it. */
    hasten: run<[flow: number, id: string, atMs: number]>(
      `update wait set due_ms = min(due_ms, ?3) where record = ${RECORD_OF}`,
    ),
    /** The record of a delivery, as its source told it. */
    text: value<[delivery: number], string>(
      "select text from delivery join record using (record) where delivery = ?",
    ),
    ofFlow(flow: number): WaitingOfFlow | null {
      const { count = 0, untilMs = null } = ofFlow(flow) ?? {};
      return untilMs === null ? null : { count, untilMs };
    },
  };
}

/**
 * - `gone`: it was delivered, and its receiver no longer has it (src/engine/delivered.ts)
 * - `turned`: it is booked as the other kind (src/engine/lifecycle.ts)
 * - `unfinished`: it is at its receiver, where a person must do the rest (src/engine/delivered.ts)
 */
type Incident = "gone" | "turned" | "unfinished";

/** `retried`: a person has said that it goes again. `over`: it has no consequence any more. */
type IncidentState = "open" | "retried" | "over";

/** What happened to a document and still matters for its later versions, per record, whatever its number is. */
export function incidents(database: Database.Database) {
  const { is, run, value } = asking(database);
  const retry = run<[delivery: number]>(
    `update incident set state = 'retried'
     where incident in ('gone', 'turned') and state = 'open'
       and record = (select record from delivery where delivery = ?)`,
  );
  const dismiss = run<[delivery: number]>(
    `insert or ignore into dismissed (record, counterpart)
     select record, value from quarantine join delivery using (delivery), json_each(candidates)
     where delivery = ?`,
  );

  return {
    /** It happens, perhaps again. Inside a transaction. */
    open: run<[delivery: number, incident: Incident]>(
      `insert into incident (record, incident, state)
       select record, ?2, 'open' from delivery where delivery = ?1
       on conflict do update set state = 'open'`,
    ),
    /** Inside a transaction. */
    end: run<[delivery: number, incident: Incident]>(
      `update incident set state = 'over'
       where record = (select record from delivery where delivery = ?) and incident = ?`,
    ),
    /** Null: it never happened to the record. */
    state: value<[record: number, incident: Incident], IncidentState>(
      "select state from incident where record = ? and incident = ?",
    ),
    /** Has a person been asked whose code this is, of what was delivered before? */
    isDoubted: is<[flow: number, recordId: string]>(
      `select 1 from delivery join quarantine using (delivery)
       where record = ${RECORD_OF} and state = 'quarantined' and code = 'code-changed'`,
    ),
    /** Did it ever happen to this record, whatever was decided since? */
    ever: is<[flow: number, recordId: string, incident: Incident]>(
      `select 1 from incident where record = ${RECORD_OF} and incident = ?3`,
    ),
    /**
     * A person has a delivery in quarantine go again: what was open is retried, and the documents that were shown as
     * perhaps the same are not. Before the cause is dropped, inside a transaction.
     */
    retried(delivery: number): void {
      retry(delivery);
      dismiss(delivery);
    },
    /** Has a person said that this document is another one? */
    isDismissed: is<[delivery: number, counterpart: string]>(
      `select 1 from dismissed
       where record = (select record from delivery where delivery = ?) and counterpart = ?`,
    ),
  };
}

/** Documents that were delivered and are gone at their receiver (src/engine/verify.ts). */
export interface Lost {
  readonly delivery: number;
  readonly code: string;
  readonly recordId: string;
  readonly counterpart: string;
  readonly number: string;
  readonly content: string | null;
  readonly amount: string | null;
  readonly party: string | null;
  readonly request: number | null;
}

export function losses(database: Database.Database) {
  const { rows, run, value } = asking(database);
  const why = causes(database);
  const happened = incidents(database);
  const endWait = run<[delivery: number]>(END_WAIT);
  const lose = moving(database, {
    from: ["delivered", "skipped"],
    to: "quarantined",
    set: "request = null, number = coalesce(number, ?)",
    where: "delivery = ?",
  });

  return {
    /** The last delivery of a record that has none on its way; a later version may have had nothing new to say. */
    lastDelivered: value<[flow: number, recordId: string], number>(
      `select delivery from delivery join record using (record)
       where record.flow = ? and record.id = +stored_id(?) and state in ('delivered', 'skipped')
         and not exists (select 1 from delivery d where d.record = delivery.record
           and d.state in ('pending', 'quarantined'))
         and not exists (select 1 from delivery d where d.record = delivery.record and d.state = 'frozen')
       order by delivery desc limit 1`,
    ),
    /**
     * The request that a record was last delivered in, with this content (null: with any); null when a person linked it. A
     * delivery that went again, and was refused then, was delivered in an earlier one.
     */
    lastRequest: value<[flow: number, recordId: string, content: string | null], number>(
      `with sent (delivery, request, content) as (
         select delivery, request, delivery.content from delivery join record using (record)
         where record.flow = ?1 and record.id = +stored_id(?2)
         union all
         select delivery, carried_before.request, null
         from delivery join record using (record) join carried_before using (delivery)
         where record.flow = ?1 and record.id = +stored_id(?2))
       select request from sent join request using (request)
       where state = 'done' and (?3 is null or content is null or content = ?3)
       order by delivery desc, request desc limit 1`,
    ),
    /**
     * What a person has as gone, or as changed since, the oldest first, as it was delivered last: what the receiver called it,
     * and in which request; a version that had nothing new to say went in none.
     */
    lost: rows<[flow: number, limit: number], Lost>(
      `select lost.delivery, quarantine.code, shown_id(record.id) as recordId, last.note as counterpart, coalesce(last.number, '') as number,
         last.content, last.amount, last.party,
         coalesce(last.request, (select max(request) from carried_before where delivery = last.delivery)) as request
       from quarantine join delivery lost using (delivery) join record on record.record = lost.record
         join delivery last on last.delivery = (
           select max(d.delivery) from delivery d where d.record = lost.record and d.note <> '' and (d.state = 'delivered'
             or d.state in ('quarantined', 'superseded') and exists (select 1 from carried_before b where b.delivery = d.delivery)))
       where lost.flow = ? and quarantine.code in ('gone', 'gone-before') and lost.state = 'quarantined'
       order by lost.delivery limit ?`,
    ),
    /** A person decides. Call it inside a transaction. */
    lose(delivery: number, number: string, fault: Fault, atMs: number): void {
      lose(number, delivery);
      // Delivered anew, it waits anew.
      endWait(delivery);
      happened.open(delivery, "gone");
      why.add(delivery, fault, atMs);
    },
  };
}

interface Unfinished {
  readonly delivery: number;
  readonly recordId: string;
  /** Empty: it was never mapped. */
  readonly number: string;
}

/** Documents that are at their receiver, where a person has to do the rest (src/engine/delivered.ts). */
export function unfinished(database: Database.Database) {
  const { is, rows } = asking(database);
  const why = causes(database);
  const leave = moving(database, {
    from: ["delivered"],
    to: "quarantined",
    where: `delivery = ? and not exists (select 1 from delivery d where d.record = delivery.record
      and d.state in ('pending', 'quarantined'))`,
  });
  const hasSibling = is<[delivery: number]>(
    `select 1 from delivery d join delivery e on e.record = d.record
     where d.delivery = ? and e.delivery <> d.delivery and e.state = 'delivered' limit 1`,
  );

  return {
    /**
     * How this one ends once it is finished there: skipped where an earlier version counts as delivered, so that totals
     * count it once. Inside a transaction.
     */
    endOf: (delivery: number): "delivered" | "skipped" =>
      hasSibling(delivery) ? "skipped" : "delivered",
    /** A delivered one, whose link stays. When a newer version waits already, that one is judged. Inside a transaction. */
    leave(delivery: number, fault: Fault, atMs: number): void {
      if (leave(delivery) === 1) why.add(delivery, fault, atMs);
    },
    of: rows<[flow: number, code: string], Unfinished>(
      `select delivery, coalesce(number, '') as number, shown_id(record.id) as recordId
       from quarantine join delivery using (delivery) join record using (record)
       where delivery.flow = ? and code = ? and delivery.state = 'quarantined' order by delivery`,
    ),
  };
}

export interface Acknowledging extends Omit<Reference, "sentAs"> {
  readonly sent_as: string;
  readonly flow: number;
  readonly delivery: number;
  readonly state: "awaited" | "accepted" | "refused";
  /** What the receiver calls the document; null: nothing, or it was not delivered yet. */
  readonly counterpart: string | null;
  /** A person has the delivery for it. */
  readonly told: 0 | 1;
  /** What the receiver said, in words, and without any value of the document; empty: nobody knows. */
  readonly detail: string;
  readonly reason: string;
  /** When it said so, by its own clock; empty: it does not tell. */
  readonly said_at: string;
}

/** What receivers tell later of documents that were delivered to them (src/engine/delivered.ts). */
export function acknowledgements(database: Database.Database) {
  const { is, row, rows, run, value } = asking(database);
  const one = row<[exchange: string, item: string], Acknowledging>(
    "select * from acknowledgement where exchange = ? and item = ?",
  );
  const all = rows<[exchange: string], Acknowledging>(
    "select * from acknowledgement where exchange = ?",
  );

  return {
    /** Inside the transaction that freezes what goes under it. */
    expect: run<[Required<Reference> & { flow: number; delivery: number }]>(
      `insert or replace into acknowledgement (exchange, item, sent_as, flow, delivery)
       values (:exchange, :item, :sentAs, :flow, :delivery)`,
    ),
    /** The number of the document of another record than this one that went under it; null: none did. */
    other: value<[Reference & { record: number }], string>(
      `select coalesce(delivery.number, '') from acknowledgement join delivery using (delivery)
       where exchange = :exchange and item = :item and delivery.record <> :record`,
    ),
    /** It was delivered. `dueMs`: null, for ever. Inside the transaction of the answer. */
    delivered: run<[Reference & { counterpart: string | null; dueMs: number | null }]>(
      `update acknowledgement set is_delivered = 1, counterpart = :counterpart, due_ms = :dueMs
       where exchange = :exchange and item = :item`,
    ),
    /** None of a flow is awaited for longer than until then. */
    redate: run<[flow: number, latestMs: number]>(
      `update acknowledgement set due_ms = ?2
       where flow = ?1 and state = 'awaited' and told = 0 and due_ms > ?2`,
    ),
    /** What an acknowledgement speaks of; empty: nothing that we sent. */
    named({ exchange, item, sentAs }: Pick<Acknowledgement, "exchange" | "item" | "sentAs">) {
      const row = item === null ? null : one(exchange, item);
      const rows = item === null ? all(exchange) : row === null ? [] : [row];
      // `IN` is said of what went as `IN 004010`.
      const isMeant = ({ sent_as }: Acknowledging): boolean =>
        sent_as === "" || sentAs === undefined || `${sent_as} `.startsWith(`${sentAs} `);
      return rows.filter(isMeant);
    },
    /** A refusal is told anew, whatever was told before. */
    take: run<
      [Reference & Required<Pick<Acknowledgement, "verdict" | "detail" | "reason" | "at">>]
    >(
      `update acknowledgement set state = :verdict, detail = :detail, reason = :reason, said_at = :at, told = iif(:verdict = 'refused', 0, told)
       where exchange = :exchange and item = :item`,
    ),
    /** A person has it. */
    tell: run<[Reference]>(
      "update acknowledgement set told = 1 where exchange = :exchange and item = :item",
    ),
    /** Of a flow: refused, or not told of in time, and no person has it yet. */
    open: rows<[flow: number, atMs: number], Acknowledging>(
      `select * from acknowledgement
       where flow = ? and told = 0 and is_delivered = 1
         and (state = 'refused' or (state = 'awaited' and due_ms <= ?))
       order by exchange, item`,
    ),
    /** When the next one is late; null: none is awaited. */
    nextDueMs: value<[flow: number], number>(
      "select min(due_ms) from acknowledgement where flow = ? and state = 'awaited' and told = 0",
    ),
    /** Was the same delivery delivered under another number, too? */
    wentAgain: is<[Acknowledging]>(
      `select 1 from acknowledgement
       where delivery = :delivery and exchange <> :exchange and is_delivered = 1 limit 1`,
    ),
    /** What was told last of a document that a request carried; null: nothing. */
    last: row<[request: number, number: string], Required<NonNullable<Delivered["told"]>>>(
      `select acknowledgement.state as verdict, acknowledgement.detail, acknowledgement.reason from delivery join acknowledgement using (delivery)
       where request = ? and number = ? and acknowledgement.detail <> ''
       order by said_at desc limit 1`,
    ),
    stateOf: value<[delivery: number], DeliveryState>(
      "select state from delivery where delivery = ?",
    ),
  };
}
