/**
 * A whole reconciliation as plain data: every case in one bucket, sums that tie to the rows as they were read, and
 * whether both sides agree. It survives JSON, so that a daemon can hand it to a command; amounts are digits.
 */
import { type Ignore, inDigits } from "../ledger/compare.ts";
import { Decimal } from "../core/decimal.ts";
import type { Day, Holding, HoldingKind, Period, Strength } from "../core/holdings.ts";
import {
  type Balance,
  balancesOf,
  type Bridge,
  bridgesOf,
  type CaseRow,
  type CodeTotal,
  codeTotalsOf,
  type Group,
  groupsOf,
  ledgerNotices,
  type LedgerRow,
  type PartyMonth,
  partyMonthsOf,
  rowsOf,
  type Total,
  totalsOf,
} from "./rows.ts";
import {
  both,
  type Case,
  isOpen,
  type Judged,
  leading,
  numberOf,
  type Records,
  type Side,
  sides,
} from "./case.ts";
import { type Count, failuresOf, judgeAll, type Judging, type ListCount, untied } from "./judge.ts";
import { distinct, grouped, inBooksWords } from "./groups.ts";
import {
  amountOf,
  type Control,
  controlRow,
  type ControlRow,
  controlsOf,
  moneyKinds,
} from "./sums.ts";

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
      const amount = inDigits(Decimal.sum(group.map(amountOf)));
      return [{ side, kind: first.kind, party: partyOf(first), amount }];
    });
  });
}
