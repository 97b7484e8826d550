/** What a record counts for, and sums over records as they were read: they know nothing of cases. */
import { hash } from "node:crypto";
import { inDigits } from "../ledger/compare.ts";
import { Decimal } from "../core/decimal.ts";
import { type Holding, type HoldingKind, holdingKinds, isGoodsHolding } from "../core/holdings.ts";
import { isLive, type Records, type Side, sides } from "./case.ts";

/** Kinds that move money between the company and a party. */
export const moneyKinds: ReadonlySet<HoldingKind> = new Set([
  "invoice",
  "bill",
  "payment",
  "bill-payment",
]);

/** In the company's currency. An ended document counts with zero, and so does a kind without money. */
export function amountOf({ kind, facts }: Holding): Decimal {
  if (facts.state === "ended" || !moneyKinds.has(kind)) return Decimal.zero;
  return facts.money?.total ?? facts.money?.amount ?? Decimal.zero;
}

/**
 * What the lines of an order or a ticket come to, in the units that they are counted in (gallons). An ended one counts with
 * zero, and so does a kind of another sort.
 */
export function gallonsOf({ kind, facts }: Holding): Decimal {
  if (facts.state === "ended" || !isGoodsHolding(kind)) return Decimal.zero;
  return Decimal.sum((facts.lines ?? []).map(({ quantity }) => quantity ?? Decimal.zero));
}

/** What is still to pay. A side that does not show it owes the total while the document is open. */
export function openOf({ kind, facts }: Holding): Decimal {
  if (kind !== "invoice" && kind !== "bill") return Decimal.zero;
  const isOwed = facts.state === "open" || facts.state === "disputed";
  return isOwed ? (facts.money?.open ?? facts.money?.total ?? Decimal.zero) : Decimal.zero;
}

/** A proof that nothing was left out or counted twice: taken of the rows, and again of the cases. */
export interface Control {
  readonly side: Side;
  readonly kind: HoldingKind;
  readonly count: number;
  readonly live: number;
  readonly amount: Decimal;
  readonly open: Decimal;
  readonly gallons: Decimal;
  /** The sum of SHA-256(id) modulo 2^256, hexadecimal: the same for the same set of ids in any order. */
  readonly ids: string;
}

/** Of both sides, kind by kind; kinds without a record are left out. */
export function controlsOf(records: Records): Control[] {
  return sides.flatMap((side) =>
    holdingKinds.flatMap((kind) => {
      const rows = records[side].filter((holding) => holding.kind === kind);
      return rows.length === 0 ? [] : [controlOf(side, kind, rows)];
    }),
  );
}

function controlOf(side: Side, kind: HoldingKind, rows: readonly Holding[]): Control {
  let ids = 0n;
  for (const { id } of rows) ids = (ids + BigInt(`0x${hash("sha256", id, "hex")}`)) % MODULUS;
  return {
    side,
    kind,
    count: rows.length,
    live: rows.filter(isLive).length,
    amount: Decimal.sum(rows.map(amountOf)),
    open: Decimal.sum(rows.map(openOf)),
    gallons: Decimal.sum(rows.map(gallonsOf)),
    ids: ids.toString(16).padStart(64, "0"),
  };
}

const MODULUS = 1n << 256n;

/** A {@link Control} as digits. */
export interface ControlRow {
  readonly side: Side;
  readonly kind: HoldingKind;
  readonly count: number;
  readonly live: number;
  readonly amount: string;
  readonly open: string;
  readonly gallons: string;
  readonly ids: string;
}

export const controlRow = (control: Control): ControlRow => ({
  ...control,
  amount: inDigits(control.amount),
  open: inDigits(control.open),
  gallons: inDigits(control.gallons),
});
