/**
 * Sites and workers that share an API key: over one Redis, with one budget. A request that its site was admitted to send is carried by
 * any worker, over BullMQ. The queue decides nothing and remembers nothing that matters: the store is the truth before a request is
 * handed over and after its answer has come home. Redis may be away, be flushed or come back with an older state at any moment: what it
 * can still prove is told as `not-sent` or as the answer, everything else as `torn`.
 */
import { randomUUID } from "node:crypto";
import { Queue as Bull, Worker, type Job } from "bullmq";
import { together, within } from "../core/together.ts";
import { type GovernorOptions, openSharedGovernor } from "./governor.ts";
import {
  inWords,
  openHub,
  QUEUE,
  type RedisAddress,
  type Trouble,
  troubleOf,
  UNREACHABLE,
  watch,
  type Watching,
} from "./redis.ts";

export interface SharedOptions extends Watching {
  readonly redis: RedisAddress;
  /** Names the API key without telling it: those with the same one act as one. */
  readonly scope: string;
  /** Bundles of requests that a worker has in hand at most. */
  readonly atOnce?: number;
}

type SiteOptions = SharedOptions & GovernorOptions & { readonly times?: Partial<Times> };

/** No byte of it left: `not-sent`. It may have arrived: `torn`. */
interface Failed {
  readonly kind: "not-sent" | "torn";
  readonly detail: string;
}

export type Queue = ReturnType<typeof openSharedSite>["queue"];

export interface Times {
  /**
   * Within this a worker must have begun to send. With what a write waits for its place (governor.ts) it is no more than 5 s: the same
   * bytes may go again, unread, until 45 s after the first send, and the platform holds their key for 60 s (specification part 4, W5),
   * of which a connection may take 5.
   */
  readonly startMs: number;
  /** No send lasts longer: the deadline of one request, and the way of its answer. */
  readonly runMs: number;
  /** How often an answer is looked for; a lost call costs no more than this. */
  readonly pollMs: number;
}

const TIMES: Times = { startMs: 3_000, runMs: 45_000, pollMs: 1_000 };
/** What Redis has lost, or a worker that is gone, is told this soon, unless the answer comes before. */
const LOST_MS = 5_000;
/** A Redis that is away is not waited for. */
const CLOSE_MS = 2_000;
/** What is there in one moment goes as one job. */
const BUNDLE_REQUESTS = 16;

/** One job of BullMQ: requests of one site that were there together, each with an answer of its own. */
interface Bundle {
  readonly site: string;
  /** The life of Redis that it was handed to, and until when its requests may leave, by the clock of Redis. */
  readonly life: string;
  readonly startByMs: number;
  readonly requests: readonly { readonly id: string; readonly request: object }[];
}

/** A request on its way, the job that carries it, and its answer when it is called out, as JSON. */
interface Parcel {
  readonly id: string;
  readonly request: object;
  readonly heard: PromiseWithResolvers<string>;
  job: string;
  life: string;
  /** Redis did not take it, or did not say so. */
  trouble: Trouble | null;
}

/** A daemon's side. Closing the queue closes everything; requests that come later are not admitted. */
export function openSharedSite(options: SiteOptions) {
  const hub = openHub(options.redis, options.scope);
  const governor = openSharedGovernor(hub, options);
  const { weight } = options;
  const { site } = options.ledger;
  const { startMs, runMs, pollMs } = { ...TIMES, ...options.times };
  const bull = new Bull<Bundle>(QUEUE, {
    prefix: hub.prefix,
    skipVersionCheck: true,
    connection: hub.redis,
    skipWaitingForReady: true,
    skipMetasUpdate: true,
  });
  // Whatever is wrong with Redis shows where a request needs it.
  bull.on("error", () => {});
  const parcels = new Map<string, Pick<Parcel, "heard"> & { readonly end: Promise<object> }>();
  const { redis: ears } = hub.waiting();
  ears.on("message", (_channel: string, message: string) => {
    const words = message.split("\n");
    for (const [at, word] of words.entries())
      if (at % 2 === 0) parcels.get(word)?.heard.resolve(words[at + 1] as string);
  });
  void ears.subscribe(homeOf(hub.prefix, site)).catch(() => {});

  const hand = together(BUNDLE_REQUESTS, async (those: readonly Parcel[]) => {
    const jobId = those[0]?.id ?? "";
    const { life, nowMs } = hub.told();
    for (const parcel of those) Object.assign(parcel, { job: jobId, life });
    const requests = those.map(({ id, request }) => ({ id, request }));
    const bundle = { site, life, startByMs: nowMs + startMs, requests };
    // Busy sites come after others.
    const priority = Math.ceil(parcels.size / weight) + 1;
    const once = { attempts: 1, removeOnComplete: true, removeOnFail: true };
    await hub.ask(bull.add(QUEUE, bundle, { ...once, jobId, priority }));
    return those;
  });

  /** Looks until its end is known, or can no longer become known. */
  async function outcome(parcel: Parcel): Promise<object> {
    const startBy = performance.now() + startMs;
    let lostAt = Infinity;
    for (;;) {
      const heard = await within(pollMs, parcel.heard.promise);
      if (heard !== undefined) return JSON.parse(heard) as object;
      const now = performance.now();
      const { id, job, life, trouble } = parcel;
      const closes = now >= startBy || trouble !== null;
      const [standing, text] = await (
        hub.run(STAND, { id, job, life, closes }) as Promise<[Standing, string]>
      ).catch((error: unknown): [Standing, string] => [
        "away",
        `nothing is known of it: ${troubleOf(error).message}`,
      ]);
      if (standing === "answered") return JSON.parse(text) as object;
      const isRefused = standing === "gone" && trouble !== null && trouble.code !== UNREACHABLE;
      if (standing === "withdrawn" || isRefused)
        return notSent(trouble === null ? NOBODY : inWords(trouble));
      const isLost = ["gone", "restarted", "orphaned"].includes(standing);
      lostAt = isLost ? Math.min(lostAt, now) : Infinity;
      const isOver = now >= startBy + runMs || now >= lostAt + Math.min(LOST_MS, runMs);
      if (isOver) return { kind: "torn", detail: text } satisfies Failed;
    }
  }

  async function carry(request: object): Promise<object> {
    await governor.looked;
    const refusal = governor.trouble();
    if (refusal !== null) return notSent(inWords(refusal));
    const heard = Promise.withResolvers<string>();
    const parcel: Parcel = { id: randomUUID(), request, heard, job: "", life: "", trouble: null };
    hand(parcel).catch((error: unknown) => (parcel.trouble = troubleOf(error)));
    const end = outcome(parcel).finally(() => parcels.delete(parcel.id));
    parcels.set(parcel.id, { heard, end });
    return end;
  }

  return {
    governor,
    queue: {
      /**
       * Has a request sent at most once by a worker, and brings home what came of it there. It never rejects for what a worker or the queue
       * itself does: what nobody took is `not-sent`, what somebody took and nobody answered is `torn`.
       */
      carry: <Came>(request: object) => carry(request) as Promise<Came | Failed>,
      /** Why nothing can be carried just now, and what to do; null when all is well. */
      trouble: governor.trouble,
      async close() {
        await Promise.allSettled(parcels.values().map(({ end }) => end));
        await within(CLOSE_MS, bull.close());
        ears.disconnect();
        await governor.close();
        await hub.close();
      },
    },
  };
}

const NOBODY = "no worker took it";

const notSent = (detail: string): Failed => ({ kind: "not-sent", detail });

/**
 * Where a request stands. `orphaned`: whoever took it is not there any more. `gone`: Redis lost it; `restarted`: Redis did, and what it
 * says of it may be older than the truth; `away`: it says nothing.
 */
type Standing =
  "answered" | "open" | "withdrawn" | "taken" | "orphaned" | "gone" | "restarted" | "away";

/**
 * BullMQ counts how often it has handed a job out (`ats`), and locks it for the worker that has it. What was never handed out is
 * taken away, and nobody gets it. Works without memory too.
 */
const STAND = `
local answer = redis.call('HGET', answers .. given.job, given.id)
if answer then return {'answered', answer} end
local lost = ': nobody can tell whether a worker had it'
local job, waiting = jobs .. given.job, jobs .. 'prioritized'
if redis.call('EXISTS', job) == 0 then return {'gone', 'Redis has lost the job' .. lost} end
if run ~= given.life then return {'restarted', 'Redis was restarted meanwhile' .. lost} end
if redis.call('HEXISTS', job, 'ats') == 1 then
  if redis.call('EXISTS', job .. ':lock') == 0 then return {'orphaned', 'a worker took it and is not there any more'} end
  return {'taken', 'a worker took it and did not answer in time'}
end
if not given.closes and redis.call('ZSCORE', waiting, given.job) then return {'open', ''} end
redis.call('ZREM', waiting, given.job)
redis.call('PEXPIRE', job, 60000)
return {'withdrawn', ''}`;

/** With as many requests of a bundle no more than there are connections for writes (platform/client.ts): none waits for one. */
const AT_ONCE = 16;
/** Who has a job renews it twice in this time; one whose lock is lost is not handed out again. */
const LOCK_MS = 4_000;
/** How long a worker that was not heard of still counts. */
const WORKER_ALIVE_MS = 5_000;
const WORKER_CLOSE_MS = 5_000;
/** An answer waits no longer for those of its bundle: what comes home together goes out together again. */
const GATHER_MS = 200;
/** Longer than anything is under way. */
const ANSWER_KEPT_MS = 600_000;

/** Sends what sites have the right to send, and keeps nothing. */
interface Sender<Request> {
  send(request: Request): Promise<object>;
  close(): Promise<void>;
}

/** A worker's side; it closes its sender. */
export function openSharedWorker<Request>(options: SharedOptions, sender: Sender<Request>) {
  const { note, atOnce = AT_ONCE } = options;
  const hub = openHub(options.redis, options.scope);
  const line = hub.waiting();
  const inHand = new Set<Promise<unknown>>();
  let isClosing = false;

  async function carryOut({ attemptsStarted, data }: Job<Bundle>): Promise<void> {
    const { site, startByMs, requests } = data;
    const { life, nowMs } = await line.run(NOTHING, {}).then(line.told);
    // BullMQ hands out twice whom it takes for lost; and a Redis that was restarted, what was carried out.
    if (attemptsStarted !== 1 || life !== data.life) return note("job refused", { site });
    const isLate = nowMs >= startByMs;
    const came: [id: string, answer: string][] = [];
    const all = Promise.all(
      requests.map(async ({ id, request }) => {
        const answer = isLate ? LATE : await sender.send(request as Request).catch(failed);
        came.push([id, JSON.stringify(answer)]);
      }),
    );
    inHand.add(all);
    const to = { job: requests[0]?.id, home: homeOf(hub.prefix, site) };
    for (let left = requests.length; left > 0;) {
      await within(GATHER_MS, all);
      const those = came.splice(0);
      left -= those.length;
      if (those.length > 0) await line.run(SETTLE, to, those.flat());
    }
    inHand.delete(all);
    note("job done", { site, requests: requests.length, isLate });
  }

  function failed(error: unknown): Failed {
    note("job failed", { error });
    const words = error instanceof Error ? error.message : String(error);
    return { kind: "torn", detail: `the worker failed while it sent: ${words}` };
  }

  const worker = new Worker<Bundle>(QUEUE, carryOut, {
    connection: line.redis,
    prefix: hub.prefix,
    skipVersionCheck: true,
    concurrency: atOnce,
    lockDuration: LOCK_MS,
    maxStalledCount: 0,
    runRetryDelay: 1_000,
  });
  worker.on("error", () => {});
  const { looked, stop } = watch(hub, options, async () => {
    if (!isClosing) await hub.run(ALIVE, {});
    return null;
  });
  return {
    /** Once Redis was reached, or could not be. */
    looked,
    /** Takes no more jobs and finishes those in hand; but does not wait for a Redis that is away. */
    async close() {
      isClosing = true;
      const closing = worker.close();
      await Promise.allSettled(inHand);
      await within(WORKER_CLOSE_MS, closing);
      await stop();
      line.redis.disconnect();
      await sender.close();
      await hub.close();
    },
  };
}

const LATE = notSent(`${NOBODY} in time`);

/** The clock and the life of Redis are told with every script. */
const NOTHING = "";
const ALIVE = `redis.call('SET', worker, '', 'PX', ${WORKER_ALIVE_MS})`;

/** Leaves answers where their site looks for them, whatever Redis has lost meanwhile, and calls them out. No JSON has a line of its own. */
const SETTLE = `
redis.call('HSET', answers .. given.job, unpack(ARGV, 2))
redis.call('PEXPIRE', answers .. given.job, ${ANSWER_KEPT_MS})
redis.call('PUBLISH', given.home, table.concat(ARGV, '\\n', 2))`;

/** Where answers to a site are called out. */
const homeOf = (prefix: string, site: string): string => `${prefix}:home:${site}`;
