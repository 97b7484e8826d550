/**
 * The connection to Redis. A command is answered or fails within seconds, nothing is kept for later while Redis is
 * away, and what fails says in words what is wrong with Redis and what to do.
 */
import { setImmediate } from "node:timers/promises";
import { Redis } from "ioredis";
import { defined } from "../core/defined.ts";

export interface RedisAddress {
  /** `redis://host:6379`, `rediss://` over TLS; a database as its path. No user name or password in it. */
  readonly url: string;
  readonly username: string | null;
  readonly password: string | null;
}

export type Hub = ReturnType<typeof openHub>;

export interface Trouble {
  /** Stable, kebab-case: with another code it is another trouble. */
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

/** Redis did not do what it was told, or did not say so. */
export class RedisTrouble extends Error {
  readonly trouble: Trouble;

  constructor(trouble: Trouble, cause: unknown) {
    super(trouble.message, { cause });
    this.name = "RedisTrouble";
    this.trouble = trouble;
  }
}

/** Redis did not answer: what it was told may have happened. */
export const UNREACHABLE = "unreachable";

const COMMAND_MS = 5_000;
const CONNECT_MS = 5_000;
const RECONNECT_MS_MAX = 1_000;

export function openHub(address: RedisAddress) {
  const { host } = new URL(address.url);
  const place = host === "" ? "localhost:6379" : host;
  const redis = connect(address, {
    commandTimeout: COMMAND_MS,
    enableOfflineQueue: false,
    // A command whose answer was lost is asked for again by us, or not at all.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    lazyConnect: true,
  });
  let lastFault: Error | null = null;
  redis.on("error", (error: Error) => (lastFault = error)).on("ready", () => (lastFault = null));
  const connected = redis.connect().catch(() => {});
  const ask = async <Reply>(command: Promise<Reply>): Promise<Reply> => {
    try {
      return await command;
    } catch (error) {
      throw new RedisTrouble(explain(place, error as Error, lastFault), error);
    }
  };
  return {
    /** Where it is, without what is secret: `redis.example.com:6379`. */
    place,
    redis,
    /** Resolves once it is connected, or is known not to be. */
    connected,
    /** Any command. @throws RedisTrouble; then it may have run all the same */
    ask,
    ...scriptsOn(redis, ask),
    /**
     * For what waits as long as Redis is away, and goes then: BullMQ's workers, who listens, and answers. Whoever gets it ends it.
     */
    waiting() {
      const line = connect(address, { maxRetriesPerRequest: null });
      return { redis: line, ...scriptsOn(line, (command) => command) };
    },
    close: async (): Promise<void> => redis.disconnect(),
  };
}

interface Call {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

type Scripts = Readonly<Record<string, (...args: (string | number)[]) => Promise<unknown[]>>>;

/** Scripts over one connection. */
function scriptsOn(redis: Redis, ask: <Reply>(command: Promise<Reply>) => Promise<Reply>) {
  const names = new Map<string, string>();
  let told = { life: "", aheadMs: 0 };
  return {
    /** Runs the body of a Lua function, atomically, that knows {@link PRELUDE}. @throws RedisTrouble; then it may have run all the same */
    async run(lua: string, { keys, args }: Call): Promise<unknown> {
      const name = names.get(lua) ?? `fuelbridge${names.size}`;
      const text = `${PRELUDE}\nlocal function reply()${lua}\nend\nreturn {reply() or false, now, run}`;
      // ioredis sends a script once, and its hash after that.
      if (!names.has(lua)) redis.defineCommand(name, { lua: text });
      names.set(lua, name);
      const command = (redis as unknown as Scripts)[name] as Scripts[string];
      const [reply, nowMs, life] = await ask(command.call(redis, keys.length, ...keys, ...args));
      told = { life: life as string, aheadMs: (nowMs as number) - performance.now() };
      return reply;
    },
    /** As of the last script: its clock, never ahead of what it is, ms; and which life of Redis it is: a restart or a failover begins another. */
    told: () => ({ life: told.life, nowMs: Math.floor(told.aheadMs + performance.now()) }),
  };
}

/**
 * What is asked for in one turn of this process, or while its like is under way, goes together: `most` at a time, answered in their order.
 */
export function together<Item, Reply>(
  most: number,
  run: (items: readonly Item[]) => Promise<readonly Reply[]>,
): (item: Item) => Promise<Reply> {
  const waiting: (PromiseWithResolvers<Reply> & { readonly item: Item })[] = [];
  let isUnderWay = false;
  async function go(): Promise<void> {
    isUnderWay = true;
    while (waiting.length > 0) {
      await setImmediate();
      const those = waiting.splice(0, most);
      try {
        const replies = await run(those.map(({ item }) => item));
        for (const [at, { resolve }] of those.entries()) resolve(replies[at] as Reply);
      } catch (error) {
        for (const { reject } of those) reject(error);
      }
    }
    isUnderWay = false;
  }
  return (item) => {
    const place = { ...Promise.withResolvers<Reply>(), item };
    waiting.push(place);
    if (!isUnderWay) void go();
    return place.promise;
  };
}

/** What comes of it, but waits no longer than `ms`: it goes on by itself then. */
export async function within<Came>(ms: number, work: Promise<Came>): Promise<Came | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ms, undefined);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function connect({ url, username, password }: RedisAddress, options: object): Redis {
  const redis = new Redis(url, {
    ...defined({ username: username ?? undefined, password: password ?? undefined }),
    connectTimeout: CONNECT_MS,
    connectionName: "fuelbridge",
    retryStrategy: (times) => Math.min(times * 100, RECONNECT_MS_MAX),
    ...options,
  });
  // Whoever uses a connection hears of its faults from the commands; without a listener they would end the process.
  return redis.on("error", () => {});
}

/** What Redis says (its own words begin with a code), what that means, and what to do: `code | words | message | next`. */
const complaints = `
no-memory | OOM | has no memory left | Raise its maxmemory, or take out of it what is not fuelbridge's.
credentials | NOAUTH|WRONGPASS|invalid password|without any password | refuses our user name or password | Correct queue.username and queue.password.
no-right | NOPERM | does not allow our user what fuelbridge needs | Give the user of queue.username all commands and keys of this database.
replica | READONLY | is a replica, which nobody can write to | Let queue.url name the primary.
disk | MISCONF | cannot write to its disk and takes nothing | See its log: its disk is full or broken.
loading | LOADING | is still reading its data | Wait: work goes on by itself.`
  .trim()
  .split("\n")
  .map((line) => {
    const [code = "", words = "", message = "", next = ""] = line.split(" | ");
    return { code, words: new RegExp(words), message, next };
  });

function explain(place: string, error: Error, lastFault: Error | null): Trouble {
  const said = `${error.message} ${lastFault?.message}`;
  const known = complaints.find(({ words }) => words.test(said));
  const words = (lastFault ?? error).message || (lastFault ?? error).name;
  const plain = words.startsWith("Stream isn't writeable") ? "the connection was lost" : words;
  const at = `Redis at ${place}`;
  if (known !== undefined) return { ...known, message: `${at} ${known.message} (${words})` };
  if (error.name === "ReplyError")
    return { code: "refused", message: `${at} refuses: ${error.message}`, next: "See its log." };
  return {
    code: UNREACHABLE,
    message: `${at} cannot be reached (${plain})`,
    next: "Start it, or correct queue.url; work goes on by itself.",
  };
}

/**
 * Names in Redis. All that share one API key share one prefix, and its braces keep them together in a cluster. `scope` names
 * the API key without telling it.
 */
export function keysOf(scope: string) {
  const prefix = `{fuelbridge-${scope}}`;
  return {
    /** Of BullMQ's own names. */
    prefix,
    /** What BullMQ keeps of a job, who has it, and which nobody has. */
    job: (id: string) => [`${prefix}:${QUEUE}:${id}`, `${prefix}:${QUEUE}:${id}:lock`] as const,
    waiting: `${prefix}:${QUEUE}:prioritized`,
    /** What came of the requests of a job, by request. */
    answers: (job: string) => `${prefix}:answers:${job}`,
    /** Is there while a worker is heard of. */
    worker: `${prefix}:worker`,
    /** By site: when its daemon was last heard of, and how it is configured. */
    sites: `${prefix}:sites`,
    /** Where answers to a site are called out. */
    home: (site: string) => `${prefix}:home:${site}`,
    /** The requests of the last minute, how many of them each site has, and until when none may go. */
    minute: `${prefix}:minute`,
    uses: `${prefix}:uses`,
    gate: `${prefix}:gate`,
    /** `2026-11`, UTC: requests by site. */
    month: (month: string) => `${prefix}:month:${month}`,
  };
}

export type Keys = ReturnType<typeof keysOf>;

export const QUEUE = "jobs";

/** For every script: the time in ms, and which life of Redis this is. A restart or a failover begins another one. */
export const PRELUDE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
`;

export interface Watching {
  readonly note: (message: string, details: Readonly<Record<string, unknown>>) => void;
  /** How often each tells that it is there, and looks whether all is well. */
  readonly lookMs?: number;
}

const LOOK_MS = 2_000;

/**
 * Looks once Redis is connected, or is known not to be, and then again and again, whether all is well; tells when trouble begins
 * and ends. `found`: what is wrong besides, where Redis itself can be relied on.
 */
export function watch(
  hub: Hub,
  { note, lookMs = LOOK_MS }: Watching,
  found: () => Promise<Trouble | null>,
) {
  /** `since`: ISO 8601 UTC. */
  let trouble: (Trouble & { readonly since: string }) | null = null;
  let isAdvised = false;
  async function looking(): Promise<Trouble | null> {
    try {
      const told = await hub.ask(hub.redis.info());
      const of = (field: string) => new RegExp(`^${field}:(\\S+)`, "m").exec(told)?.[1];
      if (of("aof_enabled") !== "1" && !isAdvised) {
        isAdvised = true;
        const detail = `Redis at ${hub.place} keeps nothing on its disk: when it restarts, every job in hand becomes uncertain`;
        const next = 'Set "appendonly yes" in its configuration.';
        note("redis can lose jobs", { detail, next });
      }
      const policy = of("maxmemory_policy") ?? "unknown";
      return policy === "noeviction" ? await found() : evicts(hub.place, policy);
    } catch (error) {
      if (!(error instanceof RedisTrouble)) throw error;
      return error.trouble;
    }
  }
  async function look(): Promise<void> {
    const now = await looking();
    const before = trouble;
    trouble = now === null ? null : { ...now, since: before?.since ?? new Date().toISOString() };
    if (now?.code === before?.code) return;
    if (now === null) note("going on", { scope: "queue" });
    else note("stopped", { scope: "queue", detail: now.message, next: now.next });
  }
  const stopping = new AbortController();
  const stopped = new Promise((resolve) => stopping.signal.addEventListener("abort", resolve));
  const looked = hub.connected.then(look);
  const all = (async () => {
    for (await looked; !stopping.signal.aborted; await look()) await within(lookMs, stopped);
  })();
  return {
    /** Once it has looked for the first time. */
    looked,
    trouble: () => trouble,
    stop: async (): Promise<void> => {
      stopping.abort();
      await all;
    },
  };
}

/** BullMQ works over such a Redis, and only prints a warning. */
const evicts = (place: string, policy: string): Trouble => ({
  code: "evicts",
  message: `Redis at ${place} throws data away when its memory is full (maxmemory-policy ${policy})`,
  next: 'Set "maxmemory-policy noeviction" in its configuration; work goes on by itself.',
});
