/**
 * The sink of one kind of document, from an ERP's adapter. A send looks, plans and steps until there is nothing left to
 * do, so it may be repeated after anything: a crash, a lost answer, a step that did half of its work.
 */
import {
  type Delivered,
  gone,
  type Inspection,
  type Outgoing,
  type Sink,
  thereAsBrought,
} from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import type { Difference } from "../core/holdings.ts";
import { type Finding, keyless } from "../core/outcome.ts";
import { compare } from "./compare.ts";
import { adapterOf, bodyOf, type Carried, carriedIn, desiredOf, Parties } from "./desired.ts";
import { finding, reading } from "./errors.ts";
import { goodsDifferences, isGoods } from "./goods.ts";
import {
  differencesOf,
  isBelow,
  kindOf,
  type Next,
  paymentsIn,
  type Planning,
  posts,
  settlementMark,
} from "./plan.ts";
import type { Books, Call, Capabilities, Desired, Entry, GoodsKind, LedgerKind } from "./port.ts";
import { idsOf, INCOMPLETE, type Planned, send, takeSnapshot, told, waitsOf } from "./send.ts";

/* Documents that were delivered: are they still there, as far as they were brought, and do they say the same? */

/** Documents that one look asks for. */
const MANY = 200;

/** One inspection each, in their order. @throws SourceUnavailable */
const inspectLedger = (
  books: Books,
  kind: LedgerKind,
  delivered: readonly Delivered[],
  signal: AbortSignal,
): Promise<Inspection[]> =>
  reading(books, async () => {
    const bodies = new Map<string, readonly Carried[]>();
    const carriedOf = ({ id, body, counterpart, waitsUntil }: Delivered): Carried | null => {
      if (body === null) return null;
      const carried = bodies.get(body) ?? carriedIn(kind, body);
      bodies.set(body, carried);
      const one = carried.find(({ document }) => idOf(document) === id);
      return one === undefined ? null : { ...one, counterpart, until: waitsUntil ?? null };
    };
    const inspections: Inspection[] = [];
    const made = new Set<string>();
    const call = { key: "inspect", signal, purpose: "inspection", made } as const;
    for (let at = 0; at < delivered.length; at += MANY) {
      const asked = delivered
        .slice(at, at + MANY)
        .map((one) => ({ counterpart: one.counterpart, carried: carriedOf(one) }));
      inspections.push(
        ...(isGoods(kind)
          ? await inspectGoods(books, kind, asked, call)
          : await inspectDocuments(books, kind, asked, call)),
      );
    }
    return inspections;
  });

interface Asked {
  readonly counterpart: string;
  /** What it was brought to; null: a person linked it. */
  readonly carried: Carried | null;
}

async function inspectDocuments(
  books: Books,
  kind: Planning["kind"],
  asked: readonly Asked[],
  call: Call,
): Promise<Inspection[]> {
  const adapter = adapterOf(books, kind);
  const written = asked.flatMap(({ carried }) => carried ?? []);
  const planned = written.length === 0 ? [] : await takeSnapshot(books, kind, written, call);
  const linked = asked.filter(({ carried }) => carried === null);
  const ids = linked.map(({ counterpart }) => counterpart);
  const there = ids.length === 0 ? [] : await adapter.get(ids, call);
  const left = [...planned];
  return asked.map(({ counterpart, carried }) => {
    const one = carried === null ? undefined : left.shift();
    if (one !== undefined) return inspected(books, kind, one);
    const isThere = there.some(
      (entry) => isCalled(entry, counterpart) && !isDraftAgain(adapter.can, entry),
    );
    return isThere ? thereAsBrought : gone;
  });
}

/** Ids of orders and tickets say how far these were brought: what is called so is that far. */
async function inspectGoods(
  books: Books,
  kind: GoodsKind,
  asked: readonly Asked[],
  call: Call,
): Promise<Inspection[]> {
  const adapter = adapterOf(books, kind);
  const ids = asked.map(({ counterpart }) => counterpart);
  const held = ids.length === 0 ? [] : await adapter.get(ids, call);
  const written = asked.flatMap(({ carried }) => carried ?? []);
  const parties = await new Parties(books).of(written, call);
  const desired = written.length === 0 ? [] : await desiredOf(adapter, written, parties, call);
  return asked.map(({ counterpart, carried }) => {
    const one = carried === null ? undefined : desired.shift();
    const there = held.filter((entry) => isCalled(entry, counterpart));
    if (there.length === 0) return gone;
    return { is: "there", differences: one ? goodsDifferences(kind, one, there) : [] };
  });
}

const isCalled = ({ id, aliases = [] }: Entry, name: string): boolean =>
  id === name || aliases.includes(name);

const isDraftAgain = (can: Capabilities, { status }: Entry): boolean =>
  isBelow(status, "posted") && posts(can);

/** What its source calls it. */
const idOf = (document: object): string =>
  "companyId" in document ? String(document.companyId) : String((document as { id: unknown }).id);

function inspected(
  books: Books,
  kind: Planning["kind"],
  { desired, found, next }: Planned,
): Inspection {
  if (found.is === "several") {
    const held = found.entries.map(({ id }) => id).join(" and ");
    return { is: "there", differences: [{ field: "record", expected: "one", held }] };
  }
  if (found.is !== "one") return gone;
  const { entry, by } = found;
  const planning = { kind, can: adapterOf(books, kind).can, books };
  // Restored books give numbers a second time: without our mark the figures must be the same too.
  if (by !== "mark") {
    const { money } = desired.expected;
    const figures = money === undefined ? {} : { money };
    if (compare(kindOf(planning, desired), figures, entry.facts).length > 0) return gone;
  }
  // Only what was brought is missing: it may be brought again.
  const isUndone =
    next.do === "amended" && next.differences.every(({ field }) => field === "state");
  // Its wait has ended and it is about to be settled; where nothing waits, what settled it is missing.
  const isUnsettled = next.do === "settle" && desired.until === null;
  if (isDraftAgain(planning.can, entry) || next.do === "cancelled" || isUnsettled) return gone;
  if (isUndone) return gone;
  if (desired.target === "cancelled") return thereAsBrought;
  const state = stateOf(kind, desired);
  const besides = (entry.besides ?? []).filter(
    ({ field, expected }) => field !== "state" || expected === state,
  );
  const unmarked = entry.made === true && by !== "mark";
  return {
    is: "there",
    differences: [
      ...(unmarked ? [{ field: "mark", expected: desired.mark, held: "none" }] : []),
      ...(entry.status === "cancelled"
        ? [{ field: "state", expected: state, held: "cancelled" }]
        : differencesOf(planning, desired, entry)),
      ...(besides.some(({ field }) => field === "state")
        ? []
        : paidDifferences(state, desired, entry, next)),
      ...besides,
    ],
  };
}

const stateOf = (kind: LedgerKind, { target, disputed }: Desired): string =>
  kind === "payment" || target === "settled" ? "paid" : disputed ? "disputed" : "open";

/**
 * Payments that the platform does not know of, until it calls the document paid as well; and one that was settled as one
 * and is open again.
 */
function paidDifferences(
  state: string,
  desired: Desired,
  { status, payments, facts }: Entry,
  next: Next,
): Difference[] {
  // What paid it is there and is not matched with it any more.
  const isApart = payments.length > 0 && facts.money?.open?.sign === 0 && next.do === "nothing";
  if (desired.target === "settled" && status === "posted" && (next.do === "ask" || isApart))
    return [{ field: "state", expected: "paid", held: "open" }];
  // Paid means paid with money (ADR 0010).
  const instead = payments.filter((one) => (one.instead ?? null) !== null);
  if (desired.target === "settled" && status === "settled" && instead.length > 0)
    return [{ field: "state", expected: "paid", held: `settled (${paymentsIn(instead)})` }];
  if (desired.target !== "posted" || isBelow(status, "posted") || status === "cancelled") return [];
  const own = settlementMark(desired.mark);
  const others = payments.filter(({ mark }) => mark === null || mark === own);
  if (others.length === 0) return [];
  const paid = Decimal.sum(others.map(({ amount }) => amount));
  const isMoney = others.every((one) => (one.instead ?? null) === null);
  const by = isMoney ? `payment ${paymentsIn(others)}` : paymentsIn(others);
  if (status === "settled")
    return [{ field: "state", expected: state, held: `${isMoney ? "paid" : "settled"} (${by})` }];
  const open = facts.money?.open ?? Decimal.zero;
  const held = `${open.fixed(2)} (${by}; the platform cannot take partial payments)`;
  return [{ field: "money.open", expected: open.plus(paid).fixed(2), held }];
}

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
const find = (
  books: Books,
  kind: LedgerKind,
  { key, body }: Outgoing,
  signal: AbortSignal,
): Promise<Finding> =>
  finding(books.errors, async () => {
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
  });
