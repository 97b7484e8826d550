/** Parties as documents need them: by code, else by the platform's id of the company, else made. */
import { PLAIN_ENTRY, type PartyAdapter, type Entry, type Desired } from "../../src/ledger/port.ts";
import { partiesOnce, partyFacts } from "../../src/ledger/booked.ts";
import { companyIdOf } from "../../src/ledger/changes.ts";
import type { Party } from "../../src/ledger/documents.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import { TrytonError } from "./errors.ts";
import { idLists, many, texts } from "./rows.ts";
import { either, idsOf, rowsOf } from "./search.ts";

/** A party that an invoice can be addressed to: database ids. */
export interface Addressed {
  readonly id: number;
  readonly address: number;
}

/** With the first of its addresses. */
interface PartyRow {
  readonly id: number;
  readonly address: number | null;
}

export const partyAdapter = (books: Books): PartyAdapter => ({
  ...partiesOnce(["posted"], 100),
  expected: async (parties) => parties.map(({ code, name }) => partyFacts(code, name)),
  locate: (desired) => locate(books, desired),
  async create(desired) {
    for (const { document } of desired) await create(books, document);
    return desired.map(() => null);
  },
});

/** In one call; asked for each time, for a database restored from a backup may give an id to another one. */
async function locate(
  books: Books,
  desired: readonly Desired<"party">[],
): Promise<Entry<PartyRow>[]> {
  const ids = desired.map(({ document }) => document.companyId);
  const codes = desired.map(({ document }) => document.code);
  const domain = [either({ "code in": codes, "identifiers.code in": ids })];
  const rows = await rowsOf(books, "party.party", domain, PARTY);
  return rows.flatMap(({ id, code, name, addresses: [address = null], identifiers }) => {
    const marks = identifiers.map((one) => one.code).filter((one) => ids.includes(one));
    const shown = marks.length === 0 ? [companyIdOf(identifiers)] : marks;
    return [...new Set<string | null>(shown)].map((mark) => ({
      ...PLAIN_ENTRY,
      id: code,
      mark,
      number: code,
      status: "posted" as const,
      facts: partyFacts(code, name),
      native: { id, address },
    }));
  });
}

const PARTY = {
  ...texts("code name"),
  ...idLists("addresses"),
  identifiers: many(texts("code")),
};

/** Those that documents are booked on, in their order; one without an address gets one. @throws TrytonError */
export async function addressedAll(
  { tryton }: Books,
  desired: readonly Pick<Desired, "payer">[],
): Promise<Addressed[]> {
  const addressFor = async (party: number): Promise<number> => {
    const [made] = await tryton.call<[number]>("model.party.address.create", [[{ party }]]);
    return made;
  };
  const addresses = new Map<number, number>();
  const all: Addressed[] = [];
  for (const { payer } of desired) {
    if (payer === null) throw new TrytonError("concurrency", "the party is not there any more");
    const { id, address: own } = payer.native as PartyRow;
    const address = addresses.get(id) ?? own ?? (await addressFor(id));
    addresses.set(id, address);
    all.push({ id, address });
  }
  return all;
}

/** @throws Refused when its code is that of an inactive party, TrytonError */
async function create({ tryton }: Books, { code, name, companyId }: Party): Promise<void> {
  const identifiers = [["create", [{ code: companyId }]]];
  const values = { code, name, identifiers, addresses: [["create", [{}]]] };
  try {
    await tryton.call("model.party.party.create", [[values]]);
  } catch (error) {
    // Somebody else may have made it in between: codes are unique.
    if (!(error instanceof TrytonError && TAKEN.test(error.message))) throw error;
    if ((await idsOf({ tryton }, "party.party", [["code", "=", code]])).length > 0) return;
    throw new Refused({
      code: "party-inactive",
      message: `the party code ${code} (${name}) is taken in Tryton by a party that is not active`,
      next: `Activate the party ${code} in Tryton, or give it another code; then retry.`,
      field: "party",
    });
  }
}

const TAKEN = /code on party must be unique/;
