/** What books hold now, for reconciliation: told by the adapters through which documents are written. */
import type { Item } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { Refused } from "../core/errors.ts";
import type {
  Expected,
  Facts,
  Holding,
  HoldingKind,
  HoldingPage,
  Holdings,
  HoldingState,
} from "../core/holdings.ts";
import type { BookAdapter, BookKind, Books, Ladder, Standing, Wanted } from "./adapter.ts";
import { unavailable } from "./faults.ts";
import { partyCodes } from "./parties.ts";
import { isBelow, isSettlement } from "./plan.ts";
import { adapterOf, bodyOf, carriedIn, wantedOf } from "./wanted.ts";

const ADAPTERS: Readonly<Partial<Record<HoldingKind, BookKind>>> = {
  invoice: "invoice",
  bill: "bill",
  payment: "payment",
  "bill-payment": "payment",
  party: "party",
};

/** Of every kind that has an adapter. */
export function bookHoldings(books: Books): Holdings {
  const kinds = Object.entries(ADAPTERS).filter(([, name]) => books.adapters[name] !== undefined);
  const of = (kind: HoldingKind): BookAdapter => {
    const name = ADAPTERS[kind];
    if (name === undefined) throw new Error(`${books.name} tells nothing of kind ${kind}`);
    return adapterOf(books, name);
  };
  const held = (kind: HoldingKind, standings: readonly Standing[]): Holding[] =>
    standings.filter((one) => isOf(kind, one)).flatMap((one) => holdingOf(kind, of(kind), one));
  return {
    strength: Object.fromEntries(kinds.map(([kind]) => [kind, "asked" as const])),
    async *list(kind, scope, from, signal): AsyncGenerator<HoldingPage> {
      try {
        const position = typeof from === "string" ? from : null;
        for await (const page of of(kind).list(scope, position, signal))
          yield {
            holdings: held(kind, page.standings),
            position: page.position,
            total: null,
            serverTime: null,
          };
      } catch (error) {
        throw unavailable(error, books);
      }
    },
    get: (kind, ids, signal) =>
      reading(books, async () => held(kind, await of(kind).get(ids, signal))),
    named: (kind, numbers, signal) =>
      reading(books, async () => held(kind, await of(kind).named(numbers, signal))),
    expect: (kind, items, signal) =>
      reading(books, () => expectAll(books, ADAPTERS[kind] ?? "invoice", items, signal)),
  };
}

/** Payments of both directions have one adapter. */
const isOf = (kind: HoldingKind, { facts }: Standing): boolean =>
  (kind !== "payment" && kind !== "bill-payment") ||
  (kind === "payment") === (facts.words?.side === "sale");

function holdingOf(kind: HoldingKind, adapter: BookAdapter, standing: Standing): Holding[] {
  const { id, mark, version, facts, rung } = standing;
  if (id === null) return [];
  const isOver = rung === "cancelled";
  const own = mark !== null && isSettlement(mark) ? null : mark;
  return [
    {
      kind,
      id,
      version,
      mark: own,
      change: isTold(kind, own) ? (adapter.change?.(standing) ?? null) : null,
      facts: {
        ...facts,
        state: stateOf(kind, standing),
        days: { ...facts.days, ...(isDocument(kind) ? { paid: standing.paid } : {}) },
        money: { ...facts.money, ...(isDocument(kind) && isOver ? { open: Decimal.zero } : {}) },
      },
    },
  ];
}

/** What carries our mark came from the platform; a party with it is read like the others, and its mapping skips it. */
const isTold = (kind: HoldingKind, mark: string | null): boolean =>
  mark === null || kind === "party";

const isDocument = (kind: HoldingKind): boolean => kind === "invoice" || kind === "bill";

function stateOf(kind: HoldingKind, { rung, disputed }: Standing): HoldingState {
  if (rung === "cancelled") return "ended";
  if (kind === "payment" || kind === "bill-payment" || rung === "settled") return "paid";
  if (kind === "party") return "open";
  if (isBelow(rung, "posted")) return "draft";
  return disputed ? "disputed" : "open";
}

/** One that these books cannot keep as it is has a fault; the others are told. @throws BookError */
async function expectAll(
  books: Books,
  kind: BookKind,
  items: readonly Item[],
  signal: AbortSignal,
): Promise<Expected[]> {
  const adapter = adapterOf(books, kind);
  const expected: Expected[] = [];
  for (const item of items)
    try {
      const carried = carriedIn(kind, bodyOf(books, kind, [item]));
      const [code = null] = await partyCodes(books, carried, { key: "expect", signal });
      const [wanted] = carried.map((one) => wantedOf(adapter, kind, one, code));
      expected.push({ facts: factsOf(kind, adapter.ladder, wanted as Wanted) });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      expected.push({ fault: error.fault });
    }
  return expected;
}

/**
 * A draft waits for its accountant: how far it has come is not for us to say. Books that cannot mark an invoice as
 * disputed (no `state` in `amend`) hold it as open.
 */
function factsOf(kind: BookKind, { byUs, amend }: Ladder, wanted: Wanted): Facts {
  const { expected, target } = wanted;
  const disputed = wanted.disputed && amend["state"] !== undefined;
  if (kind === "payment") return { ...expected, state: "paid" };
  if (kind === "party") return { ...expected, state: "open" };
  const isOver = target === "settled" || target === "cancelled";
  const isOurs = isOver || !isBelow(byUs, "posted");
  const state = target === "cancelled" ? "ended" : target === "settled" ? "paid" : "open";
  return {
    ...expected,
    ...(isOurs ? { state: disputed ? "disputed" : state } : {}),
    money: { ...expected.money, ...(isOver ? { open: Decimal.zero } : {}) },
  };
}

/** @throws SourceUnavailable */
async function reading<T>(books: Books, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw unavailable(error, books);
  }
}
