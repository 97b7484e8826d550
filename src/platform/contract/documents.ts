/**
 * Documents for writes about something that is there already: the body of the operation (specification part 4), and
 * beside it the ids that stand in its path. Mappings make them, sinks take them apart.
 */
import { z } from "zod";
import { MarkPaid } from "./invoice.ts";
import { UpsertTerminal } from "./place.ts";
import { CreateFreightRate } from "./network.ts";
import { SignDeliveryTicket, ticketFields } from "./delivery-ticket.ts";
import { OrderNoteInput } from "./order.ts";
import * as p from "./primitives.ts";

/** Whether `notes` are added to the invoice's own or replace them is not specified. */
export const PaidInvoice = z.looseObject({ invoiceId: p.id }).and(MarkPaid);

/**
 * Always with our own number: by it the ticket can be found again. Without the platform's default status: a change of the
 * ticket would carry it.
 */
export const TicketDocument = z.looseObject({ ...ticketFields, ticketNumber: p.required(64) });
export const ChangedTicket = z.looseObject({ ...ticketFields, ticketId: p.id });
export const SignedTicket = SignDeliveryTicket.extend({ ticketId: p.id });

/** Given when a rate is made and not among the fields of its update: a change of it would be lost without a word. */
const fixed = z.null({ error: "cannot be changed: end this rate and make a new one" }).optional();

export const fixedInRate = {
  destinationCity: fixed,
  destinationState: fixed,
  distanceUnit: fixed,
  customFees: fixed,
};

/** `connectionId` is where the rate is looked for. */
export const ChangedFreightRate = z.looseObject({
  freightRateId: p.id,
  connectionId: p.id,
  ...fixedInRate,
});
/** Without what the platform adds to a new rate: a change of the rate would carry it. */
export const FreightRateDocument = z.looseObject({
  ...CreateFreightRate.shape,
  distanceUnit: CreateFreightRate.shape.distanceUnit.unwrap().optional(),
});
export const EndedFreightRate = z.looseObject({ freightRateId: p.id, connectionId: p.id });

/** Without the platform's defaults: a change of the terminal would carry them. */
export const TerminalDocument = UpsertTerminal.extend({
  unitSystem: UpsertTerminal.shape.unitSystem.unwrap().optional(),
  isActive: z.boolean().optional(),
});

export const NoteOnOrder = OrderNoteInput.extend({ orderId: p.id });
