/** Sites and workers over one Redis, with less patience than in earnest. */
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/app/process.ts";
import type { Budget, Purpose, Spent } from "../../src/core/budget.ts";
import type { Exchange } from "../../src/platform/client.ts";
import type { GovernorOptions } from "../../src/queue/governor.ts";
import {
  openSharedSite,
  openSharedWorker,
  type SharedOptions,
  type Times,
} from "../../src/queue/shared.ts";
import type { TestRedis } from "./redis.ts";
import { sharedOptions, type TestRequest } from "./shared-options.ts";

const quickTimes = { startMs: 1_500, runMs: 1_500, pollMs: 50 };

export const plenty: Budget = {
  perMonth: 50_000,
  perMinute: 600,
  reserve: { writes: 0, readBacks: 0 },
  share: { audit: 45 },
};

export type TestSiteOptions = Partial<SharedOptions & Omit<GovernorOptions, "ledger">> & {
  site?: string;
  spent?: Spent;
  times?: Partial<Times>;
};

export type TestSite = ReturnType<typeof openTestSite>;

/** With plenty of everything, and a minute of 200 ms. Ends with the test. */
export function openTestSite(redis: Pick<TestRedis, "url">, options: TestSiteOptions = {}) {
  const spent = new Map<string, number>(Object.entries(options.spent ?? {}));
  const { governor, queue } = openSharedSite({
    budget: plenty,
    clock: systemClock(),
    windowMs: 200,
    rules: "same",
    weight: 1,
    times: quickTimes,
    ...sharedOptions(redis),
    ...options,
    ledger: {
      site: options.site ?? "main",
      spent: () => Object.fromEntries(spent),
      spend: (_, purpose: Purpose) => void spent.set(purpose, (spent.get(purpose) ?? 0) + 1),
      closedUntil: () => null,
    },
  });
  onTestFinished(() => queue.close());
  const carry = (request: TestRequest) =>
    queue.carry<Exchange & { readonly detail?: string }>(request);
  /** `spent`: what its store has counted, by purpose. */
  return { governor, queue, carry, spent };
}

/** In this process; takes jobs when it returns, and ends with the test. */
export async function startTestWorker(
  redis: Pick<TestRedis, "url">,
  send: (request: TestRequest) => Promise<Exchange>,
  options: Partial<SharedOptions> = {},
): Promise<void> {
  const worker = openSharedWorker(sharedOptions(redis, options), { send, close: async () => {} });
  onTestFinished(() => worker.close());
  await worker.looked;
}
