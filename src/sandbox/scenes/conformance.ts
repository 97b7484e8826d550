import { Book, DAY, HOUR, type Records } from "./book.ts";
import { type Product, products, type Terminal, terminals } from "./catalog.ts";
import { companies } from "./companies.ts";
import { empty, type Scene } from "./empty.ts";
import { invoice, payment } from "./invoices.ts";
import { loads } from "./load.ts";
import { allocation, freightRate, location, rackPriceOf, supplierTerminal } from "./network.ts";
import { order, orderNote } from "./orders.ts";
import { Random } from "./random.ts";
import { ticket } from "./tickets.ts";

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
  for (const [index, status] of ORDER_STATUSES.entries()) {
    const age = (24 - index * 3) * DAY;
    records.orders.push(
      order(book, {
        status,
        age,
        touched: age - DAY - index * HOUR,
        deliveredAge: index < 2 ? age - DAY / 2 : null,
        terminal: home,
        loads: loads(book.random, home, 1 + (index % 3)),
        locationId: site.id,
        carrierCompanyId: carrier.id,
        notes: index === 0 ? null : `Order ${index + 1} of the conformance scene.`,
      }),
    );
  }
  const orderId = records.orders[0]?.id ?? "";
  for (const [index, content] of [
    "Loaded at rack 4.",
    "Arrived at the gate.",
    "Delivered, no spill.",
  ].entries())
    records["order-notes"].push(orderNote(book, orderId, (22 - index) * DAY, content));
  for (const [index, status] of ["SIGNED", "ISSUED", "DRAFT", "VOID"].entries()) {
    records["delivery-tickets"].push(
      ticket(book, {
        status,
        age: (20 - index * 4) * DAY,
        touched: (19 - index * 4) * DAY,
        deliveredAge: (20 - index * 4) * DAY + HOUR,
        number: `TK-${50_001 + index}`,
        orderId: index < 2 ? (records.orders[index]?.id ?? null) : null,
        receiverCompanyId: customer.id,
        terminal: home,
        loads: loads(book.random, home, 1 + (index % 2)),
        carrierName: carrier.name,
        destination: site.name,
      }),
    );
  }
}

function bills(book: Book, records: Records): void {
  const orderId = records.orders[0]?.id ?? null;
  for (const [index, status] of INVOICE_STATUSES.entries()) {
    const age = (28 - index * 4) * DAY;
    const at = { location: customer.name, ticket: `TK-${50_001 + index}`, carrier: carrier.name };
    const lines = loads(book.random, home, 1 + (index % 3));
    records.invoices.push(
      invoice(book, {
        status,
        age,
        touched: age - 2 * DAY,
        number: `INV-${70_001 + index}`,
        payerCompanyId: customer.id,
        termsDays: status === "OVERDUE" ? 10 : 30,
        lines: lines.map((load) => ({ load, rate: load.price, deliveredAge: age + HOUR, at })),
        state: home.state,
        orderId: index === 0 ? orderId : null,
        notes: index % 2 === 0 ? null : "Thank you for your business.",
      }),
    );
  }
  for (const [index, status] of [
    "SUCCEEDED",
    "PROCESSING",
    "FAILED",
    "PENDING",
    "REFUNDED",
  ].entries()) {
    const bill = records.invoices[index] as { id: string; total: number };
    const cents = Math.round(bill.total * 100);
    records.payments.push(
      payment(book, { invoiceId: bill.id, cents, status, age: (26 - index * 4) * DAY }),
    );
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
    const customFees = [
      { id: `fee-${index + 1}-1`, label: "Detention after 2 h", amount: 85, unit: "hour" },
      { id: `fee-${index + 1}-2`, label: "Split drop", amount: null, unit: null },
    ];
    const rate = freightRate(book, toCarrier, rack, fourth);
    records["freight-rates"].push({
      ...rate,
      customFees: index === 0 ? customFees : rate.customFees,
    });
  }
  const own = { connectionId: toCustomer, supplierId: null };
  records.allocations.push(
    allocation(book, { ...own, terminal: home, product: diesel, brand: "" }),
    allocation(book, { ...own, terminal: home, product: diesel, brand: "Bluebonnet" }),
    allocation(book, { ...own, terminal: second, product: regular, brand: "" }),
  );
}

/** The ones in the middle of an order's life are left to the demo. */
const ORDER_STATUSES = ["INVOICED", "DELIVERED", "IN_TRANSIT", "CONFIRMED", "POSTED", "DRAFT"];
const INVOICE_STATUSES = ["PAID", "OVERDUE", "DISPUTED", "OUTSTANDING", "VOID", "DRAFT"];
