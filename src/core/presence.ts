/** One that calls us (an ERP that cannot be called): when it was here, and when its silence is to be told. */
import type { Quiet } from "./silence.ts";

/** How long a comparison waits for one that calls us, ms, unless a configuration says so. */
export const WAIT_MS = 20 * 3_600_000;

export interface Presence {
  /** When it was last here, ISO 8601 UTC; null: never. */
  readonly lastAt: string | null;
  readonly isHere: boolean;
  /** It is not here, and nothing is known to be wrong with that: work waits for its next call. */
  readonly isAwaited: boolean;
  /** It should have called before; null: not yet. */
  readonly silence: Omit<Quiet, "longestMs"> | null;
}
