/** The scene `demo`: a month of a distributor. What he sold, what he was billed, and with whom he deals. */
import { sumOf } from "../../core/groups.ts";
import { Book, DAY, HOUR, loads, rateOf, type Records, soldAt } from "./book.ts";
import type { RawRecord } from "../kinds.ts";
import {
  allocation,
  charge,
  connection,
  freightRate,
  fuelLines,
  invoice,
  type Line,
  location,
  order,
  orderNote,
  payment,
  perGallon,
  rackPriceOf,
  settled,
  supplierTerminal,
  ticket,
} from "./builders.ts";
import { type Product, type Terminal, terminals } from "./catalog.ts";
import { buyers, companies, type Company, haulers, homeOf, refiners, slug } from "./companies.ts";
import { empty, type Scene } from "./conformance.ts";
import { items, rewrite } from "./month.ts";
import { Random } from "./random.ts";

/** `trades`: only the first so many orders of the month, with what followed from each. */
export function demo(now: Date, { trades = ORDERS }: { readonly trades?: number } = {}): Scene {
  const { companies: withKeys, records } = empty(now);
  const book = new Book(companies.supplier.id, new Random(0xfb_00_00_04), now);
  const customers = market(book, records);
  places(book, records, customers);
  terms(book, records, customers);
  for (let at = 0; at < trades; at++) trade(book, records, customers, at);
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

interface Customer {
  readonly company: Company;
  readonly termsDays: number;
  readonly sites: { id: string; name: string; rack: Terminal }[];
}

/** Parties that the supplier does no business with yet, or no more. */
const UNDECIDED: Readonly<Record<string, string>> = {
  "Bayou State Biodiesel, LLC": "PENDING",
  "Clearwater DEF & Fluids": "INFO_REQUESTED",
  "Quartz Mountain Petroleum Transport": "RESUBMITTED",
  "Sunup Fleet Services": "DECLINED",
};
const dealing = (company: Company): boolean => !(company.name in UNDECIDED);
const truckers = [companies.carrier, ...haulers.filter(dealing)];
const sellers = refiners.filter(dealing);

/** Everyone the supplier is connected to. The first two connections are those of every scene. */
function market(book: Book, records: Records): Customer[] {
  const { random } = book;
  const customers: Customer[] = [{ company: companies.customer, termsDays: 15, sites: [] }];
  for (const [index, company] of buyers.entries()) {
    const termsDays = random.pick([10, 10, 15, 30]);
    customers.push({ company, termsDays, sites: [] });
    const facts = {
      erpId: `A-${1002 + index}`,
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

/** Where the supplier loads and what it costs there; where he delivers. */
function places(book: Book, records: Records, customers: readonly Customer[]): void {
  const { random } = book;
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
      sites.push({ id: site.id, name: site["name"] as string, rack });
    }
  }
}

/** Who may lift how much, and what the haulers charge. */
function terms(book: Book, records: Records, customers: readonly Customer[]): void {
  const { random } = book;
  const links = new Map(records.connections.map((record) => [record["toCompanyId"], record.id]));
  const linkTo = (company: Company): string => links.get(company.id) as string;
  const allot = (terminal: Terminal, company: Company, brand: string, granted: boolean): void => {
    const product = soldAt(terminal)[0] as Product;
    const supplierId = granted ? company.id : null;
    const facts = { connectionId: linkTo(company), brand, supplierId };
    records.allocations.push(allocation(book, terminal, product, facts));
  };
  for (const [index, terminal] of terminals.slice(0, 24).entries()) {
    const { company } = customers[index] as Customer;
    allot(terminal, company, "", false);
    if (index % 3 === 0) allot(terminal, company, "Bluebonnet", false);
    allot(terminal, sellers[index % sellers.length] as Company, "", true);
  }
  const racks = terminals.map((terminal) => supplierTerminal(book, terminal));
  records["supplier-terminals"].push(...racks);
  for (const trucker of truckers)
    for (let lane = 0; lane < 8; lane++) {
      const rate = freightRate(book, linkTo(trucker), random.pick(racks), random.pick(terminals));
      records["freight-rates"].push(rate);
    }
}

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

const ORDERS = ORDER_STATUSES.length;

/** One order and what came of it. */
function trade(book: Book, records: Records, customers: readonly Customer[], at: number): void {
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
  const deliveredAge = delivered + HOUR;
  const delivery = {
    terminal,
    loads: load,
    deliveredAge,
    receiverCompanyId: customer.company.id,
    site,
    carrier: trucker,
    supplierIds: sellers.map(({ id }) => id),
  };
  const ordered = { ...delivery, deliveredAge: DELIVERED.has(status) ? deliveredAge : null };
  const touchedLast = status === "INVOICED" ? billed : delivered;
  const record = order(book, ordered, { status, age, touched: touchedLast });
  records.orders.push(record);
  if (random.chance(0.3)) records["order-notes"].push(orderNote(book, record.id, delivered));
  if (random.chance(0.1)) records["order-notes"].push(orderNote(book, record.id, billed));
  if (!DELIVERED.has(status) && status !== "IN_TRANSIT") return;
  const number = `BB-${310_000 + at}`;
  const told = (status: string, ticketNumber: string, touched: number): void => {
    const facts = { status, ticketNumber, age: delivered, touched, orderId: record.id };
    records["delivery-tickets"].push(ticket(book, delivery, facts));
  };
  if (at % 25 === 5) told("VOID", `${number}-X`, delivered - HOUR / 2);
  const progress = status === "IN_TRANSIT" ? ["DRAFT", "ISSUED"] : MOSTLY_SIGNED;
  told(random.pick(progress), number, delivered * 0.99);
  if (status !== "INVOICED") return;
  const { termsDays } = customer;
  const place = { location: site.name, deliveryTicket: number, carrier: trucker.name };
  const lines = fuelLines(book, load, place, deliveredAge);
  const gallons = sumOf(load.map(({ ordered }) => ordered));
  if (random.chance(0.5)) lines.push(perGallon("Freight", gallons, random.int(180, 640) * 100));
  if (random.chance(0.15)) lines.push(charge("Minimum load fee", random.int(40, 160) * 100));
  let invoiceStatus: string = settled(random, billed, termsDays);
  // The youngest are still being written.
  if (at >= 232) invoiceStatus = "DRAFT";
  else if (at % 40 === 7) invoiceStatus = "DISPUTED";
  else if (at % 48 === 11) invoiceStatus = "VOID";
  const touched = touchedAt(random, invoiceStatus, billed);
  const owed = { termsDays, lines, state: terminal.state };
  const invoiced = invoice(book, owed, {
    status: invoiceStatus,
    age: billed,
    touched,
    invoiceNumber: `BBF-${84_001 + at}`,
    payerCompanyId: customer.company.id,
    orderId: record.id,
    notes: random.chance(0.2) ? "Remit to the address on your statement." : null,
  });
  records.invoices.push(invoiced);
  payments(book, records, invoiced, touched);
}

const DELIVERED = new Set(["DELIVERED", "PENDING_VERIFICATION", "INVOICED"]);
const MOSTLY_SIGNED = ["SIGNED", "SIGNED", "SIGNED", "SIGNED", "SIGNED", "ISSUED"];

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
    records.payments.push(payment(book, id, { cents, status, age }));
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
function payables(book: Book, records: Records, now: Date): void {
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
    const invoiceNumber = freight ? `F${random.digits(6)}` : numberOf(issuer, fuel);
    const lines = freight ? haul(random, terminal) : purchase(theirs, terminal, age);
    const told = { status, age, touched, invoiceNumber, payerCompanyId: companies.supplier.id };
    const record = invoice(theirs, { termsDays: 10, lines, state: terminal.state }, told);
    if (!freight) overcharge(record, OVERCHARGED[fuel] ?? 0);
    records.invoices.push(record);
    payments(theirs, records, record, touched);
  }
}

/** Fuel bills above their own rack price and margin, and by how many cents a gallon: two are one supplier's. */
const OVERCHARGED: Readonly<Record<number, number>> = { 9: 2, 16: 3, 28: 4 };

function overcharge(bill: RawRecord, cents: number): void {
  for (const line of cents === 0 ? [] : items(bill))
    rewrite(bill, line, { rate: rateOf(Math.round((line["rate"] as number) * 1e6) + cents * 1e4) });
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

function purchase(book: Book, terminal: Terminal, age: number): Line[] {
  const { random } = book;
  const at = { location: terminal.code, carrier: random.pick(truckers).name };
  return fuelLines(book, loads(random, terminal, random.int(1, 6)), at, age + 20 * HOUR, "cost");
}

function haul(random: Random, terminal: Terminal): Line[] {
  const cents = random.int(22_000, 96_000);
  const lines = [charge(`Freight from ${terminal.code}, BOL ${random.digits(7)}`, cents)];
  if (random.chance(0.8)) lines.push(charge("Fuel surcharge 14.5%", Math.round(cents * 0.145)));
  if (random.chance(0.3)) lines.push(charge("Detention", 8_500 * random.int(1, 3)));
  return lines;
}
