/**
 * What people ask: the quarantine by cause, everything about a number, documents as they are searched for, and records to try
 * a mapping on. Read only, but for the table of what is searched.
 */
import type Database from "better-sqlite3";
import { Decimal } from "../core/decimal.ts";
import type { Order } from "../core/record.ts";
import { IS_CLOSED } from "./schema.ts";
import { asking, storedId, wholeIn } from "./statements.ts";

export interface CauseRow {
  readonly flow: string;
  readonly code: string;
  readonly cause: string;
  readonly next: string;
  readonly field: string | null;
  /** The cause without its values; null: code and field say it. */
  readonly reason: string | null;
  /** With flow and code, what makes a group of them. */
  readonly key: string;
  /** The kind and, of one of them, the id of the document that they wait for. */
  readonly awaitsKind: string | null;
  readonly awaitsId: string | null;
  /** The row that is missing in a cross-reference table. */
  readonly lookupTable: string | null;
  readonly lookupKey: string | null;
  readonly count: number;
  readonly sinceMs: number;
  /** The oldest delivery of them, and its number; null: it was never mapped. */
  readonly first: number;
  readonly number: string | null;
  /** What they come to; null: one of them has no amount, is not searched by yet, or is in another currency. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** It stands for all causes of its group, of which it is one; left out: for itself. */
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
  readonly lookupTable: string | null;
  readonly lookupKey: string | null;
  /** What it comes to at the receiver, digits ({@link Fault.amount}); null: the amount is not what is wrong. */
  readonly amountThere: string | null;
  readonly sinceMs: number;
}

export interface DeliveryRow {
  readonly delivery: number;
  readonly flow: string;
  readonly recordId: string;
  readonly receivedMs: number;
  /** Null: the source gives none. */
  readonly version: string | null;
  /** File and line; null: it came from no file. */
  readonly origin: string | null;
  readonly state: string;
  readonly sinceMs: number | null;
  readonly number: string | null;
  readonly note: string | null;
  readonly code: string | null;
  readonly cause: string | null;
  /** Of its group; null: it is in no quarantine. */
  readonly key: string | null;
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
  /** The person who did it, and why; null: fuelbridge itself. */
  readonly who: string | null;
  readonly reason: string | null;
  /** What it says of each delivery of a request that carries several, JSON; null: it says nothing of each. */
  readonly parts: string | null;
}

export function questions(database: Database.Database) {
  const { rows, values } = asking(database);
  const ofNumber = rows<[text: string], DeliveryRow>(
    `select delivery.delivery, flow.name as flow, shown_id(record.id) as recordId, received_ms as receivedMs,
            delivery.version, delivery.origin,
            delivery.state, since_ms as sinceMs, delivery.number, note, code, cause,
            group_key as key, delivery.request,
            (select body_gone_ms from request where request.request = delivery.request) as goneMs
     from delivery join flow using (flow) join record using (record)
       left join quarantine on quarantine.delivery = delivery.delivery and delivery.state = 'quarantined'
     where delivery.delivery in (
       select delivery from delivery where number = ?1
       union select delivery from delivery where record in
         (select r.record from flow f cross join record r on r.flow = f.flow and r.id in (?1, stored_id(?1))))
     order by delivery.delivery`,
  );

  return {
    /**
     * The source's ids of the records that were delivered, and of which no newer version is still to be decided, or
     * was settled by hand. For small stores: it compares each with all.
     */
    deliveredIds: values<[flow: string], string>(
      `select distinct shown_id(record.id) from delivery join record using (record)
       where delivery.flow = (select flow from flow where name = ?) and state = 'delivered'
         and not exists (select 1 from delivery d where d.record = delivery.record
           and d.delivery > delivery.delivery and d.state in ('pending', 'quarantined', 'resolved'))`,
    ),
    ...quarantined(database),
    /** Every delivery of a record with this number or this id. */
    deliveries: ofNumber,
    audit: rows<[delivery: number, request: number | null], AuditRow>(
      `select audit, at_ms as atMs, flow.name as flow, request, delivery, event, detail, who, reason,
              parts
       from audit left join flow using (flow)
       where delivery = ?1 or request = ?2 and delivery is null
         or request in (select request from carried_before where delivery = ?1) and delivery is null
       order by audit`,
    ),
    /** Of requests for this number that carry nothing any more: a person, or newer content, gave them up. */
    givenUp: rows<[number: string], AuditRow>(
      `select audit, at_ms as atMs, flow.name as flow, audit.request, audit.delivery, event, detail,
              who, reason, parts
       from request join audit using (request) left join flow on flow.flow = audit.flow
       where request.number = ? and not exists (select 1 from delivery where delivery.request = request.request)
       order by audit`,
    ),
  };
}

/**
 * What needs a person. `cross join` keeps the order of the tables: SQLite has no statistics here, and would begin with
 * the millions of records and deliveries instead of the few flows or the quarantine.
 */
function quarantined(database: Database.Database) {
  const { rows, value } = asking(database);
  // Neither grouped nor sorted here: SQLite would hold all of it in memory.
  const causes = database.prepare<[], CauseRow>(
    `select flow.name as flow, code, cause, next, field, reason, group_key as key,
            awaits_kind as awaitsKind, awaits_id as awaitsId,
            lookup_table as lookupTable, lookup_key as lookupKey, 1 as count, since_ms as sinceMs,
            delivery.delivery as first, delivery.number, search_record.amount, search_record.currency
     from quarantine cross join delivery using (delivery) join flow using (flow)
       left join search_record on search_record.record = delivery.record
     where delivery.state = 'quarantined'`,
  );
  const ofGroup = rows<[flow: string, code: string, key: string], QuarantinedRow>(
    `select delivery, record.record, delivery.request, delivery.number, shown_id(record.id) as recordId,
            record.version, record.origin, code, cause, field, awaits_id as awaitsId,
            lookup_table as lookupTable, lookup_key as lookupKey, quarantine.amount as amountThere, since_ms as sinceMs
     from quarantine cross join delivery using (delivery) join flow using (flow) join record using (record)
     where delivery.state = 'quarantined' and flow.name = ? and code = ? and group_key = ? order by delivery`,
  );

  return {
    /** One row of each group, of waiting ones one for each document that is waited for; the most frequent first. */
    quarantine(): CauseRow[] {
      const found = new Map<string, CauseRow>();
      for (const row of causes.iterate()) {
        const key = [row.flow, row.code, row.key, row.awaitsId].join("\n");
        const known = found.get(key);
        found.set(key, known === undefined ? row : joined(known, row));
      }
      return [...found.values()].toSorted(
        (one, other) =>
          other.count - one.count ||
          Number(one.cause > other.cause) - Number(one.cause < other.cause),
      );
    },
    /** All deliveries of a group, the oldest first. */
    quarantined: ({ flow, code, key }: Pick<CauseRow, "flow" | "code" | "key">): QuarantinedRow[] =>
      ofGroup(flow, code, key),
    /** What people call the document that is still to be delivered and that its source knows by this id. */
    numberOf: value<[id: string], string>(
      `select delivery.number from flow cross join record on record.flow = flow.flow and record.id = stored_id(?)
         join delivery on delivery.record = record.record
       where delivery.number is not null and state in ('pending', 'quarantined') limit 1`,
    ),
  };
}

const least = (one: string, other: string): string => (other < one ? other : one);

export const added = (one: string | null, other: string | null): string | null =>
  one === null || other === null ? null : Decimal.of(one).plus(Decimal.of(other)).plain();

function joined(known: CauseRow, row: CauseRow): CauseRow {
  const isOther = known.several === true || row.cause !== known.cause;
  return {
    ...known,
    cause: least(known.cause, row.cause),
    next: least(known.next, row.next),
    count: known.count + 1,
    ...(row.first < known.first ? { first: row.first, number: row.number } : {}),
    amount: known.currency === row.currency ? added(known.amount, row.amount) : null,
    sinceMs: Math.min(known.sinceMs, row.sinceMs),
    ...(isOther ? { several: true } : {}),
  };
}

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
interface Unsearched {
  readonly delivery: number;
  readonly record: number;
  readonly flow: string;
  readonly receivedMs: number;
  readonly number: string | null;
  readonly recordId: string;
  readonly text: string;
}

interface SearchFacts {
  readonly record: number;
  readonly party: string | null;
  /** As people call the party. */
  readonly name: string | null;
  readonly number: string;
  readonly amount: string | null;
  /** ISO 4217 */
  readonly currency: string | null;
  /** The amount in hundredths, rounded. */
  readonly cents: number | null;
  readonly day: string;
}

/** What documents are chosen and sorted by; null where it is not known of one. */
export interface ChoiceRow {
  readonly record: number;
  readonly party: number | null;
  readonly name: string | null;
  readonly number: string | null;
  readonly cents: number | null;
  readonly day: string | null;
}

/** Of the newest delivery of a record. */
interface StandingRow {
  readonly flow: string;
  readonly state: string;
}

/** What documents may be found by, each alone. */
export interface Ways {
  readonly numbers: readonly string[];
  readonly ids: readonly string[];
  readonly parties: readonly number[];
  readonly cents: readonly number[];
}

interface VersionRow {
  readonly delivery: number;
  readonly request: number | null;
  readonly version: string | null;
  readonly origin: string | null;
  readonly state: string;
  readonly receivedMs: number;
  readonly note: string | null;
  readonly cause: string | null;
}

interface SentRow {
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
  /** The hour in which they came, whole hours since 1970 (UTC). */
  readonly hour: number;
  readonly count: number;
}

/** Deliveries that are looked at for what happened lately, at most. */
export const LATELY_MAX = 20_000;
const PARTIES_MAX = 200;
/** So many documents that words find are chosen from; of more the newest. */
export const FEW = 400;
/** So many documents of another way are chosen from as they are. */
const FEW_OF_WAY = 4_000;
/** Deliveries under a prefix that are looked at where there are more. */
const WINDOW = 5_000;
/** Under a prefix that has more, so many of the highest numbers are looked at: later documents have higher ones. */
const NUMBERED = 50_000;
/** Documents that one page looks through, at most; one whose state is looked up counts for {@link STATE_COSTS} more. */
export const LOOKED_MAX = 15_000;
export const STATE_COSTS = 3;

const SEARCH = "select record from search_record where";

/** Documents as people search for them, and what people did. */
export function found(database: Database.Database) {
  const { row, rows, run, value, values } = asking(database);
  /** Records that are chosen by one way, the newest ones of too many. */
  const some = <Bound extends readonly unknown[]>(from: string) =>
    values<[...Bound, limit: number], number>(`${from} limit ?`);
  const ways = {
    party: some<[party: number]>(`${SEARCH} party = ?`),
    cents: some<[least: number, most: number]>(`${SEARCH} cents >= ? and cents <= ?`),
    days: some<[from: string, to: string]>(`${SEARCH} day >= ? and day <= ?`),
    flow: some<[flow: string]>(
      "select record from flow cross join record on record.flow = flow.flow where flow.name = ?",
    ),
    quarantined: some<[]>(
      "select record from quarantine cross join delivery using (delivery) where state = 'quarantined'",
    ),
    pending: some<[]>(
      "select record from flow cross join delivery on delivery.flow = flow.flow where state = 'pending'",
    ),
    frozen: some<[]>(
      `select record from request q cross join delivery on delivery.request = q.request
       where q.live = 1 and delivery.state = 'frozen'`,
    ),
    closed: some<[state: string]>(`select record from delivery where ${IS_CLOSED} and state = ?`),
  };
  /** As their index has them: to sort all that a span of amounts has would take as long as they are many. */
  const newest = {
    party: some<[party: number, after: number]>(
      `${SEARCH} party = ? and record > ? order by record desc`,
    ),
    cents: some<[cents: number, after: number]>(
      `${SEARCH} cents = ? and record > ? order by record desc`,
    ),
  };
  const parties = values<[pattern: string, limit: number], number>(
    "select party from search_party where name like ? escape '!' order by party limit ?",
  );
  const end = value<[], number>("select delivery from search_end");
  const last = value<[], number>("select max(delivery) from delivery");
  const next = rows<[after: number, limit: number], Unsearched>(
    `select delivery, record, flow.name as flow, received_ms as receivedMs, number, shown_id(record.id) as recordId,
       ${wholeIn("record")} as text
     from delivery join record using (record) join flow on flow.flow = record.flow
     where delivery > ? order by delivery limit ?`,
  );
  const addParty = run<[name: string]>(
    "insert into search_party (name) values (?) on conflict do nothing",
  );
  const save = run<[object]>(
    `insert into search_record (record, party, name, amount, currency, cents, day, number)
     values (:record, (select party from search_party where name = :party), :name, :amount, :currency, :cents, :day, :number)
     on conflict do update set party = excluded.party, name = excluded.name, amount = excluded.amount,
       currency = excluded.currency, cents = excluded.cents, day = excluded.day, number = excluded.number`,
  );
  const move = run<[upTo: number]>("update search_end set delivery = ?");
  const byId = values<[id: string], number>(
    `select record from flow f cross join record r on r.flow = f.flow and r.id in (?1, stored_id(?1))`,
  );
  const byNumber = numbered(database);

  return {
    row: row<[record: number], FoundRow>(
      `select r.record, flow.name as flow, shown_id(r.id) as recordId, ${wholeIn("record", "r")} as text, d.delivery,
         d.state, d.number, d.received_ms as receivedMs, d.note, cause, q.code
       from record r join flow on flow.flow = r.flow
         join delivery d on d.delivery = (select max(delivery) from delivery where record = r.record)
         left join quarantine q on q.delivery = d.delivery and d.state = 'quarantined'
       where r.record = ?`,
    ),
    /** Whose number begins so. */
    byNumber,
    /** Whose code or name contains this, in any case. */
    parties: (text: string): number[] => parties(`%${text.replace(/[!%_]/g, "!$&")}%`, PARTIES_MAX),
    /** The newest ones: each is read, wherever it lies. */
    byWays({ numbers, ids, parties, cents }: Ways): number[] {
      let found: number[] = [];
      const add = (records: readonly number[]): void => {
        found = [...new Set([...found, ...records])]
          .toSorted((one, other) => other - one)
          .slice(0, FEW);
      };
      /** What is older is not among the newest. */
      const after = (): number => (found.length < FEW ? 0 : (found.at(-1) ?? 0));
      for (const number of numbers) add(byNumber(number, Number.MAX_SAFE_INTEGER, FEW));
      for (const id of ids) add(byId(id));
      for (const party of parties) add(newest.party(party, after(), FEW));
      for (const one of cents) add(newest.cents(one, after(), FEW));
      return found;
    },
    /** Those of one way alone, asked for one after the other; null: they are too many to be looked at each. */
    fewBy<Way extends keyof typeof ways>(
      way: Way,
      each: readonly Readonly<
        Parameters<(typeof ways)[Way]> extends [...infer Bound, number] ? Bound : never
      >[],
    ): readonly number[] | null {
      const records: number[] = [];
      for (const asked of each) {
        const left = FEW_OF_WAY + 1 - records.length;
        records.push(...(ways[way] as (...asked: unknown[]) => number[])(...asked, left));
        if (records.length > FEW_OF_WAY) return null;
      }
      return records;
    },
    /** What is not searched by yet, oldest first. */
    unsearched: (limit: number): Unsearched[] => next(end() ?? 0, limit),
    /** How many deliveries are not searched by yet, about. */
    unsearchedCount: (): number => (last() ?? 0) - (end() ?? 0),
    /** Inside a transaction. `upTo`: the last delivery of them. */
    search(facts: readonly SearchFacts[], upTo: number): void {
      for (const one of facts) {
        if (one.party !== null) addParty(one.party);
        save({ ...one });
      }
      move(upTo);
    },
    ...ordered(database),
    ...lives(database),
  };
}

/** What documents are chosen and sorted by, one by one and in an order. */
function ordered(database: Database.Database) {
  const { row } = asking(database);
  const facts = "record, party, name, number, cents, day";
  const chosen = row<[record: number], ChoiceRow>(
    `select ${facts} from search_record where record = ?`,
  );
  const sorted = (from: string) =>
    database.prepare<unknown[], ChoiceRow>(`select ${from} limit ${LOOKED_MAX}`);
  const byColumn = (column: string, after: "<" | ">") =>
    sorted(
      `${facts} from search_record where ${column} is not null and (${column}, record) ${after} (?, ?)
       order by ${after === "<" ? `${column} desc, record desc` : `${column}, record`}`,
    );
  const inOrder: Readonly<
    Record<Order, { iterate(...after: unknown[]): IterableIterator<ChoiceRow> }>
  > = {
    // What is not searched by yet is among them.
    came: sorted(
      `n.record, party, name, number, cents, day from (
         select distinct record from delivery where record < min(?, ?) order by record desc limit ${LOOKED_MAX}) n
       left join search_record on search_record.record = n.record`,
    ),
    day: byColumn("day", "<"),
    amount: byColumn("cents", "<"),
    number: byColumn("number", ">"),
    party: byColumn("name", ">"),
  };
  return {
    /** What is not searched by yet is known by its record alone. */
    chosen: (record: number): ChoiceRow =>
      chosen(record) ?? { record, party: null, name: null, number: null, cents: null, day: null },
    standing: row<[record: number], StandingRow>(
      `select (select name from flow where flow.flow = delivery.flow) as flow, state from delivery
       where delivery = (select max(delivery) from delivery where record = ?)`,
    ),
    /** From a place on, which is not one of them: the order's value and the record. At most {@link LOOKED_MAX}. */
    inOrder: (order: Order, place: readonly [unknown, number]) => inOrder[order].iterate(...place),
  };
}

/** By the beginning of a number: the newest records, whether it fits a handful or nearly all of a million. */
function numbered(database: Database.Database) {
  const { value, values } = asking(database);
  const range = "number >= :from and number < :to";
  const some = value<[object], number>(
    `select count(*) from (select 1 from delivery where ${range} limit ${FEW + 1})`,
  );
  const all = values<[object], number>(
    `select distinct record from (select record from delivery where ${range} order by number desc limit ${NUMBERED})
     where record < :before order by record desc limit :limit`,
  );
  const newest = values<[object], number>(
    `select distinct record from (
       select record, number from delivery where record < :before order by record desc limit ${WINDOW})
     where ${range} order by record desc limit :limit`,
  );
  return (text: string, before: number, limit: number): number[] => {
    const range = { from: text, to: `${text}\u{10FFFF}` };
    const asked = { ...range, before, limit };
    if ((some(range) ?? 0) <= FEW) return all(asked);
    const found = newest(asked);
    return found.length === limit ? found : all(asked);
  };
}

function lives(database: Database.Database) {
  const { rows } = asking(database);
  return {
    /** The deliveries of a record, newest first. */
    versions: rows<[record: number, limit: number], VersionRow>(
      `select delivery.delivery, delivery.request, version, origin, state, received_ms as receivedMs, note, cause
       from delivery left join quarantine on quarantine.delivery = delivery.delivery and state = 'quarantined'
       where record = ? order by delivery.delivery desc limit ?`,
    ),
    /** The requests that carried it, newest first. */
    sent: rows<[record: number, limit: number], SentRow>(
      `select request, operation, key, target, body, body_sha256 as sha256, state, created_ms as createdMs,
         sent_ms as sentMs, body_gone_ms as goneMs
       from request where request in (
         select request from delivery where record = ?1 and request is not null
         union select c.request from delivery d join carried_before c using (delivery) where d.record = ?1)
       order by request desc limit ?2`,
    ),
    /** What came since and where it is now, of the newest 20,000. */
    lately: rows<[sinceMs: number], Lately>(
      `select flow.name as flow, state, received_ms / 3600000 as hour, count(*) as count
       from (select flow, state, received_ms from delivery order by delivery desc limit ${LATELY_MAX}) join flow using (flow)
       where received_ms >= ? group by flow.name, state, hour order by flow.name, state, hour`,
    ),
  };
}

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

interface SampleRow extends Omit<Sample, "sent"> {
  readonly delivery: number;
  readonly record: number;
  readonly request: number | null;
  readonly content: string | null;
  readonly newest: number;
}

/** How many deliveries are looked at for each record that is asked for, at most. */
const DELIVERIES_EACH = 20;
const NAMED_MAX = 10;

/** Records as they are stored, with what was last sent of them: for whoever tries a mapping. */
export function samples(database: Database.Database) {
  const { row } = asking(database);
  const columns = `delivery.delivery, record.record, shown_id(record.id) as id, record.version, record.origin,
    ${wholeIn("record")} as text, record.revision, delivery.state, request, delivery.content,
    delivery.revision = record.revision as newest`;
  const latest = database.prepare<[number], SampleRow>(
    `select ${columns} from delivery join record using (record)
     where delivery.flow = ? order by delivery.delivery desc`,
  );
  const named = database.prepare<
    { flow: number; number: string; id: Buffer | string; text: string },
    SampleRow
  >(
    `select ${columns} from delivery join record using (record)
     where delivery.flow = :flow and record in (
       select record from delivery where number = :number
       union select record from record where flow = :flow and id in (:id, :text))
     order by delivery.delivery desc`,
  );
  const bytes = row<
    [{ request: number; delivery: number }],
    Pick<Sent, "target" | "body" | "place" | "of">
  >(
    `select target, body,
       (select count(*) from delivery d where d.request = :request and d.delivery < :delivery) as place,
       (select count(*) from delivery d where d.request = :request) as "of"
     from request where request = :request and body_gone_ms is null`,
  );

  /** The first rows of each record are its newest. */
  function collected(rows: Iterable<SampleRow>, records: number): Sample[] {
    const found = new Map<number, Sample>();
    let looked = 0;
    for (const row of rows) {
      if (++looked > records * DELIVERIES_EACH) break;
      const known = found.get(row.record);
      if (known === undefined && found.size === records) continue;
      if (known?.sent) continue;
      const { id, version, origin, text, revision, state } = known ?? row;
      found.set(row.record, { id, version, origin, text, revision, state, sent: sentBy(row) });
    }
    return [...found.values()];
  }

  function sentBy({ request, delivery, content, newest }: SampleRow): Sent | null {
    const sent = request === null ? null : bytes({ request, delivery });
    return sent === null ? null : { ...sent, content, newest: newest === 1 };
  }

  return {
    /** The records whose deliveries are the newest of the flow, newest first. */
    latest: (flow: number, records: number): Sample[] => collected(latest.iterate(flow), records),
    /** Those with this number or this id. */
    named: (flow: number, text: string): Sample[] =>
      collected(named.iterate({ flow, number: text, id: storedId(text), text }), NAMED_MAX),
  };
}

/** What was delivered in a request, for whoever compares papers. */
interface SentPaper {
  readonly record: number;
  readonly target: string;
  readonly body: string;
  /** Its record as it is now. */
  readonly text: string;
  /** The platform's id of it; null: it is linked with none. */
  readonly platformId: string | null;
}

/** Records and sent documents of a flow as papers are compared (src/match): page by page, for other work goes on between. */
export function papers(database: Database.Database) {
  const { rows, value } = asking(database);
  return {
    /** Records at their newest version that changed since; those without a version are among them. */
    records: rows<
      [flow: number, after: number, since: string, limit: number],
      { readonly record: number; readonly text: string }
    >(
      `select record, ${wholeIn("record")} as text from record
       where +flow = ? and record > ? and (version is null or version >= ?) order by record limit ?`,
    ),
    /** The versions of a flow's records that newer ones have replaced, the oldest first. */
    earlier: rows<
      [after: number, flow: number, limit: number],
      { readonly version: number; readonly text: string }
    >(
      `select earlier_version as version, ${wholeIn("earlier_version")} as text
       from earlier_version cross join record using (record)
       where earlier_version > ? and record.flow = ? order by earlier_version limit ?`,
    ),
    /** By what each record of a flow was last delivered. */
    sent: rows<[kind: string, flow: number, after: number, limit: number], SentPaper>(
      `select r.record, q.target, q.body, ${wholeIn("record", "r")} as text, l.platform_id as platformId
       from record r
         cross join delivery d on d.delivery = (select max(delivery) from delivery x
           where x.record = r.record and x.state = 'delivered' and x.request is not null)
         cross join request q on q.request = d.request
         left join link l on l.kind = ? and l.erp_id = shown_id(r.id)
       where r.flow = ? and r.record > ? and q.body_gone_ms is null order by r.record limit ?`,
    ),
    /** The record of a flow that became this one of the platform. */
    own: value<[flow: number, kind: string, platformId: string], string>(
      `select ${wholeIn("record", "r")} from link l cross join record r on r.flow = ? and r.id = stored_id(l.erp_id)
       where l.kind = ? and l.platform_id = ? and l.born = 'erp'`,
    ),
    /** All requests of a flow that were carried out, the oldest first. */
    batches: rows<
      [flow: number, after: number, limit: number],
      { readonly request: number; readonly body: string; readonly sentMs: number | null }
    >(
      `select request, body, sent_ms as sentMs from request
       where flow = ? and request > ? and state = 'done' and body_gone_ms is null
       order by request limit ?`,
    ),
  };
}
