/**
 * The world around a simulated fuelbridge: one virtual time, chance from a seed, and a process that may be thrown away at
 * any await. Nothing here waits for real time: when nobody has anything left to do, the clock goes on to the next timer.
 */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../../src/core/time.ts";
import { randomOf } from "../model.ts";

/** What goes wrong, and how often: chances per call, by the name of the fault. A fault that is left out never happens. */
export type Weather = Readonly<Record<string, number>>;

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
const START = Date.parse("2026-10-05T12:00:00Z");

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly ring: () => void;
}

/**
 * A promise that never settles: what a process awaits that is no more. One for all would keep whatever waits for it, seed
 * after seed.
 */
const never = (): Promise<never> => new Promise(() => {});

export class World {
  /** ms since the world began; its wall clock is {@link wallMs}. */
  time = 0;
  weather: Weather;
  /** How often each fault, answer and kill point occurred. */
  readonly hits = new Map<string, number>();
  readonly #seed: number;
  readonly #streams = new Map<string, () => number>();
  #timers: Timer[] = [];
  #order = 0;
  /** Grows with everything that anybody does. */
  #activity = 0;

  constructor(seed: number, weather: Weather) {
    this.#seed = seed;
    this.weather = weather;
  }

  get wallMs(): number {
    return START + this.time;
  }

  iso(offsetMs = 0): string {
    return new Date(this.wallMs + offsetMs).toISOString();
  }

  hit(name: string): void {
    this.hits.set(name, (this.hits.get(name) ?? 0) + 1);
  }

  /** 0 <= x < 1. Each purpose has a stream of its own: a fault that is turned off moves no other. */
  random(purpose: string): number {
    this.#activity++;
    let stream = this.#streams.get(purpose);
    if (stream === undefined) {
      let hash = this.#seed;
      for (const letter of purpose) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
      stream = randomOf(hash);
      stream();
      this.#streams.set(purpose, stream);
    }
    return stream();
  }

  below(purpose: string, bound: number): number {
    return Math.floor(this.random(purpose) * bound);
  }

  /** Does this fault happen now? */
  happens(fault: string): boolean {
    const chance = this.weather[fault] ?? 0;
    if (chance === 0 || this.random(fault) >= chance) return false;
    this.hit(fault);
    return true;
  }

  after(ms: number, ring: () => void): Timer {
    const timer = { at: this.time + Math.max(Math.ceil(ms), 0), order: this.#order++, ring };
    this.#timers.push(timer);
    return timer;
  }

  cancel(timer: Timer): void {
    this.#timers = this.#timers.filter((one) => one !== timer);
  }

  active(): void {
    this.#activity++;
  }

  /** Lets everybody work until `isOver` says so, or nobody ever would again. */
  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#settled();
      if (isOver()) return;
      let next: Timer | null = null;
      for (const one of this.#timers)
        if (next === null || one.at < next.at || (one.at === next.at && one.order < next.order))
          next = one;
      if (next === null) return;
      this.cancel(next);
      this.time = Math.max(this.time, next.at);
      next.ring();
    }
  }

  /** Until nobody has done anything for a few turns of the event loop: whoever is left waits for a timer. */
  async #settled(): Promise<void> {
    for (let quiet = 0, seen = this.#activity; quiet < 3; quiet++) {
      await setImmediate();
      if (seen === this.#activity) continue;
      seen = this.#activity;
      quiet = -1;
    }
  }
}

/** What a process that is gone throws where it would go on by itself. */
class ProcessGone extends Error {}

/** One life of fuelbridge between two starts. */
export class Process {
  readonly world: World;
  readonly clock: Clock;
  isGone = false;
  /** Called when it is killed: what it held is let go. */
  onKilled: () => void = () => {};
  readonly #startedAt: number;

  constructor(world: World, boot: number) {
    this.world = world;
    this.#startedAt = world.time;
    this.clock = {
      now: () => {
        this.expectAlive();
        world.active();
        const monoMs = world.time - this.#startedAt + 1;
        return { boot: `boot-${boot}`, monoMs, wallMs: world.wallMs };
      },
      pause: async (ms, signal) => {
        await this.at("in a pause");
        await this.sleep(ms, signal);
      },
      chance: () => world.random("jitter"),
    };
  }

  /** @throws ProcessGone */
  expectAlive(): void {
    if (this.isGone) throw new ProcessGone("the process is gone");
  }

  /** What its work ended with: nothing, where the process is gone. @throws `error` where it is not */
  orNever(error: unknown): Promise<never> {
    if (!this.isGone) throw error;
    return never();
  }

  kill(): void {
    this.isGone = true;
    this.onKilled();
  }

  /** An await of this name: here the process may be thrown away. */
  async at(point: string): Promise<void> {
    this.world.active();
    if (!this.isGone && this.world.happens(`killed ${point}`)) this.kill();
    if (this.isGone) await never();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.world.active();
    if (this.isGone) await never();
    if (signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const timer = this.world.after(ms, () => {
        signal?.removeEventListener("abort", aborted);
        resolve();
      });
      const aborted = (): void => {
        this.world.cancel(timer);
        this.world.active();
        resolve();
      };
      signal?.addEventListener("abort", aborted, { once: true });
    });
    if (this.isGone) await never();
  }
}
