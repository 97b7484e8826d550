/** The party of a document: by its code, else by the platform's id of the company, else it is created. */
import { Refused } from "../core/errors.ts";
import type { Fault } from "../core/fault.ts";
import type { Books, Call, Entry, Desired } from "./port.ts";
import type { Party } from "./documents.ts";
import { adapterOf, type Carried, desiredOf } from "./desired.ts";

/** The party of one document in these books. */
export interface PartyOf {
  /** Its code there; that of the document where there is no such party yet; null: a document without one. */
  readonly code: string | null;
  readonly entry: Entry | null;
  /** Why it cannot be told. */
  readonly refusal?: Fault;
}

/** The parties of one send, or of one look: a party that was found is not asked for again. */
export class Parties {
  readonly #books: Books;
  /** By {@link keyOf}. */
  readonly #found = new Map<string, PartyOf>();
  /** {@link keyOf} those that this send has made: searches may not show them yet. */
  readonly #made = new Set<string>();

  constructor(books: Books) {
    this.#books = books;
  }

  /** In the order of the documents. @throws LedgerError */
  async of(carried: readonly Pick<Carried, "document">[], call: Call): Promise<PartyOf[]> {
    const parties = carried.map(({ document }) => partyOf(document));
    await this.#look(
      parties.flatMap((party) => party ?? []),
      call,
    );
    return parties.map((party) =>
      party === null
        ? { code: null, entry: null }
        : (this.#found.get(keyOf(party)) ?? { code: party.code, entry: null }),
    );
  }

  /** The same documents with their parties, which are created where they are missing, as many in one call as the books take. @throws LedgerError, Refused */
  async ensure(desired: readonly Desired[], call: Call): Promise<Desired[]> {
    if (this.#books.adapters.party === undefined) return [...desired];
    const parties = desired.flatMap(({ document }) => partyOf(document) ?? []);
    await this.#look(parties, call);
    const missing = new Map(
      parties
        .filter((party) => !this.#found.has(keyOf(party)) && !this.#made.has(keyOf(party)))
        .map((party) => [keyOf(party), party]),
    );
    if (missing.size > 0) {
      const all = [...missing.values()];
      for (const [at, party] of all.entries()) {
        const first = all.slice(0, at).find(({ code }) => code === party.code);
        if (first !== undefined)
          throw new Refused(ofAnother(this.#books.name, party, first.companyId));
      }
      const absent = await asDesired(this.#books, all, call);
      const adapter = adapterOf(this.#books, "party");
      const { atomic } = adapter.can;
      for (let at = 0; at < absent.length; at += atomic) {
        await adapter.create(absent.slice(at, at + atomic), call);
        for (const party of all.slice(at, at + atomic)) this.#made.add(keyOf(party));
      }
    }
    const theirs = await this.of(desired, call);
    for (const { refusal } of theirs) if (refusal !== undefined) throw new Refused(refusal);
    return desired.map((one, at) => ({ ...one, payer: theirs[at]?.entry ?? null }));
  }

  async #look(parties: readonly Party[], call: Call): Promise<void> {
    const unknown = new Map(
      parties
        .filter((party) => !this.#found.has(keyOf(party)))
        .map((party) => [keyOf(party), party]),
    );
    if (this.#books.adapters.party === undefined || unknown.size === 0) return;
    const asked = await asDesired(this.#books, [...unknown.values()], call);
    const rows = await adapterOf(this.#books, "party").locate(asked, call);
    for (const [key, party] of unknown) {
      const found = partyIn(this.#books.name, party, rows);
      if (found.entry !== null || found.refusal !== undefined) this.#found.set(key, found);
    }
  }
}

/** A code alone is no party: two companies of the platform may have been given one. */
const keyOf = ({ code, companyId }: Party): string => JSON.stringify([code, companyId]);

const partyOf = (document: object): Party | null =>
  "party" in document ? (document.party as Party) : null;

const asDesired = (books: Books, parties: readonly Party[], call: Call): Promise<Desired[]> => {
  const carried = parties.map((document) => ({ document, counterpart: null, until: null }));
  return desiredOf(adapterOf(books, "party"), carried, [], call);
};

/**
 * The code is what people give, the platform's id what a record of the books carries: they must not contradict each
 * other. A party with the code and without any id is it, unless another one carries the id.
 * @param books what people call the books
 */
function partyIn(books: string, party: Party, rows: readonly Entry[]): PartyOf {
  const { code, companyId } = party;
  const coded = rows.filter(({ number }) => number === code);
  const own = rows.filter(({ mark }) => mark === companyId);
  const both = coded.find(({ mark }) => mark === companyId);
  if (both !== undefined) return { code, entry: both };
  const [named] = coded;
  const [one, another] = own;
  if (another !== undefined) return { code, entry: null, refusal: twice(books, party) };
  if (named === undefined) return { code: one?.number ?? code, entry: one ?? null };
  if (named.mark !== null)
    return { code, entry: null, refusal: ofAnother(books, party, named.mark) };
  if (one === undefined) return { code, entry: named };
  return { code, entry: null, refusal: apart(books, party, one) };
}

const twice = (books: string, { code, name, companyId }: Party): Fault => ({
  code: "twice-in-books",
  message: `${books} has several parties with the platform's id ${companyId} (${name})`,
  next: `Leave the id on one of them, or give one of them the code ${code}; then retry.`,
  field: "party",
});

/** @param other the platform's id of the company whose party it is */
const ofAnother = (books: string, { code, name, companyId }: Party, other: string): Fault => ({
  code: "party-of-another",
  message: `${code} is in ${books} the party of another company of the platform (${other}); this document is about ${name} (${companyId})`,
  next: `If they are two firms, give ${name} a code of its own in the cross-reference. If they are one, take the platform's id off the party ${code} in ${books}: its code then counts for both. Then retry.`,
  field: "party",
});

const apart = (books: string, { code, name, companyId }: Party, one: Entry): Fault => ({
  code: "party-apart",
  message: `${code} is the code of one party in ${books}, and the platform's id of ${name} (${companyId}) stands on another one (${one.number ?? one.id})`,
  next: `Correct the code of ${name} in the cross-reference, or move the platform's id to the party ${code} in ${books}; then retry.`,
  field: "party",
});
