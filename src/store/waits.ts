/**
 * What becomes of documents after their delivery: they wait for what settles them, a person must finish them at their
 * receiver, they are gone there, or their receiver tells later what it made of them.
 */
import type Database from "better-sqlite3";
import type { Acknowledgement, Reference } from "../core/contract.ts";
import type { DeliveryState } from "../core/delivery-state.ts";
import type { Fault } from "../core/record.ts";
import { causes } from "./quarantine.ts";
import { asking, moving, RECORD_OF } from "./statements.ts";
import { resumming } from "./sums.ts";

export interface Wait {
  readonly delivery: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface DueWait {
  readonly record: number;
  /** The newest delivery of the record, and its state. */
  readonly delivery: number;
  readonly state: string;
}

export interface WaitingOfFlow {
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
  const save = run<[{ delivery: number; until: number }]>(
    `insert into wait (record, flow, number, delivery, since_ms, until_ms, due_ms)
     select record, delivery.flow, delivery.number, delivery, created_ms, :until, :until
     from delivery join request using (request) where delivery = :delivery
     on conflict (record) do update set number = excluded.number, delivery = excluded.delivery,
       until_ms = excluded.until_ms, due_ms = excluded.due_ms`,
  );
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
  const isUnbound = is<[flow: number, boundMs: number]>(
    "select 1 from wait where flow = ? and until_ms <> since_ms + ? limit 1",
  );
  // What was hastened is due as soon as it was.
  const bind = run<[{ flow: number; bound: number }]>(
    `update wait set until_ms = since_ms + :bound,
       due_ms = iif(due_ms < until_ms, min(due_ms, since_ms + :bound), since_ms + :bound)
     where flow = :flow and until_ms <> since_ms + :bound`,
  );
  const hasten = run<[atMs: number, flow: number, id: string]>(
    `update wait set due_ms = min(due_ms, ?) where record = ${RECORD_OF}`,
  );
  const ofFlow = row<[flow: number], { count: number; untilMs: number | null }>(
    `select count(*) as count, max(wait.until_ms) as untilMs from ${NEWEST}
       and delivery.state in ('delivered', 'skipped')`,
  );

  return {
    /** It waits since the request that carries it was made; another version goes on with the same wait. */
    keep: (delivery: number, untilMs: number): void => void save({ delivery, until: untilMs }),
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
      if (reopen.run(delivery).changes === 0) {
        end(record);
        return false;
      }
      point(delivery, record);
      return true;
    },
    /** Does everything of a flow wait for so long, ms? */
    isBound: (flow: number, boundMs: number): boolean => !isUnbound(flow, boundMs),
    /** It does from now on; each since it began to wait. */
    bind: (flow: number, bound: number): void => void bind({ flow, bound }),
    /** Something came that may settle it. */
    hasten: (flow: number, id: string, atMs: number): void => void hasten(atMs, flow, id),
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
  const open = run<[{ delivery: number; incident: Incident }]>(
    `insert into incident (record, incident, state)
     select record, :incident, 'open' from delivery where delivery = :delivery
     on conflict do update set state = 'open'`,
  );
  const end = run<[{ delivery: number; incident: Incident }]>(
    `update incident set state = 'over'
     where record = (select record from delivery where delivery = :delivery) and incident = :incident`,
  );
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
    open: (delivery: number, incident: Incident): void => void open({ delivery, incident }),
    /** Inside a transaction. */
    end: (delivery: number, incident: Incident): void => void end({ delivery, incident }),
    /** Null: it never happened to the record. */
    state: value<[record: number, incident: Incident], IncidentState>(
      "select state from incident where record = ? and incident = ?",
    ),
    /** Did it ever happen to this record, whatever was decided since? */
    ever: is<[flow: number, recordId: string, incident: Incident]>(
      `select 1 from incident where record = ${RECORD_OF} and incident = ?`,
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
export function losses(database: Database.Database) {
  const { run, value } = asking(database);
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
    /** The request that a record was last delivered in; null when a person linked it. */
    lastRequest: value<[flow: number, recordId: string], number>(
      `select request from delivery join record using (record) join request using (request)
       where record.flow = ? and record.id = +stored_id(?) and request.state = 'done'
       order by delivery desc limit 1`,
    ),
    /** A person decides. Call it inside a transaction. */
    lose(delivery: number, number: string, fault: Fault, atMs: number): void {
      lose.run(number, delivery);
      // Delivered anew, it waits anew.
      endWait(delivery);
      happened.open(delivery, "gone");
      why.add(delivery, fault, atMs);
    },
  };
}

export interface Unfinished {
  readonly delivery: number;
  readonly recordId: string;
  /** Empty: it was never mapped. */
  readonly number: string;
}

/** Documents that are at their receiver, where a person has to do the rest (src/engine/delivered.ts). */
export function unfinished(database: Database.Database) {
  const { is, rows, run } = asking(database);
  const why = causes(database);
  const leave = moving(database, {
    from: ["delivered"],
    to: "quarantined",
    where: `delivery = ? and not exists (select 1 from delivery d where d.record = delivery.record
      and d.state in ('pending', 'quarantined'))`,
  });
  // A newer version was never mapped: its figures are those of the one that went.
  const figures = run<[delivery: number]>(
    `update delivery set (amount, gallons, content) = (select d.amount, d.gallons, d.content from delivery d
         where d.record = delivery.record and d.content is not null
         order by d.delivery desc limit 1)
     where delivery = ? and content is null`,
  );
  const resum = resumming(database, "delivery");
  const hasSibling = is<[delivery: number]>(
    `select 1 from delivery d join delivery e on e.record = d.record
     where d.delivery = ? and e.delivery <> d.delivery and e.state = 'delivered' limit 1`,
  );

  return {
    /**
     * How this one ends once it is finished there: skipped where an earlier version counts as delivered, so that totals
     * count it once. Inside a transaction.
     */
    endOf(delivery: number): "delivered" | "skipped" {
      if (hasSibling(delivery)) return "skipped";
      figures(delivery);
      resum.run(delivery);
      return "delivered";
    },
    /** A delivered one, whose link stays. When a newer version waits already, that one is judged. Inside a transaction. */
    leave(delivery: number, fault: Fault, atMs: number): void {
      if (leave.run(delivery).changes === 1) why.add(delivery, fault, atMs);
    },
    of: rows<[flow: number, code: string], Unfinished>(
      `select delivery, coalesce(number, '') as number, shown_id(record.id) as recordId
       from quarantine join delivery using (delivery) join record using (record)
       where delivery.flow = ? and code = ? and delivery.state = 'quarantined' order by delivery`,
    ),
  };
}

export interface Acknowledging extends Reference {
  readonly flow: number;
  readonly delivery: number;
  readonly state: "awaited" | "accepted" | "refused";
  /** What the receiver calls the document; null: nothing, or it was not delivered yet. */
  readonly counterpart: string | null;
  /** A person has the delivery for it. */
  readonly told: 0 | 1;
  /** What the receiver said, in words. */
  readonly detail: string;
  /** When it said so, by its own clock; empty: it does not tell. */
  readonly said_at: string;
}

/** What receivers tell later of documents that were delivered to them (src/engine/acknowledged.ts). */
export function acknowledgements(database: Database.Database) {
  const { is, row, rows, run, value } = asking(database);
  const expect = run<[object]>(
    "insert or replace into acknowledgement (exchange, item, flow, delivery) values (:exchange, :item, :flow, :delivery)",
  );
  const other = value<[exchange: string, item: string, record: number], string>(
    `select coalesce(delivery.number, '') from acknowledgement join delivery using (delivery)
     where exchange = ? and item = ? and delivery.record <> ?`,
  );
  const deliver = run<[object]>(
    `update acknowledgement set is_delivered = 1, counterpart = :counterpart, due_ms = :due
     where exchange = :exchange and item = :item`,
  );
  const one = row<[exchange: string, item: string], Acknowledging>(
    "select * from acknowledgement where exchange = ? and item = ?",
  );
  const all = rows<[exchange: string], Acknowledging>(
    "select * from acknowledgement where exchange = ?",
  );
  const take = run<[object]>(
    `update acknowledgement set state = :verdict, detail = :detail, said_at = :at, told = iif(:verdict = 'refused', 0, told)
     where exchange = :exchange and item = :item`,
  );
  const tell = run<[object]>(
    "update acknowledgement set told = :told where exchange = :exchange and item = :item",
  );
  const open = rows<[{ flow: number; at: number }], Acknowledging>(
    `select * from acknowledgement
     where flow = :flow and told = 0 and is_delivered = 1
       and (state = 'refused' or (state = 'awaited' and due_ms <= :at))
     order by exchange, item`,
  );
  const wentAgain = is<[delivery: number, exchange: string]>(
    "select 1 from acknowledgement where delivery = ? and exchange <> ? and is_delivered = 1 limit 1",
  );

  return {
    /** Inside the transaction that freezes what goes under it. */
    expect: ({ exchange, item }: Reference, flow: number, delivery: number): void =>
      void expect({ exchange, item, flow, delivery }),
    /** The number of the document of another record than this one that went under it; null: none did. */
    other: ({ exchange, item }: Reference, record: number): string | null =>
      other(exchange, item, record),
    /** It was delivered. `dueMs`: null, for ever. Inside the transaction of the answer. */
    delivered(
      { exchange, item }: Reference,
      counterpart: string | null,
      dueMs: number | null,
    ): void {
      deliver({ exchange, item, counterpart, due: dueMs });
    },
    /** What an acknowledgement speaks of; empty: nothing that we sent. */
    named({ exchange, item }: Pick<Acknowledgement, "exchange" | "item">): Acknowledging[] {
      if (item === null) return all(exchange);
      const row = one(exchange, item);
      return row === null ? [] : [row];
    },
    /** A refusal is told anew, whatever was told before. */
    take(
      { exchange, item }: Reference,
      { verdict, detail, at = "" }: Pick<Acknowledgement, "verdict" | "detail" | "at">,
    ): void {
      take({ exchange, item, verdict, detail, at });
    },
    /** A person has it, or has it no more. */
    tell: ({ exchange, item }: Reference, told: boolean): void =>
      void tell({ exchange, item, told: Number(told) }),
    /** Of a flow: refused, or not told of in time, and no person has it yet. */
    open: (flow: number, atMs: number): Acknowledging[] => open({ flow, at: atMs }),
    /** When the next one is late; null: none is awaited. */
    nextDueMs: value<[flow: number], number>(
      "select min(due_ms) from acknowledgement where flow = ? and state = 'awaited' and told = 0",
    ),
    /** Was the same delivery delivered under another number, too? */
    wentAgain: ({ delivery, exchange }: Acknowledging): boolean => wentAgain(delivery, exchange),
    /** What was told last of a document that a request carried; null: nothing. */
    last: row<[request: number, number: string], Pick<Acknowledgement, "verdict" | "detail">>(
      `select acknowledgement.state as verdict, acknowledgement.detail from delivery join acknowledgement using (delivery)
       where request = ? and number = ? and acknowledgement.detail <> ''
       order by said_at desc limit 1`,
    ),
    stateOf: value<[delivery: number], DeliveryState>(
      "select state from delivery where delivery = ?",
    ),
  };
}
