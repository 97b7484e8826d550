/**
 * Lists of any ERP: what the platform takes and no export of Tryton tells. A field that an ERP does not know stays
 * empty. Ids are those of the platform, which are in the files that were written for the ERP.
 */
import type { z } from "zod";
import { date, decimal, filled, flag, records, text } from "./table.ts";

/** Tickets that the ERP made; those that came from the platform are left out of the list. */
export const deliveryTickets = records({
  name: "plain/delivery-tickets",
  restates: false,
  head: {
    number: filled(text),
    /** DRAFT, ISSUED, SIGNED, VOID */
    status: filled(text),
    orderId: text,
    /** Party codes of the ERP. */
    supplier: text,
    receiver: text,
    bolNumber: text,
    delivered: date,
    driver: text,
    carrier: text,
    terminal: text,
    destination: text,
    notes: text,
  },
  lists: {
    lines: {
      /** The ERP's code. */
      product: text,
      spec: text,
      grossGallons: decimal,
      netGallons: decimal,
      temperature: decimal,
      apiGravity: decimal,
    },
  },
  optional: {},
  key: ({ number }) => number,
});

export const ticketSignatures = records({
  name: "plain/ticket-signatures",
  restates: false,
  head: {
    /** The platform's id of a ticket, or the number of one that the ERP made. */
    ticket: filled(text),
    receiverName: filled(text),
    discrepancies: text,
  },
  lists: {},
  optional: {},
  key: ({ ticket }) => ticket,
});

/** Money in the company's currency; the surcharge in percent. */
export const freightRates = records({
  name: "plain/freight-rates",
  restates: true,
  head: {
    code: filled(text),
    connectionId: filled(text),
    originTerminalId: text,
    originCity: text,
    originState: text,
    destinationZip: text,
    destinationZipPrefix: text,
    destinationCity: text,
    destinationState: text,
    /** The ERP's code; empty: any product. */
    product: text,
    ratePerMile: decimal,
    flatFee: decimal,
    minCharge: decimal,
    fuelSurchargePercent: decimal,
    effective: date,
    notes: text,
  },
  lists: {},
  optional: {},
  key: ({ code }) => code,
});

export const endedFreightRates = records({
  name: "plain/ended-freight-rates",
  restates: false,
  head: { code: filled(text), connectionId: filled(text) },
  lists: {},
  optional: {},
  key: ({ code }) => code,
});

export const terminals = records({
  name: "plain/terminals",
  restates: true,
  head: {
    code: filled(text),
    name: filled(text),
    city: text,
    state: text,
    zip: text,
    country: text,
    latitude: decimal,
    longitude: decimal,
    capacity: decimal,
    operatingHours: text,
    active: flag,
  },
  lists: {},
  optional: {},
  key: ({ code }) => code,
});

export const orderNotes = records({
  name: "plain/order-notes",
  restates: false,
  head: {
    /** The ERP's own id of the note. */
    id: filled(text),
    orderId: filled(text),
    note: filled(text),
  },
  lists: {},
  optional: {},
  key: ({ id }) => id,
});

export type PlainTicket = z.infer<typeof deliveryTickets.record>;
export type PlainTicketLine = PlainTicket["lines"][number];
