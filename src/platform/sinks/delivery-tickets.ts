/** Delivery tickets from the ERP, and their signatures (specification part 4, Delivery tickets). */
import type { Outgoing, Sink } from "../../core/contract.ts";
import { parseExact } from "../../core/json.ts";
import { sameNumber } from "../../core/keys.ts";
import type { Finding } from "../../core/outcome.ts";
import { DeliveryTicket } from "../contract/delivery-ticket.ts";
import { ChangedTicket, SignedTicket, TicketDocument } from "../contract/documents.ts";
import { pathOf, targetOf } from "../contract/operations.ts";
import { settledIn, tickets } from "./policy.ts";
import { foundChanged, foundIn, listAll, reading, recordAt } from "./read-back.ts";
import { accepted, idIn, type Surroundings, writeSink } from "./write.ts";

/** A document with a `ticketId`, and one of a ticket that we made, changes that ticket; any other makes a new one. */
export function deliveryTickets(surroundings: Surroundings): Sink {
  return writeSink(surroundings, {
    operation: "delivery-ticket.upsert",
    writes: "upsert",
    itemsMax: 1,
    policy: settledIn(tickets, surroundings.settleMs),
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
    find: (request) =>
      reading(() =>
        request.target.startsWith("PUT ")
          ? findChanged(surroundings, request)
          : findNew(surroundings, request),
      ),
    recognise,
  });
}

export function ticketSignatures(surroundings: Surroundings): Sink {
  return writeSink(surroundings, {
    operation: "delivery-ticket.sign",
    writes: "create",
    itemsMax: 1,
    policy: settledIn(tickets, surroundings.settleMs),
    write([item]) {
      const { ticketId, ...body } = accepted(SignedTicket, item?.document);
      return { target: targetOf("signDeliveryTicket", ticketId), body };
    },
    find: (request) => reading(() => findSigned(surroundings, request)),
  });
}

/** Before the first send, in which tickets that our clock is ahead of may have changed. */
const BEFORE_MS = 10 * 60_000;

function recognise({ target, body }: Outgoing, record: unknown): readonly string[] | null {
  if (target.startsWith("PUT ")) return null;
  const { ticketNumber, orderId = null } = TicketDocument.parse(parseExact(body));
  const { success, data: ticket } = DeliveryTicket.safeParse(record);
  const isOurs = success && ticket.ticketNumber === ticketNumber && ticket.orderId === orderId;
  return isOurs ? [ticket.id] : null;
}

/** By our number, among what changed since the first send. Numbers are not said to be unique: the order must agree. */
async function findNew(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const { ticketNumber: number, orderId = null } = TicketDocument.parse(parseExact(request.body));
  const { firstSentAt } = request;
  const query = {
    pageSize: "100",
    ...(orderId === null ? {} : { orderId }),
    ...(firstSentAt === null
      ? {}
      : { updatedSince: new Date(Date.parse(firstSentAt) - BEFORE_MS).toISOString() }),
  };
  const ours = new Set<string>();
  let other: string | null = null;
  const listing = {
    list: "listDeliveryTickets",
    query,
    item: DeliveryTicket,
    names: [number],
  } as const;
  for await (const ticket of listAll(surroundings, listing)) {
    const { id, ticketNumber: theirs } = ticket;
    if (!sameNumber(theirs, number)) continue;
    if (theirs === number && ticket.orderId === orderId) ours.add(id);
    else
      other = theirs === number ? `${id}, of another order` : `${id}, under the number ${theirs}`;
  }
  if (ours.size === 0 && other !== null)
    return { found: "different", detail: `ticket ${number} is ${other}` };
  return foundIn(ours, `ticket ${number}`);
}

async function findChanged(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const ticket = await ticketOf(surroundings, request);
  return ticket === null ? noTicket(request) : foundChanged(request, DeliveryTicket, ticket);
}

async function findSigned(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const ticket = await ticketOf(surroundings, request);
  if (ticket === null) return noTicket(request);
  const { id, status, ticketNumber } = ticket;
  const detail = `ticket ${ticketNumber} is ${status}`;
  if (status === "SIGNED") return { found: "exact", ids: [id], detail };
  return { found: status === "VOID" ? "different" : "none", detail };
}

const ticketOf = (surroundings: Surroundings, request: Outgoing) =>
  recordAt(surroundings, pathOf("getDeliveryTicket", idIn(request)), DeliveryTicket);

const noTicket = (request: Outgoing): Finding => ({
  found: "none",
  detail: `no delivery ticket ${idIn(request)}`,
});
