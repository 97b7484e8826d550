/** What books hold now, kind by kind, for reconciliation; a connector puts its kinds together with {@link holdingsOf}. */
import type { Change, Item, Source } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { Refused, type SourceUnavailable } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import {
  type Expected,
  type Facts,
  type Holding,
  type HoldingKind,
  type HoldingPage,
  type Holdings,
  type HoldingState,
  isGoodsHolding,
  type Scope,
} from "../core/holdings.ts";
import { type Json, parseExact } from "../core/json.ts";
import { adapterOf, bodyOf, carriedIn, desiredOf, Parties } from "./desired.ts";
import { PartyRecord, PriceRecord } from "./documents.ts";
import { reading, unavailable } from "./errors.ts";
import { isGoods, isTakenBack } from "./goods.ts";
import { isBelow, isSettlement, posts } from "./plan.ts";
import type { Books, Call, Capabilities, Desired, Entry, LedgerKind } from "./port.ts";

/** Records that one call asks for. */
export const PAGE_RECORDS = 200;

/** {@link Holdings} of one kind. */
interface KindHoldings {
  list(scope: Scope, from: Json | null, signal: AbortSignal): AsyncIterable<HoldingPage>;
  get(ids: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
  /** Left out: its list tells all there is. */
  named?(numbers: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
  expect(items: readonly Item[], signal: AbortSignal): Promise<readonly Expected[]>;
}

/** All of them as they are now. */
function holdingsOf(
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

/** Records that start in the books and have no date, or of which only the current one counts: every scope is all of them. */
const bornHere = (
  what: string,
  all: (signal: AbortSignal) => AsyncIterable<readonly Holding[]>,
): KindHoldings => ({
  async *list(_scope, _from, signal) {
    for await (const holdings of all(signal))
      yield { holdings, position: null, total: null, serverTime: null };
  },
  async get(ids, signal) {
    const found: Holding[] = [];
    for await (const holdings of all(signal))
      found.push(...holdings.filter(({ id }) => ids.includes(id)));
    return found;
  },
  expect: notWrittenHere(what),
});

/**
 * Parties of books that keep a list for each role, and tell both as their source does.
 * @param all every party as it is now, page by page
 */
export const partyListHoldings = (
  books: string,
  all: (signal: AbortSignal) => AsyncIterable<readonly Change[]>,
  unavailable: (error: unknown) => SourceUnavailable,
): KindHoldings =>
  bornHere(partyOf(books), async function* (signal) {
    try {
      for await (const changes of all(signal)) yield changes.map(partyOfRole);
    } catch (error) {
      throw unavailable(error);
    }
  });

const partyOf = (books: string): string => `A party of ${books} is never written by itself`;

/**
 * They are what their source tells from its beginning. A product with several prices in one list has none: which of them
 * counts is not said.
 */
export const priceHoldings = (books: string, currency: string, source: Source): KindHoldings =>
  bornHere(`A price of ${books} is never written`, async function* (signal) {
    const told: Change[] = [];
    const reading = { signal, known: () => null, stored: () => false };
    for await (const { changes } of source.read(null, reading)) told.push(...changes);
    // A reading that was stopped has not told all there is.
    signal.throwIfAborted();
    yield [...Map.groupBy(told, ({ id }) => id).values()].map((same) => {
      const holding = priceIn(currency, same.at(-1) as Change);
      const isOne = new Set(same.map(({ text }) => text)).size === 1;
      return isOne ? holding : { ...holding, untold: severalPrices(books, holding.id) };
    });
  });

const severalPrices = (books: string, id: string): Fault => ({
  code: "no-single-price",
  message: `${books} tells more than one price of ${id}`,
  next: `Leave one price of the product in this list of ${books}, and reconcile again.`,
});

function notWrittenHere(message: string): KindHoldings["expect"] {
  const next = "Compare it with the platform: it starts in the books.";
  return async (items) => items.map(() => ({ fault: { code: "not-written-here", message, next } }));
}

/** The list that has it says what it is to us. */
function partyOfRole(change: Change): Holding {
  const record = PartyRecord.parse(parseExact(change.text));
  const { code, name, active, companyId, isCustomer } = record;
  const facts: Facts = { number: code, state: active ? "open" : "ended", words: { name } };
  const role = isCustomer ? "customer" : "supplier";
  return { kind: "party", id: code, version: null, mark: companyId, change, facts, role };
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

/* What books hold now, for reconciliation: told by the adapters through which documents are written. */

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

export function kindHoldings(books: Books, kind: HoldingKind): KindHoldings {
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
    expect:
      kind === "party"
        ? notWrittenHere(partyOf(books.name))
        : (items, signal) => reading(books, () => expectAll(books, name, items, signal)),
  };
}

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
