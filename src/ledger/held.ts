/** What books hold now, for reconciliation: told by the adapters through which documents are written. */
import type { Item } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { Refused } from "../core/errors.ts";
import type { Fault } from "../core/fault.ts";
import {
  type Expected,
  type Facts,
  type Holding,
  type HoldingKind,
  type HoldingPage,
  type Holdings,
  type HoldingState,
  isGoodsHolding,
} from "../core/holdings.ts";
import type { LedgerKind, Books, Call, Capabilities, Entry, Desired } from "./port.ts";
import { reading, unavailable } from "./errors.ts";
import { isGoods, isTakenBack } from "./goods.ts";
import { holdingsOf, type KindHoldings, PAGE_RECORDS } from "./holdings.ts";
import { Parties } from "./parties.ts";
import { isBelow, isSettlement, posts } from "./plan.ts";
import { adapterOf, bodyOf, carriedIn, desiredOf } from "./desired.ts";

const ADAPTERS: Readonly<Partial<Record<HoldingKind, LedgerKind>>> = {
  invoice: "invoice",
  bill: "bill",
  payment: "payment",
  "bill-payment": "payment",
  order: "order",
  ticket: "shipment",
  party: "party",
};

/**
 * Of every kind whose adapter lists it.
 * @param others kinds that are told otherwise: where the books are the source of them
 */
export function ledgerHoldings(
  books: Books,
  others: Readonly<Partial<Record<HoldingKind, KindHoldings>>> = {},
): Holdings {
  const kinds = Object.entries(ADAPTERS).filter(
    ([, name]) => "list" in (books.adapters[name] ?? {}),
  );
  const told = kinds.map(([kind]) => [kind, kindHoldings(books, kind as HoldingKind)] as const);
  return holdingsOf(books.name, { ...Object.fromEntries(told), ...others });
}

/** @param purchases the same books as they know the parties of what is bought, where these are a list of their own */
export function kindHoldings(books: Books, kind: HoldingKind, purchases = books): KindHoldings {
  const name = ADAPTERS[kind] ?? "invoice";
  const adapter = adapterOf(books, name);
  const held = (entries: readonly Entry[]): Holding[] =>
    entries.filter((one) => isOf(kind, one)).flatMap((one) => holdingOf(kind, one));
  return {
    async *list(scope, from, signal): AsyncGenerator<HoldingPage> {
      try {
        const position = typeof from === "number" ? String(from) : (from as string | null);
        for await (const page of adapter.list(scope, position, signal))
          yield {
            holdings: held(page.entries),
            position: page.position,
            total: page.total ?? null,
            serverTime: null,
          };
      } catch (error) {
        throw unavailable(error, books);
      }
    },
    get: (ids, signal) =>
      reading(books, async () => held(await adapter.get(ids, callOf("get", signal)))),
    named: (numbers, signal) =>
      reading(books, async () => held(await adapter.named(numbers, signal))),
    expect: (items, signal) =>
      reading(books, async () => {
        if (purchases === books) return expectAll(books, name, items, signal);
        const told = new Map<Item, Expected>();
        const sides = Map.groupBy(items, ({ document }) =>
          isPurchase(document) ? purchases : books,
        );
        for (const [side, own] of sides) {
          const expected = await expectAll(side, name, own, signal);
          for (const [at, item] of own.entries()) told.set(item, expected[at] as Expected);
        }
        return items.map((item) => told.get(item) as Expected);
      }),
  };
}

/** By what orders and tickets say of themselves. */
const isPurchase = (document: unknown): boolean =>
  ["purchase", "in"].includes((document as { readonly type?: string }).type ?? "");

const callOf = (key: string, signal: AbortSignal): Call => ({
  key,
  signal,
  purpose: "inspection",
  made: new Set(),
});

/** Payments of both directions have one adapter. */
const isOf = (kind: HoldingKind, { facts }: Entry): boolean =>
  (kind !== "payment" && kind !== "bill-payment") ||
  (kind === "payment") === (facts.words?.side === "sale");

function holdingOf(kind: HoldingKind, entry: Entry): Holding[] {
  const { id, mark, version, facts, status, aliases, change = null, untold } = entry;
  if (id === null) return [];
  const isOver = status === "cancelled";
  const own = mark !== null && isSettlement(mark) ? null : mark;
  return [
    {
      kind,
      id,
      version,
      mark: own,
      ...(aliases === undefined ? {} : { aliases }),
      ...(untold === undefined ? {} : { untold }),
      change: isTold(kind, own) ? change : null,
      facts: {
        ...facts,
        state: stateOf(kind, entry),
        days: { ...facts.days, ...(isDocument(kind) ? { paid: entry.paid } : {}) },
        money: { ...facts.money, ...(isDocument(kind) && isOver ? { open: Decimal.zero } : {}) },
      },
    },
  ];
}

/** What carries our mark came from the platform; a party with it is read like the others, and its mapping skips it. */
const isTold = (kind: HoldingKind, mark: string | null): boolean =>
  mark === null || kind === "party";

const isDocument = (kind: HoldingKind): boolean => kind === "invoice" || kind === "bill";

function stateOf(kind: HoldingKind, { status, disputed }: Entry): HoldingState {
  if (status === "cancelled") return "ended";
  if (isGoodsHolding(kind)) return isBelow(status, "posted") ? "draft" : "posted";
  if (kind === "payment" || kind === "bill-payment" || status === "settled") return "paid";
  if (kind === "party") return "open";
  if (isBelow(status, "posted")) return "draft";
  return disputed ? "disputed" : "open";
}

/** One that these books cannot keep as it is has a fault; the others are told. @throws LedgerError */
async function expectAll(
  books: Books,
  kind: LedgerKind,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<Expected[]> {
  const adapter = adapterOf(books, kind);
  const call = callOf("expect", signal);
  const expected: Expected[] = [];
  for (let at = 0; at < items.length; at += PAGE_RECORDS) {
    const page = items.slice(at, at + PAGE_RECORDS);
    const refused = new Map<Item, Fault>();
    const carried = page.flatMap((item) => {
      try {
        return carriedIn(kind, bodyOf(books, kind, [item]));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        refused.set(item, error.fault);
        return [];
      }
    });
    const parties = await new Parties(books).of(carried, call);
    const desired = await desiredOf(adapter, carried, parties, call);
    for (const item of page) {
      const fault = refused.get(item);
      const one = fault === undefined ? desired.shift() : undefined;
      const why = fault ?? one?.refusal;
      if (why !== undefined) expected.push({ fault: why });
      else if (one !== undefined) {
        const skip = uncounted(books, kind, one);
        expected.push(skip === null ? { facts: factsOf(kind, adapter.can, one) } : { skip });
      }
    }
  }
  return expected;
}

/** Why goods are rightly not in the books: what does not count on the platform, and what these keep no drafts of. */
function uncounted({ name, adapters }: Books, kind: LedgerKind, desired: Desired): string | null {
  if (!isGoods(kind)) return null;
  if (isTakenBack(desired)) return "it does not count on the platform";
  const hasDrafts = adapters[kind]?.can.has.includes("draft") === true;
  return desired.target === "draft" && !hasDrafts
    ? `${name} keeps no draft of it: it is booked when it is done`
    : null;
}

/**
 * A draft waits for its accountant: how far it has come is not for us to say. Books that cannot mark an invoice as
 * disputed (no `state` in `amend`) hold it as open.
 */
function factsOf(
  kind: LedgerKind,
  can: Capabilities,
  { expected: all, ...desired }: Desired,
): Facts {
  const { target, binding } = desired;
  if (isGoods(kind))
    return {
      ...all,
      state: target === "cancelled" ? "ended" : target === "draft" ? "draft" : "posted",
    };
  const disputed = desired.disputed && can.amend["state"] !== undefined;
  const { number, ...rest } = all;
  // One that was entered by hand has the books' own number: its link says so.
  const isNumbered = number !== undefined && (binding ?? number) === number;
  const expected = isNumbered ? all : rest;
  if (kind === "payment") return { ...expected, state: "paid" };
  if (kind === "party") return { ...expected, state: "open" };
  const isOver = target === "settled" || target === "cancelled";
  const isOurs = isOver || posts(can);
  const state = target === "cancelled" ? "ended" : target === "settled" ? "paid" : "open";
  return {
    ...expected,
    ...(isOurs ? { state: disputed ? "disputed" : state } : {}),
    money: { ...expected.money, ...(isOver ? { open: Decimal.zero } : {}) },
  };
}
