/**
 * Lists of the platform that cannot be asked what changed since: payments, and those that are read whole each time (parties,
 * prices).
 */
import type { z } from "zod";
import type { Item } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { defined } from "../../core/defined.ts";
import type {
  Expected,
  Facts,
  Holding,
  HoldingPage,
  HoldingState,
  Scope,
} from "../../core/holdings.ts";
import { Payment, type paymentStatuses } from "../contract/invoice.ts";
import { Connection, CreateParty } from "../contract/network.ts";
import { type ListOperation, pathOf } from "../contract/operations.ts";
import { BulkRackPrice, hasEnded, nameOfPrice, RackPrice, shownUnit } from "../contract/pricing.ts";
import { pages, rackPages, toDecimal, widePages } from "../contract/primitives.ts";
import { changeOf, listed, type Query, type ReadContext, recordAt, recordIn } from "../reading.ts";
import { otherEnd, type Ourselves, ourselvesAmong } from "../sinks/write.ts";

export interface Reader extends ReadContext {
  /** The calendar day (`YYYY-MM-DD`) of an instant where the company is. */
  readonly dayOf: (instant: string) => string;
}

/** What one kind of holding can tell. */
export interface KindHoldings {
  list(scope: Scope, signal: AbortSignal): AsyncIterable<HoldingPage>;
  get(ids: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
  /** Left out: its list tells all there is. */
  named?(numbers: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
  expect(item: Item): Expected | Promise<Expected>;
}

export type Role = "issuer" | "payer";

/** Number and party of every invoice that was shown, by id: a payment names its invoice by the id alone. */
export type Shown = Map<string, Pick<Facts, "number" | "party">>;

/** A status that is new to us is not compared; the mapping refuses it. */
export function stateOf<Status extends string>(
  states: Readonly<Record<Status, HoldingState>>,
  status: string,
): Pick<Facts, "state"> {
  const state = states[status as Status] as HoldingState | undefined;
  return state === undefined ? {} : { state };
}

/* Payments received and made (specification 2.5; part 4, Invoices and payments) */

/** The listing has no date filter, and each page costs. */
const FRESH_MS = 600_000;

/** What payments of an invoice that went through come to. */
export class PaidSoFar {
  readonly #reader: Reader;
  readonly #kept = new Map<Role, { readonly sinceMs: number; readonly sums: PaymentSums }>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** By a reading of the whole list, which serves the invoices that are read right after it. */
  async of(role: Role, invoiceId: string, signal: AbortSignal): Promise<Decimal> {
    const nowMs = this.#reader.clock.now().monoMs;
    const known = this.#kept.get(role);
    if (known !== undefined && nowMs - known.sinceMs < FRESH_MS) return known.sums.of(invoiceId);
    const sums = await this.#read(role, {}, signal);
    this.keep(role, nowMs, sums);
    return sums.of(invoiceId);
  }

  /** By asking for the payments of this one. */
  async ofOne(role: Role, invoiceId: string, signal: AbortSignal): Promise<Decimal> {
    return (await this.#read(role, { invoiceId }, signal)).of(invoiceId);
  }

  /** `sums` of a whole list whose reading began at `sinceMs`, by the monotonic clock. */
  keep(role: Role, sinceMs: number, sums: PaymentSums): void {
    this.#kept.set(role, { sinceMs, sums });
  }

  async #read(role: Role, query: Query, signal: AbortSignal): Promise<PaymentSums> {
    const sums = new PaymentSums();
    for await (const { records } of listedPayments(this.#reader, role, query, signal))
      for (const record of records) sums.add(recordIn(Payment, record));
    return sums;
  }
}

/** Each payment once: one that slid to the next page while the list was read is not paid twice. */
class PaymentSums {
  readonly #seen = new Set<string>();
  readonly #byInvoice = new Map<string, Decimal>();

  add(payment: Payment | null): void {
    if (payment?.status !== "SUCCEEDED" || this.#seen.has(payment.id)) return;
    this.#seen.add(payment.id);
    this.#byInvoice.set(payment.invoiceId, this.of(payment.invoiceId).plus(payment.amount));
  }

  of(invoiceId: string): Decimal {
    return this.#byInvoice.get(invoiceId) ?? Decimal.zero;
  }
}

const listedPayments = (reader: Reader, role: Role, query: Query, signal: AbortSignal) =>
  listed(reader, "listPayments", { role, ...query, pageSize: String(pages.max) }, signal);

/** What has not gone through is no payment yet. */
const PAYMENT_STATES: Readonly<Record<(typeof paymentStatuses)[number], HoldingState>> = {
  PENDING: "draft",
  PROCESSING: "draft",
  SUCCEEDED: "paid",
  FAILED: "ended",
  REFUNDED: "ended",
};

export function paymentHoldings(
  reader: Reader,
  kind: "payment" | "bill-payment",
  paid: PaidSoFar,
  shown: Shown,
): KindHoldings {
  const role = kind === "payment" ? "issuer" : "payer";
  /** The list shows no version. What it pays has its number where that invoice was read. */
  function tell(record: string, payment: Payment | null): Holding {
    const change = changeOf(record, true);
    const common = { kind, id: change.id, version: null, mark: null, change };
    if (payment === null) return { ...common, facts: {} };
    const { number, party } = shown.get(payment.invoiceId) ?? {};
    const facts: Facts = {
      ...defined({ party }),
      ...stateOf(PAYMENT_STATES, payment.status),
      days: { date: reader.dayOf(payment.paidAt) },
      money: { amount: payment.amount },
      words: {
        side: kind === "payment" ? "sale" : "purchase",
        document: number ?? payment.invoiceId,
        reference: payment.reference,
      },
    };
    return { ...common, facts };
  }
  return {
    async *list(_scope, signal) {
      const sinceMs = reader.clock.now().monoMs;
      const sums = new PaymentSums();
      const ids = new Set<string>();
      let total: number | null = null;
      for await (const page of listedPayments(reader, role, {}, signal)) {
        total = page.total ?? total;
        const holdings = page.records.map((record) => {
          const payment = recordIn(Payment, record);
          sums.add(payment);
          return tell(record, payment);
        });
        for (const { id } of holdings) ids.add(id);
        yield { holdings, position: null, total: null, serverTime: page.serverTime };
      }
      paid.keep(role, sinceMs, sums);
      yield {
        holdings: [],
        position: null,
        total: Math.max(total ?? 0, ids.size),
        serverTime: null,
      };
    },
    async get(ids, signal) {
      const found: Holding[] = [];
      for (const id of ids) {
        const record = await recordAt(reader, pathOf("getPayment", id), signal);
        if (record !== null) found.push(tell(record, recordIn(Payment, record)));
      }
      return found;
    },
    expect: () => ({
      fault: {
        code: "read-only",
        message: "the platform takes no payments",
        next: "Record the payment on the platform by hand, or mark its invoice as paid.",
      },
    }),
  };
}

/* Lists that cannot be asked for single records: they are read whole each time */

interface WholePart<Record> {
  readonly list: ListOperation;
  readonly query: Query;
  readonly item: z.ZodType<Record>;
  /** The holdings that the records are, several records perhaps one. `atMs`: the server's clock when each was read. */
  readonly tell: (
    records: readonly { readonly record: Record; readonly atMs: number }[],
  ) => Promise<readonly Omit<Holding, "kind" | "mark" | "change">[]>;
  readonly expect: (item: Item) => Expected;
}

export function whole<Record>(
  reader: Reader,
  kind: "party" | "price",
  part: WholePart<Record>,
): KindHoldings {
  async function read(signal: AbortSignal): Promise<HoldingPage> {
    const known = new Map<string, { readonly record: Record; readonly atMs: number }>();
    const unreadable = new Map<string, Holding>();
    let serverTime: string | null = null;
    let total: number | null = null;
    for await (const page of listed(reader, part.list, part.query, signal)) {
      serverTime = page.serverTime;
      total = page.total ?? total;
      const atMs = Date.parse(serverTime ?? "") || reader.clock.now().wallMs;
      for (const text of page.records) {
        const change = changeOf(text, true);
        const { id } = change;
        const record = recordIn(part.item, text);
        if (record !== null) known.set(id, { record, atMs });
        else unreadable.set(id, { kind, id, version: null, mark: null, change, facts: {} });
      }
    }
    const told = await part.tell([...known.values()]);
    const holdings: Holding[] = [
      ...told.map((one) => ({ mark: null, ...one, kind, change: null })),
      ...unreadable.values(),
    ];
    const missing = Math.max((total ?? 0) - known.size - unreadable.size, 0);
    return { holdings, position: null, total: holdings.length + missing, serverTime };
  }
  return {
    async *list(_scope, signal) {
      yield await read(signal);
    },
    async get(ids, signal) {
      const { holdings } = await read(signal);
      return holdings.filter(({ id }) => ids.includes(id));
    },
    expect: part.expect,
  };
}

/**
 * Companies that we are connected to (specification 2.8; part 4, Connections). A party is the end of a connection that is
 * not us, whichever way the connection runs; its mark is our ERP's code. The list shows no names and no addresses: the
 * engine compares those with what was delivered last.
 */
export const partyPart = (ourselves: Ourselves): WholePart<Connection> => ({
  list: "listConnections",
  query: { direction: "all", pageSize: String(widePages.max) },
  item: Connection,
  async tell(records) {
    const connections = records.map(({ record }) => record);
    const us = await ourselvesAmong(connections, ourselves);
    // Of two connections to a company the accepted one that shows our code counts.
    const best = new Map<string, Connection>();
    for (const connection of connections) {
      const id = (us === null ? null : otherEnd(connection, us)) ?? connection.fromCompanyId;
      const known = best.get(id);
      if (known === undefined || rankOf(connection) > rankOf(known)) best.set(id, connection);
    }
    return [...best].map(([id, { erpId, status, updatedAt }]) => ({
      id,
      version: updatedAt,
      mark: erpId,
      facts: {
        ...(erpId === null ? {} : { number: erpId }),
        state: status === "ACCEPTED" ? "open" : status === "DECLINED" ? "ended" : "draft",
      },
    }));
  },
  expect({ document }) {
    const { externalId, name, ...party } = CreateParty.parse(document);
    const { street, city, state, zip, country } = party;
    const address = [street, city, state, zip, country].filter(Boolean).join(", ");
    return {
      facts: { ...defined({ number: externalId }), state: "open", words: { name, address } },
    };
  },
});

const rankOf = ({ status, erpId }: Connection): number =>
  (status === "ACCEPTED" ? 2 : 0) + (erpId === null ? 0 : 1);

/**
 * Rack prices in force (specification 2.6; part 4, Pricing). Terminal and product name a price. Whether older ones stay
 * listed is not specified: the latest in force counts.
 */
export const pricePart: WholePart<RackPrice> = {
  list: "listRackPrices",
  query: { pageSize: String(rackPages.max) },
  item: RackPrice,
  async tell(records) {
    const inForce = new Map<string, { readonly record: RackPrice; readonly atMs: number }>();
    for (const { record, atMs } of records)
      if (counts(record, inForce.get(nameOfPrice(record))?.record, atMs))
        inForce.set(nameOfPrice(record), { record, atMs });
    return [...inForce].map(([number, { record, atMs }]) => ({
      id: number,
      version: record.updatedAt,
      facts: {
        number,
        state: hasEnded(record, atMs) ? "ended" : "open",
        money: { price: record.price },
        words: { unit: shownUnit(record) },
      },
    }));
  },
  expect({ document }) {
    const price = BulkRackPrice.shape.prices.element.parse(document);
    const facts: Facts = {
      number: nameOfPrice(price),
      money: { price: toDecimal(price.price) },
      words: { unit: shownUnit(price) },
    };
    return { facts };
  },
};

/** A price that has ended, or is announced for later, does not count while there is one in force. */
function counts(price: RackPrice, other: RackPrice | undefined, nowMs: number): boolean {
  if (other === undefined) return true;
  if (hasEnded(price, nowMs) !== hasEnded(other, nowMs)) return hasEnded(other, nowMs);
  const [at, otherAt] = [Date.parse(price.effectiveAt), Date.parse(other.effectiveAt)];
  const [isFuture, otherIsFuture] = [at > nowMs, otherAt > nowMs];
  return isFuture === otherIsFuture ? at > otherAt : otherIsFuture;
}
