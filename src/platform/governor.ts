/**
 * The governor of one process: a minute by the monotonic clock and by what the platform tells, and a month by the
 * ledger of the store. Nothing is remembered here that a new process would have to know.
 */
import {
  type Admission,
  type Budget,
  dayAt,
  type Governor,
  keptFrom,
  leftFor,
  monthAt,
  type Purpose,
  type Spent,
  usedOf,
} from "../core/budget.ts";
import type { Clock } from "../core/time.ts";

/** The month as the store keeps it. */
export interface Ledger {
  /** Requests of a month (`2026-11`), none that may have been sent left out. */
  spent(month: string): Spent;
  /** Counts one in that day (`2026-11-23`, UTC) and its month; no end of this process loses it once this returns. @throws StorageError */
  spend(day: string, purpose: Purpose): void;
  /** The platform has closed the month: when to ask it again, ms UTC. Null: it has not, or it may be asked. */
  closedUntil(nowMs: number): number | null;
}

export interface GovernorOptions {
  readonly clock: Clock;
  readonly budget: Budget;
  readonly ledger: Ledger;
}

export interface ProcessGovernor extends Governor {
  minute(): MinuteView;
  /** The process is about to end: what would have to wait for a place is refused from now on. */
  hurry(): void;
}

/** The last minute, for people. */
export interface MinuteView {
  readonly used: number;
  readonly limit: number;
  /** How long nothing is sent, because the minute is used up; 0: there is room. */
  readonly opensInMs: number;
}

export function openGovernor({ clock, budget, ledger }: GovernorOptions): ProcessGovernor {
  const minute = new Minute(budget.perMinute);
  const stopping = new AbortController();
  return {
    async admit(purpose) {
      for (;;) {
        const { wallMs, monoMs } = clock.now();
        const refused = refusalOf(budget, ledger, purpose, wallMs);
        if (refused !== null) return refused;
        const waitMs = Math.ceil(minute.waitMs(monoMs));
        if (waitMs <= 0) {
          ledger.spend(dayAt(wallMs), purpose);
          minute.take(monoMs);
          return { admitted: true };
        }
        if (stopping.signal.aborted || (purpose === "write" && waitMs > WRITE_WAITS_MS))
          return { admitted: false, waitMs, detail: "the minute's requests are used up" };
        await clock.pause(waitMs, stopping.signal);
      }
    },
    learn(headers, status) {
      minute.learn(headers, status, clock.now().monoMs);
    },
    minute: () => minute.view(clock.now().monoMs),
    hurry: () => stopping.abort(),
  };
}

function refusalOf(
  budget: Budget,
  ledger: Ledger,
  purpose: Purpose,
  nowMs: number,
): Extract<Admission, { admitted: false }> | null {
  const until = ledger.closedUntil(nowMs);
  const refusal = (untilMs: number, detail: string) => ({
    admitted: false as const,
    waitMs: Math.min(untilMs - nowMs, purpose === "write" ? Infinity : ASK_AGAIN_MS),
    detail,
  });
  if (until !== null)
    return refusal(until, `the platform allows nothing before ${new Date(until).toISOString()}`);
  const { name, endMs } = monthAt(nowMs);
  const spent = ledger.spent(name);
  if (leftFor(budget, spent, purpose) > 0) return null;
  const used = usedOf(spent);
  const all = `${used} of the ${budget.perMonth} requests of ${name} are used (platform.budget.perMonth)`;
  return refusal(endMs, all + keptFrom(budget, spent, purpose));
}

/**
 * A write counts as sent from before it is admitted, and within what time it may go again is counted from there:
 * it does not wait here for long.
 */
const WRITE_WAITS_MS = 2_000;

/** Asking again costs nothing, and the limit may be raised; but the wait of a write becomes a stop. */
const ASK_AGAIN_MS = 15 * 60_000;

/** A second more than the minute that counts: requests take unequal time to arrive. */
const WINDOW_MS = 61_000;
/** What asks for a longer pause than the platform's window speaks of the month. */
const WINDOW_SECONDS_MAX = 60;

class Minute {
  readonly #perMinute: number;
  /** When those of the last minute were admitted, oldest first. */
  #admitted: number[] = [];
  /** What the platform says is left of its own window: others may use the same key. */
  #told: { left: number; readonly untilMs: number } | null = null;
  #closedUntilMs = 0;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** How long until one more may be sent; 0 or less: now. */
  waitMs(nowMs: number): number {
    this.#forget(nowMs);
    const place = this.#admitted.at(-this.#perMinute);
    const told = this.#told !== null && this.#told.left <= 0 ? this.#told.untilMs : nowMs;
    const own = place === undefined ? nowMs : place + WINDOW_MS;
    return Math.max(own, told, this.#closedUntilMs) - nowMs;
  }

  take(nowMs: number): void {
    this.#admitted.push(nowMs);
    if (this.#told !== null) this.#told.left--;
  }

  learn(headers: Readonly<Record<string, string>>, status: number, nowMs: number): void {
    this.#forget(nowMs);
    const pause = secondsIn(headers["retry-after"]);
    if (status === 429 && pause !== null)
      this.#closedUntilMs = Math.max(this.#closedUntilMs, nowMs + pause * 1_000);
    const reset = secondsIn(headers["ratelimit-reset"]);
    const remaining = headers["ratelimit-remaining"] ?? "";
    if (reset === null || !/^\d+$/.test(remaining)) return;
    // Answers come in any order, and what is under way may not be counted in them: the least is right.
    if (this.#told === null)
      this.#told = { left: Number(remaining), untilMs: nowMs + reset * 1_000 };
    else this.#told.left = Math.min(this.#told.left, Number(remaining));
  }

  view(nowMs: number): MinuteView {
    const opensInMs = Math.max(Math.ceil(this.waitMs(nowMs)), 0);
    return { used: this.#admitted.length, limit: this.#perMinute, opensInMs };
  }

  #forget(nowMs: number): void {
    const first = this.#admitted.findIndex((at) => at + WINDOW_MS > nowMs);
    if (first !== 0) this.#admitted = first < 0 ? [] : this.#admitted.slice(first);
    if (this.#told !== null && this.#told.untilMs <= nowMs) this.#told = null;
  }
}

/** Whole seconds from 1 to the length of the platform's window; null for anything else. */
function secondsIn(value = ""): number | null {
  const seconds = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  return seconds > 0 && seconds <= WINDOW_SECONDS_MAX ? seconds : null;
}
