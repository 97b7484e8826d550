/** What a user does in the demo's ERP about everything that the demo's own quarantine asks to have corrected. */
import { Decimal } from "../core/decimal.ts";
import { exportAgain, exported, type Row } from "./erp.ts";

/** Exports the corrected lists again. `folder`: of the demo. */
export function repairEverything(folder: string): void {
  correct(folder, "customers", (rows) =>
    rows.map((row) =>
      row["Code"] === "000113" ? { ...row, "E-Mail": "office@00ranch.example" } : row,
    ),
  );
  // Formulas, 0 and a negative become prices; a line for a category and one for a quantity are removed.
  correct(folder, "price-lists", (rows) =>
    withoutQuantities(rows.filter((row) => row["Lines/Category"] === "")).map((row) =>
      /[a-z]|^0$|^-/.test(row["Lines/Formula"] ?? "") ? { ...row, "Lines/Formula": "2.5" } : row,
    ),
  );
  correct(folder, "customer-invoices", (rows) =>
    rows.map((row) =>
      row["Number"] === "INV-2026-00041" ? { ...row, Reference: "PO 4500123456" } : row,
    ),
  );
  correct(folder, "customer-invoice-taxes", (rows) => [...rows]);
  correct(folder, "customer-invoice-lines", (rows) => {
    const short = rows.map((row) => ({
      ...row,
      Description: (row["Description"] ?? "").slice(0, 200),
    }));
    return billedTogether(
      billedTogether(short, "INV-2026-00038", () => true),
      "INV-2026-00023",
      isNegative,
    );
  });
}

/** The line that holds from a quantity on is the first of its list; the next one has the price without. */
function withoutQuantities(rows: readonly Row[]): Row[] {
  const at = rows.findIndex((row) => row["Lines/Quantity"] === "5000");
  const price = rows[at + 1]?.["Lines/Formula"] ?? "";
  const only: Row = { ...rows[at], "Lines/Quantity": "", "Lines/Formula": price };
  return [...rows.slice(0, at), only, ...rows.slice(at + 2)];
}

const isNegative = (row: Row): boolean => (row["Amount"] ?? "").startsWith("-");

const correct = (
  folder: string,
  list: string,
  change: (rows: readonly Row[]) => readonly Row[],
): void => exportAgain(folder, list, change(exported(folder, list)));

/** The last line of the invoice that is so is billed with the first one that is not, or with the first one. */
function billedTogether(rows: readonly Row[], invoice: string, is: (row: Row) => boolean): Row[] {
  const lines = rows.filter((row) => row["Invoice/Number"] === invoice && row["Type"] === "line");
  const gone = lines.findLast(is) as Row;
  const kept = lines.find((line) => line !== gone && !isNegative(line)) as Row;
  const amount = Decimal.sum([kept, gone].map((row) => Decimal.of(row["Amount"] ?? "")));
  const both = { ...kept, Amount: amount.fixed(2) };
  return rows.filter((row) => row !== gone).map((row) => (row === kept ? both : row));
}
