/** What `fuelbridge map` asks of the store: records with what was last sent of them, and ids of the other side. */
import type { Kind } from "../core/kinds.ts";
import type { Sample } from "../store/samples.ts";
import { otherId, type Side } from "../store/links.ts";
import type { Store } from "../store/store.ts";

/** By number or id; or without, the newest ones. */
export interface Sampling {
  readonly flow: string;
  readonly text: string | null;
  /** How many at most. */
  readonly last: number;
}

export interface Counterparts {
  /** The side that asks: the one that the flow's records come from. */
  readonly side: Side;
  readonly asked: readonly { readonly kind: Kind; readonly id: string }[];
}

/** Empty where the flow has never run. */
export function samplesOf(store: Store, { flow, text, last }: Sampling): readonly Sample[] {
  const row = store.flows.find(flow);
  if (row === null || row === undefined) return [];
  return text === null ? store.samples.latest(row.flow, last) : store.samples.named(row.flow, text);
}

/** In the order they were asked; null: there is none yet. */
export const counterpartsOf = (store: Store, { side, asked }: Counterparts): (string | null)[] =>
  asked.map(({ kind, id }) => {
    const link = store.links.find(kind, side, id);
    return link === null ? null : otherId(link, side);
  });
