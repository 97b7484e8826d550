import type { Json } from "../../core/json.ts";
import type { Random } from "./random.ts";

export type ResourceName =
  | "orders"
  | "order-notes"
  | "delivery-tickets"
  | "invoices"
  | "payments"
  | "rack-prices"
  | "connections"
  | "freight-rates"
  | "locations"
  | "allocations"
  | "supplier-terminals";

/**
 * A record as the platform keeps it: the fields of the specification, and `ownerCompanyId` where a resource has no
 * `companyId` to say whose it is.
 */
export type RawRecord = { id: string; [field: string]: Json };

export type Records = Record<ResourceName, RawRecord[]>;

export const noRecords = (): Records => ({
  orders: [],
  "order-notes": [],
  "delivery-tickets": [],
  invoices: [],
  payments: [],
  "rack-prices": [],
  connections: [],
  "freight-rates": [],
  locations: [],
  allocations: [],
  "supplier-terminals": [],
});

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** What every builder of records works with: whose records, chance, and the time they are told from. */
export class Book {
  readonly owner: string;
  readonly random: Random;
  readonly #now: number;

  constructor(owner: string, random: Random, now: Date) {
    this.owner = owner;
    this.random = random;
    this.#now = now.getTime();
  }

  /** The instant `age` milliseconds before now. */
  ago(age: number): string {
    return new Date(this.#now - age).toISOString();
  }

  /** A full hour (UTC), `days` days after the day of that instant: people set due dates by the day. */
  day(age: number, days = 0, hour = 0): string {
    const midnight = Math.floor((this.#now - age) / DAY) * DAY;
    return new Date(midnight + days * DAY + hour * HOUR).toISOString();
  }

  /** Created that long ago, last changed that long ago. */
  stamps(age: number, touched: number): { createdAt: string; updatedAt: string } {
    return { createdAt: this.ago(age), updatedAt: this.ago(Math.min(touched, age)) };
  }
}
