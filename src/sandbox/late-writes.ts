import type { Database, Statement } from "better-sqlite3";

export interface LateWrite {
  readonly id: number;
  readonly due: number;
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly body: Buffer | null;
}

/** Writes that answered 5xx and commit later (reading `failingWritesCommitLateSeconds`). */
export class LateWrites {
  readonly #insert: Statement<[Record<string, unknown>]>;
  readonly #due: Statement<[number], LateWrite>;
  readonly #delete: Statement<[number]>;

  constructor(database: Database) {
    this.#insert = database.prepare(
      "insert into late (due, key, method, path, body) values (:due, :key, :method, :path, :body)",
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
