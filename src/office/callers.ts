/** Endpoints that call us: when each was here, what waits for its next call, and what of the rest is then no trouble. */
import type { Endpoint } from "../core/contract.ts";
import { endpointOf } from "../engine/engine.ts";
import type { Caller, FlowStatus, Stop } from "./office.ts";

/** @param flows of all endpoints */
export function callersOf(
  endpoints: ReadonlyMap<string, Pick<Endpoint, "presence">>,
  flows: readonly Pick<FlowStatus, "to" | "pending">[],
): Caller[] {
  return [...endpoints].flatMap(([endpoint, { presence }]) => {
    if (presence === undefined) return [];
    const waiting = flows
      .filter(({ to }) => endpointOf(to) === endpoint)
      .reduce((sum, { pending }) => sum + pending, 0);
    return [{ endpoint, waiting, ...presence() }];
  });
}

/** Between two of its calls: not here, as usual, and not silent for too long. */
export const awaited = (callers: readonly Caller[]): ReadonlySet<string> =>
  new Set(
    callers.flatMap(({ endpoint, isAwaited, silence }) =>
      isAwaited && silence === null ? [endpoint] : [],
    ),
  );

/** That nobody is there between two calls stops nothing that would go otherwise. */
export function stopsBeside(callers: readonly Caller[], stops: readonly Stop[]): Stop[] {
  const usual = awaited(callers);
  return stops.filter(({ breaker, scope }) => breaker !== "receiver" || !usual.has(scope));
}

/** The same for what is read from them. */
export function flowsBeside(
  callers: readonly Caller[],
  flows: readonly FlowStatus[],
): FlowStatus[] {
  const usual = awaited(callers);
  return flows.map((flow) =>
    flow.lastError?.code === "unavailable" && usual.has(endpointOf(flow.from))
      ? { ...flow, lastError: null, failingSince: null, state: "idle" }
      : flow,
  );
}
