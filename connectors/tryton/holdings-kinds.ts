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
import type { Books } from "./books.ts";
import { unavailable } from "./fault.ts";

/** Records that one call asks for. */
export const LOT = 200;

/** {@link Holdings} of one kind. */
export interface KindHoldings {
  list(scope: Scope, from: Json | null, signal: AbortSignal): AsyncIterable<HoldingPage>;
  get(ids: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
  /** Left out: its list tells all there is. */
  named?(numbers: readonly string[], signal: AbortSignal): Promise<readonly Holding[]>;
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
    named: async (kind, numbers, signal) => (await of(kind).named?.(numbers, signal)) ?? [],
    expect: (kind, items, signal) => of(kind).expect(items, signal),
  };
}

/**
 * All records of a model, {@link LOT} a page, in the order of their database ids; the position is the last one.
 * @throws SourceUnavailable
 */
export async function* pagesOf(
  { tryton }: Books,
  model: string,
  from: Json | null,
  signal: AbortSignal,
  held: (ids: readonly number[]) => Promise<readonly Holding[]>,
  domain: readonly unknown[] = [],
): AsyncGenerator<HoldingPage> {
  let last = typeof from === "number" ? from : 0;
  try {
    for (let goesOn = true; goesOn;) {
      const ids = await tryton.call<number[]>(
        `model.${model}.search`,
        [[["id", ">", last], ...domain], 0, LOT, [["id", "ASC"]]],
        { context: { active_test: false }, signal },
      );
      goesOn = ids.length === LOT;
      last = ids.at(-1) ?? last;
      yield { holdings: await held(ids), position: last, total: null, serverTime: null };
    }
  } catch (error) {
    throw unavailable(error);
  }
}

/** Database ids by one clause, inactive ones too. @throws TrytonFault */
export const idsBy = (
  { tryton }: Books,
  model: string,
  clause: readonly unknown[],
  signal: AbortSignal,
): Promise<number[]> =>
  tryton.call<number[]>(`model.${model}.search`, [[clause], 0, null, [["id", "ASC"]]], {
    context: { active_test: false },
    signal,
  });

/** Of a kind that no sink writes. */
export const notWritten =
  (message: string): KindHoldings["expect"] =>
  async (items) =>
    items.map(() => ({
      fault: {
        code: "not-written-here",
        message,
        next: "Compare it with the platform: it starts in Tryton.",
      },
    }));
