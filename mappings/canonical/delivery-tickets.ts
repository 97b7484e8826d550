import { DeliveryTicketDocument } from "../../src/formats/documents.ts";
import { defineMapping, type Likeness, type References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { DeliveryTicket } from "../../src/platform/contract/delivery-ticket.ts";
import { codeOf } from "./codes.ts";
import { unfinished } from "./unfinished.ts";

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
