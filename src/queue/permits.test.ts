import { describe, expect, it, onTestFinished } from "vitest";
import { isThere } from "../../test/support/machine.ts";
import { startRedis, type TestRedis } from "../../test/support/redis.ts";
import { until } from "../../test/support/site-program.ts";
import { done } from "./queue.suite.ts";
import { connected, keysOf, openHub } from "./redis.ts";
import { openPermits, type Permits, type Settled } from "./shared.ts";

const keys = keysOf("test");

/** Permits of a site named main that process `boot` speaks for, with a worker there. */
async function openOn(redis: TestRedis): Promise<Permits & { back(): Promise<string> }> {
  const hub = openHub({ url: redis.url, username: null, password: null });
  onTestFinished(() => hub.close());
  await connected(hub);
  await redis.client.hset(keys.sites, "main", `${Date.now()} 1 boot -`);
  for (const set of [keys.workers, keys.hands]) await redis.client.zadd(set, 1e15, "token");
  return { ...openPermits(hub, keys), back: () => connected(hub).then(() => hub.redis.status) };
}

describe.skipIf(!isThere("redis-server"))("a permit", () => {
  it("is taken once, whoever asks and however often", async () => {
    const permits = await openOn(await startRedis());
    expect(await permits.offer("one", "main", "boot", () => 5_000)).toBe("offered");
    const taken = await Promise.all(Array.from({ length: 10 }, () => permits.take("one", "token")));
    expect(taken.filter((one) => "startMs" in one)).toHaveLength(1);
    expect(await permits.look("one", true)).toBe("taken");
    expect(await permits.offer("one", "main", "boot", () => 5_000)).toBe("known");
  });

  it("that was withdrawn is taken by nobody, and says so again when asked again", async () => {
    const permits = await openOn(await startRedis());
    await permits.offer("one", "main", "boot", () => 5_000);
    expect(await permits.look("one", true)).toBe("withdrawn");
    expect(await permits.look("one", true)).toBe("withdrawn");
    expect(await permits.take("one", "token")).toHaveProperty("why");
  });

  it("is too late by the clock of Redis", async () => {
    const permits = await openOn(await startRedis());
    await permits.offer("one", "main", "boot", () => 0);
    expect(await permits.take("one", "token")).toEqual({ why: "it came too late" });
    expect(await permits.look("one", true)).toBe("withdrawn");
  });

  it("that Redis has lost cannot be taken, and proves nothing", async () => {
    const redis = await startRedis();
    const permits = await openOn(redis);
    await permits.offer("one", "main", "boot", () => 5_000);
    await redis.flush();
    expect(await permits.take("one", "token")).toHaveProperty("why");
    expect(await permits.look("one", true)).toBe("gone");
    const home = { answer: done("1"), used: { write: 1 } };
    await permits.settle("one", "main", home);
    expect(await permits.look("one", false)).toEqual(home);
  });

  it("that a restart has brought back as it was before it was taken cannot be taken again", async () => {
    const redis = await startRedis();
    const permits = await openOn(redis);
    await permits.offer("one", "main", "boot", () => 60_000);
    const before = await redis.client.hgetall(keys.permit("one"));
    expect(await permits.take("one", "token")).toHaveProperty("startMs");
    await redis.kill();
    await redis.start();
    await until("it is back", async () => (await permits.back()) === "ready");
    // The second that "appendfsync everysec" may lose.
    await redis.client.del(keys.permit("one"));
    await redis.client.hset(keys.permit("one"), before);
    expect(await permits.take("one", "other")).toHaveProperty("why");
    expect(await permits.look("one", true)).toBe("restarted");
  });

  it("is not offered for a site that another process speaks for, nor without a worker", async () => {
    const redis = await startRedis();
    const permits = await openOn(redis);
    expect(await permits.offer("one", "main", "other boot", () => 5_000)).toBe("other-site");
    await redis.client.del(keys.workers);
    expect(await permits.offer("one", "main", "boot", () => 5_000)).toBe("no-worker");
  });

  it("answered in a word that this version does not know is uncertain", async () => {
    const permits = await openOn(await startRedis());
    const answer = { ...done("1"), outcome: "teleported" as "done" };
    await permits.settle("one", "main", { answer, used: {} });
    expect(((await permits.look("one", false)) as Settled).answer).toMatchObject({
      outcome: "unknown",
      unanswered: true,
    });
  });
});
