/** What a request that is done means for its documents: links, what they wait for, and what waited for them. */
import type { Answer, Finding } from "../core/outcome.ts";
import type { Carried } from "../store/deliveries.ts";
import { otherId } from "../store/links.ts";
import { wantAttachment } from "./attach.ts";
import type { Engine, Flow } from "./engine.ts";
import { sameThere } from "./faults.ts";
import { reassigned } from "./lost.ts";
import { hasten, keepWait } from "./waits.ts";

/** Booked twice here and once there is for a person: the link stays with the one that has it. */
export function arrived(
  engine: Engine,
  flow: Flow,
  carried: readonly Carried[],
  cause: Answer | Finding,
  at: number,
): void {
  const { ids = [], waits = [] }: Pick<Answer, "ids" | "waits"> = "ids" in cause ? cause : {};
  const there = flow.side === "platform" ? "erp" : "platform";
  carried.forEach((one, index) => {
    const id = ids[index] ?? null;
    const known = id === null ? null : engine.store.links.find(flow.mapping.kind, there, id);
    const isAnother = known !== null && otherId(known, there) !== one.recordId;
    // Where the receiver can be asked, the other one is gone there; elsewhere nobody can tell.
    const isClear = flow.sink.inspect !== undefined || flow.mapping.posts !== true;
    if (isAnother && !isClear) {
      const fault = sameThere(`${id}`, known);
      engine.store.deliveries.quarantine(one.delivery, { number: null, fault }, at);
      return;
    }
    if (isAnother) reassigned(engine, flow, known);
    linkBoth(engine, flow, one, id, at);
    wantAttachment(engine, flow, one, id, at);
    keepWait(engine, flow, one.delivery, waits[index] ?? null);
    hasten(engine, flow, one.delivery);
  });
}

/** Links both ids, ends the delivery, and wakes what waited for it. `other`: what the receiver calls it, if anything. */
export function linkBoth(
  engine: Engine,
  flow: Flow,
  carried: Carried,
  other: string | null,
  at: number,
): void {
  engine.store.deliveries.end(carried.delivery, "delivered", other ?? "");
  if (other !== null) linked(engine, flow, carried, other, at);
}

/**
 * Links both ids and wakes what waited for it. What the platform had of the record under another id stays known as left
 * behind, until another record takes it: reconciliation tells it while it is there. Inside a transaction.
 */
export function linked(
  engine: Engine,
  flow: Flow,
  { recordId, number, content, amount }: Carried,
  other: string,
  at: number,
): void {
  const { causes, deliveries, links } = engine.store;
  const { kind } = flow.mapping;
  const [platformId, erpId] = flow.side === "platform" ? [recordId, other] : [other, recordId];
  const before = flow.side === "erp" ? links.find(kind, "erp", erpId) : null;
  if (before !== null && before.born === "erp" && before.platformId !== platformId)
    links.save({ ...before, erpId: `${erpId}, which is ${platformId} now` }, at);
  links.save({ kind, platformId, erpId, born: flow.side, number, content, amount }, at);
  const byId = causes.waitingFor(kind, [recordId, other]);
  // A remittance knows its invoice by number.
  const byNumber = number === recordId ? [] : causes.waitingFor(kind, [number, number]);
  for (const waiting of new Set([...byId, ...byNumber])) deliveries.reopen(waiting);
}
