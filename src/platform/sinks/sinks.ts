/** Documents from the ERP that the platform takes: invoices and their payment, delivery tickets and their signatures, notes on orders. */
import type { Memory, Outgoing } from "../../core/contract.ts";
import { amountOf, Decimal } from "../../core/decimal.ts";
import { parseExact } from "../../core/json.ts";
import { bareNumber, sameNumber } from "../../core/keys.ts";
import type { Finding } from "../../core/outcome.ts";
import type { Fault } from "../../core/record.ts";
import { DeliveryTicket } from "../contract/delivery-ticket.ts";
import {
  ChangedFreightRate,
  fixedInRate,
  ChangedTicket,
  EndedFreightRate,
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
  differs,
  findListed,
  foundChanged,
  foundIn,
  idIn,
  isSameInstant,
  isSince,
  listAll,
  masterData,
  money,
  notes,
  payments,
  prices,
  readAllAt,
  readAt,
  type SinkContext,
  type SinkPart,
  tickets as policy,
} from "./write.ts";
import { folded } from "../../core/text.ts";
import { CreateFreightRate, FreightRate, UpdateFreightRate } from "../contract/network.ts";
import { SupplierTerminal, UpdateTerminal, UpsertTerminal } from "../contract/place.ts";
import { BulkRackPrice, hasEnded, nameOfPrice, RackPrice, shownUnit } from "../contract/pricing.ts";

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
  makesOne: true,
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
      success && invoice.invoiceNumber === ours.invoiceNumber && !invoiceDiffers(ours, invoice);
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
 * signs: how a number is kept is not specified. One that is void is ours only if we have sent it: before that a person
 * says whether it stays void, or is issued again under its number.
 */
async function findInvoice(
  context: SinkContext,
  request: Outgoing,
  memory?: Memory,
): Promise<Finding> {
  const ours = CreateInvoice.parse(parseExact(request.body));
  const number = ours.invoiceNumber;
  const wasSent = request.firstSentAt !== null;
  const query = { role: "issuer", search: searchedFor(number), pageSize: "100" };
  const listing = { list: "listInvoices", query, item: ListedInvoice, names: [number] } as const;
  const words = { what: `invoice ${number}`, taken: `invoice number ${number} is used by` };
  let isOpen = false;
  const ended: string[] = [];
  const finding = await findListed(context, listing, words, (invoice) => {
    const { id, invoiceNumber: theirs, status } = invoice;
    if (status === "VOID" && theirs === number) {
      if (memory?.isDismissed(id) === true) return undefined;
      if (!wasSent) {
        ended.push(id);
        return undefined;
      }
    }
    const difference = invoiceDiffers(ours, invoice);
    if (theirs !== number) {
      const isKept = difference === null && wasSent && bareNumber(theirs) === bareNumber(number);
      return isKept || sameNumber(theirs, number)
        ? `${id}: number ${theirs} instead of ${number}`
        : undefined;
    }
    if (difference === null) isOpen = isDraft(invoice);
    return difference === null ? null : `${id}: ${difference}`;
  });
  if (finding.found === "none" && ended.length > 0) return voidThere(number, ended);
  return finding.found === "exact" && isOpen ? { ...finding, unfinished: DRAFT } : finding;
}

function voidThere(number: string, candidates: readonly string[]): Finding {
  const message = `the platform has invoice ${number}, and it is void there: ${candidates.join(", ")}`;
  const next =
    "If it stays void, cancel it in the books, too, and close this with its id there. If it is owed, retry this: it is issued once more under its number.";
  const reason = "the platform has the invoice, and it is void there";
  const fault: Fault = { code: "number-taken", message, next, candidates, reason };
  return { found: "different", detail: message, fault };
}

/** The platform finds a part of a number, in any case: of one with blanks its longest piece, where that says enough. */
function searchedFor(number: string): string {
  const pieces = number.trim().split(/\s+/);
  const longest = pieces.toSorted((one, other) => other.length - one.length)[0] ?? number;
  return pieces.length === 1 || longest.length >= PIECE_LEAST ? longest : number.trim();
}
const PIECE_LEAST = 4;

/** In what a platform invoice differs from the frozen one; null when in nothing that we can see. */
function invoiceDiffers(ours: CreateInvoice, theirs: ListedInvoice): string | null {
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
  const theirSum = amountOf(lines);
  // A line without an amount is computed by the platform, and how it rounds is not specified.
  return amounts.length < lines.length || sum.equals(theirSum)
    ? null
    : `lines of ${theirSum.text} instead of ${sum.text}`;
}

/**
 * An invoice that is void or in dispute is never marked: a person decides. One that somebody else has marked, or paid there,
 * keeps the time of it; a day that we gave it ourselves and that the books have corrected is marked again.
 */
async function findPaid(
  context: SinkContext,
  request: Outgoing,
  memory?: Memory,
): Promise<Finding> {
  const { paidAt } = MarkPaid.parse(parseExact(request.body));
  const id = idIn(request);
  const invoice = await readAt(context, pathOf("getInvoice", id), ListedInvoice);
  if (invoice === null) return { found: "none", detail: `no invoice ${id}` };
  const { status, invoiceNumber: number } = invoice;
  const detail = `invoice ${number} is ${status}`;
  if (status === "VOID" || status === "DISPUTED") return { found: "different", detail };
  if (status !== "PAID") return { found: "none", detail };
  const isOurs = memory?.linked(id).some(({ isOwnKind }) => isOwnKind) === true;
  const { paidAt: since } = invoice;
  return paidAt === undefined || (since !== null && (!isOurs || isSameInstant(paidAt, since)))
    ? { found: "exact", ids: [id], detail: `${detail} since ${since}` }
    : { found: "none", detail: `${detail} at ${since}, not at ${paidAt}` };
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
  makesOne: true,
  writes: "upsert",
  policy,
  write([item]) {
    const document = { ticketId: item?.counterpart, ...(item?.document as object) };
    if (document.ticketId === null)
      return {
        target: targetOf("createDeliveryTicket"),
        // It has nothing to empty, and a platform that reads its contract to the letter takes no null.
        body: only(accepted(TicketDocument, item?.document), (_, value) => value !== null),
      };
    const { ticketId, ...body } = accepted(ChangedTicket, document);
    // Nor has one that is there, but for what we delivered it with: that may not be kept any more.
    const delivered = item?.delivered?.();
    const had = parseExact(delivered ?? "{}") as Readonly<Record<string, unknown>>;
    return {
      target: targetOf("updateDeliveryTicket", ticketId),
      body: only(
        body,
        (field, value) => value !== null || delivered === null || (had[field] ?? null) !== null,
      ),
    };
  },
  find: findTicket,
  async findChanged(context, request, memory) {
    const ticket = await ticketOf(context, request);
    return ticket === null
      ? noTicket(request)
      : foundChanged(context, request, DeliveryTicket, ticket, memory);
  },
  recognise({ target, body }, record) {
    if (target.startsWith("PUT ")) return null;
    const { ticketNumber, orderId = null } = TicketDocument.parse(parseExact(body));
    const { success, data: ticket } = DeliveryTicket.safeParse(record);
    const isOurs = success && ticket.ticketNumber === ticketNumber && ticket.orderId === orderId;
    return isOurs ? [ticket.id] : null;
  },
};

const only = (body: object, leaves: (field: string, value: unknown) => boolean): object =>
  Object.fromEntries(Object.entries(body).filter((member) => leaves(...member)));

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

/** Before the first send: what is asked for, since nobody may have heard yet how far the platform's clock is behind ours. */
const ASKED_MS = 24 * 3_600_000;

/** For so much a ticket's time counts as ours although nobody has heard that the clock is behind: it may have been put right. */
const UNHEARD_MS = 8 * 60_000;

/** By our number, among what changed since the first send. Numbers are not said to be unique: the order must agree. */
async function findTicket(context: SinkContext, request: Outgoing): Promise<Finding> {
  const { ticketNumber: number, orderId = null } = TicketDocument.parse(parseExact(request.body));
  const { firstSentAt } = request;
  const query = {
    pageSize: "100",
    ...(orderId === null ? {} : { orderId }),
    ...(firstSentAt === null
      ? {}
      : { updatedSince: new Date(Date.parse(firstSentAt) - ASKED_MS).toISOString() }),
  };
  const listing = {
    list: "listDeliveryTickets",
    query,
    item: DeliveryTicket,
    names: [number],
  } as const;
  const words = { what: `ticket ${number}`, taken: `ticket ${number} is` };
  const behindMs = (): number => Math.max(context.behindMs(), UNHEARD_MS);
  return findListed(context, listing, words, (ticket) => {
    const { id, ticketNumber: theirs, orderId: order } = ticket;
    const isOlder = firstSentAt !== null && !isSince(ticket.updatedAt, request, { behindMs });
    if (isOlder || !sameNumber(theirs, number)) return undefined;
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
    request.firstSentAt === null || isSince(createdAt, request, context);
  const ours = there.filter((note) => note.content === content && mayBeOurs(note.createdAt));
  return foundIn(new Set(ours.map(({ id }) => id)), `such a note on order ${idIn(request)}`);
}

// Prices, freight rates and terminals from the ERP (specification part 4, Pricing, Freight rates, Terminals).

/** Up to 200 a call. */
export const rackPrices: SinkPart = {
  uses: ["upsertRackPrices", "listRackPrices"],
  operation: "rack-price.upsert",
  writes: "upsert",
  itemsMax: 200,
  policy: prices,
  anonymous: true,
  write: (items) => ({
    target: targetOf("upsertRackPrices"),
    body: accepted(BulkRackPrice, { prices: items.map(({ document }) => document) }),
  }),
  ids: (data, { body }) => (countIn(data) === null ? null : pricesIn(body).map(nameOfPrice)),
  // What it left out is not specified to be told; neither is whether a price that it had already counts.
  isInPart: (data, ids) => (countIn(data) ?? Infinity) < new Set(ids).size,
  find: findPrices,
};

/**
 * A document with a `freightRateId`, and one of a rate that we made, changes that rate; any other makes a new one.
 * Rates are read by connection only, so the target of a change names it for the read-back.
 */
export const freightRates: SinkPart = {
  uses: ["createFreightRate", "updateFreightRate", "listFreightRates"],
  operation: "freight-rate.upsert",
  makesOne: true,
  writes: "upsert",
  policy: masterData,
  write([item]) {
    const document = { freightRateId: item?.counterpart, ...(item?.document as object) };
    if (document.freightRateId === null) {
      const body = accepted(CreateFreightRate, item?.document);
      return { target: targetOf("createFreightRate", body.connectionId), body };
    }
    const { freightRateId, connectionId, ...body } = accepted(ChangedFreightRate, document);
    return {
      target: `${targetOf("updateFreightRate", freightRateId)} ${ratesOn(connectionId)}`,
      // An update has no such field: empty, it says nothing, and a platform that reads its contract to the letter refuses it.
      body: accepted(
        UpdateFreightRate,
        only(body, (field) => !(field in fixedInRate)),
      ),
    };
  },
  find: findRate,
  async findChanged(context, request, memory) {
    const rates = await listed(context, request);
    const rate = rates?.find(({ id }) => id === idIn(request));
    if (rate !== undefined) return foundChanged(context, request, FreightRate, rate, memory);
    return {
      found: "different",
      detail: `its connection has no freight rate ${idIn(request)}`,
    };
  },
};

/** A rate that is gone already is as good as one that we deleted. */
export const endedFreightRates: SinkPart = {
  uses: ["deleteFreightRate", "listFreightRates"],
  operation: "freight-rate.delete",
  policy: { ...masterData, preflight: false },
  ids: (_, request) => [idIn(request)],
  write([item]) {
    const { freightRateId, connectionId } = accepted(EndedFreightRate, item?.document);
    const target = `${targetOf("deleteFreightRate", freightRateId)} ${ratesOn(connectionId)}`;
    return { target, body: undefined };
  },
  async find(context, request) {
    const rates = await listed(context, request);
    if (rates === null) return { found: "different", detail: "its connection is not to be seen" };
    return rates.some(({ id }) => id === idIn(request))
      ? { found: "none", detail: `freight rate ${idIn(request)} is still there` }
      : { found: "exact", ids: [idIn(request)], detail: `freight rate ${idIn(request)} is gone` };
  },
};

/** The company's own terminals. One that we made is changed; any other is made, if its code is not there yet. */
export const supplierTerminals: SinkPart = {
  uses: [
    "createSupplierTerminal",
    "listSupplierTerminals",
    "updateSupplierTerminal",
    "getSupplierTerminal",
  ],
  operation: "supplier-terminal.upsert",
  names: {
    what: "terminal",
    called: (document) => folded((document as { readonly name: string }).name),
  },
  makesOne: true,
  writes: "upsert",
  policy: masterData,
  write([item]) {
    const id = item?.counterpart ?? null;
    return id === null
      ? {
          target: targetOf("createSupplierTerminal"),
          body: accepted(UpsertTerminal, item?.document),
        }
      : {
          target: targetOf("updateSupplierTerminal", id),
          body: accepted(UpdateTerminal, item?.document),
        };
  },
  find: findTerminal,
  async findChanged(context, request, memory) {
    const id = idIn(request);
    const terminal = await readAt(context, pathOf("getSupplierTerminal", id), SupplierTerminal);
    return terminal === null
      ? { found: "none", detail: `no terminal ${id}` }
      : foundChanged(context, request, SupplierTerminal, terminal, memory);
  },
};

const ratesOn = (connectionId: string): string => pathOf("listFreightRates", connectionId);

/** The rates of the connection that the target's last word names; null when it is not to be seen. */
const listed = (
  context: SinkContext,
  { target }: Outgoing,
): Promise<readonly FreightRate[] | null> =>
  readAllAt(context, target.split(" ").at(-1) ?? "", FreightRate);

/** What makes a lane: a rate that names a city besides is another one. */
const NO_LANE = {
  originTerminalId: null,
  originCity: null,
  originState: null,
  destinationZipPrefix: null,
  destinationZip: null,
  destinationCity: null,
  destinationState: null,
  product: null,
};
const NO_AMOUNTS = {
  ratePerMile: null,
  flatFee: null,
  minCharge: null,
  fuelSurchargePercent: null,
  customFees: null,
};
const Compared = FreightRate.omit({ notes: true });

/** By lane, amounts and beginning, among the rates made since the first send; before it, among all. */
async function findRate(context: SinkContext, request: Outgoing): Promise<Finding> {
  const rate = CreateFreightRate.parse(parseExact(request.body));
  const rates = (await listed(context, request)) ?? [];
  const matches = rates.filter(
    (other) =>
      (request.firstSentAt === null || isSince(other.createdAt, request, context)) &&
      differs({ ...NO_LANE, ...NO_AMOUNTS, ...rate }, other, Compared) === null,
  );
  const what = `such a freight rate on ${rate.connectionId}`;
  return foundIn(new Set(matches.map(({ id }) => id)), what);
}

/** By code; one that was never sent by its name as well. */
async function findTerminal(
  context: SinkContext,
  request: Outgoing,
  memory?: Memory,
): Promise<Finding> {
  const found = await findByCode(context, request);
  const isNew = found.found === "none" && request.firstSentAt === null;
  return (isNew ? await underAnotherCode(context, request, memory) : null) ?? found;
}

/**
 * A terminal of the same name and place: its code was changed in the ERP, perhaps while the store was an older one, or it is
 * there twice. A code is all that an ERP's list knows a terminal by, so a person tells. Null: there is none.
 */
async function underAnotherCode(
  context: SinkContext,
  request: Outgoing,
  memory: Memory | undefined,
): Promise<Finding | null> {
  const {
    terminalCode: code,
    name,
    city,
    state,
    zip,
  } = UpsertTerminal.parse(parseExact(request.body));
  const place = Object.entries({ city, state, zip }).filter(([, value]) => value);
  const listing = {
    list: "listSupplierTerminals",
    query: { search: name.slice(0, 100), pageSize: "100" },
    item: SupplierTerminal,
    names: [name],
  } as const;
  const shown = new Map<string, string>();
  for await (const theirs of listAll(context, listing)) {
    const isElsewhere = place.some(
      ([field, value]) => folded(theirs[field as "city"] ?? "") !== folded(String(value)),
    );
    if (folded(theirs.name) !== folded(name) || memory?.isDismissed(theirs.id)) continue;
    if (!isElsewhere) shown.set(theirs.id, `${theirs.terminalCode} (${theirs.id})`);
  }
  if (shown.size === 0) return null;
  const message = `the platform has "${name}", which comes as ${code}, under another code: ${[...shown.values()].join(", ")}`;
  const next = `Was its code changed in the ERP? Then give it the code ${code} there, and close this with its id. If these are two terminals, retry this: ${code} is created.`;
  const fault: Fault = { code: "code-changed", message, next, candidates: [...shown.keys()] };
  return { found: "different", detail: message, fault };
}

/** Whether the platform keeps codes apart is not specified: one with other fields is for a person. */
async function findByCode(context: SinkContext, request: Outgoing): Promise<Finding> {
  const ours = UpsertTerminal.parse(parseExact(request.body));
  const { terminalCode: code } = ours;
  const listing = {
    list: "listSupplierTerminals",
    query: { search: code, pageSize: "100" },
    item: SupplierTerminal,
    names: [code],
  } as const;
  const words = { what: `terminal ${code}`, taken: `terminal code ${code} is used by` };
  return findListed(context, listing, words, (theirs) => {
    if (theirs.terminalCode !== code) return undefined;
    const difference = differs(ours, theirs, SupplierTerminal);
    return difference === null ? null : `${theirs.id}: ${difference}`;
  });
}

async function findPrices(context: SinkContext, { body }: Outgoing): Promise<Finding> {
  const ours = pricesIn(body);
  const theirs = new Map<string, RackPrice>();
  const listing = {
    list: "listRackPrices",
    query: { pageSize: "500" },
    item: RackPrice,
    names: ours.map(({ terminalId }) => terminalId),
  } as const;
  const nowMs = context.clock.now().wallMs;
  for await (const price of listAll(context, listing)) {
    if (hasEnded(price, nowMs)) continue;
    // Whether older prices of the same thing stay listed is not specified: the latest counts.
    const other = theirs.get(nameOfPrice(price));
    if (other === undefined || isLater(price, other)) theirs.set(nameOfPrice(price), price);
  }
  const off = ours.filter((price) => {
    const there = theirs.get(nameOfPrice(price));
    return (
      there === undefined ||
      !there.price.equals(toDecimal(price.price)) ||
      shownUnit(there) !== shownUnit(price)
    );
  });
  const [first] = off;
  if (first === undefined)
    return {
      found: "exact",
      ids: ours.map(nameOfPrice),
      detail: `all ${ours.length} prices are there`,
    };
  return {
    found: off.length === ours.length ? "none" : "different",
    detail: `${off.length} of ${ours.length} prices are not there, first ${nameOfPrice(first)}`,
  };
}

/** How many prices an answer says were set; null: it does not say. */
function countIn(data: unknown): number | null {
  const { updated, created } = (data ?? {}) as { updated?: unknown; created?: unknown };
  return typeof updated === "number" && typeof created === "number" ? updated + created : null;
}

const pricesIn = (body: string) => BulkRackPrice.parse(parseExact(body)).prices;

const isLater = (one: RackPrice, other: RackPrice): boolean =>
  Date.parse(one.effectiveAt) > Date.parse(other.effectiveAt);
