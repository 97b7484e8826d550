/**
 * What arrived, and does not count there before a person has done the rest: a draft that must be issued. It is linked,
 * so that it never goes twice, stands in the quarantine, and clears by itself.
 */
import { SourceUnavailable } from "../core/errors.ts";
import type { Answer, Finding } from "../core/outcome.ts";
import type { Carried } from "../store/deliveries.ts";
import { otherId } from "../store/links.ts";
import type { Engine, Flow } from "./engine.ts";

/** After they were delivered; inside the same transaction. */
export function leaveUnfinished(
  { store, clock }: Engine,
  carried: readonly Carried[],
  cause: Answer | Finding,
): void {
  const fault = "unfinished" in cause ? cause.unfinished : undefined;
  if (fault === undefined) return;
  const at = clock.now().wallMs;
  for (const { delivery } of carried) {
    store.journal.audit(at, { delivery, event: "unfinished", detail: fault.message });
    store.incidents.open(delivery, "unfinished");
    store.unfinished.leave(delivery, fault, at);
  }
}

/** Asks which of them count by now; those are delivered. Returns how many. */
export async function finish(engine: Engine, flow: Flow, signal: AbortSignal): Promise<number> {
  const { store, clock } = engine;
  const { unfinished } = flow.sink;
  if (unfinished === undefined) return 0;
  const waiting = store.unfinished.of(flow.flow, unfinished.fault.code).flatMap((one) => {
    const link = store.links.find(flow.mapping.kind, flow.side, one.recordId);
    return link === null ? [] : [{ ...one, counterpart: otherId(link, flow.side) }];
  });
  if (waiting.length === 0) return 0;
  try {
    const open = await unfinished.still(
      waiting.map(({ counterpart }) => counterpart),
      signal,
    );
    return store.transaction(() => {
      // Meanwhile another look may have ended it, or a person.
      const left = new Set(store.unfinished.of(flow.flow, unfinished.fault.code).map(idOf));
      const done = waiting.filter((one, at) => open[at] === false && left.has(one.delivery));
      for (const { delivery, counterpart } of done) {
        store.deliveries.end(delivery, store.unfinished.endOf(delivery), counterpart);
        store.incidents.end(delivery, "unfinished");
        const entry = { flow: flow.flow, delivery, event: "finished", detail: counterpart };
        store.journal.audit(clock.now().wallMs, entry);
      }
      return done.length;
    });
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    return 0;
  }
}

const idOf = ({ delivery }: { readonly delivery: number }): number => delivery;
