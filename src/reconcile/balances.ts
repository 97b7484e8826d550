/** What is open by party, side by side, by how long it has been due. */
import { inDigits } from "../ledger/compare.ts";
import { Decimal } from "../core/decimal.ts";
import type { Day, Holding } from "../core/holdings.ts";
import { type Judged, type Side, sides } from "./case.ts";
import { byText } from "./rows.ts";
import { openOf } from "./sums.ts";

export interface LedgerRow {
  readonly kind: "invoice" | "bill";
  readonly party: string;
  readonly open: Decimal;
}

/** Days past the due date: not yet due, 1 to 30, 31 to 60, 61 to 90, older. */
export const ages = ["current", "30", "60", "90", "older"] as const;
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
    const found = sums.get(key) ?? {
      kind,
      party,
      platform: nothing(),
      books: nothing(),
      ledger: null,
    };
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

const nothing = (): Record<Age, Decimal> => ({
  current: Decimal.zero,
  "30": Decimal.zero,
  "60": Decimal.zero,
  "90": Decimal.zero,
  older: Decimal.zero,
});

const DAY_MS = 86_400_000;

function ageOf({ facts: { days } }: Holding, today: Day): Age {
  const due = days?.due ?? days?.date ?? today;
  const late = (Date.parse(today) - Date.parse(due)) / DAY_MS;
  if (late <= 0) return "current";
  if (late <= 30) return "30";
  if (late <= 60) return "60";
  return late <= 90 ? "90" : "older";
}

function balanceOf({ kind, party, platform, books, ledger }: Sums): Balance {
  const totals = { platform: totalOf(platform), books: totalOf(books) };
  return {
    kind,
    party,
    platform: agingOf(platform, totals.platform),
    books: agingOf(books, totals.books),
    difference: inDigits(totals.platform.minus(totals.books)),
    ledger: ledger === null ? null : inDigits(ledger),
  };
}

const totalOf = (sums: Record<Age, Decimal>): Decimal => Decimal.sum(ages.map((age) => sums[age]));

const agingOf = (sums: Record<Age, Decimal>, total: Decimal): Aging => ({
  current: inDigits(sums.current),
  "30": inDigits(sums["30"]),
  "60": inDigits(sums["60"]),
  "90": inDigits(sums["90"]),
  older: inDigits(sums.older),
  total: inDigits(total),
});

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
