/** Customers and vendors in QuickBooks Online. Documents and links call them by their ids: `C-58`, `V-77`. */
import { Refused } from "../../src/core/errors.ts";
import type { Party } from "../../src/ledger/documents.ts";
import { markOf } from "../../src/ledger/notes.ts";
import { type Entry, LedgerError, type LedgerSide } from "../../src/ledger/port.ts";
import type { Element } from "../quickbooks/element.ts";
import { partyCode, type PartyList, partyOf, type PartyRow } from "../quickbooks/parties.ts";
import { cut, NAME_MOST, oneLine } from "../quickbooks/text.ts";
import { type Online, ANY, having, listed, walk } from "./online.ts";
import { identityOf, SIDES, stampOf } from "./rows.ts";

export function partyList({ wire, config }: Online, side: LedgerSide): PartyList {
  const { role, party: entity } = SIDES[side];
  const all = { entity, where: [ANY] };
  return {
    side: role,
    id: /^\d{1,15}$/,
    namesLikeIds: true,
    most: NAME_MOST.online,
    held: oneLine,
    sameName: config.sameName,
    taken: "6240",
    called: ({ id }) => partyCode(role, id),
    async find({ ids: Id = [], names: DisplayName = [] }, signal) {
      return (await having(wire, entity, { Id, DisplayName }, signal, [ANY])).map(partyRow);
    },
    async *list(from, signal) {
      for await (const { rows, position } of listed(wire, [all], from, signal))
        yield { rows: rows.map(partyRow), position };
    },
    async notes(since, signal) {
      const noted = [];
      const changed = { ...all, stamp: "LastUpdatedTime", from: since } as const;
      for await (const { rows } of walk(wire, changed, signal))
        for (const row of rows)
          noted.push({ id: row.needed("Id"), at: stampOf(row), notes: row.text("Notes") });
      return noted;
    },
    write: async (party, name, call) =>
      partyCode(role, await wire.write(entity, partyBody(party, name), call)),
  };
}

export function partyRow(row: Element): PartyRow {
  const address = row.child("BillAddr");
  const at = (name: string): string | null => address?.text(name) ?? null;
  const name = row.text("DisplayName") ?? "";
  return {
    ...identityOf(row),
    name,
    title: name,
    notes: row.text("Notes"),
    email: row.child("PrimaryEmailAddr")?.text("Address") ?? null,
    phone: row.child("PrimaryPhone")?.text("FreeFormNumber") ?? null,
    address: address && {
      lines: ["Line1", "Line2", "Line3"].map(at),
      city: at("City"),
      state: at("CountrySubDivisionCode"),
      zip: at("PostalCode"),
      country: at("Country"),
    },
    active: row.yes("Active") !== false,
    currency: row.ref("CurrencyRef").id,
    isJob: false,
  };
}

/** Members stand in the order of Intuit's schema. */
export const partyBody = ({ companyId, name }: Party, DisplayName: string): object => ({
  CompanyName: cut(oneLine(name), NAME_MOST.online),
  DisplayName,
  Notes: markOf(companyId),
});

/** Its id in QuickBooks. @throws LedgerError `raced` when it was made and no query shows it yet */
export function partyIdOf(payer: Entry | null): string {
  const row = partyOf(payer);
  if (row !== null) return row.id;
  throw new LedgerError("answered", "the party of the document is not shown yet", { code: "5010" });
}

/** @throws Refused when its documents are kept in another currency */
export function inCurrency({ surroundings }: Online, payer: Entry | null): void {
  const { currency = null, name = "the party" } = partyOf(payer) ?? {};
  if (currency === null || currency === surroundings.currency) return;
  throw new Refused({
    code: "other-currency",
    message: `${name} is kept in ${currency} in QuickBooks, the document is in ${surroundings.currency}`,
    next: "Name a party in the company's own currency in the cross-reference, then retry; nothing is converted.",
    field: "party",
  });
}
