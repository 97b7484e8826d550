/** Rack prices and the freight calculation (specification 2.6, 2.7 and part 4, Pricing). */
import { z } from "zod";
import { all, list, ok, post } from "./operation.ts";
import * as p from "./primitives.ts";

/** A litre is `liter` in a price that is read and `ltr` in one that is written. */
export const priceUnits = ["gal", "liter", "bbl", "mt"] as const;
export const writtenPriceUnits = ["gal", "ltr", "bbl", "mt"] as const;

export const RackPrice = z.looseObject({
  ...p.record,
  companyId: p.id,
  terminalId: p.text,
  product: p.text,
  price: p.decimal,
  unit: p.openEnum(priceUnits),
  spread: p.decimal,
  indexSource: p.textOrNull,
  effectiveAt: p.timestamp,
  expiresAt: p.timestampOrNull,
});
export type RackPrice = z.infer<typeof RackPrice>;

/** Written as `ltr`, read as `liter`. */
export const shownUnit = ({ unit }: { readonly unit: string }): string =>
  unit === "ltr" ? "liter" : unit;

/** Is it valid no more at this instant (ms UTC)? Nothing but its end says so: the platform goes on listing it. */
export const hasEnded = ({ expiresAt }: RackPrice, atMs: number): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= atMs;

/** What names a price, which has no id of ours. `A B` and `C` are not `A` and `B C`. */
export const nameOfPrice = ({ terminalId, product }: { terminalId: string; product: string }) =>
  `${terminalId.includes(" ") ? JSON.stringify(terminalId) : terminalId} ${product}`;

/** Money in the company's currency; `distanceMiles` in miles, `ratePerMile` per mile. */
export const FreightQuote = z.looseObject({
  totalFreight: p.decimal,
  distanceMiles: p.decimal,
  ratePerMile: p.decimal,
  fuelSurcharge: p.decimal,
  additionalFees: p.decimal,
  baseCost: p.decimal,
});

const RackPriceQuery = z.object({
  product: p.queryText(50),
  terminalId: p.queryText(50),
  ...p.paging(p.rackPages),
});

export const BulkRackPrice = z.looseObject({
  prices: z
    .array(
      z.looseObject({
        terminalId: p.required(50),
        product: p.required(100),
        price: p.numeric({ gt: 0, max: 999_999 }),
        unit: z.enum(writtenPriceUnits).default("gal"),
      }),
    )
    .min(1)
    .max(200),
  /** Besides `manual` three index providers, whose values the specification does not name: any text passes. */
  source: z.string().min(1).default("manual"),
});
export type BulkRackPrice = z.infer<typeof BulkRackPrice>;

export const BulkRackPriceResult = z.looseObject({ updated: p.integer, created: p.integer });

export const FreightCalculate = z.looseObject({
  originTerminalId: p.required(100),
  destinationZip: p.required(20).min(3),
  product: p.required(100),
  gallons: p.numeric({ min: 1, integer: true }),
  ratePerMile: p.numeric({ min: 0 }).optional(),
  distanceMiles: p.numeric({ min: 0 }).optional(),
  fuelSurchargePercent: p.percent.default(0),
  additionalFees: p.numeric({ min: 0 }).default(0),
  /** Resolves the saved freight rate of that connection and lane. */
  connectionId: p.id.optional(),
  originCity: p.optional(120),
  originState: p.optional(2),
});

export const pricingOperations = {
  listRackPrices: list("/pricing/rack", RackPriceQuery, RackPrice, p.rackPages),
  listTerminalPrices: { ...all("/pricing/terminal/{id}", RackPrice), textId: true },
  upsertRackPrices: {
    ...post("/pricing/bulk/rack", BulkRackPrice, BulkRackPriceResult),
    success: ok(BulkRackPriceResult),
    scope: "pricing:write",
  },
  calculateFreight: {
    ...post("/pricing/freight-calculate", FreightCalculate, FreightQuote),
    success: ok(FreightQuote),
    idempotencyKey: false,
  },
} as const;
