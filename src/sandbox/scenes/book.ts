/** What every builder of records works with: owner, chance and time; whole cents; and what a truck holds. */
import {
  complete,
  type Fields,
  type RawRecord,
  type ResourceName,
  resourceNames,
} from "../kinds.ts";
import { type Product, products, type Terminal } from "./catalog.ts";
import type { Random } from "./random.ts";

export type Records = Record<ResourceName, RawRecord[]>;

export const noRecords = (): Records =>
  Object.fromEntries(resourceNames.map((name): [string, RawRecord[]] => [name, []])) as Records;

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

  /**
   * A whole record of the owner, created and last changed that long ago; the fields that are not given have no value.
   * `ownerCompanyId` says whose it is where a resource has no `companyId`.
   */
  record(kind: ResourceName, age: number, touched: number, fields: Fields): RawRecord {
    const given = { ...fields, ...this.stamps(age, touched) };
    const birth = { owner: this.owner, at: given.createdAt, next: 0 };
    const record = complete(kind, given, birth);
    return "companyId" in record ? record : { ownerCompanyId: this.owner, ...record };
  }

  /** The same for what changes seldom: created within the last year, changed within the last month. */
  seldom(kind: ResourceName, fields: Fields): RawRecord {
    const touched = this.random.next() * 30 * DAY;
    return this.record(kind, touched + this.random.next() * 330 * DAY, touched, fields);
  }
}

// Whole numbers of cents and of millionths of a dollar ("micros"). Divided once, at the end, they print with the digits
// meant: 1234.56, 2.4315.

/** Halves to the even one, as `Decimal.round` does. Exact below 2^53: a million gallons at 9,000 dollars. */
export function halfEven(units: number, divisor: number): number {
  const whole = Math.floor(units / divisor);
  const twice = (units - whole * divisor) * 2;
  return twice > divisor || (twice === divisor && whole % 2 !== 0) ? whole + 1 : whole;
}

/** What so many whole gallons cost at a rate in micros. */
export const centsFor = (gallons: number, micros: number): number =>
  halfEven(gallons * micros, 10_000);

export const dollars = (cents: number): number => cents / 100;

export const rateOf = (micros: number): number => micros / 1_000_000;

/** The method that the trade publishes, in doubles: src/match has its own. */
export function netOf(gross: number, temperature: number, api: number): number {
  const density = (999.016 * 141.5) / (api + 131.5);
  const [k0, k1, constant] =
    density >= 838.3127
      ? [103.872, 0.2701, 0]
      : density >= 787.5195
        ? [330.301, 0, 0]
        : density >= 770.352
          ? [1489.067, 0, -0.0018684]
          : [192.4571, 0.2438, 0];
  const growth = (k0 / density ** 2 + k1 / density + constant) * (temperature - 60);
  return gross * Math.exp(-growth * (1 + 0.8 * growth));
}

/** Tenths, as meters print them. */
export const tenths = (value: number): number => Math.round(value * 10) / 10;

/** What one compartment of a truck held: the order line, the ticket line and the invoice line all tell of it. */
export interface Load {
  readonly product: Product;
  readonly ordered: number;
  /** Gallons as metered, and as they would be at 60 °F. */
  readonly gross: number;
  readonly net: number;
  readonly temperature: number;
  readonly apiGravity: number;
  /** Micros per gallon: what the supplier pays and what he charges. */
  readonly cost: number;
  readonly price: number;
  readonly bol: string;
}

/** The products a rack sells: most of them, always the same. */
export const soldAt = (terminal: Terminal): readonly Product[] =>
  products.filter((_, index) => (index * 5 + Number(terminal.code.slice(-2))) % 6 !== 0);

/** The rack's price of a product in micros: a regional difference that depends on both. */
export const rackPrice = (terminal: Terminal, product: Product): number =>
  product.price +
  ((Number(terminal.code.slice(-4)) * 37 + product.name.length * 11) % 900) * 125 -
  45_000;

/** A truck: one bill of lading, its gallons shared out over the compartments. Now and then it is a small one. */
export function loads(random: Random, terminal: Terminal, compartments: number): Load[] {
  const sold = soldAt(terminal);
  const bol = random.digits(7);
  const total = random.chance(0.8) ? random.int(28, 38) * 250 : random.int(4, 18) * 150;
  const ordered = Math.ceil(total / compartments / 50) * 50;
  return Array.from({ length: compartments }, () => {
    const product = random.pick(sold);
    return loadOf(random, product, {
      ordered,
      bol,
      coldest: 580,
      cost: () => rackPrice(terminal, product) + random.int(-400, 400) * 25,
      margin: () => random.int(300, 1400) * 50 + random.int(0, 49),
    });
  });
}

interface Bought extends Pick<Load, "ordered" | "bol"> {
  /** Tenths of °F. */
  readonly coldest: number;
  /** Micros per gallon. */
  readonly cost: () => number;
  readonly margin: () => number;
}

export function loadOf(random: Random, product: Product, bought: Bought): Load {
  const { ordered, bol, coldest } = bought;
  const gross = tenths(ordered + random.int(-160, 160) / 10);
  const temperature = random.int(coldest, 962) / 10;
  const cost = bought.cost();
  const apiGravity = tenths(product.apiGravity + random.int(-8, 8) / 10);
  const isByTable = product.family !== "propane" && product.family !== "fluid";
  const net = isByTable
    ? netOf(gross, temperature, apiGravity)
    : gross * (1 - 0.00046 * (temperature - 60));
  const price = cost + bought.margin();
  return { product, ordered, gross, net: tenths(net), temperature, apiGravity, cost, price, bol };
}
