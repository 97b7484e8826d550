/** Requests under way: held at the platform, and as the store knows them. */
import { cpSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Site } from "./site.ts";
import { until } from "./site-program.ts";

/**
 * Holds the next write at the platform for `ms`; it is carried out then, though its sender may be dead. Resolves once
 * one is held: true, or false when none came.
 */
export async function holdWrite(site: Site, ms: number, waitMs = 30_000): Promise<boolean> {
  await site.control.fault({ method: "POST", kind: "delay", ms });
  const used = async (): Promise<boolean> => (await site.control.faults()).length === 0;
  return until("a write", used, waitMs).then(
    () => true,
    () => false,
  );
}

/** Asks a copy, so that the store itself is left as it is for the next daemon. */
export function askStore<Row>(site: Site, sql: string): Row[] {
  const copy = mkdtempSync(join(site.folder, "copy-"));
  cpSync(join(site.demo, "state"), copy, { recursive: true });
  const database = new Database(join(copy, "fuelbridge.sqlite"));
  try {
    return database.prepare<[], Row>(sql).all();
  } finally {
    database.close();
  }
}

/** The states that requests to the platform are in. */
export const writeStates = (site: Site): string[] =>
  askStore<{ state: string }>(
    site,
    "select distinct state from request where target like 'POST %' order by state",
  ).map(({ state }) => state);
