/**
 * The governor of all processes that share an API key: one minute and one month, kept in Redis and decided there, by its clock, and
 * shared among the sites by their weights. Redis may forget both. Then one request asks the platform what its minute still allows,
 * and where it does not say nothing is sent for a minute, for nobody knows what was sent in the last one; and every process tells
 * again what it has seen of the month, so the sum comes back by itself.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import {
  type Admission,
  type Budget,
  type Governor,
  type hasteAt,
  leftFor,
  limitsIn,
  monthAt,
  monthRefusal,
  type Purpose,
  refusedByShare,
  type Spent,
  usedOf,
  WINDOW_MS,
} from "../core/budget.ts";
import { defined } from "../core/defined.ts";
import { sumOf } from "../core/groups.ts";
import type { Clock } from "../core/time.ts";
import {
  connected,
  type Hub,
  type Keys,
  RedisTrouble,
  SITE_ALIVE_MS,
  type Trouble,
} from "./redis.ts";

interface SharedGovernorOptions {
  readonly hub: Hub;
  readonly keys: Keys;
  readonly budget: Budget;
  readonly clock: Clock;
  /** Null for a worker: what it sends is counted for the site whose job it does. */
  readonly ledger: SiteLedger | null;
  /** The window that `budget.perMinute` counts in; a second more than the platform's minute when left out. */
  readonly windowMs?: number;
  /** Why nothing may be read or sent, whatever the budget says; left out: nothing is known to be wrong. */
  readonly barred?: () => Promise<Trouble | null>;
}

/** The store's own count of requests, and what it knows of the month. */
export interface SiteLedger {
  readonly site: string;
  spent(month: string): Spent;
  /** A request of this process was admitted, ms UTC. */
  spend(atMs: number, purpose: Purpose): void;
  /** How far looks of this site are ahead of its part of the month; left out: nobody counts it. */
  readonly haste?: (nowMs: number) => ReturnType<typeof hasteAt>;
  /** Workers have sent so many for a job of this site. */
  carried(purpose: Purpose, requests: number): void;
  /** When the platform may be asked again after it has closed the month, ms UTC; null: it has not. */
  closedUntil(nowMs: number): number | null;
}

type Refusal = Extract<Admission, { admitted: false }>;

/** When Redis cannot be asked. */
const RETRY_MS = 3_000;
/** What would have to wait longer for its place is refused: whoever asks says so, and holds up nobody. */
const WAITS_MS = 5_000;
const JITTER_MS = 50;
/** The first answer is learned at once, and under load the next ones together so long after it. */
const LEARN_REST_MS = 20;

interface Wait {
  /** `share`: other sites have the next places; `month`: others have used what was left, or Redis lost it: it is looked at anew. */
  readonly why: keyof typeof whys;
  readonly ms: number;
}

const whys = {
  minute: "the minute's requests are used up, by all sites together",
  share: "this site has had its share of the minute, and other sites have the next places",
  told: "the platform allows no more in this minute",
  new: "Redis is new or was restarted, and nobody knows what was sent in the last minute",
  month: "the month's requests are counted anew",
} as const;

const tooLate = (wait: Wait | null): Refusal => ({
  admitted: false,
  waitMs: Math.max(wait?.ms ?? 0, 1_000),
  detail: wait === null ? "its place within the minute came too late" : whys[wait.why],
  turn: true,
});

export function openSharedGovernor(options: SharedGovernorOptions) {
  const { hub, keys, budget, clock, ledger, windowMs = WINDOW_MS, barred } = options;
  // A place counts until its request has surely arrived, and for the window from then on.
  const flightMs = Math.ceil((windowMs * 2) / 3);
  const perMinute = budget.perMinute - Math.floor(budget.perMinute / KEPT_FOR_PROBES);
  const month = openMonth(hub, keys, ledger);
  const stopping = new AbortController();
  // Whoever asks as soon as we start is not refused because the connection is still being made.
  const reached = connected(hub);
  const minute = { used: 0, opensAtMs: 0, why: "minute" as Wait["why"], since: "" };
  /** Places of requests that have no answer yet, the oldest first. */
  const flying: { readonly place: string; readonly untilMs: number }[] = [];

  /** The month of all sites, as it was last seen. */
  const seen = {
    spent: (name: string) => month.spent(name),
    closedUntil: (nowMs: number) => ledger?.closedUntil(nowMs) ?? null,
    ...defined({ haste: ledger?.haste }),
  };

  /** Null: admitted. */
  async function ask(site: string, purpose: Purpose, nowMs: number): Promise<Wait | null> {
    const { name } = monthAt(nowMs);
    const spent = month.spent(name);
    const place = `${site} ${randomUUID()}`;
    const args = [windowMs, perMinute, flightMs, place, site, `${site} ${purpose}`, MONTH_KEPT_S];
    const basis = [usedOf(spent), leftFor(budget, spent, purpose)];
    const names = [keys.gate, keys.minute, keys.uses, keys.month(name), keys.sites];
    const reply = await hub.run(ADMIT, names, [...args, ...basis]);
    const [word, ms, used] = reply as [Wait["why"] | "admitted", number, number];
    const { monoMs, wallMs } = clock.now();
    minute.used = used;
    if (word === "admitted") {
      minute.opensAtMs = 0;
      flying.push({ place, untilMs: monoMs + flightMs });
      return null;
    }
    if (minute.opensAtMs <= monoMs) minute.since = new Date(wallMs).toISOString();
    minute.opensAtMs = monoMs + ms;
    minute.why = word;
    return { why: word, ms };
  }

  const refresh = () => month.refresh(monthAt(clock.now().wallMs).name);

  /** What the month says to a request of this site; null: it may go. */
  function refusedByMonth(site: string, purpose: Purpose, nowMs: number): Refusal | null {
    const refused = monthRefusal(budget, seen, purpose, nowMs);
    if (refused !== null) {
      const { untilMs, detail, ...turn } = refused;
      const whole = turn.turn ? detail : `${detail}, by all sites`;
      return { admitted: false, waitMs: untilMs - nowMs, detail: whole, ...turn };
    }
    const { name } = monthAt(nowMs);
    const those = { budget, used: month.bySite(name), weights: month.weights() };
    const beyond = refusedByShare(those, site, nowMs);
    if (beyond === null) return null;
    const { untilMs, ...why } = beyond;
    return { admitted: false, waitMs: untilMs - nowMs, ...why };
  }

  async function admit(purpose: Purpose): Promise<Admission> {
    const errand = errands.getStore();
    const site = ledger?.site ?? errand?.site;
    if (site === undefined) throw new Error("a worker sends nothing but what a job tells it to");
    const bar = (await barred?.()) ?? null;
    if (bar !== null) throw new RedisTrouble(bar, null);
    for (;;) {
      const { wallMs } = clock.now();
      if (!month.isKnown(monthAt(wallMs).name)) await refresh();
      const refused = refusedByMonth(site, purpose, wallMs);
      if (refused !== null) return refused;
      const wait = await ask(site, purpose, wallMs);
      const late = errand !== undefined && performance.now() + (wait?.ms ?? 0) >= errand.startByMs;
      // A place that came too late stays counted: better one too many than one too few.
      if (late) return tooLate(wait);
      if (wait === null) {
        ledger?.spend(wallMs, purpose);
        errand?.used.set(purpose, (errand.used.get(purpose) ?? 0) + 1);
        return { admitted: true };
      }
      if (stopping.signal.aborted || wait.ms > WAITS_MS) return tooLate(wait);
      if (wait.why === "month") await refresh();
      else await clock.pause(wait.ms + clock.chance() * JITTER_MS, stopping.signal);
    }
  }

  const governor: Governor = {
    async admit(purpose) {
      await reached;
      try {
        return await admit(purpose);
      } catch (error) {
        if (!(error instanceof RedisTrouble)) throw error;
        const detail = `${error.message}. ${error.next}`;
        return { admitted: false, waitMs: RETRY_MS, detail, turn: true };
      }
    },
    learn(headers, status) {
      const { pauseMs = 0, left = -1, resetMs = 0 } = limitsIn(headers, status) ?? {};
      const { monoMs } = clock.now();
      while ((flying[0]?.untilMs ?? Infinity) <= monoMs) flying.shift();
      const place = flying.shift()?.place ?? "";
      const names = [keys.gate, keys.minute, keys.uses];
      const args = [place, pauseMs, left, resetMs, perMinute, windowMs];
      // What is not learned now is learned from the next answer.
      hub.run(LEARN, names, args, LEARN_REST_MS).catch(() => {});
    },
  };
  return {
    ...governor,
    /** This process is about to end: what would have to wait for a place is refused from now on. */
    hurry: (): void => stopping.abort(),
    /** Tells what this process knows of the month, and learns what the others know. @throws RedisTrouble */
    refresh,
    /** Requests of all sites, as of the last refresh. */
    spent: (name: string): Spent => month.spent(name),
    /** This site's part of the month beside the others that are there, by their weights, 0 to 1; null: not known yet. */
    share(): number | null {
      const weights = month.weights();
      const own = weights.get(ledger?.site ?? "");
      return own === undefined ? null : own / sumOf(weights.values());
    },
    /** The minute of all sites, as of the last look. */
    minute: () => ({
      used: minute.used,
      limit: budget.perMinute,
      opensInMs: Math.max(Math.ceil(minute.opensAtMs - clock.now().monoMs), 0),
    }),
    /** What keeps everything from being sent that goes by itself soon, as of the last look; null: nothing. */
    awaits(): (Trouble & { readonly since: string }) | null {
      const { wallMs, monoMs } = clock.now();
      const opensInMs = minute.opensAtMs - monoMs;
      if (opensInMs <= 0 || minute.why === "share" || minute.why === "month") return null;
      const at = new Date(wallMs + opensInMs).toISOString();
      const message = `${whys[minute.why]}: nothing is sent before ${at}`;
      return { code: minute.why, message, next: "It goes on by itself.", since: minute.since };
    },
  };
}

/** One in so many places of a minute is never given away: it asks the platform, once Redis has lost what was sent. */
const KEPT_FOR_PROBES = 100;

/**
 * One request, or why not and how long. What lies further ahead than anything is ever put was put there by a clock that has been
 * set back since: then it is as after a restart. A site that has had its share leaves room for those that ask, and a tenth of the
 * minute for those that may. Of the month it is told what was used and left when it was last looked at: since then, no more than
 * that may have been used, and where Redis knows of less, it is told first what it has lost.
 */
const ADMIT = `
local window, limit, flight = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local own = ARGV[5]
for _, place in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - window)) do
  redis.call('ZREM', KEYS[2], place)
  redis.call('HINCRBY', KEYS[3], string.match(place, '^%S+'), -1)
end
local used = redis.call('ZCARD', KEYS[2])
local gate = redis.call('HMGET', KEYS[1], 'run', 'opens', 'left', 'resets', 'why', 'probed')
local newest = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2] or 0
local furthest = math.max(tonumber(gate[2] or 0), tonumber(gate[4] or 0))
local ahead = tonumber(newest) > now + flight + 1000 or furthest > now + math.max(window, ${WINDOW_MS})
if gate[1] ~= run or ahead then
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
  redis.call('HSET', KEYS[1], 'run', run, 'opens', now + window, 'why', 'new')
  gate = {run, now + window, false, false, 'new', false}
  used = 0
end
local total = 0
for _, requests in ipairs(redis.call('HVALS', KEYS[4])) do total = total + requests end
if total < tonumber(ARGV[8]) then return {'month', 0, used} end
local opens = tonumber(gate[2])
if opens > now then
  if gate[5] ~= 'new' then return {gate[5], opens - now, used} end
  if gate[6] then return {'new', gate[6] == 'untold' and opens - now or math.min(opens - now, 100), used} end
  redis.call('HSET', KEYS[1], 'probed', 'asked')
end
local told = gate[4] and tonumber(gate[4]) > now
if told and tonumber(gate[3]) <= 0 then return {'told', gate[4] - now, used} end
local oldest = redis.call('ZRANGE', KEYS[2], math.max(used - limit, 0), math.max(used - limit, 0), 'WITHSCORES')
local frees = oldest[2] and math.max(oldest[2] + window - now, 1) or 1
if used >= limit then return {'minute', frees, used} end
local rows, weights, uses = redis.call('HGETALL', KEYS[5]), {}, {}
local sum = 0
for at = 1, #rows, 2 do
  local seen, weight = string.match(rows[at + 1], '^(%d+) (%d+)')
  if now - seen < ${SITE_ALIVE_MS} or rows[at] == own then
    weights[rows[at]] = tonumber(weight)
    sum = sum + weight
  end
end
if weights[own] and sum > weights[own] then
  local counts = redis.call('HGETALL', KEYS[3])
  for at = 1, #counts, 2 do uses[counts[at]] = tonumber(counts[at + 1]) end
  redis.call('HSET', KEYS[3], own .. '|', now)
  if (uses[own] or 0) >= limit * weights[own] / sum then
    local asking, idle = 0, 0
    for site, weight in pairs(weights) do
      local free = math.max(limit * weight / sum - (uses[site] or 0), 0)
      if site == own then free = 0 end
      if now - (uses[site .. '|'] or 0) < 5000 then asking = asking + free else idle = idle + free end
    end
    if used >= limit - asking - math.min(idle, limit / 10) then
      return {'share', math.min(math.max(frees, 100), 2000), used}
    end
  end
end
if total - ARGV[8] >= tonumber(ARGV[9]) then return {'month', 0, used} end
redis.call('ZADD', KEYS[2], now + flight, ARGV[4])
redis.call('HINCRBY', KEYS[3], own, 1)
for at = 2, 3 do redis.call('PEXPIRE', KEYS[at], 2 * window + flight) end
redis.call('HINCRBY', KEYS[4], ARGV[6], 1)
redis.call('EXPIRE', KEYS[4], ARGV[7])
if told then redis.call('HINCRBY', KEYS[1], 'left', -1) end
return {'admitted', 0, used + 1}`;

/**
 * A request was answered: its place counts from now on. Of what the platform says of its minute the least is right, for answers come
 * in any order, and what is under way may not be counted in them. Where Redis was new it says what others have sent.
 */
const LEARN = `
if ARGV[1] ~= '' and redis.call('ZSCORE', KEYS[2], ARGV[1]) then redis.call('ZADD', KEYS[2], now, ARGV[1]) end
local gate = redis.call('HMGET', KEYS[1], 'run', 'opens', 'left', 'resets', 'why')
if gate[1] ~= run then return end
local pause, left, reset = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if gate[5] == 'new' and tonumber(gate[2]) > now then
  if left < 0 then redis.call('HSET', KEYS[1], 'probed', 'untold') else
    local others = math.max(tonumber(ARGV[5]) - left - redis.call('ZCARD', KEYS[2]), 0)
    for at = 1, others do redis.call('ZADD', KEYS[2], now, 'before ' .. at) end
    redis.call('HINCRBY', KEYS[3], 'before', others)
    redis.call('HSET', KEYS[1], 'opens', now, 'why', 'told')
    gate[2] = now
  end
end
if pause > 0 and now + pause > tonumber(gate[2]) then
  redis.call('HSET', KEYS[1], 'opens', now + pause, 'why', 'told')
end
if left < 0 then return end
if gate[4] and tonumber(gate[4]) > now then left, reset = math.min(left, gate[3]), gate[4] - now end
redis.call('HSET', KEYS[1], 'left', left, 'resets', now + reset)`;

// What a worker is doing just now, for what it calls while it does: whose job it is and how long it may begin.

export interface Errand {
  /** The site that the job belongs to: its requests are counted there. */
  readonly site: string;
  /** No first byte leaves later; by `performance.now()`. */
  readonly startByMs: number;
  /** Requests that were admitted. */
  readonly used: Map<Purpose, number>;
}

export const errands = new AsyncLocalStorage<Errand>();

/* The month of all sites: how many requests each has used, by purpose. Counts only grow, so whoever knows more is
   right; and every process tells again what it has seen, so that what Redis forgets comes back by itself. */

/** Longer than any month. */
const MONTH_KEPT_S = 70 * 24 * 3_600;

/** One tells, one tells what Redis has forgotten of others, and once it may forget meanwhile. */
const TELLINGS_MAX = 4;
const FORGETS: Trouble = {
  code: "forgets",
  message: "Redis does not keep the month's requests that it is told",
  next: "See who flushes it, and that maxmemory-policy is noeviction. It goes on by itself.",
};

function openMonth(hub: Hub, keys: Keys, ledger: SiteLedger | null) {
  /** By `site purpose`. */
  let counts = new Map<string, number>();
  /** The same as Redis last told them, and those of the sites that are there. */
  let heard = new Map<string, number>();
  let weights: ReadonlyMap<string, number> = new Map();
  let known = "";
  /** Summed by a part of their names. */
  const summed = (part: 0 | 1): Map<string, number> => {
    const sums = new Map<string, number>();
    for (const [name, requests] of counts) {
      const key = name.split(" ")[part] ?? "";
      sums.set(key, (sums.get(key) ?? 0) + requests);
    }
    return sums;
  };
  return {
    /** Tells what this process knows of the month (`2026-11`), and learns what the others know. @throws RedisTrouble */
    async refresh(name: string): Promise<void> {
      if (known !== name) [counts, heard] = [new Map(), new Map()];
      const own = Object.entries(ledger?.spent(name) ?? {});
      let telling = own.map(([purpose, requests]): [string, number] => [
        `${ledger?.site} ${purpose}`,
        requests,
      ]);
      for (let turn = 0; turn === 0 || telling.length > 0; turn++) {
        if (turn === TELLINGS_MAX) throw new RedisTrouble(FORGETS, null);
        const args = [MONTH_KEPT_S, sumOf(heard.values()), ...telling.flat()];
        const reply = await hub.run(MERGE, [keys.month(name), keys.sites], args);
        const [month, sites] = reply as [string[] | null, string[]];
        weights = new Map(pairsOf(sites).map(([site, weight]) => [site, Number(weight)]));
        if (month !== null)
          heard = new Map(pairsOf(month).map(([count, told]) => [count, Number(told)]));
        for (const [count, requests] of month === null ? [] : heard)
          counts.set(count, Math.max(counts.get(count) ?? 0, requests));
        // What Redis has forgotten of others, too.
        telling = [...counts].filter(([count, requests]) => requests > (heard.get(count) ?? 0));
      }
      known = name;
    },
    isKnown: (name: string): boolean => known === name,
    /** Requests of all sites, as of the last refresh. */
    spent: (name: string): Spent => (known === name ? Object.fromEntries(summed(1)) : {}),
    bySite: (name: string) => (known === name ? summed(0) : new Map<string, number>()),
    /** Of the sites that are there. */
    weights: () => weights,
  };
}

/** As `HGETALL` lists them. */
const pairsOf = (list: readonly string[]): [name: string, value: string][] =>
  list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1] ?? ""]] : []));

/**
 * Every count that is told is at least what it was: whoever knows more is right. Counts only grow: where their sum is what was told
 * the last time, so are they, and of many sites' counts nothing is told again.
 */
const MERGE = `
for at = 3, #ARGV, 2 do
  local before = tonumber(redis.call('HGET', KEYS[1], ARGV[at]) or '0')
  if tonumber(ARGV[at + 1]) > before then redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
local sum = 0
for _, requests in ipairs(redis.call('HVALS', KEYS[1])) do sum = sum + requests end
local rows, sites = redis.call('HGETALL', KEYS[2]), {}
for at = 1, #rows, 2 do
  local seen, weight = string.match(rows[at + 1], '^(%d+) (%d+)')
  if now - seen < ${SITE_ALIVE_MS} then
    table.insert(sites, rows[at])
    table.insert(sites, weight)
  end
end
return {sum ~= tonumber(ARGV[2]) and redis.call('HGETALL', KEYS[1]), sites}`;
