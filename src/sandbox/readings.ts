/** The readings that can be switched (docs/sandbox.md, Where the specification is silent), with their first values. */
import { z } from "zod";
import type { Sql } from "./database.ts";

const seconds = z.number().min(0);

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
});
export type Readings = z.infer<typeof Readings>;

/** What a change names; the others stay as they are, so none has a default. */
export const ReadingsChange = z.strictObject(
  Object.fromEntries(
    Object.entries(Readings.shape).map(([name, reading]) => [name, reading.unwrap().optional()]),
  ),
);

const NAME = "readings";

export class ReadingsInForce {
  readonly #sql: Sql;
  #values: Readings;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#values = Readings.parse(JSON.parse(sql.setting(NAME) ?? "{}"));
  }

  readonly values = (): Readings => this.#values;

  change(change: object): void {
    this.#values = Readings.parse({ ...this.#values, ...change });
    this.#sql.set(NAME, JSON.stringify(this.#values));
  }

  reset(): void {
    this.change(Readings.parse({}));
  }
}
