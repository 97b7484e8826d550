/** Customers and vendors, each by its number. There is no field for the platform's id of a company: the store remembers it. */
import type { z } from "zod";
import type { Surroundings } from "../../src/core/contract.ts";
import type { Party } from "../../src/ledger/documents.ts";
import { partiesOnce, partyChange, partyFacts } from "../../src/ledger/entries.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import { rememberedParties, type Table } from "../../src/ledger/table.ts";
import type { BusinessCentralConfig } from "./config.ts";
import { asTheyAre, changedIn, Head, Made, named, SIDES, textOrNone } from "./rows.ts";
import { BOOKS, equals, type Wire } from "./wire.ts";

const Row = Head.extend({
  number: textOrNone,
  displayName: textOrNone,
  blocked: named,
  email: textOrNone,
  phoneNumber: textOrNone,
  addressLine1: textOrNone,
  addressLine2: textOrNone,
  city: textOrNone,
  state: textOrNone,
  country: textOrNone,
  postalCode: textOrNone,
});
type Row = z.infer<typeof Row>;
interface Written {
  readonly number: string | null;
  readonly displayName: string | null;
}

/** Characters of a name. */
const NAME = 100;

export function parties(
  wire: Wire,
  { sharedParties }: BusinessCentralConfig,
  surroundings: Surroundings,
  side: LedgerSide,
): Table<"party", Written, Row> {
  const { list: set } = SIDES[side];
  const table: Table<"party", Written, Row> = {
    ...partiesOnce(["posted", "cancelled"], 1),
    records: {
      search: ({ ids = [] }, { signal }) => wire.either(set, equals("number", ids), Row, signal),
      async *list(_scope, from, signal) {
        for await (const page of wire.pages(set, {}, Row, signal, { from, replica: true }))
          yield { ...page, position: page.position ?? "" };
      },
      async create({ values: body }, { signal }) {
        await wire.call(`/${set}`, Made, { body }, signal);
        return body.number;
      },
      changed: changedIn(wire, set, Row, {}, asTheyAre),
    },
    write: ({ code: number, name }: Party) => ({ number, displayName: name.slice(0, NAME).trim() }),
    facts: ({ number, displayName }) => partyFacts(number ?? "", displayName),
    read: (row) => ({
      id: row.number ?? "",
      mark: null,
      number: row.number,
      status: row.blocked === "All" ? "cancelled" : "posted",
      version: row["@odata.etag"],
    }),
    tell: ({ native: row, mark }) => {
      const { state, country } = row;
      const street = [row.addressLine1, row.addressLine2].filter((line) => line !== null);
      return partyChange(BOOKS, {
        code: row.number ?? "",
        name: row.displayName ?? "",
        isCustomer: side === "sale",
        isSupplier: side === "purchase",
        companyId: mark,
        email: row.email,
        phone: row.phoneNumber,
        street: street.length === 0 ? null : street.join("\n"),
        city: row.city,
        state: state !== null && country !== null ? `${country}-${state}` : null,
        zip: row.postalCode,
        country,
        active: row.blocked === "",
      });
    },
  };
  return rememberedParties(table, set, surroundings, sharedParties);
}
