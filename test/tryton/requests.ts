/** What the store of a site says, asked of a copy: the store itself is left as it is for the next daemon. */
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Site } from "./site.ts";

export function askStore<Row>({ folder }: Site, sql: string, ...values: string[]): Row[] {
  const state = join(folder, "var", "tryton", "state");
  if (!existsSync(state)) return [];
  const copy = mkdtempSync(join(folder, "copy-"));
  cpSync(state, copy, { recursive: true });
  const database = new Database(join(copy, "fuelbridge.sqlite"));
  try {
    return database.prepare<string[], Row>(sql).all(...values);
  } finally {
    database.close();
    rmSync(copy, { recursive: true });
  }
}

/** Requests to Tryton in one of these states. */
export const requestsIn = (site: Site, ...states: readonly string[]): number =>
  askStore(
    site,
    `select 1 from request where target not like 'POST %' and state in (${states.map(() => "?").join(", ")})`,
    ...states,
  ).length;
