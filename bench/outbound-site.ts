/** A store under the engine with one flow, whose source has as many documents as it is told. */
import { z } from "zod";
import { systemClock } from "../src/app/process.ts";
import { calendarOf } from "../src/core/time.ts";
import { type Change, defineMapping, type Sink } from "../src/core/contract.ts";
import type { Engine, Flow } from "../src/engine/engine.ts";
import { stringifyExact } from "../src/core/json.ts";
import { done, keyless } from "../src/core/outcome.ts";
import { openStore, type Store } from "../src/store/store.ts";

const PAGE = 200;

/** It takes every document, and does nothing. */
export const nothing: Sink = {
  operation: "nothing",
  writes: "upsert",
  itemsMax: 1,
  policy: { ...keyless, settleMs: 1_000, probeMs: 45_000 },
  freeze: (items) => ({
    target: "POST /nothing",
    body: stringifyExact(items.map(({ document }) => document)),
  }),
  send: async ({ items }) =>
    done(
      "200",
      items.map(({ id }) => id),
    ),
  find: async () => ({ found: "none", detail: "" }),
};

/** What a document says besides its number. */
export type DocumentOf = (at: number) => object;

/** One price per product and terminal, so that every document is one of its own. */
export const priceOf = (at: number): object => ({
  terminalId: `T-${at % 40}`,
  product: `P-${Math.floor(at / 40)}`,
  price: 2.5,
});

/** The mapping changes nothing: what is measured is the road, not what is done to the document. */
const mapping = defineMapping({
  name: "bench/documents",
  kind: "invoice",
  input: z.looseObject({ number: z.string() }),
  output: z.looseObject({}),
  number: ({ number }) => number,
  map: (record) => Object.fromEntries(Object.entries(record).filter(([key]) => key !== "number")),
  figures: () => ({ amount: null, gallons: null }),
});

export function siteOf(
  folder: string,
  sink: Sink,
  documents: number,
  documentOf: DocumentOf,
): { store: Store; engine: Engine; flow: Flow } {
  const store = openStore(folder);
  const flow: Flow = {
    flow: store.flows.open("documents").flow,
    name: "documents",
    from: "erp.documents",
    to: "platform.documents",
    side: "erp",
    mapping,
    source: {
      async *read() {
        for (let first = 0; first < documents; first += PAGE) {
          const count = Math.min(PAGE, documents - first);
          const changes = Array.from({ length: count }, (_, at) => change(first + at, documentOf));
          yield { changes, position: first + count };
        }
      },
    },
    sink,
    schedule: { everyMs: 60_000 },
    paused: false,
  };
  const engine: Engine = {
    store,
    clock: systemClock(),
    company: "bluebonnet",
    environment: "live",
    currency: "USD",
    dayOf: calendarOf("America/Chicago"),
    flows: [flow],
    tables: { row: () => null },
    note: () => {},
  };
  return { store, engine, flow };
}

export function change(at: number, documentOf: DocumentOf): Change {
  const number = `DOC-${String(at).padStart(6, "0")}`;
  return { id: number, version: null, text: JSON.stringify({ number, ...documentOf(at) }) };
}
