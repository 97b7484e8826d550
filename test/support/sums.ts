/** Checksums of rows that were written by hand. */
import type Database from "better-sqlite3";
import { addFunctions, sumIn } from "../../src/store/statements.ts";

/** Takes all rows as they are now: after a program that does not sum has written to the file. */
export function sumAnew(database: Database.Database): void {
  addFunctions(database);
  for (const table of ["record", "earlier_version", "delivery", "request", "link"] as const)
    database.exec(`update ${table} set sum = ${sumIn(table)}`);
}
