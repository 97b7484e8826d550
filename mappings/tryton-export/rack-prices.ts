/** Price lists, of which each is a terminal, as rack prices. What is no plain price is refused by name. */
import { productOf } from "../platform/products.ts";
import { priceWithin, terminalOf } from "../platform/rack-prices.ts";
import { defineMapping, type References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { type PriceLine, priceLists } from "../../src/formats/table/layouts.ts";
import { BulkRackPrice, writtenPriceUnits } from "../../src/platform/contract/pricing.ts";

const FORMULA = "Lines/Formula";
const CONSTANT = /^-?\d+(?:\.\d+)?$/;

export const rackPrices = defineMapping({
  name: "tryton-export/rack-prices",
  kind: "rack-price",
  reads: "tryton-export/price-lists",
  writes: "platform.rackPrices",
  tables: {
    products: ["code", "product"],
    terminals: ["name", "terminal"],
  },
  // The product's code says which; the file restates all prices, so that stamps tell nothing.
  // `unit` says which unit of the product the list is for: the table `products` names the unit itself.
  leaves: { record: ["id", "sequence", "productName", "unit", "createdAt", "editedAt"] },
  input: priceLists.record,
  output: BulkRackPrice.shape.prices.element,
  number: (line) => priceLists.key(line) ?? line.list,
  map(line, references) {
    const product = soldProduct(line);
    if (line.minQuantity !== null && line.minQuantity.sign !== 0)
      throw refused(
        "quantity-break",
        `the price holds from ${line.minQuantity.plain()} on`,
        "The platform has one price per terminal and product: agree quantity prices outside it.",
        "Lines/Quantity",
      );
    if (line.taxIncluded === true)
      throw refused(
        "tax-included",
        "the list's prices include tax",
        "Rack prices are without tax: export a list without it.",
        "Tax Included",
      );
    return {
      terminalId: terminalOf(references, line.list),
      product: productOf(references, product),
      price: priceOf(line.formula),
      unit: unitOf(references, product),
    };
  },
  figures: () => ({ amount: null, gallons: null }),
});

function soldProduct({ product, category }: PriceLine): string {
  if (product !== null) return product;
  const what = category === null ? "all products" : `the category ${category}`;
  throw refused(
    "no-product",
    `the line is for ${what}, not for a product`,
    "Give each product that is sold there a line of its own in the ERP, or leave it.",
    "Lines/Product/Code",
  );
}

/** From the table's column `unit`; US gallons when there is none. */
function unitOf(references: References, product: string): (typeof writtenPriceUnits)[number] {
  const given = references.row("products", product)["unit"]?.trim() ?? "";
  const unit = writtenPriceUnits.find((known) => known === (given === "" ? "gal" : given));
  if (unit !== undefined) return unit;
  throw new Refused({
    code: "unknown-unit",
    message: `the unit "${given}" of ${product} is none of ${writtenPriceUnits.join(", ")}`,
    next: 'Correct it in the cross-reference table "products" and retry.',
    field: "unit",
  });
}

function priceOf(formula: string | null): Decimal {
  const text = formula?.trim() ?? "";
  if (!CONSTANT.test(text) || !Decimal.is(text))
    throw refused(
      "not-constant",
      `the price is the formula "${text}", not a number`,
      "Enter the price itself in the ERP; formulas are not evaluated here.",
    );
  return priceWithin(Decimal.of(text), FORMULA);
}

const refused = (code: string, message: string, next: string, field = FORMULA): Refused =>
  new Refused({ code, message, next, field });
