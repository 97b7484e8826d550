/** One run of a flow: pull, then map, freeze and deliver until nothing is left that can go now. */
import type { Moment } from "../core/moment.ts";
import { deliver, moved } from "./deliver.ts";
import type { Engine, Flow } from "./engine.ts";
import { freezeLot } from "./freeze.ts";
import { pull } from "./pull.ts";

export interface Ran {
  readonly trouble: { readonly message: string; readonly next: string } | null;
  readonly received: number;
  /** Deliveries that left the pending state, and steps of requests. */
  readonly progress: number;
  readonly wakeAt: Moment | null;
}

export async function runFlow(engine: Engine, flow: Flow, signal: AbortSignal): Promise<Ran> {
  const pulled = await pull(engine, flow, signal);
  const pushed = await push(engine, flow, signal);
  return { ...pushed, received: pulled.received, trouble: pulled.trouble };
}

/** Everything after the pull. */
export async function push(
  engine: Engine,
  flow: Flow,
  signal: AbortSignal,
): Promise<Pick<Ran, "progress" | "wakeAt">> {
  let progress = 0;
  let delivered = await deliver(engine, flow, signal);
  progress += delivered.steps;
  let after = 0;
  while (!signal.aborted) {
    const lot = freezeLot(engine, flow, after);
    if (lot === null) break;
    after = lot.last;
    progress += lot.frozen + lot.settled;
    engine.progress?.(flow.name);
    if (lot.frozen === 0) continue;
    delivered = await deliver(engine, flow, signal);
    progress += delivered.steps;
  }
  return { progress, wakeAt: delivered.wakeAt };
}

/** At start: whatever was under way when the last process ended is of unknown outcome (reliability K11). */
export function recover(engine: Engine, flow: Flow): number {
  const { store, clock } = engine;
  return store.transaction(() => {
    const open = store.requests.open(flow.flow);
    for (const request of open)
      moved(engine, flow, request, { type: "restart", at: clock.now() }, request.machine.state);
    return open.length;
  });
}
