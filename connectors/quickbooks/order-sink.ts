/** Orders of both sides in one sink: QuickBooks keeps customers and vendors in two lists, and each side knows one. */
import type { OrderDocument } from "../../src/ledger/documents.ts";
import { orderIn } from "../../src/ledger/orders.ts";
import { carriedIn } from "../../src/ledger/desired.ts";
import type { Delivered, Inspection, Sink } from "../../src/core/contract.ts";

type Side = OrderDocument["type"];

/** @param sinks of orders, by the side whose parties their books know */
export function orderSink(sinks: Readonly<Record<Side, Sink>>): Sink {
  const sinkOf = (body: string): Sink => sinks[sideIn(body) ?? "sale"];
  return {
    ...sinks.sale,
    freeze: (items) =>
      sinks[(items[0]?.document as OrderDocument | undefined)?.type ?? "sale"].freeze(items),
    send: (request, signal) => sinkOf(request.body).send(request, signal),
    find: (request, signal) => sinkOf(request.body).find(request, signal),
    async inspect(delivered, signal) {
      const told = new Map<Delivered, Inspection>();
      for (const [side, own] of Map.groupBy(delivered, sideOf)) {
        const inspections = (await sinks[side].inspect?.(own, signal)) ?? [];
        for (const [at, one] of inspections.entries()) told.set(own[at] as Delivered, one);
      }
      // One inspection each; what is not told is never taken for gone.
      return delivered.map((one) => told.get(one) as Inspection);
    },
  };
}

/** As links call it: its bytes need not be kept any more. */
const sideOf = ({ body, counterpart }: Delivered): Side =>
  orderIn(counterpart)?.side ?? (body === null ? null : sideIn(body)) ?? "sale";

const sideIn = (body: string): Side | null => {
  const [one] = carriedIn("order", body);
  return one === undefined ? null : (one.document as OrderDocument).type;
};
