/** Our own import files read back: what we wrote, in the words of the documents. */
import { Decimal } from "../../core/decimal.ts";
import type { Facts, FactLine, HoldingState } from "../../core/holdings.ts";
import { sortableInstant } from "../../core/keys.ts";
import type { Cell } from "./cells.ts";
import { FileFault } from "./csv.ts";
import { draftsIn } from "./drafts.ts";
import { guardedAs, type Profile } from "./profile.ts";
import type { Writing } from "./write.ts";

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
 * Every document of one file, read as it was written.
 * @throws Error for a text that is not as the profile says
 */
export async function readWritten(
  document: InvoiceName,
  text: string,
  { profile, spreadsheetSafe }: Pick<Writing, "profile" | "spreadsheetSafe">,
): Promise<Written[]> {
  if (text === "") return [];
  const drafts = await draftsIn(guardedAs(profile, spreadsheetSafe), text);
  return drafts.map(({ values, problems: [problem] }) => {
    if (problem !== undefined) throw new FileFault(problem.message, problem.line, problem.column);
    const head = values as Row;
    const version = sortableInstant(textIn(head, "version") ?? "") ?? "";
    return { id: textIn(head, "id") ?? "", version, facts: factsOf(document, head) };
  });
}

/** Whether files of a profile tell which document they are of, and which version of it. */
export const tellsWhich = ({ head }: Profile): boolean =>
  ["id", "number", "version"].every((name) => head.some((column) => column.name === name));

type Row = Readonly<Record<string, Cell | readonly Row[]>>;

const STATES: Readonly<Record<string, HoldingState>> = {
  DRAFT: "draft",
  OUTSTANDING: "open",
  OVERDUE: "open",
  PAID: "paid",
  DISPUTED: "disputed",
  VOID: "ended",
};

/** What is open no import file says; a currency neither. */
function factsOf(document: InvoiceName, head: Row): Facts {
  const sale = document === "customer-invoices";
  const state = STATES[textIn(head, "status") ?? ""];
  return {
    number: textIn(head, "number") ?? "",
    party: textIn(head, sale ? "customer" : "vendor"),
    ...(state === undefined ? {} : { state }),
    days: {
      date: textIn(head, "invoiceDate"),
      due: textIn(head, "dueDate"),
      paid: textIn(head, "paidDate"),
    },
    money: {
      untaxed: decimalIn(head, "subtotal"),
      tax: decimalIn(head, "taxTotal"),
      total: decimalIn(head, "total"),
    },
    words: {
      side: sale ? "sale" : "purchase",
      order: joined(head, { poNumber: "PO", contractNumber: "contract" }),
      notes: textIn(head, "notes"),
    },
    lines: rowsIn(head, "lines").map(lineOf),
    taxes: rowsIn(head, "taxes").map((row) => ({
      code: joined(row, { taxCode: "", authority: "", product: "" }) ?? "",
      amount: decimalIn(row, "amount") ?? Decimal.zero,
    })),
  };
}

const lineOf = (row: Row): FactLine => ({
  product: textIn(row, "item"),
  quantity: decimalIn(row, "gallons"),
  unit: decimalIn(row, "gallons") === null ? null : "gal",
  unitPrice: decimalIn(row, "rate"),
  amount: decimalIn(row, "amount") ?? Decimal.zero,
  text: joined(row, LINE_WORDS),
});

/** Columns of a line that have no field of their own among facts. */
const LINE_WORDS = {
  description: "",
  product: "product",
  spec: "spec",
  grossGallons: "gross gal",
  netGallons: "net gal",
  bolNumber: "BOL",
  deliveryTicket: "ticket",
  location: "location",
  carrier: "carrier",
  deliveredDate: "delivered",
} as const;

const rowsIn = (row: Row, field: string): readonly Row[] => (row[field] ?? []) as readonly Row[];

/** Null: there is none, or no column. */
function textIn(row: Row, field: string): string | null {
  const value = row[field];
  if (value instanceof Decimal) return value.text;
  return typeof value === "string" && value !== "" ? value : null;
}

const decimalIn = (row: Row, field: string): Decimal | null => {
  const value = row[field];
  return value instanceof Decimal ? value : null;
};

const joined = (row: Row, labels: Readonly<Record<string, string>>): string | null =>
  Object.entries(labels)
    .flatMap(([column, label]) => {
      const text = textIn(row, column);
      return text === null ? [] : [label === "" ? text : `${label} ${text}`];
    })
    .join(", ") || null;
