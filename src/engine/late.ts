/**
 * What has not gone on for too long, and why: the one answer for `status`, the page Today, alerts and metrics. A document is
 * late when it is on its way for longer than its flow's interval and the settling of its receiver.
 */
import { parseExact } from "../core/json.ts";
import { OLDEST, type Unended } from "../store/requests.ts";
import type { Store } from "../store/store.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";
import { howToGoOn, type OpenStop, stopped } from "./in-step.ts";
import { RESTORED } from "./restored.ts";
import { nextDue } from "./schedule.ts";

/** `queue`: others go out before it. `turn`: nothing does, and no stop says why. `waits`: for another document. */
export const lateCodes = [
  "stopped",
  "paused",
  "unknown",
  "put-off",
  "held",
  "queue",
  "turn",
  "waits",
] as const;
export type LateCode = (typeof lateCodes)[number];

/** Documents of one flow that stand still for one reason. */
export interface Late {
  readonly code: LateCode;
  readonly count: number;
  /** Of the oldest, ms UTC. */
  readonly sinceMs: number;
  /** Why, and what it waits for: of the oldest. */
  readonly message: string;
  readonly next: string;
  /** It is told already, as a stop or a pause is; or others of the flow go out, and its turn comes. */
  readonly expected: boolean;
}

export interface Asking {
  /** Those that stand. */
  readonly stops: readonly OpenStop[];
  /** Endpoints that call us, are not here, and need not be: what waits for their next call is not late. */
  readonly away: ReadonlySet<string>;
  /** Does a daemon work on the store? */
  readonly works: boolean;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Nothing is late sooner: a run takes its time. */
const LEAST_MS = 5 * MINUTE;
/** A receiver may put off what it is given for so long before that is told. */
const PUT_OFF_MS = HOUR;
/** A flow that sent something within this time goes on. */
const MOVES_MS = 15 * MINUTE;

/** A calendar's next two times take long to find where they are rare: they are found once an hour. */
const patience = new WeakMap<Flow, { readonly hour: number; readonly ms: number }>();

/** How long what is on its way in this flow may take before it is late, ms. */
export function patienceOf(engine: Pick<Engine, "clock" | "stretch">, flow: Flow): number {
  const now = engine.clock.now().wallMs;
  const hour = Math.floor(now / HOUR);
  const known = patience.get(flow);
  if (known?.hour === hour) return known.ms;
  const ms = reckoned(engine, flow, now);
  patience.set(flow, { hour, ms });
  return ms;
}

function reckoned({ stretch: slowed }: Pick<Engine, "stretch">, flow: Flow, now: number): number {
  const { schedule, sink, side, name } = flow;
  const { settleMs, reads, readGapMs } = sink.policy;
  const stretch = side === "platform" ? (slowed?.(name) ?? 1) : 1;
  const due = nextDue(schedule, now, stretch);
  const everyMs = nextDue(schedule, due, stretch) - due;
  return Math.max(everyMs + settleMs + (reads - 1) * readGapMs, LEAST_MS);
}

/** When a request of a flow last ended, in this process. */
const ended = new WeakMap<Store, Map<number, number>>();

/** A request of the flow has ended. */
export function moves({ store, clock }: Engine, { flow }: Flow): void {
  const known = ended.get(store) ?? new Map<number, number>();
  ended.set(store, known.set(flow, clock.now().wallMs));
}

/** One per reason. Only what is on its way: what is in the quarantine is told there. */
export function lateOf(engine: Engine, flow: Flow, asking: Asking): Late[] {
  const { store, clock } = engine;
  const counts = store.deliveries.counts(flow.flow);
  const isEmpty = (counts.get("pending") ?? 0) + (counts.get("frozen") ?? 0) === 0;
  if (isEmpty || asking.away.has(endpointOf(flow.to))) return [];
  const now = clock.now().wallMs;
  const before = now - patienceOf(engine, flow);
  const why = whole(engine, flow, asking);
  const requests = store.underWay
    .unended(flow.flow, Math.max(before, now - PUT_OFF_MS))
    .map((one) => ({ ...ofRequest(one), sinceMs: one.sinceMs, count: one.documents }))
    .filter(({ code, sinceMs }) =>
      code === "put-off" && why === null ? sinceMs <= now - PUT_OFF_MS : sinceMs <= before,
    );
  // Where requests share an ordering key, what is behind one waits for it.
  const [first] = flow.sink.itemsMax > 1 ? requests : [];
  const pending = store.underWay.unmapped(flow.flow, before).map(({ text, sinceMs }, at) => ({
    ...(first ?? (at < NAMED ? ofPending(engine, flow, text) : TURN)),
    sinceMs,
    count: 1,
  }));
  // Those behind the oldest are not asked about one by one.
  const behind = pending.length < OLDEST ? 0 : (counts.get("pending") ?? 0) - OLDEST;
  const last = pending.at(-1);
  const all = [
    ...requests,
    ...pending,
    ...(behind > 0 && last !== undefined ? [{ ...last, count: behind }] : []),
  ];
  if (why !== null && all.length > 0) return [summed(all.map((one) => ({ ...one, ...why })))];
  const isMoving = now - (ended.get(store)?.get(flow.flow) ?? -Infinity) < MOVES_MS;
  return [...Map.groupBy(all, ({ code }) => code).values()].map((alike) => {
    const late = summed(alike);
    return late.code === "turn" ? turn(late, isMoving, asking.works) : late;
  });
}

/** So many of those that are pending are asked one by one why. */
const NAMED = 20;

type Reason = Pick<Late, "code" | "message" | "next" | "expected">;

const TURN: Reason = { code: "turn", message: "", next: "", expected: false };

/** What keeps all of the flow. */
function whole(engine: Engine, flow: Flow, { stops }: Asking): Reason | null {
  if (flow.paused)
    return {
      code: "paused",
      message: "the flow is paused",
      next: howToGoOn(engine, flow),
      expected: true,
    };
  const scopes = [endpointOf(flow.to), flow.sink.operation];
  const stop = stops.find(({ breaker, scope }) => breaker === RESTORED || scopes.includes(scope));
  if (stop === undefined) return null;
  const { message, next } = stopped(stop);
  return { code: "stopped", message, next, expected: true };
}

function ofRequest({ state, said }: Unended): Reason {
  if (state === "unknown" || state === "sending")
    return {
      code: "unknown",
      message: `it was sent, and nobody knows yet whether it arrived: ${said ?? "no answer came"}`,
      next: "It is looked for by itself and never sent again unread. If this stays, see why the receiver cannot be read.",
      expected: false,
    };
  if (said === null) return TURN;
  return {
    code: "put-off",
    message: `it is tried again and again, and the receiver puts it off: ${said}`,
    next: "Do at the receiver what it says. It goes on by itself once the receiver takes it.",
    expected: false,
  };
}

/** Another document under its number may be a person's. */
function ofPending({ store }: Engine, { mapping }: Flow, text: string): Reason {
  const number = numberOf(mapping, text);
  const live = number === null ? null : store.requests.live(mapping.kind, number);
  if (live?.machine.state !== "manual") return TURN;
  return {
    code: "held",
    message: `another ${mapping.kind} ${number} waits for a person, who decides about this one, too`,
    next: `Decide about the other one first: fuelbridge trace ${number}`,
    expected: false,
  };
}

function numberOf(mapping: Flow["mapping"], text: string): string | null {
  try {
    const record = mapping.input.safeParse(parseExact(text));
    return record.success ? mapping.number(record.data) : null;
  } catch {
    // What cannot be read is judged when its turn comes.
    return null;
  }
}

function turn(late: Late, isMoving: boolean, works: boolean): Late {
  if (isMoving)
    return {
      ...late,
      code: "queue",
      message: "others of the flow go out before it: its turn comes",
      next: "Nobody need do anything while they go out.",
      expected: true,
    };
  return works
    ? {
        ...late,
        message: "nothing of the flow went out for a quarter of an hour, and no stop says why",
        next: "Look at the log. `fuelbridge now` has the flow try at once; if it stays so, report it.",
      }
    : {
        ...late,
        message: "the daemon does not run",
        next: "Start it with `fuelbridge run`.",
      };
}

function summed(alike: readonly (Reason & { sinceMs: number; count: number })[]): Late {
  const oldest = alike.reduce((one, other) => (other.sinceMs < one.sinceMs ? other : one));
  return { ...oldest, count: alike.reduce((sum, { count }) => sum + count, 0) };
}
