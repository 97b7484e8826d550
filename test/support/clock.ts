import type { Clock } from "../../src/core/time.ts";

/** A clock that stands until a test moves it; a pause moves it. */
export interface TestClock extends Clock {
  advance(ms: number): void;
  /** The wall clock alone is set, forward if positive. */
  set(byMs: number): void;
  /** A new boot: what the monotonic clock said before means nothing any more. */
  restart(): void;
}

export function testClock(startMs = Date.parse("2026-11-21T12:00:00Z")): TestClock {
  let boot = 1;
  let monoMs = 1_000;
  let wallMs = startMs;
  return {
    now: () => ({ boot: `boot-${boot}`, monoMs, wallMs }),
    pause: async (ms, signal) => {
      if (signal?.aborted) return;
      monoMs += ms;
      wallMs += ms;
    },
    chance: () => 0.5,
    advance(ms) {
      monoMs += ms;
      wallMs += ms;
    },
    set(byMs) {
      wallMs += byMs;
    },
    restart() {
      boot++;
      monoMs = 10;
    },
  };
}
