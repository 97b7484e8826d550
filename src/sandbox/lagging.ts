/**
 * Reads that lag behind writes: behind all of them (reading `readLagSeconds`), or behind those that others made
 * (`lateCommitSeconds`; others write through the control interface). Every change notes what was there before; a read
 * takes the changes that are too young back, looks, and puts them on again.
 */
import { parseExact, stringifyExact } from "../core/json.ts";
import type { Clock } from "./clock.ts";
import type { Sql } from "./database.ts";
import type { Kind, RawRecord } from "./kinds.ts";
import type { Readings } from "./readings.ts";
import type { Records } from "./records.ts";

interface Row {
  readonly kind: Kind;
  readonly record: string;
  readonly before: string | null;
}

export class Lagging {
  readonly #sql: Sql;
  readonly #records: Records;
  readonly #readings: () => Readings;
  #isOthers = false;

  constructor(sql: Sql, records: Records, clock: Clock, readings: () => Readings) {
    this.#sql = sql;
    this.#records = records;
    this.#readings = readings;
    records.onChange = (kind, id, before) => {
      const { lag, late } = this.#delays();
      if (lag === 0 && !(this.#isOthers && late > 0)) return;
      const state =
        before === null ? null : stringifyExact({ owner: before.owner, record: before.record });
      sql.run("insert into lagging (at, others, kind, record, before) values (?, ?, ?, ?, ?)", [
        clock.now(),
        this.#isOthers ? 1 : 0,
        kind,
        id,
        state,
      ]);
    };
  }

  /** Runs writes of others. */
  others<T>(work: () => T): T {
    this.#isOthers = true;
    try {
      return work();
    } finally {
      this.#isOthers = false;
    }
  }

  /** Runs a read as of `readLagSeconds` ago, and of `lateCommitSeconds` ago where others wrote. */
  read<T>(now: number, work: () => T): T {
    const { lag, late } = this.#delays();
    if (lag === 0 && late === 0) return work();
    this.#sql.run("delete from lagging where at <= ?", now - Math.max(lag, late));
    const young = this.#sql.all<Row>(
      `select kind, record, before from lagging
       where at > ? or (others = 1 and at > ?) order by id desc`,
      [now - lag, now - late],
    );
    if (young.length === 0) return work();
    let result: { value: T } | null = null;
    try {
      this.#records.attempt(() => {
        for (const row of young) this.#takeBack(row);
        result = { value: work() };
        throw new Undo();
      });
    } catch (error) {
      if (!(error instanceof Undo)) throw error;
    }
    return (result as unknown as { value: T }).value;
  }

  clear(): void {
    this.#sql.run("delete from lagging");
  }

  #takeBack({ kind, record: id, before }: Row): void {
    if (before === null) return this.#records.remove(kind, id);
    const { owner, record } = parseExact(before) as { owner: string; record: RawRecord };
    this.#records.put(kind, record, owner);
  }

  /** Milliseconds. */
  #delays(): { lag: number; late: number } {
    const { readLagSeconds, lateCommitSeconds } = this.#readings();
    return { lag: readLagSeconds * 1000, late: lateCommitSeconds * 1000 };
  }
}

class Undo extends Error {}
