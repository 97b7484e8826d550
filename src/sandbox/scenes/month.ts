/**
 * The scene `month`: what a distributor delivered, billed and was billed in a month, every paper in step with the others; and
 * then as many errors as are asked for, each in a trade of its own, with the truth about them.
 */
import {
  Book,
  centsFor,
  DAY,
  dollars,
  halfEven,
  HOUR,
  type Load,
  netOf,
  rackPrice,
  rateOf,
} from "./book.ts";
import type { RawRecord } from "../kinds.ts";
import {
  connection,
  invoice,
  type Line,
  location,
  order,
  supplierTerminal,
  ticket,
} from "./builders.ts";
import { type Product, products, type Terminal, terminals } from "./catalog.ts";
import { buyers, companies, type Company, refiners } from "./companies.ts";
import { empty, type Scene } from "./conformance.ts";
import { Random } from "./random.ts";

export interface MonthOptions {
  /** Deliveries; each has an order, a ticket, an invoice and a supplier's bill. */
  readonly trades?: number;
  readonly faults?: number;
  readonly seed?: number;
}

/** An error that was planted, and the papers that show it. */
export interface Fault {
  readonly kind: FaultKind;
  /** Ids of the papers of that trade. */
  readonly papers: readonly string[];
  /** The number of the paper that is wrong. */
  readonly number: string;
  /** Money that it comes to, in dollars; null: not foretold. */
  readonly amount: number | null;
}

interface Trade {
  readonly at: number;
  readonly delivered: number;
  /** Its day, counted back from today. */
  readonly day: number;
  readonly loads: readonly Load[];
  readonly order: RawRecord;
  readonly ticket: RawRecord;
  readonly sale: RawRecord;
  readonly bill: RawRecord;
  readonly hasFreight: boolean;
  readonly terminal: Terminal;
}

type Item = Record<string, number | string | null>;

const RACKS = terminals.slice(0, 8);
/** Only what the table of volume corrections is about. */
const FUELS = products.filter(({ family }) => /diesel|dyed|gasoline|jet/.test(family));
const DAYS = 40;

export function month(now: Date, options: MonthOptions): { scene: Scene; truth: readonly Fault[] } {
  const { trades: count = 240, faults = 0, seed = 1 } = options;
  const { companies: withKeys, records } = empty(now);
  const random = new Random(0xfb_00_01_00 + seed);
  const book = new Book(companies.supplier.id, random, now);
  const racks = new Map(RACKS.map((terminal) => [terminal.code, supplierTerminal(book, terminal)]));
  records["supplier-terminals"].push(...racks.values());
  const customers = buyers.slice(0, 24).map((company, at) => {
    const terminal = RACKS[at % RACKS.length] as Terminal;
    const link = connection(book, company, { erpId: `A-${1002 + at}`, status: "ACCEPTED" });
    const site = { ...location(book, company, terminal, 1), zip: `77${100 + at}` };
    records.connections.push(link);
    records.locations.push(site);
    const flat = at % 3 === 0 ? null : random.int(180, 640) * 100;
    if (flat !== null)
      records["freight-rates"].push(freightOf(book, link.id, racks.get(terminal.code), site, flat));
    return { company, terminal, site, flat };
  });
  for (const terminal of RACKS)
    for (const product of FUELS)
      for (let day = DAYS; day >= 0; day--)
        records["rack-prices"].push(priceRecord(book, terminal, product, day));
  const trades: Trade[] = [];
  for (let at = 0; at < count; at++) {
    const { company, terminal, site, flat } = random.pick(customers);
    const delivered = (3 + ((count - at - random.next()) / count) * 26) * DAY;
    // No two months have a number in common.
    trades.push(
      trade(book, now, { at: seed * 100_000 + at, company, terminal, site, flat, delivered }),
    );
  }
  const truth = planted(random, trades, faults);
  for (const one of trades) {
    records.orders.push(one.order);
    records["delivery-tickets"].push(one.ticket);
    if (one.sale["invoiceNumber"] !== "") records.invoices.push(one.sale);
    records.invoices.push(one.bill);
  }
  records.invoices.push(...truth.flatMap(({ more }) => more));
  return {
    scene: { companies: [...withKeys, ...buyers, ...refiners], records },
    truth: truth.map(({ fault }) => fault),
  };
}

/** The list of a day, in micros: no two days in a row are alike. */
function listPrice(terminal: Terminal, product: Product, day: number): number {
  const swing = ((day * 7919 + product.code.length * 104_729) % 89) - 44;
  return rackPrice(terminal, product) + swing * 1250 + (day % 2) * 600;
}

function priceRecord(book: Book, terminal: Terminal, product: Product, day: number): RawRecord {
  return book.record("rack-prices", day * DAY, day * DAY, {
    id: book.random.uuid(),
    terminalId: terminal.code,
    product: product.code,
    price: rateOf(listPrice(terminal, product, day)),
    unit: "gal",
    spread: 0,
    effectiveAt: book.day(day * DAY),
    expiresAt: day === 0 ? null : book.day((day - 1) * DAY),
  });
}

const SURCHARGE = 14.5;

function freightOf(
  book: Book,
  connectionId: string,
  rack: RawRecord | undefined,
  site: RawRecord,
  cents: number,
): RawRecord {
  return book.seldom("freight-rates", {
    id: book.random.uuid(),
    connectionId,
    originTerminalId: rack?.id ?? null,
    destinationZip: site["zip"] as string,
    flatFee: dollars(cents),
    fuelSurchargePercent: SURCHARGE,
    effectiveAt: book.day(60 * DAY),
  });
}

const tenths = (value: number): number => Math.round(value * 10) / 10;

interface Facts {
  readonly at: number;
  readonly company: Company;
  readonly terminal: Terminal;
  readonly site: RawRecord;
  readonly flat: number | null;
  readonly delivered: number;
}

function trade(book: Book, now: Date, facts: Facts): Trade {
  const { random } = book;
  const { at, company, terminal, site, flat, delivered } = facts;
  const midnight = Math.floor((now.getTime() - delivered) / DAY);
  const day = Math.floor(now.getTime() / DAY) - midnight;
  const loads = truck(random, terminal, day);
  const number = `MT-${at}`;
  const seller = random.pick(refiners.slice(0, 5));
  const made = order(book, {
    status: "INVOICED",
    age: delivered + 2 * DAY,
    touched: delivered - HOUR,
    deliveredAge: delivered,
    terminal,
    loads,
    locationId: site.id,
    carrierCompanyId: companies.carrier.id,
    supplierIds: [seller.id],
  });
  const common = { age: delivered, touched: delivered * 0.99 };
  const paper = ticket(book, {
    ...common,
    status: "SIGNED",
    deliveredAge: delivered,
    number,
    orderId: made.id,
    receiverCompanyId: company.id,
    terminal,
    loads,
    carrierName: companies.carrier.name,
    destination: site["name"] as string,
  });
  const place = {
    location: site["name"] as string,
    ticket: number,
    carrier: companies.carrier.name,
  };
  const lines: Line[] = loads.map((load) => ({
    load,
    rate: load.price,
    deliveredAge: delivered,
    at: place,
  }));
  if (flat !== null)
    lines.push(
      { description: "Freight", cents: flat },
      { description: `Fuel surcharge ${SURCHARGE}%`, cents: halfEven(flat * SURCHARGE * 10, 1000) },
    );
  const billed = Math.max(delivered - DAY / 2, HOUR);
  const sale = invoice(book, {
    status: "OUTSTANDING",
    age: billed,
    touched: billed,
    number: `MI-${at}`,
    payerCompanyId: company.id,
    termsDays: 15,
    lines,
    state: terminal.state,
    orderId: made.id,
  });
  const theirs = new Book(seller.id, random, now);
  const at2 = { location: terminal.code, ticket: null, carrier: companies.carrier.name };
  const bill = invoice(theirs, {
    status: "OUTSTANDING",
    age: billed,
    touched: billed,
    number: `MB-${at}`,
    payerCompanyId: companies.supplier.id,
    termsDays: 10,
    lines: loads.map((load) => ({ load, rate: load.cost, deliveredAge: delivered, at: at2 })),
    state: terminal.state,
  });
  return {
    at,
    delivered,
    day,
    loads,
    order: made,
    ticket: paper,
    sale,
    bill,
    hasFreight: flat !== null,
    terminal,
  };
}

/** One to three compartments; now and then two hold the same. */
function truck(random: Random, terminal: Terminal, day: number): Load[] {
  const bol = random.digits(7);
  const count = random.int(1, 3);
  const first = random.int(0, FUELS.length - 1);
  const isSame = count > 1 && random.chance(0.15);
  const margin = random.int(300, 1400) * 50;
  return Array.from({ length: count }, (_, at) => {
    const product = FUELS[(first + (isSame && at === 1 ? 0 : at)) % FUELS.length] as Product;
    const ordered = random.int(12, 34) * 250;
    const gross = tenths(ordered + random.int(-160, 160) / 10);
    const temperature = random.int(480, 962) / 10;
    const apiGravity = tenths(product.apiGravity + random.int(-8, 8) / 10);
    const cost = listPrice(terminal, product, day);
    return {
      product,
      ordered,
      gross,
      net: tenths(netOf(gross, temperature, apiGravity)),
      temperature,
      apiGravity,
      cost,
      price: cost + margin,
      bol,
    };
  });
}

/** Each plants itself in a trade; null: this trade does not allow it. `more`: papers that come with it. */
type Plant = (
  random: Random,
  trade: Trade,
) => { number: string; amount: number | null; more?: RawRecord[] } | null;

const items = (paper: RawRecord): Item[] => paper["lineItems"] as Item[];
const taxes = (paper: RawRecord): Item[] => paper["taxLines"] as Item[];
const numberOf = (paper: RawRecord): string =>
  (paper["invoiceNumber"] ?? paper["ticketNumber"]) as string;
const cents = (amount: unknown): number => Math.round((amount as number) * 100);
const micros = (rate: unknown): number => Math.round((rate as number) * 1_000_000);

/** Sets a line's gallons and rate, and what follows from them: amounts, taxes of its product, sums. Returns the change in cents. */
function rewrite(paper: RawRecord, line: Item, change: Item): number {
  const before = cents(line["amount"]);
  const gallons = line["gallons"] as number;
  Object.assign(line, change);
  const now = line["gallons"] as number;
  line["amount"] = dollars(centsFor(now, micros(line["rate"])));
  for (const tax of taxes(paper))
    if (tax["productRef"] === line["product"] && tax["gallons"] !== null) {
      tax["gallons"] = (tax["gallons"] as number) + now - gallons;
      tax["amount"] = dollars(centsFor(tax["gallons"], micros(tax["rate"])));
    }
  sumUp(paper);
  return cents(line["amount"]) - before;
}

function sumUp(paper: RawRecord): void {
  const [subtotal, tax] = [items(paper), taxes(paper)].map((list) =>
    list.reduce((sum, { amount }) => sum + cents(amount), 0),
  ) as [number, number];
  Object.assign(paper, {
    subtotal: dollars(subtotal),
    tax: dollars(tax),
    total: dollars(subtotal + tax),
  });
}

const fuelLine = (random: Random, paper: RawRecord): Item =>
  random.pick(items(paper).filter(({ product }) => product !== null && product !== undefined));
const isBeyond = (off: number, gallons: number): boolean =>
  Math.abs(off) > Math.max(gallons * 0.005, 25) * 1.5 + 2;
const isAlone = (line: Item, { loads }: Trade): boolean =>
  loads.filter(({ product }) => product.code === line["product"]).length === 1;

const plants = {
  "transposed gallons": (random, trade) => {
    const paper = random.pick([trade.sale, trade.bill]);
    const line = fuelLine(random, paper);
    const text = String(line["gallons"]);
    const at = random.int(0, text.length - 2);
    const turned = Number(`${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`);
    const total = trade.loads
      .filter(({ product }) => product.code === line["product"])
      .reduce((sum, { net }) => sum + net, 0);
    if (turned < 100 || !isBeyond(turned - Number(text), total)) return null;
    const change = { gallons: turned, netGallons: turned };
    return { number: numberOf(paper), amount: rewrite(paper, line, change) / 100 };
  },
  "gross for net": (random, trade) => {
    const paper = random.pick([trade.sale, trade.bill]);
    const line = fuelLine(random, paper);
    const gross = line["grossGallons"] as number;
    const off = gross - (line["gallons"] as number);
    if (!isAlone(line, trade) || !isBeyond(off, gross)) return null;
    return { number: numberOf(paper), amount: rewrite(paper, line, { gallons: gross }) / 100 };
  },
  "yesterday's price": (random, trade) => {
    const line = fuelLine(random, trade.sale);
    const load = trade.loads.find(({ product }) => product.code === line["product"]) as Load;
    const old = listPrice(trade.terminal, load.product, trade.day + 1);
    if (Math.abs(old - load.cost) < 200) return null;
    const change = { rackPrice: rateOf(old), rate: rateOf(micros(line["rate"]) + old - load.cost) };
    return { number: numberOf(trade.sale), amount: rewrite(trade.sale, line, change) / 100 };
  },
  "missing freight": (_, trade) => {
    if (!trade.hasFreight) return null;
    const gone = items(trade.sale).filter(({ description }) =>
      /Freight|surcharge/.test(String(description)),
    );
    trade.sale["lineItems"] = items(trade.sale).filter((line) => !gone.includes(line));
    sumUp(trade.sale);
    return {
      number: numberOf(trade.sale),
      amount: -gone.reduce((sum, { amount }) => sum + cents(amount), 0) / 100,
    };
  },
  "billed twice": (random, trade) => {
    const paper = random.pick([trade.sale, trade.bill]);
    const id = random.uuid();
    const again = structuredClone(paper);
    Object.assign(again, { id, invoiceNumber: `${numberOf(paper)}-2` });
    const fuel = items(paper).filter(({ bolNumber }) => typeof bolNumber === "string");
    const amount = fuel.reduce((sum, line) => sum + cents(line["amount"]), 0) / 100;
    return { number: numberOf(again), amount, more: [again] };
  },
  "wrong product": (random, trade) => {
    const paper = random.pick([trade.sale, trade.bill]);
    const line = fuelLine(random, paper);
    const wrong = random.pick(FUELS);
    if (!isAlone(line, trade) || trade.loads.some(({ product }) => product === wrong)) return null;
    const rate = rateOf(micros(line["rate"]) + 75_000);
    const change = {
      product: wrong.code,
      description: wrong.name,
      rate,
      rackPrice: null,
      margin: null,
    };
    return { number: numberOf(paper), amount: rewrite(paper, line, change) / 100 };
  },
  "tax twice": (random, trade) => {
    const paper = random.pick([trade.sale, trade.bill]);
    const tax = random.pick(taxes(paper));
    taxes(paper).push({ ...tax, id: random.uuid() });
    sumUp(paper);
    return { number: numberOf(paper), amount: tax["amount"] as number };
  },
  "short delivery": (random, trade) => {
    const lines = trade.ticket["productLines"] as Item[];
    const line = random.pick(lines);
    const share = 1 - random.int(30, 80) / 1000;
    line["gross_gallons"] = tenths((line["gross_gallons"] as number) * share);
    line["net_gallons"] = tenths(
      netOf(line["gross_gallons"], line["temperature"] as number, line["api_gravity"] as number),
    );
    return { number: numberOf(trade.ticket), amount: null };
  },
  "wrong rate": (random, trade) => {
    const paper = random.pick([trade.sale, trade.bill]);
    const line = fuelLine(random, paper);
    const rate = rateOf(micros(line["rate"]) + random.int(4, 60) * 2500);
    return { number: numberOf(paper), amount: rewrite(paper, line, { rate }) / 100 };
  },
  "never billed": (_, trade) => {
    if (trade.delivered < 8 * DAY) return null;
    const number = numberOf(trade.ticket);
    trade.sale["invoiceNumber"] = "";
    return { number, amount: null };
  },
  "billed without delivery": (random, trade) => {
    const ghost = structuredClone(random.pick([trade.sale, trade.bill]));
    Object.assign(ghost, {
      id: random.uuid(),
      invoiceNumber: `${numberOf(ghost)}-G`,
      orderId: null,
    });
    const bolNumber = random.digits(7);
    for (const line of items(ghost))
      if (typeof line["bolNumber"] === "string")
        Object.assign(line, {
          bolNumber,
          deliveryTicket: line["deliveryTicket"] === null ? null : `MT-${random.digits(7)}`,
        });
    return { number: numberOf(ghost), amount: null, more: [ghost] };
  },
  "wrong tax rate": (random, trade) => {
    const paper = random.pick([trade.sale, trade.bill]);
    const tax = random.pick(taxes(paper));
    if (tax["gallons"] === null) return null;
    const rate = micros(tax["rate"]) + random.int(4, 40) * 2500;
    const before = cents(tax["amount"]);
    Object.assign(tax, {
      rate: rateOf(rate),
      amount: dollars(centsFor(tax["gallons"] as number, rate)),
    });
    sumUp(paper);
    return { number: numberOf(paper), amount: (cents(tax["amount"]) - before) / 100 };
  },
  "wrong net": (random, trade) => {
    const line = random.pick(trade.ticket["productLines"] as Item[]);
    const gross = line["gross_gallons"] as number;
    const net = line["net_gallons"] as number;
    const wrong = tenths(net - gross * 0.006 * random.pick([1, -1]));
    line["net_gallons"] = wrong;
    return { number: numberOf(trade.ticket), amount: null };
  },
} satisfies Record<string, Plant>;

export type FaultKind = keyof typeof plants;

/** Kinds in turn, each in a trade that has none yet. */
function planted(random: Random, trades: readonly Trade[], faults: number) {
  const kinds = Object.keys(plants) as FaultKind[];
  const free = [...trades];
  const found: { fault: Fault; more: RawRecord[] }[] = [];
  for (let at = 0; found.length < faults && free.length > 0; at++) {
    const kind = kinds[found.length % kinds.length] as FaultKind;
    const one = free[random.int(0, free.length - 1)] as Trade;
    const done = (plants[kind] as Plant)(random, one);
    if (done === null) {
      if (at > trades.length * 50) break;
      continue;
    }
    free.splice(free.indexOf(one), 1);
    const { number, amount, more = [] } = done;
    const papers = [one.order, one.ticket, one.sale, one.bill, ...more].map(({ id }) => id);
    found.push({ fault: { kind, papers, number, amount }, more });
  }
  return found;
}
