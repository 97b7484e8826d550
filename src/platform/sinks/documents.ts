/** Documents from the ERP that the platform takes: invoices and their payment, delivery tickets and their signatures, notes on orders. */
import type { Outgoing } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { parseExact } from "../../core/json.ts";
import { sameNumber } from "../../core/keys.ts";
import type { Finding } from "../../core/outcome.ts";
import type { Fault } from "../../core/record.ts";
import { DeliveryTicket } from "../contract/delivery-ticket.ts";
import {
  ChangedTicket,
  NoteOnOrder,
  PaidInvoice,
  SignedTicket,
  TicketDocument,
} from "../contract/documents.ts";
import { CreateInvoice, ListedInvoice, MarkPaid } from "../contract/invoice.ts";
import { pathOf, targetOf } from "../contract/operations.ts";
import { OrderNote, OrderNoteInput } from "../contract/order.ts";
import { toDecimal } from "../contract/primitives.ts";
import {
  accepted,
  findListed,
  foundChanged,
  foundIn,
  idIn,
  isSameInstant,
  isSince,
  listAll,
  money,
  notes,
  payments,
  tickets as policy,
  readAllAt,
  readAt,
  type SinkContext,
  type SinkPart,
} from "./write.ts";

/* Invoices from the ERP, and their payment (specification part 4, Invoices and payments). */

/** Which status a new invoice has is not specified (part 3): a draft is nothing that its payer sees. */
const DRAFT: Fault = {
  code: "draft-at-receiver",
  message: "the platform has it as a draft: its payer does not see it, and it counts for nothing",
  next: "Issue it on the platform; this clears by itself within the hour.",
};

const isDraft = (data: unknown): boolean =>
  (data as { status?: unknown } | undefined)?.status === "DRAFT";

export const invoices: SinkPart = {
  uses: ["createInvoice", "listInvoices"],
  operation: "invoice.create",
  policy: money,
  write: ([item]) => ({
    target: targetOf("createInvoice"),
    body: accepted(CreateInvoice, item?.document),
  }),
  find: findInvoice,
  recognise({ body }, record) {
    const ours = CreateInvoice.parse(parseExact(body));
    const { success, data: invoice } = ListedInvoice.safeParse(record);
    const isOurs =
      success && invoice.invoiceNumber === ours.invoiceNumber && !differs(ours, invoice);
    // That of a draft is said by the read-back.
    return isOurs && !isDraft(invoice) ? [invoice.id] : null;
  },
  unfinished: {
    fault: DRAFT,
    isOpen: isDraft,
    async still(context, ids) {
      const drafts = new Set<string>();
      const query = { role: "issuer", status: "DRAFT", pageSize: "100" };
      const listing = { list: "listInvoices", query, item: ListedInvoice, names: ids } as const;
      for await (const { id } of listAll(context, listing)) drafts.add(id);
      return ids.map((id) => drafts.has(id));
    },
  },
};

/** Payment of our invoices, as far as the platform takes it: paid in full. */
export const paidInvoices: SinkPart = {
  uses: ["markInvoicePaid", "getInvoice"],
  operation: "invoice.mark-paid",
  policy: payments,
  write([item]) {
    const { invoiceId, ...body } = accepted(PaidInvoice, item?.document);
    return { target: targetOf("markInvoicePaid", invoiceId), body };
  },
  find: findPaid,
};

/**
 * By invoice number, compared with what we froze. Numbers are not said to be unique, so the amounts, the payer and
 * the lines must agree too; the same number with others is for a person. So is one whose number is written otherwise and
 * is the same as people read it; and once ours was sent, one that agrees in all of that and has our number with other
 * signs: how a number is kept is not specified.
 */
async function findInvoice(context: SinkContext, request: Outgoing): Promise<Finding> {
  const ours = CreateInvoice.parse(parseExact(request.body));
  const number = ours.invoiceNumber;
  const wasSent = request.firstSentAt !== null;
  const query = { role: "issuer", search: searchedFor(number), pageSize: "100" };
  const listing = { list: "listInvoices", query, item: ListedInvoice, names: [number] } as const;
  const words = { what: `invoice ${number}`, taken: `invoice number ${number} is used by` };
  let isOpen = false;
  const finding = await findListed(context, listing, words, (invoice) => {
    const { id, invoiceNumber: theirs } = invoice;
    const difference = differs(ours, invoice);
    if (theirs !== number) {
      const isKept = difference === null && wasSent && bare(theirs) === bare(number);
      return isKept || sameNumber(theirs, number)
        ? `${id}: number ${theirs} instead of ${number}`
        : undefined;
    }
    if (difference === null) isOpen = isDraft(invoice);
    return difference === null ? null : `${id}: ${difference}`;
  });
  return finding.found === "exact" && isOpen ? { ...finding, unfinished: DRAFT } : finding;
}

/** The platform finds a part of a number, in any case: of one with blanks its longest piece, where that says enough. */
function searchedFor(number: string): string {
  const pieces = number.trim().split(/\s+/);
  const longest = pieces.toSorted((one, other) => other.length - one.length)[0] ?? number;
  return pieces.length === 1 || longest.length >= PIECE_LEAST ? longest : number.trim();
}
const PIECE_LEAST = 4;

/** A number without its case, white space and signs. */
const bare = (number: string): string => number.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** In what a platform invoice differs from the frozen one; null when in nothing that we can see. */
function differs(ours: CreateInvoice, theirs: ListedInvoice): string | null {
  for (const field of ["total", "subtotal", "tax"] as const) {
    const wanted = toDecimal(ours[field]);
    if (!wanted.equals(theirs[field]))
      return `${field} ${theirs[field].text} instead of ${wanted.text}`;
  }
  if ((ours.payerCompanyId ?? null) !== theirs.payerCompanyId) return "another payer";
  const lines = theirs.lineItems;
  if (lines === undefined) return null;
  if (lines.length !== ours.lineItems.length)
    return `${lines.length} lines instead of ${ours.lineItems.length}`;
  const amounts = ours.lineItems.flatMap(({ amount }) => amount ?? []).map(toDecimal);
  const sum = Decimal.sum(amounts);
  const theirSum = Decimal.sum(lines.map(({ amount }) => amount));
  // A line without an amount is computed by the platform, and how it rounds is not specified.
  return amounts.length < lines.length || sum.equals(theirSum)
    ? null
    : `lines of ${theirSum.text} instead of ${sum.text}`;
}

/** An invoice that is void or in dispute is never marked: a person decides. */
async function findPaid(context: SinkContext, request: Outgoing): Promise<Finding> {
  const { paidAt } = MarkPaid.parse(parseExact(request.body));
  const id = idIn(request);
  const invoice = await readAt(context, pathOf("getInvoice", id), ListedInvoice);
  if (invoice === null) return { found: "none", detail: `no invoice ${id}` };
  const { status, invoiceNumber: number } = invoice;
  const detail = `invoice ${number} is ${status}`;
  if (status === "VOID" || status === "DISPUTED") return { found: "different", detail };
  if (status !== "PAID") return { found: "none", detail };
  return paidAt === undefined || isSameInstant(paidAt, invoice.paidAt ?? "")
    ? { found: "exact", ids: [id], detail }
    : { found: "none", detail: `${detail} at ${invoice.paidAt}, not at ${paidAt}` };
}

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
