import { expect, test } from "vitest";
import type { z } from "zod";
import {
  bill,
  type Bill,
  billMapping,
  engineOn,
  pagesOf,
  receiver,
} from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { type Change, skip } from "../core/contract.ts";
import { resolve, retry, select } from "../office/decisions.ts";
import { groupsOf } from "../office/quarantine.ts";
import { Daemon } from "./daemon.ts";
import type { Flow } from "./engine.ts";

type Bill = z.infer<typeof Bill>;
const signal = new AbortController().signal;

/** A customer is skipped while its amount is 0. */
function site(options: Partial<Flow> = {}) {
  const bench = engineOn(tempFolder());
  const reads: Record<string, Change[][]> = { invoices: [], customers: [] };
  const source = (name: string) => {
    let position = 0;
    return {
      async *read() {
        for (const changes of reads[name]?.splice(0) ?? []) yield { changes, position: ++position };
      },
    };
  };
  const flows = [bench.flow({ name: "invoices", sink: receiver(), source: source("invoices") })];
  const addCustomers = () =>
    flows.push(
      bench.flow({
        name: "customers",
        mapping: {
          ...billMapping,
          kind: "customer",
          map: (one, references) => {
            const party = one as Bill;
            return party.amount.sign === 0 ? skip("inactive") : billMapping.map(party, references);
          },
        },
        sink: receiver({ operation: "customer.create" }),
        source: source("customers"),
        ...options,
      }),
    );
  return {
    bench,
    addCustomers,
    tell: async (name: "invoices" | "customers", ...changes: Change[]) => {
      reads[name]?.push(changes);
      await new Daemon(bench.engine, flows).once(signal);
    },
    causes: () => bench.store.questions.quarantine().map(({ code, cause }) => [code, cause]),
    delivered: () =>
      flows.map(({ flow }) => bench.store.deliveries.counts(flow).get("delivered") ?? 0),
  };
}

const invoice = (number: string) => bill(number, "10", { payer: "C-1" });
const SKIPPED = ["waits-for-skipped", "waits for customer C-1, which is skipped: inactive"];

test("what waits for something that was skipped says so at once, in either order, and goes once it is delivered", async () => {
  const { addCustomers, tell, causes, delivered } = site();
  addCustomers();
  await tell("invoices", invoice("INV-1"));
  await tell("customers", bill("C-1", "0"));
  expect(causes()).toEqual([SKIPPED]);
  await tell("invoices", invoice("INV-2"));
  expect(causes()).toEqual([SKIPPED]);
  expect(delivered()).toEqual([0, 0]);
  await tell("customers", bill("C-1", "1"));
  expect(causes()).toEqual([]);
  expect(delivered()).toEqual([2, 1]);
});

test("what is skipped no more, and waits for a person itself, is waited for as usual", async () => {
  const { addCustomers, tell, causes } = site();
  addCustomers();
  await tell("customers", bill("C-1", "0"));
  await tell("invoices", invoice("INV-1"));
  await tell("customers", bill("C-1", "1", { product: "NONE" }));
  expect(causes()).toEqual([
    ["not-mapped", "crossref/products.csv has no row `NONE`"],
    ["waits-for", "waits for customer C-1"],
  ]);
});

test("what no flow delivers, a paused flow would deliver, or a flow has not read is told apart", async () => {
  const without = site();
  await without.tell("invoices", invoice("INV-1"));
  expect(without.causes()).toEqual([
    ["waits-without-flow", "waits for customer C-1, and no flow delivers any customer"],
  ]);
  const paused = site({ paused: true });
  paused.addCustomers();
  await paused.tell("invoices", invoice("INV-1"));
  expect(paused.causes()).toEqual([
    ["waits-without-flow", 'waits for customer C-1, and the flow "customers" is paused'],
  ]);
  const unread = site();
  unread.addCustomers();
  await unread.tell("customers", bill("C-2", "1"));
  await unread.tell("invoices", invoice("INV-1"));
  expect(unread.causes()).toEqual([
    ["waits-for-unread", 'waits for customer C-1, which the flow "customers" has not read'],
  ]);
  await unread.tell("customers", bill("C-1", "1"));
  expect(unread.delivered()).toEqual([1, 2]);
});

test("a number that the other side may have told of is waited for as usual", async () => {
  const { bench, tell, causes } = site();
  bench.flow({
    name: "companies",
    side: "platform",
    mapping: { ...billMapping, kind: "customer" },
    sink: receiver({ operation: "customer.book" }),
    source: pagesOf(),
  });
  await tell("invoices", invoice("INV-1"));
  expect(causes()).toEqual([["waits-for", "waits for customer C-1"]]);
});

const CLOSED = [
  "waits-for-closed",
  "waits for customer C-1, which was closed by hand (ann: entered by hand)",
];

test.each(["erp", "platform"] as const)(
  "what waits for a document that a person closed is a person's at once, told before and after (from the %s)",
  async (side) => {
    const { bench, addCustomers, tell, causes, delivered } = site();
    addCustomers();
    const ends = { side, from: `${side}.x`, to: side === "erp" ? "platform.x" : "erp.x" } as const;
    for (const flow of bench.engine.flows) Object.assign(flow, ends);
    await tell("customers", bill("C-1", "1", { product: "NONE" }));
    await tell("invoices", invoice("INV-1"));
    bench.store.transaction(() => {
      const chosen = select(bench.engine, bench.engine.flows, "all");
      const own = chosen.filter(({ flow }) => flow.name === "customers");
      resolve(bench.engine, own, { by: "ann", note: "entered by hand" });
    });
    expect(causes()).toEqual([CLOSED]);
    expect(groupsOf(bench.engine)[0]?.shown.helps).toEqual(["resolve"]);
    await tell("invoices", invoice("INV-2"));
    expect(causes()).toEqual([CLOSED]);
    // A retry says the same again; a newer version that is delivered lets both go.
    bench.store.transaction(() => {
      for (const one of select(bench.engine, bench.engine.flows, "all")) retry(bench.engine, one);
    });
    await tell("invoices");
    expect(causes()).toEqual([CLOSED]);
    await tell("customers", bill("C-1", "2"));
    expect(causes()).toEqual([]);
    expect(delivered()).toEqual([2, 1]);
  },
);

test("what waits for a document that a person linked goes out", async () => {
  const { bench, addCustomers, tell, causes, delivered } = site();
  addCustomers();
  await tell("customers", bill("C-1", "1", { product: "NONE" }));
  await tell("invoices", invoice("INV-1"));
  bench.store.transaction(() => {
    const chosen = select(bench.engine, bench.engine.flows, "all");
    const own = chosen.filter(({ flow }) => flow.name === "customers");
    resolve(bench.engine, own, { by: "ann", note: "there", receiverId: "P-1" });
  });
  await tell("invoices");
  expect(causes()).toEqual([]);
  expect(delivered()).toEqual([1, 1]);
});
