/**
 * Nights of the daemon over the sandbox: what was committed late comes whatever can be compared and however many nights
 * failed, what cannot be compared is named and told, and books that call are waited for.
 */
import { describe, expect, test } from "vitest";
import { orders as ordersMapping } from "../mappings/goods.ts";
import { conditionsOf } from "../src/alerts/alerts.ts";
import { usualBudget } from "../src/core/budget.ts";
import type { Endpoint, Presence, Source } from "../src/core/contract.ts";
import { SourceUnavailable } from "../src/core/errors.ts";
import type { Holding, HoldingKind } from "../src/core/holdings.ts";
import type { Engine } from "../src/engine/engine.ts";
import { Auditor, Nightly } from "../src/engine/reconcile/nightly.ts";
import type { Audit } from "../src/engine/reconcile/reconcile.ts";
import { runFlow } from "../src/engine/daemon.ts";
import { reconciliationStatus } from "../src/office/status.ts";
import type { Status } from "../src/office/answers.ts";
import { reportText } from "../src/views/reconciliation.ts";
import { never, usePlatform } from "./platform/support.ts";
import { receiver } from "./support/engine.ts";
import { bookOf, edit, inWords, issued, one, useOffice } from "./support/reconciled-site.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const platform = usePlatform();
const { control } = platform;
const office = useOffice(platform);

/** As the matcher keeps it. */
async function matched(): Promise<void> {
  const { store, clock } = office.bench;
  const days = { from: "2026-01-01", to: "2026-01-31" };
  store.sweeps.matched({ part: null, period: days, askedBy: "daemon" }, "{}", clock.now().wallMs);
}

/** Without feeds of orders, unless the test adds one. */
function nights(
  engine: Engine = office.bench.engine,
  audit: Audit = office.audit,
  match = matched,
) {
  const { clock } = office.bench;
  const auditor = new Auditor(engine, audit);
  const nightly = new Nightly(engine, auditor, {
    schedule: { cron: "20 4 * * *", timeZone: "UTC" },
    days: 35,
    budget: usualBudget,
    match,
  });
  const start = (): Promise<boolean> =>
    new Promise((resolve, reject) => {
      nightly.start((error, stirred) => (error === null ? resolve(stirred) : reject(error)), never);
    });
  /** Until what is due next has ended. */
  const run = async (): Promise<boolean> => {
    const waitMs = nightly.dueMs() - clock.now().wallMs;
    // Also away from the end of the last run, which none follows on its heels.
    await clock.pause(Math.max(waitMs, 61_000));
    return start();
  };
  return { auditor, nightly, run, start };
}

test("papers are matched each night, also where the comparison before it failed", async () => {
  let matched = 0;
  const count = async (): Promise<void> => {
    matched++;
    if (matched === 2) throw new Error("a table that cannot be used");
  };
  const { run } = nights(undefined, undefined, count);
  for (let night = 1; night <= 3; night++) {
    await run();
    expect(matched).toBe(night);
  }
});

test("a site whose machine is off every night is compared in the first morning", async () => {
  await advance(1);
  const { nightly } = nights();
  expect(nightly.dueMs()).toBeLessThan(office.bench.clock.now().wallMs);
});

test("a night by a clock that was a year ahead delays neither the next ones nor the word about what differs", async () => {
  const { nightly, run } = nights();
  const { clock, store } = office.bench;
  const [first] = (await office.ask()).cases.filter(({ number }) => number === "INV-1");
  if (first === undefined) throw new Error("no INV-1");
  edit(office, bookOf(first), (held) => ({
    ...held,
    facts: { ...held.facts, days: { due: "2027-01-01" } },
  }));
  clock.set(365 * DAY_MS);
  await run();
  clock.set(-365 * DAY_MS);
  const told = (): string[] => store.sweeps.inState("open").map(({ number }) => number);
  expect(told()).toEqual([]);
  // As the daemon asks.
  for (let leftMs = 49 * HOUR_MS; leftMs > 0;) {
    const ended = Promise.withResolvers<void>();
    const waitMs = nightly.start(() => ended.resolve(), never);
    if (waitMs === Infinity) await ended.promise;
    else {
      clock.advance(Math.max(waitMs, 1));
      leftMs -= Math.max(waitMs, 1);
    }
  }
  expect(told()).toEqual(["INV-1"]);
});

/** A feed of orders beside the invoices, as far as it has been walked. */
async function withOrders(): Promise<{ engine: Engine; look: () => Promise<void> }> {
  const endpoint = office.audit.endpoints.get("platform") as Endpoint;
  const flow = office.bench.flow({
    name: "orders",
    mapping: ordersMapping,
    from: "platform.orders",
    to: "erp.orders",
    side: "platform",
    source: endpoint.sources["orders"] as Source,
    sink: receiver(),
  });
  const { engine } = office.bench;
  const look = async (): Promise<void> => {
    for (const one of [...office.flows, flow]) await runFlow(engine, one, never);
  };
  return { engine: { ...engine, flows: [...office.flows, flow] }, look };
}

const hoursAgo = async (hours: number): Promise<string> =>
  new Date((await control.now()) - hours * HOUR_MS).toISOString();

/** Both clocks. */
async function advance(days: number): Promise<void> {
  await control.advance(days * 24 * 3_600);
  office.bench.clock.advance(days * DAY_MS);
}

/** Whatever day it is where the test runs: some nights from now are in the same month. */
async function untilMidMonth(): Promise<void> {
  const day = new Date(await control.now()).getUTCDate();
  if (day > 15) await advance(45 - day);
}

const order = (number: string, at: string) => ({
  orderNumber: number,
  status: "CONFIRMED",
  createdAt: at,
  updatedAt: at,
});

/** Deliveries that were made of a flow's records, whatever became of them. */
const received = (name: string): number => {
  const { store } = office.bench;
  const { flow } = store.flows.find(name) ?? { flow: 0 };
  return [...store.deliveries.counts(flow).values()].reduce((sum, count) => sum + count, 0);
};

function brokenBooks(kinds: readonly HoldingKind[]): { mend: () => void } {
  const books = office.audit.endpoints.get("erp") as Endpoint;
  const { holdings } = books;
  if (holdings === undefined) throw new Error("the books tell nothing");
  (office.audit.endpoints as Map<string, Endpoint>).set("erp", {
    ...books,
    holdings: {
      ...holdings,
      async *list(kind, ...rest) {
        if (kinds.includes(kind))
          throw new SourceUnavailable(`There is no export of ${kind}s (${kind}s*.csv).`, {
            next: "Export it in the ERP.",
          });
        yield* holdings.list(kind, ...rest);
      },
    },
  });
  return { mend: () => (office.audit.endpoints as Map<string, Endpoint>).set("erp", books) };
}

const wrongParty = (held: Holding): Holding => ({ ...held, facts: { ...held.facts, party: "X" } });

const alertsOf = (engine: Engine): string[] => {
  const status = {
    stops: [],
    warnings: [],
    flows: [],
    callers: [],
    quarantine: [],
    reconciliation: reconciliationStatus(engine, null),
    matching: { lastAt: null, trouble: null, open: 0, large: [] },
    drift: [],
    requests: { used: 0, perMonth: 1, month: "", forecast: { runsOut: null }, slowed: null },
  } as unknown as Status;
  return conditionsOf(status, { unreachableMs: 0 }, 0).map(
    ({ title, detail }) => `${title}: ${detail}`,
  );
};

describe("a kind that a side cannot tell", () => {
  test("is named with what to do, and everything else is compared, its differences too", async () => {
    brokenBooks(["bill"]);
    const whole = await office.ask();
    expect(whole).toMatchObject({ state: "done", agrees: false });
    const [headline = "", verdict = "", missing = ""] = reportText(whole).split("\n");
    expect(headline).toContain("Reconciliation of everything");
    expect(verdict).toBe("Both sides agree in what was compared; bills not compared: 8 cases.");
    expect(missing).toBe(
      "NOT COMPARED: erp: bills: There is no export of bills (bills*.csv). Export it in the ERP.",
    );
    edit(office, bookOf(one(whole)), wrongParty);
    const differing = await office.ask();
    expect(inWords(differing)).toHaveLength(1);
    expect(reportText(differing)).toContain("Both sides DO NOT AGREE: 1 of 8 cases.");
  });

  test("keeps what was known to differ of it, and is not taken for a side that lost its records", async () => {
    edit(office, bookOf(one(await office.ask())), wrongParty);
    await office.ask();
    expect(office.bench.store.sweeps.inState("seen")).toHaveLength(1);
    brokenBooks(["invoice"]);
    expect(await office.ask()).toMatchObject({ state: "done" });
    expect(office.bench.store.sweeps.inState("seen")).toHaveLength(1);
  });

  test("raises an alert after the night, which ends with the next night that can compare it", async () => {
    const { mend } = brokenBooks(["bill"]);
    const { run } = nights();
    await run();
    expect(alertsOf(office.bench.engine)).toEqual([
      "Not compared: bill, erp: There is no export of bills (bills*.csv).",
    ]);
    mend();
    await run();
    expect(alertsOf(office.bench.engine)).toEqual([]);
  });

  test("when it is every kind, the night has failed and says so, and one that a restart ended is no alert", async () => {
    brokenBooks(["bill", "invoice"]);
    const { run } = nights();
    await run();
    expect(alertsOf(office.bench.engine)).toEqual([
      expect.stringMatching(/^Not compared: both sides: There is no export of invoices/),
    ]);
    const { sweeps } = office.bench.store;
    const night = { scope: "nightly", flow: null, period: null };
    sweeps.begin({ ...night, askedBy: "daemon" }, 0);
    sweeps.begin({ ...night, askedBy: "somebody" }, 0);
    expect(alertsOf(office.bench.engine)).toEqual([]);
  });
});

describe("what was committed late", () => {
  /** All feeds in step, and read anew once; then later by the clock of both. */
  const settled = async () => {
    const { engine, look } = await withOrders();
    await control.records("orders", [order("LD-0", await hoursAgo(1))]);
    const { run, nightly } = nights(engine);
    await look();
    await run();
    await control.advance(60);
    const at = await hoursAgo(0);
    await control.records("orders", [order("LD-1", at)]);
    await control.records("invoices", [
      issued(1, { invoiceNumber: "INV-NEW", createdAt: at, updatedAt: at }),
    ]);
    await control.advance(2);
    await look();
    return { engine, look, run, nightly };
  };

  test.each([1, 72, 6 * 24])(
    "%i hours late comes with the next night, an order as an invoice",
    async (hours) => {
      const { run, look } = await settled();
      const [orders, invoices] = [received("orders"), received("invoices-issued")];
      const at = await hoursAgo(hours);
      await control.records("orders", [order("LD-LATE", at)]);
      await control.records("invoices", [
        issued(1, { invoiceNumber: "LATE-1", createdAt: at, updatedAt: at }),
      ]);
      await look();
      expect([received("orders"), received("invoices-issued")]).toEqual([orders, invoices]);
      expect(await run()).toBe(true);
      expect([received("orders"), received("invoices-issued")]).toEqual([orders + 1, invoices + 1]);
    },
  );

  test("comes though the books cannot be read, and though three nights failed on both sides before", async () => {
    const { engine, run, look } = await settled();
    const orders = received("orders");
    await control.records("orders", [order("LD-A", await hoursAgo(100))]);
    const { mend } = brokenBooks(["invoice", "bill"]);
    await run();
    expect(received("orders")).toBe(orders + 1);
    // Committed late on the first of three nights on which the platform does not answer.
    await look();
    await control.records("orders", [order("LD-B", await hoursAgo(6 * 24))]);
    await control.fault({
      method: "GET",
      kind: "status",
      status: 503,
      times: 10_000,
    });
    for (let tries = 0; tries < 6; tries++) {
      await office.bench.clock.pause(12 * HOUR_MS);
      await run();
    }
    expect(received("orders")).toBe(orders + 1);
    expect(alertsOf(engine).filter((alert) => alert.startsWith("orders:"))).toEqual([
      expect.stringMatching(
        /^orders: changes that came late on the platform may be missing: It was last read anew at .*503/,
      ),
    ]);
    await control.ask("DELETE", "/faults");
    mend();
    await run();
    expect(received("orders")).toBe(orders + 2);
    expect(alertsOf(engine)).toEqual([]);
  });

  test("within a quarter comes with the first night of a month, and not before", async () => {
    await untilMidMonth();
    const { run, look } = await settled();
    const orders = received("orders");
    await control.records("orders", [order("LD-OLD", await hoursAgo(60 * 24))]);
    await run();
    expect(received("orders")).toBe(orders);
    await advance(30);
    await look();
    await run();
    expect(received("orders")).toBe(orders + 1);
  });

  test("a feed that the comparison has read as far back is not read a second time", async () => {
    const { run } = await settled();
    const before = (await control.requests()).length;
    await run();
    const asked = (
      (await control.requests()) as unknown as { path: string; query: Record<string, string> }[]
    )
      .slice(before)
      .filter(({ path }) => path.endsWith("/invoices"));
    const since = asked.map(({ query }) => query["updatedSince"] ?? "");
    // The month's sweep or the nightly days, its counts and its closing walk; no walk of the feed beside it.
    expect(new Set(asked.map(({ query }) => query["role"]))).toEqual(new Set(["issuer", "payer"]));
    const sevenDays = new Date((await control.now()) - 8 * DAY_MS).toISOString();
    const sixDays = new Date((await control.now()) - 6 * DAY_MS).toISOString();
    expect(since.filter((one) => one > sevenDays && one < sixDays)).toEqual([]);
  });
});

describe("books that call us", () => {
  /** They are not there until `call`. */
  const calling = () => {
    const books = office.audit.endpoints.get("erp") as Endpoint;
    const { holdings } = books;
    if (holdings === undefined) throw new Error("the books tell nothing");
    const session = { isHere: false, pagesLeft: Infinity };
    const expected = (): void => {
      if (!session.isHere)
        throw new SourceUnavailable("QuickBooks is not here: it has never called", {
          next: "Press Update Selected.",
        });
    };
    const presence = (): Presence => ({
      lastAt: null,
      isHere: session.isHere,
      isAwaited: true,
      silence: null,
    });
    const caller: Endpoint = {
      ...books,
      presence,
      check: async () => expected(),
      holdings: {
        ...holdings,
        async *list(kind, ...rest) {
          expected();
          if (session.pagesLeft-- <= 0) session.isHere = false;
          expected();
          yield* holdings.list(kind, ...rest);
        },
        get: async (...asked) => (expected(), holdings.get(...asked)),
      },
    };
    const endpoints = new Map([...office.audit.endpoints, ["erp", caller]]);
    return { audit: { ...office.audit, endpoints }, session };
  };

  /** The clock stands still while nobody is there, until `at` pauses have been made. */
  const after = (pauses: number, then: () => void): Engine => {
    const { engine, clock } = office.bench;
    let made = 0;
    const pause: typeof clock.pause = async (ms, signal) => {
      await clock.pause(ms, signal);
      if (++made === pauses) then();
    };
    return { ...engine, clock: { ...clock, pause } };
  };

  test("are waited for on demand: who asks sees for whom and since when, and gets the answer with the next session", async () => {
    const { audit, session } = calling();
    const states: unknown[] = [];
    const engine = after(30, () => {
      states.push(auditor.waiting, reconciliationStatus(engine, null, auditor).waits);
      session.isHere = true;
    });
    const auditor = new Auditor(engine, audit);
    const asked = auditor.reconcile({ period: null, flow: null, askedBy: "Ann" });
    await expect(auditor.reconcile({ period: null, flow: null, askedBy: "Bob" })).rejects.toThrow(
      /running|waits for "erp"/,
    );
    expect(await asked).toMatchObject({ state: "done", agrees: true });
    expect(states[0]).toMatchObject({
      endpoint: "erp",
      message: expect.stringContaining("never called") as string,
      next: "Press Update Selected.",
    });
    expect(states[1]).toEqual(states[0]);
    expect(auditor.waiting).toBeNull();
  });

  test("that leave in the middle of a reading are waited for again, and the reading goes on", async () => {
    const { audit, session } = calling();
    session.isHere = true;
    session.pagesLeft = 1;
    const engine = after(5, () => {
      session.pagesLeft = Infinity;
      session.isHere = true;
    });
    const auditor = new Auditor(engine, audit);
    expect(await auditor.reconcile({ period: null, flow: null, askedBy: "Ann" })).toMatchObject({
      state: "done",
      agrees: true,
      unasked: [],
    });
  });

  test("that do not come within the limit leave a night that was not compared; what was committed late came before", async () => {
    const { engine, look } = await withOrders();
    await control.records("orders", [order("LD-0", await hoursAgo(1))]);
    await look();
    await control.records("orders", [order("LD-LATE", await hoursAgo(72))]);
    const { audit } = calling();
    const orders = received("orders");
    const { run, nightly } = nights(engine, { ...audit, waitMs: 10 * HOUR_MS });
    const due = nightly.dueMs();
    const ended = run();
    await ended;
    expect(received("orders")).toBe(orders + 1);
    expect(office.bench.clock.now().wallMs - due).toBeGreaterThanOrEqual(10 * HOUR_MS);
    expect(alertsOf(engine)).toEqual([
      "Not compared: both sides: QuickBooks is not here: it has never called",
    ]);
  });

  test("that are there are asked at once, and an arrival ends the wait", async () => {
    const { audit, session } = calling();
    const { engine, clock } = office.bench;
    let stir = (): void => {};
    const pause: typeof clock.pause = (_, signal) =>
      new Promise((resolve) => {
        signal?.addEventListener("abort", () => resolve(), { once: true });
        stir();
      });
    const auditor = new Auditor({ ...engine, clock: { ...clock, pause } }, audit);
    const paused = new Promise<void>((resolve) => (stir = resolve));
    const asked = auditor.reconcile({ period: null, flow: null, askedBy: "Ann" });
    await paused;
    session.isHere = true;
    auditor.arrived();
    expect(await asked).toMatchObject({ agrees: true });
  });
});
