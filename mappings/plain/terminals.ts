import { present } from "./present.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { terminals as layout } from "../../src/formats/table/layouts.ts";
import { TerminalDocument } from "../../src/platform/contract/documents.ts";

/** The terminals that the company sells from. An empty cell empties the field, but for `Active`, which the platform keeps. */
export const terminals = defineMapping({
  name: "plain/terminals",
  kind: "supplier-terminal",
  reads: "plain/terminals",
  writes: "platform.supplierTerminals",
  // The list is of American terminals: the platform's country, units and tax authority are its defaults.
  leaves: { document: ["countryCode", "region", "taxingAuthority", "unitSystem"] },
  input: layout.record,
  output: TerminalDocument,
  number: ({ code }) => code,
  map: ({ code, name, latitude, longitude, active, ...terminal }) => ({
    terminalCode: code,
    name,
    ...terminal,
    lat: latitude,
    lng: longitude,
    ...present({ isActive: active }),
  }),
  figures: () => ({ amount: null, gallons: null }),
  about: ({ name }) => ({ name }),
});
