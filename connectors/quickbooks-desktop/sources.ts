/** What changed in QuickBooks: customers and vendors, customer invoices with what was paid on them, prices. */
import type { Change, Source, Surroundings } from "../../src/core/contract.ts";
import { numberTwice, priceChange } from "../../src/ledger/entries.ts";
import { unavailable } from "../../src/ledger/errors.ts";
import type { Books, Entry } from "../../src/ledger/port.ts";
import { deletedInvoice } from "../quickbooks/lines.ts";
import type { DesktopConfig } from "./config.ts";
import { type InvoiceRow, issuedNumber, toldInvoice } from "./documents.ts";
import { BOOKS, goneParty, PARTIES, SIDES, toldParty } from "./parties.ts";
import type { Element, Values } from "./qbxml.ts";
import { allOf, byListId, type Query, type Reading, recordsOf } from "./records.ts";
import { type List, type Listed, stampOf, walkedSource } from "./walk.ts";
import type { Wire } from "./wire.ts";

/**
 * By their names. Prices are left out where the configuration names none.
 * @param telling books whose invoices say what a source tells of them
 */
export function desktopSources(
  wire: Pick<Wire, "read" | "expect">,
  config: DesktopConfig,
  surroundings: Pick<Surroundings, "now" | "currency">,
  telling: Books,
): Readonly<Record<string, Source>> {
  const source = (lists: readonly List[]): Source =>
    walkedSource({
      lists,
      now: () => surroundings.now(),
      expect: (signal) => wire.expect(signal),
      unavailable: (error) => unavailable(error, telling),
    });
  const { currency } = surroundings;
  const invoices = (numberOf: (one: Entry<InvoiceRow>) => string): Source =>
    source(invoiceLists(wire, config, currency, telling, numberOf));
  const prices = priceLists(wire, config);
  return {
    parties: source(partyLists(wire)),
    // One that is void is told by its id, as links call it, so that its mapping sees that it was told before.
    invoices: invoices(issuedNumber),
    // By their ids: what a mapping of paid invoices looks links up by.
    paidInvoices: invoices(({ native: { row } }) => row.needed("TxnID")),
    ...(prices.length === 0 ? {} : { prices: source(prices) }),
  };
}

/** Records by their stamps. @param id what they are called by @param state the field that changes with the record */
async function listed(
  wire: Reading,
  { name, values }: Query,
  id: "ListID" | "TxnID",
  signal: AbortSignal,
  { state = "EditSequence", iterates = true } = {},
): Promise<Listed[]> {
  const query = { name, values: { ...values, IncludeRetElement: [id, "TimeModified", state] } };
  const rows = iterates ? allOf(wire, query, signal) : recordsOf(wire, [query], signal);
  return (await rows).map((row) => {
    const at = stampOf(row, "TimeModified");
    return { id: row.needed(id), at, state: row.text(state) ?? at };
  });
}

/** A list by its stamps, inactive records too; what is told of a record as it is now. */
const stamped = (
  wire: Reading,
  name: string,
  query: string,
  tell: (row: Element) => Change | readonly Change[],
  how: { readonly iterates?: boolean } = {},
): List => ({
  name,
  kind: "stamped",
  rows: (FromModifiedDate, signal) => {
    const values = { ActiveStatus: "All", FromModifiedDate };
    return listed(wire, { name: query, values }, "ListID", signal, how);
  },
  changes: async (ids, _rows, signal) => (await byListId(wire, query, ids, signal)).flatMap(tell),
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
  wire: Reading,
  name: string,
  of: "List" | "Txn",
  types: readonly string[],
  tell: (row: DeletedRow) => Change,
): List<DeletedRow> {
  const type = `${of}DelType`;
  return {
    name,
    kind: "stamped",
    keptDays: KEPT_DAYS,
    async rows(from, signal) {
      const DeletedDateRangeFilter = from === null ? null : { FromDeletedDate: from };
      const values: Values = { [type]: types, DeletedDateRangeFilter };
      const rows = await recordsOf(wire, [{ name: `${of}DeletedQuery`, values }], signal);
      return rows.map((row) => ({
        id: row.needed(`${of}ID`),
        at: stampOf(row, "TimeDeleted"),
        state: row.text("TimeDeleted") ?? "",
        type: row.needed(type),
        name: row.text(of === "List" ? "FullName" : "RefNumber"),
        madeAt: stampOf(row, "TimeCreated"),
      }));
    },
    changes: async (ids, rows) => ids.flatMap((id) => rows.get(id) ?? []).map(tell),
  };
}

const partyLists = (wire: Reading): List[] => [
  ...SIDES.map((side) =>
    stamped(wire, side, `${PARTIES[side].table}Query`, (row) => toldParty(side, row) ?? []),
  ),
  deleted(wire, "deleted parties", "List", ["Customer", "Vendor"], ({ type, id, name }) =>
    goneParty(type === "Customer" ? "customer" : "vendor", id, name),
  ),
];

/** Open ones come first: their first walk tells nothing, and all of them are told after it. */
function invoiceLists(
  wire: Reading,
  config: DesktopConfig,
  currency: string,
  { adapters }: Books,
  numberOf: (one: Entry<InvoiceRow>) => string,
): List[] {
  const changes: List["changes"] = async (ids, _rows, signal) => {
    const call = { key: "", signal, purpose: "inspection", made: new Set<string>() } as const;
    const found = ((await adapters.invoice?.get(ids, call)) ?? []) as readonly Entry<InvoiceRow>[];
    const entries = found.filter(({ id }) => ids.includes(id ?? ""));
    const twice = await numbersTwice(wire, entries, signal);
    return entries.map((one) => {
      const told = toldInvoice(config, currency, one, numberOf(one));
      const number = one.native.row.text("RefNumber") ?? "";
      const isTwice = one.status !== "cancelled" && one.mark === null && twice.has(number);
      return isTwice ? { ...told, fault: numberTwice(BOOKS, number) } : told;
    });
  };
  const name = "InvoiceQuery";
  return [
    {
      name: "open",
      kind: "whole",
      // With what is open of each: whether a payment stamps its invoice anew is not known.
      rows: (_from, signal) =>
        listed(wire, { name, values: { PaidStatus: "NotPaidOnly" } }, "TxnID", signal, {
          state: "BalanceRemaining",
        }),
      changes,
    },
    {
      name: "invoice",
      kind: "stamped",
      rows: (from, signal) => {
        const ModifiedDateRangeFilter = from === null ? null : { FromModifiedDate: from };
        return listed(wire, { name, values: { ModifiedDateRangeFilter } }, "TxnID", signal);
      },
      changes,
    },
    deleted(wire, "deleted invoices", "Txn", ["Invoice"], (row) => goneInvoice(row, currency)),
  ];
}

/** QuickBooks tells its id and number, and nothing else of it. */
function goneInvoice({ id, at, madeAt, name }: DeletedRow, currency: string): Change {
  const number = name === null ? "" : ` (number ${name})`;
  return deletedInvoice(id, "cancelled", {
    party: "(deleted)",
    days: { date: (madeAt === "" ? at : madeAt).slice(0, 10) },
    words: { currency, order: `deleted in QuickBooks at ${at}${number}` },
  });
}

/** Numbers that several invoices have which are not void: QuickBooks takes a number twice. @throws LedgerError */
async function numbersTwice(
  wire: Reading,
  entries: readonly Entry<InvoiceRow>[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const numbers = new Set(entries.flatMap(({ native }) => native.row.text("RefNumber") ?? []));
  if (numbers.size === 0) return numbers;
  const IncludeRetElement = ["TxnID", "RefNumber", "Subtotal", "SalesTaxTotal"];
  const values = { RefNumberCaseSensitive: [...numbers], IncludeRetElement };
  const live = (await recordsOf(wire, [{ name: "InvoiceQuery", values }], signal))
    .filter((row) => row.amount("Subtotal").plus(row.amount("SalesTaxTotal")).sign !== 0)
    .flatMap((row) => row.text("RefNumber") ?? []);
  return new Set(live.filter((number, at) => live.indexOf(number) !== at));
}

/* Prices of items, and of price levels item by item: each list is a terminal. */

/** None where the configuration names no prices. */
function priceLists(wire: Reading, { prices, unit }: DesktopConfig): List[] {
  if (prices === undefined) return [];
  const { list, of, levels } = prices;
  const told = (list: string, code: string, formula: string, isTwice = false): Change => {
    const line = { list, code, name: code, unit, formula, byQuantity: false };
    return priceChange(BOOKS, isTwice ? [line, line] : [line]);
  };
  const items = (row: Element): Change[] => {
    const price = priceOf(row, of);
    // A subtotal, a tax, a group have none.
    if (!isActive(row) || price === null || price.sign === 0) return [];
    const name = row.text("FullName") ?? row.text("Name") ?? "";
    return [told(list ?? "", name, price.plain())];
  };
  // A level of one percentage for all items has no prices.
  const levelItems = (row: Element): Change[] => {
    const level = row.text("Name") ?? "";
    const lines = isActive(row) ? row.all("PriceLevelPerItemRet") : [];
    return lines.map((line) => {
      const price = line.text("CustomPrice") ?? `${line.text("CustomPricePercent") ?? ""} %`;
      // The prices of items have this list's name already: the platform takes one price.
      return told(level, line.ref("ItemRef").name ?? "", price, level === list);
    });
  };
  return [
    ...(list === undefined ? [] : [stamped(wire, "item", "ItemQuery", items)]),
    ...(levels
      ? [stamped(wire, "price level", "PriceLevelQuery", levelItems, { iterates: false })]
      : []),
  ];
}

const isActive = (row: Element): boolean => row.yes("IsActive") !== false;

/** Of what is bought and sold both prices are kept; of other items one, whichever it is. */
function priceOf(row: Element, of: "sales" | "purchase") {
  const one = row.child("SalesOrPurchase");
  if (one !== null) return one.decimal("Price");
  const both = row.child("SalesAndPurchase") ?? row;
  return both.decimal(of === "sales" ? "SalesPrice" : "PurchaseCost");
}
