/** Sites and workers over one Redis, with less patience than in earnest. */
import { onTestFinished } from "vitest";
import type { Governor, Purpose, Spent } from "../../src/core/budget.ts";
import type { Sinks } from "../../src/queue/shared.ts";
import {
  openSharedSite,
  openSharedWorker,
  type SharedOptions,
  type SharedSite,
  type Times,
} from "../../src/queue/shared.ts";
import type { SiteLedger } from "../../src/queue/governor.ts";
import type { TestRedis } from "./redis.ts";
import { endpointOf, sharedOptions } from "./shared-options.ts";

const quickTimes = { startMs: 1_500, runMs: 1_500, pollMs: 50 };

export interface TestSite extends SharedSite {
  /** What its store has counted, by purpose. */
  readonly spent: Map<string, number>;
}

/** Ends with the test. */
export function openTestSite(
  redis: Pick<TestRedis, "url">,
  options: Partial<SharedOptions> & { site?: string; spent?: Spent; times?: Partial<Times> } = {},
): TestSite {
  const spent = new Map<string, number>(Object.entries(options.spent ?? {}));
  const count = (purpose: Purpose, requests: number): void =>
    void spent.set(purpose, (spent.get(purpose) ?? 0) + requests);
  const ledger: SiteLedger = {
    site: options.site ?? "main",
    spent: () => Object.fromEntries(spent),
    spend: (_, purpose) => count(purpose, 1),
    carried: count,
    closedUntil: () => null,
  };
  const shared = openSharedSite({
    ...sharedOptions(redis, options),
    ledger,
    times: options.times ?? quickTimes,
  });
  onTestFinished(() => shared.queue.close());
  return { ...shared, spent };
}

/** In this process; takes jobs when it returns, and ends with the test. */
export async function startTestWorker(
  redis: Pick<TestRedis, "url">,
  sinks: (governor: Governor) => Sinks,
  options: Partial<SharedOptions> = {},
): Promise<void> {
  const open = (governor: Governor) => endpointOf(sinks(governor));
  const worker = openSharedWorker(sharedOptions(redis, options), open);
  onTestFinished(() => worker.close());
  await worker.looked;
}
