import { expect, test } from "vitest";
import { type Delivered, gone, thereAsBrought } from "../core/contract.ts";
import { type Chosen, resolve, retry, select } from "../office/decisions.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { bill, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { Daemon } from "./daemon.ts";

const signal = new AbortController().signal;
const numbers = Array.from({ length: 603 }, (_, index) => `INV-${index}`);

/** A receiver whose books can be put back to how they were. */
function books() {
  const there = new Set<string>();
  const sink = receiver({
    inspect: async (delivered) =>
      delivered.map(({ counterpart }) => (there.has(counterpart) ? thereAsBrought : gone)),
  });
  const send = sink.send.bind(sink);
  sink.send = async (request, by) => {
    const answer = await send(request, by);
    for (const id of answer.ids ?? []) if (id !== null) there.add(id);
    return answer;
  };
  return { sink, there };
}

test("documents that books lost with a restore become work for a person, and go again when told", async () => {
  const bench = engineOn(tempFolder());
  const { sink, there } = books();
  const flow = bench.flow({
    sink,
    source: pagesOf([{ changes: numbers.map((number) => bill(number, "1.00")), position: 1 }]),
  });
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(there.size).toBe(numbers.length);

  const backup = numbers.slice(0, 40).map((number) => `id-of-${number}`);
  there.clear();
  for (const id of backup) there.add(id);
  await new Daemon(bench.engine, [flow]).once(signal);
  const counts = () => Object.fromEntries(bench.store.deliveries.counts(flow.flow));
  expect(counts()).toEqual({ delivered: 40, quarantined: 563 });
  const [cause, ...others] = bench.store.questions.quarantine();
  expect(others).toEqual([]);
  expect(cause).toMatchObject({
    code: "gone",
    cause: 'it was delivered, but "platform" no longer has it, or not as it was brought there',
  });

  // A second restore brings some of them back: nobody need do anything about those.
  for (const number of numbers.slice(40, 60)) there.add(`id-of-${number}`);
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(counts()).toEqual({ delivered: 60, quarantined: 543 });
  expect(bench.store.links.find("invoice", "erp", "INV-40")).toMatchObject({ amount: "1" });
  expect(sink.sent).toHaveLength(numbers.length);

  bench.store.transaction(() => {
    for (const one of select(bench.engine, [flow], "all")) retry(bench.engine, one);
  });
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(counts()).toEqual({ delivered: numbers.length });
  expect(there.size).toBe(numbers.length);
});

test("a receiver that shows nothing of many is left alone until something is there, or a person says so", async () => {
  const bench = engineOn(tempFolder());
  const { sink, there } = books();
  const changes = numbers.slice(0, 25).map((number) => bill(number, "1.00"));
  const flow = bench.flow({
    sink,
    source: pagesOf(
      [{ changes, position: 1 }],
      [{ changes: [bill("INV-NEW", "1.00")], position: 2 }],
    ),
  });
  const once = () => new Daemon(bench.engine, [flow]).once(signal);
  const counts = () => Object.fromEntries(bench.store.deliveries.counts(flow.flow));
  const stops = () => bench.store.journal.breakers().map(({ breaker }) => breaker);
  await once();
  const [first = "", ...others] = there;
  there.clear();
  await once();
  expect(stops()).toEqual(["emptied"]);
  expect(counts()).toEqual({ delivered: 25, frozen: 1 });

  there.add(first);
  for (const id of others) there.add(id);
  await once();
  expect(stops()).toEqual([]);
  expect(counts()).toEqual({ delivered: 26 });

  there.clear();
  await once();
  expect(stops()).toEqual(["emptied"]);
  bench.store.transaction(() =>
    bench.store.journal.release("emptied", "Ann", bench.clock.now().wallMs),
  );
  await once();
  expect(stops()).toEqual([]);
  expect(counts()).toEqual({ quarantined: 26 });
});

test("what changes after it is gone goes again only when a person says so", async () => {
  const bench = engineOn(tempFolder());
  const { sink, there } = books();
  const version = (at: number) => [
    { changes: [bill("INV-1", `${at}.00`), bill("INV-2", "1.00")], position: at },
  ];
  const flow = bench.flow({
    sink,
    source: pagesOf(version(1), [], version(2), version(3), version(4), version(5)),
  });
  const once = () => new Daemon(bench.engine, [flow]).once(signal);
  const decide = (how: (chosen: Chosen) => void) =>
    bench.store.transaction(() => {
      for (const one of select(bench.engine, [flow], "all")) how(one);
    });
  const causes = () => bench.store.questions.quarantine().map(({ code, count }) => [code, count]);
  await once();
  there.delete("id-of-INV-1");
  await once();
  expect(causes()).toEqual([["gone", 1]]);
  // It changes while nobody has decided.
  await once();
  expect(causes()).toEqual([["gone-before", 1]]);
  decide((one) => resolve(bench.engine, [one], { by: "Ann", note: "removed on purpose" }));
  await once();
  expect(causes()).toEqual([["gone-before", 1]]);
  expect(sink.sent).toHaveLength(2);

  // The next version comes before the one that was retried has gone: the decision was about the document.
  decide((one) => retry(bench.engine, one));
  await once();
  expect(causes()).toEqual([]);
  expect(sink.sent).toHaveLength(3);
  await once();
  expect(causes()).toEqual([["amount-changed-after-posting", 1]]);
  expect(sink.sent).toHaveLength(3);
});

test("nothing is taken for lost while the receiver cannot be asked", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({
    inspect: () =>
      Promise.reject(new SourceUnavailable("the books cannot be reached", { next: "" })),
  });
  const flow = bench.flow({
    sink,
    source: pagesOf([{ changes: [bill("INV-1", "1.00")], position: 1 }]),
  });
  for (let start = 0; start < 2; start++) await new Daemon(bench.engine, [flow]).once(signal);
  expect(Object.fromEntries(bench.store.deliveries.counts(flow.flow))).toEqual({ delivered: 1 });
});

test("what changed while it was gone goes on as a change, once the old books are back", async () => {
  const bench = engineOn(tempFolder());
  const { sink, there } = books();
  const version = (at: number) => [{ changes: [bill("INV-1", `${at}.00`)], position: at }];
  const flow = bench.flow({ sink, source: pagesOf(version(1), [], version(2), []) });
  const once = () => new Daemon(bench.engine, [flow]).once(signal);
  const causes = () => bench.store.questions.quarantine().map(({ code }) => code);
  await once();
  there.delete("id-of-INV-1");
  await once();
  await once();
  expect(causes()).toEqual(["gone-before"]);
  there.add("id-of-INV-1");
  await once();
  expect(causes()).toEqual(["amount-changed-after-posting"]);
  expect(bench.store.links.find("invoice", "erp", "INV-1")).toMatchObject({ amount: "1" });
});

test("a receiver is asked with the bytes that each document last went in", async () => {
  const bench = engineOn(tempFolder());
  const asked: Delivered[] = [];
  const sink = receiver({
    writes: "upsert",
    async inspect(delivered) {
      asked.push(...delivered);
      return delivered.map(() => thereAsBrought);
    },
  });
  const flow = bench.flow({
    sink,
    source: pagesOf(
      [{ changes: [bill("INV-1", "1.00"), bill("INV-2", "2.00")], position: 1 }],
      [
        {
          changes: [
            {
              ...bill("INV-1", "1.00"),
              text: bill("INV-1", "1.00").text.replace("}", ',"note":"new"}'),
            },
          ],
          position: 2,
        },
      ],
    ),
  });
  await new Daemon(bench.engine, [flow]).once(signal);
  await new Daemon(bench.engine, [flow]).once(signal);
  asked.length = 0;
  await new Daemon(bench.engine, [flow]).once(signal);
  const bodies = new Map(asked.map(({ counterpart, body }) => [counterpart, body]));
  expect(bodies.get("id-of-INV-1")).toContain("new");
  expect(bodies.get("id-of-INV-2")).toContain("INV-2");
});

test("a document of ours that somebody touched there is inspected next, whatever its place in the round", async () => {
  const bench = engineOn(tempFolder());
  const many = Array.from({ length: 1_700 }, (_, index) => `INV-${index}`);
  const left = new Set<string>();
  const { sink } = books();
  sink.inspect = async (delivered) =>
    delivered.map(({ counterpart }) => (left.has(counterpart) ? gone : thereAsBrought));
  const out = bench.flow({
    sink,
    source: pagesOf([{ changes: many.map((number) => bill(number, "1.00")), position: 1 }]),
  });
  // Not among the newest, and the last of the round.
  const touched = { ...bill("INV-999", "1.00"), id: "id-of-INV-999" };
  const home = bench.flow({
    name: "home",
    side: "platform",
    from: "platform.bills",
    to: "erp.bills",
    sink: receiver({ operation: "file.bill" }),
    source: pagesOf([], [{ changes: [touched], position: 2 }]),
  });
  const once = () => new Daemon(bench.engine, [out, home]).once(signal);
  await once();
  left.add(touched.id);
  await once();
  bench.clock.advance(3_600_000);
  await once();
  expect(bench.store.questions.quarantine()).toMatchObject([{ code: "gone" }]);
});
