/** What a reconciliation asks, and whom: kinds of records by the flows that are configured. */
import { holdingKindOf } from "../../core/kinds.ts";
import type { Endpoint } from "../../core/contract.ts";
import {
  type GoodsHoldingKind,
  type HoldingKind,
  holdingKinds,
  type Holdings,
  isGoodsHolding,
} from "../../core/holdings.ts";
import { endpointOf, type Engine, type Flow } from "../engine.ts";

export const PLATFORM = "platform";

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
