import type { Book, RawRecord } from "./book.ts";
import type { Terminal } from "./catalog.ts";
import type { Load } from "./load.ts";
import { rateOf } from "./money.ts";

export interface OrderFacts {
  readonly status: string;
  /** Milliseconds since it was created, and since it last changed. */
  readonly age: number;
  readonly touched: number;
  readonly terminal: Terminal;
  readonly loads: readonly Load[];
  /** When it was delivered; null when it was not yet. */
  readonly deliveredAge?: number | null;
  readonly locationId?: string | null;
  readonly carrierCompanyId?: string | null;
  /** Who may have sold the fuel. */
  readonly supplierIds?: readonly string[];
  readonly notes?: string | null;
}

export function order(book: Book, facts: OrderFacts) {
  const { random } = book;
  const id = random.uuid();
  const bid = facts.status === "BIDDING" || random.chance(0.1);
  const loadingNumber = random.chance(0.8) ? random.digits(8) : null;
  return {
    id,
    companyId: book.owner,
    locationId: facts.locationId ?? null,
    status: facts.status,
    orderType: bid ? "bid" : "direct",
    pricingType: bid ? "bid" : "fixed",
    urgency: random.chance(0.85) ? "routine" : random.pick(["urgent", "emergency"]),
    notes: facts.notes ?? (random.chance(0.3) ? random.pick(ORDER_NOTES) : null),
    requirements: random.chance(0.6)
      ? {
          truckType: random.pick(["transport", "bobtail", "tank wagon"]),
          hazmat: true,
          twic: facts.terminal.state === "LA" || random.chance(0.2),
          tankerEndorsement: true,
          pumpOff: random.chance(0.3),
        }
      : null,
    requestedDate: book.day(facts.age, 1, 6),
    deliveryDate: typeof facts.deliveredAge === "number" ? book.ago(facts.deliveredAge) : null,
    deliveryStart: random.chance(0.7) ? random.pick(["06:00", "08:00", "13:30"]) : null,
    deliveryEnd: random.chance(0.5) ? random.pick(["16:00", "18:30", "22:00"]) : null,
    carrierCompanyId: UNASSIGNED.has(facts.status) ? null : (facts.carrierCompanyId ?? null),
    maxRate: bid ? random.int(180, 420) : null,
    bidDeadline: bid ? book.day(facts.age, 1, 17) : null,
    loadingNumber,
    lines: facts.loads.map((load) => orderLine(book, id, facts, load, loadingNumber)),
    ...book.stamps(facts.age, facts.touched),
  } satisfies RawRecord;
}

function orderLine(
  book: Book,
  orderId: string,
  facts: OrderFacts,
  load: Load,
  loadingNumber: string | null,
) {
  const { random } = book;
  // Some people type the product instead of choosing it; the platform then knows no code for it.
  const typed = random.chance(0.03);
  const placed = random.chance(0.5);
  return {
    id: random.uuid(),
    orderId,
    product: typed ? load.product.name : load.product.code,
    terminal: `${facts.terminal.name}, ${facts.terminal.city}`,
    supplierId: facts.supplierIds?.length ? random.pick(facts.supplierIds) : null,
    gallons: load.ordered,
    unit: "gal",
    quantity: load.ordered,
    unitCode: "gal",
    rate: rateOf(load.price),
    buyPrice: random.chance(0.9) ? rateOf(load.cost) : null,
    sellPrice: rateOf(load.price),
    loadingNumber,
    lat: placed ? facts.terminal.lat : null,
    lng: placed ? facts.terminal.lng : null,
    productCode: typed ? null : load.product.master,
    terminalCode: facts.terminal.code,
  };
}

export function orderNote(
  book: Book,
  orderId: string,
  age: number,
  content = book.random.pick(ORDER_NOTES),
) {
  return {
    id: book.random.uuid(),
    ownerCompanyId: book.owner,
    orderId,
    content,
    authorName: book.random.chance(0.85) ? book.random.pick(AUTHORS) : null,
    createdAt: book.ago(age),
  } satisfies RawRecord;
}

const UNASSIGNED = new Set(["DRAFT", "POSTED", "BIDDING", "CANCELLED"]);
const AUTHORS = [
  "Dana Whitfield",
  "Luis Ortega",
  "Priya Raman",
  "Night dispatch",
  "José Luis Peña",
];
const ORDER_NOTES = [
  "Call the yard 30 minutes out.",
  "Tank 2 first, then top off tank 1.",
  "Gate stays open until 18:00.",
  "No backing on the highway side.\nUse the alley.",
  "Customer wants a printed BOL, two copies.",
  'Ask for "Shorty" at the scale house.',
  "Split load: dyed in the rear compartment.",
];
