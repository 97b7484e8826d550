import { Book, DAY, HOUR, type RawRecord, type Records } from "./book.ts";
import { type Product, type Terminal, terminals } from "./catalog.ts";
import { buyers, companies, type Company, haulers, homeOf, refiners, slug } from "./companies.ts";
import { empty, type Scene } from "./empty.ts";
import { invoice, type Line, payment, settled } from "./invoices.ts";
import { type Load, loads, rackPrice, soldAt } from "./load.ts";
import {
  allocation,
  connection,
  freightRate,
  location,
  rackPriceOf,
  supplierTerminal,
} from "./network.ts";
import { order, orderNote } from "./orders.ts";
import { Random } from "./random.ts";
import { ticket } from "./tickets.ts";

/** A month of a distributor: what he sold, what he was billed, and with whom he deals. */
export function demo(now: Date): Scene {
  const { companies: withKeys, records } = empty(now);
  const book = new Book(companies.supplier.id, new Random(0xfb_00_00_04), now);
  const customers = market(book, records);
  places(book, records, customers);
  for (let at = 0; at < ORDERS; at++) trade(book, records, customers, at);
  payables(book, records, now);
  oddities(records);
  return { companies: [...withKeys, ...buyers, ...refiners, ...haulers], records };
}

const ORDERS = 400;
/** How far the orders got, oldest first. */
const STATUSES = Object.entries({
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

/** The platform marks invoices overdue in one go: they all carry the same instant. */
const OVERDUE_RUN = 7 * HOUR;

interface Customer {
  readonly company: Company;
  readonly termsDays: number;
  readonly sites: { id: string; name: string; rack: Terminal }[];
}

/** Everyone the supplier is connected to. The first two connections are those of every scene. */
function market(book: Book, records: Records): Customer[] {
  const { random } = book;
  const customers: Customer[] = [{ company: companies.customer, termsDays: 15, sites: [] }];
  for (const [index, company] of buyers.entries()) {
    const termsDays = random.pick([10, 10, 15, 30]);
    customers.push({ company, termsDays, sites: [] });
    const facts = {
      erpId: `C-${1002 + index}`,
      paymentTerms: `Net ${termsDays}`,
      creditLimit: random.chance(0.9) ? random.int(2, 60) * 12_500 : null,
      message: random.chance(0.2) ? "Welcome aboard." : null,
    };
    records.connections.push(connection(book, company, facts));
  }
  for (const [index, company] of [...refiners, ...haulers].entries()) {
    const status = UNDECIDED[company.name] ?? "ACCEPTED";
    const known =
      status === "ACCEPTED" ? { erpId: `V-${2002 + index}`, paymentTerms: "Net 10" } : {};
    records.connections.push(connection(book, company, { status, ...known }));
  }
  return customers;
}

const UNDECIDED: Readonly<Record<string, string>> = {
  "Bayou State Biodiesel, LLC": "PENDING",
  "Clearwater DEF & Fluids": "INFO_REQUESTED",
  "Quartz Mountain Petroleum Transport": "RESUBMITTED",
  "Sunup Fleet Services": "DECLINED",
};
const dealing = (company: Company): boolean => !(company.name in UNDECIDED);
const truckers = [companies.carrier, ...haulers.filter(dealing)];
const sellers = refiners.filter(dealing);

/** Terminals, prices, sites, allocations and lanes. */
function places(book: Book, records: Records, customers: readonly Customer[]): void {
  const { random } = book;
  const racks = terminals.map((terminal) => supplierTerminal(book, terminal));
  records["supplier-terminals"].push(...racks);
  for (const terminal of terminals)
    for (const product of soldAt(terminal))
      records["rack-prices"].push(
        rackPriceOf(book, terminal, product, product.family === "propane" ? "liter" : "gal"),
      );
  for (const { company, sites } of customers) {
    const rack = homeOf(company);
    const count = random.pick([1, 1, 2]);
    for (let number = 1; number <= count; number++) {
      const site = location(book, company, rack, number);
      records.locations.push(site);
      sites.push({ id: site.id, name: site.name, rack });
    }
  }
  const links = new Map(records.connections.map((record) => [record["toCompanyId"], record.id]));
  for (const [index, { company }] of customers.slice(0, 24).entries())
    for (const brand of index % 3 === 0 ? ["", "Bluebonnet"] : [""]) {
      const terminal = terminals[index] as Terminal;
      const product = soldAt(terminal)[0] as Product;
      const connectionId = links.get(company.id) as string;
      records.allocations.push(
        allocation(book, { connectionId, terminal, product, brand, supplierId: null }),
      );
    }
  for (const [index, seller] of sellers.entries())
    for (const terminal of terminals.slice(index * 4, index * 4 + 4)) {
      const product = soldAt(terminal)[0] as Product;
      const connectionId = links.get(seller.id) as string;
      records.allocations.push(
        allocation(book, { connectionId, terminal, product, brand: "", supplierId: seller.id }),
      );
    }
  for (const trucker of truckers)
    for (let lane = 0; lane < 8; lane++)
      records["freight-rates"].push(
        freightRate(
          book,
          links.get(trucker.id) as string,
          random.pick(racks),
          random.pick(terminals),
        ),
      );
}

/** One order and what came of it. */
function trade(book: Book, records: Records, customers: readonly Customer[], at: number): void {
  const { random } = book;
  const status = STATUSES[at] as string;
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
  const signed =
    status === "IN_TRANSIT"
      ? random.pick(["DRAFT", "ISSUED"])
      : random.chance(0.9)
        ? "SIGNED"
        : "ISSUED";
  records["delivery-tickets"].push(
    ticket(book, { ...facts, number, status: signed, touched: delivered * 0.99 }),
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
  // The youngest are still being written.
  const status =
    at >= 232
      ? "DRAFT"
      : at % 40 === 7
        ? "DISPUTED"
        : at % 48 === 11
          ? "VOID"
          : settled(random, age, termsDays);
  const touched =
    status === "OVERDUE" ? OVERDUE_RUN : status === "DRAFT" ? age : age * random.next();
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

/** What the supplier has to pay: 40 invoices for fuel, 20 for freight, and a draft that he must not see. */
function payables(book: Book, records: Records, now: Date): void {
  const { random } = book;
  for (let at = 0; at < 61; at++) {
    const freight = at % 3 === 2 && at < 60;
    const fuel = at - Math.floor((at + 1) / 3);
    const issuer = freight ? random.pick(truckers) : (sellers[fuel % sellers.length] as Company);
    const theirs = new Book(issuer.id, random, now);
    const age = ((61 - at - random.next()) / 61) * 29 * DAY + 5 * HOUR;
    const terminal = random.pick(terminals);
    const status =
      at === 60 ? "DRAFT" : at === 20 ? "DISPUTED" : at === 33 ? "VOID" : settled(random, age, 10);
    const touched =
      status === "OVERDUE" ? OVERDUE_RUN : status === "DRAFT" ? age : age * random.next();
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

/** Unique by issuer only: two of them count alike. */
const numberOf = (issuer: Company, at: number): string =>
  at % sellers.length < 2
    ? `0004${711 + Math.floor(at / sellers.length)}`
    : `${slug(issuer.name).slice(0, 3).toUpperCase()}-${20_000 + at * 7}`;

function purchase(random: Random, terminal: Terminal, age: number): Line[] {
  const at = { location: terminal.code, ticket: null, carrier: random.pick(truckers).name };
  return loads(random, terminal, random.int(1, 6)).map((load) => ({
    load: { ...load, cost: rackPrice(terminal, load.product) },
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
