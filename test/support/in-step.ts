import { expect } from "vitest";

/** What `once` says when nothing is left to do: both sides hold the same, but for what is in quarantine. */
export const IN_STEP: unknown = expect.stringMatching(
  /^In step(?:\.|, but for \d+ documents? in quarantine: .+)\n$/,
);
