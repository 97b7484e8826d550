/**
 * The governor of all processes that share an API key: one minute and one month, kept in Redis and decided there, by
 * its clock. Redis may forget both. Then nothing is sent for a minute, for nobody knows what was sent in the last one;
 * and every process tells again what it has seen of the month, so the sum comes back by itself.
 */
import { randomUUID } from "node:crypto";
import {
  type Admission,
  type Budget,
  type Governor,
  leftFor,
  limitsIn,
  monthAt,
  monthRefusal,
  type Purpose,
  type Spent,
  usedOf,
  WINDOW_MS,
} from "../core/budget.ts";
import { dayAt } from "../core/time.ts";
import type { Clock } from "../core/time.ts";
import { errands } from "./queue.ts";
import { connected, type Hub, type Keys, PRELUDE, RedisTrouble } from "./redis.ts";

import { type Answer, outcomes, unanswered } from "../core/outcome.ts";

interface SharedGovernorOptions {
  readonly hub: Hub;
  readonly keys: Keys;
  readonly budget: Budget;
  readonly clock: Clock;
  /** Null for a worker: what it sends is counted for the site whose job it does. */
  readonly ledger: SiteLedger | null;
  /** The window that `budget.perMinute` counts in; a second more than the platform's minute when left out. */
  readonly windowMs?: number;
}

export interface SharedGovernor extends Governor {
  /** This process is about to end: what would have to wait for a place is refused from now on. */
  hurry(): void;
  /** Tells what this process knows of the month, and learns what the others know. @throws RedisTrouble */
  refresh(): Promise<void>;
  /** Requests of all sites, as of the last refresh. */
  spent(month: string): Spent;
  /** The minute of all sites, as of the last look. */
  minute(): { readonly used: number; readonly limit: number; readonly opensInMs: number };
}

type Refusal = Extract<Admission, { admitted: false }>;

/** When Redis cannot be asked. */
const RETRY_MS = 3_000;
export function openSharedGovernor(options: SharedGovernorOptions): SharedGovernor {
  const { hub, keys, budget, clock, ledger, windowMs = WINDOW_MS } = options;
  const month = openMonth(hub, keys, ledger);
  const stopping = new AbortController();
  // Whoever asks as soon as we start is not refused because the connection is still being made.
  const reached = connected(hub);
  const minute = { used: 0, limit: budget.perMinute, opensAtMs: 0 };

  /** The month of all sites, as it was last seen. */
  const seen = {
    spent: (name: string) => month.spent(name),
    closedUntil: (nowMs: number) => ledger?.closedUntil(nowMs) ?? null,
  };

  /** Null: admitted. */
  async function ask(site: string, purpose: Purpose, nowMs: number): Promise<Wait | null> {
    const { name } = monthAt(nowMs);
    const spent = month.spent(name);
    const place = [windowMs, budget.perMinute, randomUUID()];
    const count = [`${site} ${purpose}`, MONTH_KEPT_S];
    const basis = [usedOf(spent), leftFor(budget, spent, purpose)];
    const names = [keys.gate, keys.minute, keys.month(name)];
    const [word, ms, used] = (await hub.run(ADMIT, names, [...place, ...count, ...basis])) as [
      Wait["why"] | "admitted",
      number,
      number,
    ];
    minute.used = used;
    minute.opensAtMs = word === "admitted" ? 0 : clock.now().monoMs + ms;
    return word === "admitted" ? null : { why: word, ms };
  }

  const refresh = () => month.refresh(monthAt(clock.now().wallMs).name);

  async function admit(purpose: Purpose): Promise<Admission> {
    const errand = errands.getStore();
    const site = ledger?.site ?? errand?.site;
    if (site === undefined) throw new Error("a worker sends nothing but what a job tells it to");
    for (;;) {
      const { wallMs } = clock.now();
      if (!month.isKnown(monthAt(wallMs).name)) await refresh();
      const refused = monthRefusal(budget, seen, purpose, wallMs);
      if (refused !== null) {
        const { untilMs, detail } = refused;
        return { admitted: false, waitMs: untilMs - wallMs, detail: `${detail}, by all sites` };
      }
      const wait = await ask(site, purpose, wallMs);
      const late = errand !== undefined && performance.now() + (wait?.ms ?? 0) >= errand.startByMs;
      // A place that came too late stays counted: better one too many than one too few.
      if (late) return tooLate(wait);
      if (wait === null) {
        ledger?.spend(dayAt(wallMs), purpose);
        errand?.used.set(purpose, (errand.used.get(purpose) ?? 0) + 1);
        return { admitted: true };
      }
      if (stopping.signal.aborted) return tooLate(wait);
      if (wait.why === "month") await refresh();
      else await clock.pause(wait.ms + clock.chance() * JITTER_MS, stopping.signal);
    }
  }

  return {
    async admit(purpose) {
      await reached;
      try {
        return await admit(purpose);
      } catch (error) {
        if (!(error instanceof RedisTrouble)) throw error;
        return { admitted: false, waitMs: RETRY_MS, detail: `${error.message}. ${error.next}` };
      }
    },
    learn(headers, status) {
      const told = limitsIn(headers, status);
      if (told === null) return;
      const { pauseMs, left, resetMs } = told;
      // What is not learned now is learned from the next answer.
      hub.run(LEARN, [keys.gate], [pauseMs, left, resetMs]).catch(() => {});
    },
    hurry: () => stopping.abort(),
    refresh,
    spent: (name) => month.spent(name),
    minute: () => ({
      used: minute.used,
      limit: minute.limit,
      opensInMs: Math.max(Math.ceil(minute.opensAtMs - clock.now().monoMs), 0),
    }),
  };
}

interface Wait {
  /** `month`: others have used what was left; it must be looked at anew. */
  readonly why: "minute" | "told" | "new" | "month";
  readonly ms: number;
}

const JITTER_MS = 50;

const whys: Readonly<Record<Wait["why"], string>> = {
  minute: "the minute's requests are used up, by all sites together",
  told: "the platform allows no more in this minute",
  new: "Redis is new or was restarted, and nobody knows what was sent in the last minute",
  month: "the month's requests are counted anew",
};

const tooLate = (wait: Wait | null): Refusal => ({
  admitted: false,
  waitMs: Math.max(wait?.ms ?? 0, 1_000),
  detail: wait === null ? "its place within the minute came too late" : whys[wait.why],
});

/**
 * One request, or why not and how long. What lies further ahead than anything is ever put was put there by a clock that
 * has been set back since: then, as after a restart, nothing is sent for a minute. Of the month it is told what was used and left when it was last looked at:
 * since then, no more than that may have been used.
 */
const ADMIT = `${PRELUDE}
local window, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - window)
local used = redis.call('ZCARD', KEYS[2])
local gate = redis.call('HMGET', KEYS[1], 'run', 'opens', 'left', 'resets')
local newest = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2] or 0
local furthest = math.max(tonumber(gate[2] or 0), tonumber(gate[4] or 0))
local ahead = tonumber(newest) > now + 1000 or furthest > now + math.max(window, ${WINDOW_MS})
if gate[1] ~= run or ahead then
  redis.call('DEL', KEYS[1], KEYS[2])
  redis.call('HSET', KEYS[1], 'run', run, 'opens', now + window, 'why', 'new')
  return {'new', window, used}
end
if tonumber(gate[2]) > now then
  return {redis.call('HGET', KEYS[1], 'why'), gate[2] - now, used}
end
local told = gate[4] and tonumber(gate[4]) > now
if told and tonumber(gate[3]) <= 0 then return {'told', gate[4] - now, used} end
if used >= limit then
  local oldest = redis.call('ZRANGE', KEYS[2], used - limit, used - limit, 'WITHSCORES')
  return {'minute', oldest[2] + window - now, used}
end
local total = 0
for _, requests in ipairs(redis.call('HVALS', KEYS[3])) do total = total + requests end
if total - ARGV[6] >= tonumber(ARGV[7]) then return {'month', 0, used} end
redis.call('ZADD', KEYS[2], now, ARGV[3])
redis.call('PEXPIRE', KEYS[2], window)
redis.call('HINCRBY', KEYS[3], ARGV[4], 1)
redis.call('EXPIRE', KEYS[3], ARGV[5])
if told then redis.call('HINCRBY', KEYS[1], 'left', -1) end
return {'admitted', 0, used + 1}`;

/** Answers come in any order, and what is under way may not be counted in them: the least is right. */
const LEARN = `${PRELUDE}
local gate = redis.call('HMGET', KEYS[1], 'run', 'opens', 'left', 'resets')
if gate[1] ~= run then return end
local pause, left, reset = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if now + pause > tonumber(gate[2]) and pause > 0 then
  redis.call('HSET', KEYS[1], 'opens', now + pause, 'why', 'told')
end
if left < 0 then return end
if gate[4] and tonumber(gate[4]) > now then
  if left < tonumber(gate[3]) then redis.call('HSET', KEYS[1], 'left', left) end
else
  redis.call('HSET', KEYS[1], 'left', left, 'resets', now + reset)
end`;

/* The month of all sites: how many requests each has used, by purpose. Counts only grow, so whoever knows more is
   right; and every process tells again what it has seen, so that what Redis forgets comes back by itself. */

/** The month as this site's store keeps it. */
export interface SiteLedger {
  readonly site: string;
  spent(month: string): Spent;
  /** Counts one in that day (`2026-11-23`, UTC) and its month. */
  spend(day: string, purpose: Purpose): void;
  /** Counts what a worker has sent for it. */
  carried(purpose: Purpose, requests: number): void;
  /** When the platform may be asked again after it has closed the month, ms UTC; null: it has not. */
  closedUntil(nowMs: number): number | null;
}

interface SharedMonth {
  /** Tells what this process knows of the month (`2026-11`), and learns what the others know. @throws RedisTrouble */
  refresh(name: string): Promise<void>;
  isKnown(name: string): boolean;
  /** Requests of all sites, as of the last refresh. */
  spent(name: string): Spent;
}

/** Longer than any month. */
const MONTH_KEPT_S = 70 * 24 * 3_600;

function openMonth(hub: Hub, keys: Keys, ledger: SiteLedger | null): SharedMonth {
  /** By `site purpose`. */
  let counts = new Map<string, number>();
  let known = "";
  return {
    async refresh(name) {
      if (known !== name) counts = new Map();
      const told = new Map(counts);
      if (ledger !== null)
        for (const [purpose, requests] of Object.entries(ledger.spent(name)))
          grow(told, `${ledger.site} ${purpose}`, requests);
      const args = [MONTH_KEPT_S, ...[...told].flat()];
      const reply = (await hub.run(MERGE, [keys.month(name)], args)) as string[];
      for (let at = 0; at < reply.length; at += 2)
        grow(counts, reply[at] as string, Number(reply[at + 1]));
      known = name;
    },
    isKnown: (name) => known === name,
    spent: (name) => (known === name ? totals(counts) : {}),
  };
}

function grow(counts: Map<string, number>, name: string, requests: number): void {
  counts.set(name, Math.max(counts.get(name) ?? 0, requests));
}

/** Over all sites. */
function totals(counts: ReadonlyMap<string, number>): Spent {
  const sums: Record<string, number> = {};
  for (const [name, requests] of counts) {
    const purpose = name.slice(name.indexOf(" ") + 1);
    sums[purpose] = (sums[purpose] ?? 0) + requests;
  }
  return sums;
}

/** Every count that is told is at least what it was: whoever knows more is right. */
const MERGE = `
for at = 2, #ARGV, 2 do
  local before = tonumber(redis.call('HGET', KEYS[1], ARGV[at]) or '0')
  if tonumber(ARGV[at + 1]) > before then redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return redis.call('HGETALL', KEYS[1])`;

/* One permit per job decides who may carry it out: BullMQ hands jobs out, sometimes twice, and Redis can forget. A job
   is carried out only by whoever takes its open permit, and a permit opens once. What is not there any more cannot be
   taken, and a permit of an earlier start of Redis proves nothing: a restart may have brought back an older state of it.
   So nothing is ever carried out twice, and `withdrawn` proves that nobody did or will. */

/** What became of an offer; only `offered` opened a permit. */
type Offer = "offered" | "known" | "no-worker" | "other-site";

/** `gone`: Redis lost it; `restarted`: Redis did, and what it says of the permit may be older than the truth. */
export type Withdrawal = "withdrawn" | "taken" | "gone" | "restarted";

type Taking =
  /** Ours to carry out; its first byte must leave within `startMs`. */
  | { readonly taken: true; readonly startMs: number }
  | { readonly taken: false; readonly why: string };

export interface Permits {
  /** Opens the permit of `job` for `startMs`, for a site that process `boot` speaks for. @throws RedisTrouble */
  offer(job: string, site: string, boot: string, startMs: number): Promise<Offer>;
  /** @throws RedisTrouble; then it may have been taken in vain */
  take(job: string, token: string): Promise<Taking>;
  /** Closes the permit unless it was taken. May be asked again. @throws RedisTrouble */
  withdraw(job: string): Promise<Withdrawal>;
  /** Leaves the answer where its site looks for it, whatever Redis has lost meanwhile. @throws RedisTrouble */
  settle(job: string, settled: Settled): Promise<void>;
  /** @throws RedisTrouble */
  settled(job: string): Promise<Settled | null>;
}

/** What came of a job. */
export interface Settled {
  readonly answer: Answer;
  /** How many requests it took, by purpose. */
  readonly used: Readonly<Partial<Record<Purpose, number>>>;
}

/** How long a worker that was not heard of still counts. */
export const WORKER_ALIVE_MS = 30_000;
/** As long as BullMQ knows its jobs, and longer than anything is under way. */
export const KEPT_MS = 48 * 3_600_000;

export function openPermits(hub: Hub, keys: Keys): Permits {
  return {
    async offer(job, site, boot, startMs) {
      const names = [keys.permit(job), keys.workers, keys.site(site)];
      return (await hub.run(OFFER, names, [startMs, KEPT_MS, boot, WORKER_ALIVE_MS])) as Offer;
    },
    async take(job, token) {
      const [state, ms] = (await hub.run(TAKE, [keys.permit(job)], [token])) as [string, number?];
      return state === "taken" ? { taken: true, startMs: ms ?? 0 } : { taken: false, why: state };
    },
    async withdraw(job) {
      return (await hub.run(WITHDRAW, [keys.permit(job)], [])) as Withdrawal;
    },
    async settle(job, settled) {
      await hub.run(SETTLE, [keys.permit(job)], [JSON.stringify(settled), KEPT_MS]);
    },
    async settled(job) {
      const text = await hub.ask(hub.redis.hget(keys.permit(job), "settled"));
      return text === null ? null : understood(JSON.parse(text) as Settled);
    },
  };
}

/** A worker of another version may answer what this one cannot weigh: then it is uncertain. */
function understood(settled: Settled): Settled {
  const { outcome, detail } = settled.answer;
  if (outcomes.includes(outcome)) return settled;
  const words = `the worker answered "${outcome}", which this version does not know: ${detail}`;
  return { ...settled, answer: unanswered(words) };
}

const OFFER = `${PRELUDE}
local owner = redis.call('GET', KEYS[3])
if owner and owner ~= ARGV[3] then return 'other-site' end
if redis.call('ZCOUNT', KEYS[2], now - ARGV[4], '+inf') == 0 then return 'no-worker' end
if redis.call('EXISTS', KEYS[1]) == 1 then return 'known' end
redis.call('HSET', KEYS[1], 'run', run, 'by', now + ARGV[1], 'open', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 'offered'`;

const TAKE = `${PRELUDE}
local permit = redis.call('HMGET', KEYS[1], 'run', 'by', 'open')
if not permit[1] then return {'Redis has no permit for it any more'} end
if permit[1] ~= run then return {'Redis was restarted since it was offered'} end
if not permit[3] then return {'its permit was taken or withdrawn already'} end
if now >= tonumber(permit[2]) then return {'it came too late'} end
redis.call('HSET', KEYS[1], 'taken', ARGV[1])
redis.call('HDEL', KEYS[1], 'open')
return {'taken', permit[2] - now}`;

/** Works without memory too: it only takes away. */
const WITHDRAW = `${PRELUDE}
local permit = redis.call('HMGET', KEYS[1], 'run', 'taken')
if not permit[1] then return 'gone' end
if permit[1] ~= run then return 'restarted' end
if permit[2] then return 'taken' end
redis.call('HDEL', KEYS[1], 'open')
return 'withdrawn'`;

const SETTLE = `
redis.call('HSET', KEYS[1], 'settled', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
