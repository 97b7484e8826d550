/** Copies of orders and delivery tickets, with the engine and the mappings of the shipped flows. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { deliveryTickets, orders } from "../mappings/goods.ts";
import type { Change } from "../src/core/contract.ts";
import { type Json, stringifyExact } from "../src/core/json.ts";
import { runFlow } from "../src/engine/daemon.ts";
import { readCases } from "../src/mapping/cases.ts";
import { retry, select } from "../src/office/decisions.ts";
import { engineOn, pagesOf, receiver } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";

const signal = new AbortController().signal;
const LATER = "2026-11-30T12:00:00.000000Z";

/** `like`: the mapping's case of one that travels. */
const goods = {
  orders: {
    mapping: orders,
    like: "confirmed",
    stands: { status: "CONFIRMED", loadingNumber: "LD-1" },
  },
  "delivery-tickets": {
    mapping: deliveryTickets,
    like: "signed",
    stands: {
      status: "SIGNED",
      ticketNumber: "DT-1",
      bolNumber: "BOL-1",
      deliveryDate: "2026-11-20T18:00:00.000000Z",
    },
  },
} as const;
type Goods = keyof typeof goods;

/** @param reads what each read tells, in place of the document's own fields */
function siteOf(name: Goods, reads: readonly Readonly<Record<string, Json>>[]) {
  const { mapping, stands } = goods[name];
  const folder = join(import.meta.dirname, "../mappings/canonical/cases");
  const { cases } = readCases(join(folder, `${name}.json`));
  const known = cases.find((one) => one.name === goods[name].like);
  const record = known?.record as Readonly<Record<string, Json>>;
  const changes = reads.map((more): Change => {
    const text = { ...record, createdAt: "2026-11-20T18:00:00.000000Z", ...stands, ...more };
    const { id, updatedAt } = text as unknown as { id: string; updatedAt: string };
    return { id, version: updatedAt, text: stringifyExact(text) };
  });
  const bench = engineOn(tempFolder());
  const engine = { ...bench.engine, tables: { row: () => ({ item: "087" }) } };
  const sink = receiver({});
  const source = pagesOf(...changes.map((change) => [{ changes: [change], position: 1 }]));
  const flow = bench.flow({ name, side: "platform", mapping, source, sink });
  return {
    sink,
    run: () => runFlow(engine, flow, signal),
    waiting: () => bench.store.questions.quarantine().map(({ code, cause }) => ({ code, cause })),
    retryAll: () =>
      bench.store.transaction(() => {
        for (const one of select(engine, [flow], "all")) retry(engine, one);
      }),
  };
}

const COPY = { id: "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b" };

test.each(["orders", "delivery-tickets"] as const)(
  "a copy among %s waits before it goes, told with both; a person's word releases it for good",
  async (name) => {
    const copy = name === "orders" ? COPY : { ...COPY, ticketNumber: "DT-2" };
    const site = siteOf(name, [{}, copy, { ...copy, updatedAt: LATER, notes: "gate 2" }]);
    await site.run();
    await site.run();
    expect(site.sink.sent).toHaveLength(1);
    expect(site.waiting()).toMatchObject([
      { code: "duplicate", cause: expect.stringContaining(COPY.id) },
    ]);

    site.retryAll();
    await site.run();
    await site.run();
    expect(site.waiting()).toEqual([]);
    expect(site.sink.sent.length).toBeGreaterThan(1);
  },
);

test.each([
  ["orders", "loading number", { loadingNumber: "LD-2" }],
  ["orders", "day", { createdAt: "2026-11-21T18:00:00.000000Z" }],
  ["delivery-tickets", "bill of lading", { ticketNumber: "DT-2", bolNumber: "BOL-2" }],
  [
    "delivery-tickets",
    "day",
    { ticketNumber: "DT-2", deliveryDate: "2026-11-21T18:00:00.000000Z" },
  ],
] as const)("among %s one with another %s is no copy", async (name, _, other) => {
  const site = siteOf(name, [{}, { ...COPY, ...other }]);
  await site.run();
  await site.run();
  expect(site.waiting()).toEqual([]);
  expect(site.sink.sent).toHaveLength(2);
});
