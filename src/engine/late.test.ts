/** Whoever waits is seen: in `status`, on the page Today, in an alert and in the metrics, with the reason. */
import { expect, test } from "vitest";
import { conditionsOf } from "../alerts/alerts.ts";
import { statusText } from "../views/status.ts";
import { exposed } from "../office/metrics.ts";
import type { Change, Presence, Sink } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { nothingDone, unknown } from "../core/outcome.ts";
import { retry, select } from "../office/decisions.ts";
import { storeOffice } from "../../test/support/office.ts";
import { testConsole } from "../../test/support/console.ts";
import { bill, billMapping, engineOn, quickPolicy, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { Daemon } from "./daemon.ts";
import type { Flow } from "./engine.ts";

const signal = new AbortController().signal;
const MINUTE = 60_000;

/** A flow every ten minutes to a receiver that settles for five. */
function site(options: Partial<Sink> = {}, more: Partial<Flow> = {}, presence?: () => Presence) {
  const folder = tempFolder();
  const bench = engineOn(folder);
  const pages: Change[][] = [];
  let position = 0;
  const sink = receiver({ policy: { ...quickPolicy, settleMs: 5 * MINUTE }, ...options });
  const source = {
    async *read() {
      for (const changes of pages.splice(0)) yield { changes, position: ++position };
    },
  };
  const flow = bench.flow({ sink, source, schedule: { everyMs: 10 * MINUTE }, ...more });
  const daemon = new Daemon(bench.engine, bench.engine.flows);
  const parts = { engine: bench.engine, flows: bench.engine.flows, version: "1" };
  const endpoints =
    presence === undefined ? {} : { endpoints: new Map([["platform", { presence }]]) };
  const office = storeOffice({ ...parts, ...endpoints, daemon, startedAt: new Date(0) });
  const told = async () => {
    const status = await office.status();
    const limits = { unreachableMs: 30 * MINUTE };
    return {
      late: status.flows.find(({ name }) => name === flow.name)?.late ?? [],
      healthy: status.healthy,
      alerts: conditionsOf(status, limits, bench.clock.now().wallMs).filter(({ key }) =>
        key.startsWith("late "),
      ),
      text: statusText(status),
      metrics: (await exposed(office, folder)).text,
    };
  };
  const once = async (...changes: Change[]) => {
    pages.push(changes);
    await daemon.once(signal);
  };
  return { bench, flow, sink, office, told, once };
}

test("status names a document that may have arrived, and when it is looked for", async () => {
  const { bench, office, told, once } = site({ send: async () => unknown("HTTP 500") });
  const at = bench.clock.now().wallMs;
  await once(bill("INV-0", "1"));
  const until = new Date(at + 5 * MINUTE).toISOString();
  expect((await office.status()).flows[0]?.doubtful).toEqual([{ number: "INV-0", until }]);
  expect((await told()).text).toContain("bills: INV-0 may have arrived");
});

test("a document whose outcome stays unknown is told after the interval and the settling, and no sooner", async () => {
  const { bench, office, told, once } = site({
    send: async () => unknown("HTTP 500", { holdMs: MINUTE }),
    find: async () => ({
      found: "unreadable",
      detail: "the search is out of order",
      waitMs: MINUTE,
    }),
  });
  const began = bench.clock.now().wallMs;
  await once(bill("INV-1", "1"));
  bench.clock.advance(began + 14 * MINUTE - bench.clock.now().wallMs);
  expect(await told()).toMatchObject({ late: [], healthy: true, alerts: [] });
  bench.clock.advance(2 * MINUTE);
  await once();
  const { late, healthy, alerts, text, metrics } = await told();
  expect(late).toMatchObject([
    { code: "unknown", count: 1, since: new Date(began).toISOString(), expected: false },
  ]);
  expect(late[0]?.message).toContain("unreadable: the search is out of order");
  expect(healthy).toBe(false);
  expect(alerts).toMatchObject([{ title: "bills: 1 document stands still" }]);
  expect(text).toContain("bills: 1 document stands still since");
  expect(metrics).toContain(
    'fuelbridge_late_documents{flow="bills",direction="to_platform",cause="unknown"} 1',
  );
  const { as } = await testConsole(office, bench.clock);
  const page = await (await as("viewer")).get("/");
  expect(page.body).toMatch(/1 document stands still<\/strong>\s+since/);
  expect(page.body).toContain("stands still");
  // A clock that is put right does not hide it until that gets there again.
  bench.clock.set(-24 * 60 * MINUTE);
  expect((await told()).late).toMatchObject([{ code: "unknown", count: 1 }]);
});

test("a receiver that puts off what it is given is told after an hour, in its words, and tried all the while", async () => {
  let sends = 0;
  const { bench, told, once } = site({
    send: async () => {
      sends++;
      return nothingDone("the list is in use (status 3180)", { waitMs: MINUTE });
    },
  });
  const began = bench.clock.now().wallMs;
  await once(bill("INV-1", "1"));
  bench.clock.advance(began + 59 * MINUTE - bench.clock.now().wallMs);
  expect((await told()).late).toEqual([]);
  bench.clock.advance(2 * MINUTE);
  const before = sends;
  await once();
  expect((await told()).late).toMatchObject([
    {
      code: "put-off",
      message: expect.stringContaining("the list is in use (status 3180)"),
      expected: false,
    },
  ]);
  expect(sends).toBeGreaterThan(before);
});

test("what waits behind a late one in its lane is counted with it", async () => {
  const { told, once, bench } = site({
    itemsMax: 2,
    writes: "upsert",
    send: async () => unknown("HTTP 500", { holdMs: MINUTE }),
    find: async () => ({ found: "unreadable", detail: "out of order", waitMs: MINUTE }),
  });
  await once(...[1, 2, 3, 4, 5].map((at) => bill(`INV-${at}`, "1")));
  bench.clock.advance(16 * MINUTE);
  expect((await told()).late).toMatchObject([{ code: "unknown", count: 5 }]);
});

test("another document under the number of one that a person has is told with what it waits for", async () => {
  const { bench, told, once } = site({
    send: async () => unknown("504", { holdMs: 86_400_000 }),
    find: async () => ({ found: "none", detail: "not there" }),
  });
  await once({ ...bill("1001", "1"), id: "A" });
  bench.clock.advance(10 * MINUTE);
  await once();
  await once({ ...bill("1001", "5"), id: "B" });
  bench.clock.advance(16 * MINUTE);
  expect((await told()).late).toMatchObject([
    { code: "held", count: 1, next: expect.stringContaining("fuelbridge trace 1001") },
  ]);
});

test("a stop and a pause are told once: no alert beside them, and the metrics count what they hold", async () => {
  const stopped = site({ send: async () => nothingDone("HTTP 401", { stop: "credentials" }) });
  await stopped.once(bill("INV-1", "1"));
  stopped.bench.clock.advance(16 * MINUTE);
  const told = await stopped.told();
  expect(told.late).toMatchObject([{ code: "stopped", count: 1, expected: true }]);
  expect(told.alerts).toEqual([]);
  expect(told.metrics).toContain('cause="stopped"} 1');

  const paused = site();
  paused.bench.store.transaction(() => {
    const page = { changes: [bill("INV-1", "1")], position: 1 };
    paused.bench.store.intake.page(paused.flow.flow, page, paused.bench.clock.now().wallMs);
  });
  Object.assign(paused.flow, { paused: true });
  paused.bench.clock.advance(16 * MINUTE);
  expect(await paused.told()).toMatchObject({
    late: [{ code: "paused", next: expect.stringContaining("Take paused: true from the flow") }],
    alerts: [],
  });
});

test("what waits for the next call of a receiver that calls us is not late; when it stays silent that is told", async () => {
  const presence: Presence = { lastAt: null, isHere: false, isAwaited: true, silence: null };
  const { bench, told, once } = site(
    {
      expect: async () => {
        throw new SourceUnavailable("it has not called", { next: "Open it." });
      },
    },
    {},
    () => presence,
  );
  await once(bill("INV-1", "1"));
  bench.clock.advance(120 * MINUTE);
  expect(await told()).toMatchObject({ late: [], alerts: [] });
});

test("a backlog that goes out is told as such, and alarms nobody; one that does not move does", async () => {
  const { bench, told, once } = site();
  bench.store.transaction(() => {
    const changes = Array.from({ length: 600 }, (_, at) => bill(`INV-${at}`, "1"));
    bench.store.intake.page(1, { changes, position: 1 }, bench.clock.now().wallMs);
  });
  bench.clock.advance(30 * MINUTE);
  expect(await told()).toMatchObject({
    late: [{ code: "turn", count: 600, expected: false }],
    healthy: false,
    alerts: [{ title: "bills: 600 documents stand still" }],
  });
  await once();
  expect((await told()).late).toEqual([]);
  bench.store.transaction(() => {
    const changes = [bill("INV-A", "1")];
    const at = bench.clock.now().wallMs - 30 * MINUTE;
    bench.store.intake.page(1, { changes, position: 2 }, at);
  });
  expect(await told()).toMatchObject({
    late: [{ code: "queue", count: 1, expected: true }],
    healthy: true,
    alerts: [],
  });
});

test("a process that has just begun does not say that nothing went out for long", async () => {
  const { bench } = site();
  const { engine, clock, store } = bench;
  store.transaction(() => {
    store.intake.page(1, { changes: [bill("INV-1", "1")], position: 1 }, clock.now().wallMs);
  });
  clock.advance(30 * MINUTE);
  const startedAt = new Date(clock.now().wallMs);
  const daemon = new Daemon(engine, engine.flows);
  const office = storeOffice({ engine, flows: engine.flows, version: "1", daemon, startedAt });
  const late = async () => (await office.status()).flows[0]?.late;
  expect(await late()).toMatchObject([{ code: "queue", count: 1, expected: true }]);
  clock.advance(15 * MINUTE);
  expect(await late()).toMatchObject([{ code: "turn", count: 1, expected: false }]);
});

test("what a person retried after days waits since then", async () => {
  const { bench, flow, told, once } = site();
  await once(bill("INV-1", "1", { product: "NONE" }));
  bench.clock.advance(3 * 24 * 60 * MINUTE);
  bench.store.transaction(() => {
    for (const one of select(bench.engine, [flow], "all")) retry(bench.engine, one);
  });
  expect((await told()).late).toEqual([]);
  bench.clock.advance(16 * MINUTE);
  expect((await told()).late).toMatchObject([{ code: "turn", count: 1 }]);
});

test("what waits for a document that nobody brings is told; what waits for one that is told itself alarms nobody", async () => {
  const { bench, told, once } = site();
  const customers = receiver({ operation: "customer.create" });
  const pages = [[{ changes: [bill("C-2", "1", { product: "NONE" })], position: 1 }]];
  const source = {
    async *read() {
      yield* pages.shift() ?? [];
    },
  };
  const mapping = { ...billMapping, kind: "customer" as const };
  bench.flow({ name: "customers", mapping, sink: customers, source });
  await new Daemon(bench.engine, bench.engine.flows).once(signal);
  await once(bill("INV-2", "1", { payer: "C-2" }));
  bench.clock.advance(60 * MINUTE);
  expect(await told()).toMatchObject({ late: [{ code: "waits", expected: true }], alerts: [] });
  await once(bill("INV-1", "1", { payer: "C-1" }));
  expect((await told()).alerts).toEqual([]);
  bench.clock.advance(60 * MINUTE);
  const { late, alerts } = await told();
  expect(late).toContainEqual(expect.objectContaining({ code: "waits", expected: false }));
  expect(alerts).toHaveLength(1);
});
