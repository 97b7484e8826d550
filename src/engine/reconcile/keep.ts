/** What a run leaves in the store: how it ended, the differences that are known, and which flows agree. */
import { holdingKindOf } from "../../core/kinds.ts";
import { Decimal } from "../../core/decimal.ts";
import { agreeing, isOpen } from "../../reconcile/case.ts";
import type { Report } from "../../reconcile/report.ts";
import type { CaseRow } from "../../reconcile/rows.ts";
import type { DifferenceRow, Found } from "../../store/reconciliation.ts";
import type { Engine, Flow } from "../engine.ts";
import { markWalked, platformWalks, takeLate } from "./late.ts";
import {
  type Audit,
  type Question,
  type Reconciled,
  reconcileSides,
  scopeOf,
} from "./reconcile.ts";
import { isConfirmed, settleCases, settleUndecided } from "./settle.ts";
import { sideOf } from "./told.ts";

export interface Kept {
  readonly report: Report;
  /** Deliveries that have become possible by it: flows look at what they have pending. */
  readonly stirred: boolean;
}

/**
 * A reconciliation whose run the store keeps. A process that ends meanwhile leaves a failed run, and the next one begins
 * anew: nothing was judged. `settles`: confirmed differences go to a person, undecided requests are settled, and records
 * that were committed late are taken in. @throws SourceUnavailable when a side cannot be read whole
 */
export async function keptReconciliation(
  engine: Engine,
  audit: Audit,
  question: Question,
  settles: boolean,
  signal: AbortSignal,
): Promise<Kept> {
  const { store, clock } = engine;
  const at = (): number => clock.now().wallMs;
  const sweep = store.transaction(() =>
    store.sweeps.begin(scopeOf(question), question.askedBy, at()),
  );
  const spent = audit.spent();
  const requests = (): number => Math.max(audit.spent() - spent, 0);
  const walks = platformWalks(engine);
  let reconciled: Reconciled;
  try {
    reconciled = await reconcileSides(engine, audit, question, signal);
  } catch (error) {
    const detail = (error as Error).message;
    const failed = { state: "failed", counts: null, agrees: null, detail, unasked: null } as const;
    const ended = { sweep, requests: requests(), endedMs: at(), ...failed };
    store.transaction(() => store.sweeps.end(ended));
    throw error;
  }
  const { report, told, walked } = reconciled;
  const settled = store.transaction(() => {
    const counts = report.controls.map(({ side, kind, count }) => ({ side, kind, count }));
    store.sweeps.end({
      sweep,
      state: report.state,
      endedMs: at(),
      counts: JSON.stringify(counts),
      agrees: report.agrees ? 1 : 0,
      detail: report.failures[0] ?? null,
      unasked: JSON.stringify(report.unasked),
      requests: requests(),
    });
    if (report.state === "failed") return 0;
    const earlier = earlierOf(engine, report);
    const seen = keepDifferences(engine, report, sweep, at());
    for (const flow of engine.flows) keepAgreement(engine, flow, report, at());
    if (!settles) return 0;
    const opened = new Set(seen.flatMap(({ row, known }) => (isConfirmed(known) ? [row] : [])));
    for (const { row, known } of seen)
      if (opened.has(row)) store.sweeps.setState(known.difference, "open");
    settleCases(engine, report, opened);
    return settleUndecided(engine, report, earlier);
  });
  const late = settles && report.state === "done" ? takeLate(engine, told) : 0;
  if (settles && report.state === "done")
    store.transaction(() =>
      markWalked(engine, audit, { walks, kinds: walked, period: question.period }),
    );
  return { report, stirred: settled + late > 0 };
}

/** What the last run left about the cases of this one. */
function earlierOf({ store }: Engine, { cases }: Report): Map<CaseRow, DifferenceRow> {
  const found = new Map<CaseRow, DifferenceRow>();
  for (const row of cases) {
    if (agreeing.has(row.bucket)) continue;
    const known = store.sweeps.find(row.kind, row.key);
    if (known !== null) found.set(row, known);
  }
  return found;
}

function keepDifferences(
  { store }: Engine,
  report: Report,
  sweep: number,
  at: number,
): { readonly row: CaseRow; readonly known: DifferenceRow }[] {
  const { sweeps } = store;
  const judged = new Set(report.strength.map(({ kind }) => kind as string));
  // What is in no case any more is on neither side.
  const cleared = new Map(
    sweeps
      .standing()
      .filter(({ kind }) => judged.has(kind))
      .map((row) => [`${row.kind} ${row.key}`, row]),
  );
  const wrong = report.cases.filter(({ bucket }) => !agreeing.has(bucket));
  for (const { kind, key } of wrong) cleared.delete(`${kind} ${key}`);
  for (const { difference } of cleared.values()) sweeps.setState(difference, "cleared");
  return wrong.map((row) => ({ row, known: sweeps.see(foundIn(row), sweep, at) }));
}

function foundIn(row: CaseRow): Found {
  const { kind, key, bucket, digest, number, cause } = row;
  return {
    kind,
    key,
    bucket,
    digest: digest ?? "",
    number,
    code: cause?.code ?? bucket,
    cause: cause?.message ?? bucket,
    next: cause?.next ?? "",
    row: JSON.stringify(row),
  };
}

/** Every case that began on the side which the flow reads. */
function keepAgreement({ store }: Engine, flow: Flow, { cases }: Report, at: number): void {
  const kind = holdingKindOf(flow.mapping.kind);
  const own = cases.filter((row) => row.kind === kind && row.began === sideOf(flow));
  if (own.length === 0 || own.some(isOpen)) return;
  const isMoney = kind !== "party" && kind !== "price";
  const equal = own.filter(({ bucket }) => bucket === "equal");
  const sum = Decimal.sum(equal.map(({ amount }) => Decimal.of(amount.platform))).fixed(2);
  store.sweeps.agreed(flow.flow, equal.length, isMoney ? sum : null, at);
}
