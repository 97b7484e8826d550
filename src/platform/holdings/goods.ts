/** Orders and delivery tickets, as the platform shows them now (specification 2.1 and 2.10; part 4). */
import { namedDay } from "../../core/calendar.ts";
import { Decimal } from "../../core/decimal.ts";
import type {
  FactLine,
  Facts,
  GoodsHoldingKind,
  Holding,
  HoldingState,
} from "../../core/holdings.ts";
import { DeliveryTicket, type ticketStatuses } from "../contract/delivery-ticket.ts";
import { Order, type orderStatuses } from "../contract/order.ts";
import type { Ourselves } from "../sinks/ourselves.ts";
import { changeOf } from "../walk.ts";
import {
  changedIn,
  EPOCH,
  type KindHoldings,
  type Reader,
  recordAt,
  recordIn,
  toldByWalks,
  walked,
  withMembers,
} from "./reading.ts";

interface Part {
  readonly list: "listOrders" | "listDeliveryTickets";
  readonly detail: "getOrder" | "getDeliveryTicket";
  /** As members of a record's text. */
  readonly lines: readonly string[];
  /** Null: it is not in its contract. `us`: our company's id; null: nothing tells it. */
  readonly facts: (reader: Reader, record: string, us: string | null) => Facts | null;
  /** The instant that it is dated by, and its last change; null: it is not in its contract. */
  readonly times: (record: string) => readonly [dated: string, changed: string] | null;
}

const PARTS: Readonly<Record<GoodsHoldingKind, Part>> = {
  order: {
    list: "listOrders",
    detail: "getOrder",
    lines: ['"lines"'],
    facts: orderFacts,
    times(record) {
      const order = recordIn(Order, record);
      return order && [order.createdAt, order.updatedAt];
    },
  },
  ticket: {
    list: "listDeliveryTickets",
    detail: "getDeliveryTicket",
    lines: ['"productLines"'],
    facts: ticketFacts,
    times(record) {
      const ticket = recordIn(DeliveryTicket, record);
      return ticket && [ticket.deliveryDate ?? ticket.createdAt, ticket.updatedAt];
    },
  },
};

/** Neither has an amount, and nothing of them is open: a scope asks for their days and changes. */
export function goodsHoldings(
  reader: Reader,
  kind: GoodsHoldingKind,
  ourselves: Ourselves,
): KindHoldings {
  const part = PARTS[kind];
  const one = (id: string, signal: AbortSignal): Promise<string | null> =>
    recordAt(reader, part.detail, id, signal);
  const walk = (updatedSince: string, signal: AbortSignal) =>
    walked(reader, part.list, { updatedSince }, signal);
  async function tell(records: readonly string[]): Promise<Holding[]> {
    const us = records.length === 0 ? null : await ourselves();
    return records.map((record) => {
      const change = changeOf(record);
      const { id, version } = change;
      const facts = part.facts(reader, record, us) ?? {};
      return { kind, id, version, mark: null, change, facts };
    });
  }
  return {
    async *list(scope, signal) {
      const since = changedIn(scope);
      yield* toldByWalks({
        walks: since === null ? [] : [walk(since, signal)],
        all: () => walk(EPOCH, signal),
        isOlderThanItself(record) {
          const [dated, changed] = part.times(record) ?? ["", ""];
          return Date.parse(dated) > Date.parse(changed);
        },
        whole: (records) => withMembers(records, part.lines, (id) => one(id, signal)),
        tell,
      });
    },
    async get(ids, signal) {
      const found: string[] = [];
      for (const id of ids) {
        const record = await one(id, signal);
        if (record !== null) found.push(record);
      }
      return tell(found);
    },
    // What the books hold of the platform's has its id written in it.
    expect: () => ({
      fault: {
        code: "not-written-here",
        message: `no reconciliation tells how the platform would hold a ${kind} of the books`,
        next: "Compare both sides by hand.",
      },
    }),
  };
}

/** Until it is confirmed an order is the platform's alone. A status that is new to us is not compared here. */
const ORDER_STATES: Readonly<Record<(typeof orderStatuses)[number], HoldingState>> = {
  DRAFT: "draft",
  POSTED: "draft",
  BIDDING: "draft",
  ASSIGNED: "draft",
  CONFIRMED: "posted",
  IN_TRANSIT: "posted",
  DELIVERED: "posted",
  PENDING_VERIFICATION: "posted",
  INVOICED: "posted",
  CANCELLED: "ended",
};

const TICKET_STATES: Readonly<Record<(typeof ticketStatuses)[number], HoldingState>> = {
  DRAFT: "draft",
  ISSUED: "draft",
  SIGNED: "posted",
  VOID: "ended",
};

const line = (
  product: string | null,
  quantity: Decimal | null,
  unit: string,
  unitPrice: Decimal | null,
): FactLine => ({ product, quantity, unit, unitPrice, amount: Decimal.zero });

/** Whose site an order of ours is for no record says: its party is not told. */
function orderFacts({ dayOf }: Reader, record: string, us: string | null): Facts | null {
  const order = recordIn(Order, record);
  if (order === null) return null;
  const { companyId, lines } = order;
  const isSale = companyId !== us || lines.some(({ sellPrice }) => sellPrice !== null);
  const [supplier, ...others] = new Set(lines.map(({ supplierId }) => supplierId));
  const seller = others.length === 0 ? supplier : undefined;
  const party = companyId !== us ? companyId : isSale ? undefined : seller;
  const state = ORDER_STATES[order.status as (typeof orderStatuses)[number]];
  return {
    number: order.loadingNumber || order.id,
    ...(us === null || party === undefined ? {} : { party }),
    ...(state === undefined ? {} : { state }),
    days: { date: dayOf(order.createdAt) },
    words: us === null ? {} : { side: isSale ? "sale" : "purchase" },
    lines: lines.map((one) =>
      line(
        one.product,
        one.quantity ?? one.gallons,
        one.unitCode ?? one.unit,
        (isSale ? one.sellPrice : one.buyPrice) ?? one.rate,
      ),
    ),
  };
}

/** Net gallons: the ones that are billed. */
function ticketFacts({ dayOf }: Reader, record: string, us: string | null): Facts | null {
  const ticket = recordIn(DeliveryTicket, record);
  if (ticket === null) return null;
  const { receiverCompanyId, supplierCompanyId, deliveryDate, bolNumber, ticketNumber } = ticket;
  const isBought = receiverCompanyId === us;
  const state = TICKET_STATES[ticket.status as (typeof ticketStatuses)[number]];
  return {
    number: ticketNumber,
    ...(us === null ? {} : { party: isBought ? supplierCompanyId : receiverCompanyId }),
    ...(state === undefined ? {} : { state }),
    days: { date: dayOf(deliveryDate === null ? ticket.createdAt : namedDay(deliveryDate)) },
    words: {
      ...(us === null ? {} : { side: isBought ? "purchase" : "sale" }),
      reference: bolNumber?.trim() || ticketNumber,
    },
    lines: (ticket.productLines ?? []).map((one) =>
      line(one.product_name, one.net_gallons, "gal", null),
    ),
  };
}
