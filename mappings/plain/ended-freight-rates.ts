import { defineMapping } from "../../src/core/contract.ts";
import { endedFreightRates as layout } from "../../src/formats/table/layouts.ts";
import { EndedFreightRate } from "../../src/platform/contract/documents.ts";

/** Freight rates of ours that hold no longer, by the code that they were made with. */
export const endedFreightRates = defineMapping({
  name: "plain/ended-freight-rates",
  kind: "ended-freight-rate",
  reads: "plain/ended-freight-rates",
  writes: "platform.endedFreightRates",
  input: layout.record,
  output: EndedFreightRate,
  number: ({ code }) => code,
  map: ({ code, connectionId }, references) => ({
    freightRateId: references.counterpart("freight-rate", code),
    connectionId,
  }),
  figures: () => ({ amount: null, gallons: null }),
});
