/** What `once` answers, of sites that are in step and of one that waits. */
import { expect } from "vitest";

/** Nothing is left to do: both sides hold the same, but for what is in quarantine. */
export const IN_STEP: unknown = expect.stringMatching(
  /^In step(?:\.|, but for \d+ documents? in quarantine: .+)\n$/,
);

/** The same, of a whole run. */
export const SAID_IN_STEP = { code: 0, signal: null, out: IN_STEP };

/** One document waits for its payments, and a person may have others. */
export const ONE_WAITS: unknown = expect.stringMatching(
  /^Nothing is left to do now, but both sides are not in step:\n {2}invoices-issued: 1 document waits for payments, until \d.* at the latest\n {4}Nobody need do anything.*\n( {2}Beside that, .*\n)?$/,
);
