/** Our own import files read back: what we wrote, in the words of the documents. */
import { parse } from "csv-parse/sync";
import { Decimal } from "../../src/core/decimal.ts";
import type { Facts, FactLine, HoldingState } from "../../src/core/holdings.ts";
import { sortableInstant } from "../../src/core/keys.ts";
import { FORMULA } from "./write.ts";

/** The documents of {@link documents} that both sides hold. */
export type InvoiceName = "customer-invoices" | "supplier-invoices";

/** One document of a file. */
export interface Written {
  /** The platform's id. */
  readonly id: string;
  /** Sorts by age. */
  readonly version: string;
  readonly facts: Facts;
}

/**
 * Every document of one file. Text that was kept from running as a formula is as it was before.
 * @throws Error for a text that is no such CSV
 */
export function readWritten(
  document: InvoiceName,
  text: string,
  spreadsheetSafe: boolean,
): Written[] {
  const rows: Row[] = parse(text, { columns: true });
  const isGuarded = spreadsheetSafe && text.includes("'");
  const plain = isGuarded ? rows.map(unguarded) : rows;
  return [...Map.groupBy(plain, (row) => row["id"] ?? "")].flatMap(([id, own]) => {
    const head = own.find((row) => row["record"] === "H");
    if (head === undefined) return [];
    const version = sortableInstant(head["version"] ?? "") ?? "";
    return [{ id, version, facts: factsOf(document, head, own) }];
  });
}

type Row = Readonly<Record<string, string>>;

const unguarded = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, cell]) => [
      name,
      cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell,
    ]),
  );

const STATES: Readonly<Record<string, HoldingState>> = {
  DRAFT: "draft",
  OUTSTANDING: "open",
  OVERDUE: "open",
  PAID: "paid",
  DISPUTED: "disputed",
  VOID: "ended",
};

/** What is open no import file says; a currency neither. */
function factsOf(document: InvoiceName, head: Row, rows: readonly Row[]): Facts {
  const sale = document === "customer-invoices";
  const state = STATES[head["status"] ?? ""];
  const of = (record: string): readonly Row[] => rows.filter((row) => row["record"] === record);
  return {
    number: head["number"] ?? "",
    party: textIn(head, sale ? "customer" : "vendor"),
    ...(state === undefined ? {} : { state }),
    days: {
      date: textIn(head, "invoice_date"),
      due: textIn(head, "due_date"),
      paid: textIn(head, "paid_date"),
    },
    money: {
      untaxed: decimalIn(head, "subtotal"),
      tax: decimalIn(head, "tax_total"),
      total: decimalIn(head, "total"),
    },
    words: {
      side: sale ? "sale" : "purchase",
      order: joined(head, { po_number: "PO", contract_number: "contract" }),
      notes: textIn(head, "notes"),
    },
    lines: of("L").map(lineOf),
    taxes: of("T").map((row) => ({
      code: joined(row, { tax_code: "", authority: "", product: "" }) ?? "",
      amount: decimalIn(row, "amount") ?? Decimal.zero,
    })),
  };
}

const lineOf = (row: Row): FactLine => ({
  product: textIn(row, "item"),
  quantity: decimalIn(row, "gallons"),
  unit: textIn(row, "gallons") === null ? null : "gal",
  unitPrice: decimalIn(row, "rate"),
  amount: decimalIn(row, "amount") ?? Decimal.zero,
  text: joined(row, LINE_WORDS),
});

/** Columns of a line that have no field of their own among facts. */
const LINE_WORDS = {
  description: "",
  product: "product",
  spec: "spec",
  gross_gallons: "gross gal",
  net_gallons: "net gal",
  bol_number: "BOL",
  delivery_ticket: "ticket",
  location: "location",
  carrier: "carrier",
  delivered_date: "delivered",
} as const;

const textIn = (row: Row, column: string): string | null => row[column] || null;

const decimalIn = (row: Row, column: string): Decimal | null => {
  const cell = textIn(row, column);
  return cell === null ? null : Decimal.of(cell);
};

const joined = (row: Row, labels: Readonly<Record<string, string>>): string | null =>
  Object.entries(labels)
    .flatMap(([column, label]) => {
      const text = textIn(row, column);
      return text === null ? [] : [label === "" ? text : `${label} ${text}`];
    })
    .join(", ") || null;
