/** What is kept per flow besides its documents: the checkpoint, and when it ran and runs. */
import type Database from "better-sqlite3";
import type { Json } from "../core/json.ts";

export interface FlowRow {
  readonly flow: number;
  readonly name: string;
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
}

/** One look of a flow at its source. */
export interface RunRow {
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

/** Of each flow; older ones go. */
const RUNS_KEPT = 20;

export function flows(database: Database.Database) {
  const add = database.prepare("insert into flow (name) values (?) on conflict do nothing");
  const byName = database.prepare<[string], FlowRow>("select * from flow where name = ?");
  const ran = database.prepare(
    `update flow set last_run_ms = :at, next_due_ms = :due, last_error_code = :code, last_error = :error,
       last_error_next = :next,
       success_ms = iif(:error is null, :at, success_ms),
       failing_ms = iif(:error is null, null, coalesce(failing_ms, :at)),
       pages = coalesce(:pages, pages)
     where flow = :flow`,
  );
  const addRun = database.prepare(
    "insert into flow_run (flow, ended_ms, took_ms, received, error) values (?, ?, ?, ?, ?)",
  );
  const dropRuns = database.prepare(
    `delete from flow_run where flow = :flow and run <=
       (select run from flow_run where flow = :flow order by run desc limit 1 offset :kept)`,
  );
  const runs = database.prepare<[], RunRow>(
    `select name as flow, ended_ms as endedMs, took_ms as tookMs, received, error
     from flow_run join flow using (flow) order by run desc`,
  );
  const hold = database.prepare("update flow set held_ms = ? where flow = ?");
  const held = database
    .prepare<[], number>("select flow from flow where held_ms is not null")
    .pluck();
  /** It is asked for each flow at each turn of the daemon. */
  let standing: ReadonlySet<number> | null = null;
  const due = database.prepare("update flow set next_due_ms = ? where flow = ?");

  return {
    /** The flow's row, made when it is new. */
    open(name: string): FlowRow {
      add.run(name);
      return byName.get(name) as FlowRow;
    },
    find(name: string): FlowRow | null {
      return byName.get(name) ?? null;
    },
    position(name: string): Json | null {
      const text = byName.get(name)?.position ?? null;
      return text === null ? null : (JSON.parse(text) as Json);
    },
    /** `pages`: what a complete reading came to; null: it was none. Call it inside a transaction. */
    ran(
      flow: number,
      { atMs, dueMs, pages, received, tookMs }: Ended,
      error: { code: string; message: string; next: string } | null,
    ): void {
      addRun.run(flow, atMs, tookMs, received, error?.message ?? null);
      dropRuns.run({ flow, kept: RUNS_KEPT });
      ran.run({
        flow,
        at: atMs,
        due: dueMs,
        code: error?.code ?? null,
        error: error?.message ?? null,
        next: error?.next ?? null,
        pages,
      });
    },
    /** The newest looks of every flow, the newest first. */
    runs: (): RunRow[] => runs.all(),
    /** `sinceMs`: null lets it go on. Call it inside a transaction. */
    hold(flow: number, sinceMs: number | null): void {
      standing = null;
      hold.run(sinceMs, flow);
    },
    /** Has a person paused it? */
    isHeld(flow: number): boolean {
      if (database.inTransaction) return held.all().includes(flow);
      standing ??= new Set(held.all());
      return standing.has(flow);
    },
    setDue(flow: number, dueMs: number): void {
      due.run(dueMs, flow);
    },
  };
}
