/**
 * One site among those that share an API key: one minute and one month, kept in Redis and decided there, by its clock, and shared by
 * the sites' weights. Redis may forget both. Then one request asks the platform what its minute still allows, and where it does not
 * say nothing is sent for a minute, for nobody knows what was sent in the last one; and every site tells again what it has seen of the
 * month, so the sum comes back by itself. A site keeps its name taken and sees the others: two daemons under one name would count
 * each other's requests as their own; two sites with other rules of what is whose, or without any, would both book a record, or neither.
 */
import { randomUUID } from "node:crypto";
import {
  type Admission,
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
import { together } from "../core/together.ts";
import {
  type Hub,
  inWords,
  type Trouble,
  troubleOf,
  troublesIn,
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
const SAME_RULES =
  "Write the same rules under sites in the configuration of every site, and start their daemons again: nothing is read or sent until they agree.";
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
function openGroup(hub: Hub, limit: number, options: GovernorOptions) {
  const { clock, ledger, weight, home = randomUUID(), isHub = false } = options;
  const { site } = ledger;
  /** This start of this process, which the name belongs to. */
  const boot = `${home}/${randomUUID()}`;
  const own = { site, boot, weight, rules: options.rules || NO_RULES, role: isHub ? HUB : SITE };
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
    const looked = (await hub.run(LOOK, {
      ...own,
      former: isNew ? `${home}/` : boot,
      month: name,
      sum: sumOf(now.told.values()),
      telling: Object.fromEntries(telling),
    })) as Looked;
    isNew = false;
    weights = new Map(Object.entries(looked.weights));
    if (looked.told !== false) now.told = new Map(Object.entries(looked.told));
    for (const [by, count] of now.told) learned(by, count);
    month = now;
    const uses = new Map(Object.entries(looked.uses));
    const asked = new Map([...weights.keys()].map((one) => [one, uses.get(`${one}|`) ?? 0]));
    share = shareOfMinute({ limit, weights, uses, asked }, site, looked.nowMs);
    for (const [code, message, next] of troubles) {
      const other = looked.found[code];
      if (other !== undefined) return { code, message: message.replace("@", other), next };
    }
    return null;
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
    leave: () => hub.run(LEAVE, own).catch(() => {}),
  };
}

export function openSharedGovernor(hub: Hub, options: GovernorOptions) {
  const { budget, clock, ledger, windowMs = WINDOW_MS } = options;
  // A place counts until its request has surely arrived, and for the window from then on.
  const flight = Math.ceil((windowMs * 3) / 4);
  const limit = budget.perMinute - Math.floor(budget.perMinute / KEPT_FOR_PROBES);
  const group = openGroup(hub, limit, options);
  const { site } = ledger;
  const minute = { used: 0, opensAtMs: 0, why: "minute" as keyof typeof whys, since: "" };
  /** Places of requests that have no answer yet, the oldest first. */
  const flying: { readonly place: string; readonly untilMs: number }[] = [];
  const watched = watch(hub, options, group.look);

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
    const known = usedOf(all);
    const shared = { ...group.share(), site, month: name, known, limit, window: windowMs, flight };
    const replies = await hub.run(TURN, {
      ...shared,
      turns: turns.map((one) =>
        one.purpose === undefined ? one : { ...one, leftFor: leftFor(budget, all, one.purpose) },
      ),
    });
    const now = clock.now();
    const waits = (replies as Turned[]).map(([word, ms, used], at) => {
      const { place, purpose } = turns[at] as Turn;
      minute.used = used;
      if (purpose === undefined) return null;
      if (word !== "admitted") {
        if (minute.opensAtMs <= now.monoMs) minute.since = new Date(now.wallMs).toISOString();
        Object.assign(minute, { opensAtMs: now.monoMs + ms, why: word });
        return { ms: ms + clock.chance() * JITTER_MS, detail: whys[word] };
      }
      minute.opensAtMs = 0;
      flying.push({ place, untilMs: now.monoMs + flight });
      ledger.spend(wallMs, purpose);
      return null;
    });
    if (waits.some((wait) => wait?.detail === whys.month)) await group.look();
    return waits;
  });

  const { admit, hurry } = admitting({
    clock,
    refused,
    take: (purpose) => turn({ place: `${site} ${randomUUID()}`, purpose }),
  });
  return {
    async admit(purpose: Purpose): Promise<Admission> {
      await watched.looked;
      let trouble: Trouble | null = watched.trouble();
      if (trouble === null || GOES_ON.has(trouble.code)) {
        try {
          return await admit(purpose);
        } catch (error) {
          trouble = troubleOf(error);
        }
      }
      return { admitted: false, waitMs: RETRY_MS, detail: inWords(trouble), turn: true };
    },
    learn(...answer: Parameters<Governor["learn"]>): void {
      const { monoMs } = clock.now();
      while ((flying[0]?.untilMs ?? Infinity) <= monoMs) flying.shift();
      const place = flying.shift()?.place ?? "";
      // What is not learned now is learned from the next answer.
      turn({ place, ...limitsIn(...answer) }).catch(() => {});
    },
    unsent(): void {
      hub.run(UNSENT, {}).catch(() => {});
    },
    looked: watched.looked,
    trouble: watched.trouble,
    look: group.look,
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

/** A request that asks for its place; or (without a purpose) what the head of its answer says of the minute. */
interface Turn extends Partial<NonNullable<ReturnType<typeof limitsIn>>> {
  readonly place: string;
  readonly purpose?: Purpose;
}

/** `ms`: how long until it is worth asking again; `used`: of the minute. */
type Turned = [word: keyof typeof whys | "admitted", ms: number, used: number];

/** By site, and of the month by `site purpose`; `told`: false where it is what was told before. `uses`: of the minute. */
interface Looked extends Record<"weights" | "uses", Readonly<Record<string, number>>> {
  /** By the code of a trouble: who has it. */
  readonly found: Readonly<Record<string, string>>;
  readonly told: Readonly<Record<string, number>> | false;
  readonly nowMs: number;
}

/** The first of those that are found is told; @ is whom it is with. */
const troubles = troublesIn(`
other-site | another daemon is site "@" of this API key | Give each its own queue.site; if there is only one, it goes on within ${SITE_ALIVE_MS / 1_000} s.
no-rules | site "@" has the same API key, and this site does not say what is its own | ${SAME_RULES}
other-rules | site "@" has other rules of which records are whose | ${SAME_RULES}
second-hub | "@" is a hub of this API key, too | Have every site ask one of the two, then end the other: until then both read all feeds, and the month's requests are used twice.
no-worker | no worker is connected | Start \`fuelbridge worker\` with this configuration, on this machine or another one.`);

/** What is read goes on all the same. */
const GOES_ON = new Set(["no-worker", "second-hub"]);

/**
 * Rows of sites: when they were last heard of, weight, process, rules and what they are. Told is one that is there under other rules, or where this
 * one has none; and to a hub, another hub. Of the month every count that is told is at least what it was: whoever knows more is right; where the sum is what was
 * told the last time, nothing is told again.
 */
const LOOK = `
local rows, weights, found = redis.call('HGETALL', sites), {[given.site] = given.weight}, {}
for at = 1, #rows, 2 do
  local seen, weight, boot, rules, role = string.match(rows[at + 1], '^(%d+) (%d+) (%S+) (%S+) (%S+)')
  if now - seen >= ${SITE_ALIVE_MS} then redis.call('HDEL', sites, rows[at])
  elseif rows[at] ~= given.site then
    weights[rows[at]] = tonumber(weight)
    if given.rules == '${NO_RULES}' then found['no-rules'] = rows[at]
    elseif rules ~= given.rules then found['other-rules'] = rows[at] end
    if role == '${HUB}' and given.role == role then found['second-hub'] = rows[at] end
  elseif string.find(boot, given.former, 1, true) ~= 1 then found['other-site'] = given.site end
end
if not found['other-site'] then
  local row = {string.format('%.0f', now), given.weight, given.boot, given.rules, given.role}
  redis.call('HSET', sites, given.site, table.concat(row, ' '))
end
if redis.call('EXISTS', worker) == 0 then found['no-worker'] = '' end
local month, sum = KEYS[1] .. ':month:' .. given.month, 0
for by, count in pairs(given.telling) do
  if count > tonumber(redis.call('HGET', month, by) or 0) then redis.call('HSET', month, by, count) end
end
redis.call('EXPIRE', month, ${MONTH_KEPT_S})
for _, requests in ipairs(redis.call('HVALS', month)) do sum = sum + requests end
local told = sum ~= given.sum and pairsOf(month, {})
return {weights = weights, found = found, told = told, uses = pairsOf(uses, {}), nowMs = now}`;

const LEAVE = `
local row = redis.call('HGET', sites, given.site)
if row and string.find(row, given.boot, 1, true) then redis.call('HDEL', sites, given.site) end`;

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
local window, flight, known, own = given.window, given.flight, given.known, given.site
local month = KEYS[1] .. ':month:' .. given.month
for _, place in ipairs(redis.call('ZRANGEBYSCORE', minute, '-inf', now - window)) do
  redis.call('ZREM', minute, place)
  redis.call('HINCRBY', uses, string.match(place, '^%S+'), -1)
end
local was = redis.call('HMGET', gate, 'run', 'why', 'probed', 'opens', 'left', 'resets')
local why, probed = was[2] or 'told', was[3] or ''
local opens, left, resets = tonumber(was[4] or 0), tonumber(was[5] or 0), tonumber(was[6] or 0)
local newest = redis.call('ZRANGE', minute, -1, -1, 'WITHSCORES')[2] or 0
local ahead = tonumber(newest) > now + flight + 1000 or math.max(opens, resets) > now + math.max(window, ${WINDOW_MS})
local isNew = was[1] ~= run or ahead
if isNew then
  redis.call('DEL', gate, minute, uses)
  why, probed, opens, resets = 'new', '', now + window, 0
end
local used, total = redis.call('ZCARD', minute), 0
local share = tonumber(redis.call('HGET', uses, own) or 0)
for _, requests in ipairs(redis.call('HVALS', month)) do total = total + requests end
local function refused(leftFor)
  if total < known then return 'month', 100 end
  if opens > now then
    if why ~= 'new' then return why, opens - now end
    if probed ~= '' then return 'new', probed == 'untold' and opens - now or math.min(opens - now, 100) end
  end
  if resets > now and left <= 0 then return 'told', resets - now end
  if used < given.limit then
    redis.call('HSET', uses, own .. '|', now)
    if share < given.own or used < given.most then return total - known >= leftFor and 'month', 100 end
  end
  local over = math.max(used - given.limit, 0)
  local oldest = redis.call('ZRANGE', minute, over, over, 'WITHSCORES')[2] or 0
  local frees = math.max(oldest + window - now, 1)
  if used >= given.limit then return 'minute', frees end
  return 'share', math.min(math.max(frees, 100), 2000)
end
local function learn(pause, said, reset)
  if why == 'new' and opens > now then
    if said < 0 then probed = 'untold' else
      local others = math.max(given.limit - said - used, 0)
      for other = 1, others do redis.call('ZADD', minute, now, 'before ' .. other) end
      redis.call('HINCRBY', uses, 'before', others)
      why, opens, used = 'told', now, used + others
    end
  end
  if now + pause > math.max(opens, now) then why, opens = 'told', now + pause end
  if said < 0 then return end
  if resets > now then left = math.min(left, said) else left, resets = said, now + reset end
end
local replies = {}
for at, turn in ipairs(given.turns) do
  local word, ms = 'learned', 0
  if turn.purpose then word, ms = refused(turn.leftFor) else
    redis.call('ZADD', minute, 'XX', now, turn.place)
    if not isNew then learn(turn.pauseMs or 0, turn.left or -1, turn.resetMs or 0) end
  end
  if not word then
    redis.call('ZADD', minute, now + flight, turn.place)
    redis.call('HINCRBY', month, own .. ' ' .. turn.purpose, 1)
    redis.call('HINCRBY', uses, own, 1)
    used, share, total, left = used + 1, share + 1, total + 1, left - 1
    if opens > now then probed = 'asked' end
  end
  replies[at] = {word or 'admitted', ms or 0, used}
end
redis.call('HSET', gate, 'run', run, 'why', why, 'probed', probed, 'opens', opens, 'left', left, 'resets', resets)
for _, key in ipairs({minute, uses}) do redis.call('PEXPIRE', key, 2 * window + flight) end
redis.call('EXPIRE', month, ${MONTH_KEPT_S})
return replies`;

/** It may have been the one that asks for all: then another one does. */
const UNSENT = `if redis.call('HGET', gate, 'probed') == 'asked' then redis.call('HSET', gate, 'probed', '') end`;
