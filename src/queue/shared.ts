/** Several daemons and workers that share one API key, put together: over one Redis, with one budget. */
import type { Budget, Governor, Purpose } from "../core/budget.ts";
import type { Endpoint, Outgoing, Sink } from "../core/contract.ts";
import type { Clock } from "../core/time.ts";
import { type Errand, errands, openSharedGovernor, type SiteLedger } from "./governor.ts";
import {
  type Hub,
  type Keys,
  keysOf,
  openHub,
  QUEUE,
  type RedisAddress,
  RedisTrouble,
  SITE_ALIVE_MS,
  together,
  type Trouble,
  watch,
  type Watching,
  within,
} from "./redis.ts";
import { randomUUID } from "node:crypto";
import { type Job as BullJob, type JobsOptions, Queue as Bull, Worker } from "bullmq";
import { type Answer, nothingDone, outcomes, unanswered } from "../core/outcome.ts";
import { FuelbridgeError, SourceUnavailable } from "../core/errors.ts";

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
  /** Of a site. */
  readonly weight?: number;
  readonly rules?: string;
  /** It reads the feeds for all sites of the key. Left out: it is a site. */
  readonly isHub?: boolean;
  /** Where its store is. Of two daemons of a site that have one, the former has ended: it is held by one process. */
  readonly home?: string;
  /** Bundles of jobs that a worker has in hand at most. */
  readonly atOnce?: number;
}

const LOOK_MS = 2_000;

interface SiteOptions extends SharedOptions {
  readonly ledger: SiteLedger;
  readonly times?: Partial<Times>;
}

type Joined<Options> = Options & {
  readonly hub: Hub;
  readonly keys: Keys;
  readonly lookMs: number;
};

const joined = <Options extends SharedOptions>(options: Options): Joined<Options> => ({
  ...options,
  lookMs: options.lookMs ?? LOOK_MS,
  hub: openHub(options.redis),
  keys: keysOf(options.scope),
});

export type SharedSite = ReturnType<typeof openSharedSite>;

/** A daemon's side. Closing the queue closes everything; requests that come later are not admitted. */
export function openSharedSite(options: SiteOptions) {
  const shared = joined(options);
  const also = () => governor.refresh();
  const site = openSite({ ...shared, also });
  const governor = openSharedGovernor({ ...shared, barred: site.barred });
  const queue = bullmqQueue(shared, site);
  return {
    governor,
    queue: {
      ...queue,
      async close() {
        await queue.close();
        await site.close();
        await shared.hub.close();
      },
    } satisfies Queue,
  };
}

/** A worker's side. Its endpoint sends what the governor admits, and ends with it. */
export function openSharedWorker(
  options: SharedOptions,
  open: (governor: Governor) => Pick<Endpoint, "close"> & { readonly sinks: Sinks },
) {
  const shared = joined(options);
  const governor = openSharedGovernor({ ...shared, ledger: null });
  const endpoint = open(governor);
  const also = () => governor.refresh();
  const worker = startWorker({ ...shared, also }, endpoint.sinks);
  return {
    ...worker,
    async close() {
      await worker.close();
      await endpoint.close();
      await shared.hub.close();
    },
  };
}

// Who carries a request to its receiver: any worker that shares the API key. The queue decides nothing and remembers nothing that
// matters: the store is the truth before a job is handed over and after its answer has come home.

export interface Job {
  /** One send of one request: it is never used again. Not only digits, no colon. */
  readonly id: string;
  /** `rackPrices`: the sink's name at its endpoint. */
  readonly sink: string;
  readonly request: Outgoing;
}

export interface Queue {
  /**
   * Has the job carried out at most once and brings its answer home. It never rejects for what a receiver, a worker or
   * the queue itself does: what nobody took is `not-sent`, what somebody took and nobody answered is `torn`.
   */
  carry(job: Job): Promise<Answer>;
  /** Why nothing can be carried just now, and what to do; null when all is well. `since`: ISO 8601 UTC. */
  trouble(): { readonly since: string; readonly message: string; readonly next: string } | null;
  close(): Promise<void>;
}

/** By the names that jobs call them by. */
export type Sinks = Readonly<Record<string, Pick<Sink, "send">>>;

const unknownSink = (name: string, sinks: Sinks): string =>
  `there is no sink "${name}" here; there are: ${Object.keys(sinks).join(", ") || "none"}`;

// An endpoint's sinks, sending through a queue. The engine knows nothing of it: a sink is a sink.

/** While the queue is in trouble nothing counts as sent: the endpoint waits, and says why. */
const TROUBLE_WAITS_MS = 5_000;

/** The same sinks, each send of which is a job that a worker carries out. */
export const carriedBy = (
  queue: Queue,
  sinks: Readonly<Record<string, Sink>>,
): Record<string, Sink> =>
  Object.fromEntries(
    Object.entries(sinks).map(([name, sink]) => [
      name,
      {
        ...sink,
        async prepare(request, signal) {
          const trouble = queue.trouble();
          if (trouble !== null)
            throw new SourceUnavailable(trouble.message, {
              next: trouble.next,
              waitMs: TROUBLE_WAITS_MS,
            });
          await sink.prepare?.(request, signal);
        },
        send: (request) =>
          queue.carry({ id: `${request.key}-${randomUUID().slice(0, 8)}`, sink: name, request }),
      } satisfies Sink,
    ]),
  );

// Has workers carry jobs out, over BullMQ. Everything that must be right is decided by the job's permit;
// BullMQ hands them out in bundles, those of busy sites after those of others. Redis may be away, be flushed or come back with an older state
// at any moment: what it can still prove is told as `not-sent` or as the worker's answer, everything else as `torn`.

export interface Times {
  /** Within this a worker must have begun to send. */
  readonly startMs: number;
  /** No send lasts longer: the deadline of one request, and the way of its answer. */
  readonly runMs: number;
  /** How often an answer is looked for; a lost event costs no more than this. */
  readonly pollMs: number;
}

/** What BullMQ carries: jobs of one site that were there together. The requests' bytes are frozen: they go through it as they are. */
interface Bundle {
  readonly site: string;
  readonly jobs: readonly Job[];
}

const BUNDLE_JOBS = 8;

const TIMES: Times = { startMs: 20_000, runMs: 45_000, pollMs: 1_000 };
/** What Redis has lost, or a worker that is gone, is told this soon, unless the answer comes before. */
const LOST_MS = 5_000;
/** Of the platform's 60 s, without those that a connection may take. */
const HOLD_MS = 50_000;
/** Until when the same bytes may go again unread, by the request machine. */
const PROBE_MS = 45_000;
/** A Redis that is away is not waited for. */
const CLOSE_MS = 2_000;

const JOB: JobsOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true };

function bullmqQueue({ hub, keys, ledger, times }: Joined<SiteOptions>, site: Site): Queue {
  const { startMs, runMs, pollMs } = { ...TIMES, ...times };
  const permits = openPermits(hub, keys);
  const inHand = new Set<Promise<Answer>>();
  const line = openLine(hub, keys, site.name, () => inHand.size / site.weight);

  /** Null: a worker may take it. */
  async function offered(id: string, request: Outgoing): Promise<Answer | null> {
    await site.looked;
    const unfit = site.unfit();
    if (unfit !== null) return notSent(unfit);
    try {
      const withinMs = (): number => startWithin(request, startMs);
      const offer = await permits.offer(id, site.name, site.boot, withinMs);
      if (offer === "no-worker") return notSent(NO_WORKER);
      if (offer === "other-site") return notSent(otherSite(site.name));
      return offer === "offered" ? null : unanswered("a job of this name was offered before");
    } catch (error) {
      // No worker was given a permit that we know of; one that was opened all the same is closed by its time.
      return notSent(expectTrouble(error));
    }
  }

  function counted({ answer, used }: Settled): Answer {
    for (const [purpose, requests] of Object.entries(used))
      ledger.carried(purpose as Purpose, requests);
    return answer;
  }

  /** Looks until the job's end is known, or can no longer become known. */
  async function outcome(id: string, hint: Hint, withdraw: () => void): Promise<Answer> {
    const startBy = performance.now() + startMs;
    let lostAt = Infinity;
    let unreachable: RedisTrouble | null = null;
    for (;;) {
      await hint.next(pollMs);
      const settled = hint.settled;
      if (settled !== null) return counted(settled);
      const now = performance.now();
      const late = now >= startBy || hint.said !== null;
      let known: Settled | Standing | null = null;
      try {
        known = await permits.look(id, late);
        unreachable = null;
      } catch (error) {
        unreachable = expectTrouble(error);
      }
      if (known !== null && typeof known !== "string") return counted(known);
      if (known === "withdrawn") {
        withdraw();
        const why = hint.said ?? "";
        return notSent({ message: `no worker took it${why === "" ? "" : `: ${why}`}`, next: "" });
      }
      const isLost = known === "gone" || known === "restarted" || known === "orphaned";
      lostAt = isLost ? Math.min(lostAt, now) : Infinity;
      const isOver = now >= startBy + runMs || now >= lostAt + Math.min(LOST_MS, runMs);
      if (isOver) return unanswered(tornWords(known, unreachable, hint.said));
    }
  }

  async function carry(job: Job): Promise<Answer> {
    const id = `${site.name}_${job.id}`;
    const refused = await offered(id, job.request);
    if (refused !== null) return refused;
    const hint = new Hint();
    line.listen(id, hint);
    const adding = line.add({ ...job, id });
    adding.catch((error: unknown) => hint.wake(error instanceof RedisTrouble ? error.message : ""));
    // For tidiness: nobody can take it any more, and those that came with it are as late.
    const withdraw = (): void => void adding.then(line.remove).catch(() => {});
    try {
      return await outcome(id, hint, withdraw);
    } finally {
      line.ignore(id);
    }
  }

  return {
    carry(job) {
      const carrying = carry(job).finally(() => inHand.delete(carrying));
      inHand.add(carrying);
      return carrying;
    },
    trouble: () => site.trouble(),
    async close() {
      await Promise.allSettled(inHand);
      await line.close();
    },
  };
}

/**
 * The same bytes may go again unread for as long as the platform holds their key: 60 s after a failure that nobody may
 * have seen (specification part 4, W5). Within this the first byte must leave; of a job that waits longer for its worker none does.
 */
function startWithin({ firstSentAt }: Outgoing, startMs: number): number {
  if (firstSentAt === null) return startMs;
  const sinceMs = Date.now() - Date.parse(firstSentAt);
  const isProbe = sinceMs < HOLD_MS + startMs;
  const leftMs = Math.max(HOLD_MS - sinceMs, 0);
  // Whether it is a probe of a later resend cannot be told from here: then it may be as late as any.
  return Math.min(startMs, isProbe ? leftMs : HOLD_MS - PROBE_MS);
}

/**
 * Where jobs are handed over, and answers are called out. What is not heard is looked for. `turn`: how many jobs of its site are in
 * hand: busy sites come after others.
 */
function openLine(hub: Hub, keys: Keys, site: string, turn: () => number) {
  const bull = new Bull<Bundle>(QUEUE, {
    prefix: keys.prefix,
    skipVersionCheck: true,
    connection: hub.redis,
    skipWaitingForReady: true,
    skipMetasUpdate: true,
  });
  const hints = new Map<string, Hint>();
  // Whatever is wrong with Redis shows where a job needs it.
  bull.on("error", () => {});
  const ears = hub.waiting();
  ears.on("message", (_channel: string, message: string) => {
    const at = message.indexOf(" ");
    hints.get(message.slice(0, at))?.hear(message.slice(at + 1));
  });
  void ears.subscribe(keys.home(site)).catch(() => {});
  return {
    /** The id of its bundle. @throws RedisTrouble */
    add: together(BUNDLE_JOBS, async (jobs: readonly Job[]) => {
      const jobId = jobs[0]?.id ?? "";
      const options = { ...JOB, jobId, priority: Math.ceil(turn()) + 1 };
      await hub.ask(bull.add(QUEUE, { site, jobs }, options));
      return jobs.map(() => jobId);
    }),
    remove: async (bundle: string): Promise<void> => void (await bull.remove(bundle)),
    listen: (id: string, hint: Hint): void => void hints.set(id, hint),
    ignore: (id: string): void => void hints.delete(id),
    async close(): Promise<void> {
      await within(CLOSE_MS, bull.close());
      ears.disconnect();
    },
  };
}

/** What was heard of a job, and the wait for more. */
class Hint {
  settled: Settled | null = null;
  /** Why it may never be carried out. */
  said: string | null = null;
  #heard = Promise.withResolvers<void>();

  /** An answer as JSON, or after a `!` why there is none. */
  hear(text: string): void {
    if (text.startsWith("!")) return this.wake(text.slice(1));
    this.settled = settledIn(text);
    this.#heard.resolve();
  }

  wake(said: string): void {
    this.said = said;
    this.#heard.resolve();
  }

  /** Resolves with the next word of it, or after `ms`. */
  async next(ms: number): Promise<void> {
    await within(ms, this.#heard.promise);
    this.#heard = Promise.withResolvers<void>();
  }
}

const notSent = ({ message, next }: Pick<Trouble, "message" | "next">): Answer =>
  nothingDone(next === "" ? message : `${message}. ${next}`);

const TORN: Readonly<Partial<Record<Standing, string>>> = {
  gone: "Redis has lost the job: nobody can tell whether a worker had it",
  restarted: "Redis was restarted meanwhile: nobody can tell whether a worker had it",
  orphaned: "a worker took it and is not there any more",
};

function tornWords(
  known: Standing | null,
  unreachable: RedisTrouble | null,
  said: string | null,
): string {
  if (unreachable !== null) return `nothing is known of it: ${unreachable.message}`;
  const words = TORN[known ?? "taken"] ?? "a worker took it and did not answer in time";
  return said === null || said === "" ? words : `${words}: ${said}`;
}

/** @throws what is no trouble of Redis: a programming error */
function expectTrouble(error: unknown): RedisTrouble {
  if (error instanceof RedisTrouble) return error;
  throw error;
}

/* One site among those that share an API key: keeps its name taken, watches Redis, the workers and the other sites, and knows what is
   wrong. Two daemons under one name would count each other's requests as their own; two sites with other rules of what is whose, or
   without any, would both book a record, or neither. */

type Site = ReturnType<typeof openSite>;

function openSite(options: Joined<SiteOptions> & Watching) {
  const { hub, keys, weight = 1, rules = "", home = randomUUID(), isHub = false } = options;
  const name = options.ledger.site;
  const boot = `${home}/${randomUUID()}`;
  let isNew = true;
  /** Why this site may not even read. */
  let barred: Trouble | null = null;
  const { stop, ...watched } = watch(hub, options, { scope: "queue" }, async () => {
    const args = [name, boot, weight, rules === "" ? NO_RULES : rules, WORKER_ALIVE_MS];
    const former = isNew ? `${home}/` : "-";
    const told = [...args, former, isHub ? HUB : SITE];
    const reply = await hub.run(LOOK, [keys.sites, keys.workers], told);
    isNew = false;
    const [owner, workers, other, second] = reply as [string, number, string | null, string | null];
    barred = owner !== boot ? otherSite(name) : other === null ? null : otherRules(other, rules);
    if (barred === null && second !== null) return secondHub(second);
    return barred ?? (workers === 0 ? NO_WORKER : null);
  });
  return {
    name,
    /** This start of this process, which the name belongs to. */
    boot,
    weight,
    /** `looked`: once it has looked for the first time. `unfit`: what Redis itself is to be put right about. */
    ...watched,
    barred: (): Promise<Trouble | null> => watched.looked.then(() => barred),
    async close() {
      await stop();
      await hub.run(LEAVE, [keys.sites], [name, boot]).catch(() => {});
    },
  };
}

const NO_RULES = "-";
const [HUB, SITE] = ["hub", "site"];

const NO_WORKER: Trouble = {
  code: "no-worker",
  message: "no worker is connected",
  next: "Start `fuelbridge worker` with this configuration, on this machine or another one.",
};

const otherSite = (name: string): Trouble => ({
  code: "other-site",
  message: `another daemon is site "${name}" of this API key`,
  next: `Give each its own queue.site; if there is only one, it goes on within ${SITE_ALIVE_MS / 1_000} s.`,
});

const otherRules = (site: string, rules: string): Trouble => ({
  code: "other-rules",
  message:
    rules === ""
      ? `site "${site}" has the same API key, and this site does not say what is its own`
      : `site "${site}" has other rules of which records are whose`,
  next: "Write the same rules under sites in the configuration of every site, and start their daemons again: nothing is read or sent until they agree.",
});

/** Each reads every feed for all sites, which costs the month's requests twice; a site has what one of them has. */
const secondHub = (hub: string): Trouble => ({
  code: "second-hub",
  message: `"${hub}" is a hub of this API key, too`,
  next: "Have every site ask one of the two, then end the other: until then both read all feeds, and the month's requests are used twice.",
});

/**
 * Rows of sites: when they were last heard of, weight, process, rules and what they are. Told is one that is there under other
 * rules, or where this one has none; and to a hub, another hub.
 */
const LOOK = `
local rows = redis.call('HGETALL', KEYS[1])
local other, second, owner = false, false, ARGV[2]
for at = 1, #rows, 2 do
  local seen, boot, rules = string.match(rows[at + 1], '^(%d+) %d+ (%S+) (%S+)')
  if now - seen >= ${SITE_ALIVE_MS} then redis.call('HDEL', KEYS[1], rows[at])
  elseif rows[at] ~= ARGV[1] then
    if rules ~= ARGV[4] or rules == '${NO_RULES}' then other = other or rows[at] end
    if ARGV[7] == '${HUB}' and string.find(rows[at + 1], ' ${HUB}$') then second = second or rows[at] end
  elseif string.find(boot, ARGV[6], 1, true) ~= 1 then owner = boot end
end
if owner == ARGV[2] then
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now) .. ' ' .. ARGV[3] .. ' ' .. ARGV[2] .. ' ' .. ARGV[4] .. ' ' .. ARGV[7])
end
return {owner, redis.call('ZCOUNT', KEYS[2], now - ARGV[5], '+inf'), other, second}`;

const LEAVE = `
local row = redis.call('HGET', KEYS[1], ARGV[1])
if row and string.find(row, ARGV[2], 1, true) then redis.call('HDEL', KEYS[1], ARGV[1]) end`;

// One permit per job decides who may carry it out: BullMQ hands jobs out, sometimes twice, and Redis can forget. A job is carried
// out only by whoever takes its open permit, and a permit opens once. What is not there any more cannot be taken, and a permit of an
// earlier start of Redis proves nothing: a restart may have brought back an older state of it. So nothing is ever carried out twice,
// and `withdrawn` proves that nobody did or will.

/** What became of an offer; only `offered` opened a permit. */
type Offer = "offered" | "known" | "no-worker" | "other-site";

/**
 * Where a permit stands. `orphaned`: whoever took it is not there any more. `gone`: Redis lost it; `restarted`: Redis did, and what it
 * says of the permit may be older than the truth.
 */
type Standing = "open" | "withdrawn" | "taken" | "orphaned" | "gone" | "restarted";

/** What came of a job. */
export interface Settled {
  readonly answer: Answer;
  /** How many requests it took, by purpose. */
  readonly used: Readonly<Partial<Record<Purpose, number>>>;
}

/** How long a worker that was not heard of still counts. */
const WORKER_ALIVE_MS = 5_000;
/** Longer than anything is under way. */
const KEPT_MS = 48 * 3_600_000;

export type Permits = ReturnType<typeof openPermits>;

/** Each call throws RedisTrouble; then it may have happened all the same. */
export function openPermits(hub: Hub, keys: Keys) {
  return {
    /** Opens the permit of `job`, for a site that process `boot` speaks for. `startMs`: for how long from then on. */
    async offer(job: string, site: string, boot: string, startMs: () => number): Promise<Offer> {
      const names = [keys.permit(job), keys.workers, keys.sites];
      const args = () => [startMs(), KEPT_MS, boot, WORKER_ALIVE_MS, site];
      return (await hub.run(OFFER, names, args)) as Offer;
    },
    /** By a worker. `startMs`: within it the first byte must leave; else why it may not be carried out. */
    async take(job: string, worker: string): Promise<{ startMs: number } | { why: string }> {
      const reply = await hub.run(TAKE, [keys.permit(job)], [worker]);
      const [state, ms] = reply as [string, number?];
      return state === "taken" ? { startMs: ms ?? 0 } : { why: state };
    },
    /** The answer of a job, or where it stands. `closes`: its permit is closed unless it was taken. */
    async look(job: string, closes: boolean): Promise<Settled | Standing> {
      const names = [keys.permit(job), keys.hands];
      const reply = await hub.run(STAND, names, [closes ? 1 : 0, WORKER_ALIVE_MS]);
      const [standing, text] = reply as [Standing | "settled", string?];
      return standing === "settled" ? settledIn(text ?? "") : standing;
    },
    /** Leaves the answer where its site looks for it, whatever Redis has lost meanwhile, and calls it out. */
    async settle(job: string, site: string, settled: Settled): Promise<void> {
      const text = JSON.stringify(settled);
      await hub.run(SETTLE, [keys.permit(job), keys.home(site)], [text, KEPT_MS, job]);
    },
  };
}

/** A worker of another version may answer what this one cannot weigh: then it is uncertain. */
function settledIn(text: string): Settled {
  const settled = JSON.parse(text) as Settled;
  const { outcome, detail } = settled.answer;
  if (outcomes.includes(outcome)) return settled;
  const words = `the worker answered "${outcome}", which this version does not know: ${detail}`;
  return { ...settled, answer: unanswered(words) };
}

const OFFER = `
local seen, boot = string.match(redis.call('HGET', KEYS[3], ARGV[5]) or '', '^(%d+) %d+ (%S+)')
if boot and boot ~= ARGV[3] and now - seen < ${SITE_ALIVE_MS} then return 'other-site' end
if redis.call('ZCOUNT', KEYS[2], now - ARGV[4], '+inf') == 0 then return 'no-worker' end
if redis.call('EXISTS', KEYS[1]) == 1 then return 'known' end
redis.call('HSET', KEYS[1], 'run', run, 'by', now + ARGV[1], 'open', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'offered'`;

const TAKE = `
local permit = redis.call('HMGET', KEYS[1], 'run', 'by', 'open')
if not permit[1] then return {'Redis has no permit for it any more'} end
if permit[1] ~= run then return {'Redis was restarted since it was offered'} end
if not permit[3] then return {'its permit was taken or withdrawn already'} end
if now >= tonumber(permit[2]) then return {'it came too late'} end
redis.call('HSET', KEYS[1], 'taken', ARGV[1])
redis.call('HDEL', KEYS[1], 'open')
return {'taken', permit[2] - now}`;

/** Works without memory too: it only takes away. */
const STAND = `
local permit = redis.call('HMGET', KEYS[1], 'run', 'taken', 'settled', 'open')
if permit[3] then return {'settled', permit[3]} end
if not permit[1] then return {'gone'} end
if permit[1] ~= run then return {'restarted'} end
if permit[2] then
  local seen = redis.call('ZSCORE', KEYS[2], permit[2])
  return {seen and now - seen < tonumber(ARGV[2]) and 'taken' or 'orphaned'}
end
if ARGV[1] == '0' and permit[4] then return {'open'} end
redis.call('HDEL', KEYS[1], 'open')
return {'withdrawn'}`;

const SETTLE = `
redis.call('HSET', KEYS[1], 'settled', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PUBLISH', KEYS[2], ARGV[3] .. ' ' .. ARGV[1])`;

// Carries out jobs of all sites that share an API key. It keeps nothing: a job is its own from taking the permit to
// leaving the answer, and what it cannot answer is looked for by the site.

const AT_ONCE = 8;
/** Longer than a job may take; it is renewed before, and a job whose lock is lost fails and is not repeated. */
const LOCK_MS = 120_000;
/** A site waits no longer for an answer. */
const SETTLE_MS = 60_000;
const SETTLE_AGAIN_MS = 500;
const WORKER_CLOSE_MS = 5_000;
/** An answer waits no longer for those of its bundle: what comes home together goes out together again. */
const GATHER_MS = 200;

function startWorker(options: Joined<SharedOptions> & Watching, sinks: Sinks) {
  const { hub, keys, note, atOnce = AT_ONCE } = options;
  const permits = openPermits(hub, keys);
  const id = randomUUID();
  const { promise: broken, reject: breakDown } = Promise.withResolvers<never>();
  // Whoever does not ask does not want to know.
  broken.catch(() => {});
  const inHand = new Set<Promise<unknown>>();
  let isClosing = false;

  /** Null: it is not carried out here. */
  async function work(
    { id: job, sink: name, request }: Job,
    site: string,
  ): Promise<Settled | null> {
    const sink = Object.hasOwn(sinks, name) ? sinks[name] : undefined;
    if (sink === undefined) return refused(job, site, unknownSink(name, sinks));
    const taking = await permits.take(job, id);
    if ("why" in taking) return refused(job, site, taking.why);
    const startByMs = performance.now() + taking.startMs;
    const errand: Errand = { site, startByMs, used: new Map() };
    const answer = await errands.run(errand, () =>
      sink.send(request, never).catch((error: unknown) => {
        if (error instanceof FuelbridgeError) breakDown(error);
        note("job failed", { job, sink: name, error });
        const words = error instanceof Error ? error.message : String(error);
        return unanswered(`the worker failed while it sent: ${words}`);
      }),
    );
    note("job done", { job, sink: name, answer: answer.outcome, detail: answer.detail });
    return { answer, used: Object.fromEntries(errand.used) };
  }

  function refused(job: string, site: string, why: string): null {
    note("job refused", { job, why });
    void hub.redis.publish(keys.home(site), `${job} !${why}`).catch(() => {});
    return null;
  }

  /** Redis may be away just now: the answer is worth waiting for as long as its site does. */
  async function settle(job: string, site: string, settled: Settled): Promise<void> {
    const endMs = performance.now() + SETTLE_MS;
    for (;;)
      try {
        return await permits.settle(job, site, settled);
      } catch (error) {
        if (!(error instanceof RedisTrouble)) throw error;
        if (performance.now() > endMs) return note("answer lost", { job, why: error.message });
        await new Promise((resolve) => setTimeout(resolve, SETTLE_AGAIN_MS));
      }
  }

  const line = hub.waiting();
  async function carryOut({ data: { site, jobs } }: BullJob<Bundle>): Promise<void> {
    const working = jobs.map((job) => work(job, site));
    const all = Promise.allSettled(working);
    const settling = working.map(async (one, at) => {
      const settled = await one;
      await within(GATHER_MS, all);
      if (settled !== null) await settle(jobs[at]?.id ?? "", site, settled);
    });
    const over = Promise.allSettled(settling);
    inHand.add(over);
    await over;
    inHand.delete(over);
  }
  const worker = new Worker<Bundle>(QUEUE, carryOut, {
    connection: line,
    prefix: keys.prefix,
    skipVersionCheck: true,
    concurrency: atOnce,
    lockDuration: LOCK_MS,
    maxStalledCount: 0,
    runRetryDelay: 1_000,
  });
  worker.on("error", () => {});
  const { looked, stop, trouble } = watch(hub, options, {}, async (unfit) => {
    const sets = isClosing ? [keys.hands] : [keys.hands, keys.workers];
    if (unfit === null)
      for (const set of sets) await hub.run(PRESENT, [set], [id, WORKER_ALIVE_MS]);
    return null;
  });
  return {
    /** Once Redis was reached, or could not be. */
    looked,
    /** Rejects when nothing may be sent any more, whatever the job: an error of this installation. */
    broken,
    trouble,
    /** Takes no more jobs and finishes those in hand. */
    async close() {
      isClosing = true;
      // Sites offer nothing to a worker that is going; what it has in hand is its own until it is done.
      await hub.ask(hub.redis.zrem(keys.workers, id)).catch(() => {});
      await closed(worker, inHand);
      await stop();
      await hub.ask(hub.redis.zrem(keys.hands, id)).catch(() => {});
      line.disconnect();
    },
  };
}

/** Waits for the jobs in hand; but not for a Redis that is away. */
async function closed(worker: Worker, inHand: ReadonlySet<Promise<unknown>>): Promise<void> {
  const closing = worker.close();
  await Promise.allSettled(inHand);
  await within(WORKER_CLOSE_MS, closing);
}

/** A send is finished whatever happens: it has a deadline of its own. */
const never = new AbortController().signal;

/** Those that went without a word are forgotten after a while. */
const PRESENT = `
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 2 * ARGV[2])`;
