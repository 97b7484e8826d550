/** What a reconciliation will ask of the platform, told before the first request: pages of its lists, by what is stored. */
import { type HoldingKind, isGoodsHolding } from "../../core/holdings.ts";
import type { Engine } from "../engine.ts";
import { platformWalks, QUARTER_MS } from "./late.ts";
import { type Endpoints, isAskable, type KindPlan, planOf } from "./plan.ts";

/** Records on a page (specification part 4, P1). */
const PAGE: Readonly<Record<HoldingKind, number>> = {
  invoice: 100,
  bill: 100,
  payment: 100,
  "bill-payment": 100,
  order: 100,
  ticket: 100,
  party: 500,
  price: 500,
};
/** Kinds of which a list can be asked for what has changed. */
const BOUNDED: ReadonlySet<HoldingKind> = new Set(["invoice", "bill", "order", "ticket"]);
/** Of orders and tickets: the walk that closes. */
const GOODS_EXTRAS = 1;
/** Seven counts, a walk for each of three open statuses, and one that closes. */
const DOCUMENT_EXTRAS = 11;
const DAY_MS = 86_400_000;

/**
 * Requests, as far as they can be foretold: records by the store's count, payments whole, parties and prices twice.
 * What differs comes on top: it is read once more, with its payments, and looked for by its number where it is on one
 * side only; each for 200 of a kind at most, then by one more walk of the whole list. `from`: the period's first day; null: everything.
 */
export function costOf({ store }: Engine, plans: readonly KindPlan[], from: string | null): number {
  const since = from === null ? "" : dayBefore(from);
  return plans.filter(isAskable).reduce((sum, { kind, flows }) => {
    const hasVersions = BOUNDED.has(kind);
    const records = flows.reduce(
      (count, { flow }) => count + store.sweeps.recordsSince(flow, hasVersions ? since : ""),
      0,
    );
    const pages = Math.max(Math.ceil(records / PAGE[kind]), 1);
    if (hasVersions) return sum + pages + (isGoodsHolding(kind) ? GOODS_EXTRAS : DOCUMENT_EXTRAS);
    return sum + (kind === "party" || kind === "price" ? 2 * pages : pages);
  }, 0);
}

/**
 * Requests of a month of 31 nights for feeds that no comparison reads: each night the records of so many days, once the
 * month those of a quarter.
 */
export function deepCostOf(engine: Engine, endpoints: Endpoints, lateMs: number): number {
  const compared = new Set(
    planOf(engine, endpoints, null)
      .filter(isAskable)
      .flatMap(({ flows }) => flows),
  );
  const { store, clock } = engine;
  const now = clock.now().wallMs;
  const pages = (flow: number, ms: number): number => {
    const since = new Date(now - ms).toISOString();
    return Math.max(Math.ceil(store.sweeps.recordsSince(flow, since) / PAGE.invoice), 1);
  };
  return platformWalks(engine)
    .filter(({ flow }) => !compared.has(flow))
    .reduce(
      (sum, { flow: { flow } }) =>
        sum + 31 * pages(flow, lateMs + DAY_MS) + pages(flow, QUARTER_MS),
      0,
    );
}

const dayBefore = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - DAY_MS).toISOString();
