/** The month and the minute through the whole product: store, engine, governor and a platform that counts as well. */
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineMapping } from "../src/core/contract.ts";
import { type Budget, usualBudget } from "../src/core/budget.ts";
import type { Kind } from "../src/core/kinds.ts";
import { stretchText, statusText } from "../src/views/status.ts";
import { Daemon } from "../src/engine/daemon.ts";
import type { Engine, Flow } from "../src/engine/engine.ts";
import { pull } from "../src/engine/pull.ts";
import { openGovernor } from "../src/platform/client.ts";
import { concernsOf } from "../src/office/concerns.ts";
import { monthReport } from "../src/office/month.ts";
import type { Status } from "../src/office/answers.ts";
import { storeOffice } from "./support/office.ts";
import { ledger } from "../src/store/journal.ts";
import { instant, times } from "./conformance/support.ts";
import { never, usePlatform } from "./platform/support.ts";
import { engineOn, pagesOf, receiver } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";

const platform = usePlatform();
const { control } = platform;

const Passed = z.looseObject({});
const through = (kind: Kind) =>
  defineMapping({
    name: `test/${kind}`,
    kind,
    input: Passed,
    output: Passed,
    number: ({ invoiceNumber, id }) => String(invoiceNumber ?? id),
    map: (record) => record,
    figures: () => ({ amount: null, gallons: null }),
  });

/** Each costs two requests: it is looked for before it is sent. */
const bill = (number: number) => ({
  id: `B-${number}`,
  version: null,
  text: `{"invoiceNumber":"B-${number}","subtotal":1.10,"total":1.10,"lineItems":[{"description":"d","amount":1.10}]}`,
});

const DAY = 86_400_000;

/** `bills` to the platform and `orders` from it, on one budget and one clock with the platform. */
async function site(limits: Partial<Budget> = {}, bills = 0) {
  const budget = { ...usualBudget, ...limits };
  // Early in a month, whatever day the test is run on.
  const before = await platform.clock();
  await before.pause(untilNextMonth(before.now().wallMs) + 4 * DAY);
  const clock = await platform.clock();
  const bench = engineOn(tempFolder(), clock);
  const { store } = bench;
  const spending = ledger(store, budget);
  const governor = openGovernor({ clock, budget, ledger: spending });
  const { sources, sinks } = platform.endpoint({ clock, governor });
  const out = bench.flow({
    name: "bills",
    to: "platform.invoices",
    mapping: through("invoice"),
    source: pagesOf([{ changes: times(bills, bill), position: 1 }]),
    sink: sinks["invoices"] as NonNullable<(typeof sinks)[string]>,
  });
  const into = bench.flow({
    name: "orders",
    side: "platform",
    from: "platform.orders",
    to: "erp.orders",
    mapping: through("order"),
    source: sources["orders"] as NonNullable<(typeof sources)[string]>,
    sink: receiver({ operation: "file.order" }),
  });
  const flows: Flow[] = [out, into];
  const minute = () => governor.minute();
  const month = monthReport({
    spent: (month) => store.journal.spent(month),
    store,
    clock,
    flows,
    budget,
    minute,
    waiting: ({ flow }) => store.deliveries.counts(flow).get("pending") ?? 0,
  });
  const engine: Engine = { ...bench.engine, clock, pace: month };
  const started = new Date(0);
  const office = storeOffice({
    engine,
    flows,
    daemon: null,
    month,
    version: "",
    startedAt: started,
  });
  onTestFinished(() => spending.close());
  return {
    engine,
    clock,
    store,
    governor,
    office,
    month,
    flows,
    /** A daemon of its own, as after a restart: every flow once, until nothing more can go. */
    once: async (...which: readonly Flow[]) =>
      new Daemon(engine, which.length === 0 ? flows : which).once(never),
    out,
    into,
    /** One more flow from the platform. */
    flow(name: string, source: string) {
      const added = bench.flow({
        name,
        side: "platform",
        from: `platform.${source}`,
        to: `erp.${name}`,
        mapping: through("payment"),
        source: sources[source] as NonNullable<(typeof sources)[string]>,
        sink: receiver({ operation: `file.${name}` }),
      });
      flows.push(added);
      return added;
    },
    states: () => Object.fromEntries(store.deliveries.counts(out.flow)),
  };
}

const delivered = async () =>
  (await control.stored("invoices", "supplier")).map((one) => String(one["invoiceNumber"])).sort();
const all = (bills: number) => times(bills, (at) => `B-${at}`).sort();
const asked = async (): Promise<number> => (await control.requests()).length;
const stateOf = ({ flows }: Status, name: string) =>
  flows.find((flow) => flow.name === name)?.state;
const untilNextMonth = (nowMs: number): number => {
  const at = new Date(nowMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1) - nowMs + 60_000;
};

describe("the month that the platform counts is used up in the middle of the work", () => {
  const cut = async () => {
    await control.limits({ key: "supplier", monthlyCap: 9 });
    const here = await site({}, 10);
    await here.once(here.out);
    await here.once();
    const status = await here.office.status();
    expect(status).toMatchObject({ healthy: false, stops: [{ breaker: "quota" }] });
    expect(stateOf(status, "orders")).toBe("stopped");
    expect((await delivered()).length).toBeGreaterThan(0);
    expect(here.states()["frozen"]).toBe(10 - (await delivered()).length);
    const before = await asked();
    await here.clock.pause(3_600_000);
    await here.once();
    expect(await asked(), "while it is used up, nothing is asked").toBe(before);
    return here;
  };

  test("writes and polls wait and say so, and go on when the month turns", async () => {
    const here = await cut();
    await control.limits({ key: "supplier", monthlyCap: 30 });
    const { stops } = await here.office.status();
    expect(stops, "nobody told us that there are more").toHaveLength(1);
    await here.clock.pause(untilNextMonth(here.clock.now().wallMs));
    expect(await here.once()).toEqual({ inStep: true });
    expect(await delivered()).toEqual(all(10));
    expect(await here.office.status()).toMatchObject({ healthy: true, stops: [] });
  });

  test("and go on when a person has had the cap raised and releases the stop", async () => {
    const here = await cut();
    await control.limits({ key: "supplier", monthlyCap: 1_000 });
    await here.office.release("quota", "ann");
    expect(await here.once()).toEqual({ inStep: true });
    expect(await delivered()).toEqual(all(10));
  });
});

describe("the month that we count", () => {
  const small = { perMonth: 100, reserve: { writes: 20, readBacks: 10 } };

  test("polls stop before they touch what writes are owed: paused for budget, and healthy", async () => {
    const here = await site(small, 15);
    for (let looks = 0; looks < 75; looks++) await here.once(here.into);
    expect(await asked()).toBe(70);
    const status = await here.office.status();
    expect(status).toMatchObject({
      healthy: true,
      stops: [],
      requests: { used: 70, forecast: { stretch: 8 } },
    });
    expect(stateOf(status, "orders")).toBe("paused: budget");
    expect(status.flows.find(({ name }) => name === "orders")?.lastError?.message).toContain(
      "paused: budget: /orders was not read: 70 of the 100 requests",
    );

    expect(await here.once(here.out)).toEqual({ inStep: true });
    expect(await delivered()).toEqual(all(15));
    expect(await asked()).toBe(100);
    expect(await here.office.budget()).toMatchObject({
      used: 100,
      perMonth: 100,
      purposes: [
        { purpose: "poll", used: 70, reserve: 0, left: 0 },
        { purpose: "detail", used: 0 },
        { purpose: "write", used: 15, reserve: 20, left: 0 },
        { purpose: "read-back", used: 15, reserve: 10, left: 0 },
        { purpose: "check" },
        { purpose: "audit" },
        { purpose: "backfill", used: 0 },
        { purpose: "lost", used: 0 },
      ],
    });
    await here.clock.pause(untilNextMonth(here.clock.now().wallMs));
    await here.once(here.into);
    expect(stateOf(await here.office.status(), "orders")).toBe("idle");
  });

  test("a write that it does not allow is not sent, not an attempt, and goes in the next month", async () => {
    const here = await site({ ...small, perMonth: 7 }, 5);
    await here.once(here.out);
    expect(await asked()).toBe(7);
    const status = await here.office.status();
    expect(status).toMatchObject({ healthy: false, requests: { used: 7, perMonth: 7 } });
    const open = here.store.requests.open(here.out.flow);
    expect(open.map(({ machine: { state, sends, failures } }) => [state, sends, failures])).toEqual(
      open.map(({ machine: { state } }) => [state, 0, state === "preflight" ? 1 : 0]),
    );
    for (let month = 0; month < 3; month++) {
      await here.clock.pause(untilNextMonth(here.clock.now().wallMs));
      await here.once(here.out);
    }
    expect(await delivered()).toEqual(all(5));
  });
});

test("a minute that others have used up: refused writes wait and go, each once", async () => {
  await control.limits({ key: "supplier", perMinute: 3 });
  const here = await site({}, 8);
  expect(await here.once(here.out)).toEqual({ inStep: true });
  expect(await delivered()).toEqual(all(8));
  const log = await control.requests();
  const carriedOut = log.filter(({ method, status }) => method === "POST" && status === 201);
  expect(carriedOut).toHaveLength(8);
  expect(here.store.requests.open(here.out.flow)).toEqual([]);
});

test("a walk that is told to wait in its middle waits, and nothing is lost or read twice", async () => {
  await control.records(
    "orders",
    times(350, (at) => ({ updatedAt: instant(at) })),
  );
  await control.limits({ key: "supplier", perMinute: 2 });
  const here = await site();
  await here.once(here.into);
  const counts = here.store.deliveries.counts(here.into.flow);
  expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(350);
});

test("polls are stretched when the month's rest does not suffice, and reading the ERP is not", async () => {
  const here = await site({ perMonth: 20_000 });
  await here.once();
  const dueIn = ({ name }: Flow): number => {
    const row = here.store.flows.find(name);
    return ((row?.next_due_ms ?? 0) - (row?.last_run_ms ?? 0)) / 1_000;
  };
  const stretch = Number(here.month.intervalMs(here.into, "nothing")) / 60_000;
  expect(stretch).toBeGreaterThan(1);
  expect(dueIn(here.into)).toBeCloseTo(60 * stretch, 0);
  expect(dueIn(here.out)).toBe(60);
  expect((await here.office.status()).requests.forecast.stretch).toBeCloseTo(stretch, 4);
});

test("what waits to be sent is in the month's one sentence, by what it is asked for", async () => {
  const { engine, out, month } = await site({ perMonth: 1_000 }, 600);
  await pull(engine, out, never);
  const { forecast } = month.status();
  expect(forecast.backlog).toEqual({ documents: 600, writes: 600, readBacks: 600 });
  expect(forecast.runsOut?.stops).toBe("everything");
  expect(stretchText(forecast)).toMatch(
    /and the month's requests do not suffice: nothing is read or sent from .* 600 documents wait to be sent: about 600 requests to write them, 600 to look for them\.$/,
  );
});

test("a list that is read whole is priced by the pages of its last reading, and slows itself alone", async () => {
  const [invoice] = await control.records("invoices", [{ invoiceNumber: "P-1" }]);
  await control.records(
    "payments",
    times(250, () => ({ invoiceId: invoice?.["id"] })),
  );
  const here = await site({ perMonth: 20_000 });
  const payments = here.flow("payments", "paymentsReceived");
  await here.once(payments, here.into);
  expect(here.store.flows.find("payments")?.pages).toBe(3);
  // 44,640 looks of three pages, of 2,000 requests.
  const { lists, polls, forecast } = await here.office.budget();
  expect(lists).toEqual([{ flow: "payments", pages: 3, slowing: 66.96 }]);
  expect(forecast.stretch).toBeLessThan(5);
  // What the flow costs as it looks now: its share of the month, as every list that is read whole.
  const { stretch } = forecast;
  expect(polls.find(({ flow }) => flow === "payments")).toMatchObject({ perLook: 3 });
  for (const { flow, perMonth } of polls) {
    const configured = flow === "payments" ? 2_000 : 44_640;
    expect([flow, perMonth]).toEqual([flow, Math.round(configured / stretch)]);
  }
  const timesOf = (flow: Flow): number => Number(here.month.intervalMs(flow, "nothing")) / 60_000;
  expect(timesOf(payments)).toBeCloseTo(66.96 * forecast.stretch, 4);
  expect(timesOf(here.into)).toBeCloseTo(forecast.stretch, 4);
});

test("a loop does not use up the month within an hour: looks go slowly, a person is told whose, and writes go on", async () => {
  const here = await site({}, 3);
  await here.once(here.into);
  const { clock, store, governor } = here;
  const began = clock.now().wallMs;
  let admitted = 0;
  let waits = 0;
  while (clock.now().wallMs < began + 3_600_000) {
    const told = await store.journal.spending(here.into.flow, () => governor.admit("poll"));
    if (told.admitted) admitted++;
    else {
      expect(told.turn).toBe(true);
      expect(told.detail).toContain("(platform.budget.share.hour), and go on slowly");
      waits++;
      await clock.pause(told.waitMs);
    }
  }
  expect(admitted).toBeGreaterThan(2_500);
  expect(admitted, "36,000 would fit into the minutes").toBeLessThan(2_900);
  expect(waits).toBeGreaterThan(100);
  await here.once(here.out);
  expect(await delivered()).toEqual(all(3));
  const told = concernsOf(await here.office.status());
  expect(told.map(({ key }) => key)).toContain("budget haste");
  expect(told.find(({ key }) => key === "budget haste")?.detail).toMatch(
    /most of today's were for orders: poll \d{4}\.$/,
  );
  // A day without the loop later.
  await clock.pause(DAY);
  expect((await here.office.status()).requests.slowed).toBeNull();
});

test("what a flow's requests bought, and how long changes had waited since the platform had them, is counted", async () => {
  const order = (at: number) => ({
    orderNumber: `O-${at}`,
    lines: [{ product: "ULSD", gallons: 1 }],
  });
  await control.records("orders", times(2, order));
  const here = await site({}, 1);
  await here.once();
  await control.records("orders", times(3, order));
  await here.clock.pause(120_000);
  await here.once(here.into);
  const { bought } = await here.office.budget();
  const [bills, orders] = bought;
  expect(bills).toEqual({
    flow: "bills",
    requests: { write: 1, "read-back": 1 },
    stored: 1,
    delivered: 1,
    untilStored: null,
    untilDelivered: null,
  });
  expect(orders).toMatchObject({ flow: "orders", requests: { poll: 2 }, stored: 5, delivered: 5 });
  for (const measured of [orders?.untilStored, orders?.untilDelivered]) {
    expect(measured, "the two of the first reading waited for no look").toMatchObject({
      changes: 3,
    });
    // Counted by lengths that are a fifth apart.
    expect(measured?.meanMs).toBeGreaterThan(105_000);
    expect(measured?.p95Ms).toBeLessThan(145_000);
  }
  const { requests } = await here.office.status();
  expect(requests.bought).toEqual(bought);
  expect(statusText(await here.office.status())).toMatch(
    /orders +3 +mean 2?1?\d+ (?:s|min), 95 % within 2 min/,
  );
});

test("a walk that never ends stops its flow, says so, and is not read again at the next look", async () => {
  const lines = [{ product: "ULSD", gallons: 1 }];
  await control.records("orders", [{ updatedAt: instant(1), lines }]);
  await control.readings({ cursorsNeverEnd: true });
  const here = await site({}, 1);
  await here.once(here.into);
  expect(await asked()).toBe(12);
  const status = await here.office.status();
  expect(status).toMatchObject({
    healthy: false,
    stops: [{ breaker: "endless", scope: "platform.orders" }],
  });
  await here.clock.pause(3_600_000);
  await here.once();
  // The invoice went, after a look for it; nothing was asked for orders.
  expect([await delivered(), await asked()]).toEqual([all(1), 14]);
  await control.readings({ cursorsNeverEnd: false });
  await here.clock.pause(6 * 3_600_000);
  await here.once(here.into);
  expect(await here.office.status()).toMatchObject({ healthy: true, stops: [] });
});
