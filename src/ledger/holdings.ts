/** What books hold now, for reconciliation: told by the adapters through which documents are written, or by a source. */
import type { Change, Item, Source } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import { inGroups } from "../core/groups.ts";
import type { Fault } from "../core/record.ts";
import {
  type Expected,
  type Facts,
  type Holding,
  type HoldingKind,
  type Holdings,
  type HoldingState,
  isGoodsHolding,
} from "../core/holdings.ts";
import { parseExact } from "../core/json.ts";
import { adapterOf, bodyOf, carriedIn, desiredWith } from "./desired.ts";
import { PartyRecord, PriceRecord } from "./documents.ts";
import { reading, unavailable } from "./errors.ts";
import { isGoods, isTakenBack } from "./goods.ts";
import { isBelow, isSettlement, posts } from "./plan.ts";
import type {
  Books,
  Call,
  Capabilities,
  Desired,
  Entry,
  LedgerAdapter,
  LedgerKind,
  LedgerSide,
} from "./port.ts";

/** Records that one call asks for. */
const PAGE_RECORDS = 200;

const ADAPTERS: Readonly<Partial<Record<HoldingKind, LedgerKind>>> = {
  invoice: "invoice",
  bill: "bill",
  payment: "payment",
  "bill-payment": "payment",
  order: "order",
  ticket: "shipment",
  party: "party",
};

/** A kind that starts in the books and has no date, or of which only the current one counts: every scope is all of them. */
interface BornHere {
  /** @throws SourceUnavailable */
  all(signal: AbortSignal): AsyncIterable<readonly Holding[]>;
}

/**
 * Of every kind whose adapter lists it.
 * @param born kinds that are told otherwise: where the books are the source of them
 */
export function ledgerHoldings(
  books: Books,
  born: Readonly<Partial<Record<HoldingKind, BornHere>>> = {},
): Holdings {
  const listed = Object.keys(ADAPTERS).filter(
    (kind) => "list" in (books.adapters[ADAPTERS[kind as HoldingKind] ?? "invoice"] ?? {}),
  );
  const adapterFor = (kind: HoldingKind) => {
    const name = ADAPTERS[kind];
    if (name === undefined) throw new Error(`${books.name} tells nothing of kind ${kind}`);
    return adapterOf(books, name);
  };
  return {
    strength: Object.fromEntries(
      [...listed, ...Object.keys(born)].map((kind) => [kind, "asked" as const]),
    ),
    async *list(kind, scope, from, signal) {
      const none = { position: null, total: null, serverTime: null };
      if (born[kind] !== undefined) {
        for await (const holdings of born[kind].all(signal)) yield { holdings, ...none };
        return;
      }
      try {
        const position = typeof from === "number" ? String(from) : (from as string | null);
        for await (const page of adapterFor(kind).list(scope, position, signal)) {
          const { entries, ...more } = page;
          yield { ...none, ...more, holdings: held(kind, entries) };
        }
      } catch (error) {
        throw unavailable(error, books);
      }
    },
    async get(kind, ids, signal) {
      if (born[kind] === undefined) {
        const call = callOf("get", signal);
        return reading(books, async () => held(kind, await adapterFor(kind).get(ids, call)));
      }
      const found: Holding[] = [];
      for await (const all of born[kind].all(signal))
        found.push(...all.filter(({ id }) => ids.includes(id)));
      return found;
    },
    named: async (kind, numbers, signal) =>
      // The list of what is born here tells all there is.
      born[kind] === undefined
        ? reading(books, async () => held(kind, await adapterFor(kind).named(numbers, signal)))
        : [],
    async expect(kind, items, signal) {
      if (kind !== "party" && kind !== "price")
        return reading(books, () => expectAll(books, ADAPTERS[kind] ?? "invoice", items, signal));
      const never = kind === "party" ? "is never written by itself" : "is never written";
      const message = `A ${kind} of ${books.name} ${never}`;
      const next = "Compare it with the platform: it starts in the books.";
      return items.map(() => ({ fault: { code: "not-written-here", message, next } }));
    },
  };
}

/** Parties of books that keep a list for each role, as they are now; both are told as their source tells them. */
export const partyHoldings = (books: Books): BornHere => ({
  async *all(signal) {
    const scope = { dated: null, changedSince: null, open: false };
    const { sale, purchase } = books.adapters.party as Record<LedgerSide, LedgerAdapter<"party">>;
    try {
      for (const adapter of [sale, purchase])
        for await (const { entries } of adapter.list(scope, null, signal))
          yield entries.flatMap(({ change }) => (change ? partyOfRole(change) : []));
    } catch (error) {
      throw unavailable(error, books);
    }
  },
});

/** The list that has it says what it is to us. */
function partyOfRole(change: Change): Holding {
  const record = PartyRecord.parse(parseExact(change.text));
  const { code, name, active, companyId, isCustomer } = record;
  const facts: Facts = { number: code, state: active ? "open" : "ended", words: { name } };
  const role = isCustomer ? "customer" : "supplier";
  return { kind: "party", id: code, version: null, mark: companyId, change, facts, role };
}

/**
 * They are what their source tells from its beginning. A product with several prices in one list has none: which of them
 * counts is not said.
 */
export const priceHoldings = (books: string, currency: string, source: Source): BornHere => ({
  async *all(signal) {
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
  },
});

const severalPrices = (books: string, id: string): Fault => ({
  code: "no-single-price",
  message: `${books} tells more than one price of ${id}`,
  next: `Leave one price of the product in this list of ${books}, and reconcile again.`,
});

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

const held = (kind: HoldingKind, entries: readonly Entry[]): Holding[] =>
  entries.filter((one) => isOf(kind, one)).flatMap((one) => holdingOf(kind, one));

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
  const own = mark !== null && isSettlement(mark) ? null : mark;
  const isDocument = kind === "invoice" || kind === "bill";
  const isOver = isDocument && status === "cancelled";
  return [
    {
      kind,
      id,
      version,
      mark: own,
      ...defined({ aliases, untold }),
      change: isTold(kind, own) ? change : null,
      facts: {
        ...facts,
        state: stateOf(kind, entry),
        days: { ...facts.days, ...(isDocument ? { paid: entry.paid } : {}) },
        money: { ...facts.money, ...(isOver ? { open: Decimal.zero } : {}) },
      },
    },
  ];
}

/** What carries our mark came from the platform; a party with it is read like the others, and its mapping skips it. */
const isTold = (kind: HoldingKind, mark: string | null): boolean =>
  mark === null || kind === "party";

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
  const { can } = adapterOf(books, kind);
  const call = callOf("expect", signal);
  const expected: Expected[] = [];
  for (const some of inGroups(items, PAGE_RECORDS)) {
    const page = some.map((item) => {
      try {
        return carriedIn(kind, bodyOf(books, kind, [item]));
      } catch (error) {
        if (error instanceof Refused) return error.fault;
        throw error;
      }
    });
    const carried = page.flatMap((one) => (Array.isArray(one) ? one : []));
    const desired = await desiredWith(books, kind, carried, call);
    for (const one of page) {
      const own = Array.isArray(one) ? desired.shift() : undefined;
      if (own === undefined) expected.push({ fault: one as Fault });
      else if (own.refusal !== undefined) expected.push({ fault: own.refusal });
      else {
        const skip = uncounted(books, kind, own);
        expected.push(skip === null ? { facts: factsOf(kind, can, own) } : { skip });
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
