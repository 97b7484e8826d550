/**
 * Lists of any ERP, with labels of our own: what the platform takes and no export of Tryton tells. A column that an ERP
 * does not know stays empty. Ids are those of the platform, which are in the files that were written for the ERP.
 */
import type { z } from "zod";
import { date, decimal, filled, flag, records, text } from "./table.ts";

/** Tickets that the ERP made; those that came from the platform are left out of the list. */
export const deliveryTickets = records({
  name: "plain/delivery-tickets",
  restates: false,
  head: {
    number: filled(text("Number")),
    /** DRAFT, ISSUED, SIGNED, VOID */
    status: filled(text("Status")),
    orderId: text("Order ID"),
    /** Party codes of the ERP. */
    supplier: text("Supplier"),
    receiver: text("Customer"),
    bolNumber: text("BOL Number"),
    delivered: date("Delivered"),
    driver: text("Driver"),
    carrier: text("Carrier"),
    terminal: text("Terminal"),
    destination: text("Destination"),
    notes: text("Notes"),
  },
  children: {
    lines: {
      /** The ERP's code. */
      product: text("Lines/Product"),
      spec: text("Lines/Spec"),
      grossGallons: decimal("Lines/Gross Gallons"),
      netGallons: decimal("Lines/Net Gallons"),
      temperature: decimal("Lines/Temperature"),
      apiGravity: decimal("Lines/API Gravity"),
    },
  },
  joined: {},
  key: ({ number }) => number,
});

export const ticketSignatures = records({
  name: "plain/ticket-signatures",
  restates: false,
  head: {
    /** The platform's id of a ticket, or the number of one that the ERP made. */
    ticket: filled(text("Ticket")),
    receiverName: filled(text("Receiver Name")),
    discrepancies: text("Discrepancies"),
  },
  children: {},
  joined: {},
  key: ({ ticket }) => ticket,
});

/** Money in the company's currency; the surcharge in percent. */
export const freightRates = records({
  name: "plain/freight-rates",
  restates: true,
  head: {
    code: filled(text("Code")),
    connectionId: filled(text("Connection ID")),
    originTerminalId: text("Origin Terminal ID"),
    originCity: text("Origin City"),
    originState: text("Origin State"),
    destinationZip: text("Destination ZIP"),
    destinationZipPrefix: text("Destination ZIP Prefix"),
    destinationCity: text("Destination City"),
    destinationState: text("Destination State"),
    /** The ERP's code; empty: any product. */
    product: text("Product"),
    ratePerMile: decimal("Rate per Mile"),
    flatFee: decimal("Flat Fee"),
    minCharge: decimal("Minimum Charge"),
    fuelSurchargePercent: decimal("Fuel Surcharge Percent"),
    effective: date("Effective"),
    notes: text("Notes"),
  },
  children: {},
  joined: {},
  key: ({ code }) => code,
});

export const endedFreightRates = records({
  name: "plain/ended-freight-rates",
  restates: false,
  head: { code: filled(text("Code")), connectionId: filled(text("Connection ID")) },
  children: {},
  joined: {},
  key: ({ code }) => code,
});

export const terminals = records({
  name: "plain/terminals",
  restates: true,
  head: {
    code: filled(text("Code")),
    name: filled(text("Name")),
    city: text("City"),
    state: text("State"),
    zip: text("ZIP"),
    country: text("Country"),
    latitude: decimal("Latitude"),
    longitude: decimal("Longitude"),
    capacity: decimal("Capacity"),
    operatingHours: text("Operating Hours"),
    active: flag("Active"),
  },
  children: {},
  joined: {},
  key: ({ code }) => code,
});

export const orderNotes = records({
  name: "plain/order-notes",
  restates: false,
  head: {
    /** The ERP's own id of the note. */
    id: filled(text("ID")),
    orderId: filled(text("Order ID")),
    note: filled(text("Note")),
  },
  children: {},
  joined: {},
  key: ({ id }) => id,
});

export type PlainTicket = z.infer<typeof deliveryTickets.record>;
export type PlainTicketLine = PlainTicket["lines"][number];
