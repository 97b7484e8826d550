import { mkdirSync, rmSync } from "node:fs";
import { expect, test, vi } from "vitest";
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
import { defineMapping } from "../core/contract.ts";
import { SourceUnavailable, StorageError } from "../core/errors.ts";
import { type Finding, nothingDone, unknown } from "../core/outcome.ts";
import { markFile } from "../store/database.ts";
import { Daemon, freezeNext, runFlow } from "./daemon.ts";
import { deliver } from "./deliver.ts";
import type { Flow } from "./engine.ts";

const signal = new AbortController().signal;
const counts = ({ store }: Bench, { flow }: Flow) =>
  Object.fromEntries(store.deliveries.counts(flow));
const done = (id: string) => ({ outcome: "done", detail: "201", ids: [id] }) as const;
const HOME = { from: "platform.bills", to: "erp.bills", side: "platform" } as const;

test("a stop that several sends meet at once is told and audited once, and once more when it is tried again", async () => {
  const bench = engineOn(tempFolder());
  const refusing = async () => nothingDone("EACCES: rename", { stop: "receiver" });
  const changes = Array.from({ length: 6 }, (_, at) => bill(`INV-${at}`, "1"));
  const source = pagesOf([{ changes, position: 1 }]);
  const flow = bench.flow({ sink: receiver({ send: refusing }), source });
  const audit = vi.spyOn(bench.store.journal, "audit");
  for (const told of [1, 2]) {
    await runFlow(bench.engine, flow, signal);
    expect(bench.notes.filter((note) => note === "stopped")).toHaveLength(told);
    const entries = audit.mock.calls.filter(([, { event }]) => event === "stopped: receiver");
    expect(entries).toHaveLength(told);
    bench.clock.advance(61_000);
  }
});

test("what waited for its turn too long is read back, and not sent again unread", async () => {
  const bench = engineOn(tempFolder());
  const seen: string[] = [];
  const taken = Promise.withResolvers<void>();
  const isFirst = ({ body }: { body: string }): boolean => body.includes("INV-1");
  const sink = receiver({
    atOnce: 1,
    async prepare(request) {
      if (isFirst(request) && seen.length > 0) await taken.promise;
    },
    async send(request) {
      seen.push(`${isFirst(request) ? "INV-1" : "INV-2"} sent`);
      if (isFirst(request))
        return { outcome: "unknown", probe: true, unanswered: true, detail: "reset" };
      // INV-1 may still go again unread; it waits while the only place is taken for longer than that.
      taken.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      bench.clock.advance(60_000);
      return done("INV-2");
    },
    async find() {
      seen.push("looked");
      return { found: "exact", ids: ["INV-1"], detail: "there" };
    },
  });
  const [first, second] = ["INV-1", "INV-2"].map((number) => ({
    changes: [bill(number, "1")],
    position: 1,
  }));
  const flow = bench.flow({ sink, source: pagesOf(first ? [first] : []) });
  await runFlow(bench.engine, flow, signal);
  bench.store.transaction(() => second && bench.store.intake.page(flow.flow, second, 0));
  freezeNext(bench.engine, flow, 0);
  bench.clock.advance(2_000);
  await deliver(bench.engine, flow, signal);
  expect(seen).toEqual(["INV-1 sent", "INV-2 sent", "looked"]);
});

test("a fault in one send ends the run only when the others have their outcome", async () => {
  const bench = engineOn(tempFolder());
  const other = Promise.withResolvers<void>();
  const sink = receiver({
    async send({ body }) {
      if (body.includes("INV-1")) {
        setImmediate(() => setImmediate(other.resolve));
        throw new TypeError("a fault");
      }
      await other.promise;
      return done("x");
    },
  });
  const changes = [bill("INV-1", "1"), bill("INV-2", "1")];
  const flow = bench.flow({ sink, source: pagesOf([{ changes, position: 1 }]) });
  await expect(runFlow(bench.engine, flow, signal)).rejects.toThrow("a fault");
  expect(counts(bench, flow)).toEqual({ frozen: 1, delivered: 1 });
});

test.each([
  [true, { delivered: 2, quarantined: 1 }, "P-1"],
  [false, { delivered: 3 }, "P-2"],
])(
  "two of ours that are one at the receiver stop nothing else (posts: %s)",
  async (posts, ends, linked) => {
    const bench = engineOn(tempFolder());
    const sink = receiver({
      operation: "file.bill",
      send: async ({ items }) => done(items[0]?.number === "INV-3" ? "E-3" : "E-1"),
    });
    const told = ["P-1", "P-2"].map((id) => ({ ...bill("INV-1", "1"), id }));
    const flow = bench.flow({
      ...HOME,
      sink,
      mapping: defineMapping({ ...billMapping, posts }),
      source: pagesOf([{ changes: [...told, bill("INV-3", "1")], position: 1 }]),
    });
    await new Daemon(bench.engine, [flow]).once(signal);
    expect(counts(bench, flow)).toEqual(ends);
    expect(bench.store.links.find("invoice", "erp", "E-1")).toMatchObject({ platformId: linked });
    const causes = bench.store.questions.quarantine().map(({ cause }) => cause);
    expect(causes).toEqual(
      posts ? ["the receiver has it as E-1, and has another one of ours (INV-1) as the same"] : [],
    );
  },
);

test("what waits for a document of the other side goes by itself too", async () => {
  const bench = engineOn(tempFolder());
  const mapping = defineMapping({ ...billMapping, kind: "customer", posts: false });
  const back = receiver({ operation: "file.customer", send: async () => done("E-5") });
  const invoice = bill("INV-1", "1", { payer: "E-5" });
  const out = bench.flow({
    sink: receiver(),
    source: pagesOf([{ changes: [invoice], position: 1 }]),
  });
  const customer = { ...bill("C", "1"), id: "P-5" };
  const source = pagesOf([{ changes: [customer], position: 1 }]);
  const home = bench.flow({ name: "home", ...HOME, mapping, sink: back, source });
  await runFlow(bench.engine, out, signal);
  expect(bench.store.questions.quarantine()).toMatchObject([{ code: "waits-for" }]);
  await runFlow(bench.engine, home, signal);
  expect(counts(bench, out)).toEqual({ pending: 1 });
});

test("nothing is sent when it cannot be written down beside the store, and the process ends", async () => {
  const folder = tempFolder();
  const bench = engineOn(folder);
  mkdirSync(markFile(folder), { recursive: true });
  const sink = receiver();
  const changes = [bill("INV-1", "1"), bill("INV-2", "1")];
  const flow = bench.flow({ sink, source: pagesOf([{ changes, position: 1 }]) });
  await expect(runFlow(bench.engine, flow, signal)).rejects.toThrow(StorageError);
  expect(sink.sent).toEqual([]);
  rmSync(markFile(folder), { recursive: true });
});

test("a stop shows the advice of whoever answered; without any it names what is stopped, and nobody else", async () => {
  const bench = engineOn(tempFolder());
  const answers = [
    nothingDone("HTTP 401", {
      stop: "credentials",
      next: "Run `fuelbridge quickbooks authorise`.",
    }),
    nothingDone("HTTP 403", { stop: "scope" }),
  ];
  const sink = receiver({ send: async () => answers.shift() ?? done("E-1") });
  const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
  const flow = bench.flow({ ...HOME, sink, source });
  const next = () => bench.store.journal.breakers().map((stop) => stop.next);
  await runFlow(bench.engine, flow, signal);
  expect(next()).toEqual(["Run `fuelbridge quickbooks authorise`."]);
  bench.clock.advance(3_600_000);
  await runFlow(bench.engine, flow, signal);
  expect(next().join(" ")).not.toMatch(/platform/);
  expect(next().join(" ")).toContain('"bill.create"');
});

const CLOSED = "QuickBooks: the period is closed (status 3171)";
const unlisted = unknown(CLOSED, { holdMs: 60_000, unlisted: true });
const refusedUnlisted = {
  code: "refused-unlisted",
  cause: `the receiver refused it several times, and trying again does not settle it: ${CLOSED}`,
};

test.each([1, 20])(
  "a refusal that nobody knows is a person's after three tries, in the receiver's words, and the rest goes on (%i a request)",
  async (itemsMax) => {
    const bench = engineOn(tempFolder());
    const tries: string[][] = [];
    const sink = receiver({
      itemsMax,
      writes: "upsert",
      policy: { ...quickPolicy, settleMs: 0, keyLifeMs: null, probeMs: 0 },
      find: async () => ({ found: "none", detail: "not there" }),
      async send({ body }) {
        const numbers = (JSON.parse(body) as { number: string }[]).map(({ number }) => number);
        tries.push(numbers);
        return numbers.includes("INV-3") ? unlisted : done(numbers[0] ?? "");
      },
    });
    const changes = [1, 2, 3, 4, 5].map((at) => bill(`INV-${at}`, "1"));
    const flow = bench.flow({ sink, source: pagesOf([{ changes, position: 1 }]) });
    const began = bench.clock.now().wallMs;
    await new Daemon(bench.engine, [flow]).once(signal);
    expect(counts(bench, flow)).toEqual({ delivered: 4, quarantined: 1 });
    expect(bench.store.questions.quarantine()).toMatchObject([refusedUnlisted]);
    const alone = tries.filter((one) => one.join() === "INV-3");
    expect(alone).toHaveLength(3);
    // What shares a request is taken apart at the first of them.
    expect(tries.filter((one) => one.length > 1).length).toBeLessThanOrEqual(4);
    expect(bench.clock.now().wallMs - began).toBeLessThan(15 * 60_000);
  },
);

test("a race that never ends is a person's within 15 minutes, in the receiver's words", async () => {
  const bench = engineOn(tempFolder());
  const detail = "Duplicate Document Number (6140)";
  let tries = 0;
  const sink = receiver({
    policy: { ...quickPolicy, settleMs: 0, keyLifeMs: null, probeMs: 0 },
    find: async () => ({ found: "none", detail: "not there" }),
    async send() {
      tries++;
      return nothingDone(detail, { waitMs: 5_000, unlisted: true });
    },
  });
  const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
  const flow = bench.flow({ sink, source });
  const began = bench.clock.now().wallMs;
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(counts(bench, flow)).toEqual({ quarantined: 1 });
  expect(tries).toBeGreaterThanOrEqual(3);
  expect(bench.clock.now().wallMs - began).toBeLessThan(15 * 60_000);
  expect(bench.store.questions.quarantine()).toMatchObject([
    { code: "refused-unlisted", cause: expect.stringContaining(detail) },
  ]);
});

test("where a receiver is asked seldom the second try after 15 minutes is the last, also over a restart", async () => {
  const folder = tempFolder();
  let bench = engineOn(folder);
  const answering = (bench: Bench) => {
    const sink = receiver({
      policy: { ...quickPolicy, settleMs: 0, keyLifeMs: null, probeMs: 0 },
      find: async () => ({ found: "none", detail: "not there" }),
      send: async () => unlisted,
    });
    const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
    return bench.flow({ sink, source });
  };
  await runFlow(bench.engine, answering(bench), signal);
  bench.store.close();
  bench.clock.restart();
  bench.clock.advance(20 * 60_000);
  bench = engineOn(folder, bench.clock);
  const flow = answering(bench);
  expect(counts(bench, flow)).toEqual({ frozen: 1 });
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(counts(bench, flow)).toEqual({ quarantined: 1 });
  expect(bench.store.questions.quarantine()).toMatchObject([refusedUnlisted]);
});

test("a server that fails has said nothing of a document, and a receiver that puts it off neither", async () => {
  const bench = engineOn(tempFolder());
  const answers = [
    ...Array.from({ length: 6 }, () => unknown("HTTP 503", { holdMs: 60_000 })),
    ...Array.from({ length: 6 }, () => nothingDone("in use (status 3180)", { waitMs: 60_000 })),
  ];
  const sink = receiver({
    policy: { ...quickPolicy, settleMs: 0, keyLifeMs: null, probeMs: 0 },
    find: async () => ({ found: "none", detail: "not there" }),
    send: async () => answers.shift() ?? done("E-1"),
  });
  const flow = bench.flow({
    sink,
    source: pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]),
  });
  await runFlow(bench.engine, flow, signal);
  for (let at = 0; at < 40; at++) {
    bench.clock.advance(61_000);
    await runFlow(bench.engine, flow, signal);
  }
  expect(counts(bench, flow)).toEqual({ delivered: 1 });
});

test("what is refused after an earlier send had no answer is told in the receiver's words", async () => {
  const bench = engineOn(tempFolder());
  const fault = { code: "closed-period", message: "the period is closed", next: "" } as const;
  const answers = [
    unknown("reset", { probe: true, unanswered: true }),
    { outcome: "refused", detail: fault.message, fault } as const,
  ];
  const sink = receiver({
    find: async () => ({ found: "none", detail: "not there" }),
    send: async () => answers.shift() ?? done("E-1"),
  });
  const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
  const flow = bench.flow({ sink, source });
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(bench.store.questions.quarantine()).toMatchObject([
    { code: "closed-period", cause: "the period is closed" },
  ]);
});

test("a stop that a look before the first send meets has its own name, and its release lets documents go", async () => {
  const bench = engineOn(tempFolder());
  const spent = { next: "fuelbridge release quota", stop: "quota", waitMs: 86_400_000 };
  let isSpent = true;
  const sink = receiver({
    prepare: async () => {
      if (isSpent) throw new SourceUnavailable("429 MONTHLY_CAP_EXCEEDED", spent);
    },
  });
  const page = { changes: [bill("INV-1", "1")], position: 1 };
  const flow = bench.flow({ sink, source: pagesOf([page]) });
  await runFlow(bench.engine, flow, new AbortController().signal);
  const { journal } = bench.store;
  expect(journal.breakers()).toMatchObject([{ breaker: "quota" }]);
  isSpent = false;
  bench.store.transaction(() => journal.release("quota", "ann", bench.clock.now().wallMs));
  await deliver(bench.engine, flow, new AbortController().signal);
  expect(sink.executed).toHaveLength(1);
});

test("a stop that the read-back of a send in doubt meets is told, and its release lets the read-back go on", async () => {
  const bench = engineOn(tempFolder());
  const next = "fuelbridge release quota";
  let isSpent = true;
  const spent: Finding = {
    found: "unreadable",
    detail: "429",
    stop: "quota",
    waitMs: 86_400_000,
    next,
  };
  const there: Finding = { found: "exact", ids: ["INV-1"], detail: "there" };
  const sink = receiver({
    find: async () => (isSpent ? spent : there),
  });
  sink.script.push(() => ({ answer: unknown("reset", { unanswered: true }), execute: true }));
  const page = { changes: [bill("INV-1", "1")], position: 1 };
  const flow = bench.flow({ sink, source: pagesOf([page]) });
  const { engine, clock, store } = bench;
  await runFlow(engine, flow, signal);
  clock.advance(60_000);
  await deliver(engine, flow, signal);
  expect(store.journal.breakers()).toMatchObject([{ breaker: "quota", next }]);
  isSpent = false;
  store.transaction(() => store.journal.release("quota", "ann", clock.now().wallMs));
  clock.advance(60_000);
  await deliver(engine, flow, signal);
  expect(counts(bench, flow)).toEqual({ delivered: 1 });
  expect(sink.executed).toHaveLength(1);
});
