import type { Database, Statement } from "better-sqlite3";

export interface LateWrite {
  readonly id: number;
  readonly due: number;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly body: Buffer | null;
  /** JSON of its {@link Write} when it arrives only then (fault `held`); null: it arrived and commits late. */
  readonly write: string | null;
}

/**
 * Writes that are carried out later: those that answered 5xx (reading `failingWritesCommitLateSeconds`), and those that
 * the network holds (fault `held`).
 */
export class LateWrites {
  readonly #insert: Statement<[Record<string, unknown>]>;
  readonly #due: Statement<[number], LateWrite>;
  readonly #delete: Statement<[number]>;

  constructor(database: Database) {
    this.#insert = database.prepare(
      `insert into late (due, key, method, path, body, write)
       values (:due, :key, :method, :path, :body, :write)`,
    );
    this.#due = database.prepare("select * from late where due <= ? order by due, id limit 1");
    this.#delete = database.prepare("delete from late where id = ?");
  }

  add(write: Omit<LateWrite, "id">): void {
    this.#insert.run({ ...write });
  }

  /** Takes the next write whose time has come. */
  next(now: number): LateWrite | null {
    const write = this.#due.get(now);
    if (write === undefined) return null;
    this.#delete.run(write.id);
    return write;
  }
}
