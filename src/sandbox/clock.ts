import type { Sql } from "./database.ts";

const OFFSET = "clock-offset-ms";

/** The sandbox's own clock: real time, moved on by `POST /clock`. It never goes back, except by a reset. */
export class Clock {
  readonly #sql: Sql;
  #offsetMs: number;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#offsetMs = Number(sql.setting(OFFSET) ?? 0);
  }

  /** Milliseconds since 1970. */
  now(): number {
    return Date.now() + this.#offsetMs;
  }

  advance(seconds: number): void {
    this.#set(this.#offsetMs + seconds * 1000);
  }

  reset(): void {
    this.#set(0);
  }

  #set(offsetMs: number): void {
    this.#offsetMs = offsetMs;
    this.#sql.set(OFFSET, String(offsetMs));
  }
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** Microseconds of a timestamp, whose finer digits `Date` would cut; null for what is none. */
export function micros(value: unknown): number | null {
  if (typeof value !== "string") return null;
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) return null;
  const fraction = /\.\d{3}(\d{1,3})/.exec(value)?.[1] ?? "";
  return ms * 1000 + Number(fraction.padEnd(3, "0"));
}
