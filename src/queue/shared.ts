/** Several daemons and workers that share one API key, put together: over one Redis, with one budget. */
import type { Budget, Governor } from "../core/budget.ts";
import type { Endpoint } from "../core/contract.ts";
import { defined } from "../core/defined.ts";
import type { Clock } from "../core/time.ts";
import { bullmqQueue, openSite, type Times } from "./bullmq.ts";
import type { Queue, Sinks } from "./queue.ts";
import { openSharedGovernor, type SharedGovernor, type SiteLedger } from "./governor.ts";
import { keysOf, openHub, type RedisAddress } from "./redis.ts";
import { type JobWorker, startWorker } from "./worker.ts";

export interface SharedOptions {
  readonly redis: RedisAddress;
  /** Names the API key without telling it: those with the same one act as one. */
  readonly scope: string;
  readonly budget: Budget;
  readonly clock: Clock;
  readonly note: (message: string, details: Readonly<Record<string, unknown>>) => void;
  /** The window that `budget.perMinute` counts in, in ms. */
  readonly windowMs?: number;
  /** How often each tells that it is there, and looks whether all is well. */
  readonly lookMs?: number;
  /** Of a site (bullmq.ts). */
  readonly weight?: number;
  readonly rules?: string;
  /** Jobs that a worker has in hand at most. */
  readonly atOnce?: number;
}

const LOOK_MS = 2_000;

export interface SharedSite {
  readonly queue: Queue;
  readonly governor: SharedGovernor;
}

/** A daemon's side. Closing the queue closes everything; requests that come later are not admitted. */
export function openSharedSite(
  options: SharedOptions & { readonly ledger: SiteLedger; readonly times?: Partial<Times> },
): SharedSite {
  const { redis, scope, ledger, note, lookMs = LOOK_MS, times = {} } = options;
  const hub = openHub(redis);
  const keys = keysOf(scope);
  const also = () => governor.refresh();
  const { weight, rules } = options;
  const named = { site: ledger.site, ...defined({ weight, rules }) };
  const site = openSite({ hub, keys, note, lookMs, also, ...named });
  const governor = openSharedGovernor({ ...options, hub, keys, barred: () => site.barred() });
  const queue = bullmqQueue({ hub, keys, site, times, ledger });
  return {
    governor,
    queue: {
      ...queue,
      async close() {
        await queue.close();
        await site.close();
        await hub.close();
      },
    },
  };
}

/** A worker's side. Its endpoint sends what the governor admits, and ends with it. */
export function openSharedWorker(
  options: SharedOptions,
  open: (governor: Governor) => Pick<Endpoint, "close"> & { readonly sinks: Sinks },
): JobWorker {
  const { redis, scope, note, lookMs = LOOK_MS } = options;
  const hub = openHub(redis);
  const keys = keysOf(scope);
  const governor = openSharedGovernor({ ...options, hub, keys, ledger: null });
  const endpoint = open(governor);
  const also = () => governor.refresh();
  const worker = startWorker({
    hub,
    keys,
    sinks: endpoint.sinks,
    note,
    lookMs,
    also,
    ...defined({ atOnce: options.atOnce }),
  });
  return {
    ...worker,
    async close() {
      await worker.close();
      await endpoint.close();
      await hub.close();
    },
  };
}
