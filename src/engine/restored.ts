import type { Policy } from "../core/outcome.ts";
import type { Engine, Flow } from "./engine.ts";

/** The stop of a store that does not know all that was sent (recovery.ts). */
export const RESTORED = "restored";

export const inRecovery = ({ store }: Engine): boolean =>
  store.journal.breakers().some(({ breaker }) => breaker === RESTORED);

/**
 * It stands in for a lost store, or was restored from an older copy, released or not: what it has no link for may have
 * been delivered.
 */
export const hasForgotten = (engine: Engine): boolean =>
  inRecovery(engine) || engine.store.journal.releasedAt(RESTORED) !== null;

/** What goes to the ERP is judged, for it may turn out to be ours, and not frozen. */
export const mayFreeze = (engine: Engine, { side }: Flow): boolean =>
  side === "erp" || !inRecovery(engine);

export const lookFirst = (policy: Policy): Policy => ({ ...policy, preflight: true });
