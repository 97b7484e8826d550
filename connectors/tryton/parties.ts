/** Parties as documents need them: by code, else by the platform's id of the company, else made. */
import { BARE, type PartyAdapter, type Standing, type Wanted } from "../../src/books/adapter.ts";
import type { Party } from "../../src/books/documents.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import { TrytonError } from "./errors.ts";
import { idsOf, rowsOf } from "./search.ts";

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
  ladder: { has: ["posted"], byUs: "posted", amend: {}, atomic: 100, numbered: "once" },
  expected: async (parties) => parties.map(({ code, name }) => ({ number: code, words: { name } })),
  locate: async (wanted) =>
    standingsOf(
      books,
      wanted.map(({ document }) => document),
    ),
  async create(wanted) {
    for (const { document } of wanted) await create(books, document);
    return wanted.map(() => null);
  },
  advance: () => Promise.resolve(),
});

/** In one call; asked for each time, for a database restored from a backup may give an id to another one. */
async function standingsOf(books: Books, parties: readonly Party[]): Promise<Standing<PartyRow>[]> {
  const ids = parties.map(({ companyId }) => companyId);
  const codes = parties.map(({ code }) => code);
  const domain = [["OR", ["code", "in", codes], ["identifiers.code", "in", ids]]];
  const fields = "code name addresses identifiers.code";
  const rows = await rowsOf<Row>(books, "party.party", domain, fields);
  return rows.flatMap((row) => {
    const marks = row["identifiers."].map(({ code }) => code).filter((code) => ids.includes(code));
    return [...new Set<string | null>(marks.length === 0 ? [null] : marks)].map((mark) =>
      standingOf(row, mark),
    );
  });
}

interface Row {
  readonly id: number;
  readonly code: string;
  readonly name: string;
  readonly addresses: readonly number[];
  readonly "identifiers.": readonly { readonly code: string }[];
}

const standingOf = (
  { id, code, name, addresses }: Row,
  mark: string | null,
): Standing<PartyRow> => ({
  ...BARE,
  id: code,
  mark,
  number: code,
  rung: "posted",
  facts: { number: code, words: { name } },
  native: { id, address: addresses[0] ?? null },
});

/** Those that documents are booked on, in their order; one without an address gets one. @throws TrytonError */
export async function addressedAll(
  { tryton }: Books,
  wanted: readonly Pick<Wanted, "payer">[],
): Promise<Addressed[]> {
  const addressFor = async (party: number): Promise<number> => {
    const [made] = await tryton.call<[number]>("model.party.address.create", [[{ party }]]);
    return made;
  };
  const addresses = new Map<number, number>();
  const all: Addressed[] = [];
  for (const { payer } of wanted) {
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
