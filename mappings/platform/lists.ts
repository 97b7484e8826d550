/** Lists of any ERP (`plain/…`), as documents of the platform. */
import { alike, COLUMNS, digitsOf, noonOf, pick, present, productOf, fromList } from "../values.ts";
import { defineMapping, type Likeness, type References, skip } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import * as layouts from "../../src/formats/table/layouts.ts";
import type { PlainTicketLine } from "../../src/formats/table/layouts.ts";
import { ticketStatuses } from "../../src/platform/contract/delivery-ticket.ts";
import {
  EndedFreightRate,
  FreightRateDocument,
  NoteOnOrder,
  SignedTicket,
  TerminalDocument,
  TicketDocument,
} from "../../src/platform/contract/documents.ts";
import { id, isKnown } from "../../src/platform/contract/primitives.ts";

/** Delivery tickets that an ERP issued. A newer version of a ticket changes it on the platform. */
export const deliveryTickets = defineMapping({
  ...fromList(layouts.deliveryTickets),
  kind: "delivery-ticket",
  writes: "platform.tickets",
  tables: { products: COLUMNS.products },
  // The list has one bill of lading per ticket.
  leaves: { document: ["bolNumbers"] },
  output: TicketDocument,
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
      orderId: ticket.orderId === null ? null : orderOf(ticket.orderId, references),
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
  /** Whoever enters a ticket twice keeps its parties, its day, its gallons and its bill of lading, or else what was measured. */
  likeness({ status, supplier, receiver, delivered, bolNumber, lines }, { find }): Likeness | null {
    if (status === "DRAFT" || status === "VOID" || delivered === null) return null;
    const companies = [
      supplier === null ? "" : find("supplier", supplier),
      receiver === null ? "" : find("customer", receiver),
    ];
    return alike({
      party: `${supplier ?? ""} ${receiver ?? ""}`,
      company: companies.includes(null) ? null : companies.join(" "),
      amount: Decimal.sum(lines.map(({ netGallons }) => netGallons ?? Decimal.zero)),
      day: delivered,
      names: bolNumber?.trim() ? [bolNumber] : [],
      lines: lines.flatMap((line) => [
        line.product ?? "",
        ...digitsOf(line.grossGallons, line.netGallons, line.temperature, line.apiGravity),
      ]),
    });
  },
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

/** An order by the platform's id, or by what the ERP or a partner calls it. @throws WaitsFor */
const orderOf = (named: string, references: References): string =>
  id.safeParse(named).success ? named : references.counterpart("order", named);

const draftAgain = new Refused({
  code: "draft-after-delivery",
  message: "the ticket is a draft in the ERP, and issued on the platform",
  next: "Issue it in the ERP again, or make it void there; or correct it on the platform by hand, then close it here.",
  field: "Status",
});

const unknownStatus = (status: string): Refused =>
  new Refused({
    code: "unknown-enum",
    message: `the ticket has the status "${status}"; the platform knows ${ticketStatuses.join(", ")}`,
    next: "Correct the status in the ERP; the ticket is taken when it is read again.",
    field: "Status",
  });

/** Signatures of receivers. One for a ticket of the ERP's own waits until that ticket is on the platform. */
export const ticketSignatures = defineMapping({
  ...fromList(layouts.ticketSignatures),
  kind: "ticket-signature",
  writes: "platform.ticketSignatures",
  output: SignedTicket,
  map: ({ ticket, receiverName, discrepancies }, references) => ({
    ticketId: id.safeParse(ticket).success
      ? ticket
      : references.counterpart("delivery-ticket", ticket),
    receiverName,
    ...present({ discrepancies }),
  }),
  about: ({ receiverName }) => ({ name: receiverName }),
});

/**
 * Freight rates of a connection. Of a rate that is there the platform changes everything but the connection and the
 * destination's city and state: a rate with one of these is ended and made anew under another code. An empty cell empties
 * the field, but for `Effective`, which the platform keeps.
 */
export const freightRates = defineMapping({
  ...fromList(layouts.freightRates),
  kind: "freight-rate",
  writes: "platform.freightRates",
  tables: { products: COLUMNS.products },
  // The list has no column for fees of a rate; distances are in miles.
  leaves: { document: ["customFees", "distanceUnit"] },
  output: FreightRateDocument,
  map: ({ product, effective, ...rate }, references) => ({
    ...pick(rate, "connectionId", "originTerminalId", "originCity", "originState"),
    ...pick(rate, "destinationZip", "destinationZipPrefix", "destinationCity", "destinationState"),
    ...pick(rate, "ratePerMile", "flatFee", "minCharge", "fuelSurchargePercent", "notes"),
    product: product === null ? null : productOf(references, product),
    ...present({ effectiveAt: effective === null ? null : noonOf(effective) }),
  }),
});

/** Freight rates of ours that hold no longer, by the code that they were made with. */
export const endedFreightRates = defineMapping({
  ...fromList(layouts.endedFreightRates),
  kind: "ended-freight-rate",
  writes: "platform.endedFreightRates",
  output: EndedFreightRate,
  map: ({ code, connectionId }, references) => ({
    freightRateId: references.counterpart("freight-rate", code),
    connectionId,
  }),
});

/** The terminals that the company sells from. An empty cell empties the field, but for `Active`, which the platform keeps. */
export const terminals = defineMapping({
  ...fromList(layouts.terminals),
  kind: "supplier-terminal",
  writes: "platform.supplierTerminals",
  // The list is of American terminals: the platform's country, units and tax authority are its defaults.
  leaves: { document: ["countryCode", "region", "taxingAuthority", "unitSystem"] },
  output: TerminalDocument,
  map: ({ code, name, latitude, longitude, active, ...terminal }) => ({
    terminalCode: code,
    name,
    ...terminal,
    lat: latitude,
    lng: longitude,
    ...present({ isActive: active }),
  }),
  about: ({ name }) => ({ name }),
});

/** Notes on orders, such as the number of the order in the ERP. The platform takes no change of a note. */
export const orderNotes = defineMapping({
  ...fromList(layouts.orderNotes),
  kind: "order-note",
  writes: "platform.orderNotes",
  output: NoteOnOrder,
  map: ({ orderId, note }, references) => ({
    orderId: orderOf(orderId, references),
    content: note,
  }),
});
