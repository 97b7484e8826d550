/** `fuelbridge budget` as people use it: on a site with a platform, beside a daemon and without one. */
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Plan } from "../src/cli/budget-plan.ts";
import type { MonthStatus, Status } from "../src/report/office.ts";
import { tempFolder } from "./support/folder.ts";
import { atWork, layOut, openSite, type Site } from "./support/site.ts";
import { until } from "./support/site-program.ts";

const SLOW = 120_000;

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
    // A block that was leased, and what was admitted and had not reached the platform.
    expect(killed.used).toBeLessThan(seen + 20 + 8);
    expect(killed).toMatchObject({ perMonth: 50_000, stretch: 1, minute: null });

    const text = (await site.command("budget", "status")).out;
    expect(text).toMatch(/^\d+ of 50000 requests are used in \d{4}-\d{2} \(UTC\)\.\n/);
    expect(text).toMatch(/\nwrite +\d+ +10000 +\d+\n/);
    expect((await site.ask<Status>("status")).requests).toEqual({
      month: killed.month,
      used: killed.used,
      perMonth: 50_000,
      stretch: 1,
    });
  },
);

describe("the plan prices a configuration before it runs", () => {
  test("each flow by its schedule, writes by what is said, and the platform is not asked", async () => {
    const site = await siteWith((yaml) =>
      yaml.replace("every: 10m", 'cron: "0 6,18 * * *"').replace("every: 10m", "every: 5m"),
    );
    const plan = await site.ask<Plan>("budget", "plan", "--writes", "100");
    expect(plan).toMatchObject({ perMonth: 50_000, forPolls: 35_000, stretch: 1 });
    const prices = plan.flows.map(({ requests }) => requests).sort((one, other) => other - one);
    expect(prices).toEqual([8_928, 4_464, 4_464, 62, 0, 0, 0, 0]);
    expect([plan.polls, plan.writes, plan.total]).toEqual([17_918, 6_200, 24_118]);
    const { code, out } = await site.command("budget", "plan");
    expect(code).toBe(0);
    expect(out).toMatch(/\ntotal +17918\n/);
    expect(out).toContain("Of 50000 requests a month polls may use 35000, and need 17918");
    expect(await sent(site)).toBe(0);
  });

  test("what the month cannot pay for is refused with the interval that would fit", async () => {
    const site = await siteWith((yaml) => yaml.replaceAll("every: 10m", "every: 2m"));
    const { code, err } = await site.command("budget", "plan");
    expect(code).toBe(2);
    expect(err).toContain(
      "polls take 89280 requests a month and writes 0, and the platform allows 50000.",
    );
    expect(err).toContain("every: 6m would fit, for each of the 4 flows");
    const { out } = await site.command("budget", "plan", "--json");
    expect(JSON.parse(out)).toMatchObject({ ok: false, error: { code: "configuration" } });

    const fitting = await siteWith((yaml) => yaml.replaceAll("every: 10m", "every: 6m"));
    expect(await fitting.ask<Plan>("budget", "plan")).toMatchObject({ stretch: 1 });
  });

  test("what fits the month but not the polls' part of it says how much they will be slowed", async () => {
    const site = await siteWith((yaml) => yaml.replaceAll("every: 10m", "every: 4m"));
    const { code, out } = await site.command("budget", "plan");
    expect(code).toBe(0);
    expect(out).toContain("They will be 1.3 times as far apart as configured.");
  });

  test("writes are a number, and too many of them leave polls nothing", async () => {
    const site = await siteWith((yaml) => yaml);
    expect(await site.command("budget", "plan", "--writes", "many")).toMatchObject({ code: 2 });
    const { code, err } = await site.command("budget", "plan", "--writes", "900");
    expect(code).toBe(2);
    expect(err).toContain("Write less often");
  });
});
