import type { References } from "../src/core/contract.ts";
import { NotMapped } from "../src/core/errors.ts";
import { TABLES } from "./books/tables.ts";

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
