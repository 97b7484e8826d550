/** Control totals of an import folder: what an ERP would have after reading every file in it. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { Decimal } from "../core/decimal.ts";
import { sortableInstant } from "../core/keys.ts";
import type { DocumentName } from "../formats/documents.ts";

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
