/** What is born in the books and comes as whole lists: how reconciliation is told of it. */
import type { Change, Source } from "../core/contract.ts";
import { inGroups } from "../core/groups.ts";
import type { Holding } from "../core/holdings.ts";
import type { Fault } from "../core/record.ts";
import { adapterOf } from "./desired.ts";
import { priceFacts, recordFacts } from "./documents.ts";
import { reading, unavailable } from "./errors.ts";
import type { Books, LedgerAdapter, LedgerSide } from "./port.ts";

/** A kind that starts in the books and has no date, or of which only the current one counts: every scope is all of them. @throws SourceUnavailable */
export type BornHere = (signal: AbortSignal) => AsyncIterable<readonly Holding[]>;

/** Marks that are looked up in one call. */
const AT_ONCE = 200;

/** Parties of books that keep a list for each role, as they are now; both are told as their source tells them. */
export const partyHoldings = (books: Books): BornHere =>
  async function* (signal) {
    const scope = { dated: null, changedSince: null, open: false };
    const { sale, purchase } = books.adapters.party as Record<LedgerSide, LedgerAdapter<"party">>;
    try {
      for (const adapter of [sale, purchase])
        for await (const { entries } of adapter.list(scope, null, signal))
          yield entries.flatMap(({ change }) => (change ? partyOfRole(change) : []));
    } catch (error) {
      throw unavailable(error, books);
    }
  };

/** The list that has it says what it is to us. */
const partyOfRole = (change: Change): Holding => {
  const says = recordFacts("party", change.text);
  return { kind: "party", id: change.id, version: null, change, ...says };
};

/** @throws SourceUnavailable */
async function changesIn(source: Source, signal: AbortSignal): Promise<Change[]> {
  const told: Change[] = [];
  const reading = { signal, known: () => null, stored: () => false };
  for await (const { changes } of source.read(null, reading)) told.push(...changes);
  // A reading that was stopped has not told all there is.
  signal.throwIfAborted();
  return told;
}

/**
 * Records of a whole list that their source tells. An invoice with our mark is told by the document that it was booked from; where
 * these books have none of that mark (a column that is filled with zeros), nobody else would tell it.
 */
export const listHoldings = (books: Books, kind: "party" | "invoice", source: Source): BornHere =>
  async function* (signal) {
    const told = await changesIn(source, signal);
    const all = told.map((change): Holding => {
      const unread = { facts: {}, mark: null };
      const says = change.fault === undefined ? recordFacts(kind, change.text) : unread;
      return { kind, id: change.id, version: null, change, ...says };
    });
    const booked = new Set<string | null>();
    const marks = kind === "invoice" ? all.flatMap(({ mark }) => mark ?? []) : [];
    const call = { key: "get", signal, purpose: "inspection", made: new Set<string>() } as const;
    for (const some of inGroups([...new Set(marks)], AT_ONCE))
      for (const { mark } of await reading(books, () =>
        adapterOf(books, "invoice").get(some, call),
      ))
        booked.add(mark);
    booked.delete(null);
    yield all.filter(({ mark }) => !booked.has(mark));
  };

/**
 * They are what their source tells from its beginning. A product with several prices in one list has none: which of them
 * counts is not said.
 */
export const priceHoldings = (books: string, currency: string, source: Source): BornHere =>
  async function* (signal) {
    const told = await changesIn(source, signal);
    yield [...Map.groupBy(told, ({ id }) => id).values()].map((same) => {
      const change = same.at(-1) as Change;
      const facts = priceFacts(currency, change);
      const holding = {
        kind: "price",
        id: change.id,
        version: null,
        mark: null,
        change,
        facts,
      } as const;
      const isOne = new Set(same.map(({ text }) => text)).size === 1;
      return isOne ? holding : { ...holding, untold: severalPrices(books, holding.id) };
    });
  };

const severalPrices = (books: string, id: string): Fault => ({
  code: "no-single-price",
  message: `${books} tells more than one price of ${id}`,
  next: `Leave one price of the product in this list of ${books}, and reconcile again.`,
});
