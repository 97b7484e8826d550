/** What a mapping may ask for: tables, and the other side's ids as the store knows them. */
import type { References } from "../core/contract.ts";
import { referencesBy } from "../core/references.ts";
import { otherId } from "../store/links.ts";
import type { Engine, Flow } from "./engine.ts";
import { hasForgotten } from "./restored.ts";

export function referencesOf(engine: Engine, { side, flow }: Flow): References {
  const { links, incidents } = engine.store;
  const find: References["find"] = (kind, id): string | null => {
    const link = links.find(kind, side, id);
    return link === null ? null : otherId(link, side);
  };
  const wasLost = (id: string): boolean => incidents.ever(flow, id, "gone") || hasForgotten(engine);
  return { ...referencesBy(engine, find), wasLost };
}
