/** Tryton's list of products. */
import { decimal, filled, flag, records, text } from "./table.ts";

export const products = records({
  name: "tryton-export/products",
  restates: true,
  head: {
    id: filled(text("ID")),
    code: filled(text("Code")),
    name: filled(text("Product Template/Name")),
    type: text("Product Template/Type"),
    unit: text("Product Template/Default UOM/Symbol"),
    listPrice: decimal("Product Template/List Price"),
    category: text("Product Template/Account Category"),
    active: flag("Active"),
  },
  children: {},
  joined: {},
  key: ({ code }) => code,
});
