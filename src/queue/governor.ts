/**
 * One site among those that share an API key: one minute and one month, kept in Redis and decided there, by its clock, and shared by
 * the sites' weights. Redis may forget both. Then one request asks the platform what its minute still allows, and where it does not
 * say nothing is sent for a minute, for nobody knows what was sent in the last one; and every site tells again what it has seen of the
 * month, so the sum comes back by itself. A site keeps its name taken and sees the others: two daemons under one name would count
 * each other's requests as their own; two sites with other rules of what is whose, or without any, would both book a record, or neither.
 */
import { randomUUID } from "node:crypto";
import {
  admitting,
  type Budget,
  type Governor,
  type Ledger,
  leftFor,
  limitsIn,
  monthAt,
  monthRefusal,
  type Purpose,
  refusedByShare,
  shareOfMinute,
  type Spent,
  usedOf,
  WINDOW_MS,
} from "../core/budget.ts";
import { sumOf } from "../core/groups.ts";
import type { Clock } from "../core/time.ts";
import {
  type Hub,
  type Keys,
  RedisTrouble,
  together,
  type Trouble,
  watch,
  type Watching,
} from "./redis.ts";

export interface GovernorOptions extends Watching {
  readonly budget: Budget;
  readonly clock: Clock;
  readonly ledger: Ledger & { readonly site: string };
  /** The window that `budget.perMinute` counts in; a second more than the platform's minute when left out. */
  readonly windowMs?: number;
  readonly weight: number;
  /** Names the rules of what is whose; empty: there are none. */
  readonly rules?: string;
  /** It reads the feeds for all sites of the key. Left out: it is a site. */
  readonly isHub?: boolean;
  /** Where its store is. Of two daemons of a site that have one, the former has ended: it is held by one process. */
  readonly home?: string;
}

/** When Redis cannot be asked. */
const RETRY_MS = 3_000;
const JITTER_MS = 50;
/** A daemon that was not heard of keeps the name of its site, and its share, so long. */
const SITE_ALIVE_MS = 30_000;
/** Longer than any month. */
const MONTH_KEPT_S = 70 * 24 * 3_600;
const NO_RULES = "-";
const [HUB, SITE] = ["hub", "site"];

/** Why there is no place: `share`: other sites have the next ones; `month`: it is looked at anew. */
const whys = {
  minute: "the minute's requests are used up, by all sites together",
  share: "this site has had its share of the minute, and other sites have the next places",
  told: "the platform allows no more in this minute",
  new: "Redis is new or was restarted, and nobody knows what was sent in the last minute",
  month: "Redis does not keep the month's requests that it is told: see who flushes it",
} as const;

/** The site among others: its name, the month, and its share of the minute. */
function openGroup(hub: Hub, keys: Keys, limit: number, options: GovernorOptions) {
  const { clock, ledger, weight, home = randomUUID(), isHub = false } = options;
  const { site } = ledger;
  const rules = options.rules || NO_RULES;
  /** This start of this process, which the name belongs to. */
  const boot = `${home}/${randomUUID()}`;
  /** The requests of a month by `site purpose`, as they are known here and as Redis has told them: counts only grow. */
  let month = { name: "", known: new Map<string, number>(), told: new Map<string, number>() };
  /** Of the sites that are there, as of the last look. */
  let weights: ReadonlyMap<string, number> = new Map();
  let share = { own: limit, most: limit };
  let isNew = true;

  /** Tells that this site is there and what it knows of the month, and learns what the others are and know. @throws RedisTrouble */
  async function look(): Promise<Trouble | null> {
    const { name } = monthAt(clock.now().wallMs);
    const now = month.name === name ? month : { name, known: new Map(), told: new Map() };
    const learned = (by: string, count: number): void =>
      void now.known.set(by, Math.max(now.known.get(by) ?? 0, count));
    for (const [purpose, count] of Object.entries(ledger.spent(name)))
      learned(`${site} ${purpose}`, count);
    const telling = [...now.known].filter(([by, count]) => count > (now.told.get(by) ?? 0));
    const own = [site, boot, weight, rules, isNew ? `${home}/` : "-", isHub ? HUB : SITE];
    const reply = await hub.run(LOOK, {
      keys: [keys.sites, keys.worker, keys.month(name), keys.uses],
      args: [...own, sumOf(now.told.values()), MONTH_KEPT_S, ...telling.flat()],
    });
    const [owner, workers, other, second, sites, told, uses, nowMs] = reply as Looked;
    isNew = false;
    weights = new Map(pairsOf(sites));
    if (told !== null) now.told = new Map(pairsOf(told));
    for (const [by, count] of now.told) learned(by, count);
    month = now;
    const shared = { limit, weights, uses: new Map(pairsOf(uses)), asked: askedIn(uses) };
    share = shareOfMinute(shared, site, nowMs);
    if (owner !== boot) return otherSite(site);
    if (other !== null) return otherRules(other, options.rules);
    if (second !== null) return secondHub(second);
    return workers === 0 ? NO_WORKER : null;
  }

  function summed(name: string, part: 0 | 1): Map<string, number> {
    const sums = new Map<string, number>();
    for (const [by, requests] of name === month.name ? month.known : []) {
      const key = by.split(" ")[part] ?? "";
      sums.set(key, (sums.get(key) ?? 0) + requests);
    }
    return sums;
  }

  return {
    look,
    /** Of a month, by a part of the names of its counts: 0, by site; 1, by purpose. */
    summed,
    weights: () => weights,
    share: () => share,
    /** Gives its name back. */
    leave: () => hub.run(LEAVE, { keys: [keys.sites], args: [site, boot] }).catch(() => {}),
  };
}

export function openSharedGovernor(hub: Hub, keys: Keys, options: GovernorOptions) {
  const { budget, clock, ledger, windowMs = WINDOW_MS } = options;
  // A place counts until its request has surely arrived, and for the window from then on.
  const flightMs = Math.ceil((windowMs * 3) / 4);
  const limit = budget.perMinute - Math.floor(budget.perMinute / KEPT_FOR_PROBES);
  const group = openGroup(hub, keys, limit, options);
  const { site } = ledger;
  const { look } = group;
  const minute = { used: 0, opensAtMs: 0, why: "minute" as keyof typeof whys, since: "" };
  /** Places of requests that have no answer yet, the oldest first. */
  const flying: { readonly place: string; readonly untilMs: number }[] = [];
  const watched = watch(hub, options, look);

  const spent = (name: string): Spent => Object.fromEntries(group.summed(name, 1));

  /** The month of all sites, as it was last seen. */
  const seen = { ...ledger, spent };

  /** What the month says to a request of this site; null: it may go. */
  function refused(purpose: Purpose, nowMs: number) {
    const used = group.summed(monthAt(nowMs).name, 0);
    const all = monthRefusal(budget, seen, purpose, nowMs);
    if (all !== null) return all.turn ? all : { ...all, detail: `${all.detail}, by all sites` };
    return refusedByShare({ budget, used, weights: group.weights() }, site, nowMs);
  }

  const turn = together(TURN_MOST, async (turns: readonly Turn[]) => {
    const { wallMs } = clock.now();
    const { name } = monthAt(wallMs);
    const all = spent(name);
    const { own, most } = group.share();
    const shared = [windowMs, limit, flightMs, site, own, most, usedOf(all), MONTH_KEPT_S];
    const each = turns.flatMap(({ place, purpose, head }) =>
      purpose === "" ? [place, "", ...head] : [place, purpose, leftFor(budget, all, purpose), 0, 0],
    );
    const names = [keys.gate, keys.minute, keys.uses, keys.month(name)];
    const replies = await hub.run(TURN, { keys: names, args: [...shared, ...each] });
    const now = clock.now();
    const waits = (replies as Turned[]).map(([word, ms, used], at) => {
      const { place, purpose } = turns[at] as Turn;
      minute.used = used;
      if (purpose === "") return null;
      if (word !== "admitted") {
        if (minute.opensAtMs <= now.monoMs) minute.since = new Date(now.wallMs).toISOString();
        Object.assign(minute, { opensAtMs: now.monoMs + ms, why: word });
        return { ms: ms + clock.chance() * JITTER_MS, detail: whys[word] };
      }
      minute.opensAtMs = 0;
      flying.push({ place, untilMs: now.monoMs + flightMs });
      ledger.spend(wallMs, purpose);
      return null;
    });
    if (waits.some((wait) => wait?.detail === whys.month)) await look();
    return waits;
  });

  const { admit, hurry } = admitting({
    clock,
    refused,
    take: (purpose) => turn({ place: `${site} ${randomUUID()}`, purpose, head: [] }),
  });
  const governor: Governor = {
    async admit(purpose) {
      try {
        await watched.looked;
        const trouble = watched.trouble();
        if (trouble === null || GOES_ON.has(trouble.code)) return await admit(purpose);
        throw new RedisTrouble(trouble, null);
      } catch (error) {
        if (!(error instanceof RedisTrouble)) throw error;
        const detail = `${error.message}. ${error.trouble.next}`;
        return { admitted: false, waitMs: RETRY_MS, detail, turn: true };
      }
    },
    learn(headers, status) {
      const { pauseMs = 0, left = -1, resetMs = 0 } = limitsIn(headers, status) ?? {};
      const { monoMs } = clock.now();
      while ((flying[0]?.untilMs ?? Infinity) <= monoMs) flying.shift();
      const place = flying.shift()?.place ?? "";
      // What is not learned now is learned from the next answer.
      turn({ place, purpose: "", head: [pauseMs, left, resetMs] }).catch(() => {});
    },
    unsent() {
      hub.run(UNSENT, { keys: [keys.gate], args: [] }).catch(() => {});
    },
  };
  return {
    ...governor,
    looked: watched.looked,
    trouble: watched.trouble,
    look,
    hurry,
    /** Requests of all sites, as of the last look. */
    spent,
    /** This site's part of the month beside the others that are there, by their weights, 0 to 1; null: not known yet. */
    share(): number | null {
      const own = group.weights().get(site);
      return own === undefined ? null : own / sumOf(group.weights().values());
    },
    /** The minute of all sites, as of the last request. */
    minute: () => ({
      used: minute.used,
      limit: budget.perMinute,
      opensInMs: Math.max(Math.ceil(minute.opensAtMs - clock.now().monoMs), 0),
    }),
    /** What keeps everything from being sent that goes by itself soon, as of the last request; null: nothing. */
    awaits(): (Trouble & { readonly since: string }) | null {
      const { wallMs, monoMs } = clock.now();
      const opensInMs = minute.opensAtMs - monoMs;
      if (opensInMs <= 0 || minute.why === "share") return null;
      const at = new Date(wallMs + opensInMs).toISOString();
      const message = `${whys[minute.why]}: nothing is sent before ${at}`;
      return { code: minute.why, message, next: "It goes on by itself.", since: minute.since };
    },
    async close() {
      await watched.stop();
      await group.leave();
    },
  };
}

/** A request that asks for its place; or (its purpose is empty) the head of its answer: what {@link limitsIn} says, or 0, -1 and 0. */
interface Turn {
  readonly place: string;
  readonly purpose: Purpose | "";
  readonly head: readonly number[];
}

/** `ms`: how long until it is worth asking again; `used`: of the minute. */
type Turned = [word: keyof typeof whys | "admitted", ms: number, used: number];

/** `sites` with their weights; `told`, of the month: null where it is what was told before; `uses` of the minute. */
type Looked = [
  owner: string,
  workers: number,
  other: string | null,
  second: string | null,
  sites: string[],
  told: string[] | null,
  uses: string[],
  nowMs: number,
];

/** As `HGETALL` lists them. */
const pairsOf = (list: readonly string[]): [name: string, value: number][] =>
  list.flatMap((name, at) => (at % 2 === 0 ? [[name, Number(list[at + 1])]] : []));

/** When each site asked last, by the clock of Redis. */
const askedIn = (uses: readonly string[]): Map<string, number> =>
  new Map(
    pairsOf(uses).flatMap(([name, at]) => (name.endsWith("|") ? [[name.slice(0, -1), at]] : [])),
  );

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

const otherRules = (site: string, rules = ""): Trouble => ({
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

/** What is read goes on all the same. */
const GOES_ON = new Set([NO_WORKER.code, "second-hub"]);

/**
 * Rows of sites: when they were last heard of, weight, process, rules and what they are. Told is one that is there under other rules, or where this
 * one has none; and to a hub, another hub. Of the month every count that is told is at least what it was: whoever knows more is right; where the sum is what was
 * told the last time, nothing is told again.
 */
const LOOK = `
local rows, sites, other, second, owner = redis.call('HGETALL', KEYS[1]), {}, false, false, ARGV[2]
local function is(site, weight) table.insert(sites, site) table.insert(sites, weight) end
for at = 1, #rows, 2 do
  local seen, weight, boot, rules = string.match(rows[at + 1], '^(%d+) (%d+) (%S+) (%S+)')
  if now - seen >= ${SITE_ALIVE_MS} then redis.call('HDEL', KEYS[1], rows[at])
  elseif rows[at] ~= ARGV[1] then
    is(rows[at], weight)
    if rules ~= ARGV[4] or rules == '${NO_RULES}' then other = other or rows[at] end
    if ARGV[6] == '${HUB}' and string.find(rows[at + 1], ' ${HUB}$') then second = second or rows[at] end
  elseif string.find(boot, ARGV[5], 1, true) ~= 1 then owner = boot end
end
if owner == ARGV[2] then
  local row = string.format('%.0f', now) .. ' ' .. ARGV[3] .. ' ' .. ARGV[2] .. ' ' .. ARGV[4] .. ' ' .. ARGV[6]
  redis.call('HSET', KEYS[1], ARGV[1], row)
end
is(ARGV[1], ARGV[3])
for at = 9, #ARGV, 2 do
  local before = tonumber(redis.call('HGET', KEYS[3], ARGV[at]) or '0')
  if tonumber(ARGV[at + 1]) > before then redis.call('HSET', KEYS[3], ARGV[at], ARGV[at + 1]) end
end
redis.call('EXPIRE', KEYS[3], ARGV[8])
local sum = 0
for _, requests in ipairs(redis.call('HVALS', KEYS[3])) do sum = sum + requests end
local told = sum ~= tonumber(ARGV[7]) and redis.call('HGETALL', KEYS[3])
return {owner, redis.call('EXISTS', KEYS[2]), other, second, sites, told, redis.call('HGETALL', KEYS[4]), now}`;

const LEAVE = `
local row = redis.call('HGET', KEYS[1], ARGV[1])
if row and string.find(row, ARGV[2], 1, true) then redis.call('HDEL', KEYS[1], ARGV[1]) end`;

/** One in so many places of a minute is never given away: it asks the platform, once Redis has lost what was sent. */
const KEPT_FOR_PROBES = 100;

/** Redis does nothing else while a script runs. */
const TURN_MOST = 64;

/**
 * What is asked for and what was answered in one turn of a process, in its order.
 *
 * A request that may not go is told why and how long. What lies further ahead than anything is ever put was put there by a clock that has
 * been set back since: then it is as after a restart. Of the month it is told what was used and left when it was last looked at: since
 * then, no more than that may have been used, and where Redis knows of less, it is told first what it has lost. The site's share of
 * the minute is as of its last look ({@link shareOfMinute}); what it and all use of it is as of now.
 *
 * A request that was answered: its place counts from now on. Of what the platform says of its minute the least is right, for answers come
 * in any order, and what is under way may not be counted in them. Where Redis was new it says what others have sent.
 */
const TURN = `
local window, limit, flight, own = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local share, most, known = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
for _, place in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - window)) do
  redis.call('ZREM', KEYS[2], place)
  redis.call('HINCRBY', KEYS[3], string.match(place, '^%S+'), -1)
end
local gate = redis.call('HMGET', KEYS[1], 'run', 'why', 'probed', 'opens', 'left', 'resets')
local why, probed = gate[2] or 'told', gate[3] or ''
local opens, left, resets = tonumber(gate[4] or 0), tonumber(gate[5] or 0), tonumber(gate[6] or 0)
local newest = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2] or 0
local ahead = tonumber(newest) > now + flight + 1000 or math.max(opens, resets) > now + math.max(window, ${WINDOW_MS})
local isNew = gate[1] ~= run or ahead
if isNew then
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
  why, probed, opens, resets = 'new', '', now + window, 0
end
local used = redis.call('ZCARD', KEYS[2])
local uses = tonumber(redis.call('HGET', KEYS[3], own) or 0)
local total = 0
for _, requests in ipairs(redis.call('HVALS', KEYS[4])) do total = total + requests end
local function refused(leftFor)
  if total < known then return 'month', 100 end
  if opens > now then
    if why ~= 'new' then return why, opens - now end
    if probed ~= '' then return 'new', probed == 'untold' and opens - now or math.min(opens - now, 100) end
  end
  if resets > now and left <= 0 then return 'told', resets - now end
  if used < limit then
    redis.call('HSET', KEYS[3], own .. '|', now)
    if uses < share or used < most then return total - known >= leftFor and 'month', 100 end
  end
  local oldest = redis.call('ZRANGE', KEYS[2], math.max(used - limit, 0), math.max(used - limit, 0), 'WITHSCORES')
  local frees = oldest[2] and math.max(oldest[2] + window - now, 1) or 1
  if used >= limit then return 'minute', frees end
  return 'share', math.min(math.max(frees, 100), 2000)
end
local function learn(pause, said, reset)
  if why == 'new' and opens > now then
    if said < 0 then probed = 'untold' else
      local others = math.max(limit - said - used, 0)
      for other = 1, others do redis.call('ZADD', KEYS[2], now, 'before ' .. other) end
      redis.call('HINCRBY', KEYS[3], 'before', others)
      why, opens, used = 'told', now, used + others
    end
  end
  if pause > 0 and now + pause > opens then why, opens = 'told', now + pause end
  if said < 0 then return end
  if resets > now then left = math.min(left, said) else left, resets = said, now + reset end
end
local replies = {}
for at = 9, #ARGV, 5 do
  local place, purpose, first = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  local word, ms = 'learned', 0
  if purpose ~= '' then word, ms = refused(first) else
    redis.call('ZADD', KEYS[2], 'XX', now, place)
    if not isNew then learn(first, tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])) end
  end
  if not word then
    redis.call('ZADD', KEYS[2], now + flight, place)
    redis.call('HINCRBY', KEYS[4], own .. ' ' .. purpose, 1)
    redis.call('HINCRBY', KEYS[3], own, 1)
    used, uses, total, left = used + 1, uses + 1, total + 1, left - 1
    if opens > now then probed = 'asked' end
  end
  replies[#replies + 1] = {word or 'admitted', ms, used}
end
redis.call('HSET', KEYS[1], 'run', run, 'why', why, 'probed', probed, 'opens', opens, 'left', left, 'resets', resets)
for at = 2, 3 do redis.call('PEXPIRE', KEYS[at], 2 * window + flight) end
redis.call('EXPIRE', KEYS[4], ARGV[8])
return replies`;

/** It may have been the one that asks for all: then another one does. */
const UNSENT = `if redis.call('HGET', KEYS[1], 'probed') == 'asked' then redis.call('HSET', KEYS[1], 'probed', '') end`;
