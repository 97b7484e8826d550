/**
 * The table of fates of QuickBooks Online.
 *
 * @module-tag numbers
 */
import { online } from "./online.ts";
import { fatesOf } from "./suite.ts";

fatesOf(online);
