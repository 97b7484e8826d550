import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { isThere } from "../../test/support/machine.ts";
import { hands } from "../../test/support/queue-hands.ts";
import { numbers, runs } from "../../test/support/runs.ts";
import { startRedis } from "../../test/support/redis.ts";
import { openTestSite, startTestWorker } from "../../test/support/shared-queue.ts";
import type { Answer } from "../core/outcome.ts";
import { done, itCarries, job } from "./queue.suite.ts";

describe.skipIf(!isThere("redis-server"))("the queue over BullMQ", () => {
  itCarries(async (sinks) => {
    const redis = await startRedis();
    await startTestWorker(redis, () => sinks);
    return openTestSite(redis).queue;
  });

  it("those of one bundle go each its own way: a slow one holds up no other's answer, a refused one nobody's", async () => {
    const redis = await startRedis();
    const { promise: end, resolve: finish } = Promise.withResolvers<void>();
    await startTestWorker(redis, () => ({
      things: {
        async send({ body }) {
          if (body === "slow") await end;
          return done(body);
        },
      },
    }));
    const { queue } = openTestSite(redis);
    const slow = queue.carry(job("slow"));
    const unknown = queue.carry(job("other", "thingz"));
    expect(await queue.carry(job("quick"))).toEqual(done("quick"));
    expect((await unknown).detail).toContain('there is no sink "thingz"');
    expect(await redis.client.llen("{fuelbridge-test}:jobs:active")).toBe(1);
    finish();
    expect(await slow).toEqual(done("slow"));
  });

  it(
    "whatever happens to Redis and workers: nothing twice, and nothing that was done is called not sent",
    { ...numbers, timeout: 600_000 },
    async () => {
      const redis = await startRedis();
      const workers = hands(redis);
      let worker = await workers.start();
      const { queue } = openTestSite(redis);
      const faults = [
        () => redis.flush(),
        () => redis.kill().then(() => redis.start()),
        async () => {
          redis.pause();
          await pause(400);
          redis.resume();
        },
        async () => {
          worker.kill("SIGKILL");
          worker = await workers.start();
        },
      ];
      const told = new Map<string, Answer["outcome"]>();
      const counted = (outcome: Answer["outcome"]): number =>
        [...told.values()].filter((one) => one === outcome).length;
      /** Of every kind some, however slow this machine is. */
      const enough = (): boolean =>
        counted("done") > runs(10, 50) && counted("unknown") > 0 && counted("nothing") > 0;
      const trouble = { over: false };
      const sendAll = async (): Promise<void> => {
        while (!trouble.over) {
          const one = job(String(Math.round(Math.random() * 40)));
          const key = `key-${one.id}`;
          const answer = await queue.carry({ ...one, request: { ...one.request, key } });
          told.set(key, answer.outcome);
          if (answer.outcome === "nothing") await pause(20);
        }
      };
      const sending = Array.from({ length: 8 }, sendAll);
      for (let round = 0; round < runs(1, 3) || !enough(); round++)
        for (const fault of faults) {
          await pause(250);
          await fault().catch(() => {});
        }
      trouble.over = true;
      await Promise.all(sending);

      const sent = workers.sent();
      expect(new Set(sent).size).toBe(sent.length);
      const wrong = [...told].filter(
        ([key, outcome]) => (outcome === "done") !== sent.includes(key) && outcome !== "unknown",
      );
      expect(wrong).toEqual([]);
    },
  );
});
