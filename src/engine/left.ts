/** What is frozen or linked for a flow that is configured no more, for a receiver that its flow does not lead to any more. */
import type { Fault } from "../core/record.ts";
import type { Link } from "../store/deliveries.ts";
import { cancelled, thaw } from "./deliver.ts";
import { audit, endpointOf, type Engine, type Flow, PLATFORM } from "./engine.ts";
import { leftFlows } from "./schedule.ts";

/**
 * A flow that is configured no more, or by another name, sends nothing: what it has frozen and never sent stands in the way
 * of no other flow. What may have left keeps others waiting, and is told (schedule.ts). `some`: any flow.
 */
export function leave(engine: Engine, some: Flow): void {
  engine.store.transaction(() => {
    for (const { flow } of leftFlows(engine)) {
      thaw(engine, { ...some, flow }, "its flow is not configured any more");
      engine.store.likenesses.forget(flow);
    }
  });
}

/** Flows that lead somewhere by themselves: not those beside another one, which follow it. The platform has one address. */
const leads = ({ to, attachesTo, repliesTo }: Flow): boolean =>
  endpointOf(to) !== PLATFORM && attachesTo === undefined && repliesTo === undefined;

const receiverOf = ({ receiver, to }: Flow): string => receiver ?? to;

/**
 * Before it sends, and before what is to be sent is judged: it may lead to another receiver than before. What was never sent goes
 * there; what may have arrived at the one before is a person's. @throws SourceUnavailable
 */
export async function redirect(engine: Engine, flow: Flow): Promise<void> {
  if (!leads(flow)) return;
  const { store, clock } = engine;
  const { mapping, side, sink } = flow;
  const place = await sink.place?.();
  const to = place === undefined ? receiverOf(flow) : `${receiverOf(flow)}, ${place}`;
  if (store.receivers.now(mapping.kind, side) === to) return;
  const at = clock.now().wallMs;
  store.transaction(() => {
    const before = store.receivers.lead(mapping.kind, side, to, at);
    if (before === null) return;
    thaw(engine, flow, `its flow leads to ${to} now`);
    for (const request of store.requests.open(flow.flow)) {
      if (request.machine.state === "manual") continue;
      const why = `it may be at ${before}, and its flow leads to ${to} now`;
      for (const delivery of cancelled(engine, flow, request, why))
        store.deliveries.quarantine(delivery, { number: null, fault: maybeThere(before, to) }, at);
    }
    const notice = `it leads to ${to} now; what went to ${before} stays there, and each later version of it is told`;
    audit(engine, flow, "notice", notice);
    engine.note("leads elsewhere", { flow: flow.name, before, now: to });
  });
}

/** The receiver that has the document, and that of now, where its flow does not lead there any more; null: it does. */
export function receiversOf({ store }: Engine, flow: Flow, link: Link): Receivers | null {
  if (!leads(flow) || link.linkedMs === undefined) return null;
  const before = store.receivers.at(link.kind, link.born, link.linkedMs);
  const now = flow.sink.place ? store.receivers.now(link.kind, link.born) : receiverOf(flow);
  return before === null || now === null || before === now ? null : { before, now };
}

interface Receivers {
  readonly before: string;
  readonly now: string;
}

const maybeThere = (before: string, now: string): Fault => ({
  code: "maybe-delivered",
  message: `it was sent to ${before}, nobody knows whether it arrived, and the flow leads to ${now} now`,
  next: `Look for it at ${before}. Close it when it is there and counts; retry it when it is not: it goes to ${now}.`,
});

/** It changed, and another receiver has it. */
export function otherReceiver(number: string, { before, now }: Receivers): Fault {
  return {
    code: "other-receiver",
    message: `${number} changed; it was delivered to ${before}, and the flow leads to ${now} now`,
    next: `Change it at ${before} by hand if it counts there, and close this. If it is to be at ${now} instead, cancel it at ${before}, then retry: it goes to ${now} as a new one. If both are one receiver, give it its old name in the configuration (or the new folder the staging folder of the old one), start fuelbridge again, then retry.`,
    reason: `was delivered to ${before}, and the flow leads to ${now} now`,
  };
}
