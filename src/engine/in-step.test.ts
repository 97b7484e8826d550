/** When both sides are in step, and what keeps them from it. */
import { expect, test } from "vitest";
import {
  bill,
  billMapping,
  engineOn,
  pagesOf,
  type Receiver,
  receiver,
} from "../../test/support/engine.ts";
import { alike } from "../../mappings/values.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { testClock } from "../../test/support/clock.ts";
import {
  type Change,
  defineMapping,
  type Delivered,
  gone,
  type Page,
  type Sink,
  thereAsBrought,
} from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { nothingDone } from "../core/outcome.ts";
import { retry, select } from "../office/decisions.ts";
import { Daemon } from "./daemon.ts";
import type { Flow } from "./engine.ts";
import { outOfStep, type Reason } from "./schedule.ts";

const signal = new AbortController().signal;

/** What `once` leaves as reasons, with these parts. */
async function after(sink: Receiver, flow: Partial<Flow> = {}): Promise<Reason[]> {
  const bench = engineOn(tempFolder());
  const { engine } = bench;
  const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
  const flows = [bench.flow({ sink, source, ...flow })];
  const { inStep } = await new Daemon(engine, flows).once(signal);
  const reasons = outOfStep(engine, flows);
  expect(inStep).toBe(reasons.every(({ held }) => held));
  engine.store.close();
  return reasons;
}

test("in step is what was read whole and delivered whole", async () => {
  expect(await after(receiver())).toEqual([]);
});

test("a receiver that stays stopped is named with its first cause, beside what waits for it", async () => {
  const trouble = new SourceUnavailable("cannot create /srv/erp/import: EACCES", {
    next: "Give that right.",
  });
  const sink = receiver({ prepare: () => Promise.reject(trouble) });
  expect(await after(sink)).toMatchObject([
    {
      code: "stopped",
      flow: null,
      message: "stopped (receiver, platform): cannot create /srv/erp/import: EACCES",
      next: "Give that right.",
      held: false,
    },
    { code: "pending", flow: "bills", count: 1, held: false },
  ]);
});

test("a receiver that says it can take nothing now stops with its words; once tries again and ends", async () => {
  const sink = receiver({
    send: async () => nothingDone("EACCES: rename", { stop: "receiver", next: "Give that right." }),
  });
  const bench = engineOn(tempFolder());
  const { clock, engine } = bench;
  const source = pagesOf([{ changes: [bill("INV-1", "1"), bill("INV-2", "1")], position: 1 }]);
  const flow = bench.flow({ sink, source });
  const began = clock.now().wallMs;
  await new Daemon(engine, [flow]).once(signal);
  expect(outOfStep(engine, [flow])).toMatchObject([
    { code: "stopped", message: expect.stringContaining("EACCES"), next: "Give that right." },
    { code: "pending", count: 2 },
  ]);
  // A stop is no failed attempt.
  for (const { machine } of engine.store.requests.open(flow.flow))
    expect(machine).toMatchObject({ state: "ready", sends: 0, failures: 0 });
  expect(clock.now().wallMs - began).toBeGreaterThanOrEqual(60_000);
  expect(clock.now().wallMs - began).toBeLessThan(150_000);
});

test("once reads a source that a stop barred, when the stop is gone", async () => {
  const bench = engineOn(tempFolder());
  const { clock, engine } = bench;
  const out = bench.flow({ name: "out", sink: receiver(), source: pagesOf([]), to: "erp.orders" });
  const stored = { changes: [bill("INV-1", "1")], position: 1 };
  engine.store.transaction(() => engine.store.intake.page(out.flow, stored, 0));
  engine.store.transaction(() =>
    engine.store.journal.trip({
      breaker: "receiver",
      scope: "erp",
      sinceMs: clock.now().wallMs,
      retryMs: clock.now().wallMs + 60_000,
      message: "EACCES",
      next: "Give that right.",
    }),
  );
  const read = bench.flow({ name: "in", sink: receiver(), source: pagesOf([]) });
  const other = { ...out, from: "platform.orders", side: "platform" } as const;
  expect(await new Daemon(engine, [other, read]).once(signal)).toEqual({ inStep: true });
  expect(outOfStep(engine, [other, read])).toEqual([]);
});

test("a source that could not be read is unread, with its trouble", async () => {
  const trouble = new SourceUnavailable("EACCES: invoices.csv", { next: "Give that right." });
  const source = { read: () => failing(trouble) };
  expect(await after(receiver(), { source })).toMatchObject([
    { code: "unread", flow: "bills", message: "EACCES: invoices.csv", held: false },
  ]);
});

test("what is paused keeps both sides out of step, though nothing is left to do", async () => {
  expect(await after(receiver(), { paused: true })).toMatchObject([
    { code: "paused", flow: "bills", held: true },
  ]);
});

test("what was never read is not in step", () => {
  const bench = engineOn(tempFolder());
  const { engine } = bench;
  const flows = [bench.flow({ sink: receiver(), source: pagesOf() })];
  expect(outOfStep(engine, flows)).toMatchObject([{ code: "never-read", flow: "bills" }]);
  engine.store.close();
});

test("what a flow has frozen and never sent goes by the flow that has its place, once, when it has another name", async () => {
  const folder = tempFolder();
  const before = engineOn(folder);
  const changes = [bill("INV-1", "1"), bill("INV-2", "2")];
  const mapping: typeof billMapping = {
    ...billMapping,
    likeness: ({ number, amount }) =>
      alike({ party: "C-1", amount, day: "2026-11-20", names: [number], number }),
  };
  const sink = receiver({
    send: async () => nothingDone("EACCES", { stop: "receiver", next: "" }),
  });
  const old = before.flow({
    name: "old",
    mapping,
    sink,
    source: pagesOf([{ changes, position: 1 }]),
  });
  await new Daemon(before.engine, [old]).once(signal);
  expect(before.store.requests.openCount(old.flow)).toBe(2);
  before.store.close();

  const after = engineOn(folder, before.clock);
  const working = receiver();
  const source = pagesOf([{ changes, position: 1 }]);
  const flow = after.flow({ name: "new", mapping, sink: working, source });
  expect(await new Daemon(after.engine, [flow]).once(signal)).toEqual({ inStep: true });
  expect(Object.fromEntries(after.store.deliveries.counts(flow.flow))).toEqual({ delivered: 2 });
  expect(working.executed.map(({ body }) => body).toSorted()).toEqual([
    '[{"number":"INV-1","amount":1}]',
    '[{"number":"INV-2","amount":2}]',
  ]);
  expect(outOfStep(after.engine, [flow])).toEqual([]);
});

test("what may have left under a flow that is configured no more is named, with what waits for it", async () => {
  const folder = tempFolder();
  const before = engineOn(folder);
  const changes = [bill("INV-1", "1")];
  const sink = receiver({
    send: async () => ({ outcome: "unknown", detail: "no answer" }),
    find: async () => ({ found: "unreadable", detail: "away" }),
  });
  const old = before.flow({ name: "old", sink, source: pagesOf([{ changes, position: 1 }]) });
  await new Daemon(before.engine, [old]).once(signal);
  before.store.close();

  const after = engineOn(folder, before.clock);
  const source = pagesOf([{ changes, position: 1 }]);
  const flow = after.flow({ name: "new", sink: receiver(), source });
  await new Daemon(after.engine, [flow]).once(signal);
  expect(outOfStep(after.engine, [flow])).toMatchObject([
    { code: "pending", flow: "new", count: 1 },
    { code: "left", flow: "old", count: 1, next: expect.stringContaining("the name old") },
  ]);
  after.store.close();
});

test("what waits under a flow that is configured no more is told, unless another flow of its kind has read it", async () => {
  const folder = tempFolder();
  const before = engineOn(folder);
  const changes = [bill("INV-1", "1"), bill("INV-2", "2"), bill("INV-3", "3")];
  const silent = receiver({
    prepare: () => Promise.reject(new SourceUnavailable("away", { next: "Wait." })),
  });
  const old = before.flow({
    name: "old",
    sink: silent,
    source: pagesOf([{ changes, position: 1 }]),
  });
  await new Daemon(before.engine, [old]).once(signal);
  before.store.close();

  const after = engineOn(folder, before.clock);
  const mapping = defineMapping({ ...billMapping, kind: "bill" });
  const one = (name: string, more: Partial<Flow>, read: readonly Change[]) =>
    after.flow({
      name,
      sink: receiver(),
      source: pagesOf([{ changes: [...read], position: 1 }]),
      ...more,
    });
  // Bills that happen to have these ids are others.
  const other = one("other", { mapping }, changes);
  await new Daemon(after.engine, [other]).once(signal);
  const told = () => outOfStep(after.engine, [...after.engine.flows]);
  expect(told()).toMatchObject([
    { code: "left", flow: "old", count: 3, message: expect.stringContaining("3 documents were") },
  ]);
  const renamed = one("new", {}, changes.slice(1));
  await new Daemon(after.engine, [other, renamed]).once(signal);
  expect(told()).toMatchObject([{ code: "left", flow: "old", count: 1 }]);
  after.store.close();
});

const elsewhere: [string, (name: string) => Pick<Flow, "to"> & Pick<Sink, "place">][] = [
  ["receiver", (to) => ({ to })],
  ["folder", (name) => ({ to: "erp.bills", place: async () => name })],
];
test.each(elsewhere)(
  "a flow that leads to another %s changes nothing there before a person says so",
  async (_what, at) => {
    const folder = tempFolder();
    const clock = testClock();
    const ends = { from: "platform.bills", side: "platform" } as const;
    const version = (number: string, amount: string, at: number) => ({
      ...bill(number, amount),
      version: `${at}`,
    });
    /** What each receiver got, in all starts: it is asked what it still holds. */
    const got = new Map<string, ReturnType<typeof receiver>["sent"][]>();
    /** One start with this receiver; what its causes are then, and what it got. */
    const start = async (
      name: string,
      changes: readonly Change[],
      script: Receiver["script"] = [],
    ) => {
      const { engine, store, ...bench } = engineOn(folder, clock);
      const { to, ...place } = at(name);
      const find = async () => ({ found: "unreadable", detail: "away" }) as const;
      const its = got.get(name) ?? [];
      const has = (asked: string | null) => its.flat().some(({ body }) => body === asked);
      const inspect = async (all: readonly Delivered[]) =>
        all.map(({ body }) => (has(body) ? thereAsBrought : gone));
      const sink = receiver({ writes: "upsert", find, inspect, ...place });
      its.push(sink.sent);
      got.set(name, its);
      sink.script.push(...script);
      const mapping = defineMapping({ ...billMapping, posts: false });
      const source = pagesOf([{ changes: [...changes], position: 1 }]);
      const flow = bench.flow({ ...ends, to, mapping, sink, source });
      const daemon = new Daemon(engine, [flow]);
      await daemon.once(signal);
      const causes = store.questions.quarantine().map(({ code, number }) => [code, number]);
      return {
        causes: causes.toSorted((one, other) => (one.join() < other.join() ? -1 : 1)),
        sent: () => sink.sent.map(({ body }) => body),
        engine,
        flow,
        daemon,
        store,
      };
    };
    const lost = () => ({ answer: { outcome: "unknown", detail: "?" }, execute: false }) as const;
    const off = () => ({ answer: nothingDone("off", { stop: "receiver" }), execute: false });
    const of = (number: string, amount: string) => `[{"number":"${number}","amount":${amount}}]`;

    const first = await start("erp.bills", [version("A", "1", 1), version("B", "1", 1)]);
    first.store.close();
    const news = [version("C", "1", 1), version("D", "1", 1)];
    const stopped = await start("erp.bills", news, [lost, off, off, off]);
    stopped.store.close();

    clock.advance(3_600_000);
    const changed = [version("A", "2", 2), { ...version("B", "1", 2) }];
    const moved = await start("other.bills", changed);
    // What was sent and is not known to have arrived, and what changed; what never left goes to the new one, and B is as it was.
    expect(moved.causes).toEqual([
      ["maybe-delivered", "C"],
      ["other-receiver", "A"],
    ]);
    expect(moved.sent()).toEqual([of("D", "1")]);
    for (const one of select(moved.engine, [moved.flow], "all")) retry(moved.engine, one);
    await moved.daemon.once(signal);
    expect(moved.sent().toSorted()).toEqual([of("A", "2"), of("C", "1"), of("D", "1")]);
    moved.store.close();
    // From then on it is there; what stayed behind counts again where the name is put back.
    const later = await start("other.bills", [version("A", "3", 3)]);
    expect([later.causes, later.sent()]).toEqual([[], [of("A", "3")]]);
    later.store.close();
    const back = await start("erp.bills", [version("A", "4", 4), version("B", "2", 4)]);
    expect([back.causes, back.sent()]).toEqual([[["other-receiver", "A"]], [of("B", "2")]]);
    back.store.close();
  },
);

test("a stop keeps both sides out of step though nothing is pending", () => {
  const { engine } = engineOn(tempFolder());
  const stop = {
    breaker: "receiver",
    scope: "erp",
    sinceMs: 0,
    retryMs: 1,
    message: "m",
    next: "n",
  };
  engine.store.transaction(() => engine.store.journal.trip(stop));
  expect(outOfStep(engine, [])).toMatchObject([{ code: "stopped", flow: null, held: false }]);
  engine.store.close();
});

async function* failing(error: Error): AsyncGenerator<Page> {
  yield { changes: [], position: 1 };
  throw error;
}
