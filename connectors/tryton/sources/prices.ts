/**
 * Prices of products in price lists, of which people name one after each terminal. A line that is for one product and
 * whose formula is a number is its price; one that is for a category, or for all products, is no price of a product.
 */
import type { Change, Source } from "../../../src/core/contract.ts";
import type { Decimal } from "../../../src/core/decimal.ts";
import type { Books } from "../books.ts";
import { ofCompany, rowsOf } from "../search.ts";
import { priceChange, priceId, type PriceLine } from "../../../src/books/changes.ts";
import { TRYTON } from "../errors.ts";
import { exact } from "../values.ts";
import { feed, type Part } from "./feed.ts";

const MODEL = "product.price_list.line";
/** A list that is renamed is another terminal: all of its prices come again. */
const PARTS: readonly Part[] = [
  { model: MODEL, record: "price_list", domain: [] },
  { model: "product.price_list", record: "id", domain: [] },
];

const FIELDS = "formula quantity price_list.name product(code name default_uom.symbol)";

export const prices = (books: Books): Source =>
  feed(books, PARTS, (ids, signal) => priceChanges(books, ids, signal));

/** All prices of these lists as they are now, one per list's name and product. @throws TrytonError */
export async function priceChanges(
  books: Books,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const lists = await rowsOf<{ name: string }>(
    books,
    "product.price_list",
    [["id", "in", ids]],
    "name",
    { signal },
  );
  // By name: two lists of one name would be two prices of one terminal.
  const domain = [
    ["price_list.name", "in", lists.map(({ name }) => name)],
    await ofCompany(books, "price_list.company"),
    ["product", "!=", null],
  ];
  // As Tryton looks for the line that counts: the first one in this order.
  const order = [
    ["price_list", "ASC"],
    ["sequence", "ASC"],
    ["id", "ASC"],
  ] as const;
  const rows = await rowsOf<LineRow>(books, MODEL, domain, FIELDS, { order, signal });
  return [...Map.groupBy(rows.map(lineOf), priceId).values()].map((lines) =>
    priceChange(TRYTON.name, lines),
  );
}

interface LineRow {
  readonly id: number;
  readonly formula: string;
  /** The least quantity that it is for. */
  readonly quantity: Decimal | number | null;
  readonly "price_list.": { readonly name: string };
  readonly "product.": {
    readonly code: string | null;
    readonly name: string;
    readonly "default_uom.": { readonly symbol: string };
  };
}

const lineOf = (row: LineRow): PriceLine => {
  const { code, name, "default_uom.": unit } = row["product."];
  const quantity = row.quantity ?? 0;
  return {
    list: row["price_list."].name,
    code,
    name,
    unit: unit.symbol,
    formula: row.formula,
    byQuantity: exact(quantity).sign !== 0,
  };
};
