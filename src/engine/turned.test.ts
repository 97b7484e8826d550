import { expect, test } from "vitest";
import type { z } from "zod";
import {
  type Bill,
  bill,
  billMapping,
  engineOn,
  pagesOf,
  receiver,
  type Receiver,
} from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Decimal } from "../core/decimal.ts";
import { type Change, defineMapping, skip } from "../core/contract.ts";
import type { Kind } from "../core/kinds.ts";
import { resolve, retry, select } from "../office/decisions.ts";
import type { Flow } from "./engine.ts";
import { runFlow } from "./daemon.ts";

const signal = new AbortController().signal;
const HOME = { from: "platform.invoices", to: "erp.invoices", side: "platform" } as const;

/** One flow of each kind from the platform; `tell` has one of them read this version of the record `P-1`. */
function benchOf(...kinds: readonly [Kind, Kind]) {
  const bench = engineOn(tempFolder());
  const pages = new Map<string, Change[]>();
  const flows = kinds.map((kind): Flow & { sink: Receiver } => {
    const send: Receiver["send"] = async ({ items }) => ({
      outcome: "done",
      detail: "booked",
      ids: items.map(({ number }) => `${kind} of ${number}`),
    });
    const sent = receiver({ operation: `${kind}.book`, writes: "upsert" });
    const sink = {
      ...sent,
      send: async (...args: Parameters<typeof send>) => {
        sent.sent.push({ key: args[0].key, body: args[0].body });
        return (await sent.script.shift()?.(args[0]))?.answer ?? send(...args);
      },
    };
    const source = {
      async *read() {
        yield { changes: pages.get(kind) ?? [], position: 1 };
      },
    };
    const mapping = defineMapping({ ...billMapping, kind });
    const flow = bench.flow({ ...HOME, name: kind, mapping, sink, source });
    return { ...flow, sink };
  });
  const [one, other] = flows as [(typeof flows)[number], (typeof flows)[number]];
  return {
    bench,
    one,
    other,
    tell: async (flow: Flow, version: number, amount = "1") => {
      pages.clear();
      pages.set(flow.mapping.kind, [
        { ...bill("INV-1", amount), id: "P-1", version: `${version}` },
      ]);
      await runFlow(bench.engine, flow, signal);
    },
    run: (flow: Flow) => {
      pages.clear();
      return runFlow(bench.engine, flow, signal);
    },
    causes: () => bench.store.questions.quarantine().map(({ cause }) => cause),
    chosen: () => select(bench.engine, flows, "all"),
    link: (kind: Kind) => bench.store.links.find(kind, "platform", "P-1")?.erpId,
  };
}

test.each([
  ["invoice", "bill", "sale", "purchase"],
  ["bill", "invoice", "purchase", "sale"],
  ["payment", "bill-payment", "payment received", "payment made"],
] as const)(
  "what turned from %s into %s is for a person, and nothing second is written before that person says so",
  async (was, is, from, to) => {
    const { bench, one, other, tell, run, causes, chosen, link } = benchOf(was, is);
    await tell(one, 1);
    await tell(other, 2);
    const told = `${from} INV-1 is booked in "erp" as ${was} of INV-1; the platform now says ${to} INV-1`;
    expect(causes()).toEqual([told]);
    await tell(other, 3, "2");
    expect(causes()).toEqual([told]);
    expect([link(was), link(is), other.sink.sent]).toEqual([`${was} of INV-1`, undefined, []]);

    const retried = (flow: Flow) => {
      bench.store.transaction(() => {
        for (const row of chosen()) retry(bench.engine, row);
      });
      return run(flow);
    };
    await retried(other);
    expect(causes()).toEqual([]);
    expect([link(was), link(is)]).toEqual([undefined, `${is} of INV-1`]);
    // Its next version is no other document; but one that turns back is asked about again.
    await tell(other, 4, "2.0");
    expect(causes()).toEqual([]);
    await tell(one, 5, "2");
    expect(causes()).toEqual([
      `${to} INV-1 is booked in "erp" as ${is} of INV-1; the platform now says ${from} INV-1`,
    ]);
    expect(one.sink.sent).toHaveLength(1);
    // A retry is about one turn: the next one, the third, is asked about too.
    await retried(one);
    expect([link(was), link(is)]).toEqual([`${was} of INV-1`, undefined]);
    const { length } = other.sink.sent;
    await tell(other, 6, "2");
    expect(causes()).toEqual([told]);
    expect(other.sink.sent).toHaveLength(length);
  },
);

test("a turn that a person resolves is not booked, and its next version is asked about again", async () => {
  const { bench, one, other, tell, causes, chosen } = benchOf("invoice", "bill");
  await tell(one, 1);
  await tell(other, 2);
  const decision = { by: "Ann", note: "the platform is wrong" };
  bench.store.transaction(() => resolve(bench.engine, chosen(), decision));
  await tell(other, 3, "2");
  expect(causes()).toHaveLength(1);
  expect(other.sink.sent).toEqual([]);
});

test("what turns while its first document is on its way waits for that outcome", async () => {
  const { bench, one, other, tell, run, causes } = benchOf("invoice", "bill");
  one.sink.script.push(() => ({
    answer: { outcome: "unknown", holdMs: 60_000, detail: "500" },
    execute: true,
  }));
  one.sink.find = async () => ({ found: "exact", ids: ["E-1"], detail: "there" });
  await tell(one, 1);
  await tell(other, 2);
  expect(Object.fromEntries(bench.store.deliveries.counts(other.flow))).toEqual({ pending: 1 });
  bench.clock.advance(60_000);
  await run(one);
  await run(other);
  expect(causes()).toEqual([
    'sale INV-1 is booked in "erp" as E-1; the platform now says purchase INV-1',
  ]);
  expect(other.sink.sent).toEqual([]);
});

test("ids of an ERP that counts each kind from 1 are no turn", async () => {
  const bench = engineOn(tempFolder());
  const changes = [bill("7", "1")];
  for (const kind of ["invoice", "bill"] as const) {
    const sink = receiver({ operation: `${kind}.create` });
    const mapping = defineMapping({ ...billMapping, kind });
    const source = pagesOf([{ changes, position: 1 }]);
    await runFlow(bench.engine, bench.flow({ name: kind, mapping, sink, source }), signal);
    expect(sink.sent).toHaveLength(1);
  }
});

test("a posted document that is another company's now goes nowhere before a person has seen to it", async () => {
  const bench = engineOn(tempFolder());
  const mapping = {
    ...billMapping,
    figures: ({ amount, payer = "" }: { amount: Decimal; payer?: string }) => ({
      amount,
      gallons: null,
      party: payer,
    }),
    map: (record: z.infer<typeof Bill>) => record,
  };
  const told = (version: string, payer: string): Change => ({
    ...bill("INV-1", "100", { payer }),
    id: "P-1",
    version,
  });
  const versions = [told("1", "A-1043"), told("2", "B-9999"), told("3", "A-1043"), told("4", "C")];
  const sink = receiver({ operation: "file.invoice", writes: "upsert" });
  const source = pagesOf(...versions.map((one, position) => [{ changes: [one], position }]));
  const flow = bench.flow({ ...HOME, mapping, sink, source });
  const next = async () => {
    await runFlow(bench.engine, flow, signal);
    return bench.store.questions.quarantine().map(({ cause }) => cause);
  };
  expect(await next()).toEqual([]);
  expect(await next()).toEqual(["INV-1 was delivered for A-1043 and is for B-9999 now"]);
  expect(await next()).toEqual([]);
  expect(await next()).toEqual(["INV-1 was delivered for A-1043 and is for C now"]);
  expect(sink.executed).toHaveLength(1);
  for (const one of select(bench.engine, [flow], "all")) retry(bench.engine, one);
  expect(await next()).toEqual([]);
  expect(sink.executed.map(({ body }) => body)).toEqual([
    expect.stringContaining("A-1043"),
    expect.stringContaining('"payer":"C"'),
  ]);
  expect(bench.store.links.find("invoice", "platform", "P-1")?.party).toBe("C");
});

test.each([
  ["platform", "create", undefined, "quarantined"],
  ["platform", "upsert", undefined, "quarantined"],
  ["erp", "upsert", undefined, "quarantined"],
  ["erp", "create", "platform", "skipped"],
] as const)(
  "what was delivered from the %s and is skipped since is for a person (%s, made of %s: %s)",
  async (side, writes, madeOf, state) => {
    const bench = engineOn(tempFolder());
    const sink = receiver({ writes });
    const mapping = defineMapping({
      ...billMapping,
      map: (told: z.infer<typeof Bill>) =>
        told.product ? skip("a sale, and it takes purchases", madeOf) : told,
    });
    const [first, since, again] = [
      bill("1", "5"),
      bill("1", "9", { product: "d" }),
      bill("1", "5"),
    ];
    const pages = [first, since, { ...again, version: "3" }].map((change) => [
      { changes: [change], position: 1 },
    ]);
    const ends = side === "platform" ? HOME : {};
    const flow = bench.flow({ ...ends, side, mapping, sink, source: pagesOf(...pages) });
    await runFlow(bench.engine, flow, signal);
    await runFlow(bench.engine, flow, signal);
    expect(sink.sent).toHaveLength(1);
    expect(Object.fromEntries(bench.store.deliveries.counts(flow.flow))).toEqual({
      delivered: 1,
      [state]: 1,
    });
    const told = bench.store.questions.quarantine().map(({ code, cause }) => [code, cause]);
    const endpoint = side === "platform" ? "erp" : "platform";
    const cause = `1 was delivered, and "${endpoint}" has it as it was then: it is not taken any more (a sale, and it takes purchases)`;
    expect(told).toEqual(state === "skipped" ? [] : [["skipped-after-delivery", cause]]);
    // It closes by itself.
    await runFlow(bench.engine, flow, signal);
    expect(bench.store.questions.quarantine()).toEqual([]);
  },
);

test("what its source doubts waits for a person, and goes when that person retries it", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  const fault = { code: "row-twice", message: "DT-1 has one row twice", next: "Look." } as const;
  const source = pagesOf([{ changes: [{ ...bill("DT-1", "5"), fault }], position: 1 }]);
  const flow = bench.flow({ sink, source });
  await runFlow(bench.engine, flow, signal);
  expect(bench.store.questions.quarantine().map(({ cause }) => cause)).toEqual([fault.message]);
  for (const one of select(bench.engine, [flow], "all")) retry(bench.engine, one);
  await runFlow(bench.engine, flow, signal);
  expect(bench.store.questions.quarantine()).toEqual([]);
  expect(sink.executed).toHaveLength(1);
});
