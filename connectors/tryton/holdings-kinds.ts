/** What one kind of holding must tell; index.ts puts the kinds together. */
import type { Item } from "../../src/core/contract.ts";
import type {
  Expected,
  Holding,
  HoldingKind,
  HoldingPage,
  Holdings,
  Scope,
} from "../../src/core/holdings.ts";
import type { Json } from "../../src/core/json.ts";

/** Records that one call asks for. */
export const LOT = 200;

/** {@link Holdings} of one kind. */
export interface KindHoldings {
  list(scope: Scope, from: Json | null, signal: AbortSignal): AsyncIterable<HoldingPage>;
  get(ids: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
  expect(items: readonly Item[], signal: AbortSignal): Promise<readonly Expected[]>;
}

type Kinds = Readonly<Partial<Record<HoldingKind, KindHoldings>>>;

/** All of them as they are now. */
export function holdingsOf(kinds: Kinds): Holdings {
  const of = (kind: HoldingKind): KindHoldings => {
    const found = kinds[kind];
    if (found === undefined) throw new Error(`Tryton tells nothing of kind ${kind}`);
    return found;
  };
  return {
    strength: Object.fromEntries(Object.keys(kinds).map((kind) => [kind, "asked" as const])),
    list: (kind, scope, from, signal) => of(kind).list(scope, from, signal),
    get: (kind, ids, signal) => of(kind).get(ids, signal),
    expect: (kind, items, signal) => of(kind).expect(items, signal),
  };
}
