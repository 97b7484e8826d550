/** What endpoints keep between two starts (`Surroundings.notebook`): the sessions of one that calls us, and what it told. */
import type Database from "better-sqlite3";
import type { Notebook } from "../core/notebook.ts";

export function notebooks(database: Database.Database) {
  const get = database
    .prepare<[string, string], string>("select text from notebook where endpoint = ? and name = ?")
    .pluck();
  const all = database.prepare<[string], { readonly name: string; readonly text: string }>(
    "select name, text from notebook where endpoint = ?",
  );
  const put = database.prepare(
    "insert or replace into notebook (endpoint, name, text) values (?, ?, ?)",
  );
  const drop = database.prepare("delete from notebook where endpoint = ? and name = ?");
  return {
    get: (endpoint: string, name: string): string | null => get.get(endpoint, name) ?? null,
    /** By name. */
    of: (endpoint: string): Readonly<Record<string, string>> =>
      Object.fromEntries(all.all(endpoint).map(({ name, text }) => [name, text])),
    /** Call it inside a transaction. */
    set(endpoint: string, name: string, text: string | null): void {
      if (text === null) drop.run(endpoint, name);
      else put.run(endpoint, name, text);
    },
  };
}

/** What the endpoint of this name keeps in a store. */
export const notebookIn = (
  store: {
    readonly notebooks: ReturnType<typeof notebooks>;
    readonly transaction: (work: () => void) => void;
  },
  endpoint: string,
): Notebook => ({
  get: (name) => store.notebooks.get(endpoint, name),
  set: (name, text) => store.transaction(() => store.notebooks.set(endpoint, name, text)),
});
