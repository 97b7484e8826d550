/** Orders as sales or purchases of the books, once they are confirmed. */
import { OrderDocument, type Party } from "../../src/ledger/documents.ts";
import { defineMapping, type References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { Order, orderStatuses, type OrderLine } from "../../src/platform/contract/order.ts";
import { codeOf } from "../canonical/codes.ts";
import { orderLikeness } from "../canonical/orders.ts";
import { cellOf } from "../crossref.ts";
import { joined, labelled, partyOf, symbolOf } from "./codes.ts";
import { companyTable, otherSide, ourCompany, SidedOptions } from "./company.ts";
import { statusOf, TAKEN_BACK_ONLY } from "./statuses.ts";
import { TABLES } from "./tables.ts";
import { HAUL } from "../leaves.ts";

type Type = OrderDocument["type"];

const STATUSES = {
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

export const orders = defineMapping({
  name: "books/orders",
  kind: "order",
  reads: "platform.orders",
  writes: "books.orders",
  options: SidedOptions,
  tables: (options) => ({
    items: ["product", "item"],
    customers: ["company", "account"],
    vendors: ["company", "account"],
    [TABLES.units]: ["unit", "symbol"],
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
    const status = statusOf(references, STATUSES, order);
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
      lines: isTakenBack ? [] : order.lines.map((line) => lineOf(line, references, type)),
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
function lineOf(
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
