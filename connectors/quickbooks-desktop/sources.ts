/** What changed in QuickBooks: customers and vendors, customer invoices with what was paid on them, prices. */
import type { Change, Source, Surroundings } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { PartyRecord } from "../../src/ledger/documents.ts";
import { numberTwice, partyChange, priceChange, some } from "../../src/ledger/entries.ts";
import { unavailable } from "../../src/ledger/errors.ts";
import { platformIdIn } from "../../src/ledger/notes.ts";
import type { Books, Entry, LedgerAdapter } from "../../src/ledger/port.ts";
import type { DesktopConfig } from "./config.ts";
import { invoiceAdapter } from "./invoices.ts";
import {
  byId,
  deleted,
  type DeletedRow,
  invoiceRows,
  type List,
  listRows,
  openRows,
  pages,
  walkedSource,
} from "./lists.ts";
import { QUERIES } from "./parties.ts";
import type { Element } from "./qbxml.ts";
import { openOf, partyCode, type Row, totalOf } from "./rows.ts";
import type { Wire } from "./wire.ts";
import { deletedInvoice, inactiveParty, invoiceChange, regionOf } from "../quickbooks/lines.ts";
import type { Side } from "../quickbooks/text.ts";

/* Prices of items, and of price levels item by item: each list is a terminal. */

type Prices = NonNullable<DesktopConfig["prices"]> & Pick<DesktopConfig, "unit">;
type Asked = Pick<Wire, "read">;

/** None where the configuration names no prices. */
function priceLists(wire: Asked, config: Pick<DesktopConfig, "prices" | "unit">): List[] {
  if (config.prices === undefined) return [];
  const prices = { ...config.prices, unit: config.unit };
  const { list, levels } = prices;
  return [
    ...(list === undefined ? [] : [itemList(wire, prices, list)]),
    ...(levels ? [levelList(wire, prices)] : []),
  ];
}

const itemList = (wire: Asked, prices: Prices, list: string): List => ({
  name: "item",
  kind: "stamped",
  rows: listRows(wire, "ItemQuery"),
  changes: async (ids, _rows, signal) =>
    (await byId(wire, "ItemQuery", ids, signal)).filter(isActive).flatMap((row) => {
      const name = row.text("FullName") ?? row.text("Name") ?? "";
      const price = priceOf(row, prices.of);
      // A subtotal, a tax, a group have none.
      if (price === null || price.sign === 0) return [];
      return change(prices, { list, item: name, formula: price.plain() });
    }),
});

/** A level of one percentage for all items has no prices. */
const levelList = (wire: Asked, prices: Prices): List => ({
  name: "price level",
  kind: "stamped",
  rows: listRows(wire, "PriceLevelQuery", { iterates: false }),
  changes: async (ids, _rows, signal) =>
    (await byId(wire, "PriceLevelQuery", ids, signal)).filter(isActive).flatMap((row) => {
      const list = row.text("Name") ?? "";
      // The prices of items have this list's name already: the platform takes one price.
      const isTwice = list === prices.list;
      return row.all("PriceLevelPerItemRet").map((line) => {
        const percent = line.text("CustomPricePercent");
        const formula = line.text("CustomPrice") ?? `${percent ?? ""} %`;
        return change(prices, { list, item: line.ref("ItemRef").name ?? "", formula, isTwice });
      });
    }),
});

function change(
  { unit }: Prices,
  {
    list,
    item,
    formula,
    isTwice = false,
  }: { list: string; item: string; formula: string; isTwice?: boolean },
): Change {
  const line = { list, code: item, name: item, unit, formula, byQuantity: false };
  return priceChange("QuickBooks", isTwice ? [line, line] : [line]);
}

const isActive = (row: Element): boolean => row.yes("IsActive") !== false;

/** Of what is bought and sold both prices are kept; of other items one, whichever it is. */
function priceOf(row: Element, of: Prices["of"]) {
  const one = row.child("SalesOrPurchase");
  if (one !== null) return one.decimal("Price");
  const both = row.child("SalesAndPurchase") ?? row;
  return both.decimal(of === "sales" ? "SalesPrice" : "PurchaseCost");
}

/* Customer invoices as sources tell them, with what was paid on them. A job's invoice is its customer's. */

interface Telling {
  readonly wire: Pick<Wire, "read">;
  readonly config: Pick<DesktopConfig, "taxItems">;
  /** The company's, ISO 4217. */
  readonly currency: string;
}

type Invoice = Entry<Row>;

/** What is told of these, each under a number of the caller's. @throws LedgerError */
async function invoiceTeller(
  { wire, config, currency }: Telling,
  entries: readonly Invoice[],
  signal: AbortSignal,
): Promise<(entry: Invoice, number: string) => Change> {
  const payers = await payersOf(wire, entries, signal);
  return (entry, number) => {
    const { row } = entry.native;
    const payer = payers.get(row.ref("CustomerRef").id ?? "") ?? null;
    return invoiceChange(entry, {
      id: idOf(entry),
      number,
      ...(row.yes("IsPending") === true ? { state: "draft" as const } : {}),
      facts: {
        party: payer?.code ?? row.ref("CustomerRef").name,
        days: { date: row.needed("TxnDate").slice(0, 10) },
        words: {
          currency: foreignIn(row) ?? currency,
          reference: row.text("PONumber"),
          order: row.text("Memo")?.replace(/^VOID:\s*/i, "") ?? null,
        },
      },
      lines: entry.native.lines,
      taxItems: config.taxItems,
      salesTax: row.amount("SalesTaxTotal"),
      total: totalOf("invoice", entry.native),
      open: openOf("invoice", entry.native),
      dueDate: row.day("DueDate"),
      partyCompanyId: payer?.companyId ?? null,
    });
  };
}

/** The same adapter, which tells what sources tell of each record as well: for reconciliation. */
export const telling = (
  adapter: LedgerAdapter<"invoice", Row>,
  how: Telling,
): LedgerAdapter<"invoice", Row> => {
  const told = async (entries: readonly Invoice[], signal: AbortSignal): Promise<Invoice[]> => {
    const change = await invoiceTeller(how, entries, signal);
    return entries.map((one) => ({ ...one, change: change(one, issuedNumber(one)) }));
  };
  return {
    ...adapter,
    get: async (ids, call) => told(await adapter.get(ids, call), call.signal),
    named: async (numbers, signal) => told(await adapter.named(numbers, signal), signal),
    async *list(scope, from, signal) {
      for await (const page of adapter.list(scope, from, signal))
        yield { ...page, entries: await told(page.entries, signal) };
    },
  };
};

/** What people know it by; of one that is void, or has no number, its id. */
const issuedNumber = (one: Invoice): string =>
  one.status === "cancelled" ? idOf(one) : (one.native.row.text("RefNumber") ?? idOf(one));

const idOf = ({ native: { row } }: Invoice): string => row.needed("TxnID");

/** QuickBooks tells its id and number, and nothing else of it. */
function goneInvoice({ id, at, madeAt, name }: DeletedRow, currency: string): Change {
  const number = name === null ? "" : ` (number ${name})`;
  return deletedInvoice(id, "cancelled", {
    party: "(deleted)",
    days: { date: (madeAt === "" ? at : madeAt).slice(0, 10) },
    words: { currency, order: `deleted in QuickBooks at ${at}${number}` },
  });
}

interface Payer {
  readonly code: string;
  /** The platform's id of the company; null: its notes name none. */
  readonly companyId: string | null;
}

const FIELDS = ["ListID", "Name", "FullName", "Notes"];

/** By the ids of customers and jobs: the customer who is billed. @throws LedgerError */
async function payersOf(
  wire: Pick<Wire, "read">,
  entries: readonly Invoice[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Payer>> {
  const refs = new Map(
    entries.flatMap(({ native }) => {
      const { id, name } = native.row.ref("CustomerRef");
      return id === null ? [] : [[id, (name ?? "").split(":")] as const];
    }),
  );
  const jobs = [...refs].filter(([, names]) => names.length > 1);
  const ask = async (values: object): Promise<readonly Element[]> => {
    const all = { ...values, IncludeRetElement: FIELDS };
    const [reply] = await wire.read([{ name: "CustomerQuery", values: all }], signal);
    return reply?.rets ?? [];
  };
  const own = [...refs.keys()].filter((id) => jobs.every(([job]) => job !== id));
  const customers = own.length === 0 ? [] : await ask({ ListID: own });
  const tops = [...new Set(jobs.map(([, [top = ""]]) => top))];
  const parents = tops.length === 0 ? [] : await ask({ FullName: tops });
  return new Map(
    [...refs].flatMap(([id, [top = ""]]) => {
      const isOwn = own.includes(id);
      const row = isOwn
        ? customers.find((one) => one.needed("ListID") === id)
        : parents.find((one) => one.text("FullName")?.toLowerCase() === top.toLowerCase());
      if (row === undefined) return [];
      const code = partyCode("customer", row.needed("ListID"));
      return [[id, { code, companyId: platformIdIn(row.text("Notes")) }] as const];
    }),
  );
}

/** The name of the invoice's currency where it is not the company's own, whose rate is 1. */
function foreignIn(row: Element): string | null {
  const rate = row.decimal("ExchangeRate");
  const isOwn = rate === null || rate.equals(Decimal.of("1"));
  return isOwn ? null : row.ref("CurrencyRef").name;
}

type Name = "parties" | "invoices" | "paidInvoices" | "prices";

/** By their names. Prices are left out where the configuration names none. */
export function desktopSources(
  wire: Wire,
  config: DesktopConfig,
  surroundings: Surroundings,
  books: Books,
): Readonly<Partial<Record<Name, Source>>> {
  const source = (lists: readonly List[]): Source =>
    walkedSource({
      lists,
      now: () => surroundings.now(),
      expect: (signal) => wire.expect(signal),
      unavailable: (error) => unavailable(error, books),
    });
  const { currency } = surroundings;
  const invoices = (numberOf: (one: Entry<Row>) => string): Source =>
    source(invoiceLists(wire, config, currency, numberOf));
  const prices = priceLists(wire, config);
  return {
    parties: source(partyLists(wire)),
    // One that is void is told by its id, as links call it, so that its mapping sees that it was told before.
    invoices: invoices(issuedNumber),
    // By their ids: what a mapping of paid invoices looks links up by.
    paidInvoices: invoices(idOf),
    ...(prices.length === 0 ? {} : { prices: source(prices) }),
  };
}

const BOOKS = "QuickBooks";

const partyLists = (wire: Pick<Wire, "read">): List[] => [
  ...(["customer", "vendor"] as const).map((side): List => ({
    name: side,
    kind: "stamped",
    rows: listRows(wire, QUERIES[side]),
    changes: async (ids, _rows, signal) =>
      (await byId(wire, QUERIES[side], ids, signal))
        // A job: its invoices are its customer's.
        .filter((row) => row.child("ParentRef") === null)
        .map((row) => partyChange(BOOKS, partyOf(side, row))),
  })),
  deleted(
    wire,
    "deleted parties",
    { query: "ListDeletedQuery", types: ["Customer", "Vendor"] },
    (rows) => Promise.resolve(rows.map((row) => partyChange(BOOKS, gone(row)))),
  ),
];

/** Every customer and vendor as it is now, inactive ones too. @throws LedgerError */
export async function* everyParty(
  wire: Pick<Wire, "read">,
  signal: AbortSignal,
): AsyncGenerator<readonly Change[]> {
  const values = { ActiveStatus: "All" };
  for (const side of ["customer", "vendor"] as const)
    for await (const { rets } of pages(wire, [{ name: QUERIES[side], values }], null, signal))
      yield rets
        .filter((row) => row.child("ParentRef") === null)
        .map((row) => partyChange(BOOKS, partyOf(side, row)));
}

function partyOf(side: Side, row: Element): PartyRecord {
  const address = row.child(side === "customer" ? "BillAddress" : "VendorAddress");
  const at = (name: string): string | null => (address === null ? null : address.text(name));
  const names = ["Name", "FullName", "CompanyName"].map((name) => row.text(name)?.toLowerCase());
  // QuickBooks writes the name into the first line of an address.
  const lines = ["Addr1", "Addr2", "Addr3"]
    .flatMap((name) => at(name) ?? [])
    .filter((line) => !names.includes(line.toLowerCase()));
  const { country, state } = regionOf(
    address === null ? null : { country: at("Country"), state: at("State") },
  );
  return {
    ...partyHead(side, row.needed("ListID")),
    name: row.text("CompanyName") ?? row.needed("Name"),
    companyId: platformIdIn(row.text("Notes")),
    email: row.text("Email"),
    phone: row.text("Phone"),
    street: some(lines.join("\n")),
    city: at("City"),
    state,
    zip: at("PostalCode"),
    country,
    active: row.yes("IsActive") !== false,
  };
}

const partyHead = (side: Side, id: string) => ({
  code: partyCode(side, id),
  isCustomer: side === "customer",
  isSupplier: side === "vendor",
});

const gone = ({ type, id, name }: DeletedRow): PartyRecord =>
  inactiveParty({
    ...partyHead(type === "Customer" ? "customer" : "vendor", id),
    name: name ?? "(deleted)",
  });

/** Open ones come first: their first walk tells nothing, and all of them are told after it. */
function invoiceLists(
  wire: Pick<Wire, "read" | "write">,
  config: DesktopConfig,
  currency: string,
  numberOf: (one: Entry<Row>) => string,
): List[] {
  const adapter = invoiceAdapter(wire, config, currency, "invoice");
  const changes = async (ids: readonly string[], signal: AbortSignal): Promise<Change[]> => {
    const call = { key: "", signal, purpose: "inspection", made: new Set<string>() } as const;
    const found = await adapter.get(ids, call);
    const entries = found.filter((one) => ids.includes(idOf(one)));
    const change = await invoiceTeller({ wire, config, currency }, entries, signal);
    const twice = await numbersTwice(wire, entries, signal);
    return entries.map((one) => {
      const told = change(one, numberOf(one));
      const number = one.native.row.text("RefNumber") ?? "";
      const isTwice = one.status !== "cancelled" && one.mark === null && twice.has(number);
      return isTwice ? { ...told, fault: numberTwice(BOOKS, number) } : told;
    });
  };
  const told: List["changes"] = (ids, _rows, signal) => changes(ids, signal);
  return [
    { name: "open", kind: "whole", rows: openRows(wire), changes: told },
    { name: "invoice", kind: "stamped", rows: invoiceRows(wire), changes: told },
    deleted(wire, "deleted invoices", { query: "TxnDeletedQuery", types: ["Invoice"] }, (rows) =>
      Promise.resolve(rows.map((row) => goneInvoice(row, currency))),
    ),
  ];
}

/** Numbers that several invoices have which are not void: QuickBooks takes a number twice. @throws LedgerError */
async function numbersTwice(
  wire: Pick<Wire, "read">,
  entries: readonly Entry<Row>[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const numbers = [...new Set(entries.flatMap(({ native }) => native.row.text("RefNumber") ?? []))];
  if (numbers.length === 0) return new Set();
  const IncludeRetElement = ["TxnID", "RefNumber", "Subtotal", "SalesTaxTotal"];
  const values = { RefNumberCaseSensitive: numbers, IncludeRetElement };
  const [reply] = await wire.read([{ name: "InvoiceQuery", values }], signal);
  const live = (reply?.rets ?? [])
    .filter((row) => row.amount("Subtotal").plus(row.amount("SalesTaxTotal")).sign !== 0)
    .flatMap((row) => row.text("RefNumber") ?? []);
  return new Set(live.filter((number, at) => live.indexOf(number) !== at));
}
