/** A document that was delivered and is gone at its receiver: a person decides whether it goes again (ADR 0002). */
import type { Fault } from "../core/fault.ts";
import { type Link, ownId } from "../store/links.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";
import { gone } from "./faults.ts";

/**
 * The receiver knows another document by the id of this one: this one is gone there, for a receiver that can be asked
 * gives an id to one document at a time. Inside a transaction.
 */
export function reassigned(engine: Engine, flow: Flow, before: Link): void {
  if (flow.sink.inspect !== undefined && before.born === flow.side) lost(engine, flow, before);
}

/**
 * The link is dropped, so that a retry delivers it anew. Inside a transaction. False when another version of the record
 * is on its way: that one finds out by itself. `fault`: what a person is told of it.
 */
export function lost(
  engine: Engine,
  flow: Flow,
  link: Link,
  fault: Fault = gone(endpointOf(flow.to)),
): boolean {
  const { store, clock } = engine;
  const at = clock.now().wallMs;
  const { number } = link;
  const recordId = ownId(link, flow.side);
  const last = store.disagreements.last(flow.flow, recordId);
  if (last !== null) store.disagreements.forget(last.record);
  const delivery = store.losses.lastDelivered(flow.flow, recordId);
  if (delivery === null) return false;
  store.links.drop(flow.mapping.kind, flow.side, recordId);
  store.losses.lose(delivery, number, fault, at);
  store.journal.audit(at, { flow: flow.flow, delivery, event: fault.code, detail: number });
  return true;
}
