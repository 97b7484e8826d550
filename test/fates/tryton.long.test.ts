/**
 * The table of fates of Tryton.
 *
 * @module-tag numbers
 */
import { describe } from "vitest";
import { trytonIsThere } from "../support/tryton.ts";
import { fatesOf } from "./suite.ts";
import { trytonCounterpart } from "./tryton.ts";

describe.skipIf(!trytonIsThere)("a real Tryton", () => fatesOf(trytonCounterpart()));
