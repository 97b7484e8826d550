/** Endpoints for commands that only look: nothing is made that was not there. */
import type { Governor } from "../core/budget.ts";
import type { Endpoint, Notebook } from "../core/contract.ts";
import type { Config } from "../config/config.ts";

/**
 * Loads what speaks to endpoints only now. `governor`: admits what is asked of the platform. `kept`: what the store keeps of
 * an endpoint, by its name.
 */
export async function openLooking(
  config: Config,
  governor: Governor,
  kept: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(),
): Promise<ReadonlyMap<string, Endpoint>> {
  const [{ openEndpoints }, { systemClock }] = await Promise.all([
    import("./endpoints.ts"),
    import("./clock.ts"),
  ]);
  const notebook = (endpoint: string): Notebook => ({
    get: (name) => kept.get(endpoint)?.[name] ?? null,
    set: () => {},
  });
  const looking = { clock: systemClock(), governor, notebook, looking: true, note: () => {} };
  return openEndpoints(config, looking).endpoints;
}
