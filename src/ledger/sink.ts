/**
 * The sink of one kind of document, from an ERP's adapter. A send looks, plans and steps until there is nothing left to
 * do, so it may be repeated after anything: a crash, a lost answer, a step that did half of its work.
 */
import type { Outgoing, Sink } from "../core/contract.ts";
import { type Finding, keyless } from "../core/outcome.ts";
import type { LedgerKind, Books } from "./port.ts";
import { unreadable } from "./errors.ts";
import { isGoods } from "./goods.ts";
import { inspectLedger } from "./inspect.ts";
import { idsOf, takeSnapshot, told, waitsOf } from "./snapshot.ts";
import { INCOMPLETE, send } from "./send.ts";
import { adapterOf, bodyOf, carriedIn } from "./desired.ts";

/** Operations enter idempotency keys: they never change. */
const OPERATIONS: Readonly<Record<LedgerKind, string>> = {
  invoice: "invoice.book",
  bill: "bill.book",
  payment: "payment.book",
  party: "party.book",
  order: "order.book",
  shipment: "shipment.book",
};

/** The sink of a configured endpoint. What it answers and finds is decided here and in send.ts, never by an adapter. */
export function ledgerSink(books: Books, kind: LedgerKind): Sink {
  return {
    operation: OPERATIONS[kind],
    writes: kind === "payment" ? "create" : "upsert",
    itemsMax: adapterOf(books, kind).can.atomic,
    // Two that post at once may wait for each other in the ERP.
    atOnce: 1,
    ...(kind === "invoice" || kind === "bill" ? { settleAfterMs: books.settleAfterMs } : {}),
    policy: { ...keyless, settleMs: books.settleMs },
    freeze: (items) => ({
      target: isGoods(kind) ? `${kind}s` : `${books.name} ${kind}`,
      body: bodyOf(books, kind, items),
    }),
    send: (request, signal) => send(books, kind, request, signal),
    find: (request, signal) => find(books, kind, request, signal),
    inspect: (delivered, signal) => inspectLedger(books, kind, delivered, signal),
  };
}

/** Plans without stepping: any step that is left means that it is not there as it should be. */
async function find(
  books: Books,
  kind: LedgerKind,
  { key, body }: Outgoing,
  signal: AbortSignal,
): Promise<Finding> {
  try {
    const call = { key, signal, purpose: "delivery", made: new Set<string>() } as const;
    const planned = await takeSnapshot(books, kind, carriedIn(kind, body), call);
    const asks = planned.flatMap(({ next }) => (next.do === "ask" ? [next] : []));
    const twice = asks.find(({ question }) => question === "twice");
    if (twice !== undefined) return { found: "several", detail: twice.fault.message };
    // What these books cannot keep is not there either: the send refuses it.
    const ask = asks.find(({ question }) => question !== "not-kept");
    if (ask !== undefined)
      return { found: "different", detail: ask.fault.message, fault: ask.fault };
    return planned.every(({ next }) => next.do === "nothing")
      ? { found: "exact", ids: idsOf(planned), ...waitsOf(planned), ...told(books, planned) }
      : { found: "none", ...told(books, planned, undefined, INCOMPLETE) };
  } catch (error) {
    return unreadable(error, books.errors);
  }
}
