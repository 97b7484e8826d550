/**
 * First sends that were answered as repetitions. The receiver compares the bytes of a key, so a replay is an answer to
 * our own bytes: the request is done. A network that delivers a request twice does that now and then; when it happens
 * again and again, somebody else sends for this company.
 */
import type { Raise } from "../core/request.ts";
import { trip } from "./breakers.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";

/** So many replays of first sends within {@link WITHIN_MS} are a stop, and no chance of the network. */
const REPLAYS_MAX = 3;
const WITHIN_MS = 24 * 3_600_000;
const SPLIT_BRAIN = "split-brain";

/** Audits and logs the warning; the third replay stops the endpoint. Call it inside the transaction of the answer. */
export function warned(
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
  const since = Math.max(at - WITHIN_MS, journal.releasedAt(SPLIT_BRAIN) ?? 0);
  const count = journal.replaysSince(since);
  if (count < REPLAYS_MAX) return;
  const many = `${count} first sends within 24 hours were answered as repetitions, the last one: ${detail}`;
  trip(engine, { breaker: SPLIT_BRAIN, scope, detail: many });
}
