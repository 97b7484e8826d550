import { expect, test } from "vitest";
import type { Answer } from "../core/outcome.ts";
import { bill, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { Daemon } from "./daemon.ts";

const signal = new AbortController().signal;
const HOUR = 3_600_000;

/** Each run delivers one more document, and its first send is answered so. */
function benchOf(answer: (id: string) => Answer) {
  const bench = engineOn(tempFolder());
  const numbers = Array.from({ length: 9 }, (_, at) => `INV-${at}`);
  const pages = numbers.map((number, position) => [{ changes: [bill(number, "1")], position }]);
  const sink = receiver();
  const flow = bench.flow({ sink, source: pagesOf(...pages) });
  return {
    bench,
    sink,
    next: async () => {
      sink.script.push(({ items }) => ({
        answer: answer(`id-of-${items[0]?.number}`),
        execute: true,
      }));
      await new Daemon(bench.engine, [flow]).once(signal);
      return Object.fromEntries(bench.store.deliveries.counts(flow.flow));
    },
    stops: () => bench.store.journal.breakers().map(({ breaker }) => breaker),
  };
}
const replayed = (id: string): Answer => ({
  outcome: "done",
  repeated: true,
  detail: "201, replayed",
  ids: [id],
});

test("a network that delivers a request twice and shows the second answer: done, with a warning, and no stop", async () => {
  const { bench, sink, next, stops } = benchOf(replayed);
  expect(await next()).toEqual({ delivered: 1 });
  expect(bench.store.links.find("invoice", "erp", "INV-0")?.platformId).toBe("id-of-INV-0");
  expect(sink.sent).toHaveLength(1);
  expect(stops()).toEqual([]);
  expect(bench.notes).toContain("answered as replayed");
  const { delivery, request } = bench.store.questions.deliveries("INV-0")[0] ?? {};
  const events = bench.store.questions.audit(delivery ?? 0, request ?? null);
  expect(events.map(({ event }) => event)).toContain("warning: replayed");
});

test("in flight on a first send is asked again, and stops nothing", async () => {
  const { bench, sink, next, stops } = benchOf(() => ({
    outcome: "unknown",
    probe: true,
    running: true,
    detail: "409",
  }));
  sink.find = async ({ items }) => ({
    found: "exact",
    ids: [`id-of-${items[0]?.number}`],
    detail: "",
  });
  expect(await next()).toEqual({ delivered: 1 });
  expect(stops()).toEqual([]);
  expect(bench.notes).toContain("answered as in-flight");
});

test("the third replay of a first send within 24 hours is a second writer; once released, they count anew", async () => {
  const { bench, next, stops } = benchOf(replayed);
  for (let day = 0; day < 3; day++) {
    await next();
    bench.clock.advance(12 * HOUR + 1);
  }
  expect(stops()).toEqual([]);
  await next();
  expect(stops()).toEqual([]);
  await next();
  expect(stops()).toEqual(["split-brain"]);
  const [stop] = bench.store.journal.breakers();
  expect(stop?.message).toMatch(/^3 first sends within 24 hours were answered as repetitions/);

  const release = () => bench.store.journal.release("split-brain", "Ann", bench.clock.now().wallMs);
  bench.store.transaction(release);
  bench.clock.advance(1);
  expect(await next()).toEqual({ delivered: 6 });
  await next();
  expect(stops()).toEqual([]);
  await next();
  expect(stops()).toEqual(["split-brain"]);
});
