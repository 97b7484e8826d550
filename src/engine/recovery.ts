/**
 * A store that was restored does not know what was sent after its backup. Until a person has released it, everything
 * that wants to go out is looked for at its receiver, whatever its policy says, and nothing is sent (reliability O20).
 */
import type { Policy } from "../core/outcome.ts";
import { trip } from "./breakers.ts";
import type { Engine } from "./engine.ts";

const RESTORED = "restored";

/** At start. */
export function watchForRestore(engine: Engine): void {
  const why = engine.store.restored();
  if (why === null || inRecovery(engine)) return;
  engine.store.transaction(() =>
    trip(engine, {
      breaker: RESTORED,
      scope: "everything that is sent",
      detail: `this store does not know all that was sent: ${why}. It reads and looks, and sends nothing`,
    }),
  );
}

export const inRecovery = ({ store }: Engine): boolean =>
  store.journal.breakers().some(({ breaker }) => breaker === RESTORED);

export const lookFirst = (policy: Policy): Policy => ({ ...policy, preflight: true });

/** A person has seen to it. Inside the transaction that drops the stop. */
export function released(engine: Engine, breaker: string): void {
  if (breaker === RESTORED) engine.store.acknowledge(engine.clock.now().wallMs);
}
