/** What people keep in lists: customers and vendors, each by its number, and items with their prices. */
import { z } from "zod";
import { beginningOf } from "../../src/core/text.ts";
import { decimal, members, type Party, text } from "../../src/ledger/documents.ts";
import { partiesOnce, partyChange, partyFacts, some } from "../../src/ledger/entries.ts";
import { equals, idsAre, type Odata } from "../../src/ledger/odata.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import { type PriceTable, rememberedParties, type Table } from "../../src/ledger/table.ts";
import type { BusinessCentralConfig } from "./config.ts";
import { BOOKS, type Central, Head, named, SIDES, TEXT, textOrNone } from "./wire.ts";

const PartyRow = Head.extend({
  blocked: named,
  ...members(textOrNone, "number displayName email phoneNumber"),
  ...members(textOrNone, "addressLine1 addressLine2 city state country postalCode"),
});
type PartyRow = z.infer<typeof PartyRow>;

/** There is no field for the platform's id of a company: the store remembers it. */
export function parties({ wire, config, surroundings }: Central, side: LedgerSide) {
  const { parties: set } = SIDES[side];
  const { search, ...rows } = wire.set(set, { row: PartyRow });
  const table: Table<"party", Pick<PartyRow, "number" | "displayName">, PartyRow> = {
    ...partiesOnce(["posted", "cancelled"], 1),
    records: {
      ...rows,
      search: ({ ids = [] }, { signal }) => search([equals("number", ids), idsAre(ids)], signal),
      create: async ({ values: body }, { signal }) =>
        wire.create(set, body, signal).then(() => body.number),
    },
    write: ({ code: number, name }: Party) => ({ number, displayName: beginningOf(name, TEXT) }),
    facts: ({ number, displayName }) => partyFacts(number ?? "", displayName),
    read: (row) => ({
      id: row.number ?? "",
      mark: null,
      number: row.number,
      lasting: row.id,
      status: row.blocked === "All" ? "cancelled" : "posted",
      version: row.etag,
    }),
    tell: ({ native: row, mark }) => {
      const { state, country } = row;
      return partyChange(BOOKS, {
        code: row.number ?? "",
        name: row.displayName ?? "",
        isCustomer: side === "sale",
        isSupplier: side === "purchase",
        companyId: mark,
        email: row.email,
        phone: row.phoneNumber,
        street: some([row.addressLine1, row.addressLine2].filter(Boolean).join("\n")),
        city: row.city,
        state: state !== null && country !== null ? `${country}-${state}` : null,
        zip: row.postalCode,
        country,
        active: row.blocked === "",
      });
    },
  };
  return rememberedParties(table, set, surroundings, config.sharedParties);
}

const Item = Head.extend({
  number: text,
  ...members(z.boolean(), "blocked priceIncludesTax"),
  unitPrice: decimal,
  ...members(textOrNone, "itemCategoryCode baseUnitOfMeasureCode"),
});

/**
 * Unit prices of items as rack prices of one terminal: the API has no price lists. What is blocked or has no price keeps its
 * last one on the platform.
 */
export const priceTable = (
  wire: Odata,
  { list, category }: NonNullable<BusinessCentralConfig["prices"]>,
): PriceTable<z.infer<typeof Item>> => ({
  records: wire.set("items", { row: Item }),
  line: ({ number: code, unitPrice, blocked, ...item }) =>
    blocked ||
    unitPrice.sign === 0 ||
    (category !== undefined && category !== item.itemCategoryCode)
      ? null
      : {
          list,
          code,
          name: code,
          unit: item.baseUnitOfMeasureCode?.toLowerCase() ?? "",
          formula: unitPrice.plain(),
          taxIncluded: item.priceIncludesTax,
        },
});
