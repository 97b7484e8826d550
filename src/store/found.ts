/** Documents as people search for them, and what people did. Read only but for the table of what is searched. */
import type Database from "better-sqlite3";
import { wholeIn } from "./sums.ts";
import { shownId, storedId } from "./ids.ts";

/** A record with its newest delivery. */
export interface FoundRow {
  readonly record: number;
  readonly flow: string;
  readonly recordId: string;
  readonly text: string;
  readonly delivery: number;
  readonly state: string;
  readonly number: string | null;
  readonly receivedMs: number;
  readonly note: string | null;
  readonly cause: string | null;
  /** Of its place in the quarantine. */
  readonly code: string | null;
}

/** A record whose newest delivery is not searched by yet. */
export interface Unsearched {
  readonly delivery: number;
  readonly record: number;
  readonly flow: string;
  readonly receivedMs: number;
  readonly text: string;
}

export interface SearchFacts {
  readonly record: number;
  readonly party: string | null;
  readonly amount: string | null;
  readonly day: string;
}

export interface VersionRow {
  readonly delivery: number;
  readonly request: number | null;
  readonly version: string | null;
  readonly origin: string | null;
  readonly state: string;
  readonly receivedMs: number;
  readonly note: string | null;
  readonly cause: string | null;
}

export interface SentRow {
  readonly request: number;
  readonly operation: string;
  readonly key: string;
  readonly target: string;
  readonly body: string;
  readonly sha256: string;
  readonly state: string;
  readonly createdMs: number;
  readonly sentMs: number | null;
  readonly goneMs: number | null;
}

export interface Lately {
  readonly flow: string;
  readonly state: string;
  readonly count: number;
}

/** Deliveries that are looked at for what happened lately, at most. */
export const LATELY_MAX = 20_000;
const PARTIES_MAX = 200;
/** Deliveries under a prefix that are sorted as they are, and the newest ones that are looked at where there are more. */
const FEW = 2_000;
const WINDOW = 5_000;

type Stored<Row> = Omit<Row, "recordId"> & { id: Buffer | string };

export const found = (database: Database.Database) => ({
  ...searching(database),
  ...lives(database),
});

function searching(database: Database.Database) {
  const row = database.prepare<[number], Stored<FoundRow>>(
    `select r.record, flow.name as flow, r.id, ${wholeIn("record", "r")} as text, d.delivery, d.state, d.number, d.received_ms as receivedMs,
       d.note, cause, q.code
     from record r join flow on flow.flow = r.flow
       join delivery d on d.delivery = (select max(delivery) from delivery where record = r.record)
       left join quarantine q on q.delivery = d.delivery and d.state = 'quarantined'
     where r.record = ?`,
  );
  const newest = pluck(database, "select record from record where record < ?");
  const byId = database
    .prepare<[string, Buffer | string, number], number>(
      `select record from flow f cross join record r on r.flow = f.flow and r.id in (?, ?) where +r.record < ?`,
    )
    .pluck();
  const byAmount = pluck(
    database,
    "select record from search_record where amount = ? and record < ?",
  );
  const byDay = pluck(database, "select record from search_record where day = ? and record < ?");
  const byParty = pluck(
    database,
    "select record from search_record where party = ? and record < ?",
  );
  const parties = database
    .prepare<[string, number], number>(
      "select party from search_party where name like ? escape '!' order by party limit ?",
    )
    .pluck();
  const end = database.prepare<[], number>("select delivery from search_end").pluck();
  const last = database.prepare<[], number | null>("select max(delivery) from delivery").pluck();
  const next = database.prepare<[number, number], Unsearched>(
    `select delivery, record, flow.name as flow, received_ms as receivedMs,
       ${wholeIn("record")} as text
     from delivery join record using (record) join flow on flow.flow = record.flow
     where delivery > ? order by delivery limit ?`,
  );
  const addParty = database.prepare(
    "insert into search_party (name) values (?) on conflict do nothing",
  );
  const save = database.prepare(
    `insert into search_record (record, party, amount, day)
     values (:record, (select party from search_party where name = :party), :amount, :day)
     on conflict do update set party = excluded.party, amount = excluded.amount, day = excluded.day`,
  );
  const move = database.prepare("update search_end set delivery = ?");

  return {
    row(record: number): FoundRow | null {
      const one = row.get(record);
      if (one === undefined) return null;
      const { id, ...rest } = one;
      return { ...rest, recordId: shownId(id) };
    },
    /** Each of these: records older than `before`, newest first. */
    newest: (before: number, limit: number): number[] => newest.all(before, limit),
    ...numbered(database),
    byId: (id: string, before: number): number[] => byId.all(id, storedId(id), before),
    byAmount: (amount: string, before: number, limit: number): number[] =>
      byAmount.all(amount, before, limit),
    byDay: (day: string, before: number, limit: number): number[] => byDay.all(day, before, limit),
    /** Whose party's code or name contains this, in any case. */
    byParty(text: string, before: number, limit: number): number[] {
      const pattern = `%${text.replace(/[!%_]/g, "!$&")}%`;
      return parties
        .all(pattern, PARTIES_MAX)
        .flatMap((party) => byParty.all(party, before, limit));
    },
    /** What is not searched by yet, oldest first. */
    unsearched: (limit: number): Unsearched[] => next.all(end.get() ?? 0, limit),
    /** How many deliveries are not searched by yet, about. */
    unsearchedCount: (): number => (last.get() ?? 0) - (end.get() ?? 0),
    /** Inside a transaction. `upTo`: the last delivery of them. */
    search(facts: readonly SearchFacts[], upTo: number): void {
      for (const one of facts) {
        if (one.party !== null) addParty.run(one.party);
        save.run({ ...one });
      }
      move.run(upTo);
    },
  };
}

const pluck = (database: Database.Database, select: string) =>
  database.prepare<unknown[], number>(`${select} order by record desc limit ?`).pluck();

/** By the beginning of a number: the newest records, whether it fits a handful or nearly all of a million. */
function numbered(database: Database.Database) {
  const range = "number >= :from and number < :to";
  const some = database
    .prepare<unknown[], number>(
      `select count(*) from (select 1 from delivery where ${range} limit ${FEW + 1})`,
    )
    .pluck();
  const all = database
    .prepare<unknown[], number>(
      `select distinct record from delivery where ${range} and record < :before order by record desc limit :limit`,
    )
    .pluck();
  const newest = database
    .prepare<unknown[], number>(
      `select distinct record from (
         select record, number from delivery where record < :before order by record desc limit ${WINDOW})
       where ${range} order by record desc limit :limit`,
    )
    .pluck();
  return {
    /** Whose number begins so. */
    byNumber(text: string, before: number, limit: number): number[] {
      const range = { from: text, to: `${text}\u{10FFFF}` };
      const asked = { ...range, before, limit };
      if ((some.get(range) ?? 0) <= FEW) return all.all(asked);
      const found = newest.all(asked);
      return found.length === limit ? found : all.all(asked);
    },
  };
}

function lives(database: Database.Database) {
  const versions = database.prepare<[number, number], VersionRow>(
    `select delivery.delivery, delivery.request, version, origin, state, received_ms as receivedMs, note, cause
     from delivery left join quarantine on quarantine.delivery = delivery.delivery and state = 'quarantined'
     where record = ? order by delivery.delivery desc limit ?`,
  );
  const sent = database.prepare<[number, number, number], SentRow>(
    `select request, operation, key, target, body, body_sha256 as sha256, state, created_ms as createdMs,
       sent_ms as sentMs, body_gone_ms as goneMs
     from request where request in (
       select request from delivery where record = ? and request is not null
       union select c.request from delivery d join carried_before c using (delivery) where d.record = ?)
     order by request desc limit ?`,
  );
  const lately = database.prepare<[number, number], Lately>(
    `select flow.name as flow, state, count(*) as count
     from (select flow, state, received_ms from delivery order by delivery desc limit ?) join flow using (flow)
     where received_ms >= ? group by flow.name, state order by flow.name, state`,
  );
  return {
    /** The deliveries of a record, newest first. */
    versions: (record: number, limit: number): VersionRow[] => versions.all(record, limit),
    /** The requests that carried it, newest first. */
    sent: (record: number, limit: number): SentRow[] => sent.all(record, record, limit),
    /** What came since and where it is now, of the newest 20,000. */
    lately: (sinceMs: number): Lately[] => lately.all(LATELY_MAX, sinceMs),
  };
}
