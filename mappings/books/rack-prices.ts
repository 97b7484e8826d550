/** Price lists, of which each is a terminal, as rack prices. */
import { PriceRecord } from "../../src/ledger/documents.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { BulkRackPrice, type writtenPriceUnits } from "../../src/platform/contract/pricing.ts";
import { productOf } from "../platform/products.ts";
import { priceWithin, terminalOf } from "../platform/rack-prices.ts";

export const rackPrices = defineMapping({
  name: "books/rack-prices",
  kind: "rack-price",
  reads: "books.prices",
  writes: "platform.rackPrices",
  tables: {
    products: ["code", "product"],
    terminals: ["name", "terminal"],
  },
  input: PriceRecord,
  output: BulkRackPrice.shape.prices.element,
  number: ({ list, product }) => `${list.trim()}|${product}`,
  map: ({ list, product, price, unit }, references) => ({
    terminalId: terminalOf(references, list),
    product: productOf(references, product),
    price: priceWithin(price, "price"),
    unit: writtenUnit(unit),
  }),
  figures: () => ({ amount: null, gallons: null }),
});

type Unit = (typeof writtenPriceUnits)[number];

/** What the platform calls the units of the books; `t` is the metric ton. */
const UNITS: Readonly<Record<string, Unit>> = { gal: "gal", l: "ltr", bbl: "bbl", t: "mt" };

/** @throws Refused: a price for another unit would be another price */
function writtenUnit(symbol: string): Unit {
  const unit = UNITS[symbol];
  if (unit !== undefined) return unit;
  throw new Refused({
    code: "unknown-unit",
    message: `the price is for the unit "${symbol}"; the platform takes prices for ${Object.keys(UNITS).join(", ")}`,
    next: "Give the product one of these units in the books; the price is taken when it is read again.",
    field: "unit",
  });
}
