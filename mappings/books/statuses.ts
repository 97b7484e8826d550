import { type References, skip, type Skip } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Kind } from "../../src/core/kinds.ts";
import { unknownStatus } from "../canonical/unknown-status.ts";

export interface Statuses<S extends string> {
  /** What links and sentences call it. */
  readonly kind: Kind;
  readonly what: string;
  readonly known: readonly string[];
  /** Statuses that are booked, and as what. */
  readonly booked: Readonly<Record<string, S>>;
  /** Statuses that matter only to what is in the books already. */
  readonly ended: Readonly<Record<string, S>>;
  /**
   * What the others are where a lost store or lost books may hide that it was booked: the sink looks for it. Left out:
   * they are skipped, and reconciliation finds what was booked.
   */
  readonly uncounted?: S;
}

/** Fields of documents that only one which is looked for has, after a loss of the store or of the books. */
export const TAKEN_BACK_ONLY = ["platformStatus"];

/**
 * What a record's status means to the books. Until it counts there it is nobody's business, and what ended before
 * they heard of it never will be.
 * @throws Refused for statuses that are new to us, and for what is in the books and no longer counts on the platform.
 */
export function statusOf<S extends string>(
  references: References,
  { kind, what, known, booked, ended, uncounted }: Statuses<S>,
  { id, status }: { readonly id: string; readonly status: string },
): S | Skip {
  const asBooked = booked[status];
  if (asBooked !== undefined) return asBooked;
  if (!known.includes(status)) throw unknownStatus(what, status);
  const isThere = references.find(kind, id) !== null;
  const end = ended[status];
  // A store or books that were lost or set back do not know its link: the sink looks for the document.
  const looked = end ?? uncounted;
  if (looked !== undefined && !isThere && references.wasLost?.(id) === true) return looked;
  if (!isThere) return skip(status.toLowerCase());
  if (end !== undefined) return end;
  throw new Refused({
    code: "taken-back",
    message: `the ${what} is ${status} on the platform, and it is in the books`,
    next: "A person decides what becomes of it in the books, and resolves it here.",
    field: "status",
  });
}
