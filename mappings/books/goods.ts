/** Orders as sales or purchases of the books, once they are confirmed. */
import {
  companyTable,
  dayOrNone,
  joined,
  labelled,
  otherSide,
  ourCompany,
  partyOf,
  SidedOptions,
  statusOf,
  symbolOf,
  TAKEN_BACK_ONLY,
} from "./site.ts";
import { orderLikeness, ticketLikeness } from "../canonical/goods.ts";
import { codeOf } from "../canonical/values.ts";
import { cellOf, TABLES } from "../crossref.ts";
import { HAUL } from "../leaves.ts";
import { defineMapping, type References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { OrderDocument, type Party, ShipmentDocument } from "../../src/ledger/documents.ts";
import { DeliveryTicket, ticketStatuses } from "../../src/platform/contract/delivery-ticket.ts";
import { Order, type OrderLine, orderStatuses } from "../../src/platform/contract/order.ts";

type Type = OrderDocument["type"];

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

/** What orders and tickets look up: what goes, between whom, in which unit. */
const GOODS_TABLES = {
  items: ["product", "item"],
  customers: ["company", "account"],
  vendors: ["company", "account"],
  [TABLES.units]: ["unit", "symbol"],
} as const;

export const orders = defineMapping({
  name: "books/orders",
  kind: "order",
  reads: "platform.orders",
  writes: "books.orders",
  options: SidedOptions,
  tables: (options) => ({
    ...GOODS_TABLES,
    [TABLES.sites]: ["location", "company"],
    ...companyTable(options),
  }),
  // A sale or purchase has one day, and nothing of the haul. What the other side of the trade reads is left out of a sale
  // (`lines.buyPrice`, `lines.supplierId`) and of a purchase (`locationId`).
  leaves: {
    record: [
      ...HAUL,
      "carrierCompanyId",
      "deliveryDate",
      "deliveryEnd",
      "deliveryStart",
      "requestedDate",
      "orderType",
      "urgency",
      "updatedAt",
      "locationId",
      "lines.buyPrice",
      "lines.rate",
      "lines.productCode",
      "lines.supplierId",
    ],
    document: TAKEN_BACK_ONLY,
  },
  input: Order,
  output: OrderDocument,
  number: numberOf,
  map(order, references, options) {
    const status = statusOf(references, ORDER_STATUSES, order);
    if (typeof status !== "string") return status;
    const us = ourCompany(references, options);
    const type = typeOf(order, us);
    const skipped = otherSide(options, type);
    if (skipped !== null) return skipped;
    const isTakenBack = status === "taken-back";
    return {
      id: order.id,
      number: numberOf(order),
      party:
        type === "sale"
          ? buyerOf(order, references, us)
          : partyOf(references, "supplier", sellerOf(order)),
      type,
      status,
      ...(isTakenBack ? { platformStatus: order.status } : {}),
      date: references.dayOf(order.createdAt),
      description: order.notes?.trim() || null,
      lines: isTakenBack ? [] : order.lines.map((line) => orderLine(line, references, type)),
    };
  },
  // An order is a plan: its prices are not amounts yet.
  figures: ({ lines }) => ({
    amount: null,
    gallons: Decimal.sum(lines.map(({ unit, quantity }) => (unit === "gal" ? quantity : NONE))),
  }),
  likeness: orderLikeness,
  about: ({ companyId }) => ({ party: companyId }),
});

const NONE = Decimal.zero;

function numberOf({ loadingNumber, id }: Order): string {
  return loadingNumber || id;
}

/**
 * What others ordered from us we sell; and so we do with what we ordered for a site at a selling price, whoever we
 * take it from. What has no selling price is for ourselves.
 */
function typeOf({ companyId, lines }: Order, us: string): Type {
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

function sellerOf({ lines }: Order): string {
  const [seller, ...others] = new Set(lines.map(({ supplierId }) => supplierId));
  if (typeof seller === "string" && others.length === 0) return seller;
  throw new Refused({
    code: "no-supplier",
    message:
      others.length === 0
        ? "the order names no supplier"
        : "the order's lines do not all name the same supplier",
    next: "Name one supplier on all lines on the platform, or enter the purchases by hand and resolve it here.",
    field: "lines",
  });
}

/** `quantity` and `unitCode` are the current names; the aliases stand in where they are missing (part 9, rule 2). */
function orderLine(
  line: OrderLine,
  references: References,
  type: Type,
): OrderDocument["lines"][number] {
  return {
    product: codeOf(references, "items", line.product),
    quantity: line.quantity ?? line.gallons,
    unit: symbolOf(references, line.unitCode ?? line.unit),
    unitPrice: priceOf(line, type),
    description: joined(
      line.product,
      line.terminal,
      line.terminalCode,
      labelled("loading number", line.loadingNumber),
    ),
  };
}

/** A rate of 0 is the platform's way to say none (its default). @throws Refused: nothing is sold for nothing */
function priceOf({ sellPrice, buyPrice, rate, product }: OrderLine, type: Type): Decimal {
  const price = (type === "sale" ? sellPrice : buyPrice) ?? rate;
  if (price.sign !== 0) return price;
  throw new Refused({
    code: "no-price",
    message: `the line of ${product} has no price`,
    next: "Enter its price on the platform; the corrected version is delivered by itself.",
    field: "lines",
  });
}

/* Delivery tickets as shipments of the books. Net gallons are what moves: they are billed and taxed. */

type ProductLine = NonNullable<DeliveryTicket["productLines"]>[number];
type Line = ShipmentDocument["lines"][number];

const TICKET_STATUSES = {
  kind: "delivery-ticket",
  what: "ticket",
  known: ticketStatuses,
  booked: { ISSUED: "waiting", SIGNED: "done" },
  ended: { VOID: "cancelled" },
  uncounted: "taken-back",
} as const;

export const deliveryTickets = defineMapping({
  name: "books/delivery-tickets",
  kind: "delivery-ticket",
  reads: "platform.deliveryTickets",
  writes: "books.shipments",
  options: SidedOptions,
  tables: (options) => ({
    ...GOODS_TABLES,
    ...companyTable(options),
  }),
  // A shipment is dated by its delivery.
  leaves: { record: ["createdAt", "updatedAt"], document: TAKEN_BACK_ONLY },
  input: DeliveryTicket,
  output: ShipmentDocument,
  number: (ticket) => ticket.ticketNumber,
  map(ticket, references, options) {
    const status = statusOf(references, TICKET_STATUSES, ticket);
    if (typeof status !== "string") return status;
    const isTakenBack = status === "taken-back";
    const lines = isTakenBack ? [] : (ticket.productLines ?? []);
    if (lines.length === 0 && !isTakenBack)
      throw incomplete("no-lines", "the ticket has no product lines", "Enter them");
    const { type, companyId } = sideOf(ticket, ourCompany(references, options));
    // The party of a ticket that the flow does not take need not be mapped.
    const skipped = otherSide(options, type === "out" ? "sale" : "purchase");
    if (skipped !== null) return skipped;
    return {
      id: ticket.id,
      number: ticket.ticketNumber,
      type,
      party: partyOf(references, type === "out" ? "customer" : "supplier", companyId),
      status,
      ...(isTakenBack ? { platformStatus: ticket.status } : {}),
      date: dayOrNone(references, ticket.deliveryDate),
      reference: ticket.bolNumber?.trim() || ticket.ticketNumber,
      note: noteOf(ticket),
      lines: lines.map((line) => ticketLine(line, references)),
      order:
        ticket.orderId === null || isTakenBack
          ? null
          : references.counterpart("order", ticket.orderId),
    };
  },
  figures: ({ lines }) => ({
    amount: null,
    gallons: Decimal.sum(lines.map(({ quantity }) => quantity)),
  }),
  likeness: ticketLikeness,
  about: ({ receiverCompanyId }) => ({ party: receiverCompanyId }),
});

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

function ticketLine(line: ProductLine, references: References): Line {
  const { product_name: product, net_gallons: net } = line;
  if (product === null)
    throw incomplete("no-product", "a line of the ticket names no product", "Name the product");
  if (net === null || net.sign <= 0)
    throw incomplete(
      "no-gallons",
      `the line of ${product} has ${net?.text ?? "no"} net gallons`,
      "Enter what was delivered",
    );
  return {
    product: codeOf(references, "items", product),
    quantity: net,
    unit: symbolOf(references, "gal"),
    grossGallons: line.gross_gallons,
    netGallons: net,
    temperature: line.temperature,
    apiGravity: line.api_gravity,
  };
}

/** A line for the haul, and one per product with what its shipment has no field for. */
function noteOf(ticket: DeliveryTicket): string | null {
  const figures = (ticket.productLines ?? []).map((line) =>
    joined(
      line.product_name,
      line.spec,
      labelled("gross", line.gross_gallons?.plain() ?? null, " gal"),
      labelled("net", line.net_gallons?.plain() ?? null, " gal"),
      labelled("temperature", line.temperature?.plain() ?? null),
      labelled("API gravity", line.api_gravity?.plain() ?? null),
    ),
  );
  const haul = joined(
    labelled("ticket", ticket.ticketNumber),
    labelled("driver", ticket.driverName),
    labelled("carrier", ticket.carrierCompanyName),
    labelled("terminal", ticket.loadingTerminalName),
    labelled("destination", ticket.destinationName),
  );
  return [haul, ...figures].join("\n");
}

const incomplete = (code: string, message: string, remedy: string): Refused =>
  new Refused({
    code,
    message,
    next: `${remedy} on the platform's ticket; the corrected version is delivered by itself.`,
    field: code === "no-party" ? "receiverCompanyId" : "productLines",
  });
