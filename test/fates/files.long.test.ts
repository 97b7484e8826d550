/**
 * The table of fates of an ERP that exchanges files.
 *
 * @module-tag numbers
 */
import { files } from "./files.ts";
import { fatesOf } from "./suite.ts";

fatesOf(files);
