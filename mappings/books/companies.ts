import type { PartyRecord } from "../../src/books/records.ts";
import { skip, type Skip } from "../../src/core/contract.ts";
import type { CreateParty } from "../../src/platform/contract/party.ts";
import { companyOf } from "../platform/parties.ts";

/** A party as a new company of the platform. One that carries the platform's UUID is there already. @throws Refused */
export function newCompany(party: PartyRecord): CreateParty | Skip {
  if (party.companyId !== null) return skip("known to the platform");
  if (!party.active) return skip("inactive");
  const { street, city, state, zip, country } = party;
  const address = { building: null, street, city, subdivision: state, zip, country };
  return companyOf({ ...party, mobile: null, addresses: [address] });
}
