/**
 * Has workers carry jobs out, over BullMQ. Everything that must be right is decided by the job's permit (permits.ts);
 * BullMQ hands jobs out, those of busy sites after those of others. Redis may be away, be flushed or come back with an older state
 * at any moment: what it can still prove is told as `not-sent` or as the worker's answer, everything else as `torn`.
 */
import { randomUUID } from "node:crypto";
import { type JobsOptions, Queue as Bull } from "bullmq";
import type { Purpose } from "../core/budget.ts";
import type { Outgoing } from "../core/contract.ts";
import { type Answer, nothingDone, unanswered } from "../core/outcome.ts";
import { pairsOf, type SiteLedger } from "./governor.ts";
import { openPermits, type Settled, settledIn, type Standing, WORKER_ALIVE_MS } from "./permits.ts";
import type { Job, Queue } from "./queue.ts";
import {
  type Hub,
  type Keys,
  type Lasting,
  PRELUDE,
  QUEUE,
  RedisTrouble,
  SITE_ALIVE_MS,
  type Trouble,
  watch,
  type Watching,
  within,
} from "./redis.ts";

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
/** What Redis has lost, or a worker that is gone, is told this soon, unless the answer comes before. */
const LOST_MS = 5_000;
/** Of the platform's 60 s, without those that a connection may take. */
const HOLD_MS = 50_000;
/** Until when the same bytes may go again unread, by the request machine. */
const PROBE_MS = 45_000;
/** A Redis that is away is not waited for. */
const CLOSE_MS = 2_000;

/** It says for an hour what became of a job: nothing rests on that. */
const KEPT = { age: 3_600, count: 10_000 };
const JOB: JobsOptions = { attempts: 1, removeOnComplete: KEPT, removeOnFail: KEPT };

export function bullmqQueue({ hub, keys, site, ledger, times }: BullmqOptions): Queue {
  const { startMs, runMs, pollMs } = { ...TIMES, ...times };
  const permits = openPermits(hub, keys);
  const line = openLine(hub, keys, site.name);
  const inHand = new Set<Promise<Answer>>();

  /** Null: a worker may take it. */
  async function offered(
    id: string,
    { sink, request, firstMs }: Offering,
    hint: Hint,
  ): Promise<Answer | null> {
    await site.looked;
    const unfit = site.unfit();
    if (unfit !== null) return notSent(unfit);
    // What was added without a permit is carried out by nobody.
    const adding = line.add(id, { site: site.name, sink, request }, inHand.size / site.weight);
    adding.catch((error: unknown) => hint.wake(error instanceof RedisTrouble ? error.message : ""));
    try {
      const offer = await permits.offer(id, site.name, site.boot, firstMs);
      if (offer === "offered") return null;
      line.remove(id);
      if (offer === "no-worker") return notSent(NO_WORKER);
      if (offer === "other-site") return notSent(otherSite(site.name));
      return unanswered("a job of this name was offered before");
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
  async function outcome(id: string, hint: Hint): Promise<Answer> {
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
        // For tidiness: nobody can take it any more.
        line.remove(id);
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
    const hint = new Hint();
    line.listen(id, hint);
    try {
      const offering = { ...job, firstMs: startWithin(job, startMs) };
      return (await offered(id, offering, hint)) ?? (await outcome(id, hint));
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

/** `firstMs`: within it the first byte must leave. */
type Offering = Job & { readonly firstMs: number };

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

/** Where jobs are handed over, and answers are called out. What is not heard is looked for. */
function openLine(hub: Hub, keys: Keys, site: string) {
  const bull = new Bull<Payload>(QUEUE, {
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
    /** `turn`: how many jobs of its site are in hand with it: busy sites come after others. @throws RedisTrouble */
    add: async (id: string, payload: Payload, turn: number): Promise<void> =>
      void (await hub.ask(
        bull.add(QUEUE, payload, { ...JOB, jobId: id, priority: Math.ceil(turn) + 1 }),
      )),
    remove: (id: string): void => void bull.remove(id).catch(() => {}),
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

function tornWords(
  known: Standing | null,
  unreachable: RedisTrouble | null,
  said: string | null,
): string {
  if (unreachable !== null) return `nothing is known of it: ${unreachable.message}`;
  if (known === "gone") return "Redis has lost the job: nobody can tell whether a worker had it";
  if (known === "restarted")
    return "Redis was restarted meanwhile: nobody can tell whether a worker had it";
  const words = `a worker took it and ${known === "orphaned" ? "is not there any more" : "did not answer in time"}`;
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

interface SiteOptions extends Watching {
  readonly hub: Hub;
  readonly keys: Keys;
  readonly site: string;
  /** How much of the minute and the month it has beside other sites, by their weights. */
  readonly weight?: number;
  /** Names the rules of what is whose: the same at every site. Empty: there are none. */
  readonly rules?: string;
}

type Site = ReturnType<typeof openSite>;

export function openSite({
  hub,
  keys,
  site: name,
  weight = 1,
  rules = "",
  ...watching
}: SiteOptions) {
  const boot = randomUUID();
  /** Why this site may not even read. */
  let barred: Trouble | null = null;
  const { stop, ...watched } = watch(hub, watching, { scope: "queue" }, async () => {
    const args = [name, boot, weight, rules === "" ? NO_RULES : rules, WORKER_ALIVE_MS];
    const reply = await hub.run(LOOK, [keys.sites, keys.workers], args);
    const [owner, workers, rows] = reply as [string, number, string[]];
    const other = pairsOf(rows).find(
      ([one, row]) => one !== name && (rules === "" || row.split(" ")[3] !== rules),
    );
    barred =
      owner !== boot ? otherSite(name) : other === undefined ? null : otherRules(other[0], rules);
    return barred ?? (workers === 0 ? NO_WORKER : null);
  });
  return {
    name,
    /** This start of this process, which the name belongs to. */
    boot,
    weight,
    /** `looked`: once it has looked for the first time. `unfit`: what Redis itself is to be put right about. */
    ...watched,
    /** Once it has looked. */
    async barred(): Promise<Trouble | null> {
      await watched.looked;
      return barred;
    },
    trouble: (): Lasting | null => watched.trouble(),
    async close() {
      await stop();
      await hub.run(LEAVE, [keys.sites], [name, boot]).catch(() => {});
    },
  };
}

const NO_RULES = "-";

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

/** The rows of sites that are there: when they were last heard of, weight, process and rules. */
const LOOK = `${PRELUDE}
local rows = redis.call('HGETALL', KEYS[1])
local alive, owner = {}, ARGV[2]
for at = 1, #rows, 2 do
  local seen, boot = string.match(rows[at + 1], '^(%d+) %d+ (%S+)')
  if now - seen >= ${SITE_ALIVE_MS} then redis.call('HDEL', KEYS[1], rows[at]) else
    if rows[at] == ARGV[1] then owner = boot end
    table.insert(alive, rows[at])
    table.insert(alive, rows[at + 1])
  end
end
if owner == ARGV[2] then
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now) .. ' ' .. ARGV[3] .. ' ' .. ARGV[2] .. ' ' .. ARGV[4])
end
return {owner, redis.call('ZCOUNT', KEYS[2], now - ARGV[5], '+inf'), alive}`;

const LEAVE = `
local row = redis.call('HGET', KEYS[1], ARGV[1])
if row and string.find(row, ARGV[2], 1, true) then redis.call('HDEL', KEYS[1], ARGV[1]) end`;
