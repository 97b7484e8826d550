/**
 * Runs flows when they are due, one run per flow at a time. Aborting stops between two pieces of work: a page that is
 * stored, a request that is answered.
 */
import { ConfigurationError, FuelbridgeError } from "../core/errors.ts";
import { later, type Moment, reached } from "../core/moment.ts";
import type { Engine, Flow } from "./engine.ts";
import { push, recover, runFlow } from "./run.ts";
import { nextDue } from "./schedule.ts";

export interface Daemon {
  readonly flows: readonly Flow[];
  /** Until `signal` aborts and the work in hand is finished. @throws FuelbridgeError */
  run(signal: AbortSignal): Promise<void>;
  /** Runs every flow until nothing more can go now. */
  once(signal: AbortSignal): Promise<{ inStep: boolean }>;
  /** Makes a flow due at once. */
  wake(flow: string): void;
  /** Has a flow look at its pending deliveries again, without reading its source. */
  nudge(): void;
  isRunning(flow: string): boolean;
}

interface Lane {
  readonly flow: Flow;
  running: Promise<void> | null;
  /** Deliveries may have become possible: look again without pulling. */
  nudged: boolean;
  wakeAt: Moment | null;
}

/** Nothing is waited for longer than this in one go: the wall clock may jump. */
const LONGEST_PAUSE_MS = 30_000;
/** `once` waits this long for a request that has to settle; what needs longer is for the daemon. */
const ONCE_WAITS_MS = 120_000;

export function createDaemon(engine: Engine, flows: readonly Flow[]): Daemon {
  const { store, clock } = engine;
  const lanes = flows.map((flow): Lane => ({ flow, running: null, nudged: true, wakeAt: null }));
  let stir = new AbortController();
  let fatal: unknown = null;

  for (const flow of flows) {
    const open = recover(engine, flow);
    if (open > 0) engine.note("recovering", { flow: flow.name, requests: open });
  }

  const wakeUp = (): void => stir.abort();
  const dueAt = (flow: Flow): number => store.flows.find(flow.name)?.next_due_ms ?? 0;

  async function step(lane: Lane, withPull: boolean, signal: AbortSignal): Promise<number> {
    const { flow } = lane;
    lane.nudged = false;
    lane.wakeAt = null;
    try {
      const ran = withPull
        ? await runFlow(engine, flow, signal)
        : { ...(await push(engine, flow, signal)), received: 0, trouble: null };
      lane.wakeAt = ran.wakeAt;
      if (withPull) scheduleNext(flow, ran.trouble);
      // What was delivered may be what another flow waits for.
      if (ran.progress > 0) for (const other of lanes) if (other !== lane) other.nudged = true;
      return ran.progress + ran.received;
    } catch (error) {
      // A cross-reference table that is being edited: this flow waits until it can be read again.
      const waits = error instanceof ConfigurationError;
      if (error instanceof FuelbridgeError && !waits) throw error;
      const { message } = error as Error;
      const next = waits ? error.next : "This is a fault in fuelbridge or a mapping: see the log.";
      engine.note("flow failed", { flow: flow.name, error });
      scheduleNext(flow, { message, next });
      return 0;
    }
  }

  function scheduleNext(flow: Flow, trouble: { message: string; next: string } | null): void {
    const now = clock.now().wallMs;
    const due = nextDue(flow.schedule, now);
    store.transaction(() => store.flows.ran(flow.flow, now, due, trouble));
  }

  function start(lane: Lane, withPull: boolean, signal: AbortSignal): void {
    lane.running = step(lane, withPull, signal)
      .catch((error: unknown) => {
        fatal ??= error;
      })
      .then(() => {
        lane.running = null;
        wakeUp();
      });
  }

  async function run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", wakeUp, { once: true });
    while (!signal.aborted && fatal === null) {
      stir = new AbortController();
      const now = clock.now();
      let pauseMs = LONGEST_PAUSE_MS;
      for (const lane of lanes) {
        if (lane.running !== null || lane.flow.paused) continue;
        const untilDue = dueAt(lane.flow) - now.wallMs;
        if (untilDue <= 0) start(lane, true, signal);
        else if (lane.nudged || (lane.wakeAt !== null && reached(lane.wakeAt, now)))
          start(lane, false, signal);
        else {
          const wakes = lane.wakeAt === null ? pauseMs : lane.wakeAt.monoMs - now.monoMs;
          pauseMs = Math.min(pauseMs, untilDue, wakes);
        }
      }
      await clock.pause(Math.max(pauseMs, 1), stir.signal);
    }
    await Promise.all(lanes.map(({ running }) => running));
    if (fatal !== null) throw fatal;
  }

  async function once(signal: AbortSignal): Promise<{ inStep: boolean }> {
    const active = lanes.filter(({ flow }) => !flow.paused);
    const giveUp = later(clock.now(), ONCE_WAITS_MS);
    for (let withPull = true; !signal.aborted; withPull = false) {
      let progress = 0;
      for (const lane of active) progress += await step(lane, withPull, signal);
      if (progress > 0) continue;
      const wakes = active.flatMap(({ wakeAt }) => (wakeAt === null ? [] : [wakeAt.monoMs]));
      const next = Math.min(...wakes);
      if (wakes.length === 0 || next > giveUp.monoMs) break;
      await clock.pause(Math.max(next - clock.now().monoMs, 1), signal);
    }
    return {
      inStep: inStep(
        engine,
        active.map(({ flow }) => flow),
      ),
    };
  }

  return {
    flows,
    run,
    once,
    wake(name) {
      const lane = lanes.find(({ flow }) => flow.name === name);
      if (lane === undefined) return;
      store.transaction(() => store.flows.setDue(lane.flow.flow, 0));
      wakeUp();
    },
    nudge() {
      for (const lane of lanes) lane.nudged = true;
      wakeUp();
    },
    isRunning: (name) => lanes.some(({ flow, running }) => flow.name === name && running !== null),
  };
}

/** Every walk went through, and nothing is pending or under way. What waits for a person does not count. */
export function inStep({ store }: Engine, flows: readonly Flow[]): boolean {
  return flows.every((flow) => {
    const row = store.flows.find(flow.name);
    const open = store.requests.open(flow.flow).filter(({ machine }) => machine.state !== "manual");
    return (
      row?.last_run_ms != null &&
      row.last_error === null &&
      open.length === 0 &&
      !store.deliveries.counts(flow.flow).has("pending")
    );
  });
}
