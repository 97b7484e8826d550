import { expect, test } from "vitest";
import { type Bench, bill, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Change, Sink } from "../core/contract.ts";
import { Daemon, runFlow } from "./daemon.ts";
import type { Flow } from "./engine.ts";

const signal = new AbortController().signal;
const counts = ({ store }: Bench, { flow }: Flow) =>
  Object.fromEntries(store.deliveries.counts(flow));
const nothingThere: Sink["find"] = async () => ({ found: "none", detail: "not there" });

/** Each read of the source tells these changes. */
const reads = (...pages: Change[][]) =>
  pagesOf(...pages.map((changes, position) => [{ changes, position }]));

/** The way home, on which the platform tells what we wrote to it. */
function homeOf(bench: Bench, told: Change): { home: Flow; back: Sink & { sent: unknown[] } } {
  const back = receiver({ operation: "file.bill" });
  const ends = { from: "platform.bills", to: "erp.bills", side: "platform" } as const;
  const home = bench.flow({ name: "home", ...ends, sink: back, source: reads([told]) });
  return { home, back };
}

test("an undecided document that comes by in a poll is settled, and its newer version is judged by that", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({
    find: nothingThere,
    recognise: (_, record) => [(record as { id: string }).id],
  });
  sink.script.push(() => ({
    answer: { outcome: "unknown", holdMs: 86_400_000, detail: "504" },
    execute: true,
  }));
  const out = bench.flow({
    sink,
    source: reads([bill("INV-1", "1")], [bill("INV-1", "1", { note: "new" })]),
  });
  await new Daemon(bench.engine, [out]).once(signal);
  await new Daemon(bench.engine, [out]).once(signal);
  expect(counts(bench, out)).toEqual({ superseded: 1, quarantined: 1 });

  const { home, back } = homeOf(bench, { ...bill("INV-1", "1", { id: "P-7" }), id: "P-7" });
  await new Daemon(bench.engine, [home, out]).once(signal);
  expect(counts(bench, home)).toEqual({ echo: 1 });
  expect(bench.store.links.find("invoice", "erp", "INV-1")).toMatchObject({ platformId: "P-7" });
  expect(counts(bench, out)).toEqual({ delivered: 1, quarantined: 1 });
  expect(bench.store.questions.quarantine()).toMatchObject([{ code: "changed-after-delivery" }]);
  expect([sink.executed.length, back.sent.length]).toEqual([1, 0]);
});

test("a record that is given another number while it is under way goes once", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  sink.script.push(() => ({
    answer: { outcome: "unknown", holdMs: 60_000, detail: "500" },
    execute: true,
  }));
  const flow = bench.flow({
    sink,
    source: reads([{ ...bill("C-1", "1"), id: "7" }], [{ ...bill("C-2", "1"), id: "7" }]),
  });
  await runFlow(bench.engine, flow, signal);
  await runFlow(bench.engine, flow, signal);
  expect(counts(bench, flow)).toEqual({ frozen: 1, pending: 1 });
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(counts(bench, flow)).toEqual({ delivered: 1, quarantined: 1 });
  expect(sink.executed).toHaveLength(1);
});

test("another document under the number of an undecided one waits, and is no part of that decision", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ find: nothingThere });
  sink.script.push(() => ({
    answer: { outcome: "unknown", holdMs: 86_400_000, detail: "504" },
    execute: false,
  }));
  const flow = bench.flow({
    sink,
    source: reads([{ ...bill("1001", "1"), id: "A" }], [{ ...bill("1001", "5"), id: "B" }]),
  });
  await new Daemon(bench.engine, [flow]).once(signal);
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(counts(bench, flow)).toEqual({ quarantined: 1, pending: 1 });
});

test("what goes out in a batch is not delivered back before its outcome is known", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ itemsMax: 5 });
  sink.script.push(() => ({
    answer: { outcome: "unknown", holdMs: 60_000, detail: "500" },
    execute: true,
  }));
  const out = bench.flow({ sink, source: reads([bill("INV-1", "1"), bill("INV-2", "1")]) });
  const { home, back } = homeOf(bench, { ...bill("INV-2", "1"), id: "P-2" });
  await runFlow(bench.engine, out, signal);
  await runFlow(bench.engine, home, signal);
  expect([counts(bench, home), back.sent]).toEqual([{ pending: 1 }, []]);
});
