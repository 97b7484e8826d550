/** Which rows of cross-reference tables documents have asked for, so that people see those that none does. */
import type Database from "better-sqlite3";

/** A use is written again after so long: the day is what people ask for. */
const AGAIN_MS = 24 * 3_600_000;

export function rowUses(database: Database.Database) {
  const used = database.prepare<{ table: string; key: string; at: number; again: number }>(
    `insert into row_use (lookup_table, key, first_ms, last_ms) values (:table, :key, :at, :at)
     on conflict do update set last_ms = excluded.last_ms where last_ms < :again`,
  );
  const since = database.prepare<[], number | null>("select min(first_ms) from row_use").pluck();
  const keys = database
    .prepare<[string], string>("select key from row_use where lookup_table = ?")
    .pluck();

  return {
    /** A mapping asked for the row, and got it. Inside a transaction. */
    used(table: string, key: string, atMs: number): void {
      used.run({ table, key, at: atMs, again: atMs - AGAIN_MS });
    },
    /** Since when uses are counted, at the latest; null: none was. */
    sinceMs: (): number | null => since.get() ?? null,
    keys: (table: string): ReadonlySet<string> => new Set(keys.all(table)),
  };
}
