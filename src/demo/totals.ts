/**
 * Control totals: what each side holds of what was delivered, counted on each side by itself. The platform's figures
 * come from its raw records, the ERP's from its files; the store is asked only which documents were delivered.
 */
import { join } from "node:path";
import type { TableSource } from "../../connectors/files/config.ts";
import { localDrop } from "../../connectors/files/folder/local.ts";
import { everyExport } from "../../connectors/files/holdings.ts";
import { files } from "../../connectors/files/index.ts";
import { bookedRackPrices as rackPrices } from "../../mappings/platform/records.ts";
import { calendarOf } from "../core/time.ts";
import type { References } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { type Json, parseExact } from "../core/json.ts";
import type { Kind } from "../core/kinds.ts";
import { surroundingsIn } from "./surroundings.ts";
import type { World as Whole } from "./world.ts";
import type { Tables } from "../engine/engine.ts";
import type { Store } from "../store/store.ts";
import { readdir, readFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import { sortableInstant } from "../core/keys.ts";
import type { DocumentName } from "../formats/documents.ts";

export interface Totals {
  readonly documents: number;
  /** Sum of totals (invoices) or of prices (rack prices); null where documents have no amounts. */
  readonly amount: Decimal | null;
  /** US gallons; null where documents have none. */
  readonly gallons: Decimal | null;
}

export interface Comparison {
  readonly flow: string;
  readonly platform: Totals;
  readonly erp: Totals;
  readonly equal: boolean;
}

type World = Pick<Whole, "companyId" | "records">;
type Members = Readonly<Record<string, Json>>;

export async function compareSides(
  store: Store,
  tables: Tables,
  world: World,
  folder: string,
): Promise<Comparison[]> {
  const prices = await pricesOfErp(store, folder);
  const erp = { ...(await importedByErp(folder)), ...(await exportedByErp(store, folder, prices)) };
  const platform = await platformSide(store, world, pairsOf(prices, tables));
  return Object.entries(platform).map(([flow, one]) => {
    const other = erp[flow] ?? counted([]);
    return { flow, platform: one, erp: other, equal: same(one, other) };
  });
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const equal = (one: Decimal | null, other: Decimal | null): boolean =>
  (one ?? Decimal.zero).equals(other ?? Decimal.zero);

function same(one: Totals, other: Totals): boolean {
  return (
    one.documents === other.documents &&
    equal(one.amount, other.amount) &&
    equal(one.gallons, other.gallons)
  );
}

async function platformSide(
  store: Store,
  world: World,
  pairs: ReadonlySet<string>,
): Promise<Record<string, Totals>> {
  const orders = await world.records("orders");
  const tickets = await world.records("delivery-tickets");
  const invoices = await world.records("invoices");
  const connections = await world.records("connections");
  const prices = await world.records("rack-prices");
  const ids = (flow: string): Set<string> => new Set(store.questions.deliveredIds(flow));
  const among = (records: readonly Members[], flow: string): Members[] => {
    const delivered = ids(flow);
    return records.filter(({ id }) => delivered.has(textOf(id)));
  };
  // What came from the ERP is found on the platform by the ERP's own numbers.
  const partyCodes = (flow: string): Totals => {
    const codes = ids(flow);
    return counted(connections.filter(({ erpId }) => codes.has(textOf(erpId))));
  };
  const numbersOf = (flow: string, kind: Kind): Set<string> =>
    new Set([...ids(flow)].map((id) => store.links.find(kind, "erp", id)?.number ?? id));
  const numbers = numbersOf("invoices", "invoice");
  const ours = invoices.filter(
    ({ companyId, invoiceNumber }) =>
      companyId === world.companyId && numbers.has(textOf(invoiceNumber)),
  );
  const settled = numbersOf("paid-invoices", "invoice-payment");
  const paid = invoices.filter(
    ({ companyId, invoiceNumber, status }) =>
      companyId === world.companyId && status === "PAID" && settled.has(textOf(invoiceNumber)),
  );
  return {
    orders: {
      ...counted(among(orders, "orders")),
      gallons: gallonsOfOrders(among(orders, "orders")),
    },
    "delivery-tickets": {
      ...counted(among(tickets, "delivery-tickets")),
      gallons: sum(among(tickets, "delivery-tickets").flatMap(rows("productLines")), "net_gallons"),
    },
    "invoices-issued": invoiceTotals(among(invoices, "invoices-issued")),
    "invoices-payable": invoiceTotals(among(invoices, "invoices-payable")),
    customers: partyCodes("customers"),
    suppliers: partyCodes("suppliers"),
    "rack-prices": priceTotals(prices, world.companyId, pairs),
    invoices: invoiceTotals(ours),
    "paid-invoices": { ...invoiceTotals(paid), gallons: null },
  };
}

const counted = (records: readonly unknown[]): Totals => ({
  documents: records.length,
  amount: null,
  gallons: null,
});

const rows =
  (member: string) =>
  (record: Members): readonly Members[] =>
    (record[member] ?? []) as readonly Members[];

function sum(records: readonly Members[], member: string): Decimal {
  return Decimal.sum(records.map((record) => record[member]).filter(isDecimal));
}

const isDecimal = (value: unknown): value is Decimal => value instanceof Decimal;

function gallonsOfOrders(orders: readonly Members[]): Decimal {
  const inGallons = ({ unit, unitCode }: Members): boolean => (unitCode ?? unit) === "gal";
  return Decimal.sum(
    orders
      .flatMap(rows("lines"))
      .filter(inGallons)
      .map((line) => line["quantity"] ?? line["gallons"])
      .filter(isDecimal),
  );
}

/** Lines without a product are freight and fees. A fractional quantity stands in the description: `[12.5 gal]`. */
function invoiceTotals(invoices: readonly Members[]): Totals {
  const lines = invoices.flatMap(rows("lineItems")).filter(({ product }) => (product ?? "") !== "");
  const gallons = lines.map(({ gallons, description }) => {
    if (isDecimal(gallons)) return gallons;
    const written = /\[(\d+(?:\.\d+)?) gal\]$/.exec(textOf(description))?.[1];
    return written === undefined ? Decimal.zero : Decimal.of(written);
  });
  return {
    documents: invoices.length,
    amount: sum(invoices, "total"),
    gallons: Decimal.sum(gallons),
  };
}

/** The platform's prices of the terminals and products that the ERP has priced; it holds others besides. */
function priceTotals(
  prices: readonly Members[],
  companyId: string,
  pairs: ReadonlySet<string>,
): Totals {
  const ours = prices.filter(
    (price) =>
      price["companyId"] === companyId &&
      pairs.has(`${textOf(price["terminalId"])} ${textOf(price["product"])}`),
  );
  return { documents: ours.length, amount: sum(ours, "price"), gallons: null };
}

/** Terminal and product of each ERP price in the platform's words, by the cross-reference tables. */
function pairsOf(prices: readonly Members[], tables: Tables): Set<string> {
  const references: References = {
    currency: "USD",
    dayOf: calendarOf("America/Chicago"),
    row: (table, key) => tables.row(table, key) ?? {},
    find: () => null,
    counterpart: () => "",
  };
  return new Set(
    prices.map((price) => {
      const { terminalId, product } = rackPrices.map(
        rackPrices.input.parse(price),
        references,
      ) as Record<string, unknown>;
      return `${String(terminalId)} ${String(product)}`;
    }),
  );
}

async function importedByErp(folder: string): Promise<Record<string, Totals>> {
  const read = async (sub: string, document: TradedDocument): Promise<Totals> => {
    const { count, amount, gallons } = await readDelivered(
      join(folder, "erp", "import", sub),
      document,
    );
    return { documents: count, amount, gallons };
  };
  return {
    orders: await read("orders", "orders"),
    "delivery-tickets": await read("tickets", "delivery-tickets"),
    "invoices-issued": await read("invoices", "customer-invoices"),
    "invoices-payable": await read("bills", "supplier-invoices"),
  };
}

async function exportedByErp(
  store: Store,
  folder: string,
  prices: readonly Members[],
): Promise<Record<string, Totals>> {
  const delivered = (flow: string, layout: keyof typeof LISTS, pick: unknown): Promise<Members[]> =>
    deliveredOf(store, folder, flow, layout, pick);
  const invoices = await delivered("invoices", "customer-invoices", {
    heads: "customer-invoices*.csv",
    lines: "customer-invoice-lines*.csv",
    taxes: "customer-invoice-taxes*.csv",
  });
  const paid = await delivered("paid-invoices", "customer-invoices", {
    heads: "paid-invoices*.csv",
  });
  const inGallons = ({ unit }: Members): boolean => unit === "gal";
  return {
    customers: counted(await delivered("customers", "customers", "customers*.csv")),
    suppliers: counted(await delivered("suppliers", "suppliers", "suppliers*.csv")),
    "rack-prices": {
      documents: prices.length,
      amount: sum(prices, "price"),
      gallons: null,
    },
    invoices: {
      documents: invoices.length,
      amount: sum(invoices, "total"),
      gallons: sum(invoices.flatMap(rows("lines")).filter(inGallons), "quantity"),
    },
    "paid-invoices": { documents: paid.length, amount: sum(paid, "total"), gallons: null },
  };
}

const pricesOfErp = (store: Store, folder: string): Promise<Members[]> =>
  deliveredOf(store, folder, "rack-prices", "price-lists", "price-lists*.csv");

/** The lists of the demo's ERP, each by its profile, and what their records are. */
const LISTS = {
  customers: "books.parties",
  suppliers: "books.parties",
  "price-lists": "books.prices",
  "customer-invoices": "books.invoices",
} as const;

/** What the ERP has exported last of each record that the store says was delivered. */
async function deliveredOf(
  store: Store,
  folder: string,
  flow: string,
  list: keyof typeof LISTS,
  pick: unknown,
): Promise<Members[]> {
  const settings = files.config.parse({
    folder: "erp",
    settleMs: 0,
    sources: {
      it: { layout: LISTS[list], profile: `tryton-export/${list}`, pick, folder: "export" },
    },
  });
  const exports = await everyExport(settings.sources["it"] as TableSource, {
    ...surroundingsIn(folder),
    drop: localDrop(join(folder, settings.folder)),
  });
  const newest = new Map(exports.flat().map((change) => [change.id, change]));
  return store.questions.deliveredIds(flow).flatMap((id): Members[] => {
    const change = newest.get(id);
    return change === undefined || change.fault !== undefined
      ? []
      : [parseExact(change.text) as Members];
  });
}

/* Control totals of an import folder: what an ERP would have after reading every file in it. */

export interface Delivered {
  /** Documents, each at its latest version. */
  readonly count: number;
  /** Sum of the totals; null for documents without amounts. */
  readonly amount: Decimal | null;
  /** Sum of the lines that have an item, US gallons: freight by the gallon is no fuel. */
  readonly gallons: Decimal;
}

type Row = Readonly<Record<string, string>>;

/** Documents of goods, and the column that their gallons stand in. */
const GALLONS = {
  orders: "gallons",
  "delivery-tickets": "net_gallons",
  "customer-invoices": "gallons",
  "supplier-invoices": "gallons",
} as const satisfies Partial<Record<DocumentName, string>>;

export type TradedDocument = keyof typeof GALLONS;

/** Reads the files of one kind of document in `folder`. @throws what the file system throws. */
export async function readDelivered(folder: string, document: TradedDocument): Promise<Delivered> {
  const latest = new Map<string, { version: string; rows: Row[] }>();
  for (const name of (await readdir(folder)).sort()) {
    if (!name.startsWith(`${document}_`) || !name.endsWith(".csv")) continue;
    const text = await readFile(join(folder, name), "utf8");
    const rows: Row[] = parse(text, { columns: true });
    for (const [id, own] of Map.groupBy(rows, (row) => row["id"] ?? "")) {
      const header = own.find((row) => row["record"] === "H");
      const version = sortableInstant(header?.["version"] ?? "") ?? "";
      if (version >= (latest.get(id)?.version ?? "")) latest.set(id, { version, rows: own });
    }
  }
  const rows = [...latest.values()].flatMap((document) => document.rows);
  const heads = rows.filter((row) => row["record"] === "H");
  const fuel = rows.filter((row) => row["record"] === "L" && row["item"] !== "");
  return {
    count: latest.size,
    amount: document.endsWith("invoices") ? sumOf(heads, "total") : null,
    gallons: sumOf(fuel, GALLONS[document]),
  };
}

function sumOf(rows: readonly Row[], column: string): Decimal {
  return Decimal.sum(
    rows.map((row) => row[column] ?? "").flatMap((text) => (text === "" ? [] : [Decimal.of(text)])),
  );
}
