/**
 * Counts of what a page brings, for the tables of counts that people's pages read (ADR 0061): summed up while it is stored,
 * and written in its transaction. Triggers count the moves and changes that come later (migration-counts.ts).
 */
import type Database from "better-sqlite3";

export function newcomers(database: Database.Database) {
  const addDeliveries = database.prepare(
    `insert into delivery_count (flow, state, count) values (?, 'pending', ?)
     on conflict do update set count = count + excluded.count`,
  );
  const addRecords = database.prepare(
    `insert into record_count (flow, day, count) values (?, substr(?, 1, 10), ?)
     on conflict do update set count = count + excluded.count`,
  );
  let deliveries = 0;
  const days = new Map<string, number>();

  function forget(): void {
    deliveries = 0;
    days.clear();
  }

  return {
    /** Before a page: the transaction of the one before may have failed. */
    forget,
    /** A record that was not there before. */
    record(version: string | null): void {
      const day = dayOf(version);
      days.set(day, (days.get(day) ?? 0) + 1);
    },
    /** A delivery that is pending. */
    delivery(): void {
      deliveries++;
    },
    /** After a page, and before something that may be of it moves. All of it is of this flow. */
    save(flow: number): void {
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
