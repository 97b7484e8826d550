/**
 * The table of fates of Business Central.
 *
 * @module-tag numbers
 */
import { central } from "./central.ts";
import { fatesOf } from "./suite.ts";

fatesOf(central);
