/** The party of a document: by its code, else by the platform's id of the company, else it is created. */
import { Refused } from "../core/errors.ts";
import type { Books, Call, Standing, Wanted } from "./adapter.ts";
import type { Party } from "./documents.ts";
import { adapterOf, type Carried, wantedOf } from "./wanted.ts";

/**
 * The codes by which these books know the parties of these documents, in their order: that of the document where there
 * is no such party yet, null for a document without one. @throws BookError, Refused when it cannot be told
 */
export async function partyCodes(
  books: Books,
  carried: readonly Carried[],
  call: Call,
): Promise<(string | null)[]> {
  const parties = carried.map(({ document }) => partyOf(document));
  const rows = await located(
    books,
    parties.flatMap((party) => party ?? []),
    call,
  );
  return parties.map((party) =>
    party === null ? null : (found(books, party, rows) ?? party.code),
  );
}

/**
 * Creates those that are missing, as many in one call as the books take. @param made those that this send has made, by their codes: searches may
 * not show them yet @throws BookError, Refused
 */
export async function ensureParties(
  books: Books,
  wanted: readonly Wanted[],
  made: Set<string>,
  call: Call,
): Promise<void> {
  if (books.adapters.party === undefined) return;
  const parties = wanted.flatMap(({ document }) => partyOf(document) ?? []);
  const rows = await located(books, parties, call);
  const missing = new Map(
    parties
      .filter((party) => !made.has(party.code) && found(books, party, rows) === null)
      .map((party) => [party.code, party]),
  );
  if (missing.size === 0) return;
  const absent = [...missing.values()].map((one) => asWanted(books, one));
  const adapter = adapterOf(books, "party");
  const { atomic } = adapter.ladder;
  for (let at = 0; at < absent.length; at += atomic) {
    const some = absent.slice(at, at + atomic);
    await adapter.create(some, call);
    for (const { number } of some) if (number !== null) made.add(number);
  }
}

const partyOf = (document: object): Party | null =>
  "party" in document ? (document.party as Party) : null;

async function located(
  books: Books,
  parties: readonly Party[],
  call: Call,
): Promise<readonly Standing[]> {
  if (books.adapters.party === undefined || parties.length === 0) return [];
  const each = new Map(parties.map((party) => [party.code, party]));
  return adapterOf(books, "party").locate(
    [...each.values()].map((one) => asWanted(books, one)),
    call,
  );
}

const asWanted = (books: Books, document: Party): Wanted =>
  wantedOf(adapterOf(books, "party"), "party", { document, counterpart: null, until: null }, null);

/** The code goes before the platform's id: people give it. Null: these books have no such party. */
function found({ name }: Books, party: Party, rows: readonly Standing[]): string | null {
  if (rows.some(({ number }) => number === party.code)) return party.code;
  const [one, another] = rows.filter(({ mark }) => mark === party.companyId);
  if (another !== undefined)
    throw new Refused({
      code: "twice-in-books",
      message: `${name} has several parties with the platform's id ${party.companyId} (${party.name})`,
      next: `Leave the id on one of them, or give one of them the code ${party.code}; then retry.`,
      field: "party",
    });
  return one?.number ?? null;
}
