/**
 * The requests that the platform allows: 600 a minute, 50,000 a month per key (specification part 8). Every request
 * asks the governor first, and what it refuses is not sent. The arithmetic of the month is here and pure; months are
 * calendar months, UTC. All our requests count, billed or not: what the platform bills is not specified in full.
 */

/** What a request is for. Purposes share the month by reserves: polling never eats what writing needs. */
export const purposes = ["poll", "detail", "write", "read-back", "check", "audit"] as const;
export type Purpose = (typeof purposes)[number];

export type Admission =
  | { readonly admitted: true }
  /** Nothing was sent. `waitMs`: how long until it is worth asking again. */
  | { readonly admitted: false; readonly waitMs: number; readonly detail: string };

export interface Governor {
  /** Waits for a place within the minute, and counts the request against the month. */
  admit(purpose: Purpose): Promise<Admission>;
  /** What the head of an answer says about the limits (`RateLimit-*`, specification part 7). */
  learn(headers: Readonly<Record<string, string>>, status: number): void;
}

export interface Budget {
  readonly perMonth: number;
  readonly perMinute: number;
  /** Percent of the month that only these purposes may use. */
  readonly reserve: { readonly writes: number; readonly readBacks: number };
}

/** What the platform allows every key (specification part 8), and who may use it unless a configuration says so. */
export const usualBudget: Budget = {
  perMonth: 50_000,
  perMinute: 600,
  reserve: { writes: 20, readBacks: 10 },
};

/** Percent of the month that one run of a flow may read, unless the list says that it needs more. */
const RUN_SHARE = 5;

/** The same in whole requests. */
export const runShareOf = ({ perMonth }: Pick<Budget, "perMonth">): number =>
  Math.ceil((perMonth * RUN_SHARE) / 100);

/** Requests of a month; `lost`: a process was killed that may have sent them, and nobody knows what for. */
export type Spent = Readonly<Partial<Record<Purpose | "lost", number>>>;

/** How flows begin their trouble that only wait for budget: a healthy state. */
export const PAUSED = "paused: budget";

export const usedOf = (spent: Spent): number =>
  Object.values(spent).reduce((sum, requests) => sum + requests, 0);

/** What is kept for this purpose, whole requests of the month. */
export function reserveOf({ perMonth, reserve }: Budget, purpose: Purpose): number {
  if (purpose === "write") return Math.ceil((perMonth * reserve.writes) / 100);
  return purpose === "read-back" ? Math.ceil((perMonth * reserve.readBacks) / 100) : 0;
}

/** How many requests for this purpose the month still allows. Writes and read-backs may use everything. */
export function leftFor(budget: Budget, spent: Spent, purpose: Purpose): number {
  const left = budget.perMonth - usedOf(spent);
  const owed =
    purpose === "write" || purpose === "read-back"
      ? 0
      : owedTo(budget, spent, "write") + owedTo(budget, spent, "read-back");
  return Math.max(left - owed, 0);
}

/** What is left of a purpose's reserve. */
const owedTo = (budget: Budget, spent: Spent, purpose: Purpose): number =>
  Math.max(reserveOf(budget, purpose) - (spent[purpose] ?? 0), 0);

export interface Month {
  /** `2026-11` */
  readonly name: string;
  readonly startMs: number;
  /** The first instant of the next one. */
  readonly endMs: number;
}

/** The calendar month, UTC, in which this instant lies. */
export function monthAt(atMs: number): Month {
  const at = new Date(atMs);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return {
    name: at.toISOString().slice(0, 7),
    startMs: Date.UTC(year, month, 1),
    endMs: Date.UTC(year, month + 1, 1),
  };
}

export interface Forecast {
  /** Requests of the whole month, if it goes on as it went so far. */
  readonly expected: number;
  /** When the month's requests would be used up, ISO 8601 UTC; null: not in this month. */
  readonly runsOutAt: string | null;
}

/** Null on a month's first day: a first reading of everything is no habit. */
export function forecast(perMonth: number, used: number, atMs: number): Forecast | null {
  const { startMs, endMs } = monthAt(atMs);
  const elapsedMs = atMs - startMs;
  if (elapsedMs < DAY_MS) return null;
  const expected = Math.round((used * (endMs - startMs)) / elapsedMs);
  const outMs = used >= perMonth ? atMs : startMs + (elapsedMs * perMonth) / used;
  const runsOutAt = expected > perMonth || used >= perMonth ? new Date(outMs).toISOString() : null;
  return { expected, runsOutAt };
}

/** What the configured schedules ask of the platform in a month of 31 days, a request for each look. */
export interface Need {
  /** Of flows with an interval: these can be slowed. */
  readonly interval: number;
  /** Of flows at times of the calendar, which people chose. */
  readonly calendar: number;
}

/**
 * How much slower than configured to poll, 1 to 8, so that `left` requests last for the rest of the month. Walks that
 * cost more than a request each leave less, and are slowed more the less is left; should a factor of 8 not suffice at
 * the end, polls pause until the month turns.
 */
export function stretchOf(need: Need, left: number, atMs: number): number {
  const rest = (monthAt(atMs).endMs - atMs) / LONGEST_MONTH_MS;
  const wanted = need.interval * rest;
  const given = left - need.calendar * rest;
  if (wanted <= given) return 1;
  return given <= wanted / STRETCH_MAX ? STRETCH_MAX : wanted / given;
}

const STRETCH_MAX = 8;
const DAY_MS = 86_400_000;
export const LONGEST_MONTH_MS = 31 * DAY_MS;
