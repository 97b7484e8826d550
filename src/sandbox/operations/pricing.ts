/** Rack prices and the freight calculation (specification part 4, Pricing; readings, Pricing). */
import { Decimal } from "../../core/decimal.ts";
import { stringifyExact } from "../../core/json.ts";
import { type Numeric, toDecimal } from "../../platform/contract/primitives.ts";
import { notFound, success } from "../answer.ts";
import { type Fields, isFields } from "../kinds.ts";
import { priceKey } from "../shelves.ts";
import { amend, type Call, create, type Handlers, list } from "./call.ts";
import { savedRate } from "./freight.ts";

export const pricing: Handlers<
  "listRackPrices" | "listTerminalPrices" | "upsertRackPrices" | "calculateFreight"
> = {
  listRackPrices(call) {
    const { product, terminalId } = call.query;
    return list(call, "rack-prices", "own", { product, parent: terminalId });
  },

  /** A terminal of one's own that has no prices is an empty answer, an unknown one is none. */
  listTerminalPrices(call) {
    const { world, id, key } = call;
    const shelf = world.records.shelf("rack-prices", key.company, "own");
    const prices = world.lists.whole(
      "rack-prices",
      shelf,
      { parent: id },
      { by: "createdAt", order: "desc" },
    );
    if (prices === "[]" && !hasTerminal(call)) throw notFound("The terminal");
    return success(200, prices);
  },

  /** One price by terminal and product: in one call the later one wins and counts as updated. */
  upsertRackPrices(call) {
    const { prices, source } = call.body;
    const { world, key, at } = call;
    const count = { updated: 0, created: 0 };
    for (const { terminalId, product, price, unit } of prices) {
      const fields: Fields = {
        terminalId,
        product,
        price,
        unit: unit === "ltr" ? "liter" : unit,
        spread: 0,
        indexSource: source === "manual" ? null : source,
        effectiveAt: at,
      };
      const natural = priceKey(terminalId, product);
      const before = world.records.natural("rack-prices", key.company, natural);
      if (before === null) create(call, "rack-prices", fields);
      else amend(call, "rack-prices", before, fields);
      count[before === null ? "created" : "updated"] += 1;
    }
    return success(200, JSON.stringify(count));
  },

  /** base = rate per mile × miles, surcharge = base × percent / 100; a sent rate wins over a saved one. */
  calculateFreight(call) {
    const { body } = call;
    const saved = body.connectionId === undefined ? null : savedRate(call, body.connectionId);
    const sent = isFields(call.raw) ? call.raw : {};
    const ratePerMile = exact(body.ratePerMile ?? saved?.ratePerMile);
    const percent = exact(
      sent.fuelSurchargePercent === undefined
        ? (saved?.fuelSurchargePercent ?? 0)
        : body.fuelSurchargePercent,
    );
    const distanceMiles = exact(body.distanceMiles);
    const additionalFees = exact(body.additionalFees);
    const baseCost = ratePerMile.times(distanceMiles);
    const fuelSurcharge = baseCost.times(percent).times(Decimal.of("0.01"));
    const totalFreight = baseCost.plus(fuelSurcharge).plus(additionalFees);
    const quote = {
      totalFreight,
      distanceMiles,
      ratePerMile,
      fuelSurcharge,
      additionalFees,
      baseCost,
    };
    const plain = Object.entries(quote).map(([name, value]) => [name, Decimal.of(value.plain())]);
    return success(200, stringifyExact(Object.fromEntries(plain)));
  },
};

function hasTerminal({ world, id, key }: Call): boolean {
  const terminal = world.records.get("supplier-terminals", id);
  if (terminal?.owner === key.company) return true;
  return world.records.natural("supplier-terminals", key.company, id) !== null;
}

function exact(value: unknown): Decimal {
  return value === undefined || value === null ? Decimal.zero : toDecimal(value as Numeric);
}
