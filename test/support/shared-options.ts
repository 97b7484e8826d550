/** How the processes of a test share a Redis: plenty of everything, a minute of 200 ms, and a look ten times a second. */
import { systemClock } from "../../src/app/process.ts";
import type { Budget } from "../../src/core/budget.ts";
import type { Sinks } from "../../src/queue/shared.ts";
import type { SharedOptions } from "../../src/queue/shared.ts";

export const plenty: Budget = {
  perMonth: 50_000,
  perMinute: 600,
  reserve: { writes: 0, readBacks: 0 },
  share: { audit: 45 },
};

export const sharedOptions = (
  { url }: { readonly url: string },
  options: Partial<SharedOptions> = {},
): SharedOptions => ({
  redis: { url, username: null, password: null },
  scope: "test",
  budget: plenty,
  clock: systemClock(),
  note: () => {},
  windowMs: 200,
  lookMs: 100,
  atOnce: 1,
  rules: "same",
  ...options,
});

/** What a worker is opened with: sinks of the test's own. */
export const endpointOf = (sinks: Sinks) => ({ sinks, close: async (): Promise<void> => {} });
