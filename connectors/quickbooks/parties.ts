/**
 * Customers and vendors of both QuickBooks: how one is made under a name that another list may have, and how sources tell
 * one. Where it lives, and what is left of one that was deleted, is the same for Desktop and Online.
 */
import { Refused } from "../../src/core/errors.ts";
import type { PartyRecord } from "../../src/ledger/documents.ts";
import { some } from "../../src/ledger/entries.ts";
import { platformIdIn } from "../../src/ledger/notes.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { partyName, type Side, suffixed } from "./text.ts";

/** How a party is made in these books. */
interface NamedCreation<Made> {
  readonly side: Side;
  /** Its code of the cross-reference. */
  readonly code: string;
  /** Characters of a name, and how these books change text. */
  readonly most: number;
  readonly held: (text: string) => string;
  /** What is done when another list has the name. */
  readonly policy: "refuse" | "suffix";
  /** QuickBooks' code for a name that is taken. */
  readonly taken: string;
  /** What has the name in this list by now: somebody was faster. Null: nothing. @throws LedgerError */
  readonly there: (name: string) => Promise<Made | null>;
  /** @throws LedgerError */
  readonly write: (name: string) => Promise<Made>;
}

/** Makes it under its code, else under the code with the suffix of its list. @throws Refused, LedgerError */
export async function createUnderName<Made>(creation: NamedCreation<Made>): Promise<Made> {
  const { side, code, most, write } = creation;
  const name = partyName(code, most, creation.held);
  try {
    return await write(name);
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== creation.taken) throw error;
    const there = await creation.there(name);
    if (there !== null) return there;
    const other = suffixed(name, side, most);
    if (creation.policy === "suffix") return await write(other);
    throw new Refused({
      code: "name-taken",
      message: `QuickBooks has the name ${JSON.stringify(name)} in another list, so no ${side} can have it`,
      next: `Give the company another code in the cross-reference (${other}), or rename the other one in QuickBooks; or set sameName: suffix. Then retry.`,
      field: "party",
    });
  }
}

/** What QuickBooks tells of a party. */
interface PartyFields {
  readonly code: string;
  readonly side: Side;
  readonly name: string;
  /** With the platform's id of the company, where it came from there. */
  readonly notes: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  /** Null: it has no address. */
  readonly address: {
    readonly lines: readonly (string | null | undefined)[];
    readonly city: string | null;
    readonly state: string | null;
    readonly zip: string | null;
    readonly country: string | null;
  } | null;
  readonly active: boolean;
}

/** As a source tells it. */
export function partyRecord({ side, address, notes, ...party }: PartyFields): PartyRecord {
  const { lines = [], city = null, state = null, zip = null, country = null } = address ?? {};
  const region = address === null ? NOWHERE : regionOf(country, state);
  return {
    code: party.code,
    name: party.name,
    isCustomer: side === "customer",
    isSupplier: side === "vendor",
    companyId: platformIdIn(notes),
    email: party.email,
    phone: party.phone,
    street: some(lines.filter((line) => some(line) !== null).join("\n")),
    city,
    state: region.state,
    zip,
    country: region.country,
    active: party.active,
  };
}

/** A party that was deleted, of which its code and at most a name are left: it is told as inactive. */
export const goneParty = (side: Side, code: string, name: string): PartyRecord =>
  partyRecord({
    side,
    code,
    name,
    notes: null,
    email: null,
    phone: null,
    address: null,
    active: false,
  });

const NOWHERE = { country: null, state: null };
const AMERICA = /^(?:|US|USA|U\.S\.A\.|UNITED STATES(?: OF AMERICA)?)$/;

/**
 * Country (ISO 3166-1) and state (ISO 3166-2). People write a country as they like: what is no code and not America is left
 * out, and a state without a country, too.
 */
function regionOf(
  country: string | null,
  state: string | null,
): Pick<PartyRecord, "country" | "state"> {
  const upper = country?.trim().toUpperCase() ?? "";
  const code = AMERICA.test(upper) ? "US" : /^[A-Z]{2}$/.test(upper) ? upper : null;
  const part = state?.trim().toUpperCase() ?? "";
  const isCode = code !== null && /^[A-Z]{2,3}$/.test(part);
  return { country: code, state: isCode ? `${code}-${part}` : null };
}
