/** What is on its way already for the same thing: a delivery waits for its outcome, or is settled by it. */
import type { PendingDelivery } from "../store/deliveries.ts";
import type { StoredRequest } from "../store/requests.ts";
import { recognised } from "./deliver.ts";
import type { Engine, Flow } from "./engine.ts";

type Before =
  | { readonly is: "nothing" }
  /** This record is what a request of ours wrote. */
  | { readonly is: "ours" }
  /** To be judged again once that is settled. */
  | { readonly is: "under-way" }
  /** An earlier version waits for a person, whose decision this one needs as well. */
  | { readonly is: "undecided"; readonly request: number }
  /** The same, and this one takes its place: it is looked for by itself. */
  | { readonly is: "replaced"; readonly request: number };

export interface Earlier {
  /** `told`: the record as its source told it. Inside a transaction. */
  before(record: number, number: string, told: unknown): Before;
}

/** What is earlier than these deliveries, as the store has it now. */
export function earlierThan(
  engine: Engine,
  flow: Flow,
  deliveries: readonly PendingDelivery[],
): Earlier {
  const { store } = engine;
  const { kind } = flow.mapping;
  const own = deliveries.map(({ record }) => record);
  // While a batch is on its way its ordering key holds up all.
  const isAlone = flow.sink.itemsMax === 1;
  const versions = new Map(
    store.underWay.versions(kind, flow.flow, own).map((one) => [one.record, one]),
  );

  return {
    before(record, number, told) {
      const version = versions.get(record);
      if (version?.state === "manual")
        return { is: isAlone ? "undecided" : "replaced", request: version.request };
      if (version !== undefined && isAlone) return { is: "under-way" };
      const live = store.requests.live(kind, number);
      // Our own document may come by in a poll before its outcome is known.
      if (live !== null && isFromReceiver(live, flow) && recognised(engine, live, told))
        return { is: "ours" };
      // In a batch, too: its request has no document's number.
      const isUnderWay = live !== null || store.underWay.elsewhere(kind, number, flow.flow);
      return { is: isUnderWay ? "under-way" : "nothing" };
    },
  };
}

const isFromReceiver = (live: StoredRequest, { flow }: Flow): boolean => live.flow !== flow;
