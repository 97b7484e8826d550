/** Tryton's price lists: one per terminal, one row per price. A file restates all prices of the moment. */
import type { z } from "zod";
import { decimal, filled, flag, records, stamp, text } from "./table.ts";

export const priceLists = records({
  name: "tryton-export/price-lists",
  restates: true,
  head: {
    id: filled(text),
    /** The terminal, as people named the list. */
    list: filled(text),
    unit: text,
    taxIncluded: flag,
    editedAt: stamp,
    createdAt: stamp,
    sequence: text,
    product: text,
    productName: text,
    category: text,
    /** The least quantity that the price holds for. */
    minQuantity: decimal,
    /** An expression; a price when it is a constant. A decimal point in every language. */
    formula: text,
  },
  lists: {},
  optional: {},
  key({ list, product, category, minQuantity }) {
    if (list === null) return null;
    const what = product ?? (category === null ? "any" : `category ${category}`);
    const from = minQuantity === null ? "" : `|from ${minQuantity.plain()}`;
    return `${list.trim()}|${what}${from}`;
  },
});

export type PriceLine = z.infer<typeof priceLists.record>;
