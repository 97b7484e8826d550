/** Parties in Tryton as documents need them: by code, else by the platform's id of the company, else made. */
import { Refused } from "../../src/core/errors.ts";
import type { Party, PartyRecord } from "../../src/ledger/documents.ts";
import { partiesOnce, partyChange, partyFacts } from "../../src/ledger/entries.ts";
import { inPages, PAGE_RECORDS } from "../../src/ledger/holdings.ts";
import type { Desired } from "../../src/ledger/port.ts";
import type { Table } from "../../src/ledger/table.ts";
import type { Books } from "./books.ts";
import { either, idLists, idsOf, many, rowsOf, texts, where } from "./rows.ts";
import { companyIdOf, parties, partyRecords } from "./sources.ts";
import { TRYTON, TrytonError } from "./wire.ts";

/** A party that an invoice can be addressed to: database ids. */
export interface Addressed {
  readonly id: number;
  readonly address: number;
}

/** A party as documents need it, and as its source tells it where it is read for that. */
interface PartyRow extends Pick<Party, "code"> {
  readonly name: string;
  readonly id: number;
  /** The first of its addresses. */
  readonly address: number | null;
  readonly mark: string | null;
  readonly told?: PartyRecord;
}

export const partyTable = (
  books: Books,
): Table<"party", Pick<Party, "code" | "name">, PartyRow> => ({
  ...partiesOnce(["posted"], 100),
  records: {
    async search({ desired, ids = [] }, { signal }) {
      if (desired !== undefined) return locate(books, desired);
      const named = where({ "code in": ids });
      const all = await idsOf(books, "party.party", named, { inactive: true, signal });
      return all.length === 0 ? [] : told(books, all, signal);
    },
    async *list(_, from, signal) {
      const search = { most: PAGE_RECORDS, inactive: true, signal } as const;
      const read = (after: number) => idsOf(books, "party.party", where({ "id >": after }), search);
      for await (const { rows, last } of inPages(Number(from ?? 0), Number, read))
        yield { rows: await told(books, rows, signal), position: String(last) };
    },
    async create(all) {
      for (const { desired } of all) await create(books, desired.document);
      return all.map(() => null);
    },
    changed: () => parties(books),
  },
  write: ({ code, name }: Party) => ({ code, name }),
  facts: ({ code, name }) => partyFacts(code, name),
  read: ({ code, mark, told: record }) => ({
    id: code,
    mark,
    number: code,
    status: record?.active === false ? "cancelled" : "posted",
  }),
  tell: ({ native: { told: record } }) =>
    record === undefined ? null : partyChange(TRYTON.name, record),
});

const told = async (
  books: Books,
  all: readonly number[],
  signal: AbortSignal,
): Promise<PartyRow[]> =>
  all.length === 0
    ? []
    : (await partyRecords(books, all, signal)).map((record) => ({
        ...record,
        id: 0,
        address: null,
        mark: record.companyId,
        told: record,
      }));

/** In one call; asked for each time, for a database restored from a backup may give an id to another one. */
async function locate(books: Books, desired: readonly Desired<"party">[]): Promise<PartyRow[]> {
  const ids = desired.map(({ document }) => document.companyId);
  const codes = desired.map(({ document }) => document.code);
  const domain = [either({ "code in": codes, "identifiers.code in": ids })];
  const rows = await rowsOf(books, "party.party", domain, PARTY);
  return rows.flatMap(({ id, code, name, addresses: [address = null], identifiers }) => {
    const marks = identifiers.map((one) => one.code).filter((one) => ids.includes(one));
    const shown = marks.length === 0 ? [companyIdOf(identifiers)] : marks;
    return [...new Set(shown)].map((mark) => ({ id, code, name, address, mark }));
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
