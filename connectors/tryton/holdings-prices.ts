/** Prices of price lists as the books hold them now. They start in Tryton: each tells the change that its source tells. */
import type { Change } from "../../src/core/contract.ts";
import type { Facts, Holding } from "../../src/core/holdings.ts";
import { parseExact } from "../../src/core/json.ts";
import type { Books } from "./books.ts";
import { idsBy, type KindHoldings, notWritten, pagesOf } from "./holdings-kinds.ts";
import { PriceRecord } from "../../src/books/records.ts";
import { priceChanges } from "./sources/prices.ts";
import { unavailable } from "./fault.ts";

const MODEL = "product.price_list";

export function priceHoldings(books: Books): KindHoldings {
  const held = async (ids: readonly number[], signal: AbortSignal): Promise<Holding[]> =>
    ids.length === 0 ? [] : (await priceChanges(books, ids, signal)).map(holdingOf(books));
  return {
    // The current price is the only one: every scope is all of them.
    list: (_, from, signal) => pagesOf(books, MODEL, from, signal, (ids) => held(ids, signal)),
    async get(wanted, signal) {
      const names = wanted.map((id) => id.slice(0, id.lastIndexOf("|")));
      try {
        const lists = await idsBy(books, MODEL, ["name", "in", names], signal);
        return (await held(lists, signal)).filter(({ id }) => wanted.includes(id));
      } catch (error) {
        throw unavailable(error);
      }
    },
    expect: notWritten("A price of Tryton is never written"),
  };
}

/** A line that is no price (a formula) shows its name only; its change says what is wrong with it. */
function holdingOf({ config }: Books): (change: Change) => Holding {
  return (change) => {
    const number = change.id.replace(/\|([^|]*)$/, " $1");
    const record = PriceRecord.safeParse(parseExact(change.text));
    const facts: Facts = record.success
      ? {
          number,
          money: { price: record.data.price },
          words: { unit: record.data.unit, currency: config.currency },
        }
      : { number };
    return { kind: "price", id: change.id, version: null, mark: null, change, facts };
  };
}
