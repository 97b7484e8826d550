/** Do both sides agree, and since when? What the store knows of reconciliations, for `status`. */
import type { Engine } from "../engine/engine.ts";
import type { Nightly } from "../engine/reconcile/nightly.ts";
import { telling } from "../engine/reconcile/settle.ts";
import type { Bucket } from "../reconcile/case.ts";
import type { Agreement, ReconciliationStatus } from "./office.ts";

/** `nightly`: null when no daemon runs, or it does not reconcile by itself. */
export function reconciliationStatus(
  { store: { sweeps } }: Engine,
  nightly: Nightly | null,
): ReconciliationStatus {
  const last = sweeps.lastEnded();
  const done = sweeps.lastDone();
  const pace = nightly?.pace();
  return {
    lastAt: isoOrNull(done?.endedMs ?? null),
    trouble: last?.state === "failed" ? last.detail : null,
    nextDueAt: isoOrNull(nightly?.dueMs() ?? null),
    everyNights: pace?.everyNights ?? 1,
    wantsShare: pace?.wantsShare ?? null,
    differences: {
      confirmed: sweeps.inState("open").length,
      seen: sweeps.inState("seen").filter(({ bucket }) => telling.has(bucket as Bucket)).length,
    },
  };
}

/** By flow. */
export const agreements = ({ store: { sweeps } }: Engine): Map<string, Agreement> =>
  new Map(
    sweeps
      .agreements()
      .map(({ flow, atMs, documents, amount }) => [
        flow,
        { at: new Date(atMs).toISOString(), documents, amount },
      ]),
  );

const isoOrNull = (ms: number | null): string | null =>
  ms === null ? null : new Date(ms).toISOString();
