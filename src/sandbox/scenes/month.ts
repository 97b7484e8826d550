/**
 * The scene `month`: what a distributor delivered, billed and was billed in a month, every paper in step with the others; and
 * then as many errors as are asked for, each in a trade of its own, with the truth about them.
 */
import { sumOf } from "../../core/groups.ts";
import {
  Book,
  centsFor,
  DAY,
  dollars,
  halfEven,
  HOUR,
  type Load,
  loadOf,
  netOf,
  rackPrice,
  rateOf,
  tenths,
} from "./book.ts";
import type { RawRecord } from "../kinds.ts";
import {
  charge,
  connection,
  fuelLines,
  invoice,
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

/** What a delivery is about. */
interface Facts {
  readonly at: number;
  readonly company: Company;
  readonly terminal: Terminal;
  readonly site: RawRecord;
  /** Freight, cents; null: none is charged. */
  readonly flat: number | null;
  readonly delivered: number;
}

interface Trade extends Facts {
  /** Its day, counted back from today. */
  readonly day: number;
  readonly loads: readonly Load[];
  readonly order: RawRecord;
  readonly ticket: RawRecord;
  readonly sale: RawRecord;
  readonly bill: RawRecord;
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
      records["freight-rates"].push(
        book.seldom("freight-rates", {
          id: random.uuid(),
          connectionId: link.id,
          originTerminalId: racks.get(terminal.code)?.id ?? null,
          destinationZip: site.zip,
          flatFee: dollars(flat),
          fuelSurchargePercent: SURCHARGE,
          effectiveAt: book.day(60 * DAY),
        }),
      );
    return { company, terminal, site, flat };
  });
  for (const terminal of RACKS)
    for (const product of FUELS)
      for (let day = DAYS; day >= 0; day--)
        records["rack-prices"].push(priceRecord(book, terminal, product, day));
  const trades: Trade[] = [];
  for (let at = 0; at < count; at++) {
    const customer = random.pick(customers);
    const delivered = (3 + ((count - at - random.next()) / count) * 26) * DAY;
    // No two months have a number in common.
    trades.push(trade(book, now, { ...customer, at: seed * 100_000 + at, delivered }));
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
    effectiveAt: book.day(day * DAY),
    expiresAt: day === 0 ? null : book.day((day - 1) * DAY),
  });
}

const SURCHARGE = 14.5;

function trade(book: Book, now: Date, facts: Facts): Trade {
  const { random } = book;
  const { at, company, terminal, site, flat, delivered } = facts;
  const midnight = Math.floor((now.getTime() - delivered) / DAY);
  const day = Math.floor(now.getTime() / DAY) - midnight;
  const loads = truck(random, terminal, day);
  const number = `MT-${at}`;
  const seller = random.pick(refiners.slice(0, 5));
  const name = site["name"] as string;
  const delivery = {
    terminal,
    loads,
    deliveredAge: delivered,
    receiverCompanyId: company.id,
    site: { id: site.id, name },
    carrier: companies.carrier,
    supplierIds: [seller.id],
  };
  const made = order(book, delivery, {
    status: "INVOICED",
    age: delivered + 2 * DAY,
    touched: delivered - HOUR,
  });
  const paper = ticket(book, delivery, {
    status: "SIGNED",
    age: delivered,
    touched: delivered * 0.99,
    ticketNumber: number,
    orderId: made.id,
  });
  const carrier = companies.carrier.name;
  const place = { location: name, deliveryTicket: number, carrier };
  const lines = fuelLines(book, loads, place, delivered);
  if (flat !== null)
    lines.push(
      charge("Freight", flat),
      charge(`Fuel surcharge ${SURCHARGE}%`, halfEven(flat * SURCHARGE * 10, 1000)),
    );
  const billed = Math.max(delivered - DAY / 2, HOUR);
  const told = { status: "OUTSTANDING", age: billed, touched: billed };
  const { state } = terminal;
  const sale = invoice(
    book,
    { termsDays: 15, lines, state },
    { ...told, invoiceNumber: `MI-${at}`, payerCompanyId: company.id, orderId: made.id },
  );
  const bought = fuelLines(book, loads, { location: terminal.code, carrier }, delivered, "cost");
  const bill = invoice(
    new Book(seller.id, random, now),
    { termsDays: 10, lines: bought, state },
    { ...told, invoiceNumber: `MB-${at}`, payerCompanyId: companies.supplier.id },
  );
  return { ...facts, day, loads, order: made, ticket: paper, sale, bill };
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
    const cost = (): number => listPrice(terminal, product, day);
    return loadOf(random, product, { ordered, bol, coldest: 480, cost, margin: () => margin });
  });
}

/** Each plants itself in a trade; null: this trade does not allow it. `more`: papers that come with it. */
type Plant = (
  random: Random,
  trade: Trade,
) => { number: string; amount: number | null; more?: RawRecord[] } | null;

export const items = (paper: RawRecord): Item[] => paper["lineItems"] as Item[];
const taxes = (paper: RawRecord): Item[] => paper["taxLines"] as Item[];
const numberOf = (paper: RawRecord): string =>
  (paper["invoiceNumber"] ?? paper["ticketNumber"]) as string;
const cents = (amount: unknown): number => Math.round((amount as number) * 100);
const micros = (rate: unknown): number => Math.round((rate as number) * 1_000_000);

/** Sets a line's gallons and rate, and what follows from them: amounts, taxes of its product, sums. Returns the change in cents, taxes included. */
export function rewrite(paper: RawRecord, line: Item, change: Item): number {
  const before = cents(paper["total"]);
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
  return cents(paper["total"]) - before;
}

/** Cents. */
const totalOf = (list: readonly Item[]): number => sumOf(list.map(({ amount }) => cents(amount)));

function sumUp(paper: RawRecord): void {
  const [subtotal, tax] = [totalOf(items(paper)), totalOf(taxes(paper))];
  const total = dollars(subtotal + tax);
  Object.assign(paper, { subtotal: dollars(subtotal), tax: dollars(tax), total });
}

const fuelLine = (random: Random, paper: RawRecord): Item =>
  random.pick(items(paper).filter(({ product }) => product !== null && product !== undefined));
const isBeyond = (off: number, gallons: number): boolean =>
  Math.abs(off) > Math.max(gallons * 0.005, 25) * 1.5 + 2;
const isAlone = (line: Item, { loads }: Trade): boolean =>
  loads.filter(({ product }) => product.code === line["product"]).length === 1;

const papersOf = ({ sale, bill }: Trade): RawRecord[] => [sale, bill];

/** In a line of fuel, of the sale or the bill where none is named: what it says instead. */
const inLine =
  (
    changeOf: (line: Item, trade: Trade, random: Random) => Item | null,
    paperOf = (trade: Trade, random: Random) => random.pick(papersOf(trade)),
  ): Plant =>
  (random, trade) => {
    const paper = paperOf(trade, random);
    const line = fuelLine(random, paper);
    const change = changeOf(line, trade, random);
    return change && { number: numberOf(paper), amount: rewrite(paper, line, change) / 100 };
  };

/** In a tax of the sale or the bill. */
const inTax =
  (plant: (tax: Item, all: Item[], random: Random) => boolean): Plant =>
  (random, trade) => {
    const paper = random.pick(papersOf(trade));
    const before = cents(paper["tax"]);
    if (!plant(random.pick(taxes(paper)), taxes(paper), random)) return null;
    sumUp(paper);
    return { number: numberOf(paper), amount: (cents(paper["tax"]) - before) / 100 };
  };

/** In a line of the ticket. */
const onTicket =
  (plant: (line: Item, random: Random) => void): Plant =>
  (random, { ticket }) => {
    plant(random.pick(ticket["productLines"] as Item[]), random);
    return { number: numberOf(ticket), amount: null };
  };

const plants = {
  "transposed gallons": inLine((line, { loads }, random) => {
    const text = String(line["gallons"]);
    const at = random.int(0, text.length - 2);
    const turned = Number(`${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`);
    const total = loads
      .filter(({ product }) => product.code === line["product"])
      .reduce((sum, { net }) => sum + net, 0);
    if (turned < 100 || !isBeyond(turned - Number(text), total)) return null;
    return { gallons: turned, netGallons: turned };
  }),
  "gross for net": inLine((line, trade) => {
    const gallons = line["grossGallons"] as number;
    const off = gallons - (line["gallons"] as number);
    return isAlone(line, trade) && isBeyond(off, gallons) ? { gallons } : null;
  }),
  "yesterday's price": inLine(
    (line, trade) => {
      const load = trade.loads.find(({ product }) => product.code === line["product"]) as Load;
      const old = listPrice(trade.terminal, load.product, trade.day + 1);
      if (Math.abs(old - load.cost) < 200) return null;
      return { rackPrice: rateOf(old), rate: rateOf(micros(line["rate"]) + old - load.cost) };
    },
    ({ sale }) => sale,
  ),
  "missing freight": (_, { sale, flat }) => {
    if (flat === null) return null;
    const gone = items(sale).filter(({ description }) =>
      /Freight|surcharge/.test(String(description)),
    );
    sale["lineItems"] = items(sale).filter((line) => !gone.includes(line));
    sumUp(sale);
    return { number: numberOf(sale), amount: -totalOf(gone) / 100 };
  },
  "billed twice": (random, trade) => {
    const paper = random.pick(papersOf(trade));
    const again: RawRecord = { ...structuredClone(paper), id: random.uuid() };
    again["invoiceNumber"] = `${numberOf(paper)}-2`;
    const amount = totalOf([...items(paper), ...taxes(paper)]) / 100;
    return { number: numberOf(again), amount, more: [again] };
  },
  "wrong product": inLine((line, trade, random) => {
    const { code, name } = random.pick(FUELS);
    if (!isAlone(line, trade) || trade.loads.some(({ product }) => product.code === code))
      return null;
    const rate = rateOf(micros(line["rate"]) + 75_000);
    return { product: code, description: name, rate, rackPrice: null, margin: null };
  }),
  "tax twice": inTax((tax, all, random) => all.push({ ...tax, id: random.uuid() }) > 0),
  "short delivery": onTicket((line, random) => {
    const share = 1 - random.int(30, 80) / 1000;
    const gross = tenths((line["gross_gallons"] as number) * share);
    line["gross_gallons"] = gross;
    line["net_gallons"] = tenths(
      netOf(gross, line["temperature"] as number, line["api_gravity"] as number),
    );
  }),
  "wrong rate": inLine((line, _, random) => ({
    rate: rateOf(micros(line["rate"]) + random.int(4, 60) * 2500),
  })),
  "never billed": (_, { ticket, sale, delivered }) => {
    if (delivered < 8 * DAY) return null;
    sale["invoiceNumber"] = "";
    return { number: numberOf(ticket), amount: null };
  },
  "billed without delivery": (random, trade) => {
    const ghost = structuredClone(random.pick(papersOf(trade)));
    const invoiceNumber = `${numberOf(ghost)}-G`;
    Object.assign(ghost, { id: random.uuid(), invoiceNumber, orderId: null });
    const bolNumber = random.digits(7);
    for (const line of items(ghost))
      if (typeof line["bolNumber"] === "string")
        Object.assign(line, {
          bolNumber,
          deliveryTicket: line["deliveryTicket"] === null ? null : `MT-${random.digits(7)}`,
        });
    return { number: numberOf(ghost), amount: null, more: [ghost] };
  },
  "wrong tax rate": inTax((tax, _, random) => {
    if (tax["gallons"] === null) return false;
    const rate = micros(tax["rate"]) + random.int(4, 40) * 2500;
    tax["rate"] = rateOf(rate);
    tax["amount"] = dollars(centsFor(tax["gallons"] as number, rate));
    return true;
  }),
  "wrong net": onTicket((line, random) => {
    const [gross, net] = [line["gross_gallons"] as number, line["net_gallons"] as number];
    line["net_gallons"] = tenths(net - gross * 0.006 * random.pick([1, -1]));
  }),
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
    const plant: Plant = plants[kind];
    const done = plant(random, one);
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
