/** Parties as the books hold them now. They start in Tryton: each tells the change that its source tells. */
import type { Change } from "../../src/core/contract.ts";
import type { Holding } from "../../src/core/holdings.ts";
import { parseExact } from "../../src/core/json.ts";
import type { Books } from "./books.ts";
import { idsBy, type KindHoldings, notWritten, pagesOf } from "./holdings-kinds.ts";
import { PartyRecord } from "../../src/books/records.ts";
import { partyChanges } from "./sources/parties.ts";
import { unavailable } from "./fault.ts";

const MODEL = "party.party";

export function partyHoldings(books: Books): KindHoldings {
  const held = async (ids: readonly number[], signal: AbortSignal): Promise<Holding[]> =>
    ids.length === 0 ? [] : (await partyChanges(books, ids, signal)).map(holdingOf);
  return {
    // Parties have no date, and there are few: every scope is all of them.
    list: (_, from, signal) => pagesOf(books, MODEL, from, signal, (ids) => held(ids, signal)),
    async get(codes, signal) {
      try {
        return await held(await idsBy(books, MODEL, ["code", "in", codes], signal), signal);
      } catch (error) {
        throw unavailable(error);
      }
    },
    expect: notWritten("A party of Tryton is never written by itself"),
  };
}

function holdingOf(change: Change): Holding {
  const { code, name, active, companyId } = PartyRecord.parse(parseExact(change.text));
  return {
    kind: "party",
    id: code,
    version: null,
    mark: companyId,
    change,
    facts: { number: code, state: active ? "open" : "ended", words: { name } },
  };
}
