import { z } from "zod";
import type { Settings } from "./settings.ts";

/** The readings that can be switched (docs/sandbox.md, Where the specification is silent). */
const Readings = z.strictObject({
  updatedSinceInclusive: z.boolean(),
  walkOrder: z.enum(["updatedAt", "createdAtDesc"]),
  listsCarryLines: z.union([z.boolean(), z.enum(["empty", "noTaxes"])]),
  cursorLifeSeconds: z.number().min(0),
  cursorsNeverEnd: z.boolean(),
  externalIdBecomesErpId: z.boolean(),
  failingWritesCommitLateSeconds: z.number().min(0),
  readLagSeconds: z.number().min(0),
  deduplicateInvoiceNumbers: z.boolean(),
  supplierConnectionRuns: z.enum(["fromUs", "toUs"]),
  createdInvoiceStatus: z.enum(["OUTSTANDING", "DRAFT"]),
  numbersWritten: z.enum(["plain", "padded", "exponent", "alternating"]),
  lateCommitSeconds: z.number().min(0),
  replayShown: z.boolean(),
  connectionSearch: z.enum(["partner", "nothing"]),
  invoiceNumbersKept: z.enum(["asSent", "lowerCase"]),
  emptyPages: z.boolean(),
  pageSizeMost: z.int().min(1).nullable(),
  timesWritten: z.enum(["utc", "trimmed", "offset", "alternating"]),
});
export type Readings = z.infer<typeof Readings>;

export const ReadingsChange = Readings.partial();

const atStart: Readings = {
  updatedSinceInclusive: true,
  walkOrder: "updatedAt",
  listsCarryLines: true,
  cursorLifeSeconds: 3600,
  cursorsNeverEnd: false,
  externalIdBecomesErpId: true,
  failingWritesCommitLateSeconds: 0,
  readLagSeconds: 0,
  deduplicateInvoiceNumbers: false,
  supplierConnectionRuns: "fromUs",
  createdInvoiceStatus: "OUTSTANDING",
  numbersWritten: "plain",
  lateCommitSeconds: 0,
  replayShown: true,
  connectionSearch: "partner",
  invoiceNumbersKept: "asSent",
  emptyPages: false,
  pageSizeMost: null,
  timesWritten: "utc",
};

export class ReadingsInForce {
  readonly #settings: Settings;
  #values: Readings;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#values = { ...atStart, ...(JSON.parse(settings.get("readings") ?? "{}") as object) };
  }

  readonly values = (): Readings => this.#values;

  change(change: z.infer<typeof ReadingsChange>): void {
    const given = Object.entries(change).filter(([, value]) => value !== undefined);
    this.#values = { ...this.#values, ...Object.fromEntries(given) };
    this.#settings.set("readings", JSON.stringify(this.#values));
  }

  reset(): void {
    this.change(atStart);
  }
}
