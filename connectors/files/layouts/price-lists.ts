/** Tryton's price lists: one per terminal, one row per price. A file restates all prices of the moment. */
import type { z } from "zod";
import { decimal, each, filled, flag, stamp, text } from "./table.ts";

export const priceLists = each({
  name: "tryton-export/price-lists",
  restates: true,
  head: {
    id: filled(text("ID")),
    /** The terminal, as people named the list. */
    list: filled(text("Name")),
    unit: text("Unit"),
    taxIncluded: flag("Tax Included"),
    editedAt: stamp("Edited at"),
    createdAt: stamp("Created at"),
  },
  rows: {
    sequence: text("Lines/Sequence"),
    product: text("Lines/Product/Code"),
    productName: text("Lines/Product"),
    category: text("Lines/Category"),
    /** The least quantity that the price holds for. */
    minQuantity: decimal("Lines/Quantity"),
    /** An expression; a price when it is a constant. A decimal point in every language. */
    formula: text("Lines/Formula"),
  },
  key({ list, product, category, minQuantity }) {
    if (list === null) return null;
    const what = product ?? (category === null ? "any" : `category ${category}`);
    const from = minQuantity === null ? "" : `|from ${minQuantity.plain()}`;
    return `${list.trim()}|${what}${from}`;
  },
});

export type PriceLine = z.infer<typeof priceLists.record>;
