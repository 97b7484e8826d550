import { Book, DAY, HOUR, loads, rateOf } from "./book.ts";
import type { RawRecord, ResourceName } from "../kinds.ts";
import { charge, fuelLines, invoice, order, settled, ticket } from "./builders.ts";
import { products, type Terminal, terminals } from "./catalog.ts";
import { mix, Random } from "./random.ts";

interface GenerateOptions {
  readonly companyId: string;
  readonly payerCompanyId: string;
  readonly orders?: number;
  readonly deliveryTickets?: number;
  readonly invoices?: number;
  readonly rackPrices?: number;
  /** Fixes everything but times. Ids repeat with it, so a second call takes another one. */
  readonly seed?: number;
  readonly now: Date;
}

interface Generated {
  readonly resource: ResourceName;
  readonly record: RawRecord;
}

/**
 * As many records as asked for, one at a time. The n-th order, ticket and invoice tell of one delivery. None of the
 * invoices is a draft, so the payer sees them all. They come in the order of their last change: indices grow at their
 * ends, which is what makes a million affordable.
 */
export function* generate(options: GenerateOptions): Generator<Generated> {
  const { orders = 0, deliveryTickets = 0, invoices = 0, rackPrices = 0, seed = 1 } = options;
  // Two companies may use the same seed.
  const random = new Random(seed ^ mix(Number.parseInt(options.companyId.slice(0, 8), 16)));
  const book = new Book(options.companyId, random, options.now);
  const deliveries = Math.max(orders, deliveryTickets, invoices);
  for (let at = 0; at < deliveries; at++) {
    const touched = ago(random, at, deliveries);
    yield* delivery(book, options, touched, `${seed}-${String(at + 1).padStart(7, "0")}`, {
      orders: at < orders,
      tickets: at < deliveryTickets,
      invoices: at < invoices,
    });
  }
  for (let at = 0; at < rackPrices; at++) {
    yield {
      resource: "rack-prices",
      record: rack(book, seed, at, ago(random, at, rackPrices)),
    };
  }
}

/** When the n-th of so many was last changed: evenly over the last thirty days, the oldest first. */
const ago = (random: Random, at: number, of: number): number =>
  (1 - (at + random.next()) / of) * 29.9 * DAY;

function* delivery(
  book: Book,
  options: GenerateOptions,
  touched: number,
  number: string,
  wanted: { orders: boolean; tickets: boolean; invoices: boolean },
): Generator<Generated> {
  const { random } = book;
  const terminal = random.pick(terminals);
  const load = loads(random, terminal, random.int(1, 4));
  const { payerCompanyId } = options;
  const deliveredAge = touched + DAY;
  const told = { terminal, loads: load, deliveredAge, receiverCompanyId: payerCompanyId };
  let orderId: string | null = null;
  if (wanted.orders) {
    const status = wanted.invoices ? "INVOICED" : random.pick(ORDER_STATUSES);
    const age = touched + (1 + random.next()) * 2 * DAY;
    const isThere = status === "DELIVERED" || status === "INVOICED";
    const ordered = { ...told, deliveredAge: isThere ? deliveredAge : null };
    const record = order(book, ordered, { status, age, touched });
    orderId = record.id;
    yield { resource: "orders", record };
  }
  if (wanted.tickets) {
    const record = ticket(book, told, {
      status: random.chance(0.8) ? "SIGNED" : random.pick(["DRAFT", "ISSUED", "VOID"]),
      age: touched + random.next() * DAY,
      touched: touched + random.next() * HOUR,
      ticketNumber: `T${number}`,
      orderId,
    });
    yield { resource: "delivery-tickets", record };
  }
  if (wanted.invoices) {
    const termsDays = random.pick([10, 15, 30]);
    const age = touched + random.next() * DAY;
    const at = { deliveryTicket: wanted.tickets ? `T${number}` : null };
    const lines = fuelLines(book, load, at, deliveredAge);
    if (random.chance(0.3)) lines.push(charge("Delivery fee", random.int(25, 180) * 100));
    const isOdd = random.chance(0.04);
    const status = isOdd ? random.pick(["VOID", "DISPUTED"]) : settled(random, age, termsDays);
    const facts = { status, age, touched, invoiceNumber: `G${number}`, payerCompanyId, orderId };
    const record = invoice(book, { termsDays, lines, state: terminal.state }, facts);
    yield { resource: "invoices", record };
  }
}

/** A company has one price for a terminal and product, so the terminals grow with the count. */
function rack(book: Book, seed: number, at: number, touched: number): RawRecord {
  const { random } = book;
  const product = products[at % products.length] as (typeof products)[number];
  const { state } = random.pick<Terminal>(terminals);
  const fields = {
    id: random.uuid(),
    terminalId: `T-${seed}-${state}-${Math.floor(at / products.length) + 1}`,
    product: product.code,
    price: rateOf(product.price + random.int(-900, 900) * 125),
    effectiveAt: book.day(touched),
  };
  return book.record("rack-prices", touched + random.next() * 30 * DAY, touched, fields);
}

const ORDER_STATUSES = "POSTED CONFIRMED IN_TRANSIT DELIVERED DELIVERED INVOICED CANCELLED".split(
  " ",
);
