/** Delivery tickets as shipments of the books. Net gallons are what moves: they are billed and taxed. */
import { ShipmentDocument } from "../../src/ledger/documents.ts";
import { defineMapping, type References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { DeliveryTicket, ticketStatuses } from "../../src/platform/contract/delivery-ticket.ts";
import { codeOf } from "../canonical/codes.ts";
import { ticketLikeness } from "../canonical/delivery-tickets.ts";
import { joined, labelled, partyOf, symbolOf } from "./codes.ts";
import { companyTable, dayOrNone, otherSide, ourCompany, SidedOptions } from "./company.ts";
import { statusOf, TAKEN_BACK_ONLY } from "./statuses.ts";
import { TABLES } from "./tables.ts";

type ProductLine = NonNullable<DeliveryTicket["productLines"]>[number];
type Line = ShipmentDocument["lines"][number];

const STATUSES = {
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
    items: ["product", "item"],
    customers: ["company", "account"],
    vendors: ["company", "account"],
    [TABLES.units]: ["unit", "symbol"],
    ...companyTable(options),
  }),
  // A shipment is dated by its delivery.
  leaves: { record: ["createdAt", "updatedAt"], document: TAKEN_BACK_ONLY },
  input: DeliveryTicket,
  output: ShipmentDocument,
  number: (ticket) => ticket.ticketNumber,
  map(ticket, references, options) {
    const status = statusOf(references, STATUSES, ticket);
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
      lines: lines.map((line) => lineOf(line, references)),
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

function lineOf(line: ProductLine, references: References): Line {
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
