/** What changed in QuickBooks: customers and vendors, customer invoices with what was paid on them, prices. */
import type { Change, Source } from "../../src/core/contract.ts";
import { markOf, type PriceLine } from "../../src/ledger/entries.ts";
import type { Desired } from "../../src/ledger/port.ts";
import { pagesOf, type Telling } from "../../src/ledger/stamps.ts";
import type { PriceTable } from "../../src/ledger/table.ts";
import {
  deletedInvoice,
  expectOwnCurrency,
  goneNotice,
  goneParty,
  goneWithPrice,
  type PartyList,
  partyOf,
  type PartyRow,
  type TellingInvoices,
  toldParty,
} from "../quickbooks/documents.ts";
import type { Element } from "../quickbooks/element.ts";
import { ascii, guidOf, NAME_MOST, type Side } from "../quickbooks/text.ts";
import { type List, type Listed, type Listing, walkedSource } from "../quickbooks/walk.ts";
import type { DesktopConfig } from "./config.ts";
import type { Request, Values } from "./qbxml.ts";
import { heldText, named, type Records, stampOf } from "./wire.ts";

/** Records by their stamps. @param id what they are called by @param state the field that changes with the record */
async function listed(
  records: Records,
  { name, values }: Request,
  id: "ListID" | "TxnID",
  signal: AbortSignal,
  { state = "EditSequence", iterates = true } = {},
): Promise<Listing> {
  const query = { name, values: { ...values, IncludeRetElement: [id, "TimeModified", state] } };
  const found = iterates ? records.all(query, signal) : records.of([query], signal);
  const rows = (await found).map((row) => {
    const at = stampOf(row, "TimeModified");
    return { id: row.needed(id), at, state: row.text(state) ?? at };
  });
  return { rows };
}

/** A list by its stamps, inactive records too; what is told of a record as it is now. */
const stamped = (
  records: Records,
  name: string,
  query: string,
  tell: (
    rows: readonly Element[],
    signal: AbortSignal,
  ) => readonly Change[] | Promise<readonly Change[]>,
  how: { readonly iterates?: boolean } = {},
): List => ({
  name,
  kind: "stamped",
  rows: (FromModifiedDate, signal) => {
    const values = { ActiveStatus: "All", FromModifiedDate };
    return listed(records, { name: query, values }, "ListID", signal, how);
  },
  changes: async (ids, _rows, signal) => [
    ...(await tell(await records.byListId(query, ids, signal), signal)),
  ],
});

/** What was deleted, as QuickBooks calls it. */
interface DeletedRow extends Listed {
  /** `Customer`, `Invoice`. */
  readonly type: string;
  /** Its full name or its number; null: it had none. */
  readonly name: string | null;
  /** When it was made, by the clock of that machine; empty: QuickBooks does not say. */
  readonly madeAt: string;
}

/** How long QuickBooks tells what was deleted. */
const KEPT_DAYS = 90;

/** Deleted records of these types. @param of what was deleted: of a list, or transactions */
function deleted(
  records: Records,
  name: string,
  of: "List" | "Txn",
  types: readonly string[],
  tell: (row: DeletedRow) => Change | null,
): List<DeletedRow> {
  const type = `${of}DelType`;
  return {
    name,
    kind: "stamped",
    keptDays: KEPT_DAYS,
    async rows(from, signal) {
      const DeletedDateRangeFilter = from === null ? null : { FromDeletedDate: from };
      const values: Values = { [type]: types, DeletedDateRangeFilter };
      const found = await records.of([{ name: `${of}DeletedQuery`, values }], signal);
      const rows = found.map((row) => ({
        id: row.needed(`${of}ID`),
        at: stampOf(row, "TimeDeleted"),
        state: row.text("TimeDeleted") ?? "",
        type: row.needed(type),
        name: row.text(of === "List" ? "FullName" : "RefNumber"),
        madeAt: stampOf(row, "TimeCreated"),
      }));
      return { rows };
    },
    changes: async (ids, rows) => ids.flatMap((id) => tell(rows.get(id) as DeletedRow) ?? []),
    notice: noticeOf,
  };
}

type Waiting = Pick<Telling<never>, "now" | "unavailable">;

/** Lists of QuickBooks, where it is here. */
// oxlint-disable-next-line typescript/no-explicit-any
const walked = (records: Records, telling: Waiting, lists: readonly List<any>[]): Source =>
  walkedSource({ ...telling, expect: (signal) => records.wire.expect?.(signal), lists });

export const partySource = (records: Records, telling: Waiting): Source => ({
  ...walked(records, telling, [
    ...SIDES.map((side) =>
      stamped(records, side, `${PARTIES[side].table}Query`, (rows) =>
        rows.flatMap((row) => toldParty(side, partyRow(records, side, row)) ?? []),
      ),
    ),
    deleted(records, "deleted parties", "List", ["Customer", "Vendor"], (row) =>
      goneParty(sideOf(row), row.id, row.name ?? "(deleted)"),
    ),
  ]),
  keepsIds: true,
});

/** Open ones come first: their first walk tells nothing, and all of them are told after it. */
export const invoicesChanged =
  (records: Records, currency: string) =>
  ({ tell, ...telling }: TellingInvoices): Source => {
    const changes: List["changes"] = (ids, _rows, signal) => tell(ids, signal);
    const name = "InvoiceQuery";
    const open: List = {
      name: "open",
      kind: "whole",
      // With what is open of each: whether a payment stamps its invoice anew is not known.
      rows: (_from, signal) =>
        listed(records, { name, values: { PaidStatus: "NotPaidOnly" } }, "TxnID", signal, {
          state: "BalanceRemaining",
        }),
      changes,
    };
    const invoices: List = {
      name: "invoice",
      kind: "stamped",
      rows: (from, signal) => {
        const ModifiedDateRangeFilter = from === null ? null : { FromModifiedDate: from };
        return listed(records, { name, values: { ModifiedDateRangeFilter } }, "TxnID", signal);
      },
      changes,
    };
    const gone = deleted(records, "deleted invoices", "Txn", ["Invoice"], (row) =>
      goneInvoice(row, currency),
    );
    return walked(records, telling, [open, invoices, gone]);
  };

/** QuickBooks tells its id and number, and nothing else of it. */
function goneInvoice({ id, at, madeAt, name }: DeletedRow, currency: string): Change {
  const number = name === null ? "" : ` (number ${name})`;
  return deletedInvoice(id, "cancelled", {
    party: "(deleted)",
    days: { date: (madeAt === "" ? at : madeAt).slice(0, 10) },
    words: { currency, order: `deleted in QuickBooks at ${at}${number}` },
  });
}

/* Prices of items, and of price levels item by item: each list is a terminal. */

export const priceTable = (
  records: Records,
  { list, of, levels }: NonNullable<DesktopConfig["prices"]>,
  unit: string,
): PriceTable<PriceLine> => ({
  records: {
    changed({ tell, ...telling }) {
      const ownPrices = (rows: readonly Element[]): PriceLine[] =>
        rows.flatMap((row) => {
          const price = priceOf(row, of);
          // A subtotal, a tax, a group have none.
          if (!isActive(row) || price === null || price.sign === 0) return [];
          const name = row.text("FullName") ?? row.text("Name") ?? "";
          return [lineOf(list ?? "", name, price.plain())];
        });
      const named = (name: string, FullName: readonly string[], signal: AbortSignal) =>
        FullName.length === 0
          ? Promise.resolve([])
          : records.of([{ name, values: { FullName } }], signal);
      // A level that has the name of the items' list gives a product a second price there: the platform takes one.
      const items = stamped(records, "item", "ItemQuery", async (rows, signal) => {
        const own = ownPrices(rows);
        const isLevelled = levels && own.length > 0;
        const level = isLevelled ? await named("PriceLevelQuery", [list ?? ""], signal) : [];
        const codes = new Set(own.map(({ code }) => code));
        const twice = level
          .flatMap((one) => pricesIn(records, one))
          .filter(({ code }) => codes.has(code));
        return tell([...own, ...twice]);
      });
      // Whatever happens to a level, its items' own prices may count again, or no longer.
      const perItem = async (rows: readonly Element[], signal: AbortSignal): Promise<Change[]> => {
        const lines = rows.flatMap((row) => pricesIn(records, row));
        // Of a level that is inactive, too.
        const priced = list === undefined ? [] : rows.flatMap((row) => row.all(PER_ITEM));
        const codes = new Set(priced.map((one) => one.ref("ItemRef").name ?? ""));
        const own = ownPrices(await named("ItemQuery", [...codes], signal));
        return tell([...own, ...lines]);
      };
      const priceLevels = stamped(records, "price level", "PriceLevelQuery", perItem, {
        iterates: false,
      });
      const gone = deleted(records, "deleted prices", "List", PRICED, () => null);
      const own = list === undefined ? [] : [items];
      const lists = [...own, ...(levels ? [priceLevels] : []), gone];
      return walked(records, telling, lists);
    },
  },
  line: (line) => ({ ...line, unit }),
});

/** What has prices, as QuickBooks calls it where it was deleted. */
const PRICED = [
  "ItemInventory",
  "ItemInventoryAssembly",
  "ItemNonInventory",
  "ItemOtherCharge",
  "ItemService",
  "PriceLevel",
];

const lineOf = (list: string, code: string, formula: string): PriceLine => ({
  list,
  code,
  name: code,
  unit: "",
  formula,
});

const PER_ITEM = "PriceLevelPerItemRet";

/** Of a level. One of one percentage for all items has no prices, and a price in another currency is none. */
const pricesIn = (records: Records, level: Element): PriceLine[] =>
  (isActive(level) ? level.all(PER_ITEM) : []).map((one) => {
    const price = one.text("CustomPrice") ?? `${one.text("CustomPricePercent") ?? ""} %`;
    const formula = `${price} ${records.foreign(level) ?? ""}`.trim();
    return lineOf(level.text("Name") ?? "", one.ref("ItemRef").name ?? "", formula);
  });

const isActive = (row: Element): boolean => row.yes("IsActive") !== false;

/** Of what is bought and sold both prices are kept; of other items one, whichever it is. */
function priceOf(row: Element, of: "sales" | "purchase") {
  const one = row.child("SalesOrPurchase");
  if (one !== null) return one.decimal("Price");
  const both = row.child("SalesAndPurchase") ?? row;
  return both.decimal(of === "sales" ? "SalesPrice" : "PurchaseCost");
}

/* Customers and vendors in QuickBooks Desktop. Documents call them by their names, links by their ids. */

/** As QuickBooks calls both. */
const PARTIES = {
  customer: { table: "Customer", address: "BillAddress" },
  vendor: { table: "Vendor", address: "VendorAddress" },
} as const;
const SIDES = ["customer", "vendor"] as const;

const sideOf = ({ type }: DeletedRow): Side => (type === "Customer" ? "customer" : "vendor");

/** What a person must know of what was deleted; of an invoice its change says it. */
function noticeOf(row: DeletedRow): string | null {
  const { type, id, name } = row;
  if (type === "Invoice") return null;
  if (!PRICED.includes(type)) return goneNotice(sideOf(row), id);
  return goneWithPrice(`${type === "PriceLevel" ? "price level" : "item"} ${name ?? id}`);
}

/** The party of a document that is made, which has the party's currency. @throws Refused */
export function partyRef({ party, payer }: Pick<Desired, "party" | "payer">): Values {
  const row = partyOf(payer);
  if (row === null) return { FullName: party };
  expectOwnCurrency(row.currency, row.name);
  return { ListID: row.id };
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
      return rows.map((row) => partyRow(records, side, row));
    },
    list(from, signal) {
      const lists = [{ name, values: { ActiveStatus: "All" } }];
      return pagesOf(records.pages(lists, from, signal), (rows) =>
        rows.map((row) => partyRow(records, side, row)),
      );
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

function partyRow(records: Records, side: Side, row: Element): PartyRow {
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
    currency: records.foreign(row),
    isJob: row.child("ParentRef") !== null,
  };
}
