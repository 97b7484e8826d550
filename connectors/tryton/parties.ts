/** Parties as documents need them: by code, else by the platform's id of the company, else made. */
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import type { Party } from "../../src/books/documents.ts";
import { TrytonFault } from "./fault.ts";
import type { PartyRow } from "./lookup.ts";

/** A party that an invoice can be addressed to. */
export interface Addressed extends PartyRow {
  readonly address: number;
}

/** @throws Refused when its name in Tryton cannot be told from another one's, TrytonFault */
export async function partyFor(books: Books, party: Party): Promise<Addressed> {
  const found = (await findParty(books, party)) ?? (await create(books, party));
  if (found.address !== null) return { ...found, address: found.address };
  const method = "model.party.address.create";
  const [address] = await books.tryton.call<[number]>(method, [[{ party: found.id }]]);
  return { ...found, address };
}

/** The same for many, by their codes: one call for all that are there. @throws Refused, TrytonFault */
export async function partiesFor(
  books: Books,
  parties: readonly Party[],
): Promise<ReadonlyMap<string, Addressed>> {
  const known = await books.lookup.findParties(parties.map(({ code }) => code));
  const addressed = new Map<string, Addressed>();
  for (const party of parties) {
    const found = known.get(party.code);
    if (addressed.has(party.code)) continue;
    if (found === undefined || found.address === null)
      addressed.set(party.code, await partyFor(books, party));
    else addressed.set(party.code, { ...found, address: found.address });
  }
  return addressed;
}

/** @throws Refused when the platform's id is on several parties, TrytonFault */
export async function findParty(books: Books, party: Party): Promise<PartyRow | null> {
  const byCode = await books.lookup.findParty(party.code);
  if (byCode !== null) return byCode;
  const [code, another] = await books.tryton.call<{ code: string }[]>(
    "model.party.party.search_read",
    [[["identifiers.code", "=", party.companyId]], 0, 2, null, ["code"]],
  );
  if (another !== undefined)
    throw new Refused({
      code: "twice-in-tryton",
      message: `Tryton has several parties with the identifier ${party.companyId} (${party.name})`,
      next: `Leave the identifier ${party.companyId} on one of them, or give that one the code ${party.code}; then retry.`,
      field: "party",
    });
  return code === undefined ? null : books.lookup.findParty(code.code);
}

async function create(books: Books, { code, name, companyId }: Party): Promise<PartyRow> {
  const values = {
    code,
    name,
    identifiers: [["create", [{ code: companyId }]]],
    addresses: [["create", [{}]]],
  };
  try {
    await books.tryton.call("model.party.party.create", [[values]]);
  } catch (error) {
    // Somebody else may have made it in between: codes are unique.
    if (!(error instanceof TrytonFault && TAKEN.test(error.message))) throw error;
  }
  const made = await books.lookup.findParty(code);
  if (made !== null) return made;
  throw new Refused({
    code: "party-inactive",
    message: `the party code ${code} (${name}) is taken in Tryton by a party that is not active`,
    next: `Activate the party ${code} in Tryton, or give it another code; then retry.`,
    field: "party",
  });
}

const TAKEN = /code on party must be unique/;
