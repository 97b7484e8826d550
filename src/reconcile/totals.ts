/** Counts and sums of cases: by bucket, by party and month, from one side's total to the other's, and what is alike. */
import { inDigits } from "../ledger/compare.ts";
import { Decimal } from "../core/decimal.ts";
import { type HoldingKind, holdingKinds } from "../core/holdings.ts";
import { type Bucket, buckets, isOpen, type Side, sides } from "./case.ts";
import { byText, type CaseRow } from "./rows.ts";
import { moneyKinds } from "./sums.ts";

interface SideSum {
  /** Records, ended ones included. */
  readonly records: number;
  readonly amount: string;
  /** Of orders and tickets; of other kinds `0.00`. */
  readonly gallons: string;
}

export interface Total extends Readonly<Record<Side, SideSum>> {
  readonly kind: HoldingKind;
  readonly bucket: Bucket;
  readonly cases: number;
}

/** One per kind and bucket that has any case. */
export function totalsOf(cases: readonly CaseRow[]): Total[] {
  return holdingKinds.flatMap((kind) => {
    const ofKind = cases.filter((row) => row.kind === kind);
    return buckets.flatMap((bucket) => {
      const rows = ofKind.filter((row) => row.bucket === bucket);
      const sum = (side: Side): SideSum => ({
        records: rows.reduce((count, { records }) => count + records[side].length, 0),
        amount: inDigits(amountOf(rows, side)),
        gallons: inDigits(Decimal.sum(rows.map(({ gallons }) => Decimal.of(gallons[side])))),
      });
      return rows.length === 0
        ? []
        : [{ kind, bucket, cases: rows.length, platform: sum("platform"), books: sum("books") }];
    });
  });
}

const amountOf = (rows: readonly CaseRow[], side: Side): Decimal =>
  Decimal.sum(rows.map(({ amount }) => Decimal.of(amount[side])));

export interface PartyMonth extends Readonly<Record<Side, string>> {
  readonly kind: HoldingKind;
  readonly party: string;
  /** `2026-10`, of the side where the case began. */
  readonly month: string;
  /** Platform less books. */
  readonly difference: string;
}

/** Each side's amounts under the party that it names itself: another payer shows as two rows. */
export function partyMonthsOf(cases: readonly CaseRow[]): PartyMonth[] {
  const sums = new Map<string, Record<Side, Decimal> & Omit<PartyMonth, Side | "difference">>();
  for (const { kind, parties, day, amount, records } of cases) {
    if (!moneyKinds.has(kind)) continue;
    for (const side of sides) {
      if (records[side].length === 0) continue;
      const [party, month] = [parties[side] ?? "none", day?.slice(0, 7) ?? "none"];
      const key = `${kind} ${month} ${party}`;
      const none = { platform: Decimal.zero, books: Decimal.zero };
      const row = sums.get(key) ?? { kind, party, month, ...none };
      row[side] = row[side].plus(Decimal.of(amount[side]));
      sums.set(key, row);
    }
  }
  return [...sums.values()]
    .toSorted(
      (one, other) =>
        holdingKinds.indexOf(one.kind) - holdingKinds.indexOf(other.kind) ||
        byText(one.party, other.party) ||
        byText(one.month, other.month),
    )
    .map(({ platform, books, ...row }) => ({
      ...row,
      platform: inDigits(platform),
      books: inDigits(books),
      difference: inDigits(platform.minus(books)),
    }));
}

/** From the platform's total to the books': platform - sum of the steps = books. */
export interface Bridge extends Readonly<Record<Side, string>> {
  readonly kind: HoldingKind;
  /** Per bucket, platform less books; buckets without any are left out. */
  readonly steps: readonly { readonly bucket: Bucket; readonly difference: string }[];
}

export function bridgesOf(cases: readonly CaseRow[]): Bridge[] {
  return holdingKinds.flatMap((kind): Bridge[] => {
    const ofKind = cases.filter((row) => row.kind === kind);
    if (!moneyKinds.has(kind) || ofKind.length === 0) return [];
    const steps = buckets.flatMap((bucket) => {
      const rows = ofKind.filter((row) => row.bucket === bucket);
      const difference = amountOf(rows, "platform").minus(amountOf(rows, "books"));
      return bucket === "equal" || rows.length === 0
        ? []
        : [{ bucket, difference: inDigits(difference) }];
    });
    const [platform, books] = [amountOf(ofKind, "platform"), amountOf(ofKind, "books")];
    return [{ kind, platform: inDigits(platform), steps, books: inDigits(books) }];
  });
}

/** Cases of a kind that are alike: one alarm, where each alone would hide what happened. */
export interface Group {
  readonly kind: HoldingKind;
  readonly bucket: Bucket;
  readonly code: string;
  readonly fields: readonly string[];
  /** Ids of the report's cases. */
  readonly cases: readonly string[];
  /** More than 20 and more than a fifth of the kind: told as one mismatch and not one by one. */
  readonly isStorm: boolean;
}

const STORM_CASES = 20;
const STORM_SHARE = 0.2;

/** Of what keeps the sides from agreeing, the largest first. */
export function groupsOf(cases: readonly CaseRow[]): Group[] {
  const groups = new Map<string, Omit<Group, "isStorm"> & { cases: string[] }>();
  for (const { kind, bucket, cause, differences, case: id } of cases.filter(isOpen)) {
    const fields = [...new Set(differences.map(({ field }) => fieldOf(field)))].toSorted(byText);
    const code = cause?.code ?? "";
    const key = [kind, bucket, code, ...fields].join("\n");
    const group = groups.get(key) ?? { kind, bucket, code, fields, cases: [] };
    group.cases.push(id);
    groups.set(key, group);
  }
  return [...groups.values()]
    .map((group) => {
      const ofKind = cases.filter(({ kind }) => kind === group.kind).length;
      const count = group.cases.length;
      return { ...group, isStorm: count > STORM_CASES && count > ofKind * STORM_SHARE };
    })
    .toSorted((one, other) => other.cases.length - one.cases.length);
}

/** `lines.2.amount` and `lines.3.amount` are one field here. */
const fieldOf = (field: string): string => field.replace(/^lines\.\d+/, "lines");
