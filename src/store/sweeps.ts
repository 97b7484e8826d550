/** Reconciliations: each run, the differences that are known, and when both sides of a flow last agreed. */
import type Database from "better-sqlite3";
import { storedId } from "./ids.ts";

export interface SweepRow {
  readonly sweep: number;
  /** What it was about: `2026-10-01..2026-10-31`, with a flow's name where it was one flow's. */
  readonly scope: string;
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

/** How far a flow's feed was last read anew for records that were committed late. */
export interface DeepWalkRow {
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

/** `seen` in one run, `open` once a second run has confirmed it. */
type DifferenceState = "seen" | "open" | "cleared";

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
  /** The case as the run found it, JSON; null: an older version found it. */
  readonly row: string | null;
}

export interface DifferenceRow extends Found {
  readonly difference: number;
  readonly state: DifferenceState;
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface AgreementRow {
  readonly flow: string;
  readonly atMs: number;
  readonly documents: number;
  /** Null: what the flow carries has no amounts. */
  readonly amount: string | null;
}

/** What the store knows of a record's newest delivery. */
export interface NewestRow {
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

const DIFFERENCE = `difference, kind, case_key as key, bucket, digest, number, code, cause, next, case_row as row, state,
  first_ms as firstMs, last_ms as lastMs`;
const SWEEP = `run as sweep, scope, state, asked_by as askedBy, started_ms as startedMs, ended_ms as endedMs, requests,
  counts, agrees, detail, unasked`;

export const sweeps = (database: Database.Database) => ({
  ...runs(database),
  ...differences(database),
  ...agreements(database),
  ...newestOf(database),
  ...deepWalks(database),
});

function deepWalks(database: Database.Database) {
  const find = database.prepare<[number], DeepWalkRow>(
    `select watermark, walked_ms as walkedMs, quarter_ms as quarterMs, failed_ms as failedMs, message, next
     from deep_walk where flow = ?`,
  );
  const walked = database.prepare(
    `insert into deep_walk (flow, watermark, walked_ms, quarter_ms) values (:flow, :watermark, :at, :quarter)
     on conflict (flow) do update set watermark = excluded.watermark, walked_ms = excluded.walked_ms,
       quarter_ms = coalesce(excluded.quarter_ms, quarter_ms), failed_ms = null, message = null, next = null`,
  );
  const failed = database.prepare(
    `insert into deep_walk (flow, failed_ms, message, next) values (:flow, :at, :message, :next)
     on conflict (flow) do update set failed_ms = excluded.failed_ms, message = excluded.message, next = excluded.next`,
  );
  return {
    /** Null: it was never tried. */
    deepWalk: (flow: number): DeepWalkRow | null => find.get(flow) ?? null,
    /** All that lies between its reach and `watermark` is known. `isQuarter`: it reached a quarter back. Call it inside a transaction. */
    walkedDeeply(flow: number, watermark: string, isQuarter: boolean, atMs: number): void {
      walked.run({ flow, watermark, at: atMs, quarter: isQuarter ? atMs : null });
    },
    deepWalkFailed(flow: number, why: { message: string; next: string }, atMs: number): void {
      failed.run({ flow, at: atMs, ...why });
    },
  };
}

function runs(database: Database.Database) {
  const begin = database.prepare(
    "insert into reconciliation_run (scope, state, asked_by, started_ms) values (?, 'reading', ?, ?)",
  );
  const end = database.prepare(
    `update reconciliation_run set state = :state, ended_ms = :at, requests = :requests, counts = :counts, agrees = :agrees,
       detail = :detail, unasked = :unasked where run = :sweep and state = 'reading'`,
  );
  const abandon = database.prepare(
    `update reconciliation_run set state = 'failed', ended_ms = ?, detail = '${ENDED}' where state = 'reading'`,
  );
  const last = database.prepare<[string], SweepRow>(
    `select ${SWEEP} from reconciliation_run where scope = ? and state = 'done' order by run desc limit 1`,
  );
  const lastBy = database.prepare<[string], SweepRow>(
    `select ${SWEEP} from reconciliation_run where asked_by = ? order by run desc limit 1`,
  );
  const ended = database.prepare<[], SweepRow>(
    `select ${SWEEP} from reconciliation_run where state <> 'reading' order by run desc limit 1`,
  );
  const done = database.prepare<[], SweepRow>(
    `select ${SWEEP} from reconciliation_run where state = 'done' order by run desc limit 1`,
  );

  return {
    /** A run begins. One that was under way when a process ended has failed: the next begins anew. */
    begin(scope: string, askedBy: string, atMs: number): number {
      abandon.run(atMs);
      return Number(begin.run(scope, askedBy, atMs).lastInsertRowid);
    },
    end(
      sweep: number,
      row: Pick<SweepRow, "requests" | "counts" | "agrees" | "detail" | "unasked"> & {
        readonly state: "done" | "failed";
      },
      atMs: number,
    ): void {
      end.run({ sweep, at: atMs, ...row });
    },
    /** The last run of this scope that ended well. */
    last: (scope: string): SweepRow | null => last.get(scope) ?? null,
    /** The last run that this one asked for, however it ended. */
    lastBy: (askedBy: string): SweepRow | null => lastBy.get(askedBy) ?? null,

    lastEnded: (): SweepRow | null => ended.get() ?? null,
    lastDone: (): SweepRow | null => done.get() ?? null,
  };
}

function differences(database: Database.Database) {
  const find = database.prepare<[string, string], DifferenceRow>(
    `select ${DIFFERENCE} from difference where kind = ? and case_key = ?`,
  );
  // Other values than before are told anew.
  const see = database.prepare(
    `insert into difference (kind, case_key, bucket, digest, number, code, cause, next, case_row, state, first_ms,
       last_ms, last_run)
     values (:kind, :key, :bucket, :digest, :number, :code, :cause, :next, :row, 'seen', :at, :at, :sweep)
     on conflict (kind, case_key) do update set bucket = excluded.bucket, digest = excluded.digest,
       number = excluded.number, code = excluded.code, cause = excluded.cause, next = excluded.next,
       case_row = excluded.case_row,
       last_ms = excluded.last_ms, last_run = excluded.last_run,
       state = case when state = 'open' and digest = excluded.digest then 'open' else 'seen' end,
       first_ms = case when state = 'cleared' or digest <> excluded.digest then excluded.first_ms else first_ms end`,
  );
  const setState = database.prepare("update difference set state = ? where difference = ?");
  const inState = database.prepare<[string], DifferenceRow>(
    `select ${DIFFERENCE} from difference where state = ? order by difference`,
  );

  return {
    find: (kind: string, key: string): DifferenceRow | null => find.get(kind, key) ?? null,
    /** As a run found it: `seen` when it is new, was cleared or has other values than before. */
    see(found: Found, sweep: number, atMs: number): DifferenceRow {
      see.run({ ...found, sweep, at: atMs });
      return find.get(found.kind, found.key) as DifferenceRow;
    },
    /** Call it inside a transaction. */
    setState(difference: number, state: DifferenceState): void {
      setState.run(state, difference);
    },
    inState: (state: DifferenceState): DifferenceRow[] => inState.all(state),
  };
}

function agreements(database: Database.Database) {
  const agreed = database.prepare(
    `insert into agreement (flow, at_ms, documents, amount) values (:flow, :at, :documents, :amount)
     on conflict (flow) do update set at_ms = excluded.at_ms, documents = excluded.documents, amount = excluded.amount`,
  );
  const all = database.prepare<[], AgreementRow>(
    `select flow.name as flow, at_ms as atMs, documents, amount from agreement join flow using (flow) order by flow.flow`,
  );

  return {
    /** Both sides of a flow agree. `amount`: the sum of its documents, null where they have none. */
    agreed(flow: number, documents: number, amount: string | null, atMs: number): void {
      agreed.run({ flow, documents, amount, at: atMs });
    },
    agreements: (): AgreementRow[] => all.all(),
  };
}

/** What the store knows besides of records and requests. */
function newestOf(database: Database.Database) {
  const newest = database.prepare<[Buffer | string, number], NewestRow>(
    `select delivery, state, record.version, received_ms as receivedMs, code, cause, since_ms as sinceMs, note
     from record join delivery using (record) left join quarantine using (delivery)
     where record.id = ? and record.flow = ? order by delivery desc limit 1`,
  );
  const lastSent = database
    .prepare<[number], number | null>("select sent_ms from request where request = ?")
    .pluck();
  const recordsSince = database
    .prepare<[number, string], number>(
      "select coalesce(sum(count), 0) from record_count where flow = ? and (day = '' or day >= ?)",
    )
    .pluck();

  return {
    /** Of a record's newest delivery; null: the record never came. */
    newest: (flow: number, recordId: string): NewestRow | null =>
      newest.get(storedId(recordId), flow) ?? null,
    /** When a request's bytes last left; null: never. */
    lastSentMs: (request: number): number | null => lastSent.get(request) ?? null,
    /** How many records of a flow changed since the day of a version, for what a run will cost. */
    recordsSince: (flow: number, version: string): number =>
      recordsSince.get(flow, version.slice(0, 10)) ?? 0,
  };
}
