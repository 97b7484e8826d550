import { present } from "./present.ts";
import { noonOf } from "../platform/invoices.ts";
import { productOf } from "../platform/products.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { freightRates as layout } from "../../src/formats/table/layouts.ts";
import { FreightRateDocument } from "../../src/platform/contract/documents.ts";

/**
 * Freight rates of a connection. Of a rate that is there the platform changes everything but the connection and the
 * destination's city and state: a rate with one of these is ended and made anew under another code. An empty cell empties
 * the field, but for `Effective`, which the platform keeps.
 */
export const freightRates = defineMapping({
  name: "plain/freight-rates",
  kind: "freight-rate",
  reads: "plain/freight-rates",
  writes: "platform.freightRates",
  tables: { products: ["code", "product"] },
  // The list has no column for fees of a rate; distances are in miles.
  leaves: { document: ["customFees", "distanceUnit"] },
  input: layout.record,
  output: FreightRateDocument,
  number: ({ code }) => code,
  map: ({ product, effective, ...rate }, references) => ({
    connectionId: rate.connectionId,
    originTerminalId: rate.originTerminalId,
    originCity: rate.originCity,
    originState: rate.originState,
    destinationZip: rate.destinationZip,
    destinationZipPrefix: rate.destinationZipPrefix,
    destinationCity: rate.destinationCity,
    destinationState: rate.destinationState,
    product: product === null ? null : productOf(references, product),
    ratePerMile: rate.ratePerMile,
    flatFee: rate.flatFee,
    minCharge: rate.minCharge,
    fuelSurchargePercent: rate.fuelSurchargePercent,
    notes: rate.notes,
    ...present({ effectiveAt: effective === null ? null : noonOf(effective) }),
  }),
  figures: () => ({ amount: null, gallons: null }),
});
