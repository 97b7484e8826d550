/** Judged cases as rows of a report, in an order that people and scripts can rely on. */
import { Decimal } from "../core/decimal.ts";
import { defined } from "../core/defined.ts";
import {
  type Day,
  type Facts,
  type Holding,
  type HoldingKind,
  holdingKinds,
  type Period,
  type Role,
} from "../core/holdings.ts";
import type { Fault } from "../core/record.ts";
import { byText } from "../core/text.ts";
import { inDigits } from "../ledger/compare.ts";
import {
  both,
  type Bucket,
  buckets,
  type FieldDifference,
  isOpen,
  type Judged,
  leading,
  numberOf,
  otherSide,
  type Proof,
  type Side,
  sides,
} from "./case.ts";
import { amountOf, gallonsOf, moneyKinds, openOf } from "./sums.ts";

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
  /** What its lines come to by account, and its taxes by tax. Left out: this side does not tell. */
  readonly account?: ByCode;
  readonly tax?: ByCode;
}

/** Amounts by code; `none`: what has none. */
type ByCode = Readonly<Record<string, string>>;
const coded = ["account", "tax"] as const;

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

function rowOf(one: Judged, period: Period | null): CaseRow {
  const { began, parties } = one;
  const sums = (of: (holding: Holding) => Decimal) =>
    both((side) => inDigits(Decimal.sum(one[side].map(of))));
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
    records: both((side) =>
      one[side].map((holding) => recordRow(holding, side === began ? one.told : holding.facts)),
    ),
    amount: sums(amountOf),
    open: sums(openOf),
    gallons: sums(gallonsOf),
    differences: one.differences,
    cause: one.cause,
    overdue: one.overdue,
    suspects: one.suspects,
    digest: one.digest,
  };
}

/** `told`: its lines and taxes in the words of the side that received it; null: nobody can say them. */
const recordRow = (holding: Holding, told: Facts | null): RecordRow => ({
  id: holding.id,
  ...(holding.role === undefined ? {} : { role: holding.role }),
  number: holding.facts.number ?? null,
  state: holding.facts.state ?? null,
  day: holding.facts.days?.date ?? null,
  amount: inDigits(amountOf(holding)),
  open: inDigits(openOf(holding)),
  gallons: inDigits(gallonsOf(holding)),
  ...defined({ account: accountsIn(holding, told), tax: taxesIn(holding, told) }),
});

/** What has ended counts nothing, as in its amount. */
function accountsIn({ kind, facts: { state } }: Holding, told: Facts | null): ByCode | undefined {
  const lines = told?.lines;
  if (!moneyKinds.has(kind) || lines === undefined) return undefined;
  if (lines.some(({ account }) => account === undefined)) return undefined;
  return byCode(state === "ended" ? [] : lines.map((one) => [one.account ?? "none", one.amount]));
}

function taxesIn({ kind, facts: { state } }: Holding, told: Facts | null): ByCode | undefined {
  const taxes = told?.taxes;
  if (!moneyKinds.has(kind) || taxes === undefined) return undefined;
  return byCode(state === "ended" ? [] : taxes.map(({ code, amount }) => [code, amount]));
}

function byCode(amounts: readonly (readonly [code: string, amount: Decimal])[]): ByCode {
  const groups = Map.groupBy(amounts, ([code]) => code);
  return Object.fromEntries(
    [...groups].map(([code, those]) => [code, inDigits(Decimal.sum(those.map(([, one]) => one)))]),
  );
}

/** Sums of one account or tax, of the documents of which each side that has them tells it. */
export interface CodeTotal extends Readonly<Record<Side, string>> {
  readonly what: (typeof coded)[number];
  readonly kind: HoldingKind;
  readonly code: string;
  /** Platform less books. */
  readonly difference: string;
}

export function codeTotalsOf(cases: readonly CaseRow[]): CodeTotal[] {
  const sums = new Map<string, Omit<CodeTotal, Side | "difference"> & Record<Side, Decimal>>();
  for (const what of coded)
    for (const { kind, records } of cases) {
      if (sides.some((side) => records[side].some((record) => record[what] === undefined)))
        continue;
      for (const side of sides)
        for (const record of records[side])
          for (const [code, amount] of Object.entries(record[what] ?? {})) {
            const key = [what, kind, code].join("\n");
            const row = sums.get(key) ?? { what, kind, code, ...both(() => Decimal.zero) };
            row[side] = row[side].plus(Decimal.of(amount));
            sums.set(key, row);
          }
    }
  return [...sums.values()]
    .toSorted(
      (one, other) =>
        byText(one.what, other.what) ||
        holdingKinds.indexOf(one.kind) - holdingKinds.indexOf(other.kind) ||
        byText(one.code, other.code),
    )
    .map(inText);
}

/** With the difference, as digits. */
const inText = <Row extends Record<Side, Decimal>>({ platform, books, ...row }: Row) => ({
  ...row,
  platform: inDigits(platform),
  books: inDigits(books),
  difference: inDigits(platform.minus(books)),
});

// Counts and sums of cases: by bucket, by party and month, from one side's total to the other's, and what is alike.

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
        amount: inDigits(sumOnSide(rows, side)),
        gallons: inDigits(Decimal.sum(rows.map(({ gallons }) => Decimal.of(gallons[side])))),
      });
      return rows.length === 0 ? [] : [{ kind, bucket, cases: rows.length, ...both(sum) }];
    });
  });
}

const sumOnSide = (rows: readonly CaseRow[], side: Side): Decimal =>
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
      const row = sums.get(key) ?? { kind, party, month, ...both(() => Decimal.zero) };
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
    .map(inText);
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
      const difference = sumOnSide(rows, "platform").minus(sumOnSide(rows, "books"));
      return bucket === "equal" || rows.length === 0
        ? []
        : [{ bucket, difference: inDigits(difference) }];
    });
    return [{ kind, steps, ...both((side) => inDigits(sumOnSide(ofKind, side))) }];
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

// What is open by party, side by side, by how long it has been due.

export interface LedgerRow {
  readonly kind: "invoice" | "bill";
  readonly party: string;
  readonly open: Decimal;
}

/** Days past the due date: not yet due, 1 to 30, 31 to 60, 61 to 90, older. */
const ages = ["current", "30", "60", "90", "older"] as const;
type Age = (typeof ages)[number];

export interface Balance {
  /** `invoice`: receivable; `bill`: payable. */
  readonly kind: "invoice" | "bill";
  readonly party: string;
  readonly platform: Aging;
  readonly books: Aging;
  /** Platform less books. */
  readonly difference: string;
  /** By the books' ledger; null: it was not asked. */
  readonly ledger: string | null;
}

export interface Aging extends Readonly<Record<Age, string>> {
  readonly total: string;
}

/** Of everything that was read, whatever its date: neither side tells the balances of past days. */
export function balancesOf(
  judged: readonly Judged[],
  ledger: readonly LedgerRow[],
  today: Day,
): Balance[] {
  const sums = new Map<string, Sums>();
  const sumsOf = (kind: "invoice" | "bill", party: string): Sums => {
    const key = `${kind} ${party}`;
    const found = sums.get(key) ?? { kind, party, ...both(nothing), ledger: null };
    sums.set(key, found);
    return found;
  };
  for (const { kind, parties, ...records } of judged) {
    if (kind !== "invoice" && kind !== "bill") continue;
    for (const side of sides)
      for (const holding of records[side]) {
        const open = openOf(holding);
        if (open.sign === 0) continue;
        const aging = sumsOf(kind, parties[side] ?? "none")[side];
        const age = ageOf(holding, today);
        aging[age] = aging[age].plus(open);
      }
  }
  for (const { kind, party, open } of ledger) {
    const row = sumsOf(kind, party);
    row.ledger = (row.ledger ?? Decimal.zero).plus(open);
  }
  return [...sums.values()]
    .toSorted((one, other) => byText(one.kind, other.kind) * -1 || byText(one.party, other.party))
    .map(balanceOf);
}

interface Sums extends Record<Side, Record<Age, Decimal>> {
  readonly kind: "invoice" | "bill";
  readonly party: string;
  ledger: Decimal | null;
}

const nothing = (): Record<Age, Decimal> => ofAges(() => Decimal.zero);

const ofAges = <Of>(of: (age: Age) => Of) =>
  Object.fromEntries(ages.map((age) => [age, of(age)])) as Record<Age, Of>;

const DAY_MS = 86_400_000;

function ageOf({ facts: { days } }: Holding, today: Day): Age {
  const due = days?.due ?? days?.date ?? today;
  const late = (Date.parse(today) - Date.parse(due)) / DAY_MS;
  if (late <= 0) return "current";
  if (late <= 30) return "30";
  if (late <= 60) return "60";
  return late <= 90 ? "90" : "older";
}

function balanceOf({ kind, party, ledger, ...sums }: Sums): Balance {
  const totals = both((side) => Decimal.sum(ages.map((age) => sums[side][age])));
  return {
    kind,
    party,
    ...both((side) => ({
      ...ofAges((age) => inDigits(sums[side][age])),
      total: inDigits(totals[side]),
    })),
    difference: inDigits(totals.platform.minus(totals.books)),
    ledger: ledger === null ? null : inDigits(ledger),
  };
}

/** Where the books' own documents do not add up to their ledger, a list may have left some out. */
export const ledgerNotices = (balances: readonly Balance[]): string[] =>
  balances.flatMap(({ kind, party, books, ledger }) =>
    ledger === null || Decimal.of(ledger).equals(Decimal.of(books.total))
      ? []
      : [
          `${party}: the books' ledger has ${ledger} ${kind === "invoice" ? "receivable" : "payable"}, its open ` +
            `documents ${books.total}: entries without a document (payments on account), or documents that were not shown`,
        ],
  );
