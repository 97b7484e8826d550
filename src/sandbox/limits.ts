import type { Database, Statement } from "better-sqlite3";
import { type Refusal, refusal } from "./answer.ts";
import { iso } from "./clock.ts";

interface Usage {
  readonly per_minute: number;
  readonly monthly_cap: number;
  readonly window_start: number | null;
  readonly window_used: number;
  readonly month: string | null;
  readonly month_used: number;
}

type Headers = Readonly<Record<string, string>>;

export const DEFAULT_PER_MINUTE = 600;
const WINDOW_MS = 60_000;

/**
 * The limits of a key (specification part 8): requests per window of a minute, which opens with a key's first
 * request, and billable requests per calendar month, UTC.
 */
export class Limits {
  readonly #get: Statement<[string], Usage>;
  readonly #all: Statement<[], Usage & { readonly name: string }>;
  readonly #window: Statement<[number, number, string]>;
  readonly #month: Statement<[string, number, string]>;
  readonly #change: Statement<[Record<string, unknown>]>;

  constructor(database: Database) {
    this.#get = database.prepare("select * from key where name = ?");
    this.#all = database.prepare("select * from key order by rowid");
    this.#window = database.prepare(
      "update key set window_start = ?, window_used = ? where name = ?",
    );
    this.#month = database.prepare("update key set month = ?, month_used = ? where name = ?");
    this.#change = database.prepare(
      `update key set per_minute = coalesce(:perMinute, per_minute),
       monthly_cap = coalesce(:monthlyCap, monthly_cap) where name = :key`,
    );
  }

  /** Counts a request. The RateLimit headers of its answer, and the refusal when a limit is exceeded. */
  admit(key: string, now: number): { headers: Headers; refused: Refusal | null } {
    const usage = this.#get.get(key) as Usage;
    const last = usage.window_start ?? -Infinity;
    const open = now < last + WINDOW_MS;
    const start = open ? last : now;
    const used = open ? usage.window_used : 0;
    const end = start + WINDOW_MS;
    const full = used >= usage.per_minute;
    this.#window.run(start, full ? used : used + 1, key);
    const left = full ? 0 : usage.per_minute - used - 1;
    const headers = rateHeaders(usage.per_minute, left, seconds(end - now));
    if (full) return { headers, refused: exceeded("RATE_LIMIT_EXCEEDED", "burst", end, now) };
    const month = monthOf(now);
    const spent = usage.month === month ? usage.month_used : 0;
    return {
      headers,
      refused:
        spent >= usage.monthly_cap
          ? exceeded("MONTHLY_CAP_EXCEEDED", "quota", nextMonth(now), now)
          : null,
    };
  }

  /** Counts an answer that is billed: below 400 and no replay (readings). */
  bill(key: string, now: number): void {
    const { month, month_used } = this.#get.get(key) as Usage;
    const current = monthOf(now);
    this.#month.run(current, month === current ? month_used + 1 : 1, key);
  }

  /** Every key's limits, and what is used of them. */
  all(now: number): object[] {
    return this.#all.all().map((usage) => ({
      key: usage.name,
      perMinute: usage.per_minute,
      minuteUsed: now < (usage.window_start ?? -Infinity) + WINDOW_MS ? usage.window_used : 0,
      monthlyCap: usage.monthly_cap,
      monthUsed: usage.month === monthOf(now) ? usage.month_used : 0,
    }));
  }

  change(key: string, perMinute: number | undefined, monthlyCap: number | undefined) {
    this.#change.run({ key, perMinute: perMinute ?? null, monthlyCap: monthlyCap ?? null });
    const { per_minute, monthly_cap } = this.#get.get(key) as Usage;
    return { key, perMinute: per_minute, monthlyCap: monthly_cap };
  }
}

/** Part 7: `RateLimit-*` on every response. */
export function rateHeaders(limit: number, remaining: number, reset: number): Headers {
  return {
    "RateLimit-Limit": String(limit),
    "RateLimit-Remaining": String(remaining),
    "RateLimit-Reset": String(reset),
    "RateLimit-Policy": `${limit};w=${WINDOW_MS / 1000}`,
  };
}

function exceeded(
  code: "RATE_LIMIT_EXCEEDED" | "MONTHLY_CAP_EXCEEDED",
  kind: "burst" | "quota",
  until: number,
  now: number,
): Refusal {
  const retryAfterSec = seconds(until - now);
  const what = kind === "burst" ? "requests of this minute" : "billable requests of this month";
  return refusal(code, `The ${what} are used up.`, {
    fields: { retryAfterSec, kind, resetAt: iso(until) },
    headers: { "Retry-After": String(retryAfterSec) },
  });
}

/** Whole seconds, never too few. */
export const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

const monthOf = (now: number): string => iso(now).slice(0, 7);

function nextMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
