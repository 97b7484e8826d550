/**
 * Control totals: what each side holds of what was delivered, counted on each side by itself. The platform's figures
 * come from its raw records, the ERP's from its files; the store is asked only which documents were delivered.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import type { TableSource } from "../../connectors/files/config.ts";
import { localDrop } from "../../connectors/files/folder/local.ts";
import { everyExport } from "../../connectors/files/holdings.ts";
import { files } from "../../connectors/files/index.ts";
import { bookedRackPrices as rackPrices } from "../../mappings/platform/records.ts";
import type { References } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { type Json, parseExact } from "../core/json.ts";
import { sortableInstant } from "../core/keys.ts";
import type { Kind } from "../core/kinds.ts";
import { calendarOf } from "../core/time.ts";
import type { Tables } from "../engine/engine.ts";
import type { DocumentName } from "../formats/documents.ts";
import type { Store } from "../store/store.ts";
import { surroundingsIn } from "./surroundings.ts";
import type { World } from "./world.ts";

export interface Totals {
  readonly documents: number;
  /** Sum of totals (invoices) or of prices (rack prices); null where documents have no amounts. */
  readonly amount: Decimal | null;
  /** US gallons; null where documents have none. */
  readonly gallons: Decimal | null;
}

export type Comparison = Awaited<ReturnType<typeof compareSides>>[number];

type Members = Readonly<Record<string, Json>>;
type Side = Pick<World, "companyId" | "records">;

export async function compareSides(store: Store, tables: Tables, world: Side, folder: string) {
  const exports = await exportedByErp(store, folder);
  const platform = await platformSide(store, world, pairsOf(exports.prices, tables));
  const erp: Readonly<Record<string, Totals>> = {
    ...(await importedByErp(folder)),
    ...exports.totals,
  };
  return Object.entries(platform).map(([flow, one]) => {
    const other = erp[flow] ?? counted([]);
    const equal =
      one.documents === other.documents &&
      isSame(one.amount, other.amount) &&
      isSame(one.gallons, other.gallons);
    return { flow, platform: one, erp: other, equal };
  });
}

const isSame = (one: Decimal | null, other: Decimal | null): boolean =>
  (one ?? Decimal.zero).equals(other ?? Decimal.zero);

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const isDecimal = (value: unknown): value is Decimal => value instanceof Decimal;

const counted = (
  records: readonly unknown[],
  sums: Partial<Omit<Totals, "documents">> = {},
): Totals => ({ documents: records.length, amount: null, gallons: null, ...sums });

const rowsIn = (records: readonly Members[], member: string): readonly Members[] =>
  records.flatMap((record) => (record[member] ?? []) as readonly Members[]);

const sum = (records: readonly Members[], ...members: readonly string[]): Decimal =>
  Decimal.sum(
    records
      .map((record) => members.map((member) => record[member]).find(isDecimal))
      .filter(isDecimal),
  );

const inGallons = ({ unit, unitCode }: Members): boolean => (unitCode ?? unit) === "gal";

async function platformSide(
  store: Store,
  world: Side,
  pairs: ReadonlySet<string>,
): Promise<Record<string, Totals>> {
  const [orders = [], tickets = [], invoices = [], connections = [], prices = []] =
    await Promise.all(
      ["orders", "delivery-tickets", "invoices", "connections", "rack-prices"].map((resource) =>
        world.records(resource),
      ),
    );
  const ids = (flow: string): Set<string> => new Set(store.questions.deliveredIds(flow));
  const among = (records: readonly Members[], flow: string): Members[] => {
    const delivered = ids(flow);
    return records.filter(({ id }) => delivered.has(textOf(id)));
  };
  // What came from the ERP is found on the platform by the ERP's own numbers.
  const parties = (flow: string): Totals => {
    const codes = ids(flow);
    return counted(connections.filter(({ erpId }) => codes.has(textOf(erpId))));
  };
  const own = (flow: string, kind: Kind): Members[] => {
    const numbers = new Set(
      [...ids(flow)].map((id) => store.links.find(kind, "erp", id)?.number ?? id),
    );
    return invoices.filter(
      ({ companyId, invoiceNumber }) =>
        companyId === world.companyId && numbers.has(textOf(invoiceNumber)),
    );
  };
  const ordered = among(orders, "orders");
  const delivered = among(tickets, "delivery-tickets");
  const paid = own("paid-invoices", "invoice-payment").filter(({ status }) => status === "PAID");
  // Of the terminals and products that the ERP has priced; the platform holds others besides.
  const priced = prices.filter(
    ({ companyId, terminalId, product }) =>
      companyId === world.companyId && pairs.has(`${textOf(terminalId)} ${textOf(product)}`),
  );
  return {
    orders: counted(ordered, {
      gallons: sum(rowsIn(ordered, "lines").filter(inGallons), "quantity", "gallons"),
    }),
    "delivery-tickets": counted(delivered, {
      gallons: sum(rowsIn(delivered, "productLines"), "net_gallons"),
    }),
    "invoices-issued": invoiceTotals(among(invoices, "invoices-issued")),
    "invoices-payable": invoiceTotals(among(invoices, "invoices-payable")),
    customers: parties("customers"),
    suppliers: parties("suppliers"),
    "rack-prices": counted(priced, { amount: sum(priced, "price") }),
    invoices: invoiceTotals(own("invoices", "invoice")),
    "paid-invoices": counted(paid, { amount: sum(paid, "total") }),
  };
}

/** Lines without a product are freight and fees. A fractional quantity stands in the description: `[12.5 gal]`. */
function invoiceTotals(invoices: readonly Members[]): Totals {
  const lines = rowsIn(invoices, "lineItems").filter(({ product }) => (product ?? "") !== "");
  const gallons = lines.map(({ gallons, description }) => {
    if (isDecimal(gallons)) return gallons;
    const written = /\[(\d+(?:\.\d+)?) gal\]$/.exec(textOf(description))?.[1];
    return written === undefined ? Decimal.zero : Decimal.of(written);
  });
  return counted(invoices, { amount: sum(invoices, "total"), gallons: Decimal.sum(gallons) });
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
      const made = rackPrices.map(rackPrices.input.parse(price), references);
      const { terminalId, product } = made as Record<string, unknown>;
      return `${String(terminalId)} ${String(product)}`;
    }),
  );
}

const IMPORTS = {
  orders: ["orders", "orders"],
  "delivery-tickets": ["tickets", "delivery-tickets"],
  "invoices-issued": ["invoices", "customer-invoices"],
  "invoices-payable": ["bills", "supplier-invoices"],
} as const;

async function importedByErp(folder: string): Promise<Record<string, Totals>> {
  const read = Object.entries(IMPORTS).map(async ([flow, [sub, document]]) => {
    const { count, ...sums } = await readDelivered(join(folder, "erp", "import", sub), document);
    return [flow, { documents: count, ...sums }] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

/** The lists of the demo's ERP, each by its profile, and what their records are. */
const LISTS = {
  customers: "books.parties",
  suppliers: "books.parties",
  "price-lists": "books.prices",
  "customer-invoices": "books.invoices",
} as const;

/** What the ERP has exported last of each record that the store says was delivered, and the prices among it. */
async function exportedByErp(
  store: Store,
  folder: string,
): Promise<{ totals: Record<string, Totals>; prices: readonly Members[] }> {
  const delivered = async (
    flow: string,
    list: keyof typeof LISTS,
    pick: unknown,
  ): Promise<Members[]> => {
    const profile = `tryton-export/${list}`;
    const source = { layout: LISTS[list], profile, pick, folder: "export" };
    const settings = files.config.parse({ folder: "erp", settleMs: 0, sources: { it: source } });
    const drop = localDrop(join(folder, settings.folder));
    const table = settings.sources["it"] as TableSource;
    const exports = await everyExport(table, { ...surroundingsIn(folder), drop });
    const newest = new Map(exports.flat().map((change) => [change.id, change]));
    return store.questions.deliveredIds(flow).flatMap((id): Members[] => {
      const change = newest.get(id);
      return change === undefined || change.fault !== undefined
        ? []
        : [parseExact(change.text) as Members];
    });
  };
  const prices = await delivered("rack-prices", "price-lists", "price-lists*.csv");
  const invoices = await delivered("invoices", "customer-invoices", {
    heads: "customer-invoices*.csv",
    lines: "customer-invoice-lines*.csv",
    taxes: "customer-invoice-taxes*.csv",
  });
  const paid = await delivered("paid-invoices", "customer-invoices", {
    heads: "paid-invoices*.csv",
  });
  const fuel = rowsIn(invoices, "lines").filter(inGallons);
  const totals = {
    customers: counted(await delivered("customers", "customers", "customers*.csv")),
    suppliers: counted(await delivered("suppliers", "suppliers", "suppliers*.csv")),
    "rack-prices": counted(prices, { amount: sum(prices, "price") }),
    invoices: counted(invoices, {
      amount: sum(invoices, "total"),
      gallons: sum(fuel, "quantity"),
    }),
    "paid-invoices": counted(paid, { amount: sum(paid, "total") }),
  };
  return { totals, prices };
}

/* Control totals of an import folder: what an ERP would have after reading every file in it. */

type Row = Readonly<Record<string, string>>;

/** Documents of goods, and the column that their gallons stand in. */
const GALLONS = {
  orders: "gallons",
  "delivery-tickets": "net_gallons",
  "customer-invoices": "gallons",
  "supplier-invoices": "gallons",
} as const satisfies Partial<Record<DocumentName, string>>;

export type TradedDocument = keyof typeof GALLONS;

/** What the files of one kind of document in `folder` have, each document at its latest version. @throws what the file system throws. */
export async function readDelivered(folder: string, document: TradedDocument) {
  const latest = new Map<string, { version: string; rows: Row[] }>();
  for (const name of (await readdir(folder)).sort()) {
    if (!name.startsWith(`${document}_`) || !name.endsWith(".csv")) continue;
    const rows: Row[] = parse(await readFile(join(folder, name), "utf8"), { columns: true });
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
    /** Sum of the totals; null for documents without amounts. */
    amount: document.endsWith("invoices") ? sumOf(heads, "total") : null,
    /** Sum of the lines that have an item, US gallons: freight by the gallon is no fuel. */
    gallons: sumOf(fuel, GALLONS[document]),
  };
}

const sumOf = (rows: readonly Row[], column: string): Decimal =>
  Decimal.sum(rows.flatMap((row) => (row[column] ? [Decimal.of(row[column])] : [])));
