/** What is on its way already for the same thing: a delivery waits for its outcome, or is settled by it. */
import type { StoredRequest } from "../store/requests.ts";
import type { UnderWay } from "../store/under-way.ts";
import { recognised } from "./deliver.ts";
import type { Engine, Flow } from "./engine.ts";

type Before =
  | { readonly is: "nothing" }
  /** This record is what a request of ours wrote. */
  | { readonly is: "ours" }
  /** To be judged again once that is settled. */
  | { readonly is: "under-way" }
  /** An earlier version waits for a person, whose decision this one needs as well. */
  | { readonly is: "undecided"; readonly request: number };

export interface Earlier {
  /** `told`: the record as its source told it. Inside a transaction. */
  before(record: number, number: string, told: unknown): Before;
}

export function earlierThan(engine: Engine, flow: Flow): Earlier {
  const { store } = engine;
  const { kind } = flow.mapping;
  const rows = store.underWay.of(kind);
  // A batch that waits for a person holds up no newer version; its lane holds up all while it is on its way.
  const own = flow.sink.itemsMax === 1 ? rows.filter((row) => row.flow === flow.flow) : [];
  const versions = new Map(own.map((row) => [row.record, row]));
  const others = new Set(rows.filter((row) => isOthers(row, flow)).map(({ number }) => number));

  return {
    before(record, number, told) {
      const version = versions.get(record);
      if (version?.state === "manual") return { is: "undecided", request: version.request };
      if (version !== undefined) return { is: "under-way" };
      const live = store.requests.live(kind, number);
      // Our own document may come by in a poll before its outcome is known.
      if (live !== null && isFromReceiver(live, flow) && recognised(engine, live, told))
        return { is: "ours" };
      return { is: live !== null || others.has(number) ? "under-way" : "nothing" };
    },
  };
}

/** In a batch, too: its request has no document's number. */
const isOthers = (row: UnderWay, { flow }: Flow): boolean => row.flow !== flow && row.isOpen === 1;

const isFromReceiver = (live: StoredRequest, { flow }: Flow): boolean => live.flow !== flow;
