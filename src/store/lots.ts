/** Lots: deliveries of a refused batch that go together next (src/engine/halving.ts). */
import type Database from "better-sqlite3";

export type Lots = ReturnType<typeof lots>;

export function lots(database: Database.Database) {
  const open = database
    .prepare<[number], number>(
      "select 1 from delivery where lot = ? and state in ('pending', 'frozen') limit 1",
    )
    .pluck();
  const pending = database
    .prepare<[number], number>(
      "select delivery from delivery where lot = ? and state = 'pending' order by delivery",
    )
    .pluck();
  const put = database.prepare("update delivery set lot = ? where delivery = ?");

  const putNewest = database.prepare(
    `update delivery set lot = ? where state = 'pending'
       and record = (select record from delivery where delivery = ?)`,
  );

  return {
    /** What of this delivery's record is pending: itself, or the version that has taken its place. */
    putNewest(delivery: number, lot: number): void {
      putNewest.run(lot, delivery);
    },
    /** Is any delivery of this lot still to be tried? */
    isOpen(lot: number): boolean {
      return open.get(lot) !== undefined;
    },
    /** Oldest first. */
    pending(lot: number): number[] {
      return pending.all(lot);
    },
    /** Null: free to share a request with any. */
    put(delivery: number, lot: number | null): void {
      put.run(lot, delivery);
    },
  };
}
