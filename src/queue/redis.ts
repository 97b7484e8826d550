/**
 * The connection to Redis. A command is answered or fails within seconds, nothing is kept for later while Redis is
 * away, and what fails says in words what is wrong with Redis and what to do.
 */
import { setTimeout } from "node:timers/promises";
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

/** For people: what is wrong, and what to do. */
export const inWords = ({ message, next }: Trouble): string => `${message}. ${next}`;

/** Redis did not do what it was told, or did not say so. */
class RedisTrouble extends Error {
  readonly trouble: Trouble;

  constructor(trouble: Trouble, cause: unknown) {
    super(trouble.message, { cause });
    this.name = "RedisTrouble";
    this.trouble = trouble;
  }
}

/** @throws what is no trouble of Redis, but a fault of ours */
export function troubleOf(error: unknown): Trouble {
  if (error instanceof RedisTrouble) return error.trouble;
  throw error;
}

/** Redis did not answer: what it was told may have happened. */
export const UNREACHABLE = "unreachable";

const COMMAND_MS = 5_000;
const CONNECT_MS = 5_000;
const RECONNECT_MS_MAX = 1_000;

/** `scope` names the API key without telling it: all that share one key share the names in Redis. */
export function openHub(address: RedisAddress, scope: string) {
  const { host } = new URL(address.url);
  const place = host === "" ? "localhost:6379" : host;
  const prefix = prefixOf(scope);
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
    /** Of all names in Redis; its braces keep them together in a cluster. */
    prefix,
    redis,
    /** Resolves once it is connected, or is known not to be. */
    connected,
    /** Any command. @throws RedisTrouble; then it may have run all the same */
    ask,
    ...scriptsOn(redis, prefix, ask),
    /**
     * For what waits as long as Redis is away, and goes then: BullMQ's workers, who listens, and answers. Whoever gets it ends it.
     */
    waiting() {
      const line = connect(address, { maxRetriesPerRequest: null });
      return { redis: line, ...scriptsOn(line, prefix, (command) => command) };
    },
    close: async (): Promise<void> => redis.disconnect(),
  };
}

type Scripts = Readonly<Record<string, (...args: (string | number)[]) => Promise<unknown[]>>>;

/** Scripts over one connection. */
function scriptsOn(
  redis: Redis,
  prefix: string,
  ask: <Reply>(command: Promise<Reply>) => Promise<Reply>,
) {
  const names = new Map<string, string>();
  let told = { life: "", aheadMs: 0 };
  return {
    /** Runs the body of a Lua function, atomically, that knows {@link PRELUDE}. @throws RedisTrouble; then it may have run all the same */
    async run(lua: string, given: object, texts: readonly string[] = []): Promise<unknown> {
      const name = names.get(lua) ?? `fuelbridge${names.size}`;
      const text = `${PRELUDE}\nlocal function reply()${lua}\nend\nreturn {cjson.encode(reply() or false), now, run}`;
      // ioredis sends a script once, and its hash after that.
      if (!names.has(lua)) redis.defineCommand(name, { lua: text, numberOfKeys: 1 });
      names.set(lua, name);
      const command = (redis as unknown as Scripts)[name] as Scripts[string];
      const called = command.call(redis, prefix, JSON.stringify(given), ...texts);
      const [reply, nowMs, life] = (await ask(called)) as [string, number, string];
      told = { life, aheadMs: nowMs - performance.now() };
      return JSON.parse(reply);
    },
    /** As of the last script: its clock, never ahead of what it is, ms; and which life of Redis it is: a restart or a failover begins another. */
    told: () => ({ life: told.life, nowMs: Math.floor(told.aheadMs + performance.now()) }),
  };
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

/** Of a table of troubles, one a line: its code, message and next step, and what else it says of each. */
export const troublesIn = (table: string) =>
  table
    .trim()
    .split("\n")
    .map((line) => line.split(" | ") as [code: string, message: string, next: string, ...string[]]);

/** What is wrong with Redis, and the words by which it is known: its own complaints begin with a code. */
const complaints = troublesIn(`
no-memory | has no memory left | Raise its maxmemory, or take out of it what is not fuelbridge's. | OOM
credentials | refuses our user name or password | Correct queue.username and queue.password. | NOAUTH|WRONGPASS|invalid password|without any password
no-right | does not allow our user what fuelbridge needs | Give the user of queue.username all commands and keys of this database. | NOPERM
replica | is a replica, which nobody can write to | Let queue.url name the primary. | READONLY
disk | cannot write to its disk and takes nothing | See its log: its disk is full or broken. | MISCONF
loading | is still reading its data | Wait: work goes on by itself. | LOADING`);

function explain(place: string, error: Error, lastFault: Error | null): Trouble {
  const at = `Redis at ${place}`;
  const said = `${error.message} ${lastFault?.message}`;
  const words = (lastFault ?? error).message || (lastFault ?? error).name;
  for (const [code, message, next, known = ""] of complaints)
    if (new RegExp(known).test(said)) return { code, message: `${at} ${message} (${words})`, next };
  if (error.name === "ReplyError")
    return { code: "refused", message: `${at} refuses: ${error.message}`, next: "See its log." };
  const plain = words.startsWith("Stream isn't writeable") ? "the connection was lost" : words;
  return {
    code: UNREACHABLE,
    message: `${at} cannot be reached (${plain})`,
    next: "Start it, or correct queue.url; work goes on by itself.",
  };
}

/** Of the API key that `scope` names. */
export const prefixOf = (scope: string): string => `{fuelbridge-${scope}}`;

/** BullMQ's queue. */
export const QUEUE = "jobs";

/**
 * For every script: what it is given, the time in ms, and which life of Redis this is: a restart or a failover begins another one. And
 * the names: when each site was last heard of, and how it is configured; what is there while a worker is heard of; the requests of the last
 * minute, how many of them each site has, and until when none may go; BullMQ's jobs; the answers to those of a job, by request.
 */
export const PRELUDE = `
local given = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local run = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
local sites, worker = KEYS[1] .. ':sites', KEYS[1] .. ':worker'
local minute, uses, gate = KEYS[1] .. ':minute', KEYS[1] .. ':uses', KEYS[1] .. ':gate'
local jobs, answers = KEYS[1] .. ':${QUEUE}:', KEYS[1] .. ':answers:'
local function pairsOf(key, found)
  local list = redis.call('HGETALL', key)
  for at = 1, #list, 2 do found[list[at]] = tonumber(list[at + 1]) end
  return found
end
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
    const told = await hub.ask(hub.redis.info());
    const of = (field: string) => new RegExp(`^${field}:(\\S+)`, "m").exec(told)?.[1];
    if (of("aof_enabled") !== "1" && !isAdvised) {
      isAdvised = true;
      const detail = `Redis at ${hub.place} keeps nothing on its disk: when it restarts, every job in hand becomes uncertain`;
      const next = 'Set "appendonly yes" in its configuration.';
      note("redis can lose jobs", { detail, next });
    }
    const policy = of("maxmemory_policy") ?? "unknown";
    if (policy === "noeviction") return found();
    // BullMQ works over such a Redis, and only prints a warning.
    return {
      code: "evicts",
      message: `Redis at ${hub.place} throws data away when its memory is full (maxmemory-policy ${policy})`,
      next: 'Set "maxmemory-policy noeviction" in its configuration; work goes on by itself.',
    };
  }
  async function look(): Promise<void> {
    const now = await looking().catch(troubleOf);
    const before = trouble;
    trouble = now === null ? null : { ...now, since: before?.since ?? new Date().toISOString() };
    if (now?.code === before?.code) return;
    if (now === null) note("going on", { scope: "queue" });
    else note("stopped", { scope: "queue", detail: now.message, next: now.next });
  }
  const stopping = new AbortController();
  const { signal } = stopping;
  const looked = hub.connected.then(look);
  const all = (async () => {
    for (await looked; !signal.aborted; await look())
      await setTimeout(lookMs, null, { signal }).catch(() => {});
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
