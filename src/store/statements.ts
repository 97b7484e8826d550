/** Statements that are prepared when they are first used: a store has 200 of them, and most commands use a few. */
import type Database from "better-sqlite3";

/** The same database; what is wrong with a statement is told by its first use. */
export function preparedLate(database: Database.Database): Database.Database {
  const prepare = (sql: string) => new LateStatement(() => database.prepare(sql));
  return Object.create(database, { prepare: { value: prepare } }) as Database.Database;
}

type Statement = Database.Statement;

/** What the store asks of a statement. */
class LateStatement implements Pick<Statement, "run" | "get" | "all" | "iterate"> {
  readonly #prepare: () => Statement;
  #prepared: Statement | null = null;

  constructor(prepare: () => Statement) {
    this.#prepare = prepare;
  }

  get #statement(): Statement {
    return (this.#prepared ??= this.#prepare());
  }

  run(...values: unknown[]): Database.RunResult {
    return this.#statement.run(...values);
  }

  get(...values: unknown[]): unknown {
    return this.#statement.get(...values);
  }

  all(...values: unknown[]): unknown[] {
    return this.#statement.all(...values);
  }

  iterate(...values: unknown[]): IterableIterator<unknown> {
    return this.#statement.iterate(...values);
  }

  pluck(): LateStatement {
    return new LateStatement(() => this.#prepare().pluck());
  }

  raw(): LateStatement {
    return new LateStatement(() => this.#prepare().raw());
  }
}
