import type { Book, RawRecord } from "./book.ts";
import type { Terminal } from "./catalog.ts";
import type { Load } from "./load.ts";

export interface TicketFacts {
  readonly status: string;
  readonly age: number;
  readonly touched: number;
  /** When the truck arrived. */
  readonly deliveredAge: number;
  readonly number: string;
  readonly orderId: string | null;
  readonly receiverCompanyId: string | null;
  readonly terminal: Terminal;
  readonly loads: readonly Load[];
  readonly carrierName?: string | null;
  readonly destination?: string | null;
}

export function ticket(book: Book, facts: TicketFacts) {
  const { random } = book;
  const empty = facts.status === "DRAFT" && random.chance(0.3);
  return {
    id: random.uuid(),
    ownerCompanyId: book.owner,
    ticketNumber: facts.number,
    orderId: facts.orderId,
    supplierCompanyId: book.owner,
    receiverCompanyId: facts.receiverCompanyId,
    status: facts.status,
    bolNumber: facts.loads[0]?.bol ?? null,
    driverName: random.chance(0.9) ? random.pick(DRIVERS) : null,
    carrierCompanyName: facts.carrierName ?? null,
    loadingTerminalName: facts.terminal.name,
    destinationName: facts.destination ?? null,
    deliveryDate: empty ? null : book.ago(facts.deliveredAge),
    // A driver starts a draft before the truck is loaded.
    productLines: empty
      ? null
      : facts.loads.map((load) => ({
          product_name: load.product.code,
          spec: load.product.spec,
          gross_gallons: load.gross,
          net_gallons: load.net,
          temperature: load.temperature,
          api_gravity: load.apiGravity,
        })),
    ...book.stamps(facts.age, facts.touched),
  } satisfies RawRecord;
}

const DRIVERS = [
  "R. Castillo",
  "Tom Beckett",
  "Wanda O'Dell",
  "K. Nguyễn",
  "Earl Simmons Jr.",
  "Ana María Cruz",
];
