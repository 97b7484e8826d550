/** What Tryton calls the things that the platform names, from links and cross-reference tables. */
import type { Party } from "../../src/books/documents.ts";
import type { References } from "../../src/core/contract.ts";
import { NotMapped } from "../../src/core/errors.ts";
import { accountOf } from "../canonical/codes.ts";
import { cellOf } from "../crossref.ts";

/** A party that came from Tryton is known there by its code; the name counts for those that are made there. */
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

/** Tryton's symbol of a unit: `l` for `liter`. @throws NotMapped */
export const symbolOf = (references: References, unit: string): string =>
  cellOf(references, "tryton-units", unit, "symbol");

/**
 * The account of what has no product in Tryton: a tax type (`tryton-taxes`), or `charge`, and a product that is billed
 * without gallons (`tryton-accounts`). @throws NotMapped
 */
export const ledgerAccount = (
  references: References,
  table: "tryton-taxes" | "tryton-accounts",
  key: string,
  type: "out" | "in",
): string => cellOf(references, table, key, type === "out" ? "sales" : "purchases");

/** What is there of these, in one line. */
export const joined = (...parts: readonly (string | null)[]): string =>
  parts.filter((part) => part !== null && part.trim() !== "").join(", ");

/** `gross 7528.4 gal`; nothing without a figure. */
export const labelled = (label: string, value: string | null, unit = ""): string | null =>
  value === null || value.trim() === "" ? null : `${label} ${value}${unit}`;
