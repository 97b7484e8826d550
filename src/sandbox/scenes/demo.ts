import { Book, type Records } from "./book.ts";
import { buyers, companies, haulers, refiners } from "./companies.ts";
import { market, places, terms } from "./demo-market.ts";
import { ORDERS, payables, trade } from "./demo-trades.ts";
import { empty, type Scene } from "./empty.ts";
import { Random } from "./random.ts";

/** A month of a distributor: what he sold, what he was billed, and with whom he deals. */
export function demo(now: Date): Scene {
  const { companies: withKeys, records } = empty(now);
  const book = new Book(companies.supplier.id, new Random(0xfb_00_00_04), now);
  const customers = market(book, records);
  places(book, records, customers);
  terms(book, records, customers);
  for (let at = 0; at < ORDERS; at++) trade(book, records, customers, at);
  payables(book, records, now);
  oddities(records);
  return { companies: [...withKeys, ...buyers, ...refiners, ...haulers], records };
}

/** What people type, and what a bridge must survive: formulas, fractions, other units. */
function oddities(records: Records): void {
  const [first, second] = records.orders;
  if (first) first["notes"] = "=SUM(tank1,tank2) to the brim";
  if (second)
    second["notes"] =
      'He said "leave it, we\'ll sort it", so: ¡cuidado con el portón!\n\tSecond line; after a tab';
  const open = records.orders.find(({ status }) => status === "CONFIRMED");
  const [line] = (open?.["lines"] ?? []) as Record<string, unknown>[];
  // Two names of one number; the price is per liter too.
  const quantity = { quantity: 28_390.5, gallons: 28_390.5, unitCode: "liter", unit: "liter" };
  Object.assign(line ?? {}, quantity, { rate: 0.6481, buyPrice: 0.6327, sellPrice: 0.6481 });
}
