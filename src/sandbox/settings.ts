/** Single values that outlive the process: the clock, and the readings that are switched (docs/sandbox.md). */
import { z } from "zod";
import { Part } from "./database.ts";

const OFFSET = "clock-offset-ms";

/** The sandbox's own clock: real time, moved on by `POST /clock`. It never goes back, except by a reset. */
export class Clock extends Part {
  #offsetMs = Number(this.sql.setting(OFFSET) ?? 0);

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
    this.sql.set(OFFSET, String(offsetMs));
  }
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** Whole seconds, never too few. */
export const wholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** Microseconds of a timestamp, whose finer digits `Date` would cut; null for what is none. */
export function micros(value: unknown): number | null {
  if (typeof value !== "string") return null;
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) return null;
  const fraction = /\.\d{3}(\d{1,3})/.exec(value)?.[1] ?? "";
  return ms * 1000 + Number(fraction.padEnd(3, "0"));
}

const seconds = z.number().min(0);

/** With their first values. */
const Readings = z.strictObject({
  updatedSinceInclusive: z.boolean().default(true),
  walkOrder: z.enum(["updatedAt", "createdAtDesc"]).default("updatedAt"),
  listsCarryLines: z.union([z.boolean(), z.enum(["empty", "noTaxes"])]).default(true),
  cursorLifeSeconds: seconds.default(3600),
  cursorsNeverEnd: z.boolean().default(false),
  externalIdBecomesErpId: z.boolean().default(true),
  failingWritesCommitLateSeconds: seconds.default(0),
  readLagSeconds: seconds.default(0),
  deduplicateInvoiceNumbers: z.boolean().default(false),
  supplierConnectionRuns: z.enum(["fromUs", "toUs"]).default("fromUs"),
  createdInvoiceStatus: z.enum(["OUTSTANDING", "DRAFT"]).default("OUTSTANDING"),
  numbersWritten: z.enum(["plain", "padded", "exponent", "alternating"]).default("plain"),
  lateCommitSeconds: seconds.default(0),
  replayShown: z.boolean().default(true),
  connectionSearch: z.enum(["partner", "nothing"]).default("partner"),
  invoiceNumbersKept: z.enum(["asSent", "lowerCase"]).default("asSent"),
  emptyPages: z.boolean().default(false),
  pageSizeMost: z.int().min(1).nullable().default(null),
  timesWritten: z.enum(["utc", "trimmed", "offset", "alternating"]).default("utc"),
  idsWritten: z.enum(["small", "capitals", "alternating"]).default("small"),
  bulkPrices: z.enum(["all", "changesCounted", "ownTerminals"]).default("all"),
});
export type Readings = z.infer<typeof Readings>;

/** What a change names; the others stay as they are, so none has a default. */
export const ReadingsChange = z.strictObject(
  Object.fromEntries(
    Object.entries(Readings.shape).map(([name, reading]) => [name, reading.unwrap().optional()]),
  ),
);

const READINGS = "readings";

export class ReadingsInForce extends Part {
  #values = Readings.parse(JSON.parse(this.sql.setting(READINGS) ?? "{}"));

  readonly values = (): Readings => this.#values;

  change(change: object): void {
    this.#values = Readings.parse({ ...this.#values, ...change });
    this.sql.set(READINGS, JSON.stringify(this.#values));
  }

  reset(): void {
    this.change(Readings.parse({}));
  }
}
