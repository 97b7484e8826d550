/**
 * What is kept per flow besides its documents: the checkpoint, when it ran and runs, when things arrived in it, past periods
 * that are read anew, walks for what was committed late; and what endpoints and cross-reference tables keep.
 */
import type Database from "better-sqlite3";
import type { Json } from "../core/json.ts";
import type { Notebook } from "../core/contract.ts";
import type { Kind } from "../core/kinds.ts";
import type { Sighting } from "../core/shape.ts";
import { nothingSeen, type Rates } from "../core/pace.ts";
import { hoursAround, lastedByHour, limitOf, type Silence } from "../core/silence.ts";
import { asking } from "./statements.ts";

export interface FlowRow {
  readonly flow: number;
  readonly name: string;
  readonly kind: string | null;
  readonly position: string | null;
  readonly next_due_ms: number | null;
  readonly last_run_ms: number | null;
  /** Why the last run did not read its source: a stop's name, `budget`, ...; null: it did. */
  readonly last_error_code: string | null;
  readonly last_error: string | null;
  readonly last_error_next: string | null;
  /** When its source was last read; null: never. */
  readonly success_ms: number | null;
  /** Since when its source cannot be read; null: it can. */
  readonly failing_ms: number | null;
  /** How many pages its last complete reading came to; null: there was none. */
  readonly pages: number | null;
  /** Since when a person has paused it, ms UTC; null: nobody has. */
  readonly held_ms: number | null;
  /** What came until then may be at the receiver though no link says so, ms UTC; null: all of it. */
  readonly doubtful_ms: number | null;
  /** How often something came, JSON of {@link Rates}; null: nobody looked yet. */
  readonly rates: string | null;
}

/** One run of a flow at its source. */
interface RunRow {
  /** The flow's name. */
  readonly flow: string;
  readonly endedMs: number;
  readonly tookMs: number;
  /** Changes that were new. */
  readonly received: number;
  /** Why it did not read its source to the end; null: it did. */
  readonly error: string | null;
}

interface Ended {
  readonly atMs: number;
  readonly dueMs: number;
  readonly pages: number | null;
  readonly received: number;
  readonly tookMs: number;
}

const NOTHING_SEEN = JSON.stringify(nothingSeen);
const short = (value: number): number => Math.round(value * 1_000) / 1_000;

/** Of each flow; older ones go. */
const RUNS_KEPT = 20;

export function flows(database: Database.Database) {
  const { row, rows, run, value, values } = asking(database);
  const add = run<[name: string, kind: string | null, keepsVersions: 0 | 1]>(
    `insert into flow (name, kind, keeps_versions) values (?, ?, ?)
     on conflict do update set kind = excluded.kind, keeps_versions = excluded.keeps_versions`,
  );
  const find = row<[name: string], FlowRow>("select * from flow where name = ?");
  const ran = run<[object]>(
    `update flow set last_run_ms = :at, next_due_ms = :due, last_error_code = :code, last_error = :error,
       last_error_next = :next,
       success_ms = iif(:error is null, :at, success_ms),
       failing_ms = iif(:error is null, null, coalesce(failing_ms, :at)),
       pages = coalesce(:pages, pages),
       doubtful_ms = iif(:error is null, coalesce(doubtful_ms, :at), doubtful_ms)
     where flow = :flow`,
  );
  const addRun = run<
    [flow: number, endedMs: number, tookMs: number, received: number, error: string | null]
  >("insert into flow_run (flow, ended_ms, took_ms, received, error) values (?, ?, ?, ?, ?)");
  const dropRuns = run<[flow: number]>(
    `delete from flow_run where flow = ?1 and run <=
       (select run from flow_run where flow = ?1 order by run desc limit 1 offset ${RUNS_KEPT})`,
  );
  const hold = run<[sinceMs: number | null, flow: number]>(
    "update flow set held_ms = ? where flow = ?",
  );
  const held = values<[], number>("select flow from flow where held_ms is not null");
  const keepRates = run<[rates: string, flow: number]>("update flow set rates = ? where flow = ?");
  /** It is asked for each flow at each turn of the daemon. */
  let standing: ReadonlySet<number> | null = null;

  return {
    /** The flow's row, made when it is new. `kind`: of its documents. `keepsVersions`: what newer versions replace is kept. */
    open(name: string, kind: Kind | null = null, keepsVersions = false): FlowRow {
      add(name, kind, keepsVersions ? 1 : 0);
      return find(name) as FlowRow;
    },
    find,
    all: rows<[], Pick<FlowRow, "flow" | "name" | "kind">>("select flow, name, kind from flow"),
    position: (name: string): Json | null =>
      JSON.parse(find(name)?.position ?? "null") as Json | null,
    /** `pages`: what a complete reading came to; null: it was none. Call it inside a transaction. */
    ran(
      flow: number,
      { atMs, dueMs, pages, received, tookMs }: Ended,
      why: { code: string; message: string; next: string } | null,
    ): void {
      const { code = null, message: error = null, next = null } = why ?? {};
      addRun(flow, atMs, tookMs, received, error);
      dropRuns(flow);
      ran({ flow, at: atMs, due: dueMs, code, error, next, pages });
    },
    /** The newest runs of every flow, the newest first. */
    runs: rows<[], RunRow>(
      `select name as flow, ended_ms as endedMs, took_ms as tookMs, received, error
       from flow_run join flow using (flow) order by run desc`,
    ),
    /** `sinceMs`: null lets it go on. Call it inside a transaction. */
    hold(flow: number, sinceMs: number | null): void {
      standing = null;
      hold(sinceMs, flow);
    },
    /** Has a person paused it? */
    isHeld(flow: number): boolean {
      if (database.inTransaction) return held().includes(flow);
      standing ??= new Set(held());
      return standing.has(flow);
    },
    /** Nobody knows what of it was delivered: a store that was restored is released. Inside a transaction. */
    doubt: run<[atMs: number]>("update flow set doubtful_ms = ? where doubtful_ms is not null"),
    /** What came until then may be older than the flow, ms UTC; null: all of it. */
    doubtfulMs: value<[flow: number], number>("select doubtful_ms from flow where flow = ?"),
    setDue: run<[flow: number, dueMs: number]>("update flow set next_due_ms = ?2 where flow = ?1"),
    /** How often something came, by the hour of the week. */
    rates: {
      of: (name: string): Rates => JSON.parse(find(name)?.rates ?? NOTHING_SEEN) as Rates,
      /** Call it inside a transaction. */
      keep: (flow: number, { changes, hours }: Rates): void =>
        void keepRates(
          JSON.stringify({ changes: changes.map(short), hours: hours.map(short) }),
          flow,
        ),
    },
  };
}

interface RhythmRow {
  readonly arrivals: number;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly longest_ms: number;
  /** What the silence that was told is measured by; null: none is told. */
  readonly told_limit_ms: number | null;
  readonly told_is_set: 0 | 1 | null;
}

/** When things arrived in a flow, and how long it was silent at most: counted here, for the same bytes may come again. */
export function rhythms(database: Database.Database) {
  const { row, run, value } = asking(database);
  const find = row<[flow: number], RhythmRow>("select * from rhythm where flow = ?");
  const begin = run<[flow: number, arrivals: number, firstMs: number, lastMs: number]>(
    "insert into rhythm (flow, arrivals, first_ms, last_ms, longest_ms) values (?, ?, ?, ?, 0)",
  );
  const arrived = run<[longestMs: number, lastMs: number, flow: number]>(
    `update rhythm set arrivals = arrivals + 1, longest_ms = ?, last_ms = ?, told_limit_ms = null, told_is_set = null
     where flow = ?`,
  );
  const lasted = run<[flow: number, hour: number, longestMs: number]>(
    `insert into silent_hour (flow, hour, longest_ms) values (?, ?, ?)
     on conflict do update set longest_ms = max(longest_ms, excluded.longest_ms)`,
  );
  const longestAt = value<number[], number>(
    "select max(longest_ms) from silent_hour where flow = ? and hour in (?, ?, ?)",
  );
  const tell = run<[limitMs: number | null, isSet: number | null, flow: number]>(
    "update rhythm set told_limit_ms = ?, told_is_set = ? where flow = ?",
  );

  function silence(flow: number): Silence | null {
    const row = find(flow);
    if (row === null || row.told_limit_ms === null) return null;
    const { arrivals, last_ms: sinceMs, longest_ms: longestMs, told_limit_ms: limitMs } = row;
    return { arrivals, sinceMs, longestMs, limitMs, isSet: row.told_is_set === 1 };
  }

  return {
    /**
     * Something came at `cameMs` by the clock of the place it came to. That clock counts where it can be right: after what
     * came before, and not after now. Call it inside a transaction.
     */
    came(flow: number, cameMs: number, nowMs: number): void {
      const row = find(flow);
      const isLikely = cameMs <= nowMs && cameMs >= (row?.last_ms ?? 0);
      const at = isLikely ? cameMs : nowMs;
      if (row === null) {
        begin(flow, 1, at, at);
        return;
      }
      // Before the first arrival there is no time between two.
      const gap = row.arrivals === 0 ? 0 : at - row.last_ms;
      arrived(Math.max(row.longest_ms, gap), Math.max(at, row.last_ms), flow);
      if (row.arrivals === 0 || gap < 0) return;
      for (const [hour, ms] of lastedByHour(row.last_ms, at)) lasted(flow, hour, ms);
    },

    /**
     * A whole reading found that nothing lies there. `setMs`: the limit that is set, null: it is learned. Returns the
     * silence when it is to be told and was not yet. Call it inside a transaction.
     */
    empty(flow: number, nowMs: number, setMs: number | null): Silence | null {
      const row = find(flow);
      if (row === null) {
        begin(flow, 0, nowMs, nowMs);
        return null;
      }
      const { arrivals, first_ms: firstMs, last_ms: lastMs, longest_ms: longestMs } = row;
      // What was learned and told stays told until something comes: the next hour may be one that is usually quiet.
      if (setMs === null && row.told_is_set === 0) return null;
      const atThisHourMs = longestAt(flow, ...hoursAround(nowMs));
      const limit = limitOf({ arrivals, firstMs, lastMs, longestMs, atThisHourMs }, setMs);
      const isSilent = limit !== null && nowMs - lastMs > limit;
      if (isSilent === (row.told_limit_ms !== null)) return null;
      tell(isSilent ? limit : null, isSilent ? Number(setMs !== null) : null, flow);
      return isSilent ? silence(flow) : null;
    },

    /** The silence that is told; null: there is none. */
    silence,
  };
}

export interface BackfillRow {
  readonly backfill: number;
  readonly flow: string;
  /** Days of the company (`2026-10-01`), both included. */
  readonly fromDay: string;
  readonly toDay: string;
  /** `reading` also when the process that read was killed. */
  readonly state: "reading" | "paused" | "done";
  /** Percent of the month's requests that backfills may use, this one included. */
  readonly share: number;
  readonly askedBy: string;
  readonly beganMs: number;
  readonly changedMs: number;
  /** Records that its source said it has to go through; null: it did not say. */
  readonly expected: number | null;
  /** Records that it has gone through. */
  readonly gone: number;
  /** Those of the period. */
  readonly records: number;
  /** Those of which a delivery was made. */
  readonly received: number;
  readonly requests: number;
  /** Why it is paused; null: it is not. */
  readonly code: string | null;
  readonly message: string | null;
  readonly next: string | null;
}

interface NewBackfill {
  readonly flow: number;
  readonly fromDay: string;
  readonly toDay: string;
  readonly position: Json;
  readonly share: number;
  readonly askedBy: string;
  readonly expected: number | null;
}

/** Past periods that are read anew, each with a position of its own. */
export function backfills(database: Database.Database) {
  const { insert, row, rows, run, value } = asking(database);
  const columns = `backfill, flow.name as flow, from_day as fromDay, to_day as toDay, state, share,
    asked_by as askedBy, began_ms as beganMs, changed_ms as changedMs, expected, gone, records, received,
    requests, code, message, next from backfill join flow using (flow)`;
  const add = insert<[object]>(
    `insert into backfill (flow, from_day, to_day, state, position, share, asked_by, began_ms, changed_ms, expected)
     values (:flow, :fromDay, :toDay, 'reading', :position, :share, :askedBy, :at, :at, :expected)`,
  );
  const advance = run<[object]>(
    `update backfill set position = :position, gone = gone + :gone, records = records + :records,
       received = received + :received, changed_ms = :at where backfill = :backfill`,
  );
  const end = run<[object]>(
    `update backfill set state = :state, code = :code, message = :message, next = :next, changed_ms = :at
     where backfill = :backfill`,
  );
  const get = row<[backfill: number], BackfillRow>(`select ${columns} where backfill = ?`);
  const position = value<[backfill: number], string>(
    "select position from backfill where backfill = ?",
  );

  return {
    /** The newest first. */
    list: rows<[limit: number], BackfillRow>(`select ${columns} order by backfill desc limit ?`),
    /** The oldest first. */
    unfinished: rows<[], BackfillRow>(`select ${columns} where state <> 'done' order by backfill`),
    get: (backfill: number): BackfillRow => get(backfill) as BackfillRow,
    /** The unfinished one of this flow and period; null: there is none. */
    find: row<[flow: string, fromDay: string, toDay: string], BackfillRow>(
      `select ${columns} where state <> 'done' and flow.name = ? and from_day = ? and to_day = ?`,
    ),
    position: (backfill: number): Json => JSON.parse(position(backfill) ?? "null") as Json,
    /** Inside a transaction, as all that follow. */
    add(row: NewBackfill, at: number): number {
      return add({ ...row, position: JSON.stringify(row.position), at });
    },
    goOn: run<[backfill: number, share: number, atMs: number]>(
      `update backfill set state = 'reading', share = ?2, changed_ms = ?3, code = null, message = null, next = null
       where backfill = ?1`,
    ),
    /** One more page is stored. */
    advance(
      backfill: number,
      page: Pick<BackfillRow, "gone" | "records" | "received"> & { readonly position: Json },
      at: number,
    ): void {
      advance({ ...page, backfill, position: JSON.stringify(page.position), at });
    },
    spend: run<[backfill: number, requests: number]>(
      "update backfill set requests = requests + ?2 where backfill = ?1",
    ),
    /** `why` it is paused; null: it is done. */
    end(
      backfill: number,
      why: { readonly code: string; readonly message: string; readonly next: string } | null,
      at: number,
    ): void {
      const { code = null, message = null, next = null } = why ?? {};
      end({ backfill, state: why === null ? "done" : "paused", code, message, next, at });
    },
  };
}

/** How far a flow's feed was last read anew for records that were committed late. */
interface DeepWalkRow {
  /** The flow's watermark when the last walk that succeeded began; null: none has. */
  readonly watermark: string | null;
  readonly walkedMs: number | null;
  /** When a whole quarter was last walked; null: never. */
  readonly quarterMs: number | null;
  /** When the last try failed, and why; null: it succeeded. */
  readonly failedMs: number | null;
  readonly message: string | null;
  readonly next: string | null;
}

export function deepWalks(database: Database.Database) {
  const { row, run } = asking(database);
  return {
    /** Null: it was never tried. */
    deepWalk: row<[flow: number], DeepWalkRow>(
      `select watermark, walked_ms as walkedMs, quarter_ms as quarterMs, failed_ms as failedMs, message, next
       from deep_walk where flow = ?`,
    ),
    /** All that lies between its reach and `watermark` is known. `isQuarter`: it reached a quarter back. Call it inside a transaction. */
    walkedDeeply: run<[flow: number, watermark: string, isQuarter: 0 | 1, atMs: number]>(
      `insert into deep_walk (flow, watermark, walked_ms, quarter_ms) values (?1, ?2, ?4, iif(?3, ?4, null))
       on conflict (flow) do update set watermark = excluded.watermark, walked_ms = excluded.walked_ms,
         quarter_ms = coalesce(excluded.quarter_ms, quarter_ms), failed_ms = null, message = null, next = null`,
    ),
    deepWalkFailed: run<[flow: number, message: string, next: string, atMs: number]>(
      `insert into deep_walk (flow, message, next, failed_ms) values (?, ?, ?, ?)
       on conflict (flow) do update set failed_ms = excluded.failed_ms, message = excluded.message, next = excluded.next`,
    ),
  };
}

/** What endpoints keep between two starts (`Surroundings.notebook`): the sessions of one that calls us, and what it told. */
export function notebooks(database: Database.Database) {
  const { rows, run, value } = asking(database);
  const all = rows<[endpoint: string], { readonly name: string; readonly text: string }>(
    "select name, text from notebook where endpoint = ?",
  );
  const put = run<[endpoint: string, name: string, text: string]>(
    "insert or replace into notebook (endpoint, name, text) values (?, ?, ?)",
  );
  const drop = run<[endpoint: string, name: string]>(
    "delete from notebook where endpoint = ? and name = ?",
  );
  return {
    get: value<[endpoint: string, name: string], string>(
      "select text from notebook where endpoint = ? and name = ?",
    ),
    /** By name. */
    of: (endpoint: string): Readonly<Record<string, string>> =>
      Object.fromEntries(all(endpoint).map(({ name, text }) => [name, text])),
    /** Call it inside a transaction. */
    set(endpoint: string, name: string, text: string | null): void {
      if (text === null) drop(endpoint, name);
      else put(endpoint, name, text);
    },
  };
}

/** What the endpoint of this name keeps in a store. */
export const notebookIn = (
  store: {
    readonly notebooks: ReturnType<typeof notebooks>;
    readonly transaction: (work: () => void) => void;
  },
  endpoint: string,
): Notebook => ({
  get: (name) => store.notebooks.get(endpoint, name),
  set: (name, text) => store.transaction(() => store.notebooks.set(endpoint, name, text)),
});

interface Counted extends Sighting {
  readonly count: number;
  /** The id of the first of them. */
  readonly record: string;
}

interface DriftRow extends Counted {
  /** The flow's name. */
  readonly flow: string;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** A field that takes any text may have a value of its own in each record: so many are told apart. */
const DRIFTS_MAX = 500;

/** What records had that their contract does not know. */
export function drifts(database: Database.Database) {
  const { run, rows } = asking(database);
  return {
    /** Inside the transaction of the page that it came with. */
    add: run<[Counted & { flow: number; atMs: number }]>(
      `insert into drift (flow, what, field, value, count, record, first_ms, last_ms)
       select :flow, :what, :field, :value, :count, :record, :atMs, :atMs
       where (select count(*) from drift) < ${DRIFTS_MAX} or exists (
         select 1 from drift where flow = :flow and what = :what and field = :field and value = :value)
       on conflict do update set count = count + excluded.count, last_ms = excluded.last_ms`,
    ),
    /** The newest first. */
    all: rows<[], DriftRow>(
      `select flow.name as flow, what, field, value, count, record, first_ms as firstMs, last_ms as lastMs
       from drift join flow using (flow) order by first_ms desc, flow.name, field, value`,
    ),
  };
}

/** A use of a row is written again after so long: the day is what people ask for. */
const AGAIN_MS = 24 * 3_600_000;

/** Which rows of cross-reference tables documents have asked for, so that people see those that none does. */
export function rowUses(database: Database.Database) {
  const { run, value, values } = asking(database);
  const keys = values<[table: string], string>("select key from row_use where lookup_table = ?");
  return {
    /** A mapping asked for the row, and got it. Inside a transaction. */
    used: run<[table: string, key: string, atMs: number]>(
      `insert into row_use (lookup_table, key, first_ms, last_ms) values (?1, ?2, ?3, ?3)
       on conflict do update set last_ms = excluded.last_ms where last_ms < ?3 - ${AGAIN_MS}`,
    ),
    /** Since when uses are counted, at the latest; null: none was. */
    sinceMs: value<[], number>("select min(first_ms) from row_use"),
    keys: (table: string): ReadonlySet<string> => new Set(keys(table)),
  };
}
