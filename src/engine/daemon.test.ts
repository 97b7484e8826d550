import { expect, test } from "vitest";
import { testClock, type TestClock } from "../../test/support/clock.ts";
import {
  type Bench,
  bill,
  billMapping,
  engineOn,
  pagesOf,
  receiver,
} from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { defineMapping, type Page, type Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Kind } from "../core/kinds.ts";
import type { Clock } from "../core/time.ts";
import { nothingDone } from "../core/outcome.ts";
import type { Link, Side } from "../store/deliveries.ts";
import { ledger } from "../store/journal.ts";
import { Daemon, runFlow } from "./daemon.ts";
import type { Engine, Flow, Pace } from "./engine.ts";

const MINUTE = 60_000;

/** Runs the daemon until `done`, or for `minutes` of its clock; a run that was started ends before time goes on. */
async function runFor(
  { clock, ...engine }: Engine & { clock: TestClock },
  which: Flow | readonly Flow[],
  minutes: number,
  done = () => false,
): Promise<Daemon> {
  const flows = [which].flat();
  const stop = new AbortController();
  const until = clock.now().wallMs + minutes * MINUTE;
  const pause: Clock["pause"] = async (ms, by) => {
    while (flows.some(({ name }) => daemon.isRunning(name)))
      await new Promise((resolve) => setImmediate(resolve));
    await clock.pause(by?.aborted ? 0 : ms);
    if (done() || clock.now().wallMs >= until) stop.abort();
  };
  const daemon = new Daemon({ ...engine, clock: { ...clock, pause } }, flows);
  await daemon.run(stop.signal);
  return daemon;
}

/** Says when it is read, by the monotonic clock in minutes. */
function heard(clock: TestClock, trouble: () => Error | null = () => null) {
  const reads: number[] = [];
  const source = {
    async *read() {
      reads.push(clock.now().monoMs / MINUTE);
      const error = trouble();
      if (error !== null) throw error;
      yield { changes: [], position: reads.length };
    },
  };
  return { reads, source };
}

test("an overdue flow runs once however long nothing ran, then on its schedule", async () => {
  const bench = engineOn(tempFolder());
  let reads = 0;
  const source = {
    async *read() {
      reads++;
      yield { changes: [], position: reads };
    },
  };
  const flow = bench.flow({ sink: receiver(), source });
  await runFor({ ...bench.engine, clock: bench.clock }, flow, 3.5);
  expect(reads).toBeGreaterThanOrEqual(3);
  expect(reads).toBeLessThanOrEqual(5);
});

test("a reading that the end of the process cuts short was no look: it goes on at the next start, and nothing says that all was read", async () => {
  const bench = engineOn(tempFolder());
  const stop = new AbortController();
  let reads = 0;
  const source = {
    async *read() {
      reads++;
      yield { changes: [bill(`INV-${reads}`, "1")], position: reads };
      stop.abort();
    },
  };
  const flow = bench.flow({ sink: receiver(), source, schedule: { everyMs: 60 * MINUTE } });
  await new Daemon(bench.engine, [flow]).run(stop.signal);
  expect(bench.store.flows.find(flow.name)).toMatchObject({ position: "1", success_ms: null });
  await runFor({ ...bench.engine, clock: bench.clock }, { ...flow, source: pagesOf([]) }, 1);
  expect(bench.store.flows.find(flow.name)?.success_ms).not.toBeNull();
});

const AUTO = { everyMs: 60 * MINUTE, auto: { leastMs: 15_000 } };

/** A feed of the platform, which delivers to an ERP. */
const feedOf = (
  bench: Bench,
  { kind = "invoice", ...more }: { kind?: Kind; source: Source; schedule: Flow["schedule"] },
): Flow =>
  bench.flow({
    name: `${kind} ${"auto" in more.schedule}`,
    side: "platform",
    from: `platform.${kind}`,
    to: "erp.documents",
    mapping: { ...billMapping, kind },
    sink: receiver({ operation: `file.${kind}` }),
    ...more,
  });

const paced = (looked: Pace["looked"] = () => {}): Pace => ({
  intervalMs: (_, after) => ({ nothing: 60, change: 10, write: 5 })[after] * MINUTE,
  looked,
  isWorked: () => false,
});

const page = (number: string): Page[] => [{ changes: [bill(number, "1")], position: number }];

const linkOf = (platformId: string, erpId: string, born: Side): Link => ({
  kind: "invoice",
  platformId,
  erpId,
  born,
  number: erpId,
  content: null,
  amount: null,
});

test("after a write to the platform the feed that shows it looks sooner, no other one, and only where it finds its own pace", async () => {
  const bench = engineOn(tempFolder());
  const { clock } = bench;
  const began = clock.now().monoMs / MINUTE;
  const feed = (kind: Kind, schedule: Flow["schedule"]) => {
    const { reads, source } = heard(clock);
    feedOf(bench, { kind, schedule, source });
    return () => reads.map((at) => Math.round(at - began));
  };
  const hourly = { everyMs: AUTO.everyMs };
  const feeds = [feed("invoice", AUTO), feed("order", AUTO), feed("invoice", hourly)];
  // At 20 and 26 minutes: the second write comes a minute after the look that the first one brought forward.
  const written = pagesOf([], page("INV-1"), page("INV-2"));
  const cron = { cron: "20,26 * * * *", timeZone: "UTC" };
  bench.flow({ sink: receiver(), source: written, schedule: cron });
  await runFor({ ...bench.engine, pace: paced(), clock }, bench.engine.flows, 70);
  expect(feeds.map((reads) => reads())).toEqual([
    [0, 25, 35],
    [0, 60],
    [0, 60],
  ]);
});

test("what is settled or asked for without a write to the platform brings no look forward", async () => {
  const bench = engineOn(tempFolder());
  const { clock } = bench;
  const began = clock.now().monoMs / MINUTE;
  const { reads, source } = heard(clock);
  feedOf(bench, { schedule: AUTO, source });
  const sink = receiver();
  const fault = { code: "bad-row" as const, message: "price is 0", next: "" };
  sink.script.push(() => ({
    answer: { outcome: "refused", detail: "400", fault },
    execute: false,
  }));
  // One is refused, one came from the platform, one cannot be mapped.
  const unfit = [{ changes: [{ ...bill("INV-3", "1"), text: "{}" }], position: 3 }];
  const from = pagesOf([], page("INV-1"), page("INV-2"), unfit);
  bench.store.transaction(() => bench.store.links.save(linkOf("P-2", "INV-2", "platform"), 0));
  const schedule = { cron: "20,22,24 * * * *", timeZone: "UTC" };
  bench.flow({ sink, source: from, schedule });
  await runFor({ ...bench.engine, pace: paced(), clock }, bench.engine.flows, 55);
  expect(sink.sent).toHaveLength(1);
  expect(reads.map((at) => Math.round(at - began))).toEqual([0]);
});

test("what the site wrote itself hastens no look when it comes back, and is no change that a feed learns from", async () => {
  const bench = engineOn(tempFolder());
  const { clock } = bench;
  const began = clock.now().wallMs;
  const source = pagesOf([], page("P-1"), page("P-2"));
  feedOf(bench, { schedule: AUTO, source });
  bench.store.transaction(() => bench.store.links.save(linkOf("P-1", "INV-1", "erp"), 0));
  const looks: number[][] = [];
  const pace = paced((_, { toMs, changes }) => {
    looks.push([Math.round((toMs - began) / MINUTE), changes]);
  });
  await runFor({ ...bench.engine, pace, clock }, bench.engine.flows, 135);
  // At 60 minutes its own, at 120 another's: the next look comes sooner only after that.
  expect(looks).toEqual([
    [60, 0],
    [120, 1],
    [130, 0],
  ]);
});

test("a refused batch is halved at once, not at the next look", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ itemsMax: 200, writes: "upsert" });
  const whole = sink.send.bind(sink);
  const fault = { code: "bad-row" as const, message: "price is 0", next: "" };
  sink.send = async (request, signal) =>
    request.body.includes('"INV-37"')
      ? { outcome: "refused", detail: "400", fault }
      : whole(request, signal);
  const changes = Array.from({ length: 100 }, (_, index) => bill(`INV-${index}`, "1"));
  let reads = 0;
  const source = {
    async *read() {
      reads++;
      yield { changes, position: reads };
    },
  };
  const flow = bench.flow({ sink, source, schedule: { everyMs: 24 * 3_600_000 } });
  const counts = () => bench.store.deliveries.counts(flow.flow);
  const isAlone = (): boolean => counts().get("quarantined") === 1;
  await runFor({ ...bench.engine, clock: bench.clock }, flow, 60, isAlone);
  expect(counts()).toEqual(
    new Map([
      ["delivered", 99],
      ["quarantined", 1],
    ]),
  );
  expect(reads).toBe(1);
});

test("a read-back that cannot be made is tried ever more seldom", async () => {
  const bench = engineOn(tempFolder());
  let reads = 0;
  const sink = receiver({
    send: async () => ({ outcome: "unknown", holdMs: 60_000, detail: "500" }),
    find: async () => {
      reads++;
      return { found: "unreadable", detail: "503" };
    },
  });
  const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
  await runFor({ ...bench.engine, clock: bench.clock }, bench.flow({ sink, source }), 60);
  expect(reads).toBeGreaterThan(5);
  expect(reads).toBeLessThan(40);
});

test("it rests once after work, and not while there is nothing to rest from", async () => {
  const bench = engineOn(tempFolder());
  let rests = 0;
  const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
  const flow = bench.flow({ sink: receiver(), source });
  await runFor({ ...bench.engine, clock: bench.clock, rest: () => rests++ }, flow, 5);
  expect(rests).toBe(1);
});

test("a clock that was 26 hours ahead at one start stops nothing at the next: flows run, stops are tried, and it is told", async () => {
  const folder = tempFolder();
  const start = Date.parse("2026-11-21T12:00:00Z");
  const ahead = engineOn(folder, testClock(start + 26 * 60 * MINUTE));
  const refused = new SourceUnavailable("401", { next: "", stop: "credentials" });
  const first = heard(ahead.clock, () => refused);
  const hourly = { everyMs: 60 * MINUTE };
  const flowOn = (bench: typeof ahead, source: typeof first.source) =>
    bench.flow({ sink: receiver(), source, schedule: hourly });
  await runFor({ ...ahead.engine, clock: ahead.clock }, flowOn(ahead, first.source), 5);
  expect(first.reads).toHaveLength(1);
  expect(ahead.store.journal.breakers()).toMatchObject([{ breaker: "credentials" }]);
  ahead.store.close();

  const right = engineOn(folder, testClock(start));
  const second = heard(right.clock);
  const flow = flowOn(right, second.source);
  const daemon = await runFor({ ...right.engine, clock: right.clock }, flow, 90);
  expect(second.reads).toHaveLength(2);
  expect(right.store.journal.breakers()).toEqual([]);
  expect(right.notes).toContain("clock jumped");
  expect(daemon.clockJump).toMatchObject({ at: "2026-11-21T12:00:00.000Z" });
  expect(daemon.clockJump?.byMs).toBeCloseTo(-(26 * 60 + 5) * MINUTE, -6);
  right.store.close();
});

test("no stop waits longer than any may: what a clock that was ahead has put off for weeks is tried at once", () => {
  const bench = engineOn(tempFolder());
  const wallMs = bench.clock.now().wallMs;
  const stop = { scope: "platform", message: "", next: "", sinceMs: wallMs - MINUTE };
  const put = (breaker: string, retryMs: number | null) =>
    bench.store.journal.trip({ ...stop, breaker, retryMs });
  const endOfMonth = Date.parse("2026-12-01T00:00:00Z");
  put("quota", endOfMonth);
  put("version", wallMs + 26 * 60 * MINUTE);
  put("doubled", null);
  expect(new Daemon(bench.engine, []).clockJump).toBeNull();
  const retries = () =>
    bench.store.journal.breakers().map(({ breaker, retryMs }) => [breaker, retryMs]);
  expect(Object.fromEntries(retries())).toEqual({
    quota: endOfMonth,
    version: wallMs,
    doubled: null,
  });
  expect(ledger(bench.store).closedUntil(wallMs)).toBe(endOfMonth);
  put("quota", Date.parse("2027-01-01T00:00:00Z"));
  expect(new Daemon(bench.engine, []).clockJump).toBeNull();
  expect(ledger(bench.store).closedUntil(wallMs)).toBeNull();
});

test("a clock that steps back an hour while running delays no flow, and the log says by how much", async () => {
  const bench = engineOn(tempFolder());
  const { clock } = bench;
  const { reads, source } = heard(clock);
  const flow = bench.flow({ sink: receiver(), source, schedule: { everyMs: 10 * MINUTE } });
  const began = clock.now().monoMs;
  const told: unknown[] = [];
  const note = (event: string, details: unknown) => void told.push([event, details]);
  let isSet = false;
  const setOnce = (): boolean => {
    if (!isSet && clock.now().monoMs - began > 15 * MINUTE) {
      isSet = true;
      clock.set(-60 * MINUTE);
    }
    return clock.now().monoMs - began > 60 * MINUTE;
  };
  const daemon = await runFor({ ...bench.engine, note, clock }, flow, 600, setOnce);
  const gaps = reads.slice(1).map((at, index) => Math.round(at - (reads[index] ?? 0)));
  expect([gaps.length, ...new Set(gaps)]).toEqual([6, 10]);
  expect(told).toEqual([
    ["clock jumped", { byMs: -60 * MINUTE, detail: expect.stringContaining("set back") }],
  ]);
  expect(daemon.clockJump?.byMs).toBe(-60 * MINUTE);
  // What the store and `status` say is by the clock as it is now.
  expect(bench.store.flows.find(flow.name)?.next_due_ms).toBeLessThan(
    clock.now().wallMs + 11 * MINUTE,
  );
});

test("a stop stands while a document waits for what it stops, and ends when none does", async () => {
  const folder = tempFolder();
  const bench = engineOn(folder);
  const send = async () => nothingDone("HTTP 403", { stop: "scope" });
  const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
  const flow = bench.flow({ sink: receiver({ send }), source });
  await runFor({ ...bench.engine, clock: bench.clock }, flow, 120);
  const stop = { breaker: "scope", scope: "bill.create" };
  expect(bench.store.journal.breakers()).toMatchObject([stop]);
  bench.store.close();

  // The flow is not configured any more: nothing would ever try the operation again.
  const later = engineOn(folder, bench.clock);
  const { journal } = later.store;
  const other = later.flow({
    name: "other",
    from: "elsewhere.bills",
    to: "nowhere.bills",
    sink: receiver({ operation: "other.create" }),
    source: pagesOf(),
  });
  const put = (breaker: string, scope: string, retryMs: number | null) =>
    journal.trip({ breaker, scope, retryMs, message: "", next: "", sinceMs: 0 });
  const wallMs = later.clock.now().wallMs;
  // What only a person ends, what inspection tries, and what is read again by itself.
  put("doubled", "bill.create", null);
  put("emptied", "erp", wallMs);
  put("receiver", "elsewhere", wallMs + 100 * 60 * MINUTE);
  put("quota", "platform", wallMs + 60 * MINUTE);
  await runFor({ ...later.engine, clock: later.clock }, other, 30);
  const scopes = () => journal.breakers().map(({ breaker }) => breaker);
  expect(scopes().toSorted()).toEqual(["doubled", "emptied", "quota"]);
  await runFor({ ...later.engine, clock: later.clock }, other, 60);
  expect(scopes().toSorted()).toEqual(["doubled", "emptied"]);
});

test("a receiver that takes nothing stops no reading there, and what is read well does not end its stop", async () => {
  const bench = engineOn(tempFolder());
  const prepare = () =>
    Promise.reject(new SourceUnavailable("cannot create /srv/in: EACCES", { next: "Grant it." }));
  const out = bench.flow({
    name: "out",
    from: "platform.bills",
    to: "erp.bills",
    side: "platform",
    sink: receiver({ operation: "file.deliver", prepare }),
    source: pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]),
  });
  const back = bench.flow({
    name: "back",
    mapping: defineMapping({ ...billMapping, kind: "bill" }),
    sink: receiver(),
    source: pagesOf([{ changes: [bill("B-1", "1")], position: 1 }]),
  });
  for (const flow of [out, back]) await runFlow(bench.engine, flow, new AbortController().signal);
  expect(bench.store.flows.find("back")).toMatchObject({ last_error: null });
  expect(bench.store.deliveries.counts(back.flow).get("delivered")).toBe(1);
  expect(bench.store.journal.breakers()).toMatchObject([{ breaker: "receiver", scope: "erp" }]);
});

test("a file that is being written when a flow looks is looked at again at once, and not an interval later", async () => {
  const bench = engineOn(tempFolder());
  const { reads, source } = heard(bench.clock);
  const fault = { code: "changing", message: "It is being written.", next: "Wait." };
  const behind = { count: 0, names: [] };
  const growing: Source = {
    async *read(_, { hindered }) {
      if (reads.length < 2)
        hindered?.({ what: "a.csv", fault, awaited: true, behind, againMs: 2_000 });
      yield* source.read();
    },
  };
  const schedule = { everyMs: 10 * MINUTE };
  const flow = bench.flow({ sink: receiver(), source: growing, schedule });
  await runFor({ ...bench.engine, clock: bench.clock }, flow, 12);
  expect(reads.map((at) => Math.round((at - (reads[0] ?? 0)) * 60))).toEqual([0, 2, 4, 604]);
});

test("a stray 410 stops for a minute; one that lasts, ever longer, at most a quarter of an hour", async () => {
  const bench = engineOn(tempFolder());
  const retired = new SourceUnavailable("HTTP 410", { next: "Update.", stop: "version" });
  const read = async function* (): AsyncGenerator<Page> {
    yield { changes: [], position: null };
    throw retired;
  };
  const flow = bench.flow({ sink: receiver(), source: { read } });
  const waits: number[] = [];
  for (let time = 0; time < 7; time++) {
    await runFlow(bench.engine, flow, new AbortController().signal);
    const [stop] = bench.store.journal.breakers();
    const waitMs = (stop?.retryMs ?? 0) - bench.clock.now().wallMs;
    waits.push(waitMs / MINUTE);
    bench.clock.advance(waitMs);
  }
  expect(waits).toEqual([1, 1, 2, 4, 8, 15, 15]);
});
