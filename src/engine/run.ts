/** One run of a flow: pull, then map, freeze and deliver until nothing is left that can go now. */
import { setImmediate } from "node:timers/promises";
import { later, type Moment } from "../core/moment.ts";
import { settleAcknowledgements } from "./acknowledged.ts";
import { deliver, moved } from "./deliver.ts";
import { delivering, type Engine, type Flow } from "./engine.ts";
import { freezeNext } from "./freeze.ts";
import { pull, type Trouble } from "./pull.ts";
import { nextRevisit, revisit } from "./waits.ts";

export interface Ran {
  readonly trouble: Trouble | null;
  readonly received: number;
  /** What its source came to; null: it was not read to its end. */
  readonly pages: number | null;
  /** Deliveries that left the pending state, and steps of requests. */
  readonly progress: number;
  readonly wakeAt: Moment | null;
  /** When the source said to come back, ms; null when it did not. */
  readonly waitMs: number | null;
}

export async function runFlow(engine: Engine, flow: Flow, signal: AbortSignal): Promise<Ran> {
  const pulled = await pull(engine, flow, signal);
  const pushed = await push(engine, flow, signal);
  return { ...pulled, ...pushed };
}

/**
 * No more is frozen ahead than this. What is pending is replaced by its next version; what is frozen is sent as it is.
 * Where requests carry many documents they share an ordering key, and the next one is made when the last is settled.
 */
const OPEN_MAX = 1_000;

/** Everything after the pull. */
export async function push(
  engine: Engine,
  flow: Flow,
  signal: AbortSignal,
): Promise<Pick<Ran, "progress" | "wakeAt">> {
  const openMax = flow.sink.itemsMax > 1 ? 1 : OPEN_MAX;
  let progress = 0;
  revisit(engine, flow);
  progress += settleLate(engine, flow);
  let delivered = await deliver(engine, flow, signal);
  progress += delivered.steps;
  let after = 0;
  while (!signal.aborted && delivered.open < openMax) {
    const round = freezeNext(engine, flow, after);
    if (round === null) break;
    progress += round.frozen + round.settled;
    engine.progress?.(delivering(flow.name));
    if (round.frozen > 0) {
      delivered = await deliver(engine, flow, signal);
      progress += delivered.steps;
      // Of 200,000 that are all refused or skipped there is nothing to wait for, and others have their turn.
    } else await setImmediate();
    // What was left is looked at again at once when it can have become possible.
    if (round.left === 0 || delivered.open > 0 || round.frozen + round.settled === 0)
      after = round.last;
  }
  const wakeAt = sooner(delivered.wakeAt, nextRevisit(engine, flow));
  return { progress, wakeAt: sooner(wakeAt, nextLate(engine, flow)) };
}

/** Acknowledgements that are late by now. */
function settleLate(engine: Engine, flow: Flow): number {
  const { store, clock } = engine;
  const at = clock.now().wallMs;
  if (store.acknowledgements.open(flow.flow, at).length === 0) return 0;
  return store.transaction(() => settleAcknowledgements(engine, flow, at));
}

const LATE_AGAIN_MS = 60_000;

/** When the next acknowledgement is late; null: none is awaited. */
function nextLate({ store, clock }: Engine, flow: Flow): Moment | null {
  const next = store.acknowledgements.nextDueMs(flow.flow);
  const now = clock.now();
  // One that is late already waits for what is on its way of the same record.
  return next === null ? null : later(now, Math.max(next - now.wallMs, LATE_AGAIN_MS));
}

const sooner = (one: Moment | null, other: Moment | null): Moment | null =>
  one !== null && (other === null || one.monoMs < other.monoMs) ? one : other;

/** At start: whatever was under way when the last process ended is of unknown outcome. */
export function recover(engine: Engine, flow: Flow): number {
  const { store, clock } = engine;
  return store.transaction(() => {
    const open = store.requests.open(flow.flow).filter(({ machine }) => machine.state !== "manual");
    for (const request of open)
      moved(engine, flow, request, { type: "restart", at: clock.now() }, request.machine.state);
    return open.length;
  });
}
