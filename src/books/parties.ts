/** The party of a document: by its code, else by the platform's id of the company, else it is created. */
import type { Fault } from "../core/fault.ts";
import type { Books, Call, Standing, Wanted } from "./adapter.ts";
import type { Party } from "./documents.ts";
import { adapterOf, type Carried, wantedOf } from "./wanted.ts";

/** The party of one document in these books. */
export interface PartyOf {
  /** Its code there; that of the document where there is no such party yet; null: a document without one. */
  readonly code: string | null;
  readonly standing: Standing | null;
  /** Why it cannot be told. */
  readonly refusal?: Fault;
}

/** The parties of one send, or of one look: a party that was found is not asked for again. */
export class Parties {
  readonly #books: Books;
  /** By the code that documents have. */
  readonly #found = new Map<string, PartyOf>();
  /** Codes of those that this send has made: searches may not show them yet. */
  readonly #made = new Set<string>();

  constructor(books: Books) {
    this.#books = books;
  }

  /** In the order of the documents. @throws BookError */
  async of(carried: readonly Pick<Carried, "document">[], call: Call): Promise<PartyOf[]> {
    const parties = carried.map(({ document }) => partyOf(document));
    await this.#look(
      parties.flatMap((party) => party ?? []),
      call,
    );
    return parties.map((party) =>
      party === null
        ? { code: null, standing: null }
        : (this.#found.get(party.code) ?? { code: party.code, standing: null }),
    );
  }

  /** The same documents with their parties, which are created where they are missing, as many in one call as the books take. @throws BookError, Refused */
  async ensure(wanted: readonly Wanted[], call: Call): Promise<Wanted[]> {
    if (this.#books.adapters.party === undefined) return [...wanted];
    const parties = wanted.flatMap(({ document }) => partyOf(document) ?? []);
    await this.#look(parties, call);
    const missing = new Map(
      parties
        .filter(({ code }) => !this.#found.has(code) && !this.#made.has(code))
        .map((party) => [party.code, party]),
    );
    if (missing.size > 0) {
      const absent = await asWanted(this.#books, [...missing.values()], call);
      const adapter = adapterOf(this.#books, "party");
      const { atomic } = adapter.ladder;
      const codes = [...missing.keys()];
      for (let at = 0; at < absent.length; at += atomic) {
        await adapter.create(absent.slice(at, at + atomic), call);
        for (const code of codes.slice(at, at + atomic)) this.#made.add(code);
      }
    }
    const theirs = await this.of(wanted, call);
    return wanted.map((one, at) => ({ ...one, payer: theirs[at]?.standing ?? null }));
  }

  async #look(parties: readonly Party[], call: Call): Promise<void> {
    const unknown = new Map(
      parties.filter(({ code }) => !this.#found.has(code)).map((party) => [party.code, party]),
    );
    if (this.#books.adapters.party === undefined || unknown.size === 0) return;
    const asked = await asWanted(this.#books, [...unknown.values()], call);
    const rows = await adapterOf(this.#books, "party").locate(asked, call);
    for (const party of unknown.values()) {
      const found = partyIn(this.#books.name, party, rows);
      if (found.standing !== null || found.refusal !== undefined)
        this.#found.set(party.code, found);
    }
  }
}

const partyOf = (document: object): Party | null =>
  "party" in document ? (document.party as Party) : null;

const asWanted = (books: Books, parties: readonly Party[], call: Call): Promise<Wanted[]> => {
  const carried = parties.map((document) => ({ document, counterpart: null, until: null }));
  return wantedOf(adapterOf(books, "party"), carried, [], call);
};

/** The code goes before the platform's id: people give it. @param books what people call the books */
function partyIn(books: string, party: Party, rows: readonly Standing[]): PartyOf {
  const { code, companyId, name } = party;
  const named = rows.find(({ number }) => number === code);
  if (named !== undefined) return { code, standing: named };
  const [one, another] = rows.filter(({ mark }) => mark === companyId);
  if (one === undefined) return { code, standing: null };
  if (another === undefined) return { code: one.number, standing: one };
  const refusal = {
    code: "twice-in-books",
    message: `${books} has several parties with the platform's id ${companyId} (${name})`,
    next: `Leave the id on one of them, or give one of them the code ${code}; then retry.`,
    field: "party",
  };
  return { code, standing: null, refusal };
}
