/**
 * What sources have not read, per flow: what lies there and cannot be read now (a file that is too large, or that a right
 * is missing for), as of the last reading; and what came and was refused, which stands until a person settles it or it
 * comes whole.
 */
import type Database from "better-sqlite3";
import type { Obstacle, Refusal, Whole } from "../core/contract.ts";

export interface StoredObstacle extends Obstacle {
  /** It was refused: a person settles it. Else it is gone when the source can read it. */
  readonly lasts: boolean;
  /** Since when it is so, ms. */
  readonly sinceMs: number;
}

interface Row {
  readonly name: string;
  readonly code: string;
  readonly since_ms: number;
  readonly file: string;
  readonly lasts: 0 | 1;
}

export function obstacles(database: Database.Database) {
  const all = database.prepare<[number], Row>(
    "select name, code, since_ms, file, id is not null as lasts from blocked_file where flow = ? order by rowid",
  );
  const clear = database.prepare("delete from blocked_file where flow = ? and id is null");
  const add = database.prepare(
    "insert into blocked_file (flow, name, code, since_ms, file) values (?, ?, ?, ?, ?) on conflict do nothing",
  );
  const refused = database.prepare<[number, string, string, string]>(
    "select 1 from blocked_file where flow = ? and name = ? and id = ? and file = ?",
  );
  const drop = database.prepare(
    "delete from blocked_file where flow = ? and name = ? and id is not null and id is not ?",
  );
  const keep = database.prepare(
    "insert or replace into blocked_file (flow, name, code, since_ms, file, id) values (?, ?, ?, ?, ?, ?)",
  );
  const momentary = (flow: number): Row[] => all.all(flow).filter(({ lasts }) => lasts === 0);

  return {
    /** In the order in which the source told them: the oldest file first. */
    of: (flow: number): StoredObstacle[] =>
      all.all(flow).map(({ file, since_ms, lasts }) => ({
        ...(JSON.parse(file) as Obstacle),
        sinceMs: since_ms,
        lasts: lasts === 1,
      })),

    /** Came and was not taken. True when that is new. Call it inside a transaction. */
    refuse(flow: number, { what, id, fault }: Refusal, atMs: number): boolean {
      const behind = { count: 0, names: [] };
      const text = JSON.stringify({ what, fault, awaited: false, behind } satisfies Obstacle);
      if (refused.get(flow, what, id, text) !== undefined) return false;
      drop.run(flow, what, null);
      keep.run(flow, what, fault.code, atMs, text, id);
      return true;
    },

    /** Came whole: what was refused under its names is settled. Call it inside a transaction. */
    whole(flow: number, { names, id, again }: Whole): void {
      for (const what of names) drop.run(flow, what, again === true ? id : null);
    },

    /** A person has seen to what was refused. False: nothing of that name is. Call it inside a transaction. */
    settle: (flow: number, what: string): boolean => drop.run(flow, what, null).changes > 0,

    /** It is no longer so, whatever it was called. Since when it was, ms; null: it was not. Call it inside a transaction. */
    mend(flow: number, code: string): number | null {
      const row = all.all(flow).find((one) => one.code === code && one.lasts === 1);
      if (row === undefined) return null;
      drop.run(flow, row.name, null);
      return row.since_ms;
    },

    /** Is this what lies there unread, as it is stored? */
    are(flow: number, told: readonly Obstacle[]): boolean {
      const stored = momentary(flow).map(({ file }) => file);
      return JSON.stringify(stored) === JSON.stringify(told.map((one) => JSON.stringify(one)));
    },

    /** All that lies there now, and returns what is new of it. What was refused stays. Call it inside a transaction. */
    replace(flow: number, told: readonly Obstacle[], atMs: number): Obstacle[] {
      const before = new Map(momentary(flow).map((row) => [keyOf(row.name, row.code), row]));
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
