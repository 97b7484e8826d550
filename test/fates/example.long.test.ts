/**
 * The table of fates of the example's ledger, with all numbers: five connectors play it over the same driver in each long run.
 *
 * @module-tag numbers
 */
import { example } from "./example.ts";
import { areAll } from "../support/runs.ts";
import { fatesOf } from "./suite.ts";

fatesOf(example, areAll);
