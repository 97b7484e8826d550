/** Logins that failed: after some, the next one waits, and each further one twice as long. */

/** So many may fail at once, for one name from one address, and for all names from it. */
const FREE = { name: 5, address: 20 } as const;
const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 15 * 60_000;
/** Of names and addresses that are remembered; the oldest is forgotten. */
const REMEMBERED_MAX = 10_000;

interface Failed {
  readonly count: number;
  readonly untilMs: number;
}

export class Attempts {
  readonly #nowMs: () => number;
  readonly #failed = new Map<string, Failed>();

  /** `nowMs`: a clock that never goes back. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** How long nobody may try this name from this address, ms; 0: now. */
  waitMs(name: string, address: string): number {
    const nowMs = this.#nowMs();
    const until = keysOf(name, address).map(([key]) => this.#failed.get(key)?.untilMs ?? 0);
    return Math.max(0, ...until.map((ms) => ms - nowMs));
  }

  failed(name: string, address: string): void {
    for (const [key, free] of keysOf(name, address)) {
      const count = (this.#failed.get(key)?.count ?? 0) + 1;
      const waitMs = Math.min(FIRST_WAIT_MS * 2 ** Math.max(count - free, 0), LONGEST_WAIT_MS);
      const untilMs = count < free ? 0 : this.#nowMs() + waitMs;
      this.#failed.delete(key);
      this.#failed.set(key, { count, untilMs });
    }
    for (const key of this.#failed.keys()) {
      if (this.#failed.size <= REMEMBERED_MAX) break;
      this.#failed.delete(key);
    }
  }

  succeeded(name: string, address: string): void {
    for (const [key] of keysOf(name, address)) this.#failed.delete(key);
  }
}

const keysOf = (name: string, address: string): [key: string, free: number][] => [
  [`name ${address} ${name}`, FREE.name],
  [`address ${address}`, FREE.address],
];
