/**
 * The table of fates of SQL staging, on each server that is installed.
 *
 * @module-tag numbers
 */
import { afterAll } from "vitest";
import { dialects } from "../../src/ledger/sql.ts";
import { isThere } from "../sql-staging/server.ts";
import { staging } from "./staging.ts";
import { fatesOf } from "./suite.ts";

for (const dialect of dialects.filter((one) => isThere[one])) {
  const counterpart = await staging(dialect);
  afterAll(() => counterpart.end());
  fatesOf(counterpart);
}
