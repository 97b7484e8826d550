/** How documents that were delivered stand at their receiver now. */
import type { Acknowledgement } from "./acknowledgement.ts";
import type { Difference } from "./holdings.ts";

/** A document that was delivered. */
export interface Delivered {
  /** What its source calls it. */
  readonly id: string;
  /** The receiver's id of it. */
  readonly counterpart: string;
  /** The bytes that it last went in: what it was brought to. Null when a person linked it. */
  readonly body: string | null;
  /** When it was last delivered, or linked, ISO 8601 UTC; left out: nobody knows. */
  readonly deliveredAt?: string;
  /** What the receiver told last of it; left out: nothing. */
  readonly told?: Pick<Acknowledgement, "verdict" | "detail">;
  /** It still waits for what settles it, until this instant (ISO 8601 UTC); left out: it was brought all the way. */
  readonly waitsUntil?: string;
}

/**
 * `there`: with what now differs from what it was brought to (edited, cancelled, credited or partly paid there), each
 * field in both words. `gone`: no longer there, or not as far as it was brought: books were restored from a backup.
 */
export type Inspection =
  { readonly is: "there"; readonly differences: readonly Difference[] } | { readonly is: "gone" };

export const gone = { is: "gone" } as const satisfies Inspection;
export const thereAsBrought = { is: "there", differences: [] } as const satisfies Inspection;
