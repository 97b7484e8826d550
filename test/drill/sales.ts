/** Invoices that the platform makes by itself: as raw records there, and as the ERP must find them in its folder. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { Decimal } from "../../src/core/decimal.ts";
import type { Facts } from "../../src/core/holdings.ts";
import { companies } from "../../src/sandbox/scenes/index.ts";
import { PRODUCTS, type Sale } from "./books.ts";

const DUE = "2026-12-21";

const LATE_MS = 72 * 3_600_000;

/**
 * Numbers as text would be no numbers to the platform: they go as JSON numbers, whose digits are few. `nowMs`: by the
 * platform's clock.
 */
export const saleRecord = ({ number, isLate, subtotal, tax, lines }: Sale, nowMs: number) => ({
  ...(isLate ? stamped(new Date(nowMs - LATE_MS).toISOString()) : {}),
  invoiceNumber: number,
  payerCompanyId: companies.customer.id,
  subtotal: Number(subtotal.plain()),
  tax: Number(tax.plain()),
  total: Number(subtotal.plus(tax).plain()),
  dueDate: `${DUE}T12:00:00.000Z`,
  poNumber: orderOf(number),
  lineItems: lines.map(({ product, gallons, rate, amount }, at) => ({
    description: `Fuel ${at}`,
    product: platformName(product),
    gallons,
    rate: Number(rate),
    amount: Number(amount.plain()),
  })),
  taxLines: [{ taxType: "State Tax", amount: Number(tax.plain()) }],
});

/** An invoice that gets another number is of the same order. */
const orderOf = (number: string): string => `PO-${number.replace(/-N$/, "")}`;

const stamped = (at: string) => ({ createdAt: at, updatedAt: at });

/** As the ERP would book it. */
export const saleFacts = ({ number, subtotal, tax, lines }: Sale): Facts => ({
  number,
  party: "A-1001",
  days: { due: DUE },
  money: { untaxed: subtotal, tax, total: subtotal.plus(tax) },
  words: { order: orderOf(number) },
  lines: lines.map(({ product, gallons, rate, amount }, at) => ({
    product: platformName(product),
    quantity: Decimal.of(String(gallons)),
    unit: null,
    unitPrice: Decimal.of(rate),
    amount,
    text: `Fuel ${at}`,
  })),
  taxes: [{ code: "ST", amount: tax }],
});

export const platformName = (code: string): string =>
  PRODUCTS.find(([erp]) => erp === code)?.[1] ?? code;

/** Every file of the import folder, by the number of its invoice; of the versions of one invoice the last one counts. */
export function imported(erp: string): [number: string, Facts][] {
  const folder = join(erp, "import", "invoices");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".csv"))
    .map((name) => rowsIn(readFileSync(join(folder, name), "utf8")));
  const versions = Map.groupBy(files, ([head]) => head?.["id"]);
  return [...versions.values()].flatMap((all) => {
    const last = all
      .map(([head]) => head?.["version"] ?? "")
      .toSorted()
      .at(-1);
    return all.filter(([head]) => head?.["version"] === last).map(factsIn);
  });
}

const rowsIn = (text: string): Row[] => parse(text, { columns: true, bom: true });

type Row = Readonly<Record<string, string>>;

function factsIn(rows: readonly Row[]): [string, Facts] {
  const [head = {}] = rows;
  const of = (name: string): string => head[name] ?? "";
  const facts: Facts = {
    number: of("number"),
    party: of("customer"),
    days: { due: of("due_date") },
    money: {
      untaxed: amount(of("subtotal")),
      tax: amount(of("tax_total")),
      total: amount(of("total")),
    },
    words: { order: of("po_number") },
    lines: rows
      .filter(({ record }) => record === "L")
      .map((row) => ({
        product: row["product"] ?? null,
        quantity: amount(row["gallons"]),
        unit: null,
        unitPrice: amount(row["rate"]),
        amount: amount(row["amount"]) ?? Decimal.zero,
        text: row["description"] ?? null,
      })),
    taxes: rows
      .filter(({ record }) => record === "T")
      .map((row) => ({
        code: row["tax_code"] ?? "",
        amount: amount(row["amount"]) ?? Decimal.zero,
      })),
  };
  return [of("number"), facts];
}

const amount = (text: string | undefined): Decimal | null =>
  text === undefined || text === "" ? null : Decimal.of(text);
