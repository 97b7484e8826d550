/** Judged cases as rows of a report, in an order that people and scripts can rely on. */
import { inDigits } from "../ledger/compare.ts";
import { Decimal } from "../core/decimal.ts";
import { type Holding, holdingKinds, type Period } from "../core/holdings.ts";
import { type Bucket, type Judged, leading, numberOf, otherSide, type Side } from "./case.ts";
import type { CaseRow, RecordRow } from "./report.ts";
import { amountOf, openOf } from "./sums.ts";

/** Differences first. */
const order: readonly Bucket[] = [
  "twice",
  "differs",
  "only there",
  "only here",
  "with a person",
  "waiting",
  "out of scope",
  "void on both",
  "equal",
];

export function rowsOf(judged: readonly Judged[], period: Period | null): CaseRow[] {
  return judged
    .map((one) => rowOf(one, period))
    .toSorted(
      (one, other) =>
        order.indexOf(one.bucket) - order.indexOf(other.bucket) ||
        holdingKinds.indexOf(one.kind) - holdingKinds.indexOf(other.kind) ||
        byText(one.party ?? "", other.party ?? "") ||
        byText(one.number, other.number) ||
        byText(one.key, other.key),
    )
    .map((row, at) => ({ ...row, case: `c${at + 1}` }));
}

/** By code units: the same on every machine. */
export const byText = (one: string, other: string): number =>
  one < other ? -1 : one > other ? 1 : 0;

function rowOf(one: Judged, period: Period | null): CaseRow {
  const { began, parties } = one;
  const sum = (side: Side, of: (holding: Holding) => Decimal): string =>
    inDigits(Decimal.sum(one[side].map(of)));
  const both = (of: (holding: Holding) => Decimal) => ({
    platform: sum("platform", of),
    books: sum("books", of),
  });
  const days = [began, otherSide(began)].map((side) => leading(one[side])?.facts.days?.date);
  const [day] = days.filter((one) => one !== undefined && one !== null);
  return {
    case: "",
    kind: one.kind,
    key: one.key,
    bucket: one.bucket,
    began,
    by: one.by,
    number: numberOf(one),
    party: parties[began] ?? parties[otherSide(began)],
    parties,
    day: day ?? null,
    within: period === null || day === undefined || (day >= period.from && day <= period.to),
    records: { platform: one.platform.map(recordRow), books: one.books.map(recordRow) },
    amount: both(amountOf),
    open: both(openOf),
    differences: one.differences,
    cause: one.cause,
    overdue: one.overdue,
    suspects: one.suspects,
    digest: one.digest,
  };
}

const recordRow = (holding: Holding): RecordRow => ({
  id: holding.id,
  ...(holding.role === undefined ? {} : { role: holding.role }),
  number: holding.facts.number ?? null,
  state: holding.facts.state ?? null,
  day: holding.facts.days?.date ?? null,
  amount: inDigits(amountOf(holding)),
  open: inDigits(openOf(holding)),
});
