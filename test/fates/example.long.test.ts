/**
 * The table of fates of the example's ledger.
 *
 * @module-tag numbers
 */
import { example } from "./example.ts";
import { fatesOf } from "./suite.ts";

fatesOf(example);
