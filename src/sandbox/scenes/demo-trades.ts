import { Book, DAY, HOUR, type RawRecord, type Records } from "./book.ts";
import { type Terminal, terminals } from "./catalog.ts";
import { companies, type Company, slug } from "./companies.ts";
import { type Customer, sellers, truckers } from "./demo-market.ts";
import { invoice, type Line, payment, settled } from "./invoices.ts";
import { type Load, loads } from "./load.ts";
import { order, orderNote } from "./orders.ts";
import type { Random } from "./random.ts";
import { ticket } from "./tickets.ts";

/** How far the orders got, oldest first. */
const ORDER_STATUSES = Object.entries({
  INVOICED: 240,
  PENDING_VERIFICATION: 30,
  DELIVERED: 50,
  CANCELLED: 7,
  IN_TRANSIT: 16,
  CONFIRMED: 18,
  ASSIGNED: 14,
  BIDDING: 8,
  POSTED: 12,
  DRAFT: 5,
}).flatMap(([status, count]) => Array.from({ length: count }, () => status));

export const ORDERS = ORDER_STATUSES.length;

/** One order and what came of it. */
export function trade(
  book: Book,
  records: Records,
  customers: readonly Customer[],
  at: number,
): void {
  const { random } = book;
  const status = ORDER_STATUSES[at] as string;
  const customer = random.pick(customers);
  const site = random.pick(customer.sites);
  const terminal = random.chance(0.85) ? site.rack : random.pick(terminals);
  const load = loads(random, terminal, random.int(1, 4));
  const trucker = random.pick(truckers);
  // From 30 days ago to this morning, in the order of the numbers.
  const age = ((ORDERS - at - random.next()) / ORDERS) * 29.5 * DAY + 5 * HOUR;
  const delivered = age * (0.93 - random.next() * 0.05);
  const billed = delivered * (0.97 - random.next() * 0.05);
  const record = order(book, {
    status,
    age,
    touched: status === "INVOICED" ? billed : delivered,
    deliveredAge: DELIVERED.has(status) ? delivered + HOUR : null,
    terminal,
    loads: load,
    locationId: site.id,
    carrierCompanyId: trucker.id,
    supplierIds: sellers.map(({ id }) => id),
  });
  records.orders.push(record);
  if (random.chance(0.3)) records["order-notes"].push(orderNote(book, record.id, delivered));
  if (random.chance(0.1)) records["order-notes"].push(orderNote(book, record.id, billed));
  if (!DELIVERED.has(status) && status !== "IN_TRANSIT") return;
  const number = `BB-${310_000 + at}`;
  const facts = {
    age: delivered,
    deliveredAge: delivered + HOUR,
    orderId: record.id,
    receiverCompanyId: customer.company.id,
    terminal,
    loads: load,
    carrierName: trucker.name,
    destination: site.name,
  };
  if (at % 25 === 5)
    records["delivery-tickets"].push(
      ticket(book, {
        ...facts,
        number: `${number}-X`,
        status: "VOID",
        touched: delivered - HOUR / 2,
      }),
    );
  const progress = status === "IN_TRANSIT" ? ["DRAFT", "ISSUED"] : MOSTLY_SIGNED;
  records["delivery-tickets"].push(
    ticket(book, { ...facts, number, status: random.pick(progress), touched: delivered * 0.99 }),
  );
  if (status === "INVOICED")
    bill(book, records, {
      at,
      customer,
      age: billed,
      deliveredAge: delivered + HOUR,
      load,
      ticket: number,
      site: site.name,
      trucker,
      orderId: record.id,
      terminal,
    });
}

const DELIVERED = new Set(["DELIVERED", "PENDING_VERIFICATION", "INVOICED"]);
const MOSTLY_SIGNED = ["SIGNED", "SIGNED", "SIGNED", "SIGNED", "SIGNED", "ISSUED"];

interface Sale {
  readonly at: number;
  readonly customer: Customer;
  readonly age: number;
  readonly deliveredAge: number;
  readonly load: readonly Load[];
  readonly ticket: string;
  readonly site: string;
  readonly trucker: Company;
  readonly orderId: string;
  readonly terminal: Terminal;
}

function bill(book: Book, records: Records, sale: Sale): void {
  const { random } = book;
  const { at, age } = sale;
  const { termsDays } = sale.customer;
  const place = { location: sale.site, ticket: sale.ticket, carrier: sale.trucker.name };
  const lines: Line[] = sale.load.map((load) => ({
    load,
    rate: load.price,
    deliveredAge: sale.deliveredAge,
    at: place,
  }));
  if (random.chance(0.5)) {
    const gallons = sale.load.reduce((total, load) => total + load.ordered, 0);
    lines.push({ description: "Freight", gallons, rate: random.int(180, 640) * 100 });
  }
  if (random.chance(0.15))
    lines.push({ description: "Minimum load fee", cents: random.int(40, 160) * 100 });
  let status: string = settled(random, age, termsDays);
  // The youngest are still being written.
  if (at >= 232) status = "DRAFT";
  else if (at % 40 === 7) status = "DISPUTED";
  else if (at % 48 === 11) status = "VOID";
  const touched = touchedAt(random, status, age);
  const record = invoice(book, {
    status,
    age,
    touched,
    number: `BBF-${84_001 + at}`,
    payerCompanyId: sale.customer.company.id,
    termsDays,
    lines,
    state: sale.terminal.state,
    orderId: sale.orderId,
    notes: random.chance(0.2) ? "Remit to the address on your statement." : null,
  });
  records.invoices.push(record);
  payments(book, records, record, touched);
}

/** Paid at once or in two parts; of the others a few were tried. */
function payments(
  book: Book,
  records: Records,
  { id, status, total }: RawRecord,
  age: number,
): void {
  const { random } = book;
  const cents = Math.round((total as number) * 100);
  const pay = (status: string, cents: number, age: number): void => {
    records.payments.push(payment(book, { invoiceId: id, cents, status, age }));
  };
  if (status === "PAID" && random.chance(0.1)) {
    const part = random.int(1, cents - 1);
    pay("SUCCEEDED", part, age);
    pay("SUCCEEDED", cents - part, age);
  } else if (status === "PAID") pay("SUCCEEDED", cents, age);
  else if (status === "OVERDUE" && random.chance(0.4)) pay("FAILED", cents, age);
  else if (status === "OUTSTANDING" && random.chance(0.15))
    pay(random.pick(["PENDING", "PROCESSING"]), cents, age);
  else if (status === "VOID" && random.chance(0.5)) pay("REFUNDED", cents, age);
}

/** The platform marks invoices overdue in one go: they all carry the same instant. */
const OVERDUE_RUN = 7 * HOUR;

function touchedAt(random: Random, status: string, age: number): number {
  if (status === "DRAFT") return age;
  return status === "OVERDUE" ? OVERDUE_RUN : age * random.next();
}

/** What the supplier has to pay: 40 invoices for fuel, 20 for freight, and a draft that he must not see. */
export function payables(book: Book, records: Records, now: Date): void {
  const { random } = book;
  for (let at = 0; at < 61; at++) {
    const freight = at % 3 === 2 && at < 60;
    const fuel = at - Math.floor((at + 1) / 3);
    const issuer = freight ? random.pick(truckers) : (sellers[fuel % sellers.length] as Company);
    const theirs = new Book(issuer.id, random, now);
    const age = ((61 - at - random.next()) / 61) * 29 * DAY + 5 * HOUR;
    const terminal = random.pick(terminals);
    const status = PAYABLE_STATUSES[at] ?? settled(random, age, 10);
    const touched = touchedAt(random, status, age);
    const record = invoice(theirs, {
      status,
      age,
      touched,
      number: freight ? `F${random.digits(6)}` : numberOf(issuer, fuel),
      payerCompanyId: companies.supplier.id,
      termsDays: 10,
      lines: freight ? haul(random, terminal) : purchase(random, terminal, age),
      state: freight ? null : terminal.state,
    });
    records.invoices.push(record);
    payments(theirs, records, record, touched);
  }
}

const PAYABLE_STATUSES: Readonly<Record<number, string>> = {
  20: "DISPUTED",
  33: "VOID",
  60: "DRAFT",
};

/** Unique by issuer only: two of them count alike. */
const numberOf = (issuer: Company, at: number): string =>
  at % sellers.length < 2
    ? `0004${711 + Math.floor(at / sellers.length)}`
    : `${slug(issuer.name).slice(0, 3).toUpperCase()}-${20_000 + at * 7}`;

function purchase(random: Random, terminal: Terminal, age: number): Line[] {
  const at = { location: terminal.code, ticket: null, carrier: random.pick(truckers).name };
  return loads(random, terminal, random.int(1, 6)).map((load) => ({
    load,
    rate: load.cost,
    deliveredAge: age + 20 * HOUR,
    at,
  }));
}

function haul(random: Random, terminal: Terminal): Line[] {
  const cents = random.int(22_000, 96_000);
  const lines: Line[] = [
    { description: `Freight from ${terminal.code}, BOL ${random.digits(7)}`, cents },
  ];
  if (random.chance(0.8))
    lines.push({ description: "Fuel surcharge 14.5%", cents: Math.round(cents * 0.145) });
  if (random.chance(0.3)) lines.push({ description: "Detention", cents: 8_500 * random.int(1, 3) });
  return lines;
}
