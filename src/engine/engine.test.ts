import { expect, test } from "vitest";
import {
  type Bench,
  bill,
  billMapping,
  engineOn,
  pagesOf,
  quickPolicy,
  receiver,
  type Receiver,
} from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { type Change, defineMapping, skip } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Answer } from "../core/outcome.ts";
import { type AnswerName, outcomeOf, type PlatformAnswer } from "../platform/answers.ts";
import { retry, select } from "../office/decisions.ts";
import { lengthOf } from "../core/pace.ts";
import { countWaits, type Flow } from "./engine.ts";
import { Daemon, recover, runFlow } from "./daemon.ts";

const signal = new AbortController().signal;
const answer = (name: AnswerName, extra: Partial<PlatformAnswer> = {}): Answer =>
  outcomeOf({ name, detail: name, ...extra });
const counts = ({ store }: Bench, { flow }: Flow) =>
  Object.fromEntries(store.deliveries.counts(flow));
const causes = ({ store }: Bench) =>
  store.questions.quarantine().map(({ cause, count }) => [cause, count]);

test("a document goes out once, is linked, and a second run has nothing to do", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  const page = { changes: [bill("INV-1", "12.50")], position: 1 };
  const flow = bench.flow({ sink, source: pagesOf([page], [page]) });
  await runFlow(bench.engine, flow, signal);
  await runFlow(bench.engine, flow, signal);
  expect(sink.executed).toEqual([
    {
      key: expect.stringMatching(/^fb1_bill-create_/),
      body: '[{"number":"INV-1","amount":12.50}]',
    },
  ]);
  expect(counts(bench, flow)).toEqual({ delivered: 1 });
  expect(bench.store.links.find("invoice", "erp", "INV-1")).toMatchObject({
    platformId: "id-of-INV-1",
    amount: "12.5",
  });
});

test("the row that says sending is stored before the first byte leaves", async () => {
  const bench = engineOn(tempFolder());
  const seen: string[] = [];
  const sink = receiver({
    send: async ({ key }) => {
      const [open] = bench.store.requests.open(1);
      seen.push(`${open?.machine.state} ${open?.key === key}`);
      return answer("done", { ids: ["x"] });
    },
  });
  const flow = bench.flow({
    sink,
    source: pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]),
  });
  await runFlow(bench.engine, flow, signal);
  expect(seen).toEqual(["sending true"]);
});

test("one bad record stops nothing else, and says where it came from", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  const changes = [
    bill("INV-1", "1"),
    { ...bill("INV-2", "2"), text: '{"number":7}' },
    {
      ...bill("INV-3", "3"),
      fault: {
        code: "bad-cell" as const,
        message: "Total is not a number: 12,x",
        next: "Correct it.",
        field: "Total",
      },
    },
    bill("INV-4", "4", { product: "ULSD-DYED" }),
    bill("INV-5", "5"),
  ];
  const flow = bench.flow({ sink, source: pagesOf([{ changes, position: 1 }]) });
  await runFlow(bench.engine, flow, signal);
  expect(sink.executed).toHaveLength(2);
  expect(counts(bench, flow)).toEqual({ delivered: 2, quarantined: 3 });
  expect(causes(bench)).toContainEqual(["crossref/products.csv has no row `ULSD-DYED`", 1]);
  expect(causes(bench)).toContainEqual(["Total is not a number: 12,x", 1]);
});

test("a mapping that throws quarantines its record only", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  const mapping = defineMapping({
    ...billMapping,
    map(one) {
      if (one.number === "INV-1") throw new TypeError("cannot read x of null");
      return one;
    },
  });
  const flow = bench.flow({
    sink,
    mapping,
    source: pagesOf([{ changes: [bill("INV-1", "1"), bill("INV-2", "2")], position: 1 }]),
  });
  await runFlow(bench.engine, flow, signal);
  expect(counts(bench, flow)).toEqual({ delivered: 1, quarantined: 1 });
});

test("an invoice waits for its customer and goes out by itself once that is there", async () => {
  const bench = engineOn(tempFolder());
  const bills = receiver();
  const customers = receiver({ operation: "customer.create" });
  const invoices = bench.flow({
    sink: bills,
    source: pagesOf([{ changes: [bill("INV-1", "1", { payer: "000417" })], position: 1 }]),
  });
  await runFlow(bench.engine, invoices, signal);
  expect(causes(bench)).toEqual([
    ["waits for customer 000417, and no flow delivers any customer", 1],
  ]);
  const parties = bench.flow({
    name: "customers",
    mapping: { ...billMapping, kind: "customer" },
    sink: customers,
    source: pagesOf([{ changes: [bill("000417", "0")], position: 1 }]),
  });
  await new Daemon(bench.engine, [invoices, parties]).once(signal);
  expect(bills.executed).toHaveLength(1);
  expect(causes(bench)).toEqual([]);
});

test("after a torn answer the same bytes go again under the same key", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  sink.script.push(
    () => ({ answer: answer("torn"), execute: true }),
    () => ({ answer: answer("replayed", { ids: ["id-1"] }), execute: false }),
  );
  const flow = bench.flow({
    sink,
    source: pagesOf([{ changes: [bill("INV-1", "1.10")], position: 1 }]),
  });
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(sink.sent).toHaveLength(2);
  expect(sink.sent[0]).toEqual(sink.sent[1]);
  expect(sink.executed).toHaveLength(1);
  expect(bench.store.journal.breakers()).toEqual([]);
});

test.each([true, false])(
  "killed while sending (executed: %s): read first, exactly one effect in the end",
  async (execute) => {
    const folder = tempFolder();
    const bench = engineOn(folder);
    const sink = receiver();
    sink.script.push((request) => {
      if (execute) sink.executed.push({ key: request.key, body: request.body });
      return Promise.reject(new Error("SIGKILL"));
    });
    const page = { changes: [bill("INV-1", "1.10")], position: 1 };
    const flow = bench.flow({ sink, source: pagesOf([page], []) });
    await expect(runFlow(bench.engine, flow, signal)).rejects.toThrow("SIGKILL");
    bench.store.close();

    bench.clock.restart();
    const reborn = engineOn(folder, bench.clock);
    const again = reborn.flow({ sink, source: pagesOf([]) });
    expect(recover(reborn.engine, again)).toBe(1);
    await new Daemon(reborn.engine, [again]).once(signal);
    expect(sink.executed).toHaveLength(1);
    expect(sink.sent).toHaveLength(execute ? 1 : 2);
    expect(counts(reborn, again)).toEqual({ delivered: 1 });
  },
);

test("a refused batch is halved until the bad one stands alone; the good ones go through", async () => {
  const bench = engineOn(tempFolder());
  const isBad = ({ body }: { body: string }) => body.includes('"INV-37"');
  const sink = receiver({ itemsMax: 200, writes: "upsert" });
  const send = sink.send.bind(sink);
  const halving = {
    ...sink,
    send: async (request: Parameters<typeof send>[0], by: AbortSignal) =>
      isBad(request)
        ? (sink.sent.push(request),
          answer("invalid", { fault: { code: "bad-row", message: "price is 0", next: "" } }))
        : send(request, by),
  };
  const changes = Array.from({ length: 100 }, (_, index) => bill(`INV-${index}`, "1"));
  const flow = bench.flow({ sink: halving, source: pagesOf([{ changes, position: 1 }]) });
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(counts(bench, flow)).toEqual({ delivered: 99, quarantined: 1 });
  expect(sink.sent.length).toBeLessThanOrEqual(2 * 7 + 1);
});

test("what we wrote is never delivered back, not even before its answer was recorded", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  sink.script.push(() => ({ answer: answer("failed"), execute: true }));
  const echo = { ...bill("INV-1", "1"), id: "id-of-INV-1", version: "2026" };
  const { out, flow, back } = await home(bench, sink, echo);
  expect(counts(bench, flow)).toEqual({ pending: 1 });
  await new Daemon(bench.engine, [out, flow]).once(signal);
  expect(counts(bench, flow)).toEqual({ echo: 1 });
  expect(back.sent).toEqual([]);
});

/** An invoice that we wrote with unknown outcome comes home in a poll. */
async function home(bench: Bench, sink: Receiver, echo: Change) {
  const back = receiver({ operation: "file.bill" });
  const out = bench.flow({
    sink,
    source: pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]),
  });
  const flow = bench.flow({
    name: "home",
    side: "platform",
    from: "platform.bills",
    to: "erp.bills",
    sink: back,
    source: pagesOf([{ changes: [echo], position: 1 }]),
  });
  await runFlow(bench.engine, out, signal);
  await runFlow(bench.engine, flow, signal);
  return { out, flow, back };
}

test("our own document that comes by in a poll is its read-back, at no cost", async () => {
  const bench = engineOn(tempFolder());
  let reads = 0;
  const sink = receiver({
    recognise: (_, record) => [(record as { id: string }).id],
    find: async () => {
      reads++;
      return { found: "unreadable", detail: "" };
    },
  });
  sink.script.push(() => ({ answer: answer("failed"), execute: true }));
  const echo = { ...bill("INV-1", "1", { id: "P-7" }), id: "P-7", version: "2026" };
  const { out, flow, back } = await home(bench, sink, echo);
  expect(counts(bench, out)).toEqual({ delivered: 1 });
  expect(counts(bench, flow)).toEqual({ echo: 1 });
  expect(bench.store.links.find("invoice", "erp", "INV-1")).toMatchObject({ platformId: "P-7" });
  expect([reads, sink.sent.length, back.sent.length]).toEqual([0, 1, 0]);
});

test("a second document under a number that we wrote once is for a person, never a new one in the books", async () => {
  const bench = engineOn(tempFolder());
  const other = { ...bill("INV-1", "1"), id: "P-8", version: "2026" };
  const { out, flow, back } = await home(bench, receiver(), other);
  expect(counts(bench, out)).toEqual({ delivered: 1 });
  expect(counts(bench, flow)).toEqual({ quarantined: 1 });
  expect(bench.store.questions.quarantine()).toMatchObject([
    { code: "doubled", cause: "INV-1 is there twice: we wrote it as id-of-INV-1, and this is P-8" },
  ]);
  expect(back.sent).toEqual([]);
});

test.each([
  ["INV-1", { skipped: 1 }],
  ["INV-2", { quarantined: 1 }],
])(
  "a document of our number that says it was made of %s: %j; only what was made of ours is no second one",
  async (madeOf, expected) => {
    const bench = engineOn(tempFolder());
    const source = (id: string) =>
      pagesOf([{ changes: [{ ...bill("INV-1", "1"), id }], position: 1 }]);
    const out = bench.flow({ sink: receiver(), source: source("INV-1") });
    const mapping = defineMapping({ ...billMapping, map: () => skip("from there", madeOf) });
    const home = {
      name: "home",
      side: "platform",
      from: "platform.bills",
      to: "erp.bills",
    } as const;
    const flow = bench.flow({ ...home, mapping, sink: receiver(), source: source("E-7") });
    await runFlow(bench.engine, out, signal);
    await runFlow(bench.engine, flow, signal);
    expect(counts(bench, flow)).toEqual(expected);
  },
);

test("a flow that is paused while its requests go out sends none of the rest until it goes on", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  const changes = Array.from({ length: 40 }, (_, at) => bill(`INV-${at}`, "1"));
  const flow = bench.flow({ sink, source: pagesOf([{ changes, position: 1 }]) });
  const inner = sink.send.bind(sink);
  sink.send = async (request, to) => {
    Object.assign(flow, { paused: true });
    return inner(request, to);
  };
  await runFlow(bench.engine, flow, signal);
  expect(sink.sent.length).toBeGreaterThan(0);
  expect(counts(bench, flow)).toMatchObject({ frozen: 40 - sink.sent.length });
  expect(sink.sent.length).toBeLessThan(20);
  Object.assign(flow, { paused: false });
  sink.send = inner;
  await runFlow(bench.engine, flow, signal);
  expect(counts(bench, flow)).toEqual({ delivered: 40 });
});

test("a newer version of a document that a person must decide about is in the same decision, never out of sight", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  sink.script.push(() => ({ answer: answer("timed-out"), execute: false }));
  const page = (extra: object, position: number) => [
    { changes: [bill("INV-1", "1", extra)], position },
  ];
  const flow = bench.flow({ sink, source: pagesOf(page({}, 1), page({ note: "new" }, 2)) });
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(counts(bench, flow)).toEqual({ quarantined: 1 });
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(counts(bench, flow)).toEqual({ superseded: 1, quarantined: 1 });
  expect(bench.store.questions.quarantine()).toMatchObject([{ code: "needs-decision", count: 1 }]);
  bench.store.transaction(() => {
    for (const one of select(bench.engine, [flow], "all")) retry(bench.engine, one);
  });
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(counts(bench, flow)).toEqual({ superseded: 1, delivered: 1 });
  expect(sink.executed.map(({ body }) => body.includes("new"))).toEqual([true]);
});

test("posted money never changes silently", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ writes: "upsert" });
  const page = (amount: string, status: string) => [
    { changes: [bill("INV-1", amount, { status })], position: 1 },
  ];
  const flow = bench.flow({
    sink,
    source: pagesOf(page("1.00", "OUTSTANDING"), page("1.0", "PAID"), page("1.01", "PAID")),
  });
  for (let run = 0; run < 3; run++) await runFlow(bench.engine, flow, signal);
  expect(sink.sent).toHaveLength(2);
  expect(causes(bench)).toEqual([
    ["the amount changed from 1.00 to 1.01 after it was delivered", 1],
  ]);
});

test("bad credentials stop the endpoint, cost no attempt, and it goes on by itself", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver();
  const refused = () => ({ answer: answer("unauthorised"), execute: false });
  sink.script.push(refused, refused);
  const flow = bench.flow({
    sink,
    source: pagesOf([{ changes: [bill("INV-1", "1"), bill("INV-2", "2")], position: 1 }]),
  });
  const daemon = new Daemon(bench.engine, [flow]);
  await runFlow(bench.engine, flow, signal);
  expect(bench.store.journal.breakers()).toMatchObject([
    { breaker: "credentials", scope: "platform" },
  ]);
  bench.clock.advance(5 * 60_000);
  await daemon.once(signal);
  expect(sink.executed).toHaveLength(2);
  expect(bench.store.journal.breakers()).toEqual([]);
});

test("a source that breaks off keeps what was stored, and says what to do", async () => {
  const bench = engineOn(tempFolder());
  const source = {
    async *read() {
      yield { changes: [bill("INV-1", "1")], position: { cursor: "c1" } };
      throw new SourceUnavailable("the folder is gone", { next: "Mount it again." });
    },
  };
  const flow = bench.flow({ sink: receiver(), source });
  const { trouble } = await runFlow(bench.engine, flow, signal);
  expect(trouble).toEqual({
    code: "unavailable",
    message: "the folder is gone",
    next: "Mount it again.",
  });
  expect(bench.store.flows.position("bills")).toEqual({ cursor: "c1" });
  expect(counts(bench, flow)).toEqual({ delivered: 1 });
});

test("a refusal of an old version gives way to the newer one that came meanwhile", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ writes: "upsert" });
  const source = pagesOf(
    [{ changes: [bill("INV-1", "0")], position: 1 }],
    [{ changes: [bill("INV-1", "5")], position: 2 }],
  );
  const flow = bench.flow({ sink, source });
  sink.script.push(async () => {
    for await (const page of source.read(null, { signal, known: () => null, stored: () => false }))
      bench.store.transaction(() => bench.store.intake.page(flow.flow, page, 1));
    return { answer: answer("invalid"), execute: false };
  });
  await new Daemon(bench.engine, [flow]).once(signal);
  expect(sink.executed.map(({ body }) => body)).toEqual(['[{"number":"INV-1","amount":5}]']);
  expect(counts(bench, flow)).toEqual({ superseded: 1, delivered: 1 });
});

test("a request whose keys are used up is shown to a person", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ policy: { ...quickPolicy, keyLifeMs: 0 } });
  sink.script.push(() => ({ answer: answer("failed"), execute: false }));
  sink.script.push(() => ({ answer: answer("failed"), execute: false }));
  sink.script.push(() => ({ answer: answer("failed"), execute: false }));
  const page = { changes: [bill("INV-1", "1")], position: 1 };
  const flow = bench.flow({ sink, source: pagesOf([page]) });
  const daemon = new Daemon(bench.engine, [flow]);
  for (let hours = 0; hours < 3; hours++) {
    await daemon.once(signal);
    bench.clock.advance(3_600_000);
  }
  expect(counts(bench, flow)).toEqual({ quarantined: 1 });
  expect(new Set(sink.sent.map(({ key }) => key)).size).toBe(3);
});

test("documents that share a request are linked one by one", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ itemsMax: 2 });
  sink.script.push(() => ({ answer: answer("done", { ids: ["a", "b"] }), execute: true }));
  const changes = [bill("INV-1", "1"), bill("INV-2", "2")];
  const flow = bench.flow({ sink, source: pagesOf([{ changes, position: 1 }]) });
  await runFlow(bench.engine, flow, signal);
  expect(bench.store.links.find("invoice", "erp", "INV-1")?.platformId).toBe("a");
  expect(bench.store.links.find("invoice", "erp", "INV-2")?.platformId).toBe("b");
});

test("of a first reading, a restored store, and what says that it is from later, nobody counts how long it waited", () => {
  const bench = engineOn(tempFolder());
  const { store, clock, engine } = bench;
  const flow = bench.flow({ side: "platform", sink: receiver(), source: pagesOf() });
  const now = clock.now().wallMs;
  const MINUTE = 60_000;
  const lengthAfter = (waitedMs: number): number[] => {
    const before = new Map(store.journal.waits("2026-11").map((one) => [one.length, one.count]));
    const version = new Date(now - waitedMs).toISOString();
    store.transaction(() => countWaits(engine, flow, "stored", [version], now));
    return store.journal
      .waits("2026-11")
      .filter(({ length, count }) => count !== before.get(length))
      .map(({ length }) => length);
  };
  expect(lengthAfter(10 * MINUTE), "a first reading").toEqual([0]);
  const run = { atMs: now - 60 * MINUTE, dueMs: now, pages: 1, received: 1, tookMs: 1 };
  store.transaction(() => store.flows.ran(flow.flow, run, null));
  expect(lengthAfter(90 * MINUTE), "older than the first reading").toEqual([0]);
  expect(lengthAfter(10 * MINUTE)).toEqual([lengthOf(10 * MINUTE)]);
  expect(lengthAfter(-5_000), "a clock that is a little ahead").toEqual([lengthOf(0)]);
  expect(lengthAfter(-24 * 60 * MINUTE), "from later").toEqual([0]);
  store.transaction(() => store.flows.doubt(now));
  expect(lengthAfter(10 * MINUTE), "a restored store").toEqual([0]);
});
