/** The audit, the breakers and the count of requests: what the daemon tells about itself. */
import type Database from "better-sqlite3";

export interface Entry {
  readonly flow?: number;
  readonly request?: number;
  readonly delivery?: number;
  readonly event: string;
  readonly detail: string;
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
  const add = database.prepare(
    "insert into audit (at_ms, flow, request, delivery, event, detail) values (?, ?, ?, ?, ?, ?)",
  );
  const trip = database.prepare(
    `insert into breaker (breaker, scope, since_ms, retry_ms, message, next)
     values (:breaker, :scope, :sinceMs, :retryMs, :message, :next)
     on conflict do update set retry_ms = excluded.retry_ms, message = excluded.message, next = excluded.next`,
  );
  const clear = database.prepare("delete from breaker where scope = ? and retry_ms is not null");
  const drop = database.prepare("delete from breaker where breaker = ?");
  const breakers = database.prepare<[], BreakerRow>(
    `select breaker, scope, since_ms as sinceMs, retry_ms as retryMs, message, next
     from breaker order by since_ms`,
  );
  const count = database.prepare(
    `insert into usage (month, purpose, requests) values (?, ?, ?)
     on conflict do update set requests = requests + excluded.requests`,
  );
  const used = database
    .prepare<[string], number>("select coalesce(sum(requests), 0) from usage where month = ?")
    .pluck();

  const unsaved = new Map<string, number>();

  return {
    audit(atMs: number, entry: Entry): void {
      const { flow = null, request = null, delivery = null, event, detail } = entry;
      add.run(atMs, flow, request, delivery, event, detail.slice(0, 2_000));
    },
    trip(breaker: BreakerRow): void {
      trip.run({ ...breaker });
    },
    /** Work in this scope went well again: breakers that clear by themselves are cleared. */
    clear(scope: string): boolean {
      return clear.run(scope).changes > 0;
    },
    /** A person cleared it. */
    drop(breaker: string): boolean {
      return drop.run(breaker).changes > 0;
    },
    breakers(): BreakerRow[] {
      return breakers.all();
    },
    /** One more request of this month (`2026-11`, UTC). It is written down with the next transaction. */
    spend(month: string, purpose: string): void {
      const key = `${month} ${purpose}`;
      unsaved.set(key, (unsaved.get(key) ?? 0) + 1);
    },
    saveSpending(): void {
      for (const [key, requests] of unsaved) {
        const [month, purpose] = key.split(" ", 2);
        count.run(month, purpose, requests);
      }
      unsaved.clear();
    },
    requestsUsed(month: string): number {
      const pending = [...unsaved].filter(([key]) => key.startsWith(month));
      return pending.reduce((sum, [, requests]) => sum + requests, used.get(month) ?? 0);
    },
  };
}
