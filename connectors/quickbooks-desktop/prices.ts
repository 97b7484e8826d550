/** Prices of items, and of price levels item by item: each list is a terminal. */
import { priceChange } from "../../src/ledger/changes.ts";
import type { Change } from "../../src/core/contract.ts";
import type { DesktopConfig } from "./config.ts";
import { byId, listRows } from "./lists.ts";
import { below, decimalOf, refOf, textOf, yesOf } from "./read.ts";
import type { List } from "./walks.ts";
import type { Wire } from "./wire.ts";
import { child, type Element } from "./xml.ts";

type Prices = NonNullable<DesktopConfig["prices"]> & Pick<DesktopConfig, "unit">;
type Asked = Pick<Wire, "read">;

/** None where the configuration names no prices. */
export function priceLists(wire: Asked, config: Pick<DesktopConfig, "prices" | "unit">): List[] {
  if (config.prices === undefined) return [];
  const prices = { ...config.prices, unit: config.unit };
  const { list, levels } = prices;
  return [
    ...(list === undefined ? [] : [itemList(wire, prices, list)]),
    ...(levels ? [levelList(wire, prices)] : []),
  ];
}

const itemList = (wire: Asked, prices: Prices, list: string): List => ({
  name: "item",
  kind: "stamped",
  rows: listRows(wire, "ItemQuery"),
  changes: async (ids, _rows, signal) =>
    (await byId(wire, "ItemQuery", ids, signal)).filter(isActive).flatMap((row) => {
      const name = textOf(row, "FullName") ?? textOf(row, "Name") ?? "";
      const price = priceOf(row, prices.of);
      // A subtotal, a tax, a group have none.
      if (price === null || price.sign === 0) return [];
      return change(prices, { list, item: name, formula: price.plain() });
    }),
});

/** A level of one percentage for all items has no prices. */
const levelList = (wire: Asked, prices: Prices): List => ({
  name: "price level",
  kind: "stamped",
  rows: listRows(wire, "PriceLevelQuery", { iterates: false }),
  changes: async (ids, _rows, signal) =>
    (await byId(wire, "PriceLevelQuery", ids, signal)).filter(isActive).flatMap((row) => {
      const list = textOf(row, "Name") ?? "";
      // The prices of items have this list's name already: the platform takes one price.
      const isTwice = list === prices.list;
      return below(row, "PriceLevelPerItemRet").map((line) => {
        const percent = textOf(line, "CustomPricePercent");
        const formula = textOf(line, "CustomPrice") ?? `${percent ?? ""} %`;
        return change(prices, { list, item: refOf(line, "ItemRef").name ?? "", formula, isTwice });
      });
    }),
});

function change(
  { unit }: Prices,
  {
    list,
    item,
    formula,
    isTwice = false,
  }: { list: string; item: string; formula: string; isTwice?: boolean },
): Change {
  const line = { list, code: item, name: item, unit, formula, byQuantity: false };
  return priceChange("QuickBooks", isTwice ? [line, line] : [line]);
}

const isActive = (row: Element): boolean => yesOf(row, "IsActive") !== false;

/** Of what is bought and sold both prices are kept; of other items one, whichever it is. */
function priceOf(row: Element, of: Prices["of"]) {
  const one = child(row, "SalesOrPurchase");
  if (one !== null) return decimalOf(one, "Price");
  const both = child(row, "SalesAndPurchase") ?? row;
  return decimalOf(both, of === "sales" ? "SalesPrice" : "PurchaseCost");
}
