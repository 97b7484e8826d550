import { NOT_A_PARTY } from "../leaves.ts";
import { companyOf } from "../platform/parties.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { customers as layout } from "../../src/formats/table/layouts.ts";
import { CreateParty } from "../../src/platform/contract/network.ts";

/** Parties that buy from us. Their invoices wait until they are there. */
export const customers = defineMapping({
  name: "tryton-export/customers",
  kind: "customer",
  reads: "tryton-export/customers",
  writes: "platform.customers",
  // Payment terms have no place on the platform; the party is known by its code.
  leaves: { record: ["id", "paymentTerm"], document: NOT_A_PARTY },
  input: layout.record,
  output: CreateParty,
  number: ({ code }) => code,
  map: companyOf,
  figures: () => ({ amount: null, gallons: null }),
  about: ({ code, name }) => ({ party: code, partyName: name }),
});
