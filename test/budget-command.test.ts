/** `fuelbridge budget` as people use it: on a site with a platform, beside a daemon and without one. */
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Plan, planInWords, planOf } from "../src/cli/budget-plan.ts";
import type { Config, FlowConfig } from "../src/config/config.ts";
import { usualBudget } from "../src/core/budget.ts";
import type { MonthStatus, Status } from "../src/office/answers.ts";
import { times } from "./conformance/support.ts";
import { tempFolder } from "./support/folder.ts";
import { atWork, layOut, openSite, type Site } from "./support/site.ts";
import { until } from "./support/site-program.ts";

const SLOW = 600_000;
/** Of the demo's configuration. */
const FLOWS = 9;

async function siteWith(change: (yaml: string) => string): Promise<Site> {
  const folder = join(tempFolder(), "site");
  layOut(folder, change);
  const site = await openSite(folder);
  onTestFinished(() => site.close());
  return site;
}

const sent = async (site: Site): Promise<number> => (await site.control.requests()).length;

test(
  "the status counts what the platform has seen: beside the daemon, after it, and after kill -9",
  { timeout: SLOW },
  async () => {
    const site = await atWork();
    const daemon = await site.daemon();
    await until("some requests", async () => (await sent(site)) > 60);
    const beside = await site.ask<MonthStatus>("budget", "status");
    expect(beside.minute).toMatchObject({ limit: 600 });
    expect(beside.used).toBeGreaterThan(60);
    daemon.kill("SIGKILL");
    await daemon.ended;
    const killed = await site.ask<MonthStatus>("budget", "status");
    const seen = await sent(site);
    expect(killed.used).toBeGreaterThanOrEqual(seen);
    // A block that was leased, and what was admitted and had not reached the platform: at most four requests of a flow.
    expect(killed.used).toBeLessThan(seen + 20 + 4 * FLOWS);
    expect(killed).toMatchObject({ perMonth: 50_000, forecast: { stretch: 1 }, minute: null });

    const text = (await site.here("budget", "status")).out;
    expect(text).toMatch(/^\d+ of 50000 requests are used in \d{4}-\d{2} \(UTC\)\.\n/);
    expect(text).toMatch(/\nwrite +\d+ +10000 +\d+\n/);
    expect((await site.ask<Status>("status")).requests).toEqual({
      month: killed.month,
      used: killed.used,
      perMonth: 50_000,
      forecast: expect.objectContaining({ stretch: 1, runsOut: null }),
      bought: killed.bought,
      slowed: null,
    });
    const orders = killed.bought.find(({ flow }) => flow === "orders");
    expect(orders?.requests.poll).toBeGreaterThan(0);
    expect(orders).toMatchObject({ untilStored: null });
    expect(orders?.delivered).toBeLessThanOrEqual(orders?.stored ?? 0);
  },
);

describe("the plan prices a configuration before it runs", () => {
  test("each flow by its schedule, writes by what is said, and the platform is not asked", async () => {
    const site = await siteWith((yaml) =>
      yaml.replace("every: 10m", 'cron: "0 6,18 * * *"').replace("every: 10m", "every: 5m"),
    );
    const plan = await site.ask<Plan>("budget", "plan", "--writes", "100");
    expect(plan).toMatchObject({ perMonth: 50_000, forPolls: 30_918, stretch: 1 });
    // A year of payments, one for each document, is read whole for it.
    expect(plan.audit).toMatchObject({ everyNights: 4, perMonth: 4_082, wantsShare: null });
    const prices = plan.flows.map(({ requests }) => requests).sort((one, other) => other - one);
    expect(prices).toEqual([8_928, 4_464, 4_464, 62, 0, 0, 0, 0, 0]);
    expect([plan.polls, plan.writes, plan.total]).toEqual([17_918, 6_200, 28_200]);
    const { code, out } = await site.here("budget", "plan");
    expect(code).toBe(0);
    expect(out).toMatch(
      /\nreconciliation +every night, all of it every month +410 +0\.8 %\ntotal +18328 +36\.7 %\n/,
    );
    expect(out).toContain("Of 50000 requests a month polls may use 34590, and need 17918");
    expect(await sent(site)).toBe(0);
  });

  test("what the month cannot pay for is refused with the interval that would fit", async () => {
    const site = await siteWith((yaml) => yaml.replaceAll("every: 10m", "every: 2m"));
    const { code, err } = await site.here("budget", "plan");
    expect(code).toBe(2);
    expect(err).toContain(
      "polls take 89280 requests a month, writes 0 and reconciliation 410, and the platform allows 50000.",
    );
    expect(err).toContain("every: 6m would fit, for each of the 4 flows");
    const { out } = await site.here("budget", "plan", "--json");
    expect(JSON.parse(out)).toMatchObject({ ok: false, error: { code: "configuration" } });

    // Run all the same, it says so at its start.
    const daemon = await site.daemon();
    daemon.kill("SIGTERM");
    const log = (await daemon.ended).out.split("\n").find((line) => line.includes("89280"));
    expect(JSON.parse(log ?? "null")).toMatchObject({
      level: 40,
      next: expect.stringContaining("every: 6m would fit, for each of the 4 flows"),
      thisMonth: expect.stringMatching(/^The platform is read .* as configured, /),
    });

    const fitting = await siteWith((yaml) => yaml.replaceAll("every: 10m", "every: 6m"));
    expect(await fitting.ask<Plan>("budget", "plan")).toMatchObject({ stretch: 1 });
  });

  test("what fits the month but not the polls' part of it says how much they will be slowed", async () => {
    const site = await siteWith((yaml) => yaml.replaceAll("every: 10m", "every: 4m"));
    const { code, out } = await site.here("budget", "plan");
    expect(code).toBe(0);
    expect(out).toContain(
      "The platform is read 1.3 times as seldom as configured, so that the month's requests suffice.",
    );
  });

  test("writes are a number, and too many of them leave polls nothing", async () => {
    const site = await siteWith((yaml) => yaml);
    expect(await site.here("budget", "plan", "--writes", "many")).toMatchObject({ code: 2 });
    const { code, err } = await site.here("budget", "plan", "--writes", "900");
    expect(code).toBe(2);
    expect(err).toContain("Write less often");
  });

  const hourly = (name: string, source: string): FlowConfig => ({
    name,
    mapping: "a/b",
    from: { endpoint: "platform", name: source },
    to: { endpoint: "erp", name: "x" },
    schedule: { everyMs: 3_600_000 },
    paused: false,
    duplicates: "wait",
  });
  const config = (...flows: readonly FlowConfig[]) =>
    ({
      file: "f",
      timeZone: "UTC",
      officeHours: null,
      sites: null,
      hub: null,
      queue: { type: "embedded" },
      sharers: [{ company: "c", weight: 1, state: "s" }],
      platform: { budget: usualBudget, hub: null },
      flows,
    }) as unknown as Config;
  const nothing = { writesPerDay: 0, documents: 0 };

  test("a list that is read whole is priced by its pages, and an interval that eats the month is refused", () => {
    const flows = config(hourly("orders", "orders"), hourly("payments", "paymentsReceived"));
    const plan = (pages: number) =>
      planOf(flows, { ...nothing, lists: [{ flow: "payments", pages }] }, Date.now());
    expect(plan(1)).toMatchObject({ polls: 1_488, fault: null });
    expect(plan(80)).toMatchObject({
      polls: 744 + 59_520,
      fault: {
        message: expect.stringContaining("polls take 60264 requests a month"),
        next: 'every: 12h would fit for "payments", which reads 80 pages each time.',
      },
    });
    const slowed = plan(40);
    expect(slowed).toMatchObject({ polls: 744 + 29_760, stretch: 1, fault: null });
    expect(planInWords(slowed)).toContain(
      '"payments" reads 40 pages each time: it is read 6.0 times as seldom as configured.',
    );
  });

  test("each flow's share of the month stands beside how long its changes will wait, in office hours and at all", () => {
    const flows = config(
      {
        ...hourly("orders", "orders"),
        schedule: { everyMs: 3_600_000, auto: { leastMs: 15_000 } },
      },
      hourly("invoices", "invoicesIssued"),
      { ...hourly("payments", "paymentsReceived"), schedule: { cron: "0 6 * * *" } },
      { ...hourly("prices", "x"), from: { endpoint: "erp", name: "x" } },
    );
    const officeHours = { days: [0, 1, 2, 3, 4], from: 420, to: 1_080, holidays: [] };
    const plan = planOf({ ...flows, officeHours }, { ...nothing, lists: [] }, Date.now());
    const [orders, invoices, payments, prices] = plan.flows;
    expect(orders?.requests).toBeGreaterThan(20_000);
    expect(orders?.office?.meanMs).toBeLessThan(60_000);
    expect(orders?.all?.meanMs).toBeGreaterThan(orders?.office?.meanMs ?? Infinity);
    expect(invoices).toMatchObject({ requests: 744, all: { meanMs: 1_800_000, p95Ms: 3_420_000 } });
    expect(payments?.all?.meanMs).toBeCloseTo(12 * 3_600_000, -6);
    expect(payments?.office?.meanMs, "from 7 to 18 it is 17.5 hours on average").toBeCloseTo(
      63_000_000,
      -6,
    );
    expect(prices).toMatchObject({ requests: 0, office: null, all: null });
    const text = planInWords(plan);
    expect(text).toMatch(/FLOW +WHEN +REQUESTS +OF THE MONTH +CHANGES WAIT +IN OFFICE HOURS\n/);
    expect(text).toMatch(
      /\ninvoices +\S.* 744 +1\.5 % +mean 30 min, 95 % within 57 min +mean 30 min, 95 % within 57 min\n/,
    );
    expect(planInWords(planOf(flows, { ...nothing, lists: [] }, 0))).not.toContain("OFFICE HOURS");
  });

  test("all sites under the key are counted, and each plans with its part", () => {
    const flows = config({
      ...hourly("orders", "orders"),
      schedule: { everyMs: 600_000 },
    });
    const sites = Object.fromEntries(times(20, (at) => [`s${at}`, []]));
    const shared = { ...flows, sites: { ...sites, all: [] }, queue: { type: "bullmq", weight: 1 } };
    const plan = planOf(shared as unknown as Config, { ...nothing, lists: [] }, Date.now());
    const one = planOf(flows, { ...nothing, lists: [] }, Date.now());
    expect(plan).toMatchObject({ sites: 20, polls: one.polls, total: one.total * 20 });
    expect(plan.fault?.message).toContain("at each of the 20 sites, and the platform allows 50000");
    expect(plan.fault?.next).toContain("would fit, for the one flow that polls");
    expect(planInWords(plan)).toContain("the 20 sites that share the API key need");
  });

  test("a PDF that a flow attaches is priced at a request; a flow that attaches none costs none", () => {
    const plan = (...flows: readonly FlowConfig[]) =>
      planOf(config(...flows), { ...nothing, attachmentsPerDay: 100, lists: [] }, Date.now());
    const without = plan(hourly("invoices", "invoicesIssued"));
    const attaching = { ...hourly("invoices", "invoicesIssued"), attach: "pdf" } as const;
    const priced = plan(attaching);
    expect([without.attachments, priced.attachments]).toEqual([0, 3_100]);
    expect(priced.total - without.total).toBe(3_100);
    expect(priced.forPolls - without.forPolls).toBe(-3_100);
    expect(planInWords(priced)).toMatch(/\nattachments +one for each PDF +3100 +6\.2 %\n/);
    expect(planInWords(planOf(config(attaching), { ...nothing, lists: [] }, Date.now()))).toContain(
      "--attachments NUMBER",
    );
    const { fault } = planOf(
      config(attaching),
      { ...nothing, attachmentsPerDay: 2_000, lists: [] },
      Date.now(),
    );
    expect(fault?.message).toContain("PDFs 62000");
  });

  test("1,000 a month are refused with the interval that would fit, though polls are slowed", () => {
    const small = config(hourly("orders", "orders"), hourly("invoices", "invoicesIssued"));
    const budget = { ...small.platform.budget, perMonth: 1_000 };
    const { fault } = planOf(
      { ...small, platform: { ...small.platform, budget } },
      { ...nothing, lists: [] },
      Date.now(),
    );
    expect(fault?.next).toContain("would fit, for each of the 2 flows");
  });
});
