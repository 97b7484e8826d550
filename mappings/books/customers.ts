import { PartyRecord } from "../../src/ledger/documents.ts";
import { defineMapping, skip } from "../../src/core/contract.ts";
import { CreateParty } from "../../src/platform/contract/network.ts";
import { newCompany } from "./companies.ts";
import { NOT_A_PARTY } from "../leaves.ts";

/** Parties that buy from us. Their invoices wait until they are there. */
export const customers = defineMapping({
  name: "books/customers",
  kind: "customer",
  reads: "books.parties",
  writes: "platform.customers",
  // The other role is another flow's; the books tell one telephone number and one address.
  leaves: { record: ["isSupplier"], document: [...NOT_A_PARTY, "contactPhone", "notes"] },
  input: PartyRecord,
  output: CreateParty,
  number: ({ code }) => code,
  map: (party, references) =>
    party.isCustomer
      ? newCompany(party, references, "customer")
      : skip("not a customer by roles.customer"),
  figures: () => ({ amount: null, gallons: null }),
  about: ({ code, name }) => ({ party: code, partyName: name }),
});
