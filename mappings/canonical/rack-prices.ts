import { RackPriceDocument } from "../../src/formats/documents.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { RackPrice } from "../../src/platform/contract/pricing.ts";
import { codeOf } from "./codes.ts";

/** Rack prices that are entered on the platform, for the price lists of an ERP. */
export const rackPrices = defineMapping({
  name: "canonical/rack-prices",
  kind: "platform-price",
  reads: "platform.rackPrices",
  writes: "files.rack-prices",
  tables: { items: ["product", "item"] },
  // The price is our own, and holds its spread over the index; the version is the last change.
  leaves: { record: ["companyId", "spread", "createdAt"] },
  input: RackPrice,
  output: RackPriceDocument,
  number: ({ terminalId, product }) => `${terminalId}|${product}`,
  map: (price, references) => ({
    id: price.id,
    number: `${price.terminalId}|${price.product}`,
    version: price.updatedAt,
    terminal: price.terminalId,
    item: codeOf(references, "items", price.product),
    product: price.product,
    price: price.price,
    unit: price.unit,
    effectiveAt: price.effectiveAt,
    expiresAt: price.expiresAt,
    indexSource: price.indexSource,
  }),
  figures: () => ({ amount: null, gallons: null }),
});
