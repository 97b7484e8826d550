import { describe, expect, it, onTestFinished } from "vitest";
import { isThere } from "../../test/support/machine.ts";
import { startRedis, type TestRedis } from "../../test/support/redis.ts";
import {
  openTestSite,
  plenty,
  type TestSite,
  type TestSiteOptions,
} from "../../test/support/shared-queue.ts";
import { until } from "../../test/support/site-program.ts";
import { systemClock } from "../app/process.ts";
import type { Admission, Governor, Purpose } from "../core/budget.ts";
import { prefixOf } from "./redis.ts";

const month = new Date().toISOString().slice(0, 7);

const admitAll = (governor: Governor, purpose: Purpose, count: number): Promise<Admission[]> =>
  Promise.all(Array.from({ length: count }, () => governor.admit(purpose)));

const admitted = (admissions: readonly Admission[]): number =>
  admissions.filter(({ admitted }) => admitted).length;

/** Past the first minute, in which nothing is sent. */
async function open(redis: TestRedis, options: TestSiteOptions = {}) {
  const site = openTestSite(redis, options);
  await site.governor.looked;
  return site;
}

describe.skipIf(!isThere("redis-server"))("the governor of several processes", () => {
  it("three sites together never send more than the minute allows, in any minute", async () => {
    const redis = await startRedis();
    const windowMs = 500;
    const perMinute = 10;
    const moments: number[] = [];
    const sites = ["north", "south", "west"].map((site) =>
      openTestSite(redis, { site, windowMs, budget: { ...plenty, perMinute } }),
    );
    const send = async ({ governor }: TestSite): Promise<void> => {
      while (moments.length <= 3 * perMinute)
        if ((await governor.admit("poll")).admitted) {
          moments.push(performance.now());
          governor.learn({}, 200);
        }
    };
    await Promise.all(sites.flatMap((site) => [1, 2, 3, 4, 5].map(() => send(site))));
    const inOrder = moments.toSorted((one, other) => one - other);
    // Told over a connection: under load it is heard of late. One place too many is heard of with the others, a window early.
    for (const [at, moment] of inOrder.entries())
      expect(moment - (inOrder[at - perMinute] ?? -Infinity)).toBeGreaterThan(windowMs / 2);
  });

  it("a month is shared: what one site has used, the other may not", async () => {
    const redis = await startRedis();
    const budget = { ...plenty, perMonth: 30 };
    const north = await open(redis, { site: "north", budget });
    const south = await open(redis, { site: "south", budget });
    const both = await Promise.all(
      [north, south].map(({ governor }) => admitAll(governor, "poll", 25)),
    );
    expect(admitted(both.flat())).toBe(30);
    const refused = both.flat().find(({ admitted }) => !admitted);
    expect(refused).toMatchObject({
      detail: expect.stringContaining(
        `30 of the 30 requests of ${month} are used (platform.budget.perMonth), by all sites`,
      ),
    });
    expect((north.spent.get("poll") ?? 0) + (south.spent.get("poll") ?? 0)).toBe(30);
  });

  it("polling stops at what is kept for writes and for looking for them", async () => {
    const redis = await startRedis();
    const budget = { ...plenty, perMonth: 100, reserve: { writes: 20, readBacks: 10 } };
    const { governor } = await open(redis, { budget });
    expect(admitted(await admitAll(governor, "poll", 100))).toBe(70);
    expect(admitted(await admitAll(governor, "write", 100))).toBe(30);
  });

  it("reconciliation stops at its share of the month, of all sites together, and others go on", async () => {
    const redis = await startRedis();
    const budget = { ...plenty, perMonth: 100, share: { audit: 10 } };
    const north = await open(redis, { site: "north", budget });
    const south = await open(redis, { site: "south", budget });
    const both = await Promise.all(
      [north, south].map(({ governor }) => admitAll(governor, "audit", 10)),
    );
    expect(admitted(both.flat())).toBe(10);
    expect(both.flat().find(({ admitted }) => !admitted)).toMatchObject({
      detail: expect.stringContaining(
        "has had the 10 that it may use (platform.budget.share.audit)",
      ),
    });
    expect(admitted(await admitAll(south.governor, "write", 20))).toBe(20);
  });

  it("flushed: one request asks, and where the platform does not say nothing is sent for a minute; the month is what it was", async () => {
    const redis = await startRedis();
    const windowMs = 1_000;
    const north = await open(redis, {
      site: "north",
      windowMs,
      spent: { poll: 1_000 },
    });
    const south = await open(redis, { site: "south", windowMs, spent: { write: 200 } });
    await admitAll(north.governor, "poll", 5);
    await south.governor.look();
    // North is not there when it happens; south has seen what it used.
    await north.queue.close();
    await redis.flush();
    const since = performance.now();
    expect(await admitAll(south.governor, "write", 1)).toEqual([{ admitted: true }]);
    expect(performance.now() - since).toBeLessThan(windowMs / 2);
    south.governor.learn({}, 200);
    await south.governor.admit("write");
    expect(performance.now() - since).toBeGreaterThan(windowMs - 10);
    await south.governor.look();
    expect(south.governor.spent(month)).toEqual({ poll: 1_005, write: 202 });
  });

  it("flushed: of the month no more goes than was left, before anybody has looked again", async () => {
    const redis = await startRedis();
    const shared = { windowMs: 5_000, budget: { ...plenty, perMonth: 1_000 } };
    const north = await open(redis, { ...shared, site: "north", spent: { poll: 990 } });
    const south = await open(redis, { ...shared, site: "south" });
    await north.queue.close();
    await redis.flush();
    expect(await south.governor.admit("poll")).toEqual({ admitted: true });
    south.governor.learn({ "ratelimit-remaining": "100", "ratelimit-reset": "60" }, 200);
    expect(admitted(await admitAll(south.governor, "poll", 40))).toBe(9);
  });

  it("flushed: with what the platform says is left of its minute it goes on at once, and no further", async () => {
    const redis = await startRedis();
    const { governor } = await open(redis, {
      windowMs: 5_000,
      budget: { ...plenty, perMinute: 50 },
    });
    await redis.flush();
    const since = performance.now();
    await governor.admit("poll");
    governor.learn({ "ratelimit-remaining": "9", "ratelimit-reset": "60" }, 200);
    expect(admitted(await admitAll(governor, "write", 20))).toBe(9);
    expect(performance.now() - since).toBeLessThan(4_000);
  });

  it("Redis away, then new: it says so, and no longer that it cannot be reached", async () => {
    const redis = await startRedis();
    const { governor } = await open(redis, { windowMs: 20_000 });
    await redis.kill();
    expect(await governor.admit("write")).toMatchObject({
      detail: expect.stringContaining("cannot be reached") as string,
    });
    await redis.start();
    await until("it is back", async () => (await governor.admit("write")).admitted);
    governor.learn({}, 200);
    await until("it was learned", async () => !(await governor.admit("write")).admitted);
    await until("it says so", async () => {
      const refused = await governor.admit("write");
      return !refused.admitted && refused.detail.includes("nobody knows what was sent");
    });
    expect(governor.awaits()).toMatchObject({ code: "new" });
  });

  it("a place counts until its request has arrived, and a minute from then on", async () => {
    const redis = await startRedis();
    const windowMs = 600;
    const { governor } = await open(redis, { windowMs, budget: { ...plenty, perMinute: 1 } });
    await governor.admit("poll");
    governor.learn({}, 200);
    await governor.admit("poll");
    const sent = performance.now();
    await until("its answer is late", () => performance.now() - sent > 200);
    const answered = performance.now();
    governor.learn({}, 200);
    await governor.admit("poll");
    expect(performance.now() - answered).toBeGreaterThan(windowMs - 10);
  });

  it("a site that has filled the minute leaves a tenth of it, and its share to whoever asks", async () => {
    const redis = await startRedis();
    const budget = { ...plenty, perMinute: 60 };
    const [north, south] = await Promise.all(
      ["north", "south"].map((site) =>
        open(redis, {
          site,
          windowMs: 20_000,
          budget,
          weight: site === "north" ? 2 : 1,
        }),
      ),
    );
    await north?.governor.admit("poll");
    north?.governor.learn({ "ratelimit-remaining": "59", "ratelimit-reset": "60" }, 200);
    await north?.governor.look();
    for (const one of [north, south]) one?.governor.hurry();
    const takes = async (one = north, count = 80): Promise<number> =>
      admitted(await admitAll((one as TestSite).governor, "poll", count));
    expect(await takes()).toBe(53);
    expect(await takes(south)).toBe(6);
  });

  it("a site that sends without end delays another's invoice by no more than a minute", async () => {
    const redis = await startRedis();
    const windowMs = 1_500;
    const perMinute = 40;
    const [north, south] = await Promise.all(
      ["north", "south"].map((site) =>
        open(redis, { site, windowMs, budget: { ...plenty, perMinute } }),
      ),
    );
    const flood = { over: false, sent: 0 };
    // A loop that nobody ends leaves no turn to the other tests.
    onTestFinished(() => void (flood.over = true));
    const send = async (): Promise<void> => {
      while (!flood.over)
        if ((await north?.governor.admit("write"))?.admitted) {
          flood.sent++;
          north?.governor.learn({}, 200);
        }
    };
    const sending = Array.from({ length: 12 }, send);
    await until("the minute is full again and again", () => flood.sent > 100);
    for (let invoice = 0; invoice < 3; invoice++) {
      const before = flood.sent;
      // It is looked for, sent, and looked for once more.
      for (const purpose of ["read-back", "write", "read-back"] as const) {
        await until(
          "it goes",
          async () => (await south?.governor.admit(purpose))?.admitted === true,
        );
        south?.governor.learn({}, 200);
      }
      // A busy machine has long minutes: what one of them carries tells them.
      expect(flood.sent - before).toBeLessThanOrEqual(perMinute);
    }
    flood.over = true;
    north?.governor.hurry();
    await Promise.all(sending);
  });

  it("of a month each site keeps its share by weight of what is left of it", async () => {
    const redis = await startRedis();
    const budget = { ...plenty, perMonth: 1_000, perMinute: 5_000 };
    const clock = {
      ...systemClock(),
      now: () => ({ boot: "b", monoMs: performance.now(), wallMs: Date.UTC(2026, 10, 1) }),
    };
    const [north, south] = await Promise.all(
      ["north", "south"].map((site) =>
        open(redis, { site, budget, clock, weight: site === "north" ? 3 : 1 }),
      ),
    );
    for (const one of [north, south]) await one?.governor.look();
    const count = async (one?: TestSite): Promise<number> => {
      let all = 0;
      for (; (await one?.governor.admit("poll"))?.admitted; all++)
        if (all % 50 === 49) await one?.governor.look();
      return all;
    };
    expect(await count(north)).toBe(750);
    expect(await count(south)).toBe(250);
  });

  it.each([
    [
      "the minute's requests",
      (redis: TestRedis, at: number) =>
        redis.client.zadd("{fuelbridge-test}:minute", at, "one", at, "two"),
    ],
    [
      "a pause",
      (redis: TestRedis, at: number) =>
        redis.client.hset("{fuelbridge-test}:gate", { opens: at, why: "told" }),
    ],
  ])(
    "Redis's clock set back an hour: %s are over after a minute, not after an hour",
    async (_, put) => {
      const redis = await startRedis();
      const windowMs = 400;
      const { governor } = await open(redis, { windowMs, budget: { ...plenty, perMinute: 2 } });
      await put(redis, Date.now() + 3_600_000);
      const since = performance.now();
      // The first one asks the platform, which does not say.
      expect(await governor.admit("poll")).toEqual({ admitted: true });
      governor.learn({}, 200);
      expect(await governor.admit("poll")).toEqual({ admitted: true });
      expect(performance.now() - since).toBeGreaterThan(windowMs - 10);
    },
  );

  it("Redis restarted: nothing is sent for a minute, for its last second may be missing", async () => {
    const redis = await startRedis();
    const windowMs = 400;
    const { governor } = await open(redis, { windowMs });
    await governor.admit("poll");
    await redis.kill();
    await redis.start();
    const since = performance.now();
    await until("one asks", async () => (await governor.admit("poll")).admitted);
    governor.learn({}, 200);
    await until("it goes on", async () => (await governor.admit("poll")).admitted);
    expect(performance.now() - since).toBeGreaterThan(windowMs - 10);
  });

  it("Redis restarted, and the one that asks never left: another one asks at once", async () => {
    const redis = await startRedis();
    const { governor } = await open(redis, { windowMs: 20_000 });
    await governor.admit("poll");
    await redis.kill();
    await redis.start();
    await until("one asks", async () => (await governor.admit("poll")).admitted);
    expect(await governor.admit("write")).toMatchObject({ admitted: false });
    governor.unsent?.();
    await until("another one asks", async () => (await governor.admit("write")).admitted);
    expect(await governor.admit("write")).toMatchObject({ admitted: false });
  });

  it("Redis away: nothing is sent, and it says what is wrong", async () => {
    const redis = await startRedis();
    const { governor, spent } = await open(redis);
    await redis.kill();
    const admission = await governor.admit("poll");
    expect(admission).toMatchObject({ admitted: false, waitMs: 3_000 });
    expect(admission).toMatchObject({ detail: expect.stringContaining("cannot be reached") });
    expect(spent.get("poll")).toBeUndefined();
  });

  it("told by the platform to wait, all wait", async () => {
    const redis = await startRedis();
    const [north, south] = await Promise.all(
      ["north", "south"].map((site) => open(redis, { site })),
    );
    await admitAll((north as TestSite).governor, "poll", 1);
    (north as TestSite).governor.learn({ "retry-after": "1" }, 429);
    const since = performance.now();
    await until("it was learned", async () => {
      await (south as TestSite).governor.admit("poll");
      return performance.now() - since > 900;
    });
    expect(south?.governor.minute().limit).toBe(plenty.perMinute);
  });

  it("what the platform says is left of its minute is all that all may use of it", async () => {
    const redis = await startRedis();
    const [north, south] = await Promise.all(
      ["north", "south"].map((site) => open(redis, { site })),
    );
    await (north as TestSite).governor.admit("poll");
    const since = performance.now();
    (north as TestSite).governor.learn({ "ratelimit-remaining": "3", "ratelimit-reset": "3" }, 200);
    await (north as TestSite).governor.look();
    await admitAll((south as TestSite).governor, "poll", 3);
    expect(performance.now() - since).toBeLessThan(2_500);
    await (north as TestSite).governor.admit("poll");
    expect(performance.now() - since).toBeGreaterThan(2_500);
  });

  it("a write counts as sent already: it waits no more than 2 s for its place, and a poll as long as it must", async () => {
    const redis = await startRedis();
    const { governor } = await open(redis, {
      windowMs: 3_000,
      budget: { ...plenty, perMinute: 1 },
    });
    await governor.admit("poll");
    governor.learn({}, 200);
    const since = performance.now();
    expect(await governor.admit("write")).toMatchObject({ admitted: false, turn: true });
    expect(performance.now() - since).toBeLessThan(2_500);
    expect(await governor.admit("poll")).toEqual({ admitted: true });
  });

  it("a Redis that keeps nothing of the month that it is told is not told without end: it is said", async () => {
    const redis = await startRedis();
    const { governor } = await open(redis, { spent: { poll: 5 } });
    const flush = { over: false };
    const flushing = (async () => {
      while (!flush.over) await redis.client.del(`${prefixOf("test")}:month:${month}`);
    })();
    await until("it is said", async () => {
      const refused = await governor.admit("write");
      return !refused.admitted && refused.detail.includes("does not keep the month's requests");
    });
    flush.over = true;
    await flushing;
    expect(await governor.admit("poll")).toEqual({ admitted: true });
  });
});
