/**
 * What the platform holds now, in its own words, for the reconciliation: purpose `audit`, nothing stored. Each list begins
 * at its start: what was read of one that broke off is read again.
 */
import { type HoldingKind, holdingKinds, type Holdings } from "../../core/holdings.ts";
import { id as uuid } from "../contract/primitives.ts";
import type { Ourselves } from "../sinks/write.ts";
import { dated, invoicePart, orderPart, ticketPart } from "./documents.ts";
import {
  type KindHoldings,
  PaidSoFar,
  partyPart,
  paymentHoldings,
  pricePart,
  type Reader,
  type Shown,
  whole,
} from "./lists.ts";

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
