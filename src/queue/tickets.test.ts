import { randomUUID } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { isThere } from "../../test/support/machine.ts";
import { startRedis, type TestRedis } from "../../test/support/redis.ts";
import { until } from "../../test/support/site-program.ts";
import { done } from "./queue.suite.ts";
import { keysOf } from "./keys.ts";
import { connected, openHub } from "./redis.ts";
import { openTickets, type Tickets } from "./tickets.ts";

const keys = keysOf("test");

/** Tickets of a site named main that process `boot` speaks for, with a worker there. */
async function openOn(redis: TestRedis): Promise<Tickets & { back(): Promise<string> }> {
  const hub = openHub({ url: redis.url, username: null, password: null });
  onTestFinished(() => hub.close());
  await connected(hub);
  await redis.client.set(keys.site("main"), "boot");
  await redis.client.zadd(keys.workers, 1e15, "a worker");
  return { ...openTickets(hub, keys), back: () => connected(hub).then(() => hub.redis.status) };
}

describe.skipIf(!isThere("redis-server"))("a ticket", () => {
  it("is taken once, whoever asks and however often", async () => {
    const tickets = await openOn(await startRedis());
    expect(await tickets.offer("one", "main", "boot", 5_000)).toBe("offered");
    const taken = await Promise.all(
      Array.from({ length: 10 }, () => tickets.take("one", randomUUID())),
    );
    expect(taken.filter(({ taken }) => taken)).toHaveLength(1);
    expect(await tickets.withdraw("one")).toBe("taken");
    expect(await tickets.offer("one", "main", "boot", 5_000)).toBe("known");
  });

  it("that was withdrawn is taken by nobody, and says so again when asked again", async () => {
    const tickets = await openOn(await startRedis());
    await tickets.offer("one", "main", "boot", 5_000);
    expect(await tickets.withdraw("one")).toBe("withdrawn");
    expect(await tickets.withdraw("one")).toBe("withdrawn");
    expect(await tickets.take("one", "token")).toMatchObject({ taken: false });
  });

  it("is too late by the clock of Redis", async () => {
    const tickets = await openOn(await startRedis());
    await tickets.offer("one", "main", "boot", 0);
    expect(await tickets.take("one", "token")).toEqual({ taken: false, why: "it came too late" });
    expect(await tickets.withdraw("one")).toBe("withdrawn");
  });

  it("that Redis has lost cannot be taken, and proves nothing", async () => {
    const redis = await startRedis();
    const tickets = await openOn(redis);
    await tickets.offer("one", "main", "boot", 5_000);
    await redis.flush();
    expect(await tickets.take("one", "token")).toMatchObject({ taken: false });
    expect(await tickets.withdraw("one")).toBe("gone");
    const home = { answer: done("1"), used: { write: 1 } };
    await tickets.settle("one", home);
    expect(await tickets.settled("one")).toEqual(home);
  });

  it("that a restart has brought back as it was before it was taken cannot be taken again", async () => {
    const redis = await startRedis();
    const tickets = await openOn(redis);
    await tickets.offer("one", "main", "boot", 60_000);
    const before = await redis.client.hgetall(keys.ticket("one"));
    expect(await tickets.take("one", "token")).toMatchObject({ taken: true });
    await redis.kill();
    await redis.start();
    await until("it is back", async () => (await tickets.back()) === "ready");
    // The second that "appendfsync everysec" may lose.
    await redis.client.del(keys.ticket("one"));
    await redis.client.hset(keys.ticket("one"), before);
    expect(await tickets.take("one", "other")).toMatchObject({ taken: false });
    expect(await tickets.withdraw("one")).toBe("restarted");
  });

  it("is not offered for a site that another process speaks for, nor without a worker", async () => {
    const redis = await startRedis();
    const tickets = await openOn(redis);
    expect(await tickets.offer("one", "main", "other boot", 5_000)).toBe("other-site");
    await redis.client.del(keys.workers);
    expect(await tickets.offer("one", "main", "boot", 5_000)).toBe("no-worker");
  });

  it("answered in a word that this version does not know is uncertain", async () => {
    const tickets = await openOn(await startRedis());
    const answer = { ...done("1"), outcome: "teleported" as "done" };
    await tickets.settle("one", { answer, used: {} });
    expect((await tickets.settled("one"))?.answer).toMatchObject({
      outcome: "unknown",
      unanswered: true,
    });
  });
});
