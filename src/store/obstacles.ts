/** What sources cannot read though it lies there (a file that is too large, or that a right is missing for), per flow. */
import type Database from "better-sqlite3";
import type { Obstacle } from "../core/contract.ts";

export interface StoredObstacle extends Obstacle {
  /** Since when it is so, ms. */
  readonly sinceMs: number;
}

interface Row {
  readonly what: string;
  readonly code: string;
  readonly since_ms: number;
  readonly obstacle: string;
}

export function obstacles(database: Database.Database) {
  const all = database.prepare<[number], Row>(
    "select what, code, since_ms, obstacle from obstacle where flow = ? order by rowid",
  );
  const clear = database.prepare("delete from obstacle where flow = ?");
  const add = database.prepare(
    "insert into obstacle (flow, what, code, since_ms, obstacle) values (?, ?, ?, ?, ?) on conflict do nothing",
  );

  return {
    /** In the order in which the source told them: the oldest file first. */
    of: (flow: number): StoredObstacle[] =>
      all.all(flow).map(({ obstacle, since_ms }) => ({
        ...(JSON.parse(obstacle) as Obstacle),
        sinceMs: since_ms,
      })),

    /** Is this what is stored? */
    are(flow: number, told: readonly Obstacle[]): boolean {
      const stored = all.all(flow).map(({ obstacle }) => obstacle);
      return JSON.stringify(stored) === JSON.stringify(told.map((one) => JSON.stringify(one)));
    },

    /** All there are now, and returns those that are new. Call it inside a transaction. */
    replace(flow: number, told: readonly Obstacle[], atMs: number): Obstacle[] {
      const before = new Map(all.all(flow).map((row) => [keyOf(row.what, row.code), row]));
      clear.run(flow);
      return told.filter((obstacle) => {
        const { what, fault } = obstacle;
        const known = before.get(keyOf(what, fault.code));
        add.run(flow, what, fault.code, known?.since_ms ?? atMs, JSON.stringify(obstacle));
        return known === undefined;
      });
    },
  };
}

const keyOf = (what: string, code: string): string => `${code} ${what}`;
