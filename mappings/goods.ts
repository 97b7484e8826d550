/** Orders and delivery tickets of the platform: as they stand there for files, and as what a ledger books for ledgers. */
import type { FaultCode } from "../src/core/faults.ts";
import {
  alike,
  cellOf,
  cellOrNone,
  codeOf,
  COLUMNS,
  dayOrNone,
  digitsOf,
  gallonsOf,
  goodsTables,
  joined,
  labelled,
  otherSide,
  ourCompany,
  partyOf,
  paths,
  pick,
  SidedOptions,
  statusOf,
  symbolOf,
  TABLES,
  TAKEN_BACK_ONLY,
  unfinished,
  toFiles,
} from "./values.ts";
import { defineMapping, type Likeness, type References } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import { Refused } from "../src/core/errors.ts";
import { namedDay } from "../src/core/time.ts";
import {
  OrderDocument as BookedOrder,
  type Party,
  ShipmentDocument,
} from "../src/ledger/documents.ts";
import { DeliveryTicket, ticketStatuses } from "../src/platform/contract/delivery-ticket.ts";
import { Order, type OrderLine, orderStatuses } from "../src/platform/contract/order.ts";

/* Orders. */

const numberOf = ({ loadingNumber, id }: Order): string => loadingNumber || id;

/** `quantity` and `unitCode` are the current names; the aliases stand in where they are missing (part 9, rule 2). */
const quantityOf = ({ quantity, gallons }: OrderLine): Decimal => quantity ?? gallons;
const unitOf = ({ unitCode, unit }: OrderLine): string => unitCode ?? unit;

const order = {
  kind: "order",
  reads: "platform.orders",
  input: Order,
  number: numberOf,
  /**
   * Whoever copies an order keeps its site, its day, its gallons and its loading number. Several trucks of one day are
   * common: an order without a loading number is like one that asks for the same lines at the same times.
   */
  likeness(record: Order, { dayOf }: Pick<References, "dayOf">): Likeness | null {
    const { status, companyId, locationId, loadingNumber, lines } = record;
    if (status === "DRAFT" || status === "CANCELLED") return null;
    const told = [
      record.requestedDate,
      record.deliveryDate,
      record.deliveryStart,
      record.deliveryEnd,
      ...lines.flatMap((line) => [
        line.product,
        line.terminal,
        line.supplierId,
        quantityOf(line).plain(),
        unitOf(line),
        line.loadingNumber,
      ]),
    ];
    return alike({
      party: `${companyId} ${locationId ?? ""}`,
      company: null,
      amount: Decimal.sum(lines.map(quantityOf)),
      day: dayOf(record.createdAt),
      names: loadingNumber?.trim() ? [loadingNumber] : told.map((word) => word ?? ""),
    });
  },
  about: ({ companyId: party, locationId: location, createdAt: day }: Order) => ({
    party,
    location,
    day,
  }),
} as const;

/** How an order is put out to bid and hauled stays on the platform; `lines.gallons` and `lines.unit` are older names. */
const HAUL = paths(`
  bidDeadline lines.gallons lines.id lines.lat lines.lng lines.orderId lines.unit maxRate
  pricingType requirements
`);

/** Orders, for planning and dispatch in an ERP. A status that is new to us is delivered as it is written. */
export const orders = defineMapping({
  ...order,
  ...toFiles("orders"),
  tables: { items: COLUMNS.items },
  // The version is the last change.
  leaves: { record: ["createdAt", ...HAUL] },
  map: (record, references) =>
    unfinished(references, "order", record) ?? {
      ...pick(record, "id", "status", "orderType", "urgency", "companyId", "locationId"),
      ...pick(record, "loadingNumber", "requestedDate", "deliveryDate"),
      ...pick(record, "deliveryStart", "deliveryEnd", "notes"),
      number: numberOf(record),
      version: record.updatedAt,
      carrierId: record.carrierCompanyId,
      lines: record.lines.map((line) => ({
        item: codeOf(references, "items", line.product),
        ...pick(line, "product", "productCode", "terminal", "terminalCode", "supplierId"),
        ...pick(line, "rate", "buyPrice", "sellPrice"),
        quantity: quantityOf(line),
        unit: unitOf(line),
        gallons: unitOf(line) === "gal" ? quantityOf(line) : null,
        lineLoadingNumber: line.loadingNumber,
      })),
    },
  // An order is a plan: its prices are not amounts yet.
  figures: ({ lines }) => gallonsOf(lines, ({ gallons }) => gallons),
});

type Trade = BookedOrder["type"];

const ORDER_STATUSES = {
  kind: "order",
  what: "order",
  known: orderStatuses,
  booked: {
    CONFIRMED: "confirmed",
    IN_TRANSIT: "confirmed",
    DELIVERED: "confirmed",
    PENDING_VERIFICATION: "confirmed",
    INVOICED: "confirmed",
  },
  ended: { CANCELLED: "cancelled" },
  uncounted: "taken-back",
} as const;

/** Orders as sales or purchases of the books, once they are confirmed. */
export const bookedOrders = defineMapping({
  ...order,
  name: "books/orders",
  writes: "books.orders",
  options: SidedOptions,
  tables: (options) => ({
    ...goodsTables(options),
    [TABLES.sites]: ["location", "company"],
  }),
  // Nothing of the haul. What the other side of the trade reads is left out of a sale (`lines.buyPrice`,
  // `lines.supplierId`) and of a purchase (`locationId`).
  leaves: {
    record: [
      ...HAUL,
      ...paths(`
      carrierCompanyId orderType urgency updatedAt locationId lines.buyPrice lines.rate
      lines.productCode lines.supplierId
    `),
    ],
    document: TAKEN_BACK_ONLY,
  },
  output: BookedOrder,
  map(record, references, options) {
    const status = statusOf(references, ORDER_STATUSES, record);
    if (typeof status !== "string") return status;
    const us = ourCompany(references, options);
    const type = tradeOf(record, us);
    const skipped = otherSide(options, type);
    if (skipped !== null) return skipped;
    const isTakenBack = status === "taken-back";
    return {
      id: record.id,
      number: numberOf(record),
      party:
        type === "sale"
          ? buyerOf(record, references, us)
          : partyOf(references, "supplier", sellerOf(record)),
      type,
      status,
      ...(isTakenBack ? { platformStatus: record.status } : {}),
      date: references.dayOf(record.createdAt),
      description: record.notes?.trim() || null,
      shipTo: type === "sale" ? shipToOf(record, references) : null,
      requestedDate: dayOrNone(references, record.requestedDate),
      deliveryDate: dayOrNone(references, record.deliveryDate),
      deliveryStart: record.deliveryStart?.trim() || null,
      deliveryEnd: record.deliveryEnd?.trim() || null,
      lines: isTakenBack
        ? []
        : record.lines.map((line) => ({
            product: codeOf(references, "items", line.product),
            quantity: quantityOf(line),
            unit: symbolOf(references, unitOf(line)),
            unitPrice: priceOf(line, type),
            terminal: (line.terminalCode ?? line.terminal)?.trim() || null,
            loadingNumber: line.loadingNumber?.trim() || null,
            description: joined(
              line.product,
              line.terminal,
              line.terminalCode,
              labelled("loading number", line.loadingNumber),
            ),
          })),
    };
  },
  // An order is a plan: its prices are not amounts yet.
  figures: ({ lines }) =>
    gallonsOf(lines, ({ unit, quantity }) => (unit === "gal" ? quantity : null)),
});

/**
 * What others ordered from us we sell; and so we do with what we ordered for a site at a selling price, whoever we
 * take it from. What has no selling price is for ourselves.
 */
function tradeOf({ companyId, lines }: Order, us: string): Trade {
  if (companyId !== us) return "sale";
  return lines.some(({ sellPrice }) => sellPrice !== null) ? "sale" : "purchase";
}

/** Who ordered it, or whose site it is for: the platform's order names no customer, so the table of sites does. */
function buyerOf({ companyId, locationId }: Order, references: References, us: string): Party {
  if (companyId !== us) return partyOf(references, "customer", companyId);
  if (locationId === null)
    throw new Refused({
      code: "no-customer",
      message: "the order names no location, so it is not known who buys it",
      next: "Give the order its location on the platform; the corrected version is delivered by itself.",
      field: "locationId",
    });
  const site = cellOf(references, TABLES.sites, locationId, "company");
  return partyOf(references, "customer", site);
}

/** The site's own code, where the table of sites has one: in its column `ship_to`, which it need not have. */
const shipToOf = ({ locationId }: Order, references: References): string | null =>
  locationId === null ? null : cellOrNone(references, TABLES.sites, locationId, "ship_to");

function sellerOf({ lines }: Order): string {
  const [seller, ...others] = new Set(lines.map(({ supplierId }) => supplierId));
  if (typeof seller === "string" && others.length === 0) return seller;
  throw new Refused({
    code: "no-supplier",
    message:
      others.length === 0
        ? "the order names no supplier"
        : "the order's lines do not all name the same supplier",
    next: "Name one supplier on all lines on the platform, or enter the purchases by hand and close it here.",
    field: "lines",
  });
}

/** A rate of 0 is the platform's way to say none (its default). @throws Refused: nothing is sold for nothing */
function priceOf({ sellPrice, buyPrice, rate, product }: OrderLine, type: Trade): Decimal {
  const price = (type === "sale" ? sellPrice : buyPrice) ?? rate;
  if (price.sign !== 0) return price;
  throw new Refused({
    code: "no-price",
    message: `the line of ${product} has no price`,
    next: "Enter its price on the platform; the corrected version is delivered by itself.",
    field: "lines",
  });
}

/* Delivery tickets. Net gallons are what moves: they are billed and taxed. */

type ProductLine = NonNullable<DeliveryTicket["productLines"]>[number];

const ticket = {
  kind: "delivery-ticket",
  reads: "platform.deliveryTickets",
  input: DeliveryTicket,
  number: ({ ticketNumber }: DeliveryTicket) => ticketNumber,
  /**
   * Whoever enters a ticket twice keeps its parties, its day, its net gallons and its bill of lading, whatever number the
   * second one gets. Without a bill of lading the figures of the load tell it: no two loads are measured alike.
   */
  likeness(record: DeliveryTicket, { dayOf }: Pick<References, "dayOf">): Likeness | null {
    const { status, bolNumber, deliveryDate, createdAt } = record;
    if (status === "DRAFT" || status === "VOID") return null;
    const lines = record.productLines ?? [];
    return alike({
      party: `${record.supplierCompanyId ?? ""} ${record.receiverCompanyId ?? ""}`,
      amount: Decimal.sum(lines.map(({ net_gallons: net }) => net ?? Decimal.zero)),
      day: dayOf(deliveryDate ?? createdAt),
      names: bolNumber?.trim() ? [bolNumber] : [],
      lines: lines.flatMap((line) => [
        line.product_name ?? "",
        ...digitsOf(line.gross_gallons, line.net_gallons, line.temperature, line.api_gravity),
      ]),
    });
  },
  about: ({ receiverCompanyId: party, deliveryDate, createdAt }: DeliveryTicket) => ({
    party,
    day: deliveryDate ?? createdAt,
  }),
} as const;

/** What was measured of a load, under the names of documents. */
const measured = (line: ProductLine) => ({
  grossGallons: line.gross_gallons,
  netGallons: line.net_gallons,
  temperature: line.temperature,
  apiGravity: line.api_gravity,
});

/** Delivery tickets, for the inventory of an ERP. A status that is new to us is delivered as it is written. */
export const deliveryTickets = defineMapping({
  ...ticket,
  ...toFiles("delivery-tickets"),
  tables: { items: COLUMNS.items },
  // The version is the last change.
  leaves: { record: ["createdAt"] },
  map: (record, references) =>
    unfinished(references, "delivery-ticket", record) ?? {
      ...pick(record, "id", "status", "orderId", "bolNumber", "deliveryDate"),
      number: record.ticketNumber,
      version: record.updatedAt,
      supplierId: record.supplierCompanyId,
      receiverId: record.receiverCompanyId,
      driver: record.driverName,
      carrier: record.carrierCompanyName,
      terminal: record.loadingTerminalName,
      destination: record.destinationName,
      lines: (record.productLines ?? []).map((line) => {
        const product = productIn(line);
        const item = codeOf(references, "items", product);
        return { item, product, spec: line.spec, ...measured(line) };
      }),
    },
  figures: ({ lines }) => gallonsOf(lines, ({ netGallons }) => netGallons),
});

const TICKET_STATUSES = {
  kind: "delivery-ticket",
  what: "ticket",
  known: ticketStatuses,
  booked: { ISSUED: "waiting", SIGNED: "done" },
  ended: { VOID: "cancelled" },
  uncounted: "taken-back",
} as const;

/** Delivery tickets as shipments of the books. */
export const bookedTickets = defineMapping({
  ...ticket,
  name: "books/delivery-tickets",
  writes: "books.shipments",
  options: SidedOptions,
  tables: goodsTables,
  // A shipment is dated by its delivery.
  leaves: { record: ["createdAt", "updatedAt"], document: TAKEN_BACK_ONLY },
  output: ShipmentDocument,
  map(record, references, options) {
    const status = statusOf(references, TICKET_STATUSES, record);
    if (typeof status !== "string") return status;
    const isTakenBack = status === "taken-back";
    const lines = isTakenBack ? [] : (record.productLines ?? []);
    if (lines.length === 0 && !isTakenBack)
      throw incomplete("no-lines", "the ticket has no product lines", "Enter them");
    const { type, companyId } = sideOf(record, ourCompany(references, options));
    // The party of a ticket that the flow does not take need not be mapped.
    const skipped = otherSide(options, type === "out" ? "sale" : "purchase");
    if (skipped !== null) return skipped;
    return {
      id: record.id,
      number: record.ticketNumber,
      type,
      party: partyOf(references, type === "out" ? "customer" : "supplier", companyId),
      status,
      ...(isTakenBack ? { platformStatus: record.status } : {}),
      date: dayOrNone(references, record.deliveryDate),
      reference: record.bolNumber?.trim() || record.ticketNumber,
      bolNumbers: (record.bolNumber ?? "").split(/[,;/\s]+/).filter((number) => number !== ""),
      terminal: record.loadingTerminalName?.trim() || null,
      destination: record.destinationName?.trim() || null,
      carrier: record.carrierCompanyName?.trim() || null,
      driver: record.driverName?.trim() || null,
      deliveredAt: timeOf(record.deliveryDate),
      note: noteOf(record),
      lines: lines.map((line) => {
        const product = productIn(line);
        const quantity = netOf(line);
        const item = codeOf(references, "items", product);
        return { product: item, quantity, unit: symbolOf(references, "gal"), ...measured(line) };
      }),
      order:
        record.orderId === null || isTakenBack
          ? null
          : references.counterpart("order", record.orderId),
    };
  },
  figures: ({ lines }) => gallonsOf(lines, ({ quantity }) => quantity),
});

/** An instant; none where a day alone is named. */
const timeOf = (instant: string | null): string | null =>
  instant === null || namedDay(instant) !== instant ? null : instant;

/** Ours goes out to its receiver; what is brought to us comes in from its supplier. @throws Refused */
function sideOf(
  { supplierCompanyId: supplier, receiverCompanyId: receiver }: DeliveryTicket,
  us: string,
): { readonly type: ShipmentDocument["type"]; readonly companyId: string } {
  if (receiver === us && supplier !== null && supplier !== us)
    return { type: "in", companyId: supplier };
  if (receiver !== us && receiver !== null && (supplier === us || supplier === null))
    return { type: "out", companyId: receiver };
  throw incomplete(
    "no-party",
    `the ticket goes from ${supplier ?? "nobody"} to ${receiver ?? "nobody"}, and we (${us}) must be one of them`,
    "Name supplier and receiver",
  );
}

/** Gallons of nothing in particular are in no tank. @throws Refused */
function productIn({ product_name: product }: ProductLine): string {
  if (product !== null) return product;
  throw incomplete("no-product", "a line of the ticket names no product", "Name the product");
}

/** @throws Refused: nothing is shipped of nothing */
function netOf({ product_name: product, net_gallons: net }: ProductLine): Decimal {
  if (net !== null && net.sign > 0) return net;
  throw incomplete(
    "no-gallons",
    `the line of ${product} has ${net?.plain() ?? "no"} net gallons`,
    "Enter what was delivered",
  );
}

/** A line for the haul, and one per product with what its shipment has no field for. */
function noteOf(record: DeliveryTicket): string | null {
  const figures = (record.productLines ?? []).map((line) =>
    joined(
      line.product_name,
      line.spec,
      labelled("gross", line.gross_gallons, " gal"),
      labelled("net", line.net_gallons, " gal"),
      labelled("temperature", line.temperature),
      labelled("API gravity", line.api_gravity),
    ),
  );
  const haul = joined(
    labelled("ticket", record.ticketNumber),
    labelled("driver", record.driverName),
    labelled("carrier", record.carrierCompanyName),
    labelled("terminal", record.loadingTerminalName),
    labelled("destination", record.destinationName),
  );
  return [haul, ...figures].join("\n");
}

const incomplete = (code: FaultCode, message: string, remedy: string): Refused =>
  new Refused({
    code,
    message,
    next: `${remedy} on the platform's ticket; the corrected version is delivered by itself.`,
    field: code === "no-party" ? "receiverCompanyId" : "productLines",
  });
