import { expect, test } from "vitest";
import {
  type Bench,
  bill,
  billMapping,
  engineOn,
  pagesOf,
  quickPolicy,
  receiver,
} from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Figures } from "../core/contract.ts";
import { Refused } from "../core/errors.ts";
import type { Link } from "../store/deliveries.ts";
import { lost } from "./delivered.ts";
import { runFlow } from "./daemon.ts";

const signal = new AbortController().signal;
const causes = ({ store }: Bench) =>
  store.questions.quarantine().map(({ cause, count }) => [cause, count]);

/** One page with the record of this id, under this number. */
const row7 = (number: string) => [
  { changes: [{ ...bill(number, "1"), id: "row-7" }], position: 1 },
];

test("an amount that is changed back closes by itself, and a payment taken back reaches the receiver", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ writes: "upsert" });
  const page = (amount: string, status: string) => [
    { changes: [bill("INV-1", amount, { status })], position: 1 },
  ];
  const flow = bench.flow({
    sink,
    source: pagesOf(
      page("1", "OUTSTANDING"),
      page("2", "OUTSTANDING"),
      page("1.00", "OUTSTANDING"),
      page("1", "PAID"),
      page("1", "OUTSTANDING"),
    ),
  });
  const run = () => runFlow(bench.engine, flow, signal);
  await run();
  await run();
  expect(causes(bench)).toEqual([
    ["the amount changed from 1.00 to 2.00 after it was delivered", 1],
  ]);
  await run();
  expect(causes(bench)).toEqual([]);
  expect(sink.sent).toHaveLength(1);
  await run();
  await run();
  expect(sink.sent.map(({ body }) => JSON.parse(body)[0].status)).toEqual([
    "OUTSTANDING",
    "PAID",
    "OUTSTANDING",
  ]);
});

test("what was delivered is not changed by another notation", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  const told = (version: string, text: string) => [
    { changes: [{ id: "INV-1", version, text }], position: 1 },
  ];
  const first = '{"number":"INV-1","amount":100,"paidAt":"2026-10-31T10:46:39.500Z"}';
  const flow = bench.flow({
    sink,
    source: pagesOf(
      told("1", first),
      told("2", '{ "amount": 1e2, "number": "INV-1", "paidAt": "2026-10-31T04:46:39.5-06:00" }'),
      told("3", first),
    ),
  });
  await runFlow(bench.engine, flow, signal);
  await runFlow(bench.engine, flow, signal);
  await runFlow(bench.engine, flow, signal);
  expect(causes(bench)).toEqual([]);
  expect(Object.fromEntries(bench.store.deliveries.counts(flow.flow))).toEqual({
    delivered: 1,
    skipped: 2,
  });
});

test("a document whose number is changed where it comes from is told with both numbers, and goes no second time", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  const told = (number: string) => [
    { changes: [{ ...bill(number, "40035.09"), id: "row-7" }], position: 1 },
  ];
  const flow = bench.flow({ sink, source: pagesOf(told("INV-1"), told("INV-1b"), told("INV-1")) });
  const run = () => runFlow(bench.engine, flow, signal);
  await run();
  await run();
  expect(bench.store.questions.quarantine()).toMatchObject([
    {
      code: "renumbered",
      cause: "it was delivered as INV-1 and is INV-1b now; the receiver takes no changes",
    },
  ]);
  await run();
  expect(causes(bench)).toEqual([]);
  expect(sink.sent).toHaveLength(1);
});

test("a document that is another party's now is told with both, where the receiver takes no changes", async () => {
  const bench = engineOn(tempFolder());
  const told = (party: string, more: object) => [
    { changes: [bill("INV-1", "5", { party, ...more })], position: 1 },
  ];
  const mapping = {
    ...billMapping,
    figures: (document: unknown) => ({ ...(document as Figures), gallons: null }),
  };
  const flow = bench.flow({
    mapping,
    sink: receiver(),
    source: pagesOf(told("C-1", { terms: "30" }), told("C-2", { lines: [{ text: "ULSD" }] })),
  });
  await runFlow(bench.engine, flow, signal);
  await runFlow(bench.engine, flow, signal);
  expect(bench.store.questions.quarantine()).toMatchObject([
    {
      code: "changed-after-delivery",
      cause:
        "it was delivered for C-1 and is for C-2 now, and the receiver takes no changes:\n1.party: C-1, now C-2\n1.terms: 30, now nothing\n1.lines.1.text: nothing, now ULSD",
    },
  ]);
});

test("what is refused of a document that lost its number is told with the one that it was delivered under", async () => {
  const bench = engineOn(tempFolder());
  const told = (number: string, more = {}) => [
    { changes: [{ ...bill(number, "5", more), id: "row-7" }], position: 1 },
  ];
  const mapping = {
    ...billMapping,
    map(one: object) {
      if (!("deleted" in one)) return one;
      const next = "Void it by hand.";
      throw new Refused({ code: "cancelled-after-delivery", message: "it is deleted", next });
    },
  };
  const source = pagesOf(told("INV-1"), told("row-7", { deleted: true }));
  const flow = bench.flow({ mapping, sink: receiver(), source });
  await runFlow(bench.engine, flow, signal);
  await runFlow(bench.engine, flow, signal);
  expect(causes(bench)).toEqual([["delivered as INV-1: it is deleted", 1]]);
});

test("a receiver that takes changes is brought the new number under the link of the document", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ writes: "upsert" });
  const flow = bench.flow({ sink, source: pagesOf(row7("DT-1"), row7("DT-2")) });
  await runFlow(bench.engine, flow, signal);
  await runFlow(bench.engine, flow, signal);
  expect(sink.sent.map(({ body }) => JSON.parse(body)[0].number)).toEqual(["DT-1", "DT-2"]);
  expect(bench.store.links.find("invoice", "erp", "row-7")).toMatchObject({ number: "DT-2" });
});

test("what is gone at its receiver stays a person's, whatever its number is by now", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ writes: "upsert" });
  const flow = bench.flow({ sink, source: pagesOf(row7("DT-1"), row7("DT-2")) });
  await runFlow(bench.engine, flow, signal);
  const link = bench.store.links.find("invoice", "erp", "row-7") as Link;
  bench.store.transaction(() => lost(bench.engine, flow, link));
  await runFlow(bench.engine, flow, signal);
  expect(bench.store.questions.quarantine()).toMatchObject([{ code: "gone-before" }]);
  expect(sink.sent).toHaveLength(1);
});

test.each(["dup-1 ", " Dup-1", "DUP-1"])(
  "two documents whose numbers people read as one go one after the other: DUP-1 and %j",
  async (number) => {
    const bench = engineOn(tempFolder());
    const sink = receiver({ policy: { ...quickPolicy, settleMs: 60_000 } });
    sink.script.push(() => ({
      answer: { outcome: "unknown", holdMs: 60_000, detail: "500" },
      execute: true,
    }));
    const changes = [
      { ...bill("DUP-1", "1"), id: "A" },
      { ...bill(number, "5"), id: "B" },
    ];
    const flow = bench.flow({ sink, source: pagesOf([{ changes, position: 1 }]) });
    await runFlow(bench.engine, flow, signal);
    expect(sink.sent).toHaveLength(1);
    expect(Object.fromEntries(bench.store.deliveries.counts(flow.flow))).toEqual({
      frozen: 1,
      pending: 1,
    });
  },
);

test("a document that people read as the number of one that we wrote is for a person", async () => {
  const bench = engineOn(tempFolder());
  const back = receiver({ operation: "file.bill" });
  const out = bench.flow({
    sink: receiver(),
    source: pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]),
  });
  const home = bench.flow({
    name: "home",
    from: "platform.bills",
    to: "erp.bills",
    side: "platform",
    sink: back,
    source: pagesOf([{ changes: [{ ...bill("inv-1 ", "1"), id: "P-9" }], position: 1 }]),
  });
  await runFlow(bench.engine, out, signal);
  await runFlow(bench.engine, home, signal);
  expect(bench.store.questions.quarantine()).toMatchObject([
    {
      code: "doubled",
      cause: "inv-1  is there twice: we wrote INV-1 as id-of-INV-1, and this is P-9",
    },
  ]);
  expect(back.sent).toEqual([]);
});
