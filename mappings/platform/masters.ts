/** What parties and prices of every ERP have in common on their way to the platform. */
import { z } from "zod";
import { cellOf, needed, present, within } from "../values.ts";
import type { References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { CreateParty } from "../../src/platform/contract/network.ts";

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
  const name = needed(200, "Name", party.name);
  const externalId = needed(120, "Code", party.code);
  const rest = {
    contactEmail: email(party.email),
    contactPhone: within(50, "Mobile", party.mobile),
    phone: within(50, "Phone", party.phone),
    street: address && within(200, "Addresses/Street", streetOf(address)),
    city: address && within(100, "Addresses/City", address.city),
    state: address && within(100, "Addresses/Subdivision/Code", stateOf(address)),
    zip: address && within(20, "Addresses/Postal Code", address.zip),
    country: address && within(120, "Addresses/Country/Code", address.country),
    notes: within(2000, "Addresses", further.map(noteOf).join("\n")),
  };
  return { name, externalId, ...present(rest) };
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

/* Rack prices: the terminal they hold at, and the prices that the platform takes. */

const PRICE_MAX = Decimal.of("999999");
/** The form of an IRS terminal control number: the platform knows terminals by it. */
const CONTROL_NUMBER = /^T-\d\d-[A-Z]{2}-\d{4}$/;

/** A list named by the control number alone is that terminal; any other name is looked up. @throws NotMapped */
export function terminalOf(references: References, list: string): string {
  const name = list.trim();
  if (CONTROL_NUMBER.test(name)) return name;
  return needed(50, "terminal", cellOf(references, "terminals", name, "terminal"));
}

/** Its shortest digits. @throws Refused: the platform takes prices above 0 and up to 999,999 */
export function priceWithin(written: Decimal, field: string): Decimal {
  const price = Decimal.of(written.plain());
  const refused = (code: string, message: string, next: string): Refused =>
    new Refused({ code, message, next, field });
  if (price.sign === 0)
    throw refused(
      "zero-price",
      "the price is 0",
      "Enter the price in the ERP, or remove the line.",
    );
  if (price.sign < 0)
    throw refused(
      "negative-price",
      `the price ${price.text} is negative`,
      "Correct the price in the ERP; the platform takes none below zero.",
    );
  if (price.compare(PRICE_MAX) > 0)
    throw refused(
      "price-too-high",
      `the price ${price.text} is above ${PRICE_MAX.text}`,
      "Correct the price in the ERP; the platform takes none that high.",
    );
  return price;
}
