/**
 * Documents that wait for what settles them (ADR 0010): an invoice that comes as paid is delivered and left open, so
 * that its payments arrive as themselves. Its wait is a row of the store: it ends when a send says that all is done, it
 * is due at its bound, and sooner when a payment of it was delivered. What is due is mapped, frozen and sent again.
 */
import type { Waits } from "../core/outcome.ts";
import { parseExact } from "../core/json.ts";
import { later, type Moment } from "../core/moment.ts";
import type { PendingDelivery } from "../store/deliveries.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";

/** Since when a document waits that is frozen at `atMs`; null: no flow brings what settles it. Inside a transaction. */
export function waitsSince(
  engine: Engine,
  flow: Flow,
  { record }: Pick<PendingDelivery, "record">,
  atMs: number,
): string | null {
  if (!isSettledByFlow(engine, flow)) return null;
  return new Date(engine.store.waits.of(record)?.sinceMs ?? atMs).toISOString();
}

/** A paused flow counts: what it brings may still come. */
const isSettledByFlow = ({ flows }: Engine, flow: Flow): boolean =>
  flows.some(
    (other) =>
      other.mapping.settles?.kind === flow.mapping.kind &&
      other.side === flow.side &&
      endpointOf(other.to) === endpointOf(flow.to),
  );

/** It goes again because it was due, though its content is the same. */
export const isRevisit = (
  { store }: Engine,
  { record, delivery }: Pick<PendingDelivery, "record" | "delivery">,
): boolean => store.waits.of(record)?.delivery === delivery;

/** What a send or a read-back said of one delivery. Inside the transaction of the answer. */
export function keepWait(
  { store, clock }: Engine,
  flow: Flow,
  delivery: number,
  until: Waits[number],
): void {
  if (until === null) {
    store.waits.end(delivery);
    return;
  }
  store.waits.keep(delivery, Date.parse(until));
  const detail = `for what settles it, until ${until} at the latest`;
  const at = clock.now().wallMs;
  store.journal.audit(at, { flow: flow.flow, delivery, event: "waits", detail });
}

/** What was delivered may settle a document that waits. Inside the transaction of its answer. */
export function hasten({ store, clock, flows }: Engine, flow: Flow, delivery: number): void {
  const { settles, input } = flow.mapping;
  const settled = flows.find(
    (other) => other.mapping.kind === settles?.kind && other.side === flow.side,
  );
  const text = settled === undefined ? null : store.waits.text(delivery);
  if (settles === undefined || settled === undefined || text === null) return;
  const record = input.safeParse(parseExact(text));
  if (record.success) store.waits.hasten(settled.flow, settles.of(record.data), clock.now().wallMs);
}

/** Flows whose waits have the bound of this configuration. */
const rebound = new WeakSet<Flow>();

/** The bound of a wait is the configuration's as it is now, also for what waited under another one. */
function bind(engine: Engine, flow: Flow): void {
  if (rebound.has(flow)) return;
  rebound.add(flow);
  const { settleAfterMs } = flow.sink;
  if (settleAfterMs === undefined) return;
  const boundMs = isSettledByFlow(engine, flow) ? settleAfterMs : 0;
  if (engine.store.waits.isBound(flow.flow, boundMs)) return;
  engine.store.transaction(() => engine.store.waits.bind(flow.flow, boundMs));
}

/** What is due becomes pending. */
export function revisit(engine: Engine, flow: Flow): void {
  bind(engine, flow);
  const { store, clock } = engine;
  const at = clock.now().wallMs;
  if (store.waits.due(flow.flow, at).length === 0) return;
  store.transaction(() => {
    for (const due of store.waits.due(flow.flow, at)) {
      if (!store.waits.reopen(due)) continue;
      const { delivery } = due;
      const detail = "is it settled by now?";
      store.journal.audit(at, { flow: flow.flow, delivery, event: "looked at", detail });
    }
  });
}

/** When the next one is due; null: none waits. */
export function nextRevisit({ store, clock }: Engine, flow: Flow): Moment | null {
  const next = store.waits.nextMs(flow.flow);
  const now = clock.now();
  return next === null ? null : later(now, next - now.wallMs);
}
