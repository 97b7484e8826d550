/** What changes seldom: connections, terminals, prices, locations, allocations, freight rates. */
import { type Book, DAY, type RawRecord } from "./book.ts";
import type { Product, Terminal } from "./catalog.ts";
import { type Company, slug } from "./companies.ts";
import { rackPrice, soldAt } from "./load.ts";
import { rateOf } from "./money.ts";

export interface ConnectionFacts {
  readonly status?: string;
  readonly message?: string | null;
  readonly erpId?: string | null;
  readonly paymentTerms?: string | null;
  readonly creditLimit?: number | null;
}

export function connection(book: Book, to: Company, facts: ConnectionFacts = {}) {
  return {
    id: book.random.uuid(),
    ownerCompanyId: book.owner,
    fromCompanyId: book.owner,
    toCompanyId: to.id,
    status: facts.status ?? "ACCEPTED",
    message: facts.message ?? null,
    erpId: facts.erpId ?? null,
    paymentTerms: facts.paymentTerms ?? null,
    creditLimit: facts.creditLimit ?? null,
    ...aged(book),
  } satisfies RawRecord;
}

export function supplierTerminal(book: Book, terminal: Terminal) {
  const { random } = book;
  return {
    id: random.uuid(),
    companyId: book.owner,
    terminalCode: terminal.code,
    name: terminal.name,
    city: terminal.city,
    state: terminal.state,
    zip: terminal.zip,
    country: "US",
    operatingHours: random.chance(0.6) ? "24/7" : random.pick(["Mon-Sat 04:00-22:00", null]),
    lat: terminal.lat,
    lng: terminal.lng,
    products: Object.fromEntries(soldAt(terminal).map(({ code, spec }) => [code, spec])),
    capacity: random.chance(0.8) ? random.int(40, 400) * 5000 : null,
    isActive: random.chance(0.95),
    ...aged(book),
  } satisfies RawRecord;
}

export function rackPriceOf(
  book: Book,
  terminal: Terminal,
  product: Product,
  unit: "gal" | "liter" | "bbl" | "mt" = "gal",
) {
  const { random } = book;
  const manual = random.chance(0.6);
  const touched = random.next() * 3 * DAY;
  return {
    id: random.uuid(),
    companyId: book.owner,
    terminalId: terminal.code,
    product: product.code,
    price: rateOf(Math.round(rackPrice(terminal, product) / UNITS[unit])),
    unit,
    spread: manual ? 0 : rateOf(random.int(-60, 180) * 125),
    indexSource: manual ? null : "rack average",
    effectiveAt: book.day(touched, 0, 0),
    expiresAt: random.chance(0.3) ? book.day(touched, 2, 0) : null,
    ...book.stamps(touched + random.next() * 26 * DAY, touched),
  } satisfies RawRecord;
}

/** A site of a customer, as the supplier keeps it. */
export function location(book: Book, customer: Company, near: Terminal, number: number) {
  const { random } = book;
  const id = random.uuid();
  const contacts = Array.from({ length: random.int(1, 2) }, (_, index) => ({
    name: random.pick(PEOPLE),
    title: random.pick(["Manager", "Accounts payable", "Yard foreman", null]),
    email: random.chance(0.8) ? `site${number}@${slug(customer.name)}.example` : null,
    phone: random.chance(0.9) ? `(${random.int(210, 989)}) 555-01${random.digits(2)}` : null,
    isPrimary: index === 0,
  }));
  return {
    id,
    companyId: book.owner,
    name: number === 1 ? customer.name : `${customer.name} #${number}`,
    locationType: random.pick(["RETAIL", "YARD", "BULK_PLANT", "JOBSITE", null]),
    street: `${random.int(100, 9900)} ${random.pick(["Farm Rd 149", "Loop 12", "Levee Rd", "Hwy 59 S\nRear gate"])}`,
    city: near.city,
    state: near.state,
    zip: near.zip,
    country: "US",
    gateCode: random.chance(0.3) ? random.digits(4) : null,
    lat: Math.round((near.lat + random.next() * 0.4 - 0.2) * 1e5) / 1e5,
    lng: Math.round((near.lng + random.next() * 0.4 - 0.2) * 1e5) / 1e5,
    isActive: random.chance(0.96),
    contacts,
    assets: Array.from({ length: random.int(1, 3) }, (_, index) => tank(book, id, near, index + 1)),
    schedules: DAYS.map((day, index) =>
      index < 6
        ? { day, isOpen: true, openTime: "06:00", closeTime: index < 5 ? "20:00" : "14:00" }
        : { day, isOpen: false, openTime: null, closeTime: null },
    ),
    compartments: [
      { id: random.uuid(), locationId: id, name: "Main", capacity: random.int(1, 4) * 2000 },
    ],
    ...aged(book),
  } satisfies RawRecord;
}

function tank(book: Book, locationId: string, near: Terminal, number: number) {
  const { random } = book;
  const capacity = random.int(2, 24) * 500;
  const kind =
    number < 3 ? "TANK" : random.pick(["TANK", "GENERATOR", "VEHICLE", "EQUIPMENT", "OTHER"]);
  return {
    id: random.uuid(),
    locationId,
    name: `${kind === "TANK" ? "Tank" : "Unit"} ${number}`,
    assetType: kind,
    product: random.chance(0.9) ? random.pick(soldAt(near)).code : null,
    capacity,
    currentLevel: random.int(0, Math.floor(capacity * 0.9)),
    unit: "gal",
    fillMethod: random.pick(["gravity", "pump", null]),
    maxFillPct: random.pick([90, 90, 95]),
    autoReorderPct: random.chance(0.5) ? random.pick([20, 25, 30]) : null,
  };
}

export interface AllocationFacts {
  readonly connectionId: string;
  readonly terminal: Terminal;
  readonly product: Product;
  /** Empty: unbranded. */
  readonly brand: string;
  /** Who grants it, when that is somebody else. */
  readonly supplierId: string | null;
}

export function allocation(book: Book, facts: AllocationFacts) {
  const { random } = book;
  const daily = random.int(2, 20) * 1000;
  const dailyUsed = random.int(0, daily);
  const weeklyUsed = dailyUsed + random.int(0, daily * 4);
  return {
    id: random.uuid(),
    companyId: book.owner,
    connectionId: facts.connectionId,
    terminalId: facts.terminal.code,
    product: facts.product.code,
    dailyAllocation: random.chance(0.9) ? daily : null,
    weeklyAllocation: random.chance(0.8) ? daily * 6 : null,
    monthlyAllocation: daily * 25,
    dailyUsed,
    weeklyUsed,
    monthlyUsed: weeklyUsed + random.int(0, daily * 12),
    period: "monthly",
    brand: facts.brand,
    supplierId: facts.supplierId,
    ...aged(book),
  } satisfies RawRecord;
}

/** A lane: by the mile, or a flat fee. `originTerminalId` is the record's id, not the control number. */
export function freightRate(
  book: Book,
  connectionId: string,
  origin: { id: string; city: string; state: string },
  to: Terminal,
) {
  const { random } = book;
  const byMile = random.chance(0.7);
  return {
    id: random.uuid(),
    ownerCompanyId: book.owner,
    connectionId,
    originTerminalId: origin.id,
    originCity: origin.city,
    originState: origin.state,
    destinationZipPrefix: to.zip.slice(0, 3),
    destinationZip: byMile ? null : to.zip,
    destinationCity: to.city,
    destinationState: to.state,
    product: null,
    notes: random.chance(0.3) ? "Two free hours at the rack." : null,
    ratePerMile: byMile ? random.int(280, 465) / 100 : null,
    flatFee: byMile ? null : random.int(180, 640),
    minCharge: random.chance(0.5) ? random.pick([225, 250, 287.5]) : null,
    fuelSurchargePercent: random.chance(0.8) ? random.pick([12, 14.5, 18.25]) : null,
    distanceUnit: "MILES",
    effectiveAt: book.day(40 * DAY),
    customFees: random.chance(0.6)
      ? [
          { id: `fee-${random.digits(6)}`, label: "Detention after 2 h", amount: 85, unit: "hour" },
          { id: `fee-${random.digits(6)}`, label: "Split drop", amount: null, unit: null },
        ]
      : null,
    ...aged(book),
  } satisfies RawRecord;
}

/** Created within the last year, changed within the last month. */
function aged(book: Book): { createdAt: string; updatedAt: string } {
  const touched = book.random.next() * 30 * DAY;
  return book.stamps(touched + book.random.next() * 330 * DAY, touched);
}

/** How many of a unit one US gallon is (a tonne: of propane, about). */
const UNITS = { gal: 1, liter: 3.785411784, bbl: 1 / 42, mt: 1 / 522 };
const DAYS = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
const PEOPLE = [
  "Gloria Reyes",
  "Hank Mabry",
  "Bettina O'Rourke",
  "Sam Cho",
  "Zoë Fontenot",
  "Marcus Bell, Jr.",
];
