/**
 * The wall clock of a machine may be wrong, and be set right while the daemon runs or between two starts. It is compared
 * with the monotonic clock at every look, and at start with the last time that was written down. What a clock that was
 * ahead has stored lies in the future: nothing may wait until the clock gets there.
 */
import { jumpBetween, JUMP_MS, type Moment } from "../core/moment.ts";
import { redateStops } from "./breakers.ts";
import type { Engine } from "./engine.ts";

export interface Jump {
  /** When it was seen, by the clock as it is now; ISO 8601 UTC. */
  readonly at: string;
  /** How much later the wall clock shows than it would have: negative when it was set back. */
  readonly byMs: number;
}

export class ClockWatch {
  readonly #engine: Engine;
  #seen: Moment;
  #last: Jump | null = null;

  /** At start. */
  constructor(engine: Engine) {
    this.#engine = engine;
    this.#seen = engine.clock.now();
    const { wallMs } = this.#seen;
    const aheadMs = (engine.store.journal.lastAt() ?? 0) - wallMs;
    if (aheadMs >= JUMP_MS) this.#tell(-aheadMs, "it was ahead before this start");
    redateStops(engine);
  }

  /** The last jump since this start, or found at it. */
  get last(): Jump | null {
    return this.#last;
  }

  /** Was the wall clock set since the last look? */
  jumped(now: Moment): boolean {
    const byMs = jumpBetween(this.#seen, now);
    this.#seen = now;
    if (byMs === 0) return false;
    this.#tell(byMs, byMs < 0 ? "it was set back" : "it was set forward, or the machine slept");
    redateStops(this.#engine);
    return true;
  }

  #tell(byMs: number, why: string): void {
    const { store, note } = this.#engine;
    const { wallMs } = this.#seen;
    this.#last = { at: new Date(wallMs).toISOString(), byMs };
    const detail = `by ${(byMs / 1_000).toFixed(0)} s: ${why}`;
    store.transaction(() => store.journal.audit(wallMs, { event: "clock jumped", detail }));
    note("clock jumped", { byMs, detail: why });
  }
}
