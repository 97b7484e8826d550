/** Payments received and made, as the platform shows them now (specification 2.5; part 4, Invoices and payments). */
import { Decimal } from "../../core/decimal.ts";
import type { Facts, Holding, HoldingState } from "../../core/holdings.ts";
import { Payment, type paymentStatuses } from "../contract/invoice.ts";
import { pages } from "../contract/primitives.ts";
import type { Query } from "../paging.ts";
import { changeOf } from "../walk.ts";
import { listed, type Reader, recordAt, recordIn, type KindHoldings } from "./reading.ts";

type Role = "issuer" | "payer";

/** What payments that went through come to, by invoice: whole for lists, of one invoice for single records. */
export interface PaidSoFar {
  of(role: Role, signal: AbortSignal): (invoiceId: string) => Promise<Decimal>;
  ofOne(role: Role, signal: AbortSignal): (invoiceId: string) => Promise<Decimal>;
}

/** Of the invoices that were shown, by id: a payment names its invoice by the id alone. */
export type Shown = ReadonlyMap<string, Pick<Facts, "number" | "party">>;

/** A listing serves the invoices that are read right after it: the list has no date filter, and each page costs. */
const FRESH_MS = 600_000;

export function paymentHoldings(
  reader: Reader,
  shown: Shown,
): Record<"payment" | "bill-payment", KindHoldings> & { readonly paid: PaidSoFar } {
  const sums = new Map<
    Role,
    { readonly sinceMs: number; readonly byInvoice: Map<string, Decimal> }
  >();

  async function* all(role: Role, query: Query, signal: AbortSignal) {
    for await (const page of listed(
      reader,
      "listPayments",
      { role, ...query, pageSize: String(pages.max) },
      signal,
    ))
      yield page;
  }

  /** Each payment once: one that slid to the next page while the list was read is not paid twice. */
  async function succeeded(role: Role, query: Query, signal: AbortSignal) {
    const byId = new Map<string, Payment>();
    for await (const { records } of all(role, query, signal)) {
      for (const record of records) {
        const payment = recordIn(Payment, record);
        if (payment?.status === "SUCCEEDED") byId.set(payment.id, payment);
      }
    }
    return sumsOf(byId.values());
  }

  async function whole(role: Role, signal: AbortSignal): Promise<Map<string, Decimal>> {
    const known = sums.get(role);
    const nowMs = reader.clock.now().monoMs;
    if (known !== undefined && nowMs - known.sinceMs < FRESH_MS) return known.byInvoice;
    const byInvoice = await succeeded(role, {}, signal);
    sums.set(role, { sinceMs: nowMs, byInvoice });
    return byInvoice;
  }

  const ofKind = (kind: "payment" | "bill-payment"): KindHoldings => {
    const role = kind === "payment" ? "issuer" : "payer";
    return {
      async *list(_scope, signal) {
        const sinceMs = reader.clock.now().monoMs;
        const byId = new Map<string, Payment>();
        const ids = new Set<string>();
        let total: number | null = null;
        for await (const page of all(role, {}, signal)) {
          total = page.total ?? total;
          const holdings = page.records.map((record) => holdingOf(reader, kind, record, shown));
          for (const { id } of holdings) ids.add(id);
          for (const record of page.records) {
            const payment = recordIn(Payment, record);
            if (payment?.status === "SUCCEEDED") byId.set(payment.id, payment);
          }
          yield { holdings, position: null, total: null, serverTime: page.serverTime };
        }
        sums.set(role, { sinceMs, byInvoice: sumsOf(byId.values()) });
        const missing = Math.max((total ?? 0) - ids.size, 0);
        yield { holdings: [], position: null, total: ids.size + missing, serverTime: null };
      },
      async get(ids, signal) {
        const found: Holding[] = [];
        for (const id of ids) {
          const record = await recordAt(reader, "getPayment", id, signal);
          if (record !== null) found.push(holdingOf(reader, kind, record, shown));
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
  };

  return {
    payment: ofKind("payment"),
    "bill-payment": ofKind("bill-payment"),
    paid: {
      of: (role, signal) => async (invoiceId) =>
        (await whole(role, signal)).get(invoiceId) ?? Decimal.zero,
      ofOne: (role, signal) => async (invoiceId) =>
        (await succeeded(role, { invoiceId }, signal)).get(invoiceId) ?? Decimal.zero,
    },
  };
}

function sumsOf(payments: Iterable<Payment>): Map<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const { invoiceId, amount } of payments)
    sums.set(invoiceId, (sums.get(invoiceId) ?? Decimal.zero).plus(amount));
  return sums;
}

/** The list shows no version. What it pays is told where that invoice was read. */
function holdingOf(
  { dayOf }: Reader,
  kind: "payment" | "bill-payment",
  record: string,
  shown: Shown,
): Holding {
  const change = changeOf(record, true);
  const payment = recordIn(Payment, record);
  const common = { kind, id: change.id, version: null, mark: null, change } as const;
  if (payment === null) return { ...common, facts: {} };
  const state = STATES[payment.status as (typeof paymentStatuses)[number]];
  const { number, party } = shown.get(payment.invoiceId) ?? {};
  const facts: Facts = {
    ...(party === undefined ? {} : { party }),
    ...(state === undefined ? {} : { state }),
    days: { date: dayOf(payment.paidAt) },
    money: { amount: payment.amount },
    words: {
      side: kind === "payment" ? "sale" : "purchase",
      ...(number === undefined ? {} : { document: number }),
      reference: payment.reference,
    },
  };
  return { ...common, facts };
}

/** What has not gone through is no payment yet. */
const STATES: Readonly<Record<(typeof paymentStatuses)[number], HoldingState>> = {
  PENDING: "draft",
  PROCESSING: "draft",
  SUCCEEDED: "paid",
  FAILED: "ended",
  REFUNDED: "ended",
};
