/** What Redis and workers can do to a job: it is never carried out twice, and what is told of it is true. */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { isThere } from "../../test/support/machine.ts";
import { type Hands, hands } from "../../test/support/queue-hands.ts";
import { startRedis, type TestRedis } from "../../test/support/redis.ts";
import { done, requestOf } from "../../test/support/shared-options.ts";
import { openTestSite, startTestWorker } from "../../test/support/shared-queue.ts";
import { until } from "../../test/support/site-program.ts";
import type { Exchange } from "../platform/client.ts";
import { prefixOf } from "./redis.ts";

const prefix = prefixOf("test");

async function withWorker(...args: readonly string[]) {
  const redis = await startRedis(...args);
  const workers = hands(redis);
  return { redis, workers, worker: await workers.start() };
}

/** A job that a worker holds for `ms`, once it does. */
async function inHand(site: ReturnType<typeof openTestSite>, workers: Hands, ms: number) {
  const request = requestOf(String(ms));
  const key = request.idempotencyKey;
  const answer = site.carry(request);
  await until("a worker has it", () => workers.sent().includes(key));
  return { key, answer };
}

/** A worker holds as many jobs as it takes at once, and one more waits for it. */
async function oneWaits(
  { client }: TestRedis,
  site: ReturnType<typeof openTestSite>,
  workers: Hands,
) {
  const busy = await Promise.all([1, 2, 3, 4].map(() => inHand(site, workers, 1_000)));
  const fifth = site.carry(requestOf("0"));
  const jobs = `${prefix}:jobs:prioritized`;
  await until("it waits", async () => (await client.zcard(jobs)) === 1);
  return { busy, fifth };
}

describe.skipIf(!isThere("redis-server"))("a job over Redis", () => {
  it("flushed while a worker has it: its answer comes home all the same", async () => {
    const { redis, workers } = await withWorker();
    const { key, answer } = await inHand(openTestSite(redis), workers, 300);
    await redis.flush();
    expect(await answer).toEqual(done(key));
    expect(workers.sent()).toEqual([key]);
  });

  it("flushed before a worker has it: uncertain, and carried out by nobody", async () => {
    const { redis, workers } = await withWorker();
    const site = openTestSite(redis);
    const { busy, fifth } = await oneWaits(redis, site, workers);
    await redis.flush();
    const answer = await fifth;
    expect(answer.kind).toBe("torn");
    expect(answer.detail).toContain("Redis has lost the job");
    for (const { answer } of busy) expect((await answer).kind).toBe("answer");
    expect(workers.sent()).toHaveLength(4);
  });

  it("Redis killed and started again while a worker has it: its answer comes home, and work goes on", async () => {
    const { redis, workers } = await withWorker();
    const site = openTestSite(redis);
    const { key, answer } = await inHand(site, workers, 100);
    await redis.kill();
    await redis.start();
    expect((await answer).kind).toBe("answer");
    let next: Exchange | null = null;
    await until("work goes on", async () => {
      next = await site.carry(requestOf("0"));
      return next.kind === "answer";
    });
    expect(workers.sent()).toHaveLength(2);
    expect(workers.sent()[0]).toBe(key);
  });

  it("an outage that is longer than BullMQ waits for jobs: work goes on", async () => {
    const { redis, workers } = await withWorker();
    const { carry } = openTestSite(redis);
    await redis.kill();
    await pause(7_000);
    await redis.start();
    await until("work goes on", async () => (await carry(requestOf("0"))).kind === "answer");
    expect(workers.sent()).toHaveLength(1);
  });

  it("what a worker gets too late, by the clock of Redis, it does not send, and says so", async () => {
    const { redis, workers } = await withWorker();
    const { carry } = openTestSite(redis, { times: { startMs: 0, runMs: 1_500, pollMs: 500 } });
    const detail = "no worker took it in time";
    expect(await carry(requestOf("0"))).toEqual({ kind: "not-sent", detail });
    expect(workers.sent()).toEqual([]);
  });

  it("Redis killed for good while a worker has it: uncertain, with what is wrong", async () => {
    const { redis, workers } = await withWorker();
    const site = openTestSite(redis);
    const { key, answer } = await inHand(site, workers, 100);
    await redis.kill();
    expect(await answer).toMatchObject({ kind: "torn" });
    expect((await answer).detail).toMatch(/Redis at 127.0.0.1:\d+ cannot be reached/);
    const next = await site.carry(requestOf("0"));
    expect(next.kind).toBe("not-sent");
    expect(next.detail).toContain("Start it, or correct queue.url");
    expect(workers.sent()).toEqual([key]);
  });

  it("paused for longer than a job may wait: what nobody took is proven not sent", async () => {
    const { redis, workers } = await withWorker();
    const site = openTestSite(redis);
    const { busy, fifth } = await oneWaits(redis, site, workers);
    redis.pause();
    await pause(2_000);
    redis.resume();
    expect(await fifth).toMatchObject({ kind: "not-sent" });
    for (const { answer } of busy) expect((await answer).kind).toBe("answer");
    expect(workers.sent()).toHaveLength(4);
  });

  it("without memory nothing is sent, and it says so; with memory it goes on", async () => {
    const { redis, workers } = await withWorker();
    const { carry } = openTestSite(redis);
    expect((await carry(requestOf("0"))).kind).toBe("answer");
    await redis.config("maxmemory", "1");
    const answer = await carry(requestOf("0"));
    expect(answer.kind).toBe("not-sent");
    expect(answer.detail).toMatch(/has no memory left .*Raise its maxmemory/s);
    expect(workers.sent()).toHaveLength(1);
    await redis.config("maxmemory", "0");
    await until("it goes on", async () => (await carry(requestOf("0"))).kind === "answer");
  });

  it("a Redis that throws data away is refused, with what to set", async () => {
    const { redis, workers } = await withWorker("--maxmemory-policy", "allkeys-lru");
    const { carry, queue } = openTestSite(redis);
    const answer = await carry(requestOf("0"));
    expect(answer.kind).toBe("not-sent");
    expect(answer.detail).toContain("maxmemory-policy allkeys-lru");
    expect(queue.trouble()?.next).toContain("maxmemory-policy noeviction");
    expect(workers.sent()).toEqual([]);
  });

  it("a Redis that keeps nothing on its disk carries jobs, and that is told once", async () => {
    const { redis } = await withWorker("--appendonly", "no");
    const told: string[] = [];
    const note = (message: string, { detail }: Readonly<Record<string, unknown>>): void =>
      void told.push(`${message}: ${String(detail)}`);
    const { carry } = openTestSite(redis, { note, lookMs: 10 });
    for (const id of ["0", "1"])
      expect(await carry(requestOf(id))).toMatchObject({ kind: "answer" });
    expect(told).toEqual([
      expect.stringMatching(/^redis can lose jobs: .* keeps nothing on its disk/),
    ]);
  });

  it("a Redis that forbids CONFIG is judged by what it tells of itself", async () => {
    const { redis } = await withWorker("--rename-command", "CONFIG", "");
    expect((await openTestSite(redis).carry(requestOf("0"))).kind).toBe("answer");
    const policy = ["--maxmemory-policy", "volatile-ttl"];
    const other = await startRedis("--rename-command", "CONFIG", "", ...policy);
    const answer = await openTestSite(other).carry(requestOf("0"));
    expect(answer.detail).toContain("maxmemory-policy volatile-ttl");
  });

  it("its worker killed: uncertain, once, and no other worker does it again", async () => {
    const { redis, workers, worker: first } = await withWorker();
    const site = openTestSite(redis);
    const { key, answer } = await inHand(site, workers, 60_000);
    await workers.start();
    first.kill("SIGKILL");
    expect(await answer).toEqual({
      kind: "torn",
      detail: "a worker took it and did not answer in time",
    });
    expect(await site.carry(requestOf("0"))).toMatchObject({ kind: "answer" });
    expect(workers.sent().filter((one) => one === key)).toHaveLength(1);
  });

  it.each([
    [
      "by BullMQ itself, as when it takes a worker for dead",
      async ({ client }: TestRedis, id: string) => {
        await client.del(`${prefix}:jobs:${id}:lock`);
        await client.rpoplpush(`${prefix}:jobs:active`, `${prefix}:jobs:wait`);
      },
    ],
    [
      "by a restarted Redis that has lost its last second",
      async (redis: TestRedis, id: string) => {
        await redis.kill();
        await redis.start();
        await redis.client.hdel(`${prefix}:jobs:${id}`, "ats", "processedOn");
        await redis.client.rpoplpush(`${prefix}:jobs:active`, `${prefix}:jobs:wait`);
      },
    ],
  ])(
    "handed out again %s: it is carried out once, and that answer comes home",
    async (_, again) => {
      const redis = await startRedis();
      const sent: string[] = [];
      const told: string[] = [];
      const note = (message: string): void => void told.push(message);
      const { promise: end, resolve: finish } = Promise.withResolvers<void>();
      for (const _ of [1, 2])
        await startTestWorker(
          redis,
          async ({ body }) => {
            sent.push(body);
            await end;
            return done(body);
          },
          { note },
        );
      const { carry } = openTestSite(redis, { times: { startMs: 5_000 } });
      const answer = carry(requestOf("one"));
      await until("a worker has it", () => sent.length > 0);
      await again(redis, (await redis.client.lindex(`${prefix}:jobs:active`, 0)) ?? "");
      await redis.client.zadd(`${prefix}:jobs:marker`, 0, "0");
      await until("it was refused", () => told.includes("job refused"));
      finish();
      expect(await answer).toEqual(done("one"));
      expect(sent).toEqual(["one"]);
    },
  );

  it("without a worker nothing is sent, and status can say so; with one it goes on", async () => {
    const redis = await startRedis();
    const { carry, queue } = openTestSite(redis);
    const answer = await carry(requestOf("0"));
    expect(answer.kind).toBe("not-sent");
    expect(answer.detail).toContain("no worker is connected. Start `fuelbridge worker`");
    expect(queue.trouble()?.message).toBe("no worker is connected");
    await hands(redis).start();
    await until("it goes on", async () => (await carry(requestOf("0"))).kind === "answer");
  });

  it("a worker that was told to stop finishes what it has, and takes nothing more", async () => {
    const { redis, workers, worker } = await withWorker();
    const site = openTestSite(redis);
    const { key, answer } = await inHand(site, workers, 500);
    worker.kill("SIGTERM");
    expect(await answer).toEqual(done(key));
    expect((await worker.ended).code).toBe(0);
    await until("it says so", () => site.queue.trouble()?.message === "no worker is connected");
  });

  it("two sites share the workers; two daemons may not be one site", async () => {
    const { redis, workers } = await withWorker();
    const [north, south] = [
      openTestSite(redis, { site: "north" }),
      openTestSite(redis, { site: "south" }),
    ];
    for (const one of [north, south]) expect((await one.carry(requestOf("0"))).kind).toBe("answer");
    const second = openTestSite(redis, { site: "north" });
    const answer = await second.carry(requestOf("0"));
    expect(answer.kind).toBe("not-sent");
    expect(answer.detail).toContain('another daemon is site "north"');
    expect(workers.sent()).toHaveLength(2);
  });

  it("a daemon that was killed and starts again has its site's name at once, and what is left of it has not", async () => {
    const { redis, workers } = await withWorker();
    const own = { site: "north", home: "store-1" };
    const former = openTestSite(redis, own);
    expect((await former.carry(requestOf("0"))).kind).toBe("answer");
    const next = openTestSite(redis, own);
    expect((await next.carry(requestOf("0"))).kind).toBe("answer");
    await until("it has looked", () => former.queue.trouble() !== null);
    expect((await former.carry(requestOf("0"))).detail).toContain("another daemon is site");
    expect(workers.sent()).toHaveLength(2);
  });

  it.each(["other", ""])(
    'sites with other rules of what is whose (one has "%s") neither read nor send, and each says so',
    async (rules) => {
      const redis = await startRedis();
      await hands(redis).start();
      const [north, south] = [
        openTestSite(redis, { site: "north" }),
        openTestSite(redis, { site: "south", rules }),
      ];
      for (const { queue, governor } of [north, south]) {
        await until(
          "it has seen the other",
          () => queue.trouble()?.next.includes("rules under sites") === true,
        );
        expect(await governor.admit("poll")).toMatchObject({ admitted: false });
        expect(queue.trouble()?.next).toContain("the same rules under sites");
      }
      await south.queue.close();
      await until("it goes on", () => north.queue.trouble() === null);
      expect((await north.governor.admit("poll")).admitted).toBe(true);
    },
  );

  it("two hubs under one key are told to both, a hub and a site are not", async () => {
    const redis = await startRedis();
    await hands(redis).start();
    const of = (site: string, isHub: boolean) => openTestSite(redis, { site, isHub });
    const [one, other, site] = [of("hub", true), of("hub-2", true), of("north", false)];
    for (const [{ queue }, name] of [
      [one, "hub-2"],
      [other, "hub"],
    ] as const)
      await until(
        "it says so",
        () => queue.trouble()?.message === `"${name}" is a hub of this API key, too`,
      );
    expect(site.queue.trouble()).toBeNull();
    await other.queue.close();
    await until("it is over", () => one.queue.trouble() === null);
  });

  it("a worker that is gone is told within seconds, and not after the time of a send", async () => {
    const { redis, workers, worker } = await withWorker();
    const site = openTestSite(redis, { times: { startMs: 1_500, runMs: 100_000, pollMs: 50 } });
    const { answer } = await inHand(site, workers, 60_000);
    const since = performance.now();
    worker.kill("SIGKILL");
    expect((await answer).detail).toBe("a worker took it and is not there any more");
    expect(performance.now() - since).toBeLessThan(20_000);
    await until("it says so", () => site.queue.trouble()?.message === "no worker is connected");
  });
});
