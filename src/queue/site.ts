/**
 * One site among those that share an API key: keeps its name taken, watches Redis and the workers, and knows what is
 * wrong. Two daemons under one name would count each other's requests as their own.
 */
import { randomUUID } from "node:crypto";
import { watchHealth } from "./health.ts";
import { type Keys, PRELUDE } from "./keys.ts";
import { again, type Hub, RedisTrouble, type Trouble } from "./redis.ts";
import { WORKER_ALIVE_MS } from "./permits.ts";

export interface SiteOptions {
  readonly hub: Hub;
  readonly keys: Keys;
  readonly site: string;
  readonly note: (message: string, details: Readonly<Record<string, unknown>>) => void;
  readonly lookMs: number;
  /** Done with every look, while Redis can be reached. */
  readonly also?: () => Promise<void>;
}

export interface Site {
  readonly name: string;
  /** This start of this process, which the name belongs to. */
  readonly boot: string;
  /** Once it has looked for the first time. */
  readonly looked: Promise<void>;
  trouble(): Lasting | null;
  /** What Redis itself is to be put right about; the rest shows with every job. */
  unfit(): Trouble | null;
  close(): Promise<void>;
}

/** `since`: ISO 8601 UTC. */
type Lasting = Trouble & { readonly since: string };

/** A daemon that ended without a word keeps its name this long. */
const NAME_KEPT_MS = 30_000;

export function openSite({ hub, keys, site: name, note, lookMs, also }: SiteOptions): Site {
  const boot = randomUUID();
  const health = watchHealth(hub, ({ message, next }) =>
    note("redis can lose jobs", { detail: message, next }),
  );
  let unfit: Trouble | null = null;
  let trouble: Lasting | null = null;

  async function look(): Promise<void> {
    const now = await found();
    const before = trouble;
    trouble = now === null ? null : { ...now, since: before?.since ?? new Date().toISOString() };
    if (now?.code === before?.code) return;
    if (now === null) note("going on", { scope: "queue" });
    else note("stopped", { scope: "queue", detail: now.message, next: now.next });
  }

  async function found(): Promise<Trouble | null> {
    try {
      unfit = await health.check();
      const args = [boot, NAME_KEPT_MS, WORKER_ALIVE_MS];
      const [owner, workers] = (await hub.run(LOOK, [keys.site(name), keys.workers], args)) as [
        string,
        number,
      ];
      await also?.();
      if (unfit !== null) return unfit;
      if (owner !== boot) return otherSite(name);
      return workers === 0 ? NO_WORKER : null;
    } catch (error) {
      if (!(error instanceof RedisTrouble)) throw error;
      return { code: error.code, message: error.message, next: error.next };
    }
  }

  const { looked, stop } = again(hub, lookMs, look);
  return {
    name,
    boot,
    looked,
    trouble: () => trouble,
    unfit: () => unfit,
    async close() {
      await stop();
      await hub.run(LEAVE, [keys.site(name)], [boot]).catch(() => {});
    },
  };
}

export const NO_WORKER: Trouble = {
  code: "no-worker",
  message: "no worker is connected",
  next: "Start `fuelbridge worker` with this configuration, on this machine or another one.",
};

export const otherSite = (name: string): Trouble => ({
  code: "other-site",
  message: `another daemon is site "${name}" of this API key`,
  next: `Give each its own queue.site; if there is only one, it goes on within ${NAME_KEPT_MS / 1_000} s.`,
});

const LOOK = `${PRELUDE}
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX')
local owner = redis.call('GET', KEYS[1])
if owner == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return {owner, redis.call('ZCOUNT', KEYS[2], now - ARGV[3], '+inf')}`;

const LEAVE = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;
