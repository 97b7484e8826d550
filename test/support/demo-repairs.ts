/** What a user of the demo does in the ERP about everything that the demo's own quarantine asks for. */
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";

type Row = Record<string, string>;

/** Exports the corrected lists anew: the whole list, as an ERP does. `folder`: of the demo's ERP. */
export function repairEverything(folder: string): void {
  exportAgain(folder, "customers", (rows) => {
    expectOne(rows, ({ Code }) => Code === "000113")["E-Mail"] = "office@00ranch.example";
  });
  exportAgain(folder, "price-lists", (rows) => {
    let list = "";
    for (const row of rows) {
      list = row["Name"] || list;
      const formula = row["Lines/Formula"] ?? "";
      if (/[a-z]/.test(formula) || formula === "0" || formula.startsWith("-"))
        row["Lines/Formula"] = "2.5";
      if (row["Lines/Quantity"] === "5000") row["Lines/Quantity"] = "";
      if (row["Lines/Category"] === "Fuel")
        Object.assign(row, { "Lines/Category": "", "Lines/Product/Code": "PROP-HD5" });
    }
  });
  exportAgain(folder, "customer-invoices", (rows) => {
    expectOne(rows, ({ Number }) => Number === "INV-2026-00041")["Reference"] = "PO 4500123456";
  });
  exportAgain(folder, "customer-invoice-taxes", () => {});
  exportAgain(folder, "customer-invoice-lines", (rows) => {
    for (const row of rows) row["Description"] = (row["Description"] ?? "").slice(0, 200);
    takeTogether(rows, "INV-2026-00038", (lines) => lines.slice(-2));
    takeTogether(rows, "INV-2026-00023", (lines) => [
      lines.find((line) => !line["Amount"]?.startsWith("-")) ?? {},
      lines.find((line) => line["Amount"]?.startsWith("-")) ?? {},
    ]);
  });
}

function exportAgain(folder: string, name: string, repair: (rows: Row[]) => void): void {
  const archive = join(folder, "export", "archive");
  const file = readdirSync(archive).find((one) => one.replace(/\.[0-9a-f]{8}\.csv$/, "") === name);
  const rows: Row[] = parse(readFileSync(join(archive, file ?? name), "utf8"), { columns: true });
  repair(rows);
  const path = join(folder, "export", `${name}.csv`);
  writeFileSync(`${path}.tmp`, stringify(rows, { header: true }));
  renameSync(`${path}.tmp`, path);
}

function expectOne(rows: readonly Row[], is: (row: Row) => boolean): Row {
  const found = rows.find(is);
  if (found === undefined) throw new Error("the demo's export has no such row");
  return found;
}

/** Bills two lines as one, with the sum of both amounts. */
function takeTogether(rows: Row[], invoice: string, choose: (lines: Row[]) => Row[]): void {
  const lines = rows.filter((row) => row["Invoice/Number"] === invoice && row["Type"] === "line");
  const [kept, gone] = choose(lines) as [Row, Row];
  const cents = (row: Row): number => Math.round(Number(row["Amount"]) * 100);
  kept["Amount"] = ((cents(kept) + cents(gone)) / 100).toFixed(2);
  rows.splice(rows.indexOf(gone), 1);
}
