/** The scenes `empty` and `conformance`: the companies that have a key, and a few records of every resource. */
import { Book, DAY, HOUR, loads, noRecords, type Records } from "./book.ts";
import {
  allocation,
  connection,
  customFees,
  type Delivery,
  freightRate,
  fuelLines,
  invoice,
  location,
  order,
  orderNote,
  payment,
  rackPriceOf,
  supplierTerminal,
  ticket,
} from "./builders.ts";
import { type Product, products, type Terminal, terminals } from "./catalog.ts";
import { companies, type Company } from "./companies.ts";
import { Random } from "./random.ts";

export interface Scene {
  readonly companies: readonly Company[];
  readonly records: Records;
}

/** The companies with a key, and the supplier's connections to his customer and his carrier. */
export function empty(now: Date): Scene {
  const book = new Book(companies.supplier.id, new Random(0xfb_00_00_02), now);
  const records = noRecords();
  records.connections.push(
    connection(book, companies.customer, {
      erpId: "A-1001",
      paymentTerms: "Net 15",
      creditLimit: 250000,
    }),
    connection(book, companies.carrier, { erpId: "V-2001", paymentTerms: "Net 30" }),
  );
  return { companies: Object.values(companies), records };
}

/** A handful of records of every resource, in every status that they can have. All of them are the supplier's. */
export function conformance(now: Date): Scene {
  const { companies, records } = empty(now);
  const book = new Book(supplier.id, new Random(0xfb_00_00_03), now);
  trades(book, records);
  bills(book, records);
  network(book, records);
  return { companies, records };
}

const { supplier, customer, carrier } = companies;
const [home, second, third, fourth] = terminals as [Terminal, Terminal, Terminal, Terminal];
const [diesel, dyed, regular] = products as [Product, Product, Product];

function trades(book: Book, records: Records): void {
  const site = location(book, customer, home, 1);
  const yard = { ...location(book, customer, second, 2), isActive: false };
  records.locations.push(site, yard, {
    ...location(book, customer, third, 3),
    contacts: [],
    assets: [],
  });
  const deliveryOf = (more: number, deliveredAge: number | null): Delivery => ({
    terminal: home,
    loads: loads(book.random, home, 1 + more),
    deliveredAge,
    receiverCompanyId: customer.id,
    site: { id: site.id, name: site["name"] as string },
    carrier,
  });
  for (const [index, status] of ORDER_STATUSES.entries()) {
    const age = (24 - index * 3) * DAY;
    records.orders.push(
      order(book, deliveryOf(index % 3, index < 2 ? age - DAY / 2 : null), {
        status,
        age,
        touched: age - DAY - index * HOUR,
        notes: index === 0 ? null : `Order ${index + 1} of the conformance scene.`,
      }),
    );
  }
  const orderId = records.orders[0]?.id ?? "";
  for (const [index, content] of ORDER_NOTES.entries())
    records["order-notes"].push(orderNote(book, orderId, (22 - index) * DAY, content));
  for (const [index, status] of ["SIGNED", "ISSUED", "DRAFT", "VOID"].entries()) {
    records["delivery-tickets"].push(
      ticket(book, deliveryOf(index % 2, (20 - index * 4) * DAY + HOUR), {
        status,
        age: (20 - index * 4) * DAY,
        touched: (19 - index * 4) * DAY,
        ticketNumber: `TK-${50_001 + index}`,
        orderId: index < 2 ? (records.orders[index]?.id ?? null) : null,
      }),
    );
  }
}

function bills(book: Book, records: Records): void {
  const orderId = records.orders[0]?.id ?? null;
  for (const [index, status] of INVOICE_STATUSES.entries()) {
    const age = (28 - index * 4) * DAY;
    const deliveryTicket = `TK-${50_001 + index}`;
    const at = { location: customer.name, deliveryTicket, carrier: carrier.name };
    const lines = fuelLines(book, loads(book.random, home, 1 + (index % 3)), at, age + HOUR);
    const owed = { termsDays: status === "OVERDUE" ? 10 : 30, lines, state: home.state };
    const bill = invoice(book, owed, {
      status,
      age,
      touched: age - 2 * DAY,
      invoiceNumber: `INV-${70_001 + index}`,
      payerCompanyId: customer.id,
      orderId: index === 0 ? orderId : null,
      notes: index % 2 === 0 ? null : "Thank you for your business.",
    });
    records.invoices.push(bill);
  }
  for (const [index, status] of PAYMENT_STATUSES.entries()) {
    const bill = records.invoices[index] as { id: string; total: number };
    const cents = Math.round(bill.total * 100);
    records.payments.push(payment(book, bill.id, { cents, status, age: (26 - index * 4) * DAY }));
  }
}

function network(book: Book, records: Records): void {
  const racks = [home, second, third, fourth].map((terminal) => supplierTerminal(book, terminal));
  records["supplier-terminals"].push(...racks);
  records["rack-prices"].push(
    rackPriceOf(book, home, diesel),
    rackPriceOf(book, home, regular),
    rackPriceOf(book, second, diesel),
    rackPriceOf(book, second, dyed, "liter"),
    rackPriceOf(book, third, dyed, "bbl"),
    rackPriceOf(book, third, regular, "mt"),
  );
  const [toCustomer, toCarrier] = records.connections.map(({ id }) => id) as [string, string];
  for (const [index, rack] of racks.slice(0, 3).entries()) {
    const rate = freightRate(book, toCarrier, rack, fourth);
    const fees = customFees((number) => `fee-${index + 1}-${number}`);
    records["freight-rates"].push(index === 0 ? { ...rate, customFees: fees } : rate);
  }
  const own = { connectionId: toCustomer, supplierId: null };
  records.allocations.push(
    allocation(book, home, diesel, { ...own, brand: "" }),
    allocation(book, home, diesel, { ...own, brand: "Bluebonnet" }),
    allocation(book, second, regular, { ...own, brand: "" }),
  );
}

/** The ones in the middle of an order's life are left to the demo. */
const ORDER_STATUSES = ["INVOICED", "DELIVERED", "IN_TRANSIT", "CONFIRMED", "POSTED", "DRAFT"];
const INVOICE_STATUSES = ["PAID", "OVERDUE", "DISPUTED", "OUTSTANDING", "VOID", "DRAFT"];
const PAYMENT_STATUSES = ["SUCCEEDED", "PROCESSING", "FAILED", "PENDING", "REFUNDED"];
const ORDER_NOTES = ["Loaded at rack 4.", "Arrived at the gate.", "Delivered, no spill."];
