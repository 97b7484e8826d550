/** Judged cases as rows of a report, in an order that people and scripts can rely on. */
import { inDigits } from "../ledger/compare.ts";
import { Decimal } from "../core/decimal.ts";
import type { Fault } from "../core/record.ts";
import {
  type Day,
  type Holding,
  type HoldingKind,
  holdingKinds,
  type Period,
  type Role,
} from "../core/holdings.ts";
import {
  type Bucket,
  type FieldDifference,
  type Judged,
  leading,
  numberOf,
  otherSide,
  type Proof,
  type Side,
} from "./case.ts";
import { amountOf, gallonsOf, openOf } from "./sums.ts";

/** One record of a case. */
export interface RecordRow {
  readonly id: string;
  /** Of a party of a list that has one role. Left out: any. */
  readonly role?: Role;
  readonly number: string | null;
  readonly state: string | null;
  readonly day: Day | null;
  readonly amount: string;
  readonly open: string;
  /** Of an order or a ticket; of other kinds `0.00`. */
  readonly gallons: string;
}

export interface CaseRow {
  /** `c17`: in the order of this report. */
  readonly case: string;
  readonly kind: HoldingKind;
  readonly key: string;
  readonly bucket: Bucket;
  readonly began: Side;
  readonly by: Proof;
  readonly number: string;
  /** The books' code where it is known, of the side where the case began. */
  readonly party: string | null;
  readonly parties: Readonly<Record<Side, string | null>>;
  readonly day: Day | null;
  /**
   * Is its {@link day} within the period, or has it none? The side where it began decides, so it counts in one period only.
   * Open and changed documents of other days are judged too.
   */
  readonly within: boolean;
  readonly records: Readonly<Record<Side, readonly RecordRow[]>>;
  /** In the company's currency; what a side does not have, and what has ended, is `0.00`. */
  readonly amount: Readonly<Record<Side, string>>;
  readonly open: Readonly<Record<Side, string>>;
  /** Of orders and tickets; of other kinds `0.00`. */
  readonly gallons: Readonly<Record<Side, string>>;
  readonly differences: readonly FieldDifference[];
  readonly cause: Fault | null;
  readonly overdue: boolean;
  readonly suspects: readonly string[];
  readonly digest: string | null;
}

/** Differences first. */
const order: readonly Bucket[] = [
  "twice",
  "differs",
  "only there",
  "only here",
  "with a person",
  "waiting",
  "accepted",
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
    gallons: both(gallonsOf),
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
  gallons: inDigits(gallonsOf(holding)),
});
