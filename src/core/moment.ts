/** One instant by both clocks. Durations count by the monotonic clock, and only within one boot. */
export interface Moment {
  /** Identifies one start of the process. */
  readonly boot: string;
  readonly monoMs: number;
  readonly wallMs: number;
}

export function later(from: Moment, ms: number): Moment {
  return { boot: from.boot, monoMs: from.monoMs + ms, wallMs: from.wallMs + ms };
}

/** A moment of another boot says nothing about now: what depends on it was set anew by `restart`. */
export function reached(moment: Moment, now: Moment): boolean {
  return moment.boot === now.boot ? now.monoMs >= moment.monoMs : true;
}

export function sameMoment(one: Moment | null, other: Moment | null): boolean {
  return one !== null && one.boot === other?.boot && one.monoMs === other.monoMs;
}

/**
 * By how much the wall clock was set between two moments of one boot, ms, forward if positive; 0 when it went with the
 * monotonic clock. Less than a second is a clock that is being slewed. A machine that slept shows as a step forward.
 */
export function jumpBetween(before: Moment, now: Moment): number {
  const byMs = now.wallMs - before.wallMs - (now.monoMs - before.monoMs);
  return before.boot === now.boot && Math.abs(byMs) >= JUMP_MS ? Math.round(byMs) : 0;
}

/**
 * Are `forMs` not over yet since the wall clock showed `sinceMs`? Where it was set back past that, nobody can tell, and
 * they are over: nothing lasts until a wrong clock gets there.
 */
export const isWithin = (sinceMs: number, forMs: number, nowMs: number): boolean =>
  nowMs >= sinceMs && nowMs - sinceMs < forMs;

export const JUMP_MS = 1_000;

/** The clocks of this process; tests hand in their own. */
export interface Clock {
  now(): Moment;
  /** Resolves after `ms`, or at once when the signal aborts. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /** 0 <= x < 1 */
  chance(): number;
}
