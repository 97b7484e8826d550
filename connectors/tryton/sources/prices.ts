/**
 * Prices of products in price lists, of which people name one after each terminal. A line that is for one product and
 * whose formula is a number is its price; one that is for a category, or for all products, is no price of a product.
 */
import type { Change, Source } from "../../../src/core/contract.ts";
import { Decimal } from "../../../src/core/decimal.ts";
import type { Fault } from "../../../src/core/fault.ts";
import { stringifyExact } from "../../../src/core/json.ts";
import type { Books } from "../books.ts";
import { ofCompany, rowsOf } from "../search.ts";
import type { PriceRecord } from "../../../src/books/records.ts";
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
  return [...Map.groupBy(rows, idOf).values()].map(changeOf);
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

const idOf = (row: LineRow): string =>
  `${row["price_list."].name}|${row["product."].code ?? row["product."].name}`;

/** All lines of one product in one list. */
function changeOf(rows: readonly LineRow[]): Change {
  const [row, another] = rows as readonly [LineRow, ...LineRow[]];
  const { name: list } = row["price_list."];
  const { code, name, "default_uom.": unit } = row["product."];
  const formula = row.formula.trim();
  const head = { id: idOf(row), version: null, origin: `price list ${list}` };
  const fault = faultOf(row, another, formula);
  if (fault === null) {
    const price = Decimal.of(formula);
    const record = { list, product: code ?? "", price, unit: unit.symbol } satisfies PriceRecord;
    return { ...head, text: stringifyExact(record) };
  }
  const formulas = rows.map((line) => line.formula);
  return { ...head, text: stringifyExact({ list, product: code ?? name, formulas }), fault };
}

function faultOf(row: LineRow, another: LineRow | undefined, formula: string): Fault | null {
  const { code, name } = row["product."];
  const correct = "Correct the line in Tryton; the price is taken when it is read again.";
  if (code === null || code === "")
    return {
      code: "no-code",
      message: `the product "${name}" has no code`,
      next: "Give the product a code in Tryton; the price is taken when its line is written again.",
      field: "Product",
    };
  if (another !== undefined || !isEmpty(row.quantity))
    return {
      code: "no-single-price",
      message: `${code} has prices by quantity, or several lines under this list's name; the platform takes one price`,
      next: "Leave one line without a quantity for the product in this list, and one list of this name.",
      field: "Quantity",
    };
  if (!Decimal.is(formula))
    return {
      code: "no-constant",
      message: `the formula "${formula.slice(0, 80)}" is not a number`,
      next: correct,
      field: "Formula",
    };
  return null;
}

const isEmpty = (quantity: LineRow["quantity"]): boolean =>
  quantity === null || Decimal.of(String(quantity)).sign === 0;
