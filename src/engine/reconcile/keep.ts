/** What a run leaves in the store: how it ended, the differences that are known, and which flows agree. */
import { holdingKindOf } from "../../books/kinds.ts";
import { Decimal } from "../../core/decimal.ts";
import { SourceUnavailable } from "../../core/errors.ts";
import { agreeing } from "../../reconcile/case.ts";
import type { CaseRow, Report } from "../../reconcile/report.ts";
import type { Found } from "../../store/sweeps.ts";
import type { Engine, Flow } from "../engine.ts";
import { type Audit, type Question, reconcileSides, scopeOf } from "./reconcile.ts";
import { sideOf } from "./told.ts";

/**
 * A reconciliation whose run the store keeps. A process that ends meanwhile leaves a failed run, and the next one begins
 * anew: nothing was judged. @throws SourceUnavailable when a side cannot be read whole
 */
export async function keptReconciliation(
  engine: Engine,
  audit: Audit,
  question: Question,
  signal: AbortSignal,
): Promise<Report> {
  const { store, clock } = engine;
  const at = (): number => clock.now().wallMs;
  const scope = scopeOf(question);
  const sweep = store.transaction(() => store.sweeps.begin(scope, question.askedBy, at()));
  const before = audit.spent();
  const ended = (
    row: { counts: string | null; agrees: 0 | 1 | null; detail: string | null },
    state: "done" | "failed",
  ) =>
    store.sweeps.end(sweep, { ...row, state, requests: Math.max(audit.spent() - before, 0) }, at());
  try {
    const report = await reconcileSides(engine, audit, question, signal);
    store.transaction(() => {
      const isDone = report.state === "done";
      const counts = report.controls.map(({ side, kind, count }) => ({ side, kind, count }));
      const row = { counts: JSON.stringify(counts), agrees: report.agrees ? 1 : 0 } as const;
      ended({ ...row, detail: report.failures[0] ?? null }, report.state);
      if (!isDone) return;
      keepDifferences(engine, report, sweep, at());
      for (const flow of engine.flows) keepAgreement(engine, flow, report, at());
    });
    return report;
  } catch (error) {
    const detail = error instanceof SourceUnavailable ? error.message : String(error);
    store.transaction(() => ended({ counts: null, agrees: null, detail }, "failed"));
    throw error;
  }
}

function keepDifferences({ store }: Engine, report: Report, sweep: number, at: number): void {
  const { sweeps } = store;
  const known = (["seen", "open"] as const).flatMap((state) => sweeps.inState(state));
  const byKey = new Map(known.map((row) => [`${row.kind} ${row.key}`, row]));
  for (const row of report.cases) {
    const earlier = keysOf(row).flatMap((key) => byKey.get(`${row.kind} ${key}`) ?? []);
    const isWrong = !agreeing.has(row.bucket);
    for (const one of earlier)
      if (!isWrong || one.key !== row.key) sweeps.setState(one.difference, "cleared");
    if (isWrong) sweeps.see(foundIn(row), sweep, at);
  }
}

/** A case that was one-sided may have found its partner: it is known by that one's key. */
const keysOf = ({ key, records }: CaseRow): string[] => [
  ...new Set([
    key,
    ...(["platform", "books"] as const).flatMap((side) =>
      records[side].map(({ id }) => `${side}:${id}`),
    ),
  ]),
];

const foundIn = ({ kind, key, bucket, digest, number, cause }: CaseRow): Found => ({
  kind,
  key,
  bucket,
  digest: digest ?? "",
  number,
  code: cause?.code ?? bucket,
  cause: cause?.message ?? bucket,
  next: cause?.next ?? "",
});

/** Every case that began on the side which the flow reads. */
function keepAgreement({ store }: Engine, flow: Flow, { cases }: Report, at: number): void {
  const kind = holdingKindOf(flow.mapping.kind);
  const own = cases.filter((row) => row.kind === kind && row.began === sideOf(flow));
  if (own.length === 0 || own.some(({ bucket }) => !agreeing.has(bucket))) return;
  const isMoney = kind !== "party" && kind !== "price";
  const equal = own.filter(({ bucket }) => bucket === "equal");
  const sum = Decimal.sum(equal.map(({ amount }) => Decimal.of(amount.platform))).fixed(2);
  store.sweeps.agreed(flow.flow, equal.length, isMoney ? sum : null, at);
}
