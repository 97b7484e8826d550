/**
 * Reads that lag behind writes: behind all of them (reading `readLagSeconds`), or behind those that others made
 * (`lateCommitSeconds`; others write through the control interface). Every change notes what was there before; a read
 * takes the changes that are too young back, looks, and puts them on again.
 */
import type { Database, Statement } from "better-sqlite3";
import { parseExact, stringifyExact } from "../core/json.ts";
import type { Clock } from "./clock.ts";
import type { Kind, RawRecord } from "./kinds.ts";
import type { Readings } from "./readings.ts";
import type { Records } from "./records.ts";

interface Row {
  readonly kind: Kind;
  readonly record: string;
  readonly before: string | null;
}

export class Lagging {
  readonly #records: Records;
  readonly #clock: Clock;
  readonly #readings: () => Readings;
  readonly #database: Database;
  readonly #note: Statement<[number, number, string, string, string | null]>;
  readonly #young: Statement<[number, number], Row>;
  readonly #prune: Statement<[number]>;
  #isOthers = false;

  constructor(database: Database, records: Records, clock: Clock, readings: () => Readings) {
    this.#database = database;
    this.#records = records;
    this.#clock = clock;
    this.#readings = readings;
    this.#note = database.prepare(
      "insert into lagging (at, others, kind, record, before) values (?, ?, ?, ?, ?)",
    );
    this.#young = database.prepare(
      `select kind, record, before from lagging
       where at > ? or (others = 1 and at > ?) order by id desc`,
    );
    this.#prune = database.prepare("delete from lagging where at <= ?");
    records.onChange = (kind, id, before) => {
      if (this.#lagMs() === 0 && !(this.#isOthers && this.#lateMs() > 0)) return;
      const state =
        before === null ? null : stringifyExact({ owner: before.owner, record: before.record });
      this.#note.run(this.#clock.now(), this.#isOthers ? 1 : 0, kind, id, state);
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
    const [lagMs, lateMs] = [this.#lagMs(), this.#lateMs()];
    if (lagMs === 0 && lateMs === 0) return work();
    this.#prune.run(now - Math.max(lagMs, lateMs));
    const young = this.#young.all(now - lagMs, now - lateMs);
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
    this.#database.exec("delete from lagging");
  }

  #takeBack({ kind, record: id, before }: Row): void {
    if (before === null) return this.#records.remove(kind, id);
    const { owner, record } = parseExact(before) as unknown as {
      owner: string;
      record: RawRecord;
    };
    this.#records.put(kind, record, owner);
  }

  #lagMs(): number {
    return this.#readings().readLagSeconds * 1000;
  }

  #lateMs(): number {
    return this.#readings().lateCommitSeconds * 1000;
  }
}

class Undo extends Error {}
