/**
 * Breakers pause work and harm nothing: no request changes, no attempt counts. All but three try
 * again by themselves; a second writer, a doubled document and a restored store wait for a person.
 */
import { monthAt } from "../core/budget.ts";
import type { Breaker } from "../core/outcome.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";

interface Habit {
  /** How long until one try is made all the same, unless we were told; null: a person must clear it. */
  readonly retryMs: number | null;
  /** Said where whoever answered advises nothing: of any endpoint. `scope`: what is stopped. */
  readonly next: (scope: string) => string;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const habits: Readonly<Record<string, Habit>> = {
  credentials: {
    retryMs: 5 * MINUTE,
    next: (scope) =>
      `Check the credentials of "${scope}" in the configuration; they are tried again every 5 minutes.`,
  },
  scope: {
    retryMs: 15 * MINUTE,
    next: (scope) =>
      `Give fuelbridge the right at "${scope}" that the message names; it is tried again every 15 minutes.`,
  },
  version: {
    retryMs: 15 * MINUTE,
    next: (scope) =>
      `"${scope}" does not take requests of this version any more: update fuelbridge. It is tried again every 15 minutes.`,
  },
  quota: {
    retryMs: 6 * 60 * MINUTE,
    next: (scope) =>
      `What "${scope}" allows is used up; work goes on by itself when it allows more. At once: \`fuelbridge release quota\`.`,
  },
  configuration: {
    retryMs: 15 * MINUTE,
    next: (scope) =>
      `Check the address of "${scope}" in the configuration: something else answered; it is tried again every 15 minutes.`,
  },
  protocol: {
    retryMs: 15 * MINUTE,
    next: () => "This is a fault in fuelbridge: please report it.",
  },
  receiver: {
    retryMs: MINUTE,
    next: () => "See what its message says about the receiver; it is tried again every minute.",
  },
  "split-brain": {
    retryMs: null,
    next: () =>
      "Somebody else sends for this company, or a device on the way sends every request twice: find it, then `fuelbridge release split-brain`.",
  },
  doubled: {
    retryMs: null,
    next: (scope) =>
      `"${scope}" holds this document twice: have one removed, then \`fuelbridge release doubled\`.`,
  },
  restored: {
    retryMs: null,
    next: () =>
      "Put exports that were read since the backup back to be read again, have every flow run, look at the quarantine, then `fuelbridge release restored`.",
  },
  endless: {
    retryMs: DAY,
    next: (scope) =>
      `Report it to whoever looks after "${scope}". It is tried again by itself, ever more seldom; at once: \`fuelbridge release endless\`.`,
  },
  emptied: {
    retryMs: 15 * MINUTE,
    next: () =>
      "Is it the right company or database, and may its user still read them? It goes on by itself once they are there. If its books are rightly without them: `fuelbridge release emptied`; they are then in the quarantine.",
  },
} satisfies Record<Breaker | "doubled" | "restored" | "emptied" | "endless", Habit>;

export interface Trip {
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
  const isTold = engine.store.journal
    .breakers()
    .some((one) => one.breaker === breaker && one.scope === scope && (one.retryMs ?? now) > now);
  const habit = habits[breaker] ?? { retryMs: 5 * MINUTE, next: () => "See the log." };
  const retryMs =
    habit.retryMs === null
      ? null
      : Math.min(now + (waitMs ?? habit.retryMs), latestRetry(breaker, now));
  const advice = next ?? habit.next(scope);
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
  engine.note("stopped", { breaker, scope, detail, next: advice });
}

/** No stop that is tried again by itself waits longer, whoever told it to: ms UTC. */
function latestRetry(breaker: string, nowMs: number): number {
  return breaker === "quota" ? monthAt(nowMs).endMs + DAY : nowMs + (longest[breaker] ?? DAY);
}

const longest: Readonly<Record<string, number>> = { endless: 7 * DAY };

/**
 * At start, and after the wall clock was set: a stop that began in the future, or that is to be tried later than any
 * is, was made by a clock that was ahead. It began now, and is tried now.
 */
export function redateStops({ store, clock }: Engine): void {
  const { wallMs } = clock.now();
  const wrong = store.journal
    .breakers()
    .filter(
      ({ breaker, sinceMs, retryMs }) =>
        sinceMs > wallMs || (retryMs ?? 0) > latestRetry(breaker, wallMs),
    );
  if (wrong.length === 0) return;
  store.transaction(() => {
    for (const one of wrong) store.journal.redate(one, wallMs);
  });
}

/** What stops work in any of these scopes now; null when nothing does. */
export function blocked(
  engine: Engine,
  scopes: readonly string[],
): { code: string; message: string; next: string; untilMs: number | null } | null {
  const now = engine.clock.now().wallMs;
  for (const row of engine.store.journal.breakers()) {
    const waits = row.retryMs === null || row.retryMs > now;
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
      breaker === ("emptied" satisfies keyof typeof habits) || (retryMs ?? 0) > now;
    if (all.some(isTried) || flows.some((flow) => wouldTry(engine, flow, scope))) continue;
    const detail = `${scope}: nothing is left that it holds up (${all.map(({ message }) => message).join("; ")})`;
    store.transaction(() => {
      store.journal.clear(scope);
      store.journal.audit(now, { event: "stop over", detail });
    });
    note("going on", { scope });
  }
}

function wouldTry({ store }: Engine, { flow, from, to, sink }: Flow, scope: string): boolean {
  if (from === scope || endpointOf(from) === scope) return true;
  if (endpointOf(to) !== scope && sink.operation !== scope) return false;
  const pending = store.deliveries.counts(flow).get("pending") ?? 0;
  return pending > 0 || store.requests.openCount(flow) > 0;
}

export function clearBreakers(engine: Engine, scopes: readonly string[]): void {
  if (engine.store.journal.breakers().length === 0) return;
  engine.store.transaction(() => {
    for (const scope of scopes)
      if (engine.store.journal.clear(scope)) engine.note("going on", { scope });
  });
}
