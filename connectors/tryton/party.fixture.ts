/** The party of a document, as a send finds or makes it. */
import type { Desired } from "../../src/ledger/port.ts";
import type { Party } from "../../src/ledger/documents.ts";
import { Parties } from "../../src/ledger/desired.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import { type Addressed, addressedAll } from "./lists.ts";
import { ledgerOf } from "./index.ts";

/** @throws Refused, LedgerError */
export async function partyFor(books: Books, party: Party): Promise<Addressed> {
  const parties = new Parties(ledgerOf(books).books);
  const { signal } = new AbortController();
  const call = { key: "party", signal, purpose: "delivery", made: new Set<string>() } as const;
  const desired = { document: { party }, binding: null } as unknown as Desired;
  const [told] = await parties.of([desired], call);
  if (told?.refusal !== undefined) throw new Refused(told.refusal);
  const [addressed] = await addressedAll(books, await parties.ensure([desired], call));
  return addressed as Addressed;
}
