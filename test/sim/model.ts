/**
 * A model of the platform for simulation: rules W1-W6 (specification part 4) under hostile weather. Pure but for its
 * random numbers, which come from a seed. Times are milliseconds of the platform's own clock.
 */
import type { Answer, Finding } from "../../src/core/outcome.ts";
import { type AnswerName, outcomeOf } from "../../src/platform/answers.ts";

/** Chances per request; a storm triples them up to 30 %. */
export interface Weather {
  readonly requestLost: number;
  readonly answerLost: number;
  readonly slowDown: number;
  readonly gateway: number;
  readonly failAfter: number;
  readonly failBefore: number;
  readonly timeoutAfter: number;
  readonly timeoutBefore: number;
  readonly slow: number;
  /** Of the writes that fail although they are carried out, how many land late. */
  readonly late: number;
  readonly crash: number;
}

export const hostile: Weather = {
  requestLost: 0.03,
  answerLost: 0.05,
  slowDown: 0.05,
  gateway: 0.02,
  failAfter: 0.03,
  failBefore: 0.05,
  timeoutAfter: 0.03,
  timeoutBefore: 0.02,
  slow: 0.03,
  late: 0.3,
  crash: 0.02,
};

export const storm: Weather = Object.fromEntries(
  Object.entries(hostile).map(([name, chance]) => [name, Math.min((chance as number) * 3, 0.3)]),
) as unknown as Weather;

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
const LATE_MAX = 120 * SECOND;
const LAG_MAX = 20 * SECOND;
const HOLD = 60 * SECOND;
const REQUEST_DEADLINE = 40 * SECOND;

/** mulberry32: small, fast, and the same everywhere. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Kept {
  readonly arrivedAt: number;
  readonly runsUntil: number;
  /** Null: it succeeded, and is replayed. */
  readonly heldUntil: number | null;
}

/** What the client sees of one write, and when. */
export interface Seen {
  readonly answer: Answer;
  readonly at: number;
}

export class Platform {
  /** When each effect of the one document lands. */
  readonly effects: number[] = [];
  readonly #kept = new Map<number, Kept>();
  readonly #random: () => number;
  readonly #weather: Weather;

  constructor(weather: Weather, random: () => number) {
    this.#weather = weather;
    this.#random = random;
  }

  /** `key` is the generation: one document, one key per generation. */
  write(key: number, at: number): Seen {
    const { requestLost, slowDown, gateway } = this.#weather;
    if (this.#chance(requestLost)) return seen("torn", at + this.#upTo(REQUEST_DEADLINE));
    if (this.#chance(slowDown)) return seen("slow-down", at + 50, 5 * SECOND);
    if (this.#chance(gateway)) return seen("failed", at + 50);
    const kept = this.#kept.get(key);
    if (kept !== undefined && at < kept.arrivedAt + DAY) {
      if (at < kept.runsUntil) return this.#lossy("in-flight", at + 50, SECOND);
      if (kept.heldUntil === null) return this.#lossy("replayed", at + 50);
      if (at < kept.heldUntil) return this.#lossy("outcome-unknown", at + 50, kept.heldUntil - at);
    }
    return this.#run(key, at);
  }

  /** A list shows what had landed a while ago. */
  read(at: number): Finding {
    if (this.#chance(this.#weather.requestLost + this.#weather.gateway))
      return { found: "unreadable", detail: "" };
    const shown = at - this.#upTo(LAG_MAX);
    let count = 0;
    for (const landed of this.effects) if (landed <= shown) count++;
    if (count === 0) return NONE;
    return count === 1 ? EXACT : SEVERAL;
  }

  #run(key: number, at: number): Seen {
    const { slow, failBefore, failAfter, timeoutBefore, timeoutAfter, late } = this.#weather;
    const took = this.#chance(slow) ? 20 * SECOND + this.#upTo(100 * SECOND) : 100;
    const ends = at + took;
    const draw = this.#random();
    const before = failBefore + timeoutBefore;
    const fails = draw < before + failAfter + timeoutAfter;
    const times = draw < timeoutBefore || (draw >= before && draw < before + timeoutAfter);
    if (draw >= before)
      this.effects.push(fails && this.#chance(late) ? ends + this.#upTo(LATE_MAX) : ends);
    const heldUntil = fails ? ends + (times ? DAY : HOLD) : null;
    this.#kept.set(key, { arrivedAt: at, runsUntil: ends, heldUntil });
    if (took > REQUEST_DEADLINE) return seen("torn", at + REQUEST_DEADLINE);
    return this.#lossy(fails ? (times ? "timed-out" : "failed") : "done", ends);
  }

  #lossy(name: AnswerName, at: number, waitMs?: number): Seen {
    return this.#chance(this.#weather.answerLost) ? seen("torn", at) : seen(name, at, waitMs);
  }

  #chance(of: number): boolean {
    return this.#random() < of;
  }

  #upTo(max: number): number {
    return Math.floor(this.#random() * max);
  }
}

const NONE: Finding = { found: "none", detail: "" };
const EXACT: Finding = { found: "exact", ids: ["1"], detail: "" };
const SEVERAL: Finding = { found: "several", detail: "" };

function seen(name: AnswerName, at: number, waitMs?: number): Seen {
  const answer = outcomeOf({ name, detail: "", ...(waitMs === undefined ? {} : { waitMs }) });
  return { at, answer };
}
