/** Bisect groups: deliveries of a refused batch that go together next (src/engine/halving.ts). */
import type Database from "better-sqlite3";

export type BisectGroups = ReturnType<typeof bisectGroups>;

export function bisectGroups(database: Database.Database) {
  const open = database
    .prepare<[number], number>(
      "select 1 from delivery where bisect_group = ? and state in ('pending', 'frozen') limit 1",
    )
    .pluck();
  const pending = database
    .prepare<[number], number>(
      "select delivery from delivery where bisect_group = ? and state = 'pending' order by delivery",
    )
    .pluck();
  const put = database.prepare("update delivery set bisect_group = ? where delivery = ?");

  const putNewest = database.prepare(
    `update delivery set bisect_group = ? where state = 'pending'
       and record = (select record from delivery where delivery = ?)`,
  );

  return {
    /** What of this delivery's record is pending: itself, or the version that has taken its place. */
    putNewest(delivery: number, group: number): void {
      putNewest.run(group, delivery);
    },
    /** Is any delivery of this group still to be tried? */
    isOpen(group: number): boolean {
      return open.get(group) !== undefined;
    },
    /** Oldest first. */
    pending(group: number): number[] {
      return pending.all(group);
    },
    /** Null: free to share a request with any. */
    put(delivery: number, group: number | null): void {
      put.run(group, delivery);
    },
  };
}
