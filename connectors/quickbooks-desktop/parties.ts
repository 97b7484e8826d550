/** Customers and vendors in QuickBooks Desktop. Documents call them by their names, links by their ids. */
import { markOf } from "../../src/ledger/notes.ts";
import type { Desired } from "../../src/ledger/port.ts";
import type { Element } from "../quickbooks/element.ts";
import { type PartyList, partyOf, type PartyRow } from "../quickbooks/parties.ts";
import { ascii, guidOf, NAME_MOST, type Side } from "../quickbooks/text.ts";
import type { DesktopConfig } from "./config.ts";
import type { Values } from "./qbxml.ts";
import { heldText, named, type Records, stampOf } from "./records.ts";

/** As QuickBooks calls both. */
export const PARTIES = {
  customer: { table: "Customer", address: "BillAddress" },
  vendor: { table: "Vendor", address: "VendorAddress" },
} as const;
export const SIDES = ["customer", "vendor"] as const;

/** The party of a document that is made. */
export function partyRef({ party, payer }: Pick<Desired, "party" | "payer">): Values {
  const ListID = partyOf(payer)?.id ?? null;
  return ListID === null ? { FullName: party } : { ListID };
}

export function partyList(
  records: Records,
  { sameName, terms }: Pick<DesktopConfig, "sameName" | "terms">,
  side: Side,
): PartyList {
  const { table } = PARTIES[side];
  const name = `${table}Query`;
  return {
    side,
    id: /^[0-9A-F]{1,8}-\d{1,10}$/,
    most: NAME_MOST.desktop,
    held: ascii,
    sameName,
    taken: "3100",
    called: (row) => row.name,
    session: () => records.wire.session,
    async find({ ids = [], names = [] }, signal) {
      const asked = [
        ...(ids.length === 0 ? [] : [{ ListID: ids }]),
        ...(names.length === 0 ? [] : [{ FullName: names.map(queryable) }]),
      ];
      const rows = await records.of(
        asked.map((values) => ({ name, values })),
        signal,
      );
      return rows.map((row) => partyRow(side, row));
    },
    async *list(from, signal) {
      const lists = [{ name, values: { ActiveStatus: "All" } }];
      for await (const { rets, position } of records.pages(lists, from, signal))
        yield { rows: rets.map((row) => partyRow(side, row)), position };
    },
    async notes(FromModifiedDate, signal) {
      const IncludeRetElement = ["ListID", "TimeModified", "Notes"];
      const values = { ActiveStatus: "All", FromModifiedDate, IncludeRetElement };
      return (await records.all({ name, values }, signal)).map((row) => ({
        id: row.needed("ListID"),
        at: stampOf(row, "TimeModified"),
        notes: row.text("Notes"),
      }));
    },
    async write(party, Name, { signal }) {
      const content = {
        Name,
        CompanyName: heldText(party.name, NAME_MOST.desktop),
        TermsRef: named(terms[side]),
        Notes: markOf(party.companyId),
        ExternalGUID: guidOf(party.companyId),
      };
      return fullName(await records.write(`${table}Add`, content, signal));
    },
  };
}

const fullName = (row: Element): string => row.text("FullName") ?? row.needed("Name");

/** A name that QuickBooks can be asked for: it refuses longer ones. */
const queryable = (code: string): string => ascii(code).slice(0, 209) || "?";

export function partyRow(side: Side, row: Element): PartyRow {
  const address = row.child(PARTIES[side].address);
  const at = (name: string): string | null => address?.text(name) ?? null;
  const names = ["Name", "FullName", "CompanyName"].map((name) => row.text(name)?.toLowerCase());
  return {
    id: row.needed("ListID"),
    name: fullName(row),
    title: row.text("CompanyName") ?? row.needed("Name"),
    notes: row.text("Notes"),
    email: row.text("Email"),
    phone: row.text("Phone"),
    address: address && {
      // QuickBooks writes the name into the first line of an address.
      lines: ["Addr1", "Addr2", "Addr3"]
        .map(at)
        .filter((line) => !names.includes(line?.toLowerCase())),
      city: at("City"),
      state: at("State"),
      zip: at("PostalCode"),
      country: at("Country"),
    },
    active: row.yes("IsActive") !== false,
    version: row.text("EditSequence"),
    currency: null,
    isJob: row.child("ParentRef") !== null,
  };
}
