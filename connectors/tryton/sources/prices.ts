/**
 * Prices of products in price lists, of which people name one after each terminal. A line that is for one product and
 * whose formula is a number is its price; one that is for a category, or for all products, is no price of a product.
 */
import type { Change, Source } from "../../../src/core/contract.ts";
import type { Books } from "../books.ts";
import { amountsOrNone, one, type RowOf, texts, textsOrNone } from "../rows.ts";
import { ofCompany, rowsOf, where } from "../search.ts";
import { priceChange, priceId, type PriceLine } from "../../../src/ledger/changes.ts";
import { TRYTON } from "../errors.ts";
import { feed, type Part } from "./feed.ts";

const MODEL = "product.price_list.line";
/** A list that is renamed is another terminal: all of its prices come again. */
const PARTS: readonly Part[] = [
  { model: MODEL, record: "price_list", domain: [] },
  { model: "product.price_list", record: "id", domain: [] },
];

const LINE = {
  ...texts("formula"),
  // The least quantity that it is for.
  ...amountsOrNone("quantity"),
  price_list: one(texts("name")),
  product: one({
    ...textsOrNone("code"),
    ...texts("name"),
    default_uom: one(texts("symbol")),
  }),
};

export const prices = (books: Books): Source =>
  feed(books, PARTS, (ids, signal) => priceChanges(books, ids, signal));

/** All prices of these lists as they are now, one per list's name and product. @throws TrytonError */
async function priceChanges(
  books: Books,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const asked = where({ "id in": ids });
  const lists = await rowsOf(books, "product.price_list", asked, texts("name"), { signal });
  // By name: two lists of one name would be two prices of one terminal.
  const domain = where({
    ...(await ofCompany(books, "price_list.company")),
    "price_list.name in": lists.map(({ name }) => name),
    "product !=": null,
  });
  const rows = await rowsOf(books, MODEL, domain, LINE, { order: ORDER, signal });
  return [...Map.groupBy(rows.map(lineOf), priceId).values()].map((lines) =>
    priceChange(TRYTON.name, lines),
  );
}

/** As Tryton looks for the line that counts: the first one in this order. */
const ORDER = [
  ["price_list", "ASC"],
  ["sequence", "ASC"],
  ["id", "ASC"],
] as const;

const lineOf = ({ price_list, product, formula, quantity }: RowOf<typeof LINE>): PriceLine => ({
  list: price_list.name,
  code: product.code,
  name: product.name,
  unit: product.default_uom.symbol,
  formula,
  byQuantity: quantity !== null && quantity.sign !== 0,
});
