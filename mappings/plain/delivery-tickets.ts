import { present } from "./present.ts";
import { noonOf } from "../platform/invoices.ts";
import { productOf } from "../platform/products.ts";
import { defineMapping, type References, skip } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import {
  deliveryTickets as layout,
  type PlainTicketLine,
} from "../../src/formats/table/layouts.ts";
import { ticketStatuses } from "../../src/platform/contract/delivery-ticket.ts";
import { TicketDocument } from "../../src/platform/contract/documents.ts";
import { isKnown } from "../../src/platform/contract/primitives.ts";

/** Delivery tickets that an ERP issued. A newer version of a ticket changes it on the platform. */
export const deliveryTickets = defineMapping({
  name: "plain/delivery-tickets",
  kind: "delivery-ticket",
  reads: "plain/delivery-tickets",
  writes: "platform.tickets",
  tables: { products: ["code", "product"] },
  // The list has one bill of lading per ticket.
  leaves: { document: ["bolNumbers"] },
  input: layout.record,
  output: TicketDocument,
  number: ({ number }) => number,
  map(ticket, references) {
    const { status, number, lines } = ticket;
    if (!isKnown(ticketStatuses, status)) throw unknownStatus(status);
    const isNew = references.find("delivery-ticket", number) === null;
    if (isNew && (status === "DRAFT" || status === "VOID")) return skip(status.toLowerCase());
    if (status === "DRAFT") throw draftAgain;
    return {
      ticketNumber: number,
      // The receiver may have signed it on the platform meanwhile.
      ...(status === "ISSUED" && !isNew ? {} : { status }),
      // What the ERP has emptied is emptied on the platform.
      orderId: ticket.orderId,
      supplierCompanyId: partyOf(references, "supplier", ticket.supplier),
      receiverCompanyId: partyOf(references, "customer", ticket.receiver),
      bolNumber: ticket.bolNumber,
      deliveryDate: ticket.delivered === null ? null : noonOf(ticket.delivered),
      driverName: ticket.driver,
      carrierCompanyName: ticket.carrier,
      loadingTerminalName: ticket.terminal,
      destinationName: ticket.destination,
      deliveryNotes: ticket.notes ?? "",
      productLines: lines.flatMap((line) => (isEmpty(line) ? [] : [lineOf(line, references)])),
    };
  },
  // Net gallons: the ones that are billed and taxed.
  figures: ({ productLines }) => ({
    amount: null,
    gallons: Decimal.sum((productLines ?? []).map((line) => gallonsOf(line.net_gallons))),
  }),
  about: ({ receiver }) => ({ party: receiver }),
});

const gallonsOf = (value: number | Decimal | undefined): Decimal =>
  value instanceof Decimal ? value : Decimal.of(String(value ?? 0));

/** A ticket without lines is one row, whose cells of a line are empty. */
const isEmpty = (line: PlainTicketLine): boolean =>
  Object.values(line).every((value) => value === null);

function lineOf({ product, ...line }: PlainTicketLine, references: References) {
  if (product === null)
    throw new Refused({
      code: "no-product",
      message: "a line of the ticket names no product",
      next: "Enter the product in the ERP; the ticket is taken when it is read again.",
      field: "Lines/Product",
    });
  return {
    product_name: productOf(references, product),
    ...present({
      spec: line.spec,
      gross_gallons: line.grossGallons,
      net_gallons: line.netGallons,
      temperature: line.temperature,
      api_gravity: line.apiGravity,
    }),
  };
}

/** The company that the party became. @throws WaitsFor */
const partyOf = (
  references: References,
  kind: "customer" | "supplier",
  code: string | null,
): string | null => (code === null ? null : references.counterpart(kind, code));

const draftAgain = new Refused({
  code: "draft-after-delivery",
  message: "the ticket is a draft in the ERP, and issued on the platform",
  next: "Issue it in the ERP again, or make it void there; or correct it on the platform by hand, then resolve it here.",
  field: "Status",
});

const unknownStatus = (status: string): Refused =>
  new Refused({
    code: "unknown-enum",
    message: `the ticket has the status "${status}"; the platform knows ${ticketStatuses.join(", ")}`,
    next: "Correct the status in the ERP; the ticket is taken when it is read again.",
    field: "Status",
  });
