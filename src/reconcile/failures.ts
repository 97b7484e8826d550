/** When a reconciliation cannot be trusted: it says why, and judges nothing. */
import { inDigits } from "../ledger/compare.ts";
import { Decimal } from "../core/decimal.ts";
import type { HoldingKind } from "../core/holdings.ts";
import { agreeing, type Case, manyOf, type Records, type Side, sides } from "./case.ts";
import type { CaseRow } from "./rows.ts";
import { type Control, controlsOf } from "./sums.ts";

/** A list that was walked to its end. */
export interface ListCount {
  readonly side: Side;
  readonly kind: HoldingKind;
  /** What was asked for: `changed since 2026-10-01`. */
  readonly what: string;
  /** How many records it said that it has; null: it does not say. */
  readonly total: number | null;
  /** How many records with different ids came. */
  readonly distinct: number;
}

export interface Count {
  readonly side: Side;
  readonly kind: HoldingKind;
  readonly count: number;
}

export function failuresOf(read: {
  readonly rows: Records;
  /** Of the rows. */
  readonly controls: readonly Control[];
  readonly cases: readonly Case[];
  readonly lists: readonly ListCount[];
  readonly previous: readonly Count[];
}): string[] {
  const { rows, controls, cases, lists, previous } = read;
  return [
    ...lists.flatMap(({ side, kind, what, total, distinct }) =>
      total === null || total === distinct
        ? []
        : [
            `the ${side} list of ${manyOf(kind)} (${what}) says ${total} records and showed ${distinct}: run it again; ` +
              "if it stays so, records are hidden from this key or user",
          ],
    ),
    ...previous.flatMap(({ side, kind, count }) => {
      const now = rows[side].filter((holding) => holding.kind === kind).length;
      return count < FEW || now * 2 >= count
        ? []
        : [
            `the ${side} shows ${now} ${manyOf(kind)} where the last run found ${count}: check what this key or user may ` +
              "see, and that it is the same company",
          ];
    }),
    ...unlike(
      controls,
      controlsOf({
        platform: cases.flatMap(({ platform }) => platform),
        books: cases.flatMap(({ books }) => books),
      }),
    ),
  ];
}

/** Of fewer records a half may go in a day's work. */
const FEW = 20;

/** The rows as they were read against the rows in cases: each must be in exactly one. */
const unlike = (read: readonly Control[], judged: readonly Control[]): string[] => {
  const [one, other] = [read, judged].map((controls) => controls.map(lineOf));
  if (one?.join() === other?.join()) return [];
  return [
    `control sums of the rows and of the cases differ: ${one?.join("; ")} against ${other?.join("; ")}`,
  ];
};

const lineOf = ({ side, kind, count, amount, open, gallons, ids }: Control): string =>
  `${side} ${kind} ${count} records ${inDigits(amount)} open ${inDigits(open)} gallons ${inDigits(gallons)} ids ${ids}`;

/** The amounts of the buckets against the rows as they were read; an equal case has no difference in money. */
export function untied(cases: readonly CaseRow[], controls: readonly Control[]): string[] {
  const unequal = cases.filter(
    ({ bucket, amount }) =>
      agreeing.has(bucket) &&
      bucket !== "out of scope" &&
      !Decimal.of(amount.platform).equals(Decimal.of(amount.books)),
  );
  const sums = sides.flatMap((side) =>
    controls
      .filter((control) => control.side === side)
      .flatMap((control) =>
        (["amount", "gallons"] as const).flatMap((figure) => {
          const { kind } = control;
          const judged = Decimal.sum(
            cases.filter((row) => row.kind === kind).map((row) => Decimal.of(row[figure][side])),
          );
          return judged.equals(control[figure])
            ? []
            : [
                `the cases of ${side} ${manyOf(kind)} sum to ${inDigits(judged)}, the rows to ${inDigits(control[figure])}`,
              ];
        }),
      ),
  );
  return [
    ...unequal.map(
      ({ kind, number, bucket }) => `${kind} ${number} is "${bucket}" with a difference in money`,
    ),
    ...sums,
  ];
}
