/** Unit prices of items as rack prices of one terminal: the API has no price lists. */
import { z } from "zod";
import { decimal, text } from "../../src/ledger/documents.ts";
import type { PriceTable } from "../../src/ledger/table.ts";
import type { BusinessCentralConfig } from "./config.ts";
import { asTheyAre, changedIn, Head, textOrNone } from "./rows.ts";
import type { Wire } from "./wire.ts";

const Item = Head.extend({
  number: text,
  itemCategoryCode: textOrNone,
  blocked: z.boolean(),
  unitPrice: decimal,
  baseUnitOfMeasureCode: textOrNone,
});
type Item = z.infer<typeof Item>;

/** What is blocked or has no price keeps its last one on the platform. */
export const priceTable = (
  wire: Wire,
  { list, category }: NonNullable<BusinessCentralConfig["prices"]>,
): PriceTable<Item> => ({
  records: {
    changed: changedIn(wire, "items", Item, {}, asTheyAre),
  },
  line: ({ number: code, unitPrice, blocked, ...item }) =>
    blocked ||
    unitPrice.sign === 0 ||
    (category !== undefined && category !== item.itemCategoryCode)
      ? null
      : {
          list,
          code,
          name: code,
          unit: item.baseUnitOfMeasureCode?.toLowerCase() ?? "",
          formula: unitPrice.plain(),
        },
});
