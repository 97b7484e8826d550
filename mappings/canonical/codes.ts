/** ERP codes for what the platform names, from the cross-reference tables. */
import type { References } from "../../src/core/contract.ts";
import { cellOf } from "../crossref.ts";

/** The column that each table must have beside its first. */
const COLUMNS = { items: "item", taxes: "tax", customers: "account", vendors: "account" } as const;

/** @throws NotMapped when the table has no row for `key`, or the row no code yet. */
export function codeOf(references: References, table: keyof typeof COLUMNS, key: string): string {
  return cellOf(references, table, key, COLUMNS[table]);
}

/** The account of a company: the one it was created from, or else the one in the table. @throws NotMapped */
export function accountOf(
  references: References,
  kind: "customer" | "supplier",
  companyId: string,
): string {
  const table = kind === "customer" ? "customers" : "vendors";
  return references.find(kind, companyId) ?? codeOf(references, table, companyId);
}
