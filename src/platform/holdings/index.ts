/**
 * What the platform holds now, in its own words, for the reconciliation: purpose `audit`, nothing stored. Each list begins
 * at its start: what was read of one that broke off is read again.
 */
import {
  type Expected,
  type FactLine,
  type Facts,
  type Holding,
  type HoldingKind,
  holdingKinds,
  type Holdings,
  INVOICE_STATES,
  ORDER_STATES,
  type Scope,
  TICKET_STATES,
} from "../../core/holdings.ts";
import { id as uuid, type Numeric, toDecimal } from "../contract/primitives.ts";
import type { Ourselves } from "../sinks/write.ts";
import {
  type KindHoldings,
  PaidSoFar,
  partyPart,
  paymentHoldings,
  pricePart,
  type Reader,
  type Role,
  type Shown,
  stateOf,
  whole,
} from "./lists.ts";
import type { z } from "zod";
import type { Change } from "../../core/contract.ts";
import { defined } from "../../core/defined.ts";
import { DAY_MS, namedDay } from "../../core/time.ts";
import { Decimal } from "../../core/decimal.ts";
import { DeliveryTicket, type ticketStatuses } from "../contract/delivery-ticket.ts";
import { TicketDocument } from "../contract/documents.ts";
import { CreateInvoice, Invoice } from "../contract/invoice.ts";
import { type ListOperation, pathOf, type RecordOperation } from "../contract/operations.ts";
import { Order, type orderStatuses } from "../contract/order.ts";
import {
  changeOf,
  countOf,
  listed,
  type ListPage,
  pageAt,
  type Query,
  recordAt,
  recordIn,
} from "../reading.ts";

export function platformHoldings(reader: Reader, ourselves: Ourselves): Holdings {
  const shown: Shown = new Map();
  const paid = new PaidSoFar(reader);
  const beforeSend = { ...reader, purpose: "read-back" } as const;
  const plain = {
    invoice: dated(beforeSend, "invoice", invoicePart(reader, "issuer", null, shown)),
    bill: dated(beforeSend, "bill", invoicePart(reader, "payer", null, shown)),
    ticket: dated(beforeSend, "ticket", ticketPart(reader, ourselves)),
  };
  const kinds: Record<HoldingKind, KindHoldings> = {
    invoice: dated(reader, "invoice", invoicePart(reader, "issuer", paid, shown)),
    bill: dated(reader, "bill", invoicePart(reader, "payer", paid, shown)),
    payment: paymentHoldings(reader, "payment", paid, shown),
    "bill-payment": paymentHoldings(reader, "bill-payment", paid, shown),
    order: dated(reader, "order", orderPart(reader, ourselves)),
    ticket: dated(reader, "ticket", ticketPart(reader, ourselves)),
    party: whole(reader, "party", partyPart(ourselves)),
    price: whole(reader, "price", pricePart),
  };
  return {
    strength: Object.fromEntries(holdingKinds.map((kind) => [kind, "asked" as const])),
    list: (kind, scope, _from, signal) =>
      ({ ...kinds, ...(scope.beforeSend ? plain : {}) })[kind].list(scope, signal),
    // Books may name any text as an id of the platform's: what is none is not there, and a request for it would be refused.
    get: (kind, ids, signal) =>
      kinds[kind].get(
        kind === "price" ? ids : ids.filter((one) => uuid.safeParse(one).success),
        signal,
      ),
    named: async (kind, numbers, signal) => (await kinds[kind].named?.(numbers, signal)) ?? [],
    expect: (kind, items) => Promise.all(items.map(async (item) => kinds[kind].expect(item))),
  };
}

// Documents of the platform that have a day and a time of change: invoices and bills, orders, delivery tickets.

/* Documents with a day and a time of change */

const EPOCH = "1970-01-01T00:00:00.000Z";

/** What tells one kind of document from another: its list, and how a record of it is read. */
interface DatedPart<Document> {
  readonly list: ListOperation;
  readonly detail: RecordOperation;
  readonly query: Query;
  /** A record that is not in this contract is compared with nothing; a mapping says why. */
  readonly item: z.ZodType<Document>;
  /** Members of a record's text (`"lines"`): that lists carry them is not specified, so a record without one is read by itself. */
  readonly members: readonly string[];
  /** The instant that it is dated by, and its last change. */
  readonly times: (document: Document) => readonly [dated: string, changed: string];
  /** Of documents that are read together; `single`: they were asked for by id or number. */
  readonly facts: (
    signal: AbortSignal,
    single: boolean,
  ) => Promise<(document: Document) => Facts | Promise<Facts>>;
  /** Where documents can be open: statuses in which money is owed, and all others. */
  readonly statuses?: { readonly owed: readonly string[]; readonly settled: readonly string[] };
  /** Left out: its list cannot be searched. */
  readonly numberOf?: (record: string) => string | undefined;
  readonly expect: KindHoldings["expect"];
}

/** A record as it came. */
interface Head {
  readonly text: string;
  readonly change: Change;
}

/** And as it is read, once: each site of a group reads what all of them have. */
interface Read<Document> {
  readonly change: Change;
  /** Null: it is not in its contract. */
  readonly document: Document | null;
}

/** It is dated after its last change: changes say nothing about days then, and only the whole list does. */
const isOlderThanItself =
  <Document>({ times }: DatedPart<Document>) =>
  ({ document }: Read<Document>): boolean => {
    const [at, changed] = document === null ? ["", ""] : times(document);
    return Date.parse(at) > Date.parse(changed);
  };

const headOf = (text: string): Head => ({ text, change: changeOf(text) });

const readAs =
  <Document>(item: z.ZodType<Document>) =>
  ({ text, change }: Head): Read<Document> => ({ change, document: recordIn(item, text) });

function dated<Document>(
  reader: Reader,
  kind: HoldingKind,
  part: DatedPart<Document>,
): KindHoldings {
  const { list, query } = part;
  const walk = (more: Query, updatedSince: string, signal: AbortSignal) =>
    listed(reader, list, { ...query, ...more, updatedSince, pageSize: "100" }, signal);
  const one = (id: string, signal: AbortSignal) =>
    recordAt(reader, pathOf(part.detail, id), signal);

  async function tell(records: readonly Read<Document>[], signal: AbortSignal, single: boolean) {
    const told: Holding[] = [];
    if (records.length === 0) return told;
    const factsOf = await part.facts(signal, single);
    for (const { change, document } of records) {
      const { id, version } = change;
      const facts = document === null ? {} : await factsOf(document);
      told.push({ kind, id, version, mark: null, change, facts });
    }
    return told;
  }

  const read = readAs(part.item);

  async function completed(heads: readonly Head[], signal: AbortSignal): Promise<Read<Document>[]> {
    const complete: Read<Document>[] = [];
    for (const head of heads) {
      const { id, fault } = head.change;
      const isComplete =
        fault !== undefined || part.members.every((name) => head.text.includes(name));
      const text = isComplete ? head.text : await one(id, signal);
      if (text !== null) complete.push(read(isComplete ? head : headOf(text)));
    }
    return complete;
  }

  const isOlder = isOlderThanItself(part);
  /**
   * Changed since the day before the period (a document is changed when it is made, or later), and what is open whatever
   * its age. The counts of the statuses known to us must add up, or there is a status that is new to us, and all is
   * walked; so it is when a list does not say how many it has.
   */
  async function walksFor(scope: Scope, signal: AbortSignal): Promise<AsyncIterable<ListPage>[]> {
    const since = changedIn(scope);
    const walks = since === null ? [] : [walk({}, since, signal)];
    if (!scope.open || part.statuses === undefined) return walks;
    const { owed, settled } = part.statuses;
    const count = (more: Query) => countOf(reader, list, { ...query, ...more }, signal);
    const all = await count({});
    const counts = new Map<string, number | null>();
    for (const status of [...owed, ...settled]) counts.set(status, await count({ status }));
    let known = 0;
    for (const number of counts.values()) known += number ?? Number.NaN;
    if (all === null || known !== all) return [walk({}, EPOCH, signal)];
    const filled = owed.filter((status) => counts.get(status) !== 0);
    return [...walks, ...filled.map((status) => walk({ status }, EPOCH, signal))];
  }

  /**
   * The records with one of these numbers. What more than a page matches is looked for in the whole list, once, so that
   * a short number costs no more than that.
   */
  async function* searched(
    numbers: readonly string[],
    numberOf: (record: string) => string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<string[]> {
    const wanted = new Set<string | undefined>(numbers);
    const isWanted = (record: string): boolean => wanted.has(numberOf(record));
    const searchable = numbers.filter(({ length }) => length > 0 && length <= SEARCH_LETTERS);
    let isCommon = searchable.length > SEARCHES_MAX;
    for (const search of isCommon ? [] : searchable) {
      const page = await pageAt(reader, list, { ...query, search, pageSize: "100" }, signal);
      if (page.hasMore) isCommon = true;
      else yield page.records.filter(isWanted);
    }
    if (!isCommon) return;
    for await (const { records } of walk({}, EPOCH, signal)) yield records.filter(isWanted);
  }

  const { numberOf } = part;
  return {
    /** Each record once, whole, with the count of all that the walks say they have. */
    async *list(scope, signal) {
      const walks = await walksFor(scope, signal);
      const seen = new Set<string>();
      let missing = 0;
      let isAll = false;
      for (const each of walks) {
        const ids = new Set<string>();
        let total: number | null = null;
        for await (const page of each) {
          total = page.total ?? total;
          const fresh = page.records.map(headOf).filter(({ change: { id } }) => {
            ids.add(id);
            return !seen.has(id) && seen.add(id);
          });
          const records = await completed(fresh, signal);
          if (!isAll && records.some(isOlder)) {
            isAll = true;
            walks.push(walk({}, EPOCH, signal));
          }
          const holdings = await tell(records, signal, false);
          yield { holdings, position: null, total: null, serverTime: page.serverTime };
        }
        missing += Math.max((total ?? 0) - ids.size, 0);
      }
      yield { holdings: [], position: null, total: seen.size + missing, serverTime: null };
    },
    async get(ids, signal) {
      const found: Read<Document>[] = [];
      for (const id of ids) {
        const record = await one(id, signal);
        if (record !== null) found.push(read(headOf(record)));
      }
      return tell(found, signal, true);
    },
    ...(numberOf === undefined
      ? {}
      : {
          async named(numbers: readonly string[], signal: AbortSignal) {
            const found: Holding[] = [];
            for await (const records of searched(numbers, numberOf, signal))
              found.push(
                ...(await tell(await completed(records.map(headOf), signal), signal, true)),
              );
            return found;
          },
        }),
    expect: part.expect,
  };
}

/** Searches of one call: one request each. More numbers are looked for in the whole list. */
const SEARCHES_MAX = 200;
/** `search` matches a part of a number or of notes (specification part 4, Invoices), and takes this many letters. */
const SEARCH_LETTERS = 100;

/** Since when what a scope asks for has changed: a document is changed when it is made, or later. Null: nothing is asked. */
function changedIn({ dated: period, changedSince }: Scope): string | null {
  // A day in the company's calendar begins up to 14 hours before or after that of UTC.
  const since =
    period === null
      ? null
      : new Date(Date.parse(`${period.from}T00:00:00Z`) - DAY_MS).toISOString();
  if (since === null || changedSince === null) return since ?? changedSince;
  return since < changedSince ? since : changedSince;
}

/* Invoices that we issued, and those that we pay (specification 2.4; part 4, Invoices) */

/** The statuses in which money is owed. */
const OWED: readonly string[] = ["OUTSTANDING", "OVERDUE", "DISPUTED"];

function invoicePart(
  { dayOf }: Reader,
  role: Role,
  paid: PaidSoFar | null,
  shown: Shown,
): DatedPart<Invoice> {
  return {
    list: "listInvoices",
    detail: "getInvoice",
    query: { role },
    item: Invoice,
    members: ['"lineItems"', '"taxLines"'],
    statuses: { owed: OWED, settled: ["DRAFT", "PAID", "VOID"] },
    times: ({ createdAt, updatedAt }) => [createdAt, updatedAt],
    numberOf: (record) => recordIn(NumberedInvoice, record)?.invoiceNumber,
    facts: async (signal, single) => async (invoice) => {
      const { id, total, status, invoiceNumber: number } = invoice;
      const party = role === "issuer" ? invoice.payerCompanyId : invoice.companyId;
      shown.set(id, { number, party });
      const isOwed = paid !== null && OWED.includes(status);
      const open = isOwed
        ? total.minus(await (single ? paid.ofOne(role, id, signal) : paid.of(role, id, signal)))
        : Decimal.zero;
      const facts = shownInvoice(invoice, role === "issuer" ? "sale" : "purchase");
      return {
        ...facts,
        party,
        ...stateOf(INVOICE_STATES, status),
        days: {
          date: dayOf(invoice.createdAt),
          due: invoice.dueDate === null ? null : dayOf(namedDay(invoice.dueDate)),
          paid: invoice.paidAt === null ? null : dayOf(invoice.paidAt),
        },
        money: { ...facts.money, ...(paid === null ? {} : { open }) },
      };
    },
    /**
     * How a new invoice would be shown. What is not sent (the day it is made, a due date that is left out) is the
     * platform's to fill in, and not compared.
     */
    expect({ document }) {
      const { notes, ...invoice } = CreateInvoice.parse(document);
      const { payerCompanyId: party, dueDate } = invoice;
      const due = dueDate === undefined || dueDate === null ? undefined : dayOf(namedDay(dueDate));
      const facts = shownInvoice({ ...invoice, notes: notes ?? undefined }, "sale");
      return { facts: { ...facts, ...defined({ party }), days: defined({ due }) } };
    },
  };
}

const NumberedInvoice = Invoice.pick({ invoiceNumber: true });

const orderOf = (po: string | null = null, contract: string | null = null): string | null =>
  [po === null ? [] : [`PO ${po}`], contract === null ? [] : [`contract ${contract}`]]
    .flat()
    .join(", ") || null;

type ShownLine = Pick<
  CreateInvoice["lineItems"][number],
  "product" | "gallons" | "rate" | "amount"
> & {
  readonly description?: string | null | undefined;
};

interface ShownInvoice extends Pick<CreateInvoice, "invoiceNumber" | "subtotal" | "tax" | "total"> {
  readonly poNumber?: string | null | undefined;
  readonly contractNumber?: string | null | undefined;
  readonly notes?: string | null | undefined;
  readonly lineItems: readonly ShownLine[];
  readonly taxLines?: readonly { readonly taxType: string; readonly amount: Numeric }[] | undefined;
}

/** What an invoice as it is sent, and as it is shown, both say. */
function shownInvoice(invoice: ShownInvoice, side: "sale" | "purchase") {
  const { notes, poNumber, contractNumber, lineItems, taxLines } = invoice;
  const [untaxed, tax, total] = [invoice.subtotal, invoice.tax, invoice.total].map(toDecimal);
  return {
    number: invoice.invoiceNumber,
    money: defined({ untaxed, tax, total }),
    words: { side, order: orderOf(poNumber, contractNumber), ...defined({ notes }) },
    lines: lineItems.map(shownLine),
    ...defined({
      taxes: taxLines?.map(({ taxType, amount }) => ({ code: taxType, amount: toDecimal(amount) })),
    }),
  } satisfies Facts;
}

const decimal = (value: Parameters<typeof toDecimal>[0] | null | undefined): Decimal | null =>
  value === undefined || value === null ? null : toDecimal(value);

/** A line without an amount is computed by the platform (rule I1). */
function shownLine(line: ShownLine): FactLine {
  const [quantity, unitPrice] = [decimal(line.gallons), decimal(line.rate)];
  const product = quantity ?? Decimal.zero;
  return {
    product: line.product ?? null,
    quantity,
    unit: "gal",
    unitPrice,
    amount: decimal(line.amount) ?? product.times(unitPrice ?? Decimal.zero).round(2),
    text: line.description ?? null,
  };
}

/* Orders and delivery tickets (specification 2.1 and 2.10; part 4): neither has an amount, and nothing of them is open */

type OrderStatus = (typeof orderStatuses)[number];
type TicketStatus = (typeof ticketStatuses)[number];

/** What the books hold of the platform's has its id written in it. */
const orderNotWritten: Expected = {
  fault: {
    code: "not-written-here",
    message: "no flow brings an order of the books to the platform",
    next: "Compare both sides by hand.",
  },
};

const goodsLine = (
  product: string | null,
  quantity: Decimal | null,
  unit: string,
  unitPrice: Decimal | null,
): FactLine => ({ product, quantity, unit, unitPrice, amount: Decimal.zero });

/** Whose site an order of ours is for no record says: its party is not told. */
function orderPart({ dayOf }: Reader, ourselves: Ourselves): DatedPart<Order> {
  return {
    list: "listOrders",
    detail: "getOrder",
    query: {},
    item: Order,
    members: ['"lines"'],
    times: ({ createdAt, updatedAt }) => [createdAt, updatedAt],
    async facts() {
      const us = await ourselves();
      return (order) => {
        const { companyId, lines } = order;
        const isSale = companyId !== us || lines.some(({ sellPrice }) => sellPrice !== null);
        const [supplier, ...others] = new Set(lines.map(({ supplierId }) => supplierId));
        const seller = others.length === 0 ? supplier : undefined;
        const party = companyId !== us ? companyId : isSale ? undefined : seller;
        return {
          number: order.loadingNumber || order.id,
          ...(us === null || party === undefined ? {} : { party }),
          ...stateOf<OrderStatus>(ORDER_STATES, order.status),
          days: { date: dayOf(order.createdAt) },
          words: us === null ? {} : { side: isSale ? "sale" : "purchase" },
          lines: lines.map((one) =>
            goodsLine(
              one.product,
              one.quantity ?? one.gallons,
              one.unitCode ?? one.unit,
              (isSale ? one.sellPrice : one.buyPrice) ?? one.rate,
            ),
          ),
        };
      };
    },
    expect: () => orderNotWritten,
  };
}

/** Net gallons: the ones that are billed. */
function ticketPart({ dayOf }: Reader, ourselves: Ourselves): DatedPart<DeliveryTicket> {
  return {
    list: "listDeliveryTickets",
    detail: "getDeliveryTicket",
    query: {},
    item: DeliveryTicket,
    members: ['"productLines"'],
    times: ({ deliveryDate, createdAt, updatedAt }) => [deliveryDate ?? createdAt, updatedAt],
    async facts() {
      const us = await ourselves();
      return (ticket) => {
        const { deliveryDate, status } = ticket;
        const day = deliveryDate === null ? ticket.createdAt : namedDay(deliveryDate);
        return {
          ...shownTicket(ticket, us),
          ...stateOf<TicketStatus>(TICKET_STATES, status),
          days: { date: dayOf(day) },
        };
      };
    },
    /** Whether it is signed already is the receiver's to say; its day, where none is sent, the platform's. */
    async expect({ document }) {
      const { status, ...ticket } = TicketDocument.parse(document);
      const day = ticket.deliveryDate ?? null;
      return {
        facts: {
          ...shownTicket(ticket, await ourselves()),
          ...(status === undefined ? {} : stateOf<TicketStatus>(TICKET_STATES, status)),
          ...(day === null ? {} : { days: { date: dayOf(namedDay(day)) } }),
        },
      };
    },
  };
}

type ShownTicket = Pick<
  z.infer<typeof TicketDocument>,
  "ticketNumber" | "receiverCompanyId" | "supplierCompanyId" | "bolNumber"
> & {
  readonly productLines?:
    | readonly {
        readonly product_name?: string | null | undefined;
        readonly net_gallons?: Parameters<typeof decimal>[0];
      }[]
    | null
    | undefined;
};

function shownTicket(ticket: ShownTicket, us: string | null): Facts {
  const { receiverCompanyId = null, supplierCompanyId = null, bolNumber, ticketNumber } = ticket;
  const isBought = receiverCompanyId === us;
  return {
    number: ticketNumber,
    ...(us === null ? {} : { party: isBought ? supplierCompanyId : receiverCompanyId }),
    words: {
      ...(us === null ? {} : { side: isBought ? "purchase" : "sale" }),
      reference: bolNumber?.trim() || ticketNumber,
    },
    lines: (ticket.productLines ?? []).map((one) =>
      goodsLine(one.product_name ?? null, decimal(one.net_gallons), "gal", null),
    ),
  };
}
