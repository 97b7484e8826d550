/**
 * Has workers carry jobs out, over BullMQ. Everything that must be right is decided by the job's permit (governor.ts);
 * BullMQ hands jobs out and tells when one has ended. Redis may be away, be flushed or come back with an older state
 * at any moment: what it can still prove is told as `not-sent` or as the worker's answer, everything else as `torn`.
 */
import { type JobsOptions, Queue as Bull, QueueEvents } from "bullmq";
import type { Purpose } from "../core/budget.ts";
import type { Outgoing } from "../core/contract.ts";
import { type Answer, nothingDone, unanswered } from "../core/outcome.ts";
import {
  type Hub,
  type Keys,
  type Lasting,
  PRELUDE,
  QUEUE,
  RedisTrouble,
  type Trouble,
  watch,
  type Watching,
  within,
} from "./redis.ts";
import {
  KEPT_MS,
  openPermits,
  type SiteLedger,
  type Withdrawal,
  WORKER_ALIVE_MS,
} from "./governor.ts";
import type { Job, Queue } from "./queue.ts";

import { randomUUID } from "node:crypto";

interface BullmqOptions {
  readonly hub: Hub;
  readonly keys: Keys;
  readonly site: Site;
  /** Told how many requests a job has taken. */
  readonly ledger: Pick<SiteLedger, "carried">;
  readonly times?: Partial<Times>;
}

export interface Times {
  /** Within this a worker must have begun to send. */
  readonly startMs: number;
  /** No send lasts longer: the deadline of one request, and the way of its answer. */
  readonly runMs: number;
  /** How often an answer is looked for; a lost event costs no more than this. */
  readonly pollMs: number;
}

/** What BullMQ carries. The request's bytes are frozen: they go through it as they are. */
export interface Payload {
  readonly site: string;
  readonly sink: string;
  readonly request: Outgoing;
}

const TIMES: Times = { startMs: 20_000, runMs: 45_000, pollMs: 1_000 };
/** Of the platform's 60 s, without those that a connection may take. */
const HOLD_MS = 50_000;
/** Until when the same bytes may go again unread, by the request machine. */
const PROBE_MS = 45_000;
/** A Redis that is away is not waited for. */
const CLOSE_MS = 2_000;

const JOB: JobsOptions = {
  attempts: 1,
  removeOnComplete: { age: KEPT_MS / 1_000 },
  removeOnFail: { age: KEPT_MS / 1_000 },
};

export function bullmqQueue({ hub, keys, site, ledger, times }: BullmqOptions): Queue {
  const { startMs, runMs, pollMs } = { ...TIMES, ...times };
  const permits = openPermits(hub, keys);
  const line = openLine(hub, keys);
  const inHand = new Set<Promise<Answer>>();

  /** Null: a worker may take it. */
  async function offered(id: string, job: Job, hint: Hint): Promise<Answer | null> {
    await site.looked;
    const unfit = site.unfit();
    if (unfit !== null) return notSent(unfit);
    try {
      const offer = await permits.offer(id, site.name, site.boot, startWithin(job, startMs));
      if (offer === "no-worker") return notSent(NO_WORKER);
      if (offer === "other-site") return notSent(otherSite(site.name));
      if (offer === "known") return unanswered("a job of this name was offered before");
    } catch (error) {
      // Nothing was added that a worker could be given.
      return notSent(expectTrouble(error));
    }
    const { sink, request } = job;
    try {
      await line.add(id, { site: site.name, sink, request });
    } catch (error) {
      // It may have been added all the same: its permit tells.
      hint.wake(expectTrouble(error).message);
    }
    return null;
  }

  async function settledOf(id: string): Promise<Answer | null> {
    const settled = await permits.settled(id);
    if (settled === null) return null;
    for (const [purpose, requests] of Object.entries(settled.used))
      ledger.carried(purpose as Purpose, requests);
    return settled.answer;
  }

  /** Looks until the job's end is known, or can no longer become known. */
  async function outcome(id: string, hint: Hint): Promise<Answer> {
    const startBy = performance.now() + startMs;
    let known: Withdrawal | null = null;
    let unreachable: RedisTrouble | null = null;
    for (;;) {
      const late = performance.now() >= startBy;
      const over = performance.now() >= startBy + runMs;
      try {
        const answer = await settledOf(id);
        if (answer !== null) return answer;
        if (late || hint.said !== null) known = await permits.withdraw(id);
        unreachable = null;
      } catch (error) {
        unreachable = expectTrouble(error);
      }
      if (known === "withdrawn") {
        // For tidiness: nobody can take it any more.
        line.remove(id);
        const why = hint.said ?? unreachable?.message ?? "";
        return notSent({ message: `no worker took it${why === "" ? "" : `: ${why}`}`, next: "" });
      }
      if (over) return unanswered(tornWords(known, unreachable, hint.said));
      await hint.next(pollMs);
    }
  }

  async function carry(job: Job): Promise<Answer> {
    const id = `${site.name}_${job.id}`;
    const hint = new Hint();
    line.listen(id, hint);
    try {
      return (await offered(id, job, hint)) ?? (await outcome(id, hint));
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
 * have seen (specification part 4, W5). Such a job must not wait past that for its worker; one that does was not sent.
 */
function startWithin({ request: { firstSentAt } }: Job, startMs: number): number {
  if (firstSentAt === null) return startMs;
  const sinceMs = Date.now() - Date.parse(firstSentAt);
  const isProbe = sinceMs < HOLD_MS + startMs;
  const leftMs = Math.max(HOLD_MS - sinceMs, 0);
  // Whether it is a probe of a later resend cannot be told from here: then it may be as late as any.
  return Math.min(startMs, isProbe ? leftMs : HOLD_MS - PROBE_MS);
}

/** BullMQ: hands jobs over, and tells when one has ended. What it says is a hint, never proof. */
function openLine(hub: Hub, keys: Keys) {
  const options = { prefix: keys.prefix, skipVersionCheck: true };
  const bull = new Bull<Payload>(QUEUE, {
    ...options,
    connection: hub.redis,
    skipWaitingForReady: true,
    skipMetasUpdate: true,
  });
  const ears = hub.waiting();
  const events = new QueueEvents(QUEUE, { ...options, connection: ears });
  const hints = new Map<string, Hint>();
  // Whatever is wrong with Redis shows where a job needs it.
  bull.on("error", () => {});
  events.on("error", () => {});
  events.on("completed", ({ jobId, returnvalue }) => hints.get(jobId)?.wake(String(returnvalue)));
  events.on("failed", ({ jobId, failedReason }) => hints.get(jobId)?.wake(failedReason));
  return {
    /** @throws RedisTrouble */
    async add(id: string, payload: Payload): Promise<void> {
      await hub.ask(bull.add(QUEUE, payload, { ...JOB, jobId: id }));
    },
    remove: (id: string): void => void bull.remove(id).catch(() => {}),
    listen: (id: string, hint: Hint): void => void hints.set(id, hint),
    ignore: (id: string): void => void hints.delete(id),
    async close(): Promise<void> {
      await within(CLOSE_MS, Promise.allSettled([events.close(), bull.close()]));
      ears.disconnect();
    },
  };
}

/** What was heard of a job, and the wait for more. */
class Hint {
  /** Why it may never be carried out; empty when it seems to be done. */
  said: string | null = null;
  #heard = Promise.withResolvers<void>();

  wake(said: string): void {
    this.said = said;
    this.#heard.resolve();
  }

  /** Resolves with the next word of it, or after `ms`. */
  async next(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await Promise.race([this.#heard.promise, promise]);
    clearTimeout(timer);
    this.#heard = Promise.withResolvers<void>();
  }
}

const notSent = ({ message, next }: Pick<Trouble, "message" | "next">): Answer =>
  nothingDone(next === "" ? message : `${message}. ${next}`);

function tornWords(
  known: Withdrawal | null,
  unreachable: RedisTrouble | null,
  said: string | null,
): string {
  if (unreachable !== null) return `nothing is known of it: ${unreachable.message}`;
  if (known === "gone") return "Redis has lost the job: nobody can tell whether a worker had it";
  if (known === "restarted")
    return "Redis was restarted meanwhile: nobody can tell whether a worker had it";
  const words = "a worker took it and did not answer in time";
  return said === null || said === "" ? words : `${words}: ${said}`;
}

/** @throws what is no trouble of Redis: a programming error */
function expectTrouble(error: unknown): RedisTrouble {
  if (error instanceof RedisTrouble) return error;
  throw error;
}

/* One site among those that share an API key: keeps its name taken, watches Redis and the workers, and knows what is
   wrong. Two daemons under one name would count each other's requests as their own. */

interface SiteOptions extends Watching {
  readonly hub: Hub;
  readonly keys: Keys;
  readonly site: string;
}

interface Site {
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

/** A daemon that ended without a word keeps its name this long. */
const NAME_KEPT_MS = 30_000;

export function openSite({ hub, keys, site: name, ...watching }: SiteOptions): Site {
  const boot = randomUUID();
  const { stop, ...watched } = watch(hub, watching, { scope: "queue" }, async () => {
    const args = [boot, NAME_KEPT_MS, WORKER_ALIVE_MS];
    const reply = await hub.run(LOOK, [keys.site(name), keys.workers], args);
    const [owner, workers] = reply as [string, number];
    if (owner !== boot) return otherSite(name);
    return workers === 0 ? NO_WORKER : null;
  });
  return {
    name,
    boot,
    ...watched,
    async close() {
      await stop();
      await hub.run(LEAVE, [keys.site(name)], [boot]).catch(() => {});
    },
  };
}

const NO_WORKER: Trouble = {
  code: "no-worker",
  message: "no worker is connected",
  next: "Start `fuelbridge worker` with this configuration, on this machine or another one.",
};

const otherSite = (name: string): Trouble => ({
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
