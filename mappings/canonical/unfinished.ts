import type { Kind } from "../../src/core/kinds.ts";
import { type References, skip, type Skip } from "../../src/core/contract.ts";

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
