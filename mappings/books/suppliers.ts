import { PartyRecord } from "../../src/ledger/documents.ts";
import { defineMapping, skip } from "../../src/core/contract.ts";
import { CreateParty } from "../../src/platform/contract/network.ts";
import { newCompany } from "./companies.ts";
import { NOT_A_PARTY } from "../leaves.ts";

/** Parties that we buy from. One that is a customer too becomes a second company: the platform keeps them apart. */
export const suppliers = defineMapping({
  name: "books/suppliers",
  kind: "supplier",
  reads: "books.parties",
  writes: "platform.suppliers",
  // The other role is another flow's; the books tell one telephone number and one address.
  leaves: { record: ["isCustomer"], document: [...NOT_A_PARTY, "contactPhone", "notes"] },
  input: PartyRecord,
  output: CreateParty,
  number: ({ code }) => code,
  map: (party, references) =>
    party.isSupplier
      ? newCompany(party, references, "supplier")
      : skip("not a supplier by roles.supplier"),
  figures: () => ({ amount: null, gallons: null }),
  about: ({ code, name }) => ({ party: code, partyName: name }),
});
