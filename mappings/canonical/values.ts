/** ERP codes for what the platform names, from the cross-reference tables. */
import { cellOf } from "../crossref.ts";
import { type References, skip, type Skip } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Kind } from "../../src/core/kinds.ts";

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

/** Whole numbers of the platform's as documents have them. */
export const counted = <T extends number | null>(value: T): T extends number ? Decimal : null =>
  (value === null ? null : Decimal.of(String(value))) as T extends number ? Decimal : null;

export const activity = (isActive: boolean): string => (isActive ? "ACTIVE" : "INACTIVE");

/** What an unknown status asks of the books nobody knows; posting it as something else would be a guess. */
export const unknownStatus = (what: string, status: string): Refused =>
  new Refused({
    code: "unknown-enum",
    message: `the ${what} status ${status} is not known to this version`,
    next: `Update fuelbridge, then retry; until then book these ${what}s by hand.`,
    field: "status",
  });

const UNFINISHED: Readonly<Record<string, string>> = {
  DRAFT: "draft",
  VOID: "void",
  CANCELLED: "cancelled",
};

/**
 * A draft is nobody's business yet, and what was cancelled before the ERP heard of it never will be. Once delivered,
 * the ERP learns of every later status, these too.
 */
export function unfinished(
  references: References,
  kind: Kind,
  record: { readonly id: string; readonly status: string },
): Skip | null {
  const reason = UNFINISHED[record.status];
  if (reason === undefined || references.find(kind, record.id) !== null) return null;
  return skip(reason);
}
