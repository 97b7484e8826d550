/**
 * Where both sides do not agree: what inspections and lists found of single records, reconciliation runs and the differences
 * that are known, and the records that a whole list lacks.
 */
import type Database from "better-sqlite3";
import type { Fault } from "../core/record.ts";
import { deepWalks } from "./flows.ts";
import { causes } from "./quarantine.ts";
import { asking, moving, RECORD_OF } from "./statements.ts";

/** Who compares: each opens and closes its own. `list`: the list that the record came from lacks it (src/engine/pull.ts). */
export type Finder = "inspection" | "reconciliation" | "list";

export interface Disagreement {
  readonly record: number;
  readonly delivery: number;
  /** What the delivery was before, and is again when both sides agree. */
  readonly was: "delivered" | "skipped";
  /** Of the values on both sides: a person's decision is about exactly these. */
  readonly digest: string;
  /** Of the delivery. `quarantined`: a person has it; `resolved`: a person has accepted it. */
  readonly state: string;
}

/** The newest delivery of a record. */
interface Last {
  readonly record: number;
  readonly delivery: number;
  readonly state: "pending" | "frozen" | "delivered" | "skipped" | "resolved" | "quarantined";
}

/** Deliveries that are looked at for echoes. */
const ECHOES_AMONG = 20_000;

/** Where a receiver holds other values than those that a record was brought to (src/engine/delivered.ts). */
export function disagreements(database: Database.Database) {
  const { row, run, values } = asking(database);
  const why = causes(database);
  const columns = "disagreement.record, delivery, was, digest, state";
  const find = row<[record: number, finder: Finder], Disagreement>(
    `select ${columns} from disagreement join delivery using (delivery)
     where disagreement.record = ? and finder = ?`,
  );
  const anyOf = row<[record: number], Disagreement & Fault & { field: string | null }>(
    `select ${columns}, code, cause as message, next, field
     from disagreement join delivery using (delivery) left join quarantine using (delivery)
     where disagreement.record = ? order by state = 'quarantined' desc limit 1`,
  );
  const save = run<[object]>(
    `insert into disagreement (record, finder, delivery, was, digest)
     values (:record, :finder, :delivery, :was, :digest)
     on conflict do update set delivery = excluded.delivery, was = excluded.was, digest = excluded.digest`,
  );
  const take = moving(database, {
    from: ["delivered", "skipped", "resolved", "quarantined"],
    to: "quarantined",
    where: "delivery = ?",
  });
  const givingBack = (to: Disagreement["was"]) =>
    moving(database, { from: ["quarantined", "resolved"], to, where: "delivery = ?" });
  const giveBack = { delivered: givingBack("delivered"), skipped: givingBack("skipped") };
  const drop = run<[record: number, finder: Finder]>(
    "delete from disagreement where record = ? and finder = ?",
  );

  /** Both agree again, or the document is gone: the delivery is what it was before. Inside a transaction. */
  function close(finder: Finder, { record, delivery, was }: Disagreement): void {
    drop(record, finder);
    if (giveBack[was](delivery) === 1) why.drop(delivery);
  }

  return {
    find,
    close,
    /** Documents of ours that a flow read back since an instant, among the newest deliveries: what its source calls them. */
    echoes: values<[flow: number, sinceMs: number, most: number], string>(
      // By the key of deliveries, the newest first: it stops at the first one that is older.
      `select shown_id(r.id) from (
         select record, state, received_ms, flow from delivery
         where delivery > (select coalesce(max(delivery), 0) - ${ECHOES_AMONG} from delivery)
       ) d join record r using (record)
       where d.flow = ? and d.state = 'echo' and d.received_ms > ? group by r.record limit ?`,
    ),

    /**
     * What a new delivery of the record that says nothing new is to be: quarantined with the same cause, because a
     * person has the disagreement; `retried` by a person, so that it goes once more; null: there is none.
     */
    standing(record: number, delivery: number): Fault | "retried" | null {
      const row = anyOf(record);
      if (row === null || row.state === "resolved") return null;
      if (row.delivery === delivery) return "retried";
      const { code, message, next, field } = row;
      // It was taken back from the quarantine since: it is inspected again.
      if (code === null) return null;
      return { code, message, next, ...(field === null ? {} : { field }) };
    },
    /** The disagreement is about this delivery from now on: the newest of the record. Inside a transaction. */
    carry: run<[record: number, delivery: number]>(
      "update disagreement set delivery = ?2, was = 'skipped' where record = ?1 and delivery <> ?2",
    ),

    /** A person decides; the link stays. Inside a transaction. */
    open(finder: Finder, row: Omit<Disagreement, "state">, fault: Fault, atMs: number): void {
      save({ ...row, finder });
      if (take(row.delivery) !== 1)
        throw new Error(`delivery ${row.delivery} is not in a state that allows this`);
      why.add(row.delivery, fault, atMs);
    },
    /** The document is gone: whoever disagreed about it. Inside a transaction. */
    forget(record: number): void {
      for (const finder of ["inspection", "reconciliation", "list"] as const) {
        const row = find(record, finder);
        if (row !== null) close(finder, row);
      }
    },
    ...newestDeliveries(database),
    ...inspectionRounds(database),
  };
}

/** The newest deliveries of records, and which of them disagree. */
function newestDeliveries(database: Database.Database) {
  const { row, value, values } = asking(database);
  const recordOf = value<[flow: number, id: string], number>(`select ${RECORD_OF}`);
  const open = row<[record: number], Last>(
    "select record, delivery, state from delivery where record = ? and state in ('pending', 'quarantined')",
  );
  const settled = row<[record: number], Last>(
    `select record, delivery, state from delivery where record = ?
       and state in ('frozen', 'delivered', 'skipped', 'resolved') order by delivery desc limit 1`,
  );
  const refused = row<[delivery: number], { readonly delivery: number; readonly request: number }>(
    `select delivery, request from quarantine join delivery using (delivery) join request using (request)
     where delivery = ? and code = 'differs' and delivery.state = 'quarantined'
       and request.state = 'rejected'`,
  );
  /** Null: the record is not known, or nothing of it was settled. */
  const last = (flow: number, recordId: string): Last | null => {
    const record = recordOf(flow, recordId);
    return record === null ? null : (open(record) ?? settled(record));
  };

  return {
    last,
    /** The ids of a flow's records that disagree, whether a person has accepted it or not. */
    ofFlow: values<[flow: number, finder: Finder, limit: number], string>(
      `select shown_id(record.id) from
         (select record from disagreement where finder = ?2
          union select record from quarantine join delivery using (delivery)
            where code = 'differs' and state = 'quarantined' and delivery.flow = ?1) of
         cross join record on record.record = of.record
       where record.flow = ?1 order by of.record limit ?3`,
    ),

    /** The version of a record that is with a person because the receiver refused it with `differs`. */
    refused(flow: number, recordId: string): ReturnType<typeof refused> {
      const newest = last(flow, recordId);
      return newest?.state === "quarantined" ? refused(newest.delivery) : null;
    },
  };
}

/** How far each flow's links were inspected in the current round. */
function inspectionRounds(database: Database.Database) {
  const { run, value } = asking(database);
  const upTo = value<[flow: number], string>("select up_to from inspected where flow = ?");
  return {
    /** A platform id; empty: a round begins. */
    inspectedUpTo: (flow: number): string => upTo(flow) ?? "",
    inspectTo: run<[flow: number, platformId: string]>(
      "insert into inspected (flow, up_to) values (?, ?) on conflict do update set up_to = excluded.up_to",
    ),
  };
}

/** What a run compares. */
interface SweepAbout {
  /** `2026-10-01..2026-10-31`, with a flow's name where it is one flow's; those of the daemon have names of their own. */
  readonly scope: string;
  /** Null: every flow. */
  readonly flow: string | null;
  /** Company days; null: all of them. */
  readonly period: Days | null;
  readonly askedBy: string;
}

/** Company days, both included. */
interface Days {
  readonly from: string;
  readonly to: string;
}

/** Which papers were matched. `part`: of one party or direction alone; null: all of these days. */
interface MatchAbout {
  readonly part: string | null;
  readonly period: Days;
  readonly askedBy: string;
}

export interface SweepRow {
  readonly sweep: number;
  readonly scope: SweepAbout["scope"];
  readonly state: "reading" | "done" | "failed";
  readonly askedBy: string;
  readonly startedMs: number;
  readonly endedMs: number | null;
  /** Requests to the platform. */
  readonly requests: number;
  /** Records by side and kind, JSON; null: it did not end. */
  readonly counts: string | null;
  readonly agrees: 0 | 1 | null;
  readonly detail: string | null;
  /** What could not be compared, JSON; null: it did not end. */
  readonly unasked: string | null;
}

/**
 * `seen` in one run, `open` once a second run has confirmed it, `accepted` by a person for its values, `disputed` by a person
 * with the other party.
 */
type DifferenceState = "seen" | "open" | "accepted" | "disputed" | "cleared";

/** A case that keeps both sides from agreeing, as a run found it. */
export interface Found {
  readonly kind: string;
  /** What the reconciliation calls the case; its records may give it another key later. */
  readonly key: string;
  readonly bucket: string;
  /** Of both sides' values: a decision binds to it. */
  readonly digest: string;
  /** The number that people know it by. */
  readonly number: string;
  readonly code: string;
  readonly cause: string;
  readonly next: string;
  /** The case as the run found it, JSON; null: its time is over. */
  readonly row: string | null;
}

export interface DifferenceRow extends Found {
  readonly difference: number;
  readonly state: DifferenceState;
  /** Who settled a finding of papers with these values, and why; null: nobody has. */
  readonly note: string | null;
  readonly firstMs: number;
  readonly lastMs: number;
}

interface AgreementRow {
  readonly flow: string;
  readonly atMs: number;
  readonly documents: number;
  /** Null: what the flow carries has no amounts. */
  readonly amount: string | null;
}

/** What the store knows of a record's newest delivery. */
interface NewestRow {
  readonly delivery: number;
  readonly state: string;
  readonly version: string | null;
  readonly receivedMs: number;
  readonly code: string | null;
  readonly cause: string | null;
  readonly sinceMs: number | null;
  readonly note: string | null;
}

/** Why a run failed that a process did not live to end. */
export const ENDED = "the process ended";

/** Reconciliations: each run, the differences that are known, and when both sides of a flow last agreed. */
export const sweeps = (database: Database.Database) => ({
  ...reconciliationRuns(database),
  ...differences(database),
  ...agreements(database),
  ...newestOf(database),
  ...deepWalks(database),
});

function reconciliationRuns(database: Database.Database) {
  const { insert, row, run } = asking(database);
  const begin = insert<[object]>(
    `insert into reconciliation_run (scope, flow, from_day, to_day, state, asked_by, started_ms)
     values (:scope, :flow, :from, :to, 'reading', :askedBy, :atMs)`,
  );
  const addMatched = insert<[object]>(
    `insert into reconciliation_run
       (scope, flow, from_day, to_day, state, asked_by, started_ms, ended_ms, counts, detail)
     values ('match', :part, :from, :to, :state, :askedBy, :at, :at, :counts, :detail)`,
  );
  const abandon = run<[atMs: number]>(
    `update reconciliation_run set state = 'failed', ended_ms = ?, detail = '${ENDED}' where state = 'reading'`,
  );
  const lastWhere = <Bound extends readonly unknown[]>(condition: string) =>
    row<Bound, SweepRow>(
      `select run as sweep, scope, state, asked_by as askedBy, started_ms as startedMs, ended_ms as endedMs, requests,
         counts, agrees, detail, unasked
       from reconciliation_run where ${condition} order by run desc limit 1`,
    );

  const whole = "state = 'done' and flow is null";
  const ofDays = "coalesce(from_day, '') <= :from and coalesce(to_day, '9') >= :to";

  return {
    /** A run begins. One that was under way when a process ended has failed: the next begins anew. */
    begin({ period, ...about }: SweepAbout, atMs: number): number {
      abandon(atMs);
      return begin({ ...about, from: period?.from ?? null, to: period?.to ?? null, atMs });
    },
    end: run<[Omit<SweepRow, "scope" | "askedBy" | "startedMs">]>(
      `update reconciliation_run set state = :state, ended_ms = :endedMs, requests = :requests, counts = :counts,
         agrees = :agrees, detail = :detail, unasked = :unasked where run = :sweep and state = 'reading'`,
    ),
    /** The last run of this scope that ended well. */
    last: lastWhere<[scope: string]>("scope = ? and state = 'done'"),
    /** The last comparison of both sides that this one asked for, however it ended. */
    lastBy: lastWhere<[askedBy: string]>("asked_by = ? and scope <> 'match'"),
    lastEnded: lastWhere<[]>("state <> 'reading' and scope <> 'match'"),
    /** Of every flow. */
    lastDone: lastWhere<[]>(`${whole} and scope <> 'match'`),
    /** The last one of every flow that had all of these company days. */
    lastOf: lastWhere<[Days]>(`${whole} and scope <> 'match' and ${ofDays}`),
    /** Papers were matched (src/engine/match.ts), which reads the store alone; it ends as it begins. */
    matched: ({ period, ...about }: MatchAbout, counts: string, at: number): number =>
      addMatched({ ...about, ...period, state: "done", counts, detail: null, at }),
    /** Papers could not be matched. @param why JSON */
    notMatched: ({ period, ...about }: MatchAbout, why: string, at: number): number =>
      addMatched({ ...about, ...period, state: "failed", counts: null, detail: why, at }),
    /** The last time that they could not, unless all papers or that part of them were matched since. */
    matchFailed: lastWhere<[]>(
      `scope = 'match' and state = 'failed' and not exists (
         select 1 from reconciliation_run later
         where later.scope = 'match' and later.state = 'done' and later.run > reconciliation_run.run
           and (later.flow is null or later.flow = reconciliation_run.flow))`,
    ),
    /** When all papers were last matched, and those of all of these company days. */
    lastMatched: lastWhere<[]>(`${whole} and scope = 'match'`),
    lastMatchedOf: lastWhere<[Days]>(`${whole} and scope = 'match' and ${ofDays}`),
  };
}

function differences(database: Database.Database) {
  const { row, rows, run } = asking(database);
  const columns = `difference, kind, case_key as key, bucket, digest, number, code, cause, next, case_row as row, state,
    note, first_ms as firstMs, last_ms as lastMs`;
  const find = row<[kind: string, key: string], DifferenceRow>(
    `select ${columns} from difference where kind = ? and case_key = ?`,
  );
  // Other values than before are told anew.
  const see = run<[object]>(
    `insert into difference (kind, case_key, bucket, digest, number, code, cause, next, case_row, state, first_ms,
       last_ms, last_run)
     values (:kind, :key, :bucket, :digest, :number, :code, :cause, :next, :row, 'seen', :at, :at, :sweep)
     on conflict (kind, case_key) do update set bucket = excluded.bucket, digest = excluded.digest,
       number = excluded.number, code = excluded.code, cause = excluded.cause, next = excluded.next,
       case_row = excluded.case_row, note = case when digest = excluded.digest then note end,
       last_ms = excluded.last_ms, last_run = excluded.last_run,
       state = case when state in ('open', 'accepted', 'disputed') and digest = excluded.digest then state else 'seen' end,
       first_ms = case when state = 'cleared' or digest <> excluded.digest then excluded.first_ms else first_ms end`,
  );

  return {
    find,
    /** As a run found it: `seen` when it is new, was cleared or has other values than before. */
    see(found: Found, sweep: number, atMs: number): DifferenceRow {
      see({ ...found, sweep, at: atMs });
      return find(found.kind, found.key) as DifferenceRow;
    },
    /** Call it inside a transaction. */
    setState: run<[difference: number, state: DifferenceState]>(
      "update difference set state = ?2 where difference = ?1",
    ),
    /** A person says what a finding is, and why. Call it inside a transaction. */
    settle: run<[difference: number, state: DifferenceState, note: string]>(
      "update difference set state = ?2, note = ?3 where difference = ?1",
    ),
    /** All that keep both sides from agreeing, accepted or not. */
    standing: rows<[], DifferenceRow>(
      `select ${columns} from difference where state <> 'cleared' and kind <> 'match' order by difference`,
    ),
    inState: rows<[state: DifferenceState], DifferenceRow>(
      `select ${columns} from difference where state = ? and kind <> 'match' order by difference`,
    ),
    /** Findings of papers that were matched (src/engine/match.ts), those that people have settled among them. */
    findings: rows<[], DifferenceRow>(
      `select ${columns} from difference where state <> 'cleared' and kind = 'match' order by difference`,
    ),
    /** Of those, what this run did not find. */
    findingsBefore: rows<[sweep: number], DifferenceRow>(
      `select ${columns} from difference
       where state <> 'cleared' and kind = 'match' and last_run <> ? order by difference`,
    ),
  };
}

function agreements(database: Database.Database) {
  const { rows, run } = asking(database);
  return {
    /** Both sides of a flow agree. `amount`: the sum of its documents, null where they have none. */
    agreed: run<[flow: number, documents: number, amount: string | null, atMs: number]>(
      `insert into agreement (flow, documents, amount, at_ms) values (?, ?, ?, ?)
       on conflict (flow) do update set at_ms = excluded.at_ms, documents = excluded.documents, amount = excluded.amount`,
    ),
    agreements: rows<[], AgreementRow>(
      "select flow.name as flow, at_ms as atMs, documents, amount from agreement join flow using (flow) order by flow.flow",
    ),
  };
}

/** What the store knows besides of records and requests. */
function newestOf(database: Database.Database) {
  const { row, sure, value } = asking(database);
  return {
    /** Of a record's newest delivery; null: the record never came. */
    newest: row<[flow: number, recordId: string], NewestRow>(
      `select delivery, state, record.version, received_ms as receivedMs, code, cause, since_ms as sinceMs, note
       from record join delivery using (record) left join quarantine using (delivery)
       where record.flow = ? and record.id = stored_id(?) order by delivery desc limit 1`,
    ),
    /** When a request's bytes last left; null: never. */
    lastSentMs: value<[request: number], number>("select sent_ms from request where request = ?"),
    /** How many records of a flow changed since the day of a version, for what a run will cost. */
    recordsSince: sure<[flow: number, version: string], number>(
      `select coalesce(sum(count), 0) from record_count
       where flow = ? and (day = '' or day >= substr(?, 1, 10))`,
    ),
  };
}

/** A record that was delivered and that its list no longer has. */
interface Unlisted {
  readonly record: number;
  readonly id: string;
  /** Its newest delivery, and the state of it. */
  readonly delivery: number;
  readonly state: "delivered" | "skipped";
  /** Since when the list lacks it, ms. */
  readonly sinceMs: number;
}

/**
 * Whole lists, per flow: the records that the newest one no longer has, and what a person has said of one that was held
 * (src/engine/pull.ts). A record that is not here is in the newest list.
 */
export function lists(database: Database.Database) {
  const { row, rows, run, sure, values } = asking(database);
  const limit = row<[flow: number], { held: number | null; accepted: number | null }>(
    "select held, accepted from list_limit where flow = ?",
  );
  const accept = run<[flow: number]>(
    "update list_limit set accepted = held, held = null where flow = ? and held is not null",
  );

  return {
    /** How many records the newest list that was believed had. */
    had: sure<[flow: number], number>(
      `select (select coalesce(sum(count), 0) from record_count where flow = ?1)
         - (select count(*) from unlisted where flow = ?1 and concluded = 1)`,
    ),
    /** Every record that ever came from it, in no order. */
    records: values<[flow: number], number>("select record from record where flow = ?"),
    /** Those that the newest list lacks; `concluded`: it was believed. */
    standing: rows<[flow: number], { record: number; concluded: 0 | 1 }>(
      "select record, concluded from unlisted where flow = ?",
    ),
    /** Inside a transaction, as all that follow. */
    lack: run<[flow: number, record: number, concluded: 0 | 1, sinceMs: number]>(
      `insert into unlisted (flow, record, concluded, since_ms) values (?, ?, ?, ?)
       on conflict do update set concluded = max(concluded, excluded.concluded)`,
    ),
    back: run<[record: number]>("delete from unlisted where record = ?"),
    /** What a list lacked that was not believed is of no consequence. */
    forget: run<[flow: number]>("delete from unlisted where flow = ? and concluded = 0"),
    /** A person believes it. */
    conclude: run<[flow: number]>("update unlisted set concluded = 1 where flow = ?"),
    /** Records that were delivered, that the list lacks, and that nobody was told of. */
    untold: rows<[flow: number], Unlisted>(
      `select u.record, shown_id(r.id) as id, d.delivery, d.state, u.since_ms as sinceMs
       from unlisted u join record r using (record)
         join delivery d on d.delivery = (select max(delivery) from delivery n where n.record = u.record)
       where u.flow = ? and u.concluded = 1 and d.state in ('delivered', 'skipped')
         and exists (select 1 from delivery e where e.record = u.record and e.state = 'delivered')
         and not exists (select 1 from disagreement g where g.record = u.record and g.finder = 'list')
       order by u.record`,
    ),
    idOf: sure<[record: number], string>("select shown_id(id) from record where record = ?"),
    /** How many records a list has that waits for a person; and how many a person has accepted. */
    limit: (flow: number) => limit(flow) ?? { held: null, accepted: null },
    hold: run<[flow: number, total: number]>(
      "insert into list_limit (flow, held) values (?, ?) on conflict do update set held = excluded.held",
    ),
    /** False: none waits. */
    accept: (flow: number): boolean => accept(flow) > 0,
    taken: run<[flow: number]>("delete from list_limit where flow = ?"),
  };
}
