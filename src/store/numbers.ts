/** Numbers of documents in the store: as they are written, and as they are compared where that is not the same. */
import { comparedNumber, type Kind } from "../core/kinds.ts";

/** Rows whose number is `:number`, which is one as it is compared. Both parts have an index. */
export const IS_NUMBERED = "(number = :number and folded is null or folded = :number)";

/** What is kept beside a number; null: it is compared as it is written. */
export function foldedOf(kind: Kind, number: string): string | null {
  const folded = comparedNumber(kind, number);
  return folded === number ? null : folded;
}
