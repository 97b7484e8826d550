/**
 * A store that was restored does not know what was sent after its backup. Until a person has released it, everything that
 * wants to go to the platform is looked for there, whatever its policy says, and nothing is sent; what wants to go to the
 * ERP waits whole, because what we wrote to the platform must be known as ours before.
 */
import { SourceUnavailable } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import { DAY_MS, iso } from "../core/time.ts";
import { trip } from "./breakers.ts";
import { moved } from "./deliver.ts";
import {
  endpointOf,
  type Engine,
  type Flow,
  inRecovery,
  referencesOf,
  RESTORED,
} from "./engine.ts";
import { PendingDocument } from "./lifecycle.ts";

/**
 * Before the first flow of a store that has delivered nothing yet: does the platform know this company? Then the store
 * may stand in for one that was lost, which only the configuration can deny. Null when all is known, else why the
 * platform could not be asked.
 */
export async function acquaint(
  engine: Engine,
  signal: AbortSignal,
): Promise<SourceUnavailable | null> {
  const { store, clock, knowsUs = async () => null } = engine;
  const isStopped = inRecovery(engine);
  if (isStopped ? !isUnfounded(engine) : hasHistory(engine)) return null;
  const lift = (because: string): void => {
    if (!isStopped) return;
    store.transaction(() => store.journal.release(RESTORED, because, clock.now().wallMs));
  };
  if (isFirstStart(engine)) {
    lift("firstStart in the configuration");
    return null;
  }
  try {
    const what = await knowsUs(signal);
    if (what === null) {
      lift("nothing was ever sent from here, and the platform knows nothing of this company");
      return null;
    }
    store.transaction(() =>
      trip(engine, {
        breaker: RESTORED,
        scope: "everything that is sent",
        detail: `this store is new, but the platform already has ${what} of this company: was the store lost? It reads and looks, and sends nothing`,
        next: `If fuelbridge has never worked for this company: set firstStart: ${dayNow(engine)} in the configuration and start it again. If its store was lost: put its backup back. Without one, put exports back to be read again, have every flow run, look at the quarantine, then \`fuelbridge release restored\`.`,
      }),
    );
    return null;
  } catch (error) {
    if (error instanceof SourceUnavailable) return error;
    throw error;
  }
}

/**
 * The stop of a store that never sent anything and has no mark that says otherwise: it was made by
 * {@link acquaint}.
 */
const isUnfounded = ({ store }: Engine): boolean => store.restored() === null && !store.everSent();

/** It has sent something, is linked with something, or a person has released it before. */
const hasHistory = ({ store }: Engine): boolean =>
  store.requests.hasWorked() || store.journal.releasedAt(RESTORED) !== null;

/** The day that was named, give or take one: a first start may last over midnight. */
function isFirstStart(engine: Engine): boolean {
  const { firstStart = null } = engine;
  return (
    firstStart !== null && [-DAY_MS, 0, DAY_MS].some((ms) => dayNow(engine, ms) === firstStart)
  );
}

const dayNow = ({ clock, dayOf }: Engine, moreMs = 0): string =>
  dayOf(new Date(clock.now().wallMs + moreMs).toISOString());

/** Which flows have not read everything since the store was restored, so that nobody can release it yet. */
export function unread(engine: Engine): string[] {
  const stop = engine.store.journal.breakers().find(({ breaker }) => breaker === RESTORED);
  if (stop === undefined) return [];
  return engine.flows
    .filter(({ name, paused }) => {
      const row = engine.store.flows.find(name);
      if (paused) return false;
      return row === null || row.last_error !== null || (row.last_run_ms ?? 0) < stop.sinceMs;
    })
    .map(({ name }) => name);
}

/** What was not looked for by then is looked for first, whatever its policy says. */
function lookStill(engine: Engine, flow: Flow): void {
  const { store, clock } = engine;
  for (const request of store.requests.open(flow.flow)) {
    if (request.machine.state !== "ready" || request.machine.preflighted) continue;
    const event = { type: "preflight", at: clock.now() } as const;
    moved(engine, flow, request, event, "not looked for before the store was released");
  }
}

/**
 * A person has seen to it. Inside the transaction that drops the stop. What receivers cannot be asked for, and is as
 * old as what the store had sent, may have been delivered: it waits for a person.
 */
export function released(engine: Engine, breaker: string): void {
  if (breaker !== RESTORED) return;
  const { store, clock } = engine;
  const at = clock.now().wallMs;
  // What was sent was sent before now, whatever the clock showed then.
  const until = Math.min(Date.parse(store.sentUntil() ?? iso(at)), at);
  store.flows.doubt(at);
  for (const flow of engine.flows) lookStill(engine, flow);
  for (const flow of engine.flows) if (flow.sink.forgets === true) doubt(engine, flow, until, at);
  store.acknowledge(at);
}

/** `until`: when sending had got as far as it did, ms UTC. */
function doubt(engine: Engine, flow: Flow, until: number, at: number): void {
  const { causes, deliveries } = engine.store;
  const fault: Fault = {
    code: "maybe-delivered",
    message: `it may have been delivered before the store was restored, and "${endpointOf(flow.to)}" cannot be asked`,
    next: "Look for it there: close it when it is there, retry it when it is not.",
  };
  const isNew = (version: string | null): boolean => Date.parse(version ?? "") > until;
  // What waits for another document would go by itself.
  for (const { delivery, version } of causes.waiting(flow.flow))
    if (!isNew(version)) causes.add(delivery, fault, at);
  for (let after: number | undefined = 0; after !== undefined;) {
    const some = deliveries.pending(flow.flow, after, 200);
    after = some.at(-1)?.delivery;
    for (const one of some.filter(({ version }) => !isNew(version))) {
      const document = new PendingDocument(engine, flow, one, referencesOf(engine, flow));
      deliveries.quarantine(one.delivery, { number: document.knownNumber, fault }, at);
    }
  }
}
