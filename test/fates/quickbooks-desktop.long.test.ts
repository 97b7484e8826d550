/**
 * The table of fates of QuickBooks Desktop.
 *
 * @module-tag numbers
 */
import { desktop } from "./desktop.ts";
import { fatesOf } from "./suite.ts";

fatesOf(desktop);
