import type { Frozen, Item, Sink } from "../core/contract.ts";
import type { Engine } from "./engine.ts";

/** The bytes that go out, under the next number of the sink's sequence. Inside the transaction that stores them. */
export function numbered(
  { store }: Engine,
  sink: Sink,
  items: readonly Item[],
  alone: Frozen,
): Frozen {
  if (sink.sequence !== undefined) return sink.freeze(items, store.sequences.next(sink.sequence));
  return items.length === 1 ? alone : sink.freeze(items);
}
