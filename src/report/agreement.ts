/** Do both sides agree, and since when? What the store knows of reconciliations, for `status`. */
import type { Engine } from "../engine/engine.ts";
import type { Nightly } from "../engine/reconcile/nightly.ts";
import { telling } from "../engine/reconcile/settle.ts";
import type { Bucket } from "../reconcile/case.ts";
import type { CaseRow } from "../reconcile/report.ts";
import type {
  Agreement,
  KnownDifference,
  KnownDifferences,
  ReconciliationStatus,
} from "./office.ts";

/** `nightly`: null when no daemon runs, or it does not reconcile by itself. */
export function reconciliationStatus(
  engine: Engine,
  nightly: Nightly | null,
): ReconciliationStatus {
  const { sweeps } = engine.store;
  const all = knownDifferences(engine).differences;
  const known = all.filter((one) => !clears(one));
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
      confirmed: known.filter(({ confirmed }) => confirmed).length,
      seen: known.filter(({ confirmed }) => !confirmed).length,
      clears: all.length - known.length,
      first: known
        .slice(0, FIRST_MAX)
        .map(({ kind, number, bucket, cause }) => ({ kind, number, bucket, cause })),
    },
  };
}

const FIRST_MAX = 5;

/** A part that the books have received: it is told once all is paid (reconcile/reasons.ts). */
const clears = ({ row }: KnownDifference): boolean => row?.cause?.code === "partly-paid";

/** What is not settled, from the store. */
export function knownDifferences({ store: { sweeps } }: Engine): KnownDifferences {
  // What waits is settled by itself, and what is with a person is in the quarantine, or was accepted.
  const rows = [...sweeps.inState("open"), ...sweeps.inState("seen")].filter(({ bucket }) =>
    telling.has(bucket as Bucket),
  );
  return {
    lastAt: isoOrNull(sweeps.lastDone()?.endedMs ?? null),
    differences: rows.map(({ kind, number, bucket, cause, next, state, firstMs, lastMs, row }) => ({
      kind,
      number,
      bucket,
      cause,
      next,
      confirmed: state === "open",
      since: new Date(firstMs).toISOString(),
      last: new Date(lastMs).toISOString(),
      row: row === null ? null : (JSON.parse(row) as CaseRow),
    })),
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
