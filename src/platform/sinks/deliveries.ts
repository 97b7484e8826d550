/** Delivery tickets and their signatures, and notes on orders (specification part 4, Delivery tickets and Orders). */
import type { Outgoing } from "../../core/contract.ts";
import { parseExact } from "../../core/json.ts";
import { sameNumber } from "../../core/keys.ts";
import type { Finding } from "../../core/outcome.ts";
import { DeliveryTicket } from "../contract/delivery-ticket.ts";
import { ChangedTicket, NoteOnOrder, SignedTicket, TicketDocument } from "../contract/documents.ts";
import { pathOf, targetOf } from "../contract/operations.ts";
import { OrderNote, OrderNoteInput } from "../contract/order.ts";
import {
  accepted,
  idIn,
  notes,
  type SinkContext,
  type SinkPart,
  tickets as policy,
} from "./write.ts";
import { findListed, foundChanged, foundIn, isSince, readAllAt, readAt } from "./read-back.ts";

/** A document with a `ticketId`, and one of a ticket that we made, changes that ticket; any other makes a new one. */
export const tickets: SinkPart = {
  uses: [
    "createDeliveryTicket",
    "listDeliveryTickets",
    "updateDeliveryTicket",
    "getDeliveryTicket",
  ],
  operation: "delivery-ticket.upsert",
  writes: "upsert",
  policy,
  write([item]) {
    const document = { ticketId: item?.counterpart, ...(item?.document as object) };
    if (document.ticketId === null)
      return {
        target: targetOf("createDeliveryTicket"),
        body: accepted(TicketDocument, item?.document),
      };
    const { ticketId, ...body } = accepted(ChangedTicket, document);
    return { target: targetOf("updateDeliveryTicket", ticketId), body };
  },
  find: findTicket,
  async findChanged(context, request) {
    const ticket = await ticketOf(context, request);
    return ticket === null ? noTicket(request) : foundChanged(request, DeliveryTicket, ticket);
  },
  recognise({ target, body }, record) {
    if (target.startsWith("PUT ")) return null;
    const { ticketNumber, orderId = null } = TicketDocument.parse(parseExact(body));
    const { success, data: ticket } = DeliveryTicket.safeParse(record);
    const isOurs = success && ticket.ticketNumber === ticketNumber && ticket.orderId === orderId;
    return isOurs ? [ticket.id] : null;
  },
};

export const ticketSignatures: SinkPart = {
  uses: ["signDeliveryTicket", "getDeliveryTicket"],
  operation: "delivery-ticket.sign",
  policy,
  write([item]) {
    const { ticketId, ...body } = accepted(SignedTicket, item?.document);
    return { target: targetOf("signDeliveryTicket", ticketId), body };
  },
  async find(context, request) {
    const ticket = await ticketOf(context, request);
    if (ticket === null) return noTicket(request);
    const { id, status, ticketNumber } = ticket;
    const detail = `ticket ${ticketNumber} is ${status}`;
    if (status === "SIGNED") return { found: "exact", ids: [id], detail };
    return { found: status === "VOID" ? "different" : "none", detail };
  },
};

/** Such as the number of the order's document in the ERP. */
export const orderNotes: SinkPart = {
  uses: ["addOrderNote", "listOrderNotes"],
  operation: "order-note.create",
  policy: notes,
  write([item]) {
    const { orderId, ...body } = accepted(NoteOnOrder, item?.document);
    return { target: targetOf("addOrderNote", orderId), body };
  },
  find: findNote,
};

/** Before the first send, in which tickets that our clock is ahead of may have changed. */
const BEFORE_MS = 10 * 60_000;

/** By our number, among what changed since the first send. Numbers are not said to be unique: the order must agree. */
async function findTicket(context: SinkContext, request: Outgoing): Promise<Finding> {
  const { ticketNumber: number, orderId = null } = TicketDocument.parse(parseExact(request.body));
  const { firstSentAt } = request;
  const query = {
    pageSize: "100",
    ...(orderId === null ? {} : { orderId }),
    ...(firstSentAt === null
      ? {}
      : { updatedSince: new Date(Date.parse(firstSentAt) - BEFORE_MS).toISOString() }),
  };
  const listing = {
    list: "listDeliveryTickets",
    query,
    item: DeliveryTicket,
    names: [number],
  } as const;
  const words = { what: `ticket ${number}`, taken: `ticket ${number} is` };
  return findListed(context, listing, words, ({ id, ticketNumber: theirs, orderId: order }) => {
    if (!sameNumber(theirs, number)) return undefined;
    if (theirs !== number) return `${id}, under the number ${theirs}`;
    return order === orderId ? null : `${id}, of another order`;
  });
}

const ticketOf = (context: SinkContext, request: Outgoing) =>
  readAt(context, pathOf("getDeliveryTicket", idIn(request)), DeliveryTicket);

const noTicket = (request: Outgoing): Finding => ({
  found: "none",
  detail: `no delivery ticket ${idIn(request)}`,
});

/** By its words, among the notes since the first send: the same words may rightly stand there from before. */
async function findNote(context: SinkContext, request: Outgoing): Promise<Finding> {
  const { content } = OrderNoteInput.parse(parseExact(request.body));
  const path = pathOf("listOrderNotes", idIn(request));
  const there = (await readAllAt(context, path, OrderNote)) ?? [];
  // Before a first send we look because the store was restored: then any such note may be ours.
  const mayBeOurs = (createdAt: string): boolean =>
    request.firstSentAt === null || isSince(createdAt, request);
  const ours = there.filter((note) => note.content === content && mayBeOurs(note.createdAt));
  return foundIn(new Set(ours.map(({ id }) => id)), `such a note on order ${idIn(request)}`);
}
