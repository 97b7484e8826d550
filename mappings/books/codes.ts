/** What the books call the things that the platform names, from links and cross-reference tables. */
import type { Party } from "../../src/ledger/documents.ts";
import type { References } from "../../src/core/contract.ts";
import { NotMapped } from "../../src/core/errors.ts";
import { accountOf } from "../canonical/codes.ts";
import { cellOf } from "../crossref.ts";
import { TABLES } from "./tables.ts";

/** A party that came from the books is known there by its code; the name counts for those that are made there. */
export function partyOf(
  references: References,
  kind: "customer" | "supplier",
  companyId: string,
): Party {
  const code = accountOf(references, kind, companyId);
  const table = kind === "customer" ? "customers" : "vendors";
  return { code, name: nameIn(references, table, companyId) ?? code, companyId };
}

function nameIn(references: References, table: string, companyId: string): string | null {
  try {
    return cellOf(references, table, companyId, "name");
  } catch (error) {
    if (error instanceof NotMapped) return null;
    throw error;
  }
}

/** The symbol of a unit in the books: `l` for `liter`. @throws NotMapped */
export const symbolOf = (references: References, unit: string): string =>
  cellOf(references, TABLES.units, unit, "symbol");

/**
 * The account of what has no product in the books: a tax type (`taxes`), or `charge`, and a product that is billed
 * without gallons (`accounts`). @throws NotMapped
 */
export const ledgerAccount = (
  references: References,
  table: "taxes" | "accounts",
  key: string,
  type: "out" | "in",
): string => cellOf(references, TABLES[table], key, type === "out" ? "sales" : "purchases");

/** What is there of these, in one line. */
export const joined = (...parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null && part.trim() !== "").join(", ");

/** `gross 7528.4 gal`; nothing without a figure. */
export const labelled = (label: string, value: string | null, unit = ""): string | null =>
  value === null || value.trim() === "" ? null : `${label} ${value}${unit}`;
