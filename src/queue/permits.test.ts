import { randomUUID } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { isThere } from "../../test/support/machine.ts";
import { startRedis, type TestRedis } from "../../test/support/redis.ts";
import { until } from "../../test/support/site-program.ts";
import { done } from "./queue.suite.ts";
import { connected, keysOf, openHub } from "./redis.ts";
import { openPermits, type Permits } from "./governor.ts";

const keys = keysOf("test");

/** Permits of a site named main that process `boot` speaks for, with a worker there. */
async function openOn(redis: TestRedis): Promise<Permits & { back(): Promise<string> }> {
  const hub = openHub({ url: redis.url, username: null, password: null });
  onTestFinished(() => hub.close());
  await connected(hub);
  await redis.client.set(keys.site("main"), "boot");
  await redis.client.zadd(keys.workers, 1e15, "a worker");
  return { ...openPermits(hub, keys), back: () => connected(hub).then(() => hub.redis.status) };
}

describe.skipIf(!isThere("redis-server"))("a permit", () => {
  it("is taken once, whoever asks and however often", async () => {
    const permits = await openOn(await startRedis());
    expect(await permits.offer("one", "main", "boot", 5_000)).toBe("offered");
    const taken = await Promise.all(
      Array.from({ length: 10 }, () => permits.take("one", randomUUID())),
    );
    expect(taken.filter(({ taken }) => taken)).toHaveLength(1);
    expect(await permits.withdraw("one")).toBe("taken");
    expect(await permits.offer("one", "main", "boot", 5_000)).toBe("known");
  });

  it("that was withdrawn is taken by nobody, and says so again when asked again", async () => {
    const permits = await openOn(await startRedis());
    await permits.offer("one", "main", "boot", 5_000);
    expect(await permits.withdraw("one")).toBe("withdrawn");
    expect(await permits.withdraw("one")).toBe("withdrawn");
    expect(await permits.take("one", "token")).toMatchObject({ taken: false });
  });

  it("is too late by the clock of Redis", async () => {
    const permits = await openOn(await startRedis());
    await permits.offer("one", "main", "boot", 0);
    expect(await permits.take("one", "token")).toEqual({ taken: false, why: "it came too late" });
    expect(await permits.withdraw("one")).toBe("withdrawn");
  });

  it("that Redis has lost cannot be taken, and proves nothing", async () => {
    const redis = await startRedis();
    const permits = await openOn(redis);
    await permits.offer("one", "main", "boot", 5_000);
    await redis.flush();
    expect(await permits.take("one", "token")).toMatchObject({ taken: false });
    expect(await permits.withdraw("one")).toBe("gone");
    const home = { answer: done("1"), used: { write: 1 } };
    await permits.settle("one", home);
    expect(await permits.settled("one")).toEqual(home);
  });

  it("that a restart has brought back as it was before it was taken cannot be taken again", async () => {
    const redis = await startRedis();
    const permits = await openOn(redis);
    await permits.offer("one", "main", "boot", 60_000);
    const before = await redis.client.hgetall(keys.permit("one"));
    expect(await permits.take("one", "token")).toMatchObject({ taken: true });
    await redis.kill();
    await redis.start();
    await until("it is back", async () => (await permits.back()) === "ready");
    // The second that "appendfsync everysec" may lose.
    await redis.client.del(keys.permit("one"));
    await redis.client.hset(keys.permit("one"), before);
    expect(await permits.take("one", "other")).toMatchObject({ taken: false });
    expect(await permits.withdraw("one")).toBe("restarted");
  });

  it("is not offered for a site that another process speaks for, nor without a worker", async () => {
    const redis = await startRedis();
    const permits = await openOn(redis);
    expect(await permits.offer("one", "main", "other boot", 5_000)).toBe("other-site");
    await redis.client.del(keys.workers);
    expect(await permits.offer("one", "main", "boot", 5_000)).toBe("no-worker");
  });

  it("answered in a word that this version does not know is uncertain", async () => {
    const permits = await openOn(await startRedis());
    const answer = { ...done("1"), outcome: "teleported" as "done" };
    await permits.settle("one", { answer, used: {} });
    expect((await permits.settled("one"))?.answer).toMatchObject({
      outcome: "unknown",
      unanswered: true,
    });
  });
});
