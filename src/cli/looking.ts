/** Endpoints for commands that only look: nothing is made that was not there. */
import type { Governor } from "../core/budget.ts";
import type { Endpoint } from "../core/contract.ts";
import type { Config } from "../config/config.ts";

/** Loads what speaks to endpoints only now. `governor`: admits what is asked of the platform. */
export async function openLooking(
  config: Config,
  governor: Governor,
): Promise<ReadonlyMap<string, Endpoint>> {
  const [{ openEndpoints }, { systemClock }] = await Promise.all([
    import("./endpoints.ts"),
    import("./clock.ts"),
  ]);
  const looking = { clock: systemClock(), governor, looking: true, note: () => {} };
  return openEndpoints(config, looking).endpoints;
}
