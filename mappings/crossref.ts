import type { References } from "../src/core/contract.ts";
import { NotMapped } from "../src/core/errors.ts";

/** What the mappings of ledgers call the cross-reference tables, whatever the ERP. */
export const TABLES = {
  /** A tax type, and the accounts that it is booked on. */
  taxes: "tax-accounts",
  /** A line without a product, and the accounts that it is booked on. */
  accounts: "charge-accounts",
  /** A unit, and its symbol. */
  units: "units",
  /** A location, and the company that is billed for it. */
  sites: "sites",
  /** Settings of our own company. */
  company: "own-company",
} as const;

/** The tables that name goods: what is sold, in which unit and where. Without a row in them hardly a document goes. */
export const NAME_GOODS: ReadonlySet<string> = new Set([
  "items",
  "products",
  "terminals",
  TABLES.units,
]);

/** A cell of a cross-reference table. @throws NotMapped when there is no such row, or nothing in the cell yet */
export function cellOf(references: References, table: string, key: string, column: string): string {
  const cell = references.row(table, key)[column]?.trim();
  if (cell === undefined || cell === "") throw new NotMapped(table, key, column);
  return cell;
}
