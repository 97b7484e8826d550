/** Believable records of every resource. Fields that are left out have no value; the draws of chance keep their order. */
import {
  type Book,
  centsFor,
  DAY,
  dollars,
  halfEven,
  type Load,
  rackPrice,
  rateOf,
  soldAt,
} from "./book.ts";
import { sumOf } from "../../core/groups.ts";
import type { Fields, RawRecord } from "../kinds.ts";
import { type Product, taxesOn, type Terminal } from "./catalog.ts";
import { type Company, slug } from "./companies.ts";
import type { Random } from "./random.ts";

/** Of each paper. */
interface Told {
  readonly status: string;
  /** Milliseconds since it was created, and since it last changed. */
  readonly age: number;
  readonly touched: number;
}

/** What the order, the ticket and the invoices of one delivery tell of it. */
export interface Delivery {
  readonly terminal: Terminal;
  readonly loads: readonly Load[];
  /** Milliseconds since the truck arrived; null when it has not yet. */
  readonly deliveredAge: number | null;
  readonly receiverCompanyId: string;
  readonly site?: { readonly id: string; readonly name: string };
  readonly carrier?: Pick<Company, "id" | "name">;
  /** Who may have sold the fuel. */
  readonly supplierIds?: readonly string[];
}

export function order(
  book: Book,
  delivery: Delivery,
  { status, age, touched, notes }: Told & { readonly notes?: string | null },
): RawRecord {
  const { random } = book;
  const { terminal, loads, deliveredAge, site, carrier } = delivery;
  const id = random.uuid();
  const bid = status === "BIDDING" || random.chance(0.1);
  const loadingNumber = random.chance(0.8) ? random.digits(8) : null;
  return book.record("orders", age, touched, {
    id,
    locationId: site?.id ?? null,
    status,
    orderType: bid ? "bid" : "direct",
    pricingType: bid ? "bid" : "fixed",
    urgency: random.chance(0.85) ? "routine" : random.pick(["urgent", "emergency"]),
    notes: notes ?? (random.chance(0.3) ? random.pick(ORDER_NOTES) : null),
    requirements: random.chance(0.6)
      ? {
          truckType: random.pick(["transport", "bobtail", "tank wagon"]),
          hazmat: true,
          twic: terminal.state === "LA" || random.chance(0.2),
          tankerEndorsement: true,
          pumpOff: random.chance(0.3),
        }
      : null,
    requestedDate: book.day(age, 1, 6),
    deliveryDate: deliveredAge === null ? null : book.ago(deliveredAge),
    deliveryStart: random.chance(0.7) ? random.pick(["06:00", "08:00", "13:30"]) : null,
    deliveryEnd: random.chance(0.5) ? random.pick(["16:00", "18:30", "22:00"]) : null,
    carrierCompanyId: UNASSIGNED.has(status) ? null : (carrier?.id ?? null),
    maxRate: bid ? random.int(180, 420) : null,
    bidDeadline: bid ? book.day(age, 1, 17) : null,
    loadingNumber,
    lines: loads.map((load) => orderLine(random, delivery, load, loadingNumber)),
  });
}

function orderLine(
  random: Random,
  { terminal, supplierIds }: Delivery,
  load: Load,
  loadingNumber: string | null,
) {
  // Some people type the product instead of choosing it; the platform then knows no code for it.
  const typed = random.chance(0.03);
  const placed = random.chance(0.5);
  return {
    id: random.uuid(),
    product: typed ? load.product.name : load.product.code,
    terminal: `${terminal.name}, ${terminal.city}`,
    supplierId: supplierIds?.length ? random.pick(supplierIds) : null,
    gallons: load.ordered,
    rate: rateOf(load.price),
    buyPrice: random.chance(0.9) ? rateOf(load.cost) : null,
    sellPrice: rateOf(load.price),
    loadingNumber,
    lat: placed ? terminal.lat : null,
    lng: placed ? terminal.lng : null,
    productCode: typed ? null : load.product.master,
    terminalCode: terminal.code,
  };
}

export function orderNote(
  book: Book,
  orderId: string,
  age: number,
  content = book.random.pick(ORDER_NOTES),
): RawRecord {
  const { random } = book;
  const id = random.uuid();
  const authorName = random.chance(0.85) ? random.pick(AUTHORS) : null;
  return book.record("order-notes", age, age, { id, orderId, content, authorName });
}

export function ticket(
  book: Book,
  { terminal, loads, deliveredAge, receiverCompanyId, site, carrier }: Delivery,
  { age, touched, ...told }: Told & Record<"ticketNumber" | "orderId", string | null>,
): RawRecord {
  const { random } = book;
  // A driver starts a draft before the truck is loaded.
  const empty = told.status === "DRAFT" && random.chance(0.3);
  return book.record("delivery-tickets", age, touched, {
    ...told,
    id: random.uuid(),
    supplierCompanyId: book.owner,
    receiverCompanyId,
    bolNumber: loads[0]?.bol ?? null,
    driverName: random.chance(0.9) ? random.pick(DRIVERS) : null,
    carrierCompanyName: carrier?.name ?? null,
    loadingTerminalName: terminal.name,
    destinationName: site?.name ?? null,
    deliveryDate: empty || deliveredAge === null ? null : book.ago(deliveredAge),
    productLines: empty
      ? null
      : loads.map(({ product, gross, net, temperature, apiGravity }) => ({
          product_name: product.code,
          spec: product.spec,
          gross_gallons: gross,
          net_gallons: net,
          temperature,
          api_gravity: apiGravity,
        })),
  });
}

interface InvoiceFacts extends Told {
  readonly invoiceNumber: string;
  readonly payerCompanyId: string | null;
  readonly orderId?: string | null;
  readonly notes?: string | null;
}

/** What the amounts of an invoice follow from, and its due day. */
interface Owed {
  readonly termsDays: number;
  readonly lines: readonly Line[];
  /** Whose taxes are due. */
  readonly state: string;
}

/** A line before it has an invoice, and an id with it. */
export interface Line {
  readonly item: Fields;
  readonly cents: number;
  /** What is taxed; freight and fees have none. */
  readonly load?: Load;
}

/** So many gallons at a rate in micros. */
export function perGallon(description: string, gallons: number, rate: number): Line {
  const cents = centsFor(gallons, rate);
  return { item: { description, gallons, rate: rateOf(rate), amount: dollars(cents) }, cents };
}

export const charge = (description: string, cents: number): Line => ({
  item: { description, amount: dollars(cents) },
  cents,
});

/** A line for each load, at what it is sold for or was bought for. `at`: location, ticket and carrier, as lines name them. */
export const fuelLines = (
  book: Book,
  loads: readonly Load[],
  at: Fields,
  deliveredAge: number,
  rate: "price" | "cost" = "price",
): Line[] =>
  loads.map((load) => {
    const { product, bol, cost, gross } = load;
    const net = Math.round(load.net);
    const { item, cents } = perGallon(product.name, net, load[rate]);
    const fuel = {
      ...item,
      ...at,
      product: product.code,
      spec: product.spec,
      bolNumber: bol,
      grossGallons: Math.round(gross),
      netGallons: net,
      rackPrice: rateOf(cost),
      margin: rateOf(load[rate] - cost),
      deliveredDate: book.ago(deliveredAge),
    };
    return { item: fuel, cents, load };
  });

/** Lines are rounded to the cent one by one; subtotal, tax and total are sums of what stands on the lines. */
export function invoice(
  book: Book,
  { termsDays, lines, state }: Owed,
  { age, touched, ...told }: InvoiceFacts,
): RawRecord {
  const { random } = book;
  const id = random.uuid();
  const lineItems = lines.map(({ item }) => ({ id: random.uuid(), ...item }));
  const taxes = taxLines(book, state, lines);
  const [subtotal, tax] = [sum(lines), sum(taxes)];
  return book.record("invoices", age, touched, {
    ...told,
    id,
    subtotal: dollars(subtotal),
    tax: dollars(tax),
    total: dollars(subtotal + tax),
    dueDate: told.status === "DRAFT" ? null : book.day(age, termsDays),
    paidAt: told.status === "PAID" ? book.ago(Math.min(touched, age)) : null,
    contractNumber: random.chance(0.25) ? `K-${random.digits(5)}` : null,
    poNumber: random.chance(0.5) ? `PO-${random.digits(5)}` : null,
    lineItems,
    taxLines: taxes.map(({ item }) => item),
  });
}

/** One line for each product and tax, as a distributor prints them. */
function taxLines({ random }: Book, state: string, lines: readonly Line[]) {
  const products = new Set(lines.flatMap(({ load }) => load?.product ?? []));
  return [...products].flatMap((product) => {
    const same = lines.filter(({ load }) => load?.product === product);
    const gallons = sumOf(same.map(({ load }) => Math.round(load?.net ?? 0)));
    const base = sum(same);
    return taxesOn(product, state).map((tax) => {
      const perGallon = tax.per === "gallon";
      const cents = perGallon ? centsFor(gallons, tax.rate) : halfEven(base * tax.rate, 1_000_000);
      const item = {
        id: random.uuid(),
        taxType: tax.type,
        authority: tax.authority,
        productRef: product.code,
        rateDisplay: perGallon ? `$${rateOf(tax.rate)}/gal` : `${tax.rate / 10_000}%`,
        rate: rateOf(tax.rate),
        gallons: perGallon ? gallons : null,
        amount: dollars(cents),
      };
      return { item, cents };
    });
  });
}

const sum = (lines: readonly { cents: number }[]): number => sumOf(lines.map(({ cents }) => cents));

/** What became of an invoice of that age: nothing is overdue before its day, nor outstanding after it. */
export function settled(
  random: Random,
  age: number,
  termsDays: number,
): "PAID" | "OVERDUE" | "OUTSTANDING" {
  const days = age / DAY;
  if (days > termsDays + 1) return random.chance(0.75) ? "PAID" : "OVERDUE";
  return days < termsDays - 1 && random.chance(0.8) ? "OUTSTANDING" : "PAID";
}

export function payment(
  book: Book,
  invoiceId: string,
  { cents, status, age }: { cents: number; status: string; age: number },
): RawRecord {
  const { random } = book;
  const method = random.pick(["ACH", "ACH", "WIRE", "CHECK", "CARD"]);
  return book.record("payments", age, age, {
    id: random.uuid(),
    invoiceId,
    amount: dollars(cents),
    method,
    reference: random.chance(0.8) ? `${method}-${random.digits(6)}` : null,
    processorChargeId: method === "CARD" ? `ch_${random.digits(16)}` : null,
    status,
    failureReason: status === "FAILED" ? "Insufficient funds" : null,
    surchargeAmount: method === "CARD" ? dollars(halfEven(cents * 25, 1000)) : null,
    paidAt: book.ago(age),
  });
}

export const connection = (book: Book, to: Company, facts: Fields = {}): RawRecord =>
  book.seldom("connections", { id: book.random.uuid(), toCompanyId: to.id, ...facts });

export function supplierTerminal(book: Book, terminal: Terminal): RawRecord {
  const { random } = book;
  const { code, ...address } = terminal;
  return book.seldom("supplier-terminals", {
    id: random.uuid(),
    terminalCode: code,
    ...address,
    country: "US",
    operatingHours: random.chance(0.6) ? "24/7" : random.pick(["Mon-Sat 04:00-22:00", null]),
    products: Object.fromEntries(soldAt(terminal).map(({ code, spec }) => [code, spec])),
    capacity: random.chance(0.8) ? random.int(40, 400) * 5000 : null,
    isActive: random.chance(0.95),
  });
}

export function rackPriceOf(
  book: Book,
  terminal: Terminal,
  product: Product,
  unit: "gal" | "liter" | "bbl" | "mt" = "gal",
): RawRecord {
  const { random } = book;
  const manual = random.chance(0.6);
  const touched = random.next() * 3 * DAY;
  const fields = {
    id: random.uuid(),
    terminalId: terminal.code,
    product: product.code,
    price: rateOf(Math.round(rackPrice(terminal, product) / UNITS[unit])),
    unit,
    spread: manual ? 0 : rateOf(random.int(-60, 180) * 125),
    indexSource: manual ? null : "rack average",
    effectiveAt: book.day(touched, 0, 0),
    expiresAt: random.chance(0.3) ? book.day(touched, 2, 0) : null,
  };
  return book.record("rack-prices", touched + random.next() * 26 * DAY, touched, fields);
}

/** A site of a customer, as the supplier keeps it. */
export function location(book: Book, customer: Company, near: Terminal, number: number): RawRecord {
  const { random } = book;
  const id = random.uuid();
  const contacts = Array.from({ length: random.int(1, 2) }, (_, index) => ({
    name: random.pick(PEOPLE),
    title: random.pick(["Manager", "Accounts payable", "Yard foreman", null]),
    email: random.chance(0.8) ? `site${number}@${slug(customer.name)}.example` : null,
    phone: random.chance(0.9) ? `(${random.int(210, 989)}) 555-01${random.digits(2)}` : null,
    isPrimary: index === 0,
  }));
  return book.seldom("locations", {
    id,
    name: number === 1 ? customer.name : `${customer.name} #${number}`,
    locationType: random.pick(["RETAIL", "YARD", "BULK_PLANT", "JOBSITE", null]),
    street: `${random.int(100, 9900)} ${random.pick(STREETS)}`,
    city: near.city,
    state: near.state,
    zip: near.zip,
    gateCode: random.chance(0.3) ? random.digits(4) : null,
    lat: Math.round((near.lat + random.next() * 0.4 - 0.2) * 1e5) / 1e5,
    lng: Math.round((near.lng + random.next() * 0.4 - 0.2) * 1e5) / 1e5,
    isActive: random.chance(0.96),
    contacts,
    assets: Array.from({ length: random.int(1, 3) }, (_, index) => tank(random, near, index + 1)),
    schedules: DAYS.map((day, index) =>
      index < 6
        ? { day, isOpen: true, openTime: "06:00", closeTime: index < 5 ? "20:00" : "14:00" }
        : { day, isOpen: false, openTime: null, closeTime: null },
    ),
    compartments: [
      { id: random.uuid(), locationId: id, name: "Main", capacity: random.int(1, 4) * 2000 },
    ],
  });
}

function tank(random: Random, near: Terminal, number: number) {
  const capacity = random.int(2, 24) * 500;
  const assetType =
    number < 3 ? "TANK" : random.pick(["TANK", "GENERATOR", "VEHICLE", "EQUIPMENT", "OTHER"]);
  return {
    id: random.uuid(),
    name: `${assetType === "TANK" ? "Tank" : "Unit"} ${number}`,
    assetType,
    product: random.chance(0.9) ? random.pick(soldAt(near)).code : null,
    capacity,
    currentLevel: random.int(0, Math.floor(capacity * 0.9)),
    fillMethod: random.pick(["gravity", "pump", null]),
    maxFillPct: random.pick([90, 90, 95]),
    autoReorderPct: random.chance(0.5) ? random.pick([20, 25, 30]) : null,
  };
}

/** `facts`: its connection, its brand (empty: unbranded), and who grants it where that is somebody else. */
export function allocation(
  book: Book,
  terminal: Terminal,
  product: Product,
  facts: Fields,
): RawRecord {
  const { random } = book;
  const daily = random.int(2, 20) * 1000;
  const dailyUsed = random.int(0, daily);
  const weeklyUsed = dailyUsed + random.int(0, daily * 4);
  return book.seldom("allocations", {
    ...facts,
    id: random.uuid(),
    terminalId: terminal.code,
    product: product.code,
    dailyAllocation: random.chance(0.9) ? daily : null,
    weeklyAllocation: random.chance(0.8) ? daily * 6 : null,
    monthlyAllocation: daily * 25,
    dailyUsed,
    weeklyUsed,
    monthlyUsed: weeklyUsed + random.int(0, daily * 12),
    period: "monthly",
  });
}

/** A lane: by the mile, or a flat fee. `originTerminalId` is the record's id, not the control number. */
export function freightRate(
  book: Book,
  connectionId: string,
  origin: RawRecord,
  to: Terminal,
): RawRecord {
  const { random } = book;
  const byMile = random.chance(0.7);
  return book.seldom("freight-rates", {
    id: random.uuid(),
    connectionId,
    originTerminalId: origin.id,
    originCity: origin["city"] ?? null,
    originState: origin["state"] ?? null,
    destinationZipPrefix: to.zip.slice(0, 3),
    destinationZip: byMile ? null : to.zip,
    destinationCity: to.city,
    destinationState: to.state,
    notes: random.chance(0.3) ? "Two free hours at the rack." : null,
    ratePerMile: byMile ? random.int(280, 465) / 100 : null,
    flatFee: byMile ? null : random.int(180, 640),
    minCharge: random.chance(0.5) ? random.pick([225, 250, 287.5]) : null,
    fuelSurchargePercent: random.chance(0.8) ? random.pick([12, 14.5, 18.25]) : null,
    effectiveAt: book.day(40 * DAY),
    customFees: random.chance(0.6) ? customFees(() => `fee-${random.digits(6)}`) : null,
  });
}

export const customFees = (id: (number: number) => string) => [
  { id: id(1), label: "Detention after 2 h", amount: 85, unit: "hour" },
  { id: id(2), label: "Split drop", amount: null, unit: null },
];

/** How many of a unit one US gallon is (a tonne: of propane, about). */
const UNITS = { gal: 1, liter: 3.785411784, bbl: 1 / 42, mt: 1 / 522 };
const UNASSIGNED = new Set(["DRAFT", "POSTED", "BIDDING", "CANCELLED"]);
const DAYS = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
const STREETS = ["Farm Rd 149", "Loop 12", "Levee Rd", "Hwy 59 S\nRear gate"];

const listed = (text: string): string[] => text.split(" | ");
const PEOPLE = listed(
  "Gloria Reyes | Hank Mabry | Bettina O'Rourke | Sam Cho | Zoë Fontenot | Marcus Bell, Jr.",
);
const AUTHORS = listed(
  "Dana Whitfield | Luis Ortega | Priya Raman | Night dispatch | José Luis Peña",
);
const DRIVERS = listed(
  "R. Castillo | Tom Beckett | Wanda O'Dell | K. Nguyễn | Earl Simmons Jr. | Ana María Cruz",
);
const ORDER_NOTES = [
  "Call the yard 30 minutes out.",
  "Tank 2 first, then top off tank 1.",
  "Gate stays open until 18:00.",
  "No backing on the highway side.\nUse the alley.",
  "Customer wants a printed BOL, two copies.",
  'Ask for "Shorty" at the scale house.',
  "Split load: dyed in the rear compartment.",
];
