import type { Database, Statement } from "better-sqlite3";

/** Single values that outlive the process: scenario, clock, readings, secrets. */
export class Settings {
  readonly #get: Statement<[string], string>;
  readonly #set: Statement<[string, string]>;

  constructor(database: Database) {
    this.#get = database
      .prepare<[string], string>("select value from setting where name = ?")
      .pluck();
    this.#set = database.prepare(
      "insert into setting values (?, ?) on conflict (name) do update set value = excluded.value",
    );
  }

  get(name: string): string | null {
    return this.#get.get(name) ?? null;
  }

  set(name: string, value: string): void {
    this.#set.run(name, value);
  }

  /** The stored value, or a new one that is stored from now on. */
  keep(name: string, make: () => string): string {
    const stored = this.get(name);
    if (stored !== null) return stored;
    const value = make();
    this.set(name, value);
    return value;
  }
}
