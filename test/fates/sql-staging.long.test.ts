/**
 * The table of fates of SQL staging, on the first server that is installed; on each where all numbers are asked for. What
 * servers differ in is in two files: connectors/sql-staging/kit.test.ts and traps.test.ts prove it on each.
 *
 * @module-tag numbers
 */
import { afterAll } from "vitest";
import { dialects } from "../../src/ledger/sql.ts";
import { isThere } from "../sql-staging/server.ts";
import { staging } from "./staging.ts";
import { areAll } from "../support/runs.ts";
import { fatesOf } from "./suite.ts";

for (const dialect of dialects.filter((one) => isThere[one]).slice(0, areAll ? undefined : 1)) {
  const counterpart = await staging(dialect);
  afterAll(() => counterpart.end());
  fatesOf(counterpart);
}
