/**
 * What sources told: records, their deliveries and the position, one transaction a page, and the files that they came in. A
 * position never passes a change that is not stored (promise 1).
 */
import type Database from "better-sqlite3";
import type { Arrival, Change, Obstacle, Page, Refusal, Whole } from "../core/contract.ts";
import { corrected, type Fault } from "../core/record.ts";
import { canonical } from "../core/json.ts";
import { textByValue, revisionOf, sha256 } from "../core/keys.ts";
import { rhythms } from "./flows.ts";
import { corrections } from "./quarantine.ts";
import { asking, moving, storedId, sumOf, wholeIn } from "./statements.ts";

interface Taken {
  /** Deliveries created. */
  readonly received: number;
  readonly unchanged: number;
  /** Older than what is stored. */
  readonly stale: number;
  /** Those received. */
  readonly news: readonly News[];
}

/** `isSetBack`: it came under an earlier time than what was stored ({@link timesOf}). */
export interface News {
  readonly id: string;
  readonly version: string | null;
  readonly isSetBack: boolean;
}

type See = (record: number) => void;
type Asked = NonNullable<Page["asked"]>;

/** A copy of a source's list may be behind the others by so much: as long as a difference is looked at twice (ADR 0011). */
const BEHIND_MS = 15 * 60_000;
/** Two clocks of one source, of its answers and of its records, may be apart by so much. */
const APART_MS = 60_000;

interface StoredVersion {
  record: number;
  version: string | null;
  revision: string;
  content: string | null;
}

export function intake(database: Database.Database) {
  const { row } = asking(database);
  const receipts = receiptsOf(database);
  const rhythm = rhythms(database);
  const fresh = newcomers(database);
  const times = timesOf(database);
  const current = row<[flow: number, id: Buffer | string], StoredVersion>(
    "select record, version, revision, content from record where flow = ? and id = ?",
  );
  const told = row<[record: number], { fault: string | null; text: string }>(
    `select fault, ${wholeIn("record")} as text from record where record = ?`,
  );
  const addRecord = database.prepare(
    `insert into record (flow, id, version, revision, content, origin, fault, text, sum)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const replaceRecord = database.prepare(
    `update record set version = ?, revision = ?, content = ?, origin = ?, fault = ?, text = ?, sum = ?
     where record = ?`,
  );
  const keepVersion = database.prepare(
    `insert into earlier_version (record, replaced_ms, text, sum)
     select record, :at, text, sum_of(record, :at, text) from record join flow using (flow)
     where record = :record and keeps_versions = 1`,
  );
  const supersede = moving(database, {
    from: ["pending", "quarantined"],
    to: "superseded",
    where: "record = ?",
  });
  const addDelivery = database.prepare(
    `insert into delivery (flow, record, revision, received_ms, version, origin)
     values (?, ?, ?, ?, ?, ?)`,
  );
  const savePosition = database.prepare("update flow set position = ? where flow = ?");
  /** Is it what is stored, perhaps written otherwise? */
  function isSame(record: number, fault: string | null, text: string): boolean {
    const stored = told(record);
    return stored?.fault === fault && byValue(stored.text) === byValue(text);
  }

  function take(
    flow: number,
    change: Change,
    atMs: number,
    { see, asked }: { readonly see: See; readonly asked: Asked | undefined },
  ): "received" | "setBack" | "unchanged" | "stale" {
    const id = storedId(change.id);
    const known = current(flow, id);
    if (known !== null) see(known.record);
    const fault = change.fault === undefined ? null : JSON.stringify(change.fault satisfies Fault);
    // The same text without its fault is another content: now it can be delivered.
    const whole = `${fault ?? ""}${change.text}`;
    const content = change.version === null ? sha256(whole).slice(0, 22) : null;
    if (content !== null && known?.content === content) return "unchanged";
    const revision = revisionOf(change.version, known?.revision ?? null, whole);
    let isBack = false;
    if (known !== null && change.version !== null && known.version !== null) {
      if (change.version === known.version && known.revision === revision) return "unchanged";
      isBack = change.version < known.version;
      if (isBack && !times.isSetBack(known, change, asked)) return "stale";
      if (change.version > known.version && times.isTold(known.record, change.version))
        return "stale";
    }
    // Only now, for it costs: the same value may come written otherwise.
    if (known?.version === change.version && isSame(known.record, fault, change.text))
      return "unchanged";
    const origin = change.origin ?? null;
    const { version, text } = change;
    const sum = sumOf([flow, id, version, revision, content, origin, fault, text]);
    if (known === null) {
      const row = [flow, id, version, revision, content, origin, fault, text, sum] as const;
      const added = addRecord.run(row);
      fresh.record(added.lastInsertRowid, version);
      see(Number(added.lastInsertRowid));
      return "received";
    }
    // What moves now may have come with this page, and deliveries are in the order of arrival.
    fresh.save(flow, atMs);
    keepVersion.run({ record: known.record, at: atMs });
    replaceRecord.run(version, revision, content, origin, fault, text, sum, known.record);
    supersede(known.record);
    addDelivery.run(flow, known.record, revision, atMs, version, origin);
    fresh.delivery();
    return isBack ? "setBack" : "received";
  }

  function takeAll(
    flow: number,
    { changes, asked }: Pick<Page, "changes" | "asked">,
    atMs: number,
    see: See = () => {},
  ): Taken {
    fresh.forget();
    const counts = { received: 0, unchanged: 0, stale: 0 };
    const news: News[] = [];
    for (const change of changes) {
      const as = take(flow, change, atMs, { see, asked });
      const isSetBack = as === "setBack";
      counts[isSetBack ? "received" : as]++;
      const { id, version } = change;
      if (isSetBack || as === "received") news.push({ id, version, isSetBack });
    }
    fresh.save(flow, atMs);
    return { ...counts, news };
  }

  return {
    /** Changes that were read beside the position, which stays. Call it inside a transaction. */
    beside: takeAll,

    /** Stores a page. `see`: takes the record of each change. Call it inside a transaction. */
    page(flow: number, page: Page, atMs: number, see?: See): Taken {
      const taken = takeAll(flow, page, atMs, see);
      savePosition.run(JSON.stringify(page.position), flow);
      if (page.arrival) receipts.add(flow, page.arrival, atMs);
      if (page.cameAt !== undefined) rhythm.came(flow, Date.parse(page.cameAt), atMs);
      return taken;
    },

    stored: (flow: number, id: string, version: string): boolean =>
      current(flow, storedId(id))?.version === version,
    known: (flow: number, receipt: string) => receipts.known(flow, receipt),
  };
}

/**
 * An older version than the stored one is no news: pages are asked for while others are stored, and a source may answer
 * from a copy that lags. But a source whose clock was ahead and was put right writes its newest versions under earlier
 * times. So an older one is taken where no old answer can say it: it was never told before, and its list was begun when the
 * stored one had been here for {@link BEHIND_MS}, or the source's own clock says that the stored one is of the future, or a
 * source that keeps what it was told names the stored one. The time that was taken back is old from then on.
 */
function timesOf(database: Database.Database) {
  const { is, value } = asking(database);
  const isTold = is<[record: number, version: string]>(
    "select 1 from delivery where record = ? and version = ? limit 1",
  );
  const storedSince = value<[record: number], number>(
    "select max(received_ms) from delivery where record = ?",
  );

  return {
    /** Was this version of it here before? */
    isTold,
    /** Does the source say it now, for all its earlier time? */
    isSetBack(
      { record, version: stored }: StoredVersion,
      { version, takesBack }: Change,
      asked: Asked | undefined,
    ): boolean {
      if (version === null || isTold(record, version)) return false;
      if (takesBack?.includes(stored ?? "") === true) return true;
      if (asked === undefined) return false;
      const since = storedSince(record) ?? Infinity;
      const { atMs, answeredAt } = asked;
      const aheadMs = Date.parse(stored ?? "") - Date.parse(answeredAt ?? "");
      return atMs > since + (aheadMs > APART_MS ? 0 : BEHIND_MS);
    },
  };
}

const byValue = (text: string): string => canonical(text, textByValue);

/** Which files came before: the same bytes are the same receipt whatever the name. */
function receiptsOf(database: Database.Database) {
  const { row, run } = asking(database);
  const add = run<[flow: number, id: string, name: string, atMs: number]>(
    `insert into receipt (flow, id, name, received_ms, turn)
     values (?1, ?2, ?3, ?4, (select coalesce(max(turn), 0) + 1 from receipt where flow = ?1))
     on conflict do update set name = excluded.name, received_ms = excluded.received_ms, turn = excluded.turn`,
  );
  const find = row<
    [flow: number, id: string],
    { name: string; received_ms: number; since: number }
  >(
    `select name, received_ms, (select max(turn) from receipt r where r.flow = receipt.flow) - turn as since
     from receipt where flow = ? and id = ?`,
  );

  return {
    /** Its bytes last, for the latest receipt is known by them. */
    add(flow: number, { id, name, numbers = [] }: Arrival, at: number): void {
      for (const known of [...numbers, id]) add(flow, known, name, at);
    },
    known(flow: number, id: string): { name: string; at: string; since: number } | null {
      const row = find(flow, id);
      if (row === null) return null;
      const { name, received_ms: atMs, since } = row;
      return { name, at: new Date(atMs).toISOString(), since };
    },
  };
}

/**
 * What a page brings that was not there before: records in a row get their deliveries by one statement, in their order,
 * and both are counted in the page's transaction for the tables of counts that people's pages read (ADR 0001). Triggers
 * count the moves and changes that come later (schema.ts).
 */
function newcomers(database: Database.Database) {
  const deliver = database.prepare(
    `insert into delivery (flow, record, revision, received_ms, version, origin)
     select flow, record, revision, ?, version, origin from record where record between ? and ? order by record`,
  );
  const addDeliveries = database.prepare(
    `insert into delivery_count (flow, state, count) values (?, 'pending', ?)
     on conflict do update set count = count + excluded.count`,
  );
  const addRecords = database.prepare(
    `insert into record_count (flow, day, count) values (?, substr(?, 1, 10), ?)
     on conflict do update set count = count + excluded.count`,
  );
  let first: number | bigint | null = null;
  let last: number | bigint = 0;
  let deliveries = 0;
  const days = new Map<string, number>();

  function forget(): void {
    first = null;
    deliveries = 0;
    days.clear();
  }

  return {
    /** Before a page: the transaction of the one before may have failed. */
    forget,
    /** A record that was not there before, as its insert numbered it. Its delivery is made by {@link save}. */
    record(record: number | bigint, version: string | null): void {
      first ??= record;
      last = record;
      deliveries++;
      const day = dayOf(version);
      days.set(day, (days.get(day) ?? 0) + 1);
    },
    /** A pending delivery of a record that was there before. */
    delivery(): void {
      deliveries++;
    },
    /** After a page, and before something of it moves or another record of it gets a delivery. All of it is of this flow. */
    save(flow: number, atMs: number): void {
      if (first !== null) deliver.run(atMs, first, last);
      if (deliveries > 0) addDeliveries.run(flow, deliveries);
      for (const [day, count] of days) addRecords.run(flow, day, count);
      forget();
    },
  };
}

/** What SQL takes the day from: ten characters, unless one takes two code units. */
function dayOf(version: string | null): string {
  const day = version?.slice(0, 10) ?? "";
  return /[\ud800-\udfff]/.test(day) ? (version ?? "") : day;
}

/** What was noted of the newest version of a record that ended so; as SQL. */
const noteOf = (state: string): string =>
  `(select coalesce(note, '') from delivery indexed by delivery_of_record
    where record = r.record and state = '${state}' and revision = r.revision order by delivery desc limit 1)`;

/** Records whose deliveries are not decided, or were decided without a delivery. Read only. */
export function openRecords(database: Database.Database) {
  const { row, rows } = asking(database);
  const fields = corrections(database);
  const waiting = rows<[flow: number], { record: number; text: string }>(
    `select record, ${wholeIn("record")} as text from delivery join record using (record)
     where delivery.flow = ? and delivery.state in ('pending', 'quarantined')`,
  );
  const received = row<[flow: number, id: string], { text: string }>(
    `select ${wholeIn("record")} as text from record where flow = ? and id = stored_id(?)`,
  );
  const newest = row<
    [flow: number, id: string],
    { open: 0 | 1; skipped: string | null; closed: string | null }
  >(
    `select exists (select 1 from delivery
                    where record = r.record and state in ('pending', 'quarantined')) as open,
            ${noteOf("skipped")} as skipped, ${noteOf("resolved")} as closed
     from record r where r.flow = ? and r.id = stored_id(?)`,
  );

  return {
    /** Of a flow, as text with the corrections of people: those whose deliveries wait to be mapped, or for a person. */
    *waiting(flow: number): Iterable<string> {
      for (const { record, text } of waiting(flow)) yield corrected(text, fields.standing(record));
    },

    /** The newest version of a record of a flow, as it came. Null: the flow has no such record. */
    text: (flow: number, id: string): string | null => received(flow, id)?.text ?? null,

    /**
     * A record of a flow: why its newest version was skipped, and what a person said who closed it, where that was so.
     * Null: the flow has no such record.
     */
    newest(flow: number, id: string): { skipped: string | null; closed: string | null } | null {
      const row = newest(flow, id);
      if (row === null) return null;
      const { open, skipped, closed } = row;
      return open === 1 ? { skipped: null, closed: null } : { skipped, closed };
    },
  };
}

interface StoredObstacle extends Obstacle {
  /** It was refused: a person settles it. Else it is gone when the source can read it. */
  readonly lasts: boolean;
  /** Since when it is so, ms. */
  readonly sinceMs: number;
}

interface BlockedRow {
  readonly name: string;
  readonly code: string;
  readonly since_ms: number;
  readonly file: string;
  readonly lasts: 0 | 1;
}

/**
 * What sources have not read, per flow: what lies there and cannot be read now (a file that is too large, or that a right
 * is missing for), as of the last reading; and what came and was refused, which stands until a person settles it or it
 * comes whole.
 */
export function obstacles(database: Database.Database) {
  const { is, rows, run } = asking(database);
  const all = rows<[flow: number], BlockedRow>(
    "select name, code, since_ms, file, id is not null as lasts from blocked_file where flow = ? order by rowid",
  );
  const clear = run<[flow: number]>("delete from blocked_file where flow = ? and id is null");
  const add = run<[flow: number, name: string, code: string, sinceMs: number, file: string]>(
    "insert into blocked_file (flow, name, code, since_ms, file) values (?, ?, ?, ?, ?) on conflict do nothing",
  );
  const isRefused = is<[flow: number, name: string, id: string, file: string]>(
    "select 1 from blocked_file where flow = ? and name = ? and id = ? and file = ?",
  );
  const drop = run<[flow: number, name: string, but: string | null]>(
    "delete from blocked_file where flow = ? and name = ? and id is not null and id is not ?",
  );
  const keep = run<
    [flow: number, name: string, code: string, sinceMs: number, file: string, id: string]
  >(
    "insert or replace into blocked_file (flow, name, code, since_ms, file, id) values (?, ?, ?, ?, ?, ?)",
  );
  const momentary = (flow: number): BlockedRow[] => all(flow).filter(({ lasts }) => lasts === 0);

  return {
    /** In the order in which the source told them: the oldest file first. */
    of: (flow: number): StoredObstacle[] =>
      all(flow).map(({ file, since_ms, lasts }) => ({
        ...(JSON.parse(file) as Obstacle),
        sinceMs: since_ms,
        lasts: lasts === 1,
      })),

    /** Came and was not taken. True when that is new. Call it inside a transaction. */
    refuse(flow: number, { what, id, fault }: Refusal, atMs: number): boolean {
      const behind = { count: 0, names: [] };
      const text = JSON.stringify({ what, fault, awaited: false, behind } satisfies Obstacle);
      if (isRefused(flow, what, id, text)) return false;
      drop(flow, what, null);
      keep(flow, what, fault.code, atMs, text, id);
      return true;
    },

    /** Came whole: what was refused under its names is settled. Call it inside a transaction. */
    whole(flow: number, { names, id, again }: Whole): void {
      for (const what of names) drop(flow, what, again === true ? id : null);
    },

    /** A person has seen to what was refused. False: nothing of that name is. Call it inside a transaction. */
    settle: (flow: number, what: string): boolean => drop(flow, what, null) > 0,

    /** It is no longer so, whatever it was called. Since when it was, ms; null: it was not. Call it inside a transaction. */
    mend(flow: number, code: string): number | null {
      const row = all(flow).find((one) => one.code === code && one.lasts === 1);
      if (row === undefined) return null;
      drop(flow, row.name, null);
      return row.since_ms;
    },

    /** Is this what lies there unread, as it is stored? */
    are(flow: number, told: readonly Obstacle[]): boolean {
      const stored = momentary(flow).map(({ file }) => file);
      return JSON.stringify(stored) === JSON.stringify(told.map((one) => JSON.stringify(one)));
    },

    /** All that lies there now, and returns what is new of it. What was refused stays. Call it inside a transaction. */
    replace(flow: number, told: readonly Obstacle[], atMs: number): Obstacle[] {
      const before = new Map(momentary(flow).map((row) => [keyOf(row.name, row.code), row]));
      clear(flow);
      return told.filter((obstacle) => {
        const { what, fault } = obstacle;
        const known = before.get(keyOf(what, fault.code));
        add(flow, what, fault.code, known?.since_ms ?? atMs, JSON.stringify(obstacle));
        return known === undefined;
      });
    },
  };
}

const keyOf = (name: string, code: string): string => `${code} ${name}`;
