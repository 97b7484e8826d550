/** What a reconciliation asks, and whom: kinds of records by the flows that are configured. */
import type { Endpoint } from "../../core/contract.ts";
import {
  type GoodsHoldingKind,
  type HoldingKind,
  holdingKinds,
  type Holdings,
  isGoodsHolding,
} from "../../core/holdings.ts";
import { holdingKindOf } from "../../core/kinds.ts";
import { dayBefore } from "../../core/time.ts";
import { endpointOf, type Engine, type Flow, PLATFORM } from "../engine.ts";
import { platformWalks, QUARTER_MS } from "./late.ts";

/** A side's endpoint that can be asked for a kind. */
export interface Asked {
  readonly endpoint: string;
  readonly holdings: Holdings;
}

export interface KindPlan {
  readonly kind: HoldingKind;
  /** The flows that carry it, in either direction. */
  readonly flows: readonly Flow[];
  readonly platform: Asked | null;
  /** Usually one. */
  readonly books: readonly Asked[];
  /** Endpoints that cannot be asked for it. */
  readonly unasked: readonly string[];
}

export type Endpoints = ReadonlyMap<
  string,
  Pick<Endpoint, "holdings" | "presence"> & Partial<Pick<Endpoint, "check">>
>;

/** Kinds that have a flow, in the order of {@link holdingKinds}. `only`: of this flow's kind alone. */
export function planOf(engine: Engine, endpoints: Endpoints, only: string | null): KindPlan[] {
  const asked = engine.flows.filter(({ name }) => only === null || name === only);
  const kinds = new Set(asked.map((flow) => comparedAs(flow, endpoints)));
  return holdingKinds
    .filter((kind) => kinds.has(kind))
    .map((kind) => kindPlan(engine, endpoints, kind));
}

const comparedAs = (flow: Flow, endpoints: Endpoints): HoldingKind | null =>
  isUntold(flow, endpoints) ? null : holdingKindOf(flow.mapping.kind);

/** Goods that start in the books and that these cannot list: by nature, every night. */
export function isUntold(flow: Flow, endpoints: Endpoints): boolean {
  const kind = goodsOfBooks(flow);
  return (
    kind !== null && endpoints.get(endpointOf(flow.from))?.holdings?.strength[kind] === undefined
  );
}

/** What a flow brings from the books to the platform where that is goods; null: another flow. */
export function goodsOfBooks({ mapping, side }: Flow): GoodsHoldingKind | null {
  const kind = holdingKindOf(mapping.kind);
  return kind !== null && isGoodsHolding(kind) && side === "erp" ? kind : null;
}

function kindPlan({ flows: all }: Engine, endpoints: Endpoints, kind: HoldingKind): KindPlan {
  const flows = all.filter((flow) => comparedAs(flow, endpoints) === kind);
  const names = [...new Set(flows.flatMap(({ from, to }) => [endpointOf(from), endpointOf(to)]))];
  const able = names.flatMap((endpoint): Asked[] => {
    const holdings = endpoints.get(endpoint)?.holdings;
    return holdings?.strength[kind] === undefined ? [] : [{ endpoint, holdings }];
  });
  return {
    kind,
    flows,
    platform: able.find(({ endpoint }) => endpoint === PLATFORM) ?? null,
    books: able.filter(({ endpoint }) => endpoint !== PLATFORM),
    unasked: names.filter((name) => able.every(({ endpoint }) => endpoint !== name)),
  };
}

/** Both sides can be asked whole for it. */
export const isAskable = ({ platform, books, unasked }: KindPlan): boolean =>
  platform !== null && books.length > 0 && unasked.length === 0;

// What a reconciliation will ask of the platform, told before the first request: pages of its lists, by what is stored.

/** Records on a page (specification part 4, P1). */
const pageOf = (kind: HoldingKind): number => (isWhole(kind) ? 500 : 100);
/** Kinds whose lists are read whole, twice. */
const isWhole = (kind: HoldingKind): boolean => kind === "party" || kind === "price";
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
    const pages = Math.max(Math.ceil(records / pageOf(kind)), 1);
    if (hasVersions) return sum + pages + (isGoodsHolding(kind) ? GOODS_EXTRAS : DOCUMENT_EXTRAS);
    return sum + (isWhole(kind) ? 2 * pages : pages);
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
    return Math.max(Math.ceil(store.sweeps.recordsSince(flow, since) / pageOf("invoice")), 1);
  };
  return platformWalks(engine)
    .filter(({ flow }) => !compared.has(flow))
    .reduce(
      (sum, { flow: { flow } }) =>
        sum + 31 * pages(flow, lateMs + DAY_MS) + pages(flow, QUARTER_MS),
      0,
    );
}
