/** What books hold now, kind by kind, for reconciliation; a connector puts its kinds together with {@link holdingsOf}. */
import type { Change, Item, Source } from "../core/contract.ts";
import type { SourceUnavailable } from "../core/errors.ts";
import type { Fault } from "../core/fault.ts";
import type {
  Expected,
  Facts,
  Holding,
  HoldingKind,
  HoldingPage,
  Holdings,
  Scope,
} from "../core/holdings.ts";
import { type Json, parseExact } from "../core/json.ts";
import type { GoodsPage } from "./port.ts";
import { PartyRecord, PriceRecord } from "./records.ts";

/** Records that one call asks for. */
export const PAGE_RECORDS = 200;

/** {@link Holdings} of one kind. */
export interface KindHoldings {
  list(scope: Scope, from: Json | null, signal: AbortSignal): AsyncIterable<HoldingPage>;
  get(ids: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
  /** Left out: its list tells all there is. */
  named?(numbers: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
  expect(items: readonly Item[], signal: AbortSignal): Promise<readonly Expected[]>;
}

/** All of them as they are now. */
export function holdingsOf(
  books: string,
  kinds: Readonly<Partial<Record<HoldingKind, KindHoldings>>>,
): Holdings {
  const of = (kind: HoldingKind): KindHoldings => {
    const found = kinds[kind];
    if (found === undefined) throw new Error(`${books} tells nothing of kind ${kind}`);
    return found;
  };
  return {
    strength: Object.fromEntries(Object.keys(kinds).map((kind) => [kind, "asked" as const])),
    list: (kind, scope, from, signal) => of(kind).list(scope, from, signal),
    get: (kind, ids, signal) => of(kind).get(ids, signal),
    named: async (kind, numbers, signal) => (await of(kind).named?.(numbers, signal)) ?? [],
    expect: (kind, items, signal) => of(kind).expect(items, signal),
  };
}

/** Rows in the order of the books' own ids, page by page. @param read the first `most` rows after an id */
export async function* inPages<Row>(
  after: number,
  idOf: (row: Row) => number,
  read: (after: number) => Promise<readonly Row[]>,
  most: number = PAGE_RECORDS,
): AsyncGenerator<{
  readonly rows: readonly Row[];
  readonly last: number;
  readonly isEnd: boolean;
}> {
  let last = after;
  for (let isEnd = false; !isEnd;) {
    const rows = await read(last);
    const [row] = rows.slice(-1);
    last = row === undefined ? last : idOf(row);
    isEnd = rows.length < most;
    yield { rows, last, isEnd };
  }
}

/** Goods of the books in the order of their database ids: what is made meanwhile comes last. */
export async function* goodsPages<Row>(
  from: string | null,
  idOf: (row: Row) => number,
  read: (after: number) => Promise<readonly Row[]>,
): AsyncGenerator<GoodsPage<Row>> {
  for await (const { rows, last } of inPages(Number(from ?? 0), idOf, read))
    yield { rows, position: String(last) };
}

/** Records that start in the books: each tells the change that its source tells. */
export interface Told {
  /** The first {@link PAGE_RECORDS} ids after this one. @throws a fault of the books */
  readonly idsAfter: (id: number, signal: AbortSignal) => Promise<readonly number[]>;
  /** @throws the error itself when it is no fault of the books */
  readonly unavailable: (error: unknown) => SourceUnavailable;
  /** Ids of what people call so, inactive records too. @throws a fault of the books */
  readonly idsNamed: (names: readonly string[], signal: AbortSignal) => Promise<readonly number[]>;
  /** As the source tells them. @throws a fault of the books */
  readonly changes: (ids: readonly number[], signal: AbortSignal) => Promise<readonly Change[]>;
}

/** Parties have no date, and there are few: every scope is all of them. */
export function partyHoldings(
  books: string,
  { idsAfter, idsNamed, changes, unavailable }: Told,
): KindHoldings {
  const held = async (ids: readonly number[], signal: AbortSignal): Promise<Holding[]> =>
    ids.length === 0 ? [] : (await changes(ids, signal)).map(partyIn);
  return {
    async *list(_, from, signal) {
      const after = typeof from === "number" ? from : 0;
      try {
        const all = inPages(after, Number, (id) => idsAfter(id, signal));
        for await (const { rows, last } of all)
          yield {
            holdings: await held(rows, signal),
            position: last,
            total: null,
            serverTime: null,
          };
      } catch (error) {
        throw unavailable(error);
      }
    },
    async get(desired, signal) {
      try {
        const all = await held(await idsNamed(desired, signal), signal);
        return all.filter(({ id }) => desired.includes(id));
      } catch (error) {
        throw unavailable(error);
      }
    },
    expect: notWrittenHere(`A party of ${books} is never written by itself`),
  };
}

/**
 * The same of books that keep a list for each role, and tell both as their source does.
 * @param all every party as it is now, page by page
 */
export function partyListHoldings(
  books: string,
  all: (signal: AbortSignal) => AsyncIterable<readonly Change[]>,
  unavailable: Told["unavailable"],
): KindHoldings {
  async function* told(signal: AbortSignal): AsyncGenerator<Holding[]> {
    try {
      for await (const changes of all(signal)) yield changes.map(partyOfRole);
    } catch (error) {
      throw unavailable(error);
    }
  }
  return {
    async *list(_scope, _from, signal) {
      for await (const holdings of told(signal))
        yield { holdings, position: null, total: null, serverTime: null };
    },
    async get(ids, signal) {
      const found: Holding[] = [];
      for await (const holdings of told(signal))
        found.push(...holdings.filter(({ id }) => ids.includes(id)));
      return found;
    },
    expect: notWrittenHere(`A party of ${books} is never written by itself`),
  };
}

/**
 * The current price is the only one: every scope is all of them. They are what their source tells from its beginning.
 * A product with several prices in one list has none: which of them counts is not said.
 */
export function priceHoldings(books: string, currency: string, source: Source): KindHoldings {
  async function all(signal: AbortSignal): Promise<Holding[]> {
    const told: Change[] = [];
    const reading = { signal, known: () => null, stored: () => false };
    for await (const { changes } of source.read(null, reading)) told.push(...changes);
    // A reading that was stopped has not told all there is.
    signal.throwIfAborted();
    return [...Map.groupBy(told, ({ id }) => id).values()].map((same) => {
      const holding = priceIn(currency, same.at(-1) as Change);
      const isOne = new Set(same.map(({ text }) => text)).size === 1;
      return isOne ? holding : { ...holding, untold: severalPrices(books, holding.id) };
    });
  }
  return {
    async *list(_scope, _from, signal) {
      const holdings = await all(signal);
      yield { holdings, position: null, total: null, serverTime: null };
    },
    get: async (ids, signal) => (await all(signal)).filter(({ id }) => ids.includes(id)),
    expect: notWrittenHere(`A price of ${books} is never written`),
  };
}

const severalPrices = (books: string, id: string): Fault => ({
  code: "no-single-price",
  message: `${books} tells more than one price of ${id}`,
  next: `Leave one price of the product in this list of ${books}, and reconcile again.`,
});

function notWrittenHere(message: string): KindHoldings["expect"] {
  const next = "Compare it with the platform: it starts in the books.";
  return async (items) => items.map(() => ({ fault: { code: "not-written-here", message, next } }));
}

function partyIn(change: Change): Holding {
  const { code, name, active, companyId } = PartyRecord.parse(parseExact(change.text));
  const facts: Facts = { number: code, state: active ? "open" : "ended", words: { name } };
  return { kind: "party", id: code, version: null, mark: companyId, change, facts };
}

/** The list that has it says what it is to us. */
function partyOfRole(change: Change): Holding {
  const { isCustomer } = PartyRecord.parse(parseExact(change.text));
  return { ...partyIn(change), role: isCustomer ? "customer" : "supplier" };
}

/** What is no price (a formula) shows its name only; its change says what is wrong with it. */
function priceIn(currency: string, change: Change): Holding {
  const number = change.id.replace(/\|([^|]*)$/, " $1");
  const record = PriceRecord.safeParse(parseExact(change.text));
  const facts: Facts = record.success
    ? {
        number,
        money: { price: record.data.price },
        words: { unit: record.data.unit, currency },
      }
    : { number };
  return { kind: "price", id: change.id, version: null, mark: null, change, facts };
}
