/**
 * Breakers pause work and harm nothing: no request changes, no attempt counts. All but three try
 * again by themselves; a second writer, a doubled document and a restored store wait for a person.
 */
import { monthAt } from "../core/budget.ts";
import { iso, JUMP_MS, jumpBetween, type Moment } from "../core/time.ts";
import type { Breaker, Policy } from "../core/outcome.ts";
import type { Raise } from "../core/request.ts";
import { askedFor, endpointOf, type Engine, type Flow, inRecovery } from "./engine.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

type Stop = Breaker | "doubled" | "restored" | "emptied" | "endless";

/** How long until one try is made all the same, at most, unless we were told; null: a person must clear it. */
const RETRIES_MS: Readonly<Record<Stop, number | null>> = {
  credentials: 5 * MINUTE,
  scope: 15 * MINUTE,
  version: 15 * MINUTE,
  quota: 6 * 60 * MINUTE,
  configuration: 15 * MINUTE,
  protocol: 15 * MINUTE,
  receiver: MINUTE,
  "split-brain": null,
  doubled: null,
  restored: null,
  endless: DAY,
  emptied: 15 * MINUTE,
};

/**
 * What one stray answer may make, of a device on the way or in a short window that was announced (specification part 9): it is
 * tried again after a minute, and then after as long as it has lasted.
 */
const GROWING: ReadonlySet<string> = new Set(["version", "configuration"] satisfies Stop[]);

/** It says that nothing can be written there; what is read there tells by itself whether it can be read. */
const RECEIVER: Stop = "receiver";

/** Said where whoever answered advises nothing: of any endpoint. `{scope}`: what is stopped. */
const ADVICE: Readonly<Record<Stop, string>> = {
  credentials: "Check the credentials of {scope} in the configuration.",
  scope: "Give fuelbridge the right at {scope} that the message names.",
  version: "{scope} does not take requests of this version any more: update fuelbridge.",
  quota:
    "What {scope} allows is used up; work goes on by itself when it allows more. At once: `fuelbridge release quota`.",
  configuration: "Check the address of {scope} in the configuration: something else answered.",
  protocol: "This is a fault in fuelbridge: please report it.",
  receiver: "See what its message says about the receiver.",
  "split-brain":
    "Somebody else sends for this company, or a device on the way sends every request twice: find it, then `fuelbridge release split-brain`.",
  doubled:
    "{scope} holds this document twice: have one removed, then `fuelbridge release doubled`.",
  restored:
    "Put exports that were read since the backup back to be read again, have every flow run, look at the quarantine, then `fuelbridge release restored`.",
  endless:
    "Report it to whoever looks after {scope}. It is tried again by itself, ever more seldom; at once: `fuelbridge release endless`.",
  emptied:
    "Is it the right company or database, and may its user still read them? It goes on by itself once they are there. If its books are rightly without them: `fuelbridge release emptied`; they are then in the quarantine.",
};

interface Trip {
  readonly breaker: string;
  readonly scope: string;
  readonly detail: string;
  readonly waitMs?: number | null;
  readonly next?: string;
}

/**
 * Call it inside the transaction of what tripped it, where there is one. What is sent at once meets the same stop: it is told
 * once until it is tried again. One that only a person clears is told each time.
 */
export function trip(engine: Engine, { breaker, scope, detail, waitMs, next }: Trip): void {
  const now = engine.clock.now().wallMs;
  const before = engine.store.journal
    .breakers()
    .find((one) => one.breaker === breaker && one.scope === scope);
  const isTold = before !== undefined && (before.retryMs ?? now) > now;
  const isKnown = Object.hasOwn(RETRIES_MS, breaker);
  const mostMs = isKnown ? RETRIES_MS[breaker as Stop] : 5 * MINUTE;
  const lastedMs = Math.max(now - (before?.sinceMs ?? now), MINUTE);
  const ownMs = mostMs !== null && GROWING.has(breaker) ? Math.min(lastedMs, mostMs) : mostMs;
  const retryMs =
    ownMs === null ? null : Math.min(now + (waitMs ?? ownMs), latestRetry(breaker, now));
  const usual = isKnown ? ADVICE[breaker as Stop] : "See the log.";
  const advice = next ?? usual.replace("{scope}", () => `"${scope}"`);
  engine.store.journal.trip({
    breaker,
    scope,
    sinceMs: now,
    retryMs,
    message: detail,
    next: advice,
  });
  if (isTold) return;
  engine.store.journal.audit(now, { event: `stopped: ${breaker}`, detail: `${scope}: ${detail}` });
  const retryAt = retryMs === null ? null : iso(retryMs);
  engine.note("stopped", { breaker, scope, detail, next: advice, retryAt });
}

/** No stop that is tried again by itself waits longer, whoever told it to: ms UTC. */
function latestRetry(breaker: string, nowMs: number): number {
  return breaker === "quota" ? monthAt(nowMs).endMs + DAY : nowMs + (longest[breaker] ?? DAY);
}

const longest: Readonly<Record<string, number>> = { endless: 7 * DAY };

/**
 * At start, and after the wall clock was set. What began in the future, or is to end later than any does, was written down by a
 * clock that was ahead: a stop began now and is tried now, and what waits begins to wait now.
 */
function redate({ store, clock, flows }: Engine): void {
  const { wallMs } = clock.now();
  const wrong = store.journal
    .breakers()
    .filter(
      ({ breaker, sinceMs, retryMs }) =>
        sinceMs > wallMs || (retryMs ?? 0) > latestRetry(breaker, wallMs),
    );
  store.transaction(() => {
    for (const one of wrong) store.journal.redate(one, wallMs);
    store.waits.redate(wallMs);
    for (const { flow, sink } of flows) {
      const withinMs = sink.acknowledged?.withinMs ?? null;
      if (withinMs !== null) store.acknowledgements.redate(flow, wallMs + withinMs);
    }
  });
}

/** What stops work in any of these scopes now; null when nothing does. `reads`: something is to be read, and nothing written. */
export function blocked(
  engine: Engine,
  scopes: readonly string[],
  reads = false,
): { code: string; message: string; next: string; untilMs: number | null } | null {
  const now = engine.clock.now().wallMs;
  for (const row of engine.store.journal.breakers()) {
    const waits = row.retryMs === null || row.retryMs > now;
    if (reads && row.breaker === RECEIVER) continue;
    if (waits && scopes.includes(row.scope))
      return {
        code: row.breaker,
        message: `${row.breaker}: ${row.message}`,
        next: row.next,
        untilMs: row.retryMs,
      };
  }
  return null;
}

/** What stops a flow's reading now. */
export const unreadBy = (engine: Engine, flow: Flow): ReturnType<typeof blocked> =>
  blocked(engine, [askedFor(flow), flow.from], true);

/**
 * A stop that is due to be tried again, and that nothing would try, is over: what it held up was settled otherwise, or its
 * flow is not configured any more. Whatever meets the same later stops anew.
 */
export function endIdleStops(engine: Engine): void {
  const { store, clock, flows, note } = engine;
  const now = clock.now().wallMs;
  const stops = store.journal.breakers().filter(({ retryMs }) => retryMs !== null);
  for (const [scope, all] of Map.groupBy(stops, (stop) => stop.scope)) {
    const isTried = ({ breaker, retryMs }: (typeof all)[number]): boolean =>
      // It is inspection that tries it.
      breaker === ("emptied" satisfies Stop) || (retryMs ?? 0) > now;
    const isOpen = (stop: (typeof all)[number]): boolean =>
      isTried(stop) || flows.some((flow) => wouldTry(engine, flow, stop));
    if (all.some(isOpen)) continue;
    const detail = `${scope}: nothing is left that it holds up (${all.map(({ message }) => message).join("; ")})`;
    store.transaction(() => {
      store.journal.clear(scope);
      store.journal.audit(now, { event: "stop over", detail });
    });
    note("going on", { scope });
  }
}

function wouldTry(
  { store }: Engine,
  { flow, from, to, sink }: Flow,
  { breaker, scope }: { readonly breaker: string; readonly scope: string },
): boolean {
  if (breaker !== RECEIVER && (from === scope || endpointOf(from) === scope)) return true;
  if (endpointOf(to) !== scope && sink.operation !== scope) return false;
  const pending = store.deliveries.counts(flow).get("pending") ?? 0;
  return pending > 0 || store.requests.openCount(flow) > 0;
}

/** Work in these scopes went well. `reads`: it has read, and says nothing of what is written there. */
export function clearBreakers(engine: Engine, scopes: readonly string[], reads = false): void {
  if (engine.store.journal.breakers().length === 0) return;
  engine.store.transaction(() => {
    for (const scope of scopes)
      if (engine.store.journal.clear(scope, reads ? RECEIVER : ""))
        engine.note("going on", { scope });
  });
}

// First sends that were answered as repetitions. The receiver compares the bytes of a key, so a replay is an answer to
// our own bytes: the request is done. A network that delivers a request twice does that now and then; when it happens
// again and again, somebody else sends for this company.

/** So many replays of first sends within {@link REPLAYS_WITHIN_MS} are a stop, and no chance of the network. */
const REPLAYS_MAX = 3;
const REPLAYS_WITHIN_MS = 24 * 3_600_000;
const SPLIT_BRAIN = "split-brain";

/** Audits and logs the warning; the third replay stops the endpoint. Call it inside the transaction of the answer. */
export function takeReplay(
  engine: Engine,
  flow: Flow,
  request: number,
  { warning, detail }: Extract<Raise, { warning: unknown }>,
): void {
  const { journal } = engine.store;
  const at = engine.clock.now().wallMs;
  const scope = endpointOf(flow.to);
  const told = `the first send was answered as a repetition: ${detail}`;
  journal.audit(at, { flow: flow.flow, request, event: `warning: ${warning}`, detail: told });
  engine.note(`answered as ${warning}`, { flow: flow.name, request, detail });
  if (warning !== "replayed") return;
  journal.replayed(at, request);
  // What happened before a person released the stop has been looked at.
  const since = Math.max(at - REPLAYS_WITHIN_MS, journal.releasedAt(SPLIT_BRAIN) ?? 0);
  const count = journal.replaysSince(since);
  if (count < REPLAYS_MAX) return;
  const many = `${count} first sends within 24 hours were answered as repetitions, the last one: ${detail}`;
  trip(engine, { breaker: SPLIT_BRAIN, scope, detail: many });
}

/** What goes to the ERP is judged, for it may turn out to be ours, and not frozen. */
export const mayFreeze = (engine: Engine, { side }: Flow): boolean =>
  side === "erp" || !inRecovery(engine);

export const lookFirst = (policy: Policy): Policy => ({ ...policy, preflight: true });

// The wall clock of a machine may be wrong, and be set right while the daemon runs or between two starts. It is compared
// with the monotonic clock at every look, and at start with the last time that was written down. What a clock that was
// ahead has stored lies in the future: nothing may wait until the clock gets there.

export interface Jump {
  /** When it was seen, by the clock as it is now; ISO 8601 UTC. */
  readonly at: string;
  /** How much later the wall clock shows than it would have: negative when it was set back. */
  readonly byMs: number;
}

export class ClockWatch {
  readonly #engine: Engine;
  #seen: Moment;
  #last: Jump | null = null;

  /** At start. */
  constructor(engine: Engine) {
    this.#engine = engine;
    this.#seen = engine.clock.now();
    const { wallMs } = this.#seen;
    const aheadMs = (engine.store.journal.lastAt() ?? 0) - wallMs;
    if (aheadMs >= JUMP_MS) this.#tell(-aheadMs, "it was ahead before this start");
    redate(engine);
  }

  /** The last jump since this start, or found at it. */
  get last(): Jump | null {
    return this.#last;
  }

  /** Was the wall clock set since the last look? */
  jumped(now: Moment): boolean {
    const byMs = jumpBetween(this.#seen, now);
    this.#seen = now;
    if (byMs === 0) return false;
    this.#tell(byMs, byMs < 0 ? "it was set back" : "it was set forward, or the machine slept");
    redate(this.#engine);
    return true;
  }

  #tell(byMs: number, why: string): void {
    const { store, note } = this.#engine;
    const { wallMs } = this.#seen;
    this.#last = { at: new Date(wallMs).toISOString(), byMs };
    const detail = `by ${(byMs / 1_000).toFixed(0)} s: ${why}`;
    store.transaction(() => store.journal.audit(wallMs, { event: "clock jumped", detail }));
    note("clock jumped", { byMs, detail: why });
  }
}
