import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import type { Books } from "./tryton.ts";

/** The database file of the books, as another program would use it: to lock it, or to age what is in it. */
export function fileOf({ path }: Books): Database.Database {
  const file = new Database(path);
  onTestFinished(() => void file.close());
  return file;
}
