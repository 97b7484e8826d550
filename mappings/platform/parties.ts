/** What customers and suppliers have in common: a party of the ERP as a company of the platform. */
import { z } from "zod";
import { Refused } from "../../src/core/errors.ts";
import type { CreateParty } from "../../src/platform/contract/network.ts";
import { needed, within } from "./limits.ts";

/** A party of the ERP, in its words. */
export interface ErpParty {
  readonly code: string;
  readonly name: string;
  readonly email: string | null;
  readonly phone: string | null;
  readonly mobile: string | null;
  readonly addresses: readonly Address[];
}

interface Address {
  readonly building: string | null;
  readonly street: string | null;
  readonly city: string | null;
  /** ISO 3166-2: `US-TX` */
  readonly subdivision: string | null;
  readonly zip: string | null;
  readonly country: string | null;
}

/**
 * The first address is the company's; further ones go into the notes. Payment terms have no place on the platform.
 * @throws Refused
 */
export function companyOf(party: ErpParty): CreateParty {
  const [address, ...further] = party.addresses;
  return present({
    name: needed(200, "Name", party.name),
    externalId: needed(120, "Code", party.code),
    contactEmail: email(party.email),
    contactPhone: within(50, "Mobile", party.mobile),
    phone: within(50, "Phone", party.phone),
    street: address && within(200, "Addresses/Street", streetOf(address)),
    city: address && within(100, "Addresses/City", address.city),
    state: address && within(100, "Addresses/Subdivision/Code", stateOf(address)),
    zip: address && within(20, "Addresses/Postal Code", address.zip),
    country: address && within(120, "Addresses/Country/Code", address.country),
    notes: within(2000, "Addresses", further.map(noteOf).join("\n")),
  });
}

function email(value: string | null): string | undefined {
  const text = within(200, "E-Mail", value);
  if (text === undefined || z.email().safeParse(text).success) return text;
  throw new Refused({
    code: "bad-email",
    message: `E-Mail "${text}" is not an address`,
    next: "Correct the party's e-mail address in the ERP, or clear it; it is taken when it is read again.",
    field: "E-Mail",
  });
}

const joined = (separator: string, ...parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null && part.trim() !== "").join(separator);

const streetOf = ({ building, street }: Address): string => joined("\n", building, street);

/** `US-TX` in the country `US` is `TX`. */
function stateOf({ subdivision, country }: Address): string | null {
  const prefix = `${country}-`;
  return subdivision?.startsWith(prefix) ? subdivision.slice(prefix.length) : subdivision;
}

function noteOf(address: Address): string {
  const region = joined(" ", stateOf(address), address.zip);
  const lines = streetOf(address).replaceAll("\n", ", ");
  return `Further address: ${joined(", ", lines, address.city, region, address.country)}`;
}

/** Without the members that are undefined. */
function present<T extends object>(members: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as T;
}
