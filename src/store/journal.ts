/** The audit, the breakers and the count of requests: what the daemon tells about itself. */
import type Database from "better-sqlite3";
import { appending, checkChain, type Checked, newestEntry, type Noted } from "./chain.ts";
import { usage } from "./usage.ts";

export interface Entry {
  readonly flow?: number;
  readonly request?: number;
  readonly delivery?: number;
  readonly event: string;
  readonly detail: string;
  /** What it says of each delivery, where it is about a request that carries several. */
  readonly parts?: Readonly<Record<number, string>> | undefined;
  /** The person who decided it, and why; left out: fuelbridge itself. */
  readonly person?: { readonly by: string; readonly note: string } | undefined;
}

export interface BreakerRow {
  readonly breaker: string;
  readonly scope: string;
  readonly sinceMs: number;
  /** When one try is made all the same; null: only a person clears it. */
  readonly retryMs: number | null;
  readonly message: string;
  readonly next: string;
}

export function journal(database: Database.Database) {
  const append = appending(database);
  const trip = database.prepare(
    `insert into breaker (breaker, scope, since_ms, retry_ms, message, next)
     values (:breaker, :scope, :sinceMs, :retryMs, :message, :next)
     on conflict do update set retry_ms = excluded.retry_ms, message = excluded.message, next = excluded.next`,
  );
  const clear = database.prepare("delete from breaker where scope = ? and retry_ms is not null");
  const drop = database.prepare("delete from breaker where breaker = ?");
  const release = database.prepare(
    `insert into released (breaker, at_ms, released_by) values (?, ?, ?)
     on conflict do update set at_ms = excluded.at_ms, released_by = excluded.released_by`,
  );
  const releasedAt = database
    .prepare<[string], number>("select at_ms from released where breaker = ?")
    .pluck();
  const lastAt = database
    .prepare<[], number | null>(
      `select max(at_ms) from (
         select at_ms from (select at_ms from audit order by audit desc limit 1)
         union all select last_run_ms from flow)`,
    )
    .pluck();
  const redate = database.prepare(
    `update breaker set since_ms = min(since_ms, :at), retry_ms = iif(retry_ms is null, null, :at)
     where breaker = :breaker and scope = :scope`,
  );
  const replayed = database.prepare("insert into replay (at_ms, request) values (?, ?)");
  const replays = database
    .prepare<[number], number>("select count(*) from replay where at_ms > ?")
    .pluck();
  const breakers = database.prepare<[], BreakerRow>(
    `select breaker, scope, since_ms as sinceMs, retry_ms as retryMs, message, next
     from breaker order by since_ms`,
  );

  /** As committed; they are asked for several times in each step of a request. */
  let standing: readonly BreakerRow[] | null = null;

  return {
    audit(atMs: number, entry: Entry): void {
      const { detail, parts, person, ...about } = entry;
      append({
        ...about,
        at: atMs,
        detail: shortened(detail),
        parts: parts === undefined ? null : JSON.stringify(parts),
        who: person?.by ?? null,
        reason: person?.note ?? null,
      });
    },
    /** Is every entry as it was written? */
    check: (noted: Noted | null, between: () => Promise<void>): Promise<Checked> =>
      checkChain(database, noted, between),
    /** The newest entry of the audit and its hash. */
    head: newestEntry(database),
    trip(breaker: BreakerRow): void {
      standing = null;
      trip.run({ ...breaker });
    },
    /** Work in this scope went well again: breakers that clear by themselves are cleared. */
    clear(scope: string): boolean {
      standing = null;
      return clear.run(scope).changes > 0;
    },
    /** It began at `atMs` at the latest and, unless only a person clears it, is tried again then. */
    redate({ breaker, scope }: Pick<BreakerRow, "breaker" | "scope">, atMs: number): void {
      standing = null;
      redate.run({ breaker, scope, at: atMs });
    },
    /** The wall clock when something was last written down here, ms UTC; null: nothing was. */
    lastAt: (): number | null => lastAt.get() ?? null,
    /** A person cleared it. Call it inside a transaction. */
    release(breaker: string, by: string, atMs: number, note: string | null = null): boolean {
      standing = null;
      if (drop.run(breaker).changes === 0) return false;
      release.run(breaker, atMs, by);
      append({
        at: atMs,
        event: `released: ${breaker}`,
        detail: `by ${by}`,
        who: by,
        reason: note,
      });
      return true;
    },
    /** When a person last cleared it, ms UTC; null when nobody ever did. */
    releasedAt: (breaker: string): number | null => releasedAt.get(breaker) ?? null,
    /** The first send of this request was answered with a replay. Inside a transaction. */
    replayed(atMs: number, request: number): void {
      replayed.run(atMs, request);
    },
    /** How many first sends were answered with a replay after this time (ms UTC). */
    replaysSince: (atMs: number): number => replays.get(atMs) ?? 0,
    breakers(): readonly BreakerRow[] {
      // What is seen inside a transaction may be rolled back yet.
      if (database.inTransaction) return breakers.all();
      standing ??= breakers.all();
      return standing;
    },
    ...usage(database),
  };
}

/** A receiver may answer with a page. */
export const shortened = (detail: string): string => detail.slice(0, 2_000);
