/** Store → requests: judges what is pending and freezes what is ready, key and bytes, before anything leaves. */
import type { Frozen, Item, Sink } from "../core/contract.ts";
import { sha256 } from "../core/keys.ts";
import { comparedNumber } from "../core/kinds.ts";
import { apart } from "../core/request.ts";
import { freshRequest } from "../core/request-state.ts";
import type { PendingDelivery } from "../store/deliveries.ts";
import { expectAcknowledgements, referenceTaken } from "./acknowledged.ts";
import { mayFreeze } from "./breakers.ts";
import { keyOf, mostOf, takenFrom } from "./deliver.ts";
import type { Engine, Flow } from "./engine.ts";
import { type Judged, type Ready, Round, tellWaiting } from "./lifecycle.ts";

/** Deliveries mapped in one transaction. */
const AT_ONCE = 200;

export interface FrozenRound {
  /** The last delivery that was looked at. */
  readonly last: number;
  readonly frozen: number;
  readonly settled: number;
  /** Not in the next request: their ordering key is taken, or it is full. */
  readonly left: number;
}

/** Freezes the next {@link AT_ONCE} of the flow's pending deliveries after `after`. Null when there are none. */
export function freezeNext(engine: Engine, flow: Flow, after: number): FrozenRound | null {
  const { store, clock } = engine;
  const most = Math.max(AT_ONCE, flow.sink.itemsMax);
  const deliveries = store.deliveries.pending(flow.flow, after, most);
  const last = deliveries.at(-1)?.delivery;
  if (last === undefined) return null;
  const at = clock.now().wallMs;
  return store.transaction(() => {
    const mayGo = mayFreeze(engine, flow);
    const round = new Round(engine, flow, deliveries, at);
    const ready: Ready[] = [];
    let settled = 0;
    let apart = 0;
    for (const delivery of deliveries) {
      if (!joins(delivery, ready, flow.sink)) {
        apart++;
        continue;
      }
      const judged = round.judge(delivery);
      // Before all that is ours is known, a fault may only mean that it is.
      if (!mayGo && (judged.verdict === "ready" || judged.verdict === "quarantined")) continue;
      if (judged.verdict === "ready") {
        ready.push(judged.ready);
        store.likenesses.keep(delivery.record, judged.ready.likenesses);
        continue;
      }
      if (judged.verdict === "apart") apart++;
      else endWith(engine, flow, delivery, judged, at);
      if (judged.verdict !== "held") settled++;
    }
    const { frozen, left } = freezeAll(engine, flow, ready, at);
    return { last, settled, frozen, left: left + apart };
  });
}

/** What a verdict means for a delivery that is not frozen, and for what waits for it. */
function endWith(
  engine: Engine,
  flow: Flow,
  { delivery, recordId }: PendingDelivery,
  judged: Exclude<Judged, { verdict: "ready" }>,
  at: number,
): void {
  const { deliveries } = engine.store;
  if (judged.verdict === "quarantined") {
    deliveries.quarantine(delivery, judged, at);
    judged.also?.();
    tellWaiting(engine, flow, recordId, null, at);
  } else if (judged.verdict === "skipped" || judged.verdict === "echo") {
    deliveries.end(delivery, judged.verdict, judged.note, judged.number ?? undefined);
    if (judged.verdict === "skipped")
      tellWaiting(engine, flow, recordId, { skipped: judged.note }, at);
  }
}

/** Where requests carry many documents only the next request is made: what cannot be in it need not be mapped yet. */
function joins({ bisectGroup }: PendingDelivery, ready: readonly Ready[], sink: Sink): boolean {
  const [first] = ready;
  if (sink.itemsMax === 1 || first === undefined) return true;
  return bisectGroup === first.delivery.bisectGroup && ready.length < mostOf(bisectGroup, sink);
}

/** Groups what may share a request and stores the frozen bytes; an ordering key carries one request at a time. */
function freezeAll(
  engine: Engine,
  flow: Flow,
  ready: readonly Ready[],
  at: number,
): Pick<FrozenRound, "frozen" | "left"> {
  const { store } = engine;
  const { sink, mapping } = flow;
  let made = 0;
  let left = 0;
  for (const group of groups(ready, flow)) {
    const first = group[0] as Ready;
    const items = group.map(({ item }) => item);
    const several = sink.itemsMax > 1;
    const revision = several
      ? sha256(JSON.stringify(items.map(({ number, revision }) => [number, revision]))).slice(0, 22)
      : first.item.revision;
    const number = several ? `${flow.name}:${revision}` : first.item.number;
    const orderingKey = several
      ? sink.operation
      : `${sink.names ?? sink.operation} ${comparedNumber(mapping.kind, number)}`;
    // A batch that waits for a person holds up no other; a document that does waits for that.
    const isTaken = referenceTaken(engine, sink, first.alone, first.delivery.record) !== null;
    if (isTaken || store.requests.isOrderingKeyLive(orderingKey, several ? null : sink.operation)) {
      left += group.length;
      continue;
    }
    const generation = store.requests.nextGeneration(sink.operation, number, revision);
    const whole = takenFrom(first.delivery.bisectGroup);
    const before = whole === null ? null : store.requests.get(whole);
    const machine =
      before === null ? { ...freshRequest, generation } : apart(before.machine, generation);
    const key = keyOf(engine, { operation: sink.operation, number, revision, generation });
    const frozen = numbered(engine, sink, items, first.alone);
    const request = store.requests.add(
      {
        flow: flow.flow,
        operation: sink.operation,
        kind: mapping.kind,
        number,
        revision,
        orderingKey,
        key,
        machine,
        ...frozen,
      },
      at,
    );
    for (const { delivery, mapped } of group)
      store.deliveries.freeze(delivery.delivery, request, mapped);
    const carried = group.map(({ delivery }) => delivery.delivery);
    expectAcknowledgements(engine, flow, frozen, carried);
    made++;
  }
  return { frozen: made, left };
}

/** In order, each bisect group by itself and what is of none by the share; one number once per group. */
function* groups(ready: readonly Ready[], { sink, mapping: { kind } }: Flow): Generator<Ready[]> {
  for (const [bisectGroup, members] of Map.groupBy(ready, ({ delivery }) => delivery.bisectGroup)) {
    const most = mostOf(bisectGroup, sink);
    let group: Ready[] = [];
    let numbers = new Set<string>();
    for (const one of members) {
      const number = comparedNumber(kind, one.item.number);
      if (group.length >= most || numbers.has(number)) {
        yield group;
        group = [];
        numbers = new Set();
      }
      group.push(one);
      numbers.add(number);
    }
    if (group.length > 0) yield group;
  }
}

/** The bytes that go out, under the next number of the sink's sequence. Inside the transaction that stores them. */
function numbered({ store }: Engine, sink: Sink, items: readonly Item[], alone: Frozen): Frozen {
  if (sink.sequence !== undefined) return sink.freeze(items, store.sequences.next(sink.sequence));
  return items.length === 1 ? alone : sink.freeze(items);
}
