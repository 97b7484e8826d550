import type { PartyRecord } from "../../src/ledger/documents.ts";
import { type References, skip, type Skip } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import type { CreateParty } from "../../src/platform/contract/network.ts";
import { companyOf } from "../platform/parties.ts";

/**
 * A party as a new company of the platform. One that carries the platform's UUID is there already.
 * @throws Refused, also when it was delivered as `kind` and is inactive now: the platform goes on with it
 */
export function newCompany(
  party: PartyRecord,
  references: References,
  kind: "customer" | "supplier",
): CreateParty | Skip {
  if (party.companyId !== null) return skip("known to the platform");
  if (!party.active) return inactive(party, references.find(kind, party.code), kind);
  const { street, city, state, zip, country } = party;
  const address = { building: null, street, city, subdivision: state, zip, country };
  return companyOf({ ...party, mobile: null, addresses: [address] });
}

/** @param company the platform's id of it; null: it was never delivered */
function inactive({ code, name }: PartyRecord, company: string | null, kind: string): Skip {
  if (company === null) return skip("inactive");
  throw new Refused({
    code: "inactive-after-delivery",
    message: `${kind} ${code} (${name}) is inactive or deleted in the books; on the platform it is company ${company}, and its connection stands`,
    next: "Nothing on the platform ends by this. End the connection there if nothing more is to be delivered or invoiced to it, then resolve this; it closes by itself when the party is active again.",
    field: "Active",
  });
}
