/**
 * A whole reconciliation as plain data: every case in one bucket, sums that tie to the rows as they were read, and
 * whether both sides agree. It survives JSON, so that a daemon can hand it to a command; amounts are digits.
 */
import { type Ignore, UNTOLD } from "../ledger/compare.ts";
import { Decimal } from "../core/decimal.ts";
import {
  type Day,
  type Facts,
  type Holding,
  type HoldingKind,
  holdingKinds,
  type Period,
  type Role,
  type Strength,
} from "../core/holdings.ts";
import {
  agreeing,
  amountOf,
  both,
  type Bucket,
  buckets,
  type Case,
  type Control,
  type ControlRow,
  controlRow,
  controlsOf,
  type FieldDifference,
  gallonsOf,
  isSilent,
  isOnBoth,
  isOpen,
  type Judged,
  leading,
  manyOf,
  moneyKinds,
  numberOf,
  openOf,
  otherSide,
  type Proof,
  type Records,
  type Side,
  sides,
} from "./case.ts";
import { judgeAll, type Judging } from "./judge.ts";
import { distinct, grouped } from "./nodes.ts";
import { defined } from "../core/defined.ts";
import type { Fault } from "../core/record.ts";
import { byText, inCents } from "../core/text.ts";
import { DAY_MS } from "../core/time.ts";

export interface Asked extends Judging {
  /** Calendar days of the company; null: everything that was read. */
  readonly period: Period | null;
  /** The company's calendar day now: aging counts from it. */
  readonly today: Day;
  /** ISO 4217 */
  readonly currency: string;
  /**
   * All that was read, what was looked up afterwards included; repeats allowed. From the readers, not from the cases:
   * that every row is in a case is proven by it.
   */
  readonly records: Records;
  /** Of `match`, over the same records. */
  readonly cases: readonly Case[];
  /** Lists as they were walked. */
  readonly lists: readonly ListCount[];
  /** How many records this scope had in the last run that ended. */
  readonly previous: readonly Count[];
  readonly strength: readonly SideStrength[];
  /** Kinds that a side cannot be asked for: the two sides do not agree about them, unless nobody ever can. */
  readonly unasked: readonly Unasked[];
  /** What parties owe by the books' ledger, where it can be asked. */
  readonly ledger: readonly LedgerRow[];
}

interface SideStrength {
  /** The endpoint's name: `platform`, `erp`. */
  readonly endpoint: string;
  readonly kind: HoldingKind;
  readonly strength: Strength;
}

export interface Unasked {
  readonly endpoint: string;
  readonly kind: HoldingKind;
  readonly why: string;
  /** The part of its records that it could not tell: `source "customers" (customers*.csv)`. Left out: all of the kind. */
  readonly what?: string;
  /** What to do about it. Left out: it can never be asked for them. */
  readonly next?: string;
  /** How many records of the other side are not compared for it; left out: all of the kind, or none. */
  readonly records?: number;
  /** No night can compare it: the two sides agree without it. */
  readonly byNature?: true;
  /** All flows that carry it are paused: nobody is told of it again and again. */
  readonly paused?: true;
}

export interface Report {
  readonly schema: 1;
  readonly period: Period | null;
  /** ISO 8601 UTC */
  readonly at: string;
  readonly today: Day;
  readonly currency: string;
  /** `failed`: it cannot be trusted, and nothing was judged. */
  readonly state: "done" | "failed";
  readonly failures: readonly string[];
  /** No case {@link isOpen}, and everything could be asked that ever can be. */
  readonly agrees: boolean;
  readonly notices: readonly string[];
  readonly ignore: Ignore;
  readonly strength: readonly SideStrength[];
  readonly unasked: readonly Unasked[];
  /** Differences first; then by kind, party and number. */
  readonly cases: readonly CaseRow[];
  readonly groups: readonly Group[];
  /** Of the cases within the period. */
  readonly totals: readonly Total[];
  /** Of the others: open or changed documents of other days. */
  readonly outside: readonly Total[];
  readonly months: readonly PartyMonth[];
  /** By account and by tax, where the sides tell them. */
  readonly codes: readonly CodeTotal[];
  /** What parties are called, by the code that cases name; of those that were compared. */
  readonly names: Readonly<Record<string, string>>;
  readonly bridges: readonly Bridge[];
  readonly balances: readonly Balance[];
  readonly controls: readonly ControlRow[];
  /** Of the records within the period, as they were read: what the accounts of a journal must come to. */
  readonly accounts: readonly AccountTotal[];
}

interface AccountTotal {
  readonly side: Side;
  readonly kind: HoldingKind;
  readonly party: string | null;
  readonly amount: string;
}

/** Judges every case once and proves the sums. Pure. */
export function reconcile(asked: Asked): Report {
  const rows = both((side) => distinct(asked.records[side]));
  const controls = controlsOf(rows);
  const before = failuresOf({ ...asked, rows, controls });
  const judged = before.length > 0 ? [] : inBooksWords(judgeAll(asked.cases, asked));
  const cases = rowsOf(judged, asked.period);
  const failures = before.length > 0 ? before : untied(cases, controls);
  const read = { rows, controls };
  return failures.length > 0
    ? reportOf(asked, read, [], [], failures)
    : reportOf(asked, read, cases, judged, []);
}

function reportOf(
  asked: Asked,
  { rows, controls }: { readonly rows: Records; readonly controls: readonly Control[] },
  cases: readonly CaseRow[],
  judged: readonly Judged[],
  failures: readonly string[],
): Report {
  const { period, today, currency, ignore, strength, unasked, ledger, now } = asked;
  const within = cases.filter((row) => row.within);
  const balances = balancesOf(judged, ledger, today);
  return {
    schema: 1,
    period,
    at: now,
    today,
    currency,
    state: failures.length > 0 ? "failed" : "done",
    failures,
    agrees:
      failures.length === 0 &&
      unasked.every(({ byNature }) => byNature === true && cases.length > 0) &&
      !cases.some(isOpen),
    notices: ledgerNotices(balances),
    ignore,
    strength,
    unasked,
    cases,
    groups: groupsOf(cases),
    totals: totalsOf(within),
    outside: totalsOf(cases.filter((row) => !row.within)),
    months: partyMonthsOf(within),
    codes: codeTotalsOf(within),
    names: namesOf(judged),
    bridges: bridgesOf(within),
    balances,
    controls: controls.map(controlRow),
    accounts: accountsOf(rows, within),
  };
}

const namesOf = (judged: readonly Judged[]): Record<string, string> =>
  Object.fromEntries(
    judged
      .filter(({ kind }) => kind === "party")
      .flatMap((one) => {
        const name = (leading(one.books) ?? leading(one.platform))?.facts.words?.name;
        return name ? [[numberOf(one), name]] : [];
      }),
  );

/** By the rows, not by the cases: an amount that a case lost shows as a journal that does not balance. */
function accountsOf(rows: Records, within: readonly CaseRow[]): AccountTotal[] {
  return sides.flatMap((side) => {
    const parties = new Map<string, string | null>();
    for (const { kind, parties: of, records } of within)
      for (const { id } of records[side]) parties.set(`${kind} ${id}`, of[side]);
    const counted = rows[side].filter(
      ({ kind, id }) => moneyKinds.has(kind) && parties.has(`${kind} ${id}`),
    );
    const partyOf = ({ kind, id }: Holding): string | null => parties.get(`${kind} ${id}`) ?? null;
    const groups = grouped(counted, (row) => `${row.kind}\n${partyOf(row) ?? ""}`);
    return [...groups.values()].flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const amount = inCents(Decimal.sum(group.map(amountOf)));
      return [{ side, kind: first.kind, party: partyOf(first), amount }];
    });
  });
}

/**
 * The platform's parties in the books' words where documents that both sides have name them alike: a cross-reference table
 * of the mapping knows what no record joins. One that documents name in two ways keeps the platform's name.
 */
function inBooksWords(judged: readonly Judged[]): readonly Judged[] {
  const named = new Map<string, Set<string>>();
  for (const one of judged) {
    const { platform, books } = one.parties;
    const differs = one.differences.some(({ field }) =>
      ["party", "record", UNTOLD].includes(field),
    );
    if (!isOnBoth(one) || differs || platform === null || books === null) continue;
    named.set(platform, (named.get(platform) ?? new Set()).add(books));
  }
  return judged.map((one) => {
    const [name, another] = named.get(one.parties.platform ?? "") ?? [];
    if (name === undefined || another !== undefined) return one;
    return { ...one, parties: { ...one.parties, platform: name } };
  });
}

/* When a reconciliation cannot be trusted: it says why, and judges nothing. */

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

interface Count {
  readonly side: Side;
  readonly kind: HoldingKind;
  readonly count: number;
}

function failuresOf(read: {
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
    ...unlike(controls, controlsOf(both((side) => cases.flatMap((one) => one[side])))),
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
  `${side} ${kind} ${count} records ${inCents(amount)} open ${inCents(open)} gallons ${inCents(gallons)} ids ${ids}`;

/** The amounts of the buckets against the rows as they were read; an equal case has no difference in money. */
function untied(cases: readonly CaseRow[], controls: readonly Control[]): string[] {
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
                `the cases of ${side} ${manyOf(kind)} sum to ${inCents(judged)}, the rows to ${inCents(control[figure])}`,
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

// Judged cases as rows of a report, in an order that people and scripts can rely on.

/** One record of a case. */
export interface RecordRow {
  readonly id: string;
  /** Of a party of a list that has one role. Left out: any. */
  readonly role?: Role;
  readonly number: string | null;
  readonly state: string | null;
  readonly day: Day | null;
  readonly amount: string;
  /** Its side tells no amount in the company's currency. Left out: it does, or none is asked for. */
  readonly isSilent?: true;
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
  readonly cause: Fault<string> | null;
  readonly overdue: boolean;
  readonly suspects: readonly string[];
  readonly digest: string | null;
}

/** Differences first. */
const order: readonly Bucket[] = [
  "twice",
  "differs",
  "only on the platform",
  "only in the ERP",
  "in quarantine",
  "waiting",
  "accepted",
  "out of scope",
  "void",
  "equal",
];

function rowsOf(judged: readonly Judged[], period: Period | null): CaseRow[] {
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
    both((side) => inCents(Decimal.sum(one[side].map(of))));
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
  amount: inCents(amountOf(holding)),
  ...(isSilent(holding) ? { isSilent: true as const } : {}),
  open: inCents(openOf(holding)),
  gallons: inCents(gallonsOf(holding)),
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
    [...groups].map(([code, those]) => [code, inCents(Decimal.sum(those.map(([, one]) => one)))]),
  );
}

/** Sums of one account or tax, of the documents of which each side that has them tells it. */
interface CodeTotal extends Readonly<Record<Side, string>> {
  readonly what: (typeof coded)[number];
  readonly kind: HoldingKind;
  readonly code: string;
  /** Platform less books. */
  readonly difference: string;
}

/** Each side that has it tells its lines by account, or its taxes. */
export const tells = ({ records }: CaseRow, what: CodeTotal["what"]): boolean =>
  sides.every((side) => records[side].every((record) => record[what] !== undefined));

function codeTotalsOf(cases: readonly CaseRow[]): CodeTotal[] {
  const sums = new Map<string, Omit<CodeTotal, Side | "difference"> & Record<Side, Decimal>>();
  for (const what of coded)
    for (const { kind, records } of cases.filter((row) => tells(row, what)))
      for (const side of sides)
        for (const record of records[side])
          for (const [code, amount] of Object.entries(record[what] ?? {})) {
            const key = [what, kind, code].join("\n");
            const row = sums.get(key) ?? { what, kind, code, ...both(() => Decimal.zero) };
            row[side] = row[side].plus(Decimal.of(amount));
            sums.set(key, row);
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
  platform: inCents(platform),
  books: inCents(books),
  difference: inCents(platform.minus(books)),
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
function totalsOf(cases: readonly CaseRow[]): Total[] {
  return holdingKinds.flatMap((kind) => {
    const ofKind = cases.filter((row) => row.kind === kind);
    return buckets.flatMap((bucket) => {
      const rows = ofKind.filter((row) => row.bucket === bucket);
      const sum = (side: Side): SideSum => ({
        records: rows.reduce((count, { records }) => count + records[side].length, 0),
        amount: inCents(sumOnSide(rows, side)),
        gallons: inCents(Decimal.sum(rows.map(({ gallons }) => Decimal.of(gallons[side])))),
      });
      return rows.length === 0 ? [] : [{ kind, bucket, cases: rows.length, ...both(sum) }];
    });
  });
}

const sumOnSide = (rows: readonly CaseRow[], side: Side): Decimal =>
  Decimal.sum(rows.map(({ amount }) => Decimal.of(amount[side])));

interface PartyMonth extends Readonly<Record<Side, string>> {
  readonly kind: HoldingKind;
  readonly party: string;
  /** `2026-10`, of the side where the case began. */
  readonly month: string;
  /** Platform less books. */
  readonly difference: string;
}

/** Each side's amounts under the party that it names itself: another payer shows as two rows. */
function partyMonthsOf(cases: readonly CaseRow[]): PartyMonth[] {
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
interface Bridge extends Readonly<Record<Side, string>> {
  readonly kind: HoldingKind;
  /** Per bucket, platform less books; buckets without any are left out. */
  readonly steps: readonly { readonly bucket: Bucket; readonly difference: string }[];
}

function bridgesOf(cases: readonly CaseRow[]): Bridge[] {
  return holdingKinds.flatMap((kind): Bridge[] => {
    const ofKind = cases.filter((row) => row.kind === kind);
    if (!moneyKinds.has(kind) || ofKind.length === 0) return [];
    const steps = buckets.flatMap((bucket) => {
      const rows = ofKind.filter((row) => row.bucket === bucket);
      const difference = sumOnSide(rows, "platform").minus(sumOnSide(rows, "books"));
      return bucket === "equal" || rows.length === 0
        ? []
        : [{ bucket, difference: inCents(difference) }];
    });
    return [{ kind, steps, ...both((side) => inCents(sumOnSide(ofKind, side))) }];
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
function groupsOf(cases: readonly CaseRow[]): Group[] {
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

interface LedgerRow {
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
function balancesOf(
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
      ...ofAges((age) => inCents(sums[side][age])),
      total: inCents(totals[side]),
    })),
    difference: inCents(totals.platform.minus(totals.books)),
    ledger: ledger === null ? null : inCents(ledger),
  };
}

/** Where the books' own documents do not add up to their ledger, a list may have left some out. */
const ledgerNotices = (balances: readonly Balance[]): string[] =>
  balances.flatMap(({ kind, party, books, ledger }) =>
    ledger === null || Decimal.of(ledger).equals(Decimal.of(books.total))
      ? []
      : [
          `${party}: the books' ledger has ${ledger} ${kind === "invoice" ? "receivable" : "payable"}, its open ` +
            `documents ${books.total}: entries without a document (payments on account), or documents that were not shown`,
        ],
  );
