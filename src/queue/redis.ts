/**
 * The connection to Redis. A command is answered or fails within seconds, nothing is kept for later while Redis is
 * away, and what fails says in words what is wrong with Redis and what to do.
 */
import { Redis } from "ioredis";
import { defined } from "../core/defined.ts";

export interface RedisAddress {
  /** `redis://host:6379`, `rediss://` over TLS; a database as its path. No user name or password in it. */
  readonly url: string;
  readonly username: string | null;
  readonly password: string | null;
}

export interface Hub {
  /** Where it is, without what is secret: `redis.example.com:6379`. */
  readonly place: string;
  readonly redis: Redis;
  /** Runs a Lua script, atomically. @throws RedisTrouble; then it may have run all the same */
  run(lua: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
  /** The same for any command. @throws RedisTrouble */
  ask<Reply>(command: Promise<Reply>): Promise<Reply>;
  /** For what waits in Redis as long as it takes: BullMQ's workers and listeners. Whoever gets it ends it. */
  waiting(): Redis;
  close(): Promise<void>;
}

export interface Trouble {
  /** Stable, kebab-case: with another code it is another trouble. */
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

/** Redis did not do what it was told, or did not say so. */
export class RedisTrouble extends Error {
  readonly code: string;
  readonly next: string;

  constructor({ code, message, next }: Trouble, cause: unknown) {
    super(message, { cause });
    this.name = "RedisTrouble";
    this.code = code;
    this.next = next;
  }
}

const COMMAND_MS = 5_000;
const CONNECT_MS = 5_000;
const RECONNECT_MS_MAX = 2_000;

export function openHub(address: RedisAddress): Hub {
  const { host } = new URL(address.url);
  const place = host === "" ? "localhost:6379" : host;
  const redis = connect(address, {
    commandTimeout: COMMAND_MS,
    enableOfflineQueue: false,
    // A command whose answer was lost is asked for again by us, or not at all.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  });
  let lastFault: Error | null = null;
  redis.on("error", (error: Error) => (lastFault = error)).on("ready", () => (lastFault = null));
  const ask = async <Reply>(command: Promise<Reply>): Promise<Reply> => {
    try {
      return await command;
    } catch (error) {
      throw new RedisTrouble(explain(place, error as Error, lastFault), error);
    }
  };
  return {
    place,
    redis,
    ask,
    run: (lua, keys, args) => ask(redis.eval(lua, keys.length, ...keys, ...args)),
    waiting: () => connect(address, { maxRetriesPerRequest: null }),
    close: async () => redis.disconnect(),
  };
}

/** Resolves once it is connected, or is known not to be. */
export async function connected({ redis }: Hub, ms = CONNECT_MS): Promise<void> {
  if (redis.status === "ready") return;
  const { promise, resolve } = Promise.withResolvers<void>();
  redis.on("ready", resolve).on("error", resolve);
  await within(ms, promise);
  redis.off("ready", resolve).off("error", resolve);
}

/** Looks once it is connected, or is known not to be, and then again and again, one look at a time. */
function again(
  hub: Hub,
  ms: number,
  look: () => Promise<void>,
): { readonly looked: Promise<void>; readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const stopped = new Promise((resolve) => stopping.signal.addEventListener("abort", resolve));
  const looked = connected(hub).then(look);
  const looking = (async () => {
    for (await looked; !stopping.signal.aborted; await look()) await within(ms, stopped);
  })();
  return {
    looked,
    stop: async () => {
      stopping.abort();
      await looking;
    },
  };
}

/** Waits for it, but no longer than `ms`: it goes on by itself then. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function connect({ url, username, password }: RedisAddress, options: object): Redis {
  const redis = new Redis(url, {
    ...defined({ username: username ?? undefined, password: password ?? undefined }),
    connectTimeout: CONNECT_MS,
    connectionName: "fuelbridge",
    retryStrategy: (times) => Math.min(times * 200, RECONNECT_MS_MAX),
    ...options,
  });
  // Whoever uses a connection hears of its faults from the commands; without a listener they would end the process.
  return redis.on("error", () => {});
}

/** What Redis says, and what follows from it. Its own words begin with a code. */
const complaints: readonly (Trouble & { readonly words: RegExp })[] = [
  {
    code: "no-memory",
    words: /OOM/,
    message: "has no memory left",
    next: "Raise its maxmemory, or take out of it what is not fuelbridge's.",
  },
  {
    code: "credentials",
    words: /NOAUTH|WRONGPASS|invalid password|without any password/,
    message: "refuses our user name or password",
    next: "Correct queue.username and queue.password.",
  },
  {
    code: "no-right",
    words: /NOPERM/,
    message: "does not allow our user what fuelbridge needs",
    next: "Give the user of queue.username all commands and keys of this database.",
  },
  {
    code: "replica",
    words: /READONLY/,
    message: "is a replica, which nobody can write to",
    next: "Let queue.url name the primary.",
  },
  {
    code: "disk",
    words: /MISCONF/,
    message: "cannot write to its disk and takes nothing",
    next: "See its log: its disk is full or broken.",
  },
  {
    code: "loading",
    words: /LOADING/,
    message: "is still reading its data",
    next: "Wait: work goes on by itself.",
  },
];

function explain(place: string, error: Error, lastFault: Error | null): Trouble {
  const said = `${error.message} ${lastFault?.message}`;
  const known = complaints.find((one) => one.words.test(said));
  const words = (lastFault ?? error).message || (lastFault ?? error).name;
  const plain = words.startsWith("Stream isn't writeable") ? "the connection was lost" : words;
  if (known !== undefined)
    return { ...known, message: `Redis at ${place} ${known.message} (${words})` };
  if (error.name === "ReplyError")
    return {
      code: "refused",
      message: `Redis at ${place} refuses: ${error.message}`,
      next: "See its log.",
    };
  return {
    code: "unreachable",
    message: `Redis at ${place} cannot be reached (${plain})`,
    next: "Start it, or correct queue.url; work goes on by itself.",
  };
}

/** Names in Redis. All that share one API key share one prefix, and its braces keep them together in a cluster. */
export interface Keys {
  /** Of BullMQ's own names. */
  readonly prefix: string;
  readonly permit: (job: string) => string;
  /** When each worker was last heard of. */
  readonly workers: string;
  /** Which process speaks for a site. */
  readonly site: (site: string) => string;
  /** The requests of the last minute, and until when none may go. */
  readonly minute: string;
  readonly gate: string;
  /** `2026-11`, UTC: requests by site. */
  readonly month: (month: string) => string;
}

/** `scope` names the API key without telling it. */
export function keysOf(scope: string): Keys {
  const prefix = `{fuelbridge-${scope}}`;
  return {
    prefix,
    // Daemons and workers of earlier versions know a permit by this name.
    permit: (job) => `${prefix}:ticket:${job}`,
    workers: `${prefix}:workers`,
    site: (site) => `${prefix}:site:${site}`,
    minute: `${prefix}:minute`,
    gate: `${prefix}:gate`,
    month: (month) => `${prefix}:month:${month}`,
  };
}

export const QUEUE = "jobs";

/** For every script: the time in ms, and which life of Redis this is. A restart or a failover begins another one. */
export const PRELUDE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  .. string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
`;

/** `since`: ISO 8601 UTC. */
export type Lasting = Trouble & { readonly since: string };

export interface Watching {
  readonly note: (message: string, details: Readonly<Record<string, unknown>>) => void;
  readonly lookMs: number;
  /** Done with every look, while Redis can be reached. */
  readonly also?: () => Promise<void>;
}

/**
 * Looks again and again whether all is well, and tells when trouble begins and ends. `found`: what is wrong besides, where
 * Redis itself can be relied on or `unfit` says why it cannot. `about`: goes with what is told.
 */
export function watch(
  hub: Hub,
  { note, lookMs, also }: Watching,
  about: Readonly<Record<string, unknown>>,
  found: (unfit: Trouble | null) => Promise<Trouble | null>,
) {
  const health = watchHealth(hub, ({ message, next }) =>
    note("redis can lose jobs", { detail: message, next }),
  );
  let unfit: Trouble | null = null;
  let trouble: Lasting | null = null;
  async function looked(): Promise<Trouble | null> {
    try {
      unfit = await health.check();
      const now = await found(unfit);
      await also?.();
      return unfit ?? now;
    } catch (error) {
      if (!(error instanceof RedisTrouble)) throw error;
      return { code: error.code, message: error.message, next: error.next };
    }
  }
  async function look(): Promise<void> {
    const now = await looked();
    const before = trouble;
    trouble = now === null ? null : { ...now, since: before?.since ?? new Date().toISOString() };
    if (now?.code === before?.code) return;
    if (now === null) note("going on", about);
    else note("stopped", { ...about, detail: now.message, next: now.next });
  }
  return { ...again(hub, lookMs, look), trouble: () => trouble, unfit: () => unfit };
}

/* Whether this Redis can be relied on: BullMQ works over one that throws jobs away, and only prints a warning. */

interface Health {
  /** Why nothing may be entrusted to this Redis; null when it is fit. Asked once a minute. @throws RedisTrouble */
  check(): Promise<Trouble | null>;
}

const CHECK_MS = 60_000;

/** `advise`: told what does no harm and should be put right, once. */
function watchHealth(hub: Hub, advise: (advice: Trouble) => void): Health {
  let trouble: Trouble | null = null;
  let advice: Trouble | null = null;
  let checkedAt = -Infinity;
  // It may come back as another one.
  hub.redis.on("close", () => (checkedAt = -Infinity));
  return {
    async check() {
      if (trouble === null && performance.now() - checkedAt < CHECK_MS) return null;
      const before = advice;
      trouble = unfit(hub, await setting(hub, "maxmemory-policy", "memory", "maxmemory_policy"));
      advice = risky(hub, await setting(hub, "appendonly", "persistence", "aof_enabled"));
      checkedAt = performance.now();
      if (advice !== null && before === null) advise(advice);
      return trouble;
    },
  };
}

const unfit = ({ place }: Hub, policy: string): Trouble | null =>
  policy === "noeviction"
    ? null
    : {
        code: "evicts",
        message: `Redis at ${place} throws data away when its memory is full (maxmemory-policy ${policy})`,
        next: 'Set "maxmemory-policy noeviction" in its configuration; work goes on by itself.',
      };

const risky = ({ place }: Hub, aof: string): Trouble | null =>
  aof === "yes" || aof === "1"
    ? null
    : {
        code: "keeps-nothing",
        message: `Redis at ${place} keeps nothing on its disk: when it restarts, every job in hand becomes uncertain`,
        next: 'Set "appendonly yes" in its configuration.',
      };

/** From the configuration of Redis; where a provider forbids that, from what it tells of itself. */
async function setting(hub: Hub, name: string, section: string, field: string): Promise<string> {
  try {
    const [, value] = (await hub.redis.config("GET", name)) as [string, string?];
    if (value !== undefined) return value;
  } catch (error) {
    // Only Redis itself can forbid it; that it cannot be reached is for the next command to tell.
    if ((error as Error).name !== "ReplyError") return hub.ask(Promise.reject(error as Error));
  }
  const told = await hub.ask(hub.redis.info(section));
  return new RegExp(`^${field}:(\\S+)`, "m").exec(told)?.[1] ?? "unknown";
}
