/** What changed in QuickBooks: customers and vendors, customer invoices with what was paid on them, prices. */
import type { Books, Entry } from "../../src/ledger/port.ts";
import { numberTwice, partyChange } from "../../src/ledger/changes.ts";
import { unavailable } from "../../src/ledger/errors.ts";
import { some } from "../../src/ledger/facts.ts";
import { platformIdIn } from "../../src/ledger/marks.ts";
import type { PartyRecord } from "../../src/ledger/records.ts";
import type { Change, Source, Surroundings } from "../../src/core/contract.ts";
import type { Side } from "../quickbooks/names.ts";
import { inactiveParty, regionOf } from "../quickbooks/told.ts";
import type { DesktopConfig } from "./config.ts";
import { byId, deleted, type DeletedRow, invoiceRows, listRows, openRows } from "./lists.ts";
import { invoiceAdapter } from "./invoices.ts";
import { pages } from "./pages.ts";
import { QUERIES } from "./parties.ts";
import { partyCode } from "./party-codes.ts";
import { priceLists } from "./prices.ts";
import { amountOf, needed, textOf, yesOf } from "./read.ts";
import type { Row } from "./rows.ts";
import { goneInvoice, idOf, invoiceTeller, issuedNumber } from "./told-invoices.ts";
import { type List, walkedSource } from "./walks.ts";
import type { Wire } from "./wire.ts";
import { child, type Element } from "./xml.ts";

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
        .filter((row) => child(row, "ParentRef") === null)
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
        .filter((row) => child(row, "ParentRef") === null)
        .map((row) => partyChange(BOOKS, partyOf(side, row)));
}

function partyOf(side: Side, row: Element): PartyRecord {
  const address = child(row, side === "customer" ? "BillAddress" : "VendorAddress");
  const at = (name: string): string | null => (address === null ? null : textOf(address, name));
  const names = ["Name", "FullName", "CompanyName"].map((name) => textOf(row, name)?.toLowerCase());
  // QuickBooks writes the name into the first line of an address.
  const lines = ["Addr1", "Addr2", "Addr3"]
    .flatMap((name) => at(name) ?? [])
    .filter((line) => !names.includes(line.toLowerCase()));
  const { country, state } = regionOf(
    address === null ? null : { country: at("Country"), state: at("State") },
  );
  return {
    ...partyHead(side, needed(row, "ListID")),
    name: textOf(row, "CompanyName") ?? needed(row, "Name"),
    companyId: platformIdIn(textOf(row, "Notes")),
    email: textOf(row, "Email"),
    phone: textOf(row, "Phone"),
    street: some(lines.join("\n")),
    city: at("City"),
    state,
    zip: at("PostalCode"),
    country,
    active: yesOf(row, "IsActive") !== false,
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
      const number = textOf(one.native.row, "RefNumber") ?? "";
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
  const numbers = [
    ...new Set(entries.flatMap(({ native }) => textOf(native.row, "RefNumber") ?? [])),
  ];
  if (numbers.length === 0) return new Set();
  const IncludeRetElement = ["TxnID", "RefNumber", "Subtotal", "SalesTaxTotal"];
  const values = { RefNumberCaseSensitive: numbers, IncludeRetElement };
  const [reply] = await wire.read([{ name: "InvoiceQuery", values }], signal);
  const live = (reply?.rets ?? [])
    .filter((row) => amountOf(row, "Subtotal").plus(amountOf(row, "SalesTaxTotal")).sign !== 0)
    .flatMap((row) => textOf(row, "RefNumber") ?? []);
  return new Set(live.filter((number, at) => live.indexOf(number) !== at));
}
