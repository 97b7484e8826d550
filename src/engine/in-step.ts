/** Are both sides in step, as far as this store knows, and if not, why: the one answer for `once`, `status` and the demo. */
import { fateOf } from "../core/obstacle.ts";
import type { Engine, Flow } from "./engine.ts";

/** One thing that keeps both sides from being in step. What waits for a person in the quarantine is not among them. */
export interface Reason {
  /** Stable: what scripts look for. */
  readonly code: ReasonCode;
  /** Null: it concerns more than one flow. */
  readonly flow: string | null;
  /** How many documents, or whatever else is counted; null: it is not counted. */
  readonly count: number | null;
  readonly message: string;
  /** What to do about it. */
  readonly next: string;
  /** A machine can do nothing about it now: somebody has paused it, or it is not due yet. */
  readonly held: boolean;
}

export type ReasonCode = "stopped" | "never-read" | "unread" | "pending" | "paused" | "waits";

/** One kind of reason, looked for in one flow. */
type Finder = (engine: Engine, flow: Flow) => Omit<Reason, "flow"> | null;

/** Whatever else keeps a flow from being in step is one more of these. */
const finders: readonly Finder[] = [unread, hindered, pending, paused, waiting];

/** Empty: in step. `stops`: those that stand, by default the store's. */
export function outOfStep(
  engine: Engine,
  flows: readonly Flow[],
  stops: readonly OpenStop[] = engine.store.journal.breakers(),
): Reason[] {
  return [
    ...stops.map((stop) => ({ ...stopped(stop), flow: null })),
    ...flows.flatMap((flow) =>
      finders.flatMap((find) => {
        const reason = find(engine, flow);
        return reason === null ? [] : [{ ...reason, flow: flow.name }];
      }),
    ),
  ];
}

export interface OpenStop {
  readonly breaker: string;
  readonly scope: string;
  readonly message: string;
  readonly next: string;
}

export const stopped = ({ breaker, scope, message, next }: OpenStop): Omit<Reason, "flow"> => ({
  code: "stopped",
  count: null,
  message: `stopped (${breaker}, ${scope}): ${message}`,
  next,
  held: false,
});

function unread({ store }: Engine, { name, paused }: Flow): ReturnType<Finder> {
  const row = store.flows.find(name);
  if (paused) return null;
  if (row === null || row.last_run_ms === null)
    return {
      code: "never-read",
      count: null,
      message: "its source was never read",
      next: "Start `fuelbridge run`, or `fuelbridge once`.",
      held: false,
    };
  if (row.last_error === null) return null;
  const { last_error: message, last_error_next: next } = row;
  return { code: "unread", count: null, message, next: next ?? "", held: false };
}

/** Something lies there and is not read (a file without rights, or a larger one than its source takes), or was refused. */
function hindered({ store }: Engine, { flow, paused }: Flow): ReturnType<Finder> {
  const [first, ...others] = paused ? [] : store.obstacles.of(flow);
  if (first === undefined) return null;
  const behind = [first, ...others].reduce((sum, { behind: { count } }) => sum + count, 0);
  const alike = others.length === 0 ? "" : `, and ${others.length} more like it`;
  const waits = behind === 0 ? "" : `; ${behind} behind it ${behind === 1 ? "waits" : "wait"}`;
  return {
    code: "unread",
    count: others.length + 1,
    message: `${first.what} ${fateOf({ ...first.fault, ...first })}: ${first.fault.message.replace(/\.$/, "")}${alike}${waits}`,
    next: first.fault.next,
    held: false,
  };
}

function pending({ store }: Engine, { flow }: Flow): ReturnType<Finder> {
  const counts = store.deliveries.counts(flow);
  const notSent = counts.get("pending") ?? 0;
  const requests = store.requests.openCount(flow);
  if (notSent + requests === 0) return null;
  const count = notSent + (counts.get("frozen") ?? 0) || requests;
  return {
    code: "pending",
    count,
    message: `${count === 1 ? "1 document is" : `${count} documents are`} not delivered yet`,
    next: "They go by themselves while `fuelbridge run` works, once nothing named here stops them.",
    held: false,
  };
}

/** How a paused flow goes on: as it was paused. What attaches to documents goes on with the flow of these. */
export function howToGoOn({ store }: Engine, { name, attachesTo }: Flow): string {
  const own = attachesTo ?? name;
  const row = store.flows.find(own);
  return row !== null && store.flows.isHeld(row.flow)
    ? `Let it go on: fuelbridge resume ${own} --note <text>.`
    : `Take paused: true from the flow ${own} in the configuration, and start fuelbridge again.`;
}

function paused(engine: Engine, flow: Flow): ReturnType<Finder> {
  if (!flow.paused) return null;
  return {
    code: "paused",
    count: null,
    message: "paused: nothing is read or sent",
    next: howToGoOn(engine, flow),
    held: true,
  };
}

function waiting({ store }: Engine, { flow }: Flow): ReturnType<Finder> {
  const waits = store.waits.ofFlow(flow);
  if (waits === null) return null;
  const { count, untilMs } = waits;
  return {
    code: "waits",
    count,
    message: `${count === 1 ? "1 document waits" : `${count} documents wait`} for payments, until ${new Date(untilMs).toISOString()} at the latest`,
    next: "Nobody need do anything: what is not paid by then is settled as one.",
    held: true,
  };
}
