import { NOT_A_PARTY } from "../leaves.ts";
import { companyOf } from "../platform/parties.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { suppliers as layout } from "../../src/formats/table/layouts.ts";
import { CreateParty } from "../../src/platform/contract/network.ts";

/** Parties that we buy from. One that is a customer too becomes a second company: the platform keeps them apart. */
export const suppliers = defineMapping({
  name: "tryton-export/suppliers",
  kind: "supplier",
  reads: "tryton-export/suppliers",
  writes: "platform.suppliers",
  // Payment terms have no place on the platform; the party is known by its code.
  leaves: { record: ["id", "paymentTerm"], document: NOT_A_PARTY },
  input: layout.record,
  output: CreateParty,
  number: ({ code }) => code,
  map: companyOf,
  figures: () => ({ amount: null, gallons: null }),
  about: ({ code, name }) => ({ party: code, partyName: name }),
});
