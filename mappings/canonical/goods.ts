import { codeOf, unfinished } from "./values.ts";
import { HAUL } from "../leaves.ts";
import { defineMapping, type Likeness, type References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { DeliveryTicketDocument, OrderDocument } from "../../src/formats/documents.ts";
import { DeliveryTicket } from "../../src/platform/contract/delivery-ticket.ts";
import { Order, type OrderLine } from "../../src/platform/contract/order.ts";

/**
 * Whoever copies an order keeps its site, its day, its gallons and its loading number. Several trucks of one day are
 * common: an order without a loading number is like one that asks for the same lines at the same times.
 */
export function orderLikeness(order: Order, { dayOf }: Pick<References, "dayOf">): Likeness | null {
  const { status, companyId, locationId, loadingNumber, lines, createdAt } = order;
  if (status === "DRAFT" || status === "CANCELLED") return null;
  const times = [
    order.requestedDate,
    order.deliveryDate,
    order.deliveryStart,
    order.deliveryEnd,
  ].map((time) => time ?? "");
  const goods = lines.flatMap((line) => [
    line.product,
    line.terminal ?? "",
    line.supplierId ?? "",
    (line.quantity ?? line.gallons).plain(),
    line.unitCode ?? line.unit,
    line.loadingNumber ?? "",
  ]);
  return {
    party: `${companyId} ${locationId ?? ""}`,
    amount: Decimal.sum(lines.map((line) => line.quantity ?? line.gallons)),
    day: dayOf(createdAt),
    reference: loadingNumber?.trim() ? loadingNumber : [...times, ...goods],
    number: null,
  };
}

/** Orders, for planning and dispatch in an ERP. A status that is new to us is delivered as it is written. */
export const orders = defineMapping({
  name: "canonical/orders",
  kind: "order",
  reads: "platform.orders",
  writes: "files.orders",
  tables: {
    items: ["product", "item"],
  },
  // The version is the last change.
  leaves: { record: ["createdAt", ...HAUL] },
  input: Order,
  output: OrderDocument,
  number: (order) => order.loadingNumber || order.id,
  map(order, references) {
    const withheld = unfinished(references, "order", order);
    if (withheld !== null) return withheld;
    return {
      id: order.id,
      number: order.loadingNumber || order.id,
      version: order.updatedAt,
      status: order.status,
      orderType: order.orderType,
      urgency: order.urgency,
      companyId: order.companyId,
      locationId: order.locationId,
      carrierId: order.carrierCompanyId,
      loadingNumber: order.loadingNumber,
      requestedDate: order.requestedDate,
      deliveryDate: order.deliveryDate,
      deliveryStart: order.deliveryStart,
      deliveryEnd: order.deliveryEnd,
      notes: order.notes,
      lines: order.lines.map((line) => orderLine(line, references)),
    };
  },
  // An order is a plan: its prices are not amounts yet.
  figures: ({ lines }) => ({
    amount: null,
    gallons: Decimal.sum(lines.map((line) => line.gallons ?? Decimal.zero)),
  }),
  likeness: orderLikeness,
  about: ({ companyId }) => ({ party: companyId }),
});

/** `quantity` and `unitCode` are the current names; the aliases stand in where they are missing (part 9, rule 2). */
function orderLine(line: OrderLine, references: References): OrderDocument["lines"][number] {
  const quantity = line.quantity ?? line.gallons;
  const unit = line.unitCode ?? line.unit;
  return {
    item: codeOf(references, "items", line.product),
    product: line.product,
    productCode: line.productCode,
    terminal: line.terminal,
    terminalCode: line.terminalCode,
    supplierId: line.supplierId,
    quantity,
    unit,
    gallons: unit === "gal" ? quantity : null,
    rate: line.rate,
    buyPrice: line.buyPrice,
    sellPrice: line.sellPrice,
    lineLoadingNumber: line.loadingNumber,
  };
}

/**
 * Whoever enters a ticket twice keeps its parties, its day, its net gallons and its bill of lading, whatever number the
 * second one gets. Without a bill of lading the figures of the load tell it: no two loads are measured alike.
 */
export function ticketLikeness(
  ticket: DeliveryTicket,
  { dayOf }: Pick<References, "dayOf">,
): Likeness | null {
  const { status, bolNumber, deliveryDate, createdAt } = ticket;
  if (status === "DRAFT" || status === "VOID") return null;
  const lines = ticket.productLines ?? [];
  const figures = lines.flatMap((line) => [
    line.product_name ?? "",
    ...[line.gross_gallons, line.net_gallons, line.temperature, line.api_gravity].map(
      (figure) => figure?.plain() ?? "",
    ),
  ]);
  return {
    party: `${ticket.supplierCompanyId ?? ""} ${ticket.receiverCompanyId ?? ""}`,
    amount: Decimal.sum(lines.map(({ net_gallons: net }) => net ?? Decimal.zero)),
    day: dayOf(deliveryDate ?? createdAt),
    reference: bolNumber?.trim() ? bolNumber : figures,
    number: null,
  };
}

/** Delivery tickets, for the inventory of an ERP. A status that is new to us is delivered as it is written. */
export const deliveryTickets = defineMapping({
  name: "canonical/delivery-tickets",
  kind: "delivery-ticket",
  reads: "platform.deliveryTickets",
  writes: "files.delivery-tickets",
  tables: {
    items: ["product", "item"],
  },
  // The version is the last change.
  leaves: { record: ["createdAt"] },
  input: DeliveryTicket,
  output: DeliveryTicketDocument,
  number: (ticket) => ticket.ticketNumber,
  map(ticket, references) {
    const withheld = unfinished(references, "delivery-ticket", ticket);
    if (withheld !== null) return withheld;
    return {
      id: ticket.id,
      number: ticket.ticketNumber,
      version: ticket.updatedAt,
      status: ticket.status,
      orderId: ticket.orderId,
      supplierId: ticket.supplierCompanyId,
      receiverId: ticket.receiverCompanyId,
      bolNumber: ticket.bolNumber,
      deliveryDate: ticket.deliveryDate,
      driver: ticket.driverName,
      carrier: ticket.carrierCompanyName,
      terminal: ticket.loadingTerminalName,
      destination: ticket.destinationName,
      lines: (ticket.productLines ?? []).map((line) => {
        const product = line.product_name ?? refuseWithoutProduct();
        return {
          item: codeOf(references, "items", product),
          product,
          spec: line.spec,
          grossGallons: line.gross_gallons,
          netGallons: line.net_gallons,
          temperature: line.temperature,
          apiGravity: line.api_gravity,
        };
      }),
    };
  },
  // Net gallons: the ones that are billed and taxed.
  figures: ({ lines }) => ({
    amount: null,
    gallons: Decimal.sum(lines.map((line) => line.netGallons ?? Decimal.zero)),
  }),
  likeness: ticketLikeness,
  about: ({ receiverCompanyId }) => ({ party: receiverCompanyId }),
});

/** Gallons of nothing in particular are in no tank. @throws Refused always */
function refuseWithoutProduct(): never {
  throw new Refused({
    code: "no-product",
    message: "a line of the ticket names no product",
    next: "Name the product on the platform's ticket; the corrected version is delivered by itself.",
    field: "productLines",
  });
}
