/** Rack prices, freight rates and the freight calculation (specification part 4; readings, Pricing). */
import { Decimal } from "../../core/decimal.ts";
import { stringifyExact } from "../../core/json.ts";
import { type Numeric, toDecimal } from "../../platform/contract/primitives.ts";
import { invalid, noContent, notFound, success } from "../answer.ts";
import { type Fields, isFields } from "../kinds.ts";
import type { Stored } from "../records.ts";
import {
  all,
  amend,
  bornAt,
  type Call,
  checked,
  create,
  type Handlers,
  lists,
  one,
  seen,
  updates,
  whole,
} from "./call.ts";

export const pricing: Pick<
  Handlers,
  | "listRackPrices"
  | "listTerminalPrices"
  | "upsertRackPrices"
  | "calculateFreight"
  | "listFreightRates"
  | "createFreightRate"
  | "updateFreightRate"
  | "deleteFreightRate"
> = {
  listRackPrices: lists("rack-prices", ({ product, terminalId }) => ({
    filters: { product, parent: terminalId },
  })),

  /** A terminal of one's own that has no prices is an empty answer, an unknown one is none. */
  listTerminalPrices(call) {
    const sort = { by: "createdAt", order: "desc" };
    const prices = whole(call, "rack-prices", { parent: call.id }, sort);
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
        // Whoever enters a price wants it to hold: an end that the one before it had is not its own.
        expiresAt: null,
      };
      const before = world.records.natural("rack-prices", key.company, terminalId, product);
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

  listFreightRates(call) {
    seen(call, "connections");
    return all(ratesOn(call, call.id));
  },

  createFreightRate(call) {
    if (call.body.connectionId.toLowerCase() !== call.id.toLowerCase())
      throw invalid("connectionId differs from the connection of the path.");
    seen(call, "connections");
    const rate = { ...checked(call, "freight-rates"), connectionId: call.id };
    return one(201, create(call, "freight-rates", rate));
  },

  updateFreightRate: updates("freight-rates"),

  deleteFreightRate(call) {
    call.world.records.remove("freight-rates", seen(call, "freight-rates").record.id);
    return noContent;
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

/** The saved rate of a connection that fits the lane of a calculation best; null when none does. */
function savedRate(call: Call, connectionId: string): Fields | null {
  seen({ ...call, id: connectionId }, "connections");
  const lane = call.body as Fields;
  const fitting = ratesOn(call, connectionId)
    .map(({ record }) => ({ record, fit: fitOf(record, lane) }))
    .filter(({ fit }) => fit >= 0)
    .sort((one, other) => other.fit - one.fit);
  return fitting[0]?.record ?? null;
}

/** How many fields of the lane a rate names; -1 when it names another lane. An open field fits every lane. */
function fitOf(rate: Fields, lane: Fields): number {
  const zip = typeof lane.destinationZip === "string" ? lane.destinationZip : "";
  const prefix = typeof rate.destinationZipPrefix === "string" ? rate.destinationZipPrefix : null;
  if (prefix !== null && !zip.startsWith(prefix)) return -1;
  const whole = typeof rate.destinationZip === "string" ? rate.destinationZip : null;
  if (whole !== null && whole !== zip.slice(0, 5)) return -1;
  let fit = (prefix === null ? 0 : 1) + (whole === null ? 0 : 2);
  for (const field of ["originTerminalId", "originCity", "originState", "product"]) {
    const [named, asked] = [rate[field] ?? null, lane[field] ?? null];
    if (named === null) continue;
    if (named !== asked && asked !== null) return -1;
    if (named === asked) fit += 1;
  }
  return fit;
}

/** The caller's own rates on a connection, newest first. */
function ratesOn({ world, key }: Call, connectionId: string): Stored[] {
  const rates = world.records.children("freight-rates", connectionId);
  return rates
    .filter(({ owner }) => owner === key.company)
    .sort((one, other) => bornAt(other) - bornAt(one));
}
