/**
 * What the platform holds now, in its own words, for the reconciliation. Each list begins at its start: what was read
 * of one that broke off is read again.
 */
import { type Facts, type HoldingKind, holdingKinds, type Holdings } from "../../core/holdings.ts";
import type { Ourselves } from "../sinks/ourselves.ts";
import { goodsHoldings } from "./goods.ts";
import { invoiceHoldings } from "./invoices.ts";
import { partyHoldings } from "./parties.ts";
import { paymentHoldings } from "./payments.ts";
import { priceHoldings } from "./prices.ts";
import type { KindHoldings, Reader } from "./reading.ts";

export function platformHoldings(reader: Reader, ourselves: Ourselves): Holdings {
  const shown = new Map<string, Pick<Facts, "number" | "party">>();
  const { paid, ...payments } = paymentHoldings(reader, shown);
  const kinds: Record<HoldingKind, KindHoldings> = {
    ...payments,
    invoice: invoiceHoldings(reader, "invoice", paid, shown),
    bill: invoiceHoldings(reader, "bill", paid, shown),
    order: goodsHoldings(reader, "order", ourselves),
    ticket: goodsHoldings(reader, "ticket", ourselves),
    party: partyHoldings(reader, ourselves),
    price: priceHoldings(reader),
  };
  return {
    strength: Object.fromEntries(holdingKinds.map((kind) => [kind, "asked" as const])),
    list: (kind, scope, _from, signal) => kinds[kind].list(scope, signal),
    get: (kind, ids, signal) => kinds[kind].get(ids, signal),
    named: async (kind, numbers, signal) => (await kinds[kind].named?.(numbers, signal)) ?? [],
    expect: async (kind, items) => items.map((item) => kinds[kind].expect(item)),
  };
}
