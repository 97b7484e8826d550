/**
 * The requests that the platform allows: 600 a minute, 50,000 a month per key (specification part 8). Every request
 * asks the governor first, and what it refuses is not sent. The arithmetic of the month is here and pure; months are
 * calendar months, UTC. All our requests count, billed or not: what the platform bills is not specified in full.
 */
import { sumOf } from "./groups.ts";
import { type Clock, DAY_MS, type Moment } from "./time.ts";

/** What a request is for. Purposes share the month by reserves: polling never eats what writing needs. */
export const purposes = [
  "poll",
  "detail",
  "write",
  "read-back",
  "check",
  "audit",
  "backfill",
] as const;
export type Purpose = (typeof purposes)[number];

export type Admission =
  | { readonly admitted: true }
  /** Nothing was sent. `waitMs`: how long until it is worth asking again. */
  | {
      readonly admitted: false;
      readonly waitMs: number;
      readonly detail: string;
      /** The month allows it: only its turn among others is awaited. */
      readonly turn?: true;
    };

export interface Governor {
  /** Waits for a place within the minute, and counts the request against the month. */
  admit(purpose: Purpose): Promise<Admission>;
  /** What the head of an answer says about the limits (`RateLimit-*`, specification part 7). */
  learn(headers: Readonly<Record<string, string>>, status: number): void;
  /** What was admitted left no byte: nobody need wait for its answer. Left out: nobody does. */
  unsent?(): void;
}

export interface Budget {
  readonly perMonth: number;
  readonly perMinute: number;
  /** Percent of the month that only these purposes may use. */
  readonly reserve: { readonly writes: number; readonly readBacks: number };
  /** Percent of the month that a purpose may use at most; `hour`: that all but writes may use within an hour (left out: as usual). */
  readonly share: { readonly audit: number; readonly hour?: number };
}

/** What the platform allows every key (specification part 8), and who may use it unless a configuration says so. */
export const usualBudget = {
  perMonth: 50_000,
  perMinute: 600,
  reserve: { writes: 20, readBacks: 10 },
  share: { audit: 10, hour: 5 },
} satisfies Budget;

/** Percent of the month that one run of a flow may read, unless the list says that it needs more. */
const RUN_SHARE = 5;

/** The same in whole requests. */
export const runShareOf = ({ perMonth }: Pick<Budget, "perMonth">): number =>
  Math.ceil((perMonth * RUN_SHARE) / 100);

/** Requests of a month; `lost`: a process was killed that may have sent them, and nobody knows what for. */
export type Spent = Readonly<Partial<Record<Purpose | "lost", number>>>;

/** Requests of one day, UTC (`2026-11-23`), by purpose. */
export interface DaySpent {
  readonly day: string;
  readonly spent: Spent;
}

/** The code of a flow's trouble that waits for requests of the month, and of one that waits for its turn among others. */
export const WAITS_FOR_BUDGET = "budget";
export const WAITS_FOR_TURN = "turn";

/** Does a flow with this trouble only wait for requests? A healthy state. */
export const waitsForRequests = (code: string): boolean =>
  code === WAITS_FOR_BUDGET || code === WAITS_FOR_TURN;

/** What `status` calls such a flow. */
export const PAUSED = "paused: budget";

export const usedOf = (spent: Spent): number =>
  Object.values(spent).reduce((sum, requests) => sum + requests, 0);

/** What is kept for this purpose, whole requests of the month. */
export function reserveOf({ perMonth, reserve }: Budget, purpose: Purpose): number {
  if (purpose === "write") return Math.ceil((perMonth * reserve.writes) / 100);
  return purpose === "read-back" ? Math.ceil((perMonth * reserve.readBacks) / 100) : 0;
}

/** What reconciliation may use of a month at most, whole requests. */
const auditCeiling = ({ perMonth, share }: Pick<Budget, "perMonth" | "share">): number =>
  Math.floor((perMonth * share.audit) / 100);

/**
 * How many requests for this purpose the month still allows. Writes and read-backs may use everything, reconciliation
 * its share of what the others may use.
 */
export function leftFor(budget: Budget, spent: Spent, purpose: Purpose): number {
  const left = budget.perMonth - usedOf(spent);
  const owed = isForWrites(purpose)
    ? 0
    : owedTo(budget, spent, "write") + owedTo(budget, spent, "read-back");
  const share =
    purpose === "audit" ? auditCeiling(budget) - (spent.audit ?? 0) : Number.POSITIVE_INFINITY;
  return Math.max(Math.min(left - owed, share), 0);
}

/** Why nothing is left for this purpose though the month is not used up; empty when it is. */
function keptFrom(budget: Budget, spent: Spent, purpose: Purpose): string {
  if (usedOf(spent) >= budget.perMonth) return "";
  if (purpose === "audit" && (spent.audit ?? 0) >= auditCeiling(budget))
    return `; of these reconciliation has had the ${auditCeiling(budget)} that it may use (platform.budget.share.audit)`;
  return "; the rest is kept for writes and for looking for them";
}

/** What is left of a purpose's reserve. */
const owedTo = (budget: Budget, spent: Spent, purpose: Purpose): number =>
  Math.max(reserveOf(budget, purpose) - (spent[purpose] ?? 0), 0);

/** Writes, and what looks for them: they go on whatever else is slowed. */
export const isForWrites = (purpose: Purpose): boolean =>
  purpose === "write" || purpose === "read-back";

/** How far looks are ahead of what the rest of the month allows, in requests, as of `atMs` (UTC). */
export interface Haste {
  readonly requests: number;
  readonly atMs: number;
}

/** They may go so many times as fast as the rest of the month would allow evenly, and are ahead by what goes beyond. */
const HASTE_TIMES = 4;

/** What is known of the month of a site; `share`: its part beside other sites, 0 to 1. */
interface Hastened {
  readonly budget: Budget;
  readonly spent: Spent;
  readonly haste: Haste;
  readonly share: number;
}

/**
 * How far looks are ahead now, and how far they may be: a fault (a loop, a wrong clock, a reading of all that is past) must
 * not use up a month within an hour. Beyond it they go on at the pace at which that passes. A minute's requests are never
 * too many.
 */
export function hasteAt({ budget, spent, haste, share }: Hastened, nowMs: number) {
  const restMs = Math.max(monthAt(nowMs).endMs - nowMs, 3_600_000);
  const perMs = (leftFor(budget, spent, "poll") * share * HASTE_TIMES) / restMs;
  const passed = Math.max(nowMs - haste.atMs, 0) * perMs;
  const { perMonth, perMinute, share: shares } = budget;
  const most = Math.max(
    (perMonth * share * (shares.hour ?? usualBudget.share.hour)) / 100,
    perMinute,
  );
  const requests = Math.max(haste.requests - passed, 0);
  const waitMs = perMs === 0 ? 0 : Math.max(Math.ceil((requests + 1 - most) / perMs), 0);
  return { requests, most, waitMs };
}

/**
 * A write counts as sent from before it is admitted, and within what time it may go again is counted from there:
 * it does not wait for its place for long.
 */
const WRITE_WAITS_MS = 2_000;

/** Asking again costs nothing, and the limit may be raised; but the wait of a write becomes a stop. */
const ASK_AGAIN_MS = 15 * 60_000;

interface Admitting {
  readonly clock: Clock;
  /** What the month says to a request; null: it may go. */
  readonly refused: (purpose: Purpose, nowMs: number) => Refusal | null;
  /** Counts it and takes its place within the minute: null. Or why there is none yet, and how long that is. */
  readonly take: (purpose: Purpose, now: Moment) => Wait | null | Promise<Wait | null>;
}

interface Wait {
  readonly ms: number;
  readonly detail: string;
}

/** The month of one store, as it keeps it. */
export interface Ledger {
  /** Requests of a month (`2026-11`), none that may have been sent left out. */
  spent(month: string): Spent;
  /** Counts one in the day and the month of that instant, ms UTC; no end of this process loses it once this returns. @throws StorageError */
  spend(atMs: number, purpose: Purpose): void;
  /** How far looks are ahead of the month; left out: nobody counts it. */
  readonly haste?: (nowMs: number) => ReturnType<typeof hasteAt>;
  /** The platform has closed the month: when to ask it again, ms UTC. Null: it has not, or it may be asked. */
  closedUntil(nowMs: number): number | null;
}

/** How every governor admits, wherever its minute and month are kept. */
export function admitting({ clock, refused, take }: Admitting) {
  const stopping = new AbortController();
  return {
    admit: async (purpose: Purpose): Promise<Admission> => {
      const lateMs = clock.now().monoMs + (purpose === "write" ? WRITE_WAITS_MS : Infinity);
      for (;;) {
        const now = clock.now();
        const refusal = refused(purpose, now.wallMs);
        if (refusal !== null) {
          const { untilMs, ...why } = refusal;
          const againMs = purpose === "write" ? Infinity : ASK_AGAIN_MS;
          return { admitted: false, waitMs: Math.min(untilMs - now.wallMs, againMs), ...why };
        }
        const wait = await take(purpose, now);
        if (wait === null) return { admitted: true };
        const { ms: waitMs, detail } = wait;
        if (stopping.signal.aborted || now.monoMs + waitMs > lateMs)
          return { admitted: false, waitMs, detail, turn: true };
        await clock.pause(waitMs, stopping.signal);
      }
    },
    /** The process is about to end: what would have to wait for a place is refused from now on. */
    hurry: (): void => stopping.abort(),
  };
}

interface Refusal {
  readonly untilMs: number;
  readonly detail: string;
  /** The month allows it: it only goes too fast. */
  readonly turn?: true;
}

/** What the month says to a request of this purpose, and until when, ms UTC; null: it may go. */
export function monthRefusal(
  budget: Budget,
  month: Omit<Ledger, "spend">,
  purpose: Purpose,
  nowMs: number,
): Refusal | null {
  const until = month.closedUntil(nowMs);
  if (until !== null) {
    const detail = `the platform allows nothing before ${new Date(until).toISOString()}`;
    return { untilMs: until, detail };
  }
  const { name, endMs } = monthAt(nowMs);
  const spent = month.spent(name);
  if (leftFor(budget, spent, purpose) > 0) {
    const { waitMs = 0, most = 0 } = isForWrites(purpose) ? {} : (month.haste?.(nowMs) ?? {});
    if (waitMs === 0) return null;
    const detail = `looks are ${Math.round(most)} requests ahead of what ${name} allows (platform.budget.share.hour), and go on slowly; writes go on as always`;
    return { untilMs: nowMs + waitMs, detail, turn: true };
  }
  const used = `${usedOf(spent)} of the ${budget.perMonth} requests of ${name} are used (platform.budget.perMonth)`;
  return { untilMs: endMs, detail: used + keptFrom(budget, spent, purpose) };
}

/** What sites under one key have of its month: `used`, requests by site; `weights`, of the sites that are there. */
interface Shared {
  readonly budget: Pick<Budget, "perMonth">;
  readonly used: ReadonlyMap<string, number>;
  readonly weights: ReadonlyMap<string, number>;
}

/** A site's part grows as the month goes by. */
const SHARE_AGAIN_MS = 15 * 60_000;

/**
 * Why a site may not go on that has had its share of the month: what is left is others'. Each other site keeps its share of the
 * rest of the month, so what nobody uses is everybody's in the end. Null: it may.
 */
export function refusedByShare(
  { budget: { perMonth }, used, weights }: Shared,
  site: string,
  nowMs: number,
): (Refusal & { readonly turn: true }) | null {
  const { name, startMs, endMs } = monthAt(nowMs);
  const rest = (endMs - nowMs) / (endMs - startMs);
  const all = sumOf(weights.values());
  const shareOfSite = (one: string): number => (perMonth * (weights.get(one) ?? 1)) / all;
  const usedBy = (one: string): number => used.get(one) ?? 0;
  if (weights.size < 2 || usedBy(site) < shareOfSite(site)) return null;
  const left = perMonth - sumOf(used.values());
  const claimed = sumOf(
    [...weights.keys()]
      .filter((one) => one !== site)
      .map((one) => Math.min(shareOfSite(one) * rest, Math.max(shareOfSite(one) - usedBy(one), 0))),
  );
  if (left > claimed) return null;
  const detail = `of the ${perMonth} requests of ${name} this site has had its share (${Math.floor(shareOfSite(site))}); the rest is kept for other sites (queue.weight)`;
  return { untilMs: nowMs + SHARE_AGAIN_MS, detail, turn: true };
}

/** The last minute of sites under one key: requests and when each asked last, by site. */
interface SharedMinute {
  readonly limit: number;
  readonly uses: ReadonlyMap<string, number>;
  readonly asked: ReadonlyMap<string, number>;
  readonly weights: ReadonlyMap<string, number>;
}

const ASKS_MS = 5_000;

/**
 * How a site shares the minute: from `own` requests of its own on it leaves room for those that ask, and a tenth of the minute for
 * those that may: it goes on while fewer than `most` are used by all.
 */
export function shareOfMinute(
  { limit, uses, asked, weights }: SharedMinute,
  site: string,
  nowMs: number,
): { readonly own: number; readonly most: number } {
  if (weights.size < 2) return { own: limit, most: limit };
  const all = sumOf(weights.values());
  const share = (one: string): number => (limit * (weights.get(one) ?? 0)) / all;
  const free = (one: string): number =>
    one === site ? 0 : Math.max(share(one) - (uses.get(one) ?? 0), 0);
  const { asking = [], idle = [] } = Object.groupBy([...weights.keys()], (one) =>
    nowMs - (asked.get(one) ?? -Infinity) < ASKS_MS ? "asking" : "idle",
  );
  const kept = sumOf(asking.map(free)) + Math.min(sumOf(idle.map(free)), limit / 10);
  return { own: share(site), most: limit - kept };
}

/** A second more than the minute that counts: requests take unequal time to arrive. */
export const WINDOW_MS = 61_000;
/** What asks for a longer pause than the platform's window speaks of the month. */
const WINDOW_SECONDS_MAX = 60;

/**
 * What an answer tells of the platform's minute (specification part 7); null: nothing. `pauseMs`: nothing is to be sent for so
 * long; 0: it does not say. `left`: requests that are left, and `resetMs`, for how long that holds; -1: it does not say.
 */
export function limitsIn(headers: Readonly<Record<string, string>>, status: number) {
  const pause = status === 429 ? secondsIn(headers["retry-after"]) : 0;
  const reset = secondsIn(headers["ratelimit-reset"]);
  const remaining = headers["ratelimit-remaining"] ?? "";
  const left = reset > 0 && /^\d+$/.test(remaining) ? Number(remaining) : -1;
  return pause === 0 && left < 0 ? null : { pauseMs: pause * 1_000, left, resetMs: reset * 1_000 };
}

/** Whole seconds from 1 to the length of the platform's window; 0 for anything else. */
function secondsIn(value = ""): number {
  const seconds = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  return seconds <= WINDOW_SECONDS_MAX ? seconds : 0;
}

/** The calendar month, UTC, in which this instant lies (`2026-11`); `endMs`: the first instant of the next one. */
export function monthAt(atMs: number) {
  const at = new Date(atMs);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return {
    name: at.toISOString().slice(0, 7),
    startMs: Date.UTC(year, month, 1),
    endMs: Date.UTC(year, month + 1, 1),
  };
}

/** What the configured schedules ask of the platform in a month of 31 days. */
export interface Need {
  /** Of flows with an interval: these can be slowed. */
  readonly interval: number;
  /** Of flows at times of the calendar, which people chose. */
  readonly calendar: number;
  /** Of those with an interval, flows that use what is left, once the others have theirs (`every: auto`): at least. */
  readonly auto?: number;
}

/** What waits to be sent to the platform, in requests: each document is written, and looked for where that is uncertain. */
export interface Backlog {
  readonly documents: number;
  readonly writes: number;
  /** Looked for before it is sent, or after a send of which nobody knows the outcome. */
  readonly readBacks: number;
}

/** How the month ends if it goes on as it does. Everything that is said about it comes from here. */
export interface Forecast {
  /** Requests of the whole month: those that are used, what waits to be sent, the polls to come, and the others at their pace. */
  readonly expected: number;
  /** Left out: nothing waits to be sent. */
  readonly backlog?: Backlog;
  /** How many times as far apart as configured polls are. */
  readonly stretch: number;
  /** What is left of the month for this site's looks of flows with `every: auto`, requests. Left out: there are none. */
  readonly forAuto?: number;
  /** Null: the month suffices. `stops`: who must wait from then (ISO 8601 UTC) until the month turns. */
  readonly runsOut: { readonly at: string; readonly stops: "polls" | "everything" } | null;
}

export interface Outlook {
  readonly budget: Budget;
  readonly need: Need;
  readonly spent: Spent;
  readonly atMs: number;
  /**
   * What writes (with their read-backs) and the others (reconciliation, PDFs) will ask for in the rest of the month; else
   * their pace so far.
   */
  readonly planned?: { readonly writes: number; readonly others: number };
  /** It goes at once, as fast as the minute allows. Left out: nothing waits. */
  readonly backlog?: Backlog;
  /** Of what all sites under the key may use, what this one may, 0 to 1: the others need as much for theirs. Left out: all. */
  readonly share?: number;
}

/**
 * Polls to come are what the schedules ask for. The pace of the rest is not told on a month's first day: a first reading
 * of everything is no habit.
 */
export function forecast(outlook: Outlook): Forecast {
  const { budget, spent: now, atMs, planned, backlog, share = 1 } = outlook;
  const { interval, calendar, auto = 0 } = outlook.need;
  const need = { interval: interval / share, calendar: calendar / share, auto: auto / share };
  const { endMs } = monthAt(atMs);
  const { documents = 0, writes: allWrites = 0, readBacks: allReadBacks = 0 } = backlog ?? {};
  // What does not go before the month turns is the next one's.
  const minutes = (endMs - atMs) / 60_000;
  const most = Math.min((minutes * budget.perMinute) / (allWrites + allReadBacks || 1), 1);
  const [toWrite, toFind] = [allWrites * most, allReadBacks * most];
  // What waits goes before the rest of the month: it is as good as used.
  const spent: Spent = {
    ...now,
    write: (now.write ?? 0) + toWrite,
    "read-back": (now["read-back"] ?? 0) + toFind,
  };
  const waiting = backlog === undefined || documents === 0 ? {} : { backlog };
  const free = Math.max(budget.perMonth - usedOf(now), 0);
  const sendingMs = (Math.min(toWrite + toFind, free) / budget.perMinute) * 60_000;
  const fromMs = Math.min(atMs + sendingMs, endMs);
  const used = usedOf(spent);
  const room = Math.max(budget.perMonth - used, 0);
  const owed = owedTo(budget, spent, "write") + owedTo(budget, spent, "read-back");
  const { writes, others } = planned ?? paceOf(now, atMs);
  const forPolls =
    planned === undefined
      ? leftFor(budget, spent, "poll")
      : Math.max(room - Math.max(owed, writes) - others, 0);
  const stretch = stretchOf(need, forPolls, atMs);
  const ofLongest = (endMs - atMs) / LONGEST_MONTH_MS;
  const polls = (need.interval / stretch + need.calendar) * ofLongest;
  const owedToOthers = ((need.interval - need.auto) / stretch + need.calendar) * ofLongest;
  const forAuto =
    auto === 0 ? 0 : Math.max(forPolls - owedToOthers - (planned === undefined ? others : 0), 0);
  const rest = polls + others;
  const expected = Math.round(
    used + writes + others + Math.max(polls, auto === 0 ? 0 : owedToOthers + forAuto),
  );
  // Parts of what is left of the month: until what writes are owed is all that is left, and until nothing is.
  const untilOwed = rest === 0 ? Infinity : Math.max(room - owed, 0) / rest;
  const untilUsed = room === 0 ? 0 : rest + writes === 0 ? Infinity : room / (rest + writes);
  const part = Math.min(untilOwed, untilUsed);
  const paces = { expected, stretch, ...(auto === 0 ? {} : { forAuto: forAuto * share }) };
  if (part >= 1 - ROUNDING) return { ...paces, runsOut: null, ...waiting };
  const at = new Date(Math.min(fromMs + (endMs - fromMs) * part, endMs - 1)).toISOString();
  const stops = untilUsed <= untilOwed ? "everything" : "polls";
  return { ...paces, runsOut: { at, stops }, ...waiting };
}

const ROUNDING = 1e-9;

/** Requests in the rest of the month at the pace of the month so far. */
function paceOf(spent: Spent, atMs: number): { writes: number; others: number } {
  const { startMs, endMs } = monthAt(atMs);
  const factor = atMs - startMs < DAY_MS ? 0 : (endMs - atMs) / (atMs - startMs);
  const of = (...those: readonly Purpose[]): number =>
    those.reduce((sum, purpose) => sum + (spent[purpose] ?? 0), 0) * factor;
  return { writes: of("write", "read-back"), others: of("detail", "check", "audit") };
}

/**
 * How much slower than configured to poll, 1 to 8, so that `left` requests last for the rest of the month. Walks that
 * cost more than a request each leave less, and are slowed more the less is left; should a factor of 8 not suffice at
 * the end, polls pause until the month turns.
 */
export function stretchOf(need: Need, left: number, atMs: number): number {
  const rest = (monthAt(atMs).endMs - atMs) / LONGEST_MONTH_MS;
  const wanted = need.interval * rest;
  const given = Math.max(left - need.calendar * rest, 0);
  if (wanted <= given) return 1;
  return given <= wanted / STRETCH_MAX ? STRETCH_MAX : wanted / given;
}

const STRETCH_MAX = 8;
export const LONGEST_MONTH_MS = 31 * DAY_MS;

/** What both sides hold, for what a reconciliation costs. */
interface Held {
  /** Invoices and bills that are made in a month. */
  readonly documentsPerMonth: number;
  /** Payments in all: their list takes no date. */
  readonly payments: number;
  readonly parties: number;
  readonly prices: number;
  /** How far back a nightly run looks. */
  readonly days: number;
}

interface AuditNeed {
  /** Requests of a nightly run, of a full sweep, and of a month of 31 days with one sweep. */
  readonly nightly: number;
  readonly sweep: number;
  readonly perMonth: number;
}

/** Lists of 100 and of 500 records a page (specification part 4, P1). */
const pages = (records: number, size = 100): number => Math.max(Math.ceil(records / size), 1);
/** Both roles' open items are asked for by three states each; half a month's documents are taken to be open. */
const OPEN_LISTS = 6;
/** Each of both walks again from its own start. */
const CLOSING = 2;

/** What reconciliation asks of the platform: every list that it reads, page by page. A year is taken to be held. */
export function auditNeed(held: Held): AuditNeed {
  const { documentsPerMonth, days } = held;
  const always =
    pages(held.payments) + pages(held.parties, 500) + pages(held.prices, 500) + CLOSING;
  const period = pages((documentsPerMonth * days) / 30) + 1;
  const open = Math.max(pages(documentsPerMonth / 2), OPEN_LISTS);
  const nightly = period + open + always;
  const sweep = pages(documentsPerMonth * 12) + 1 + always;
  return { nightly, sweep, perMonth: nightly * 31 + sweep };
}

export interface AuditPace {
  /** Nights between two nightly runs, 1 to 7, and months between two sweeps, 1 or 3. */
  readonly everyNights: number;
  readonly everyMonths: number;
  /** What that comes to in a month, whole requests. */
  readonly perMonth: number;
  /** Null: it fits. Else the share of the month that would do for it, percent. */
  readonly wantsShare: number | null;
}

/** As often as reconciliation's share allows: nightly and monthly, else up to weekly, else a sweep each quarter too. */
export function auditPace(budget: Pick<Budget, "perMonth" | "share">, need: AuditNeed): AuditPace {
  const ceiling = auditCeiling(budget);
  const costs = (everyNights: number, everyMonths: number): number =>
    Math.ceil((need.nightly * 31) / everyNights + need.sweep / everyMonths);
  const paces = [1, 3].flatMap((months) => [1, 2, 3, 4, 5, 6, 7].map((nights) => [nights, months]));
  for (const [everyNights = 1, everyMonths = 1] of paces) {
    const perMonth = costs(everyNights, everyMonths);
    if (perMonth <= ceiling) return { everyNights, everyMonths, perMonth, wantsShare: null };
  }
  const perMonth = costs(7, 3);
  const wantsShare = Math.ceil((perMonth * 100) / budget.perMonth);
  return { everyNights: 7, everyMonths: 3, perMonth, wantsShare };
}
