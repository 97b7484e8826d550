import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { isThere } from "../../test/support/machine.ts";
import { hands } from "../../test/support/queue-hands.ts";
import { numbers, runs } from "../../test/support/runs.ts";
import { startRedis } from "../../test/support/redis.ts";
import { done, requestOf, type TestRequest } from "../../test/support/shared-options.ts";
import { openTestSite, startTestWorker } from "../../test/support/shared-queue.ts";
import type { Exchange } from "../platform/client.ts";

/** A site whose requests a worker sends by `send`. */
async function sentBy(send: (request: TestRequest) => Promise<Exchange>) {
  const redis = await startRedis();
  await startTestWorker(redis, send);
  return { redis, ...openTestSite(redis) };
}

describe.skipIf(!isThere("redis-server"))("the queue over BullMQ", () => {
  it("twenty at once: each is sent once, its bytes unchanged, and its own answer comes home", async () => {
    const sent: TestRequest[] = [];
    const { carry } = await sentBy(async (request) => {
      sent.push(request);
      await pause(Math.random() * 20);
      return done(request.body);
    });
    const body = '{"amount":1234567890123456.70,"name":"Füel \\"€\\" \u2028 & Söhne"}\r\n';
    const requests = Array.from({ length: 20 }, (_, at) => requestOf(`${at} ${body}`));
    const answers = await Promise.all(requests.map(carry));
    expect(answers).toEqual(requests.map((request) => done(request.body)));
    const keyOf = ({ idempotencyKey }: TestRequest): string => idempotencyKey;
    const ordered = (those: readonly TestRequest[]) =>
      those.toSorted((one, other) => keyOf(one).localeCompare(keyOf(other)));
    expect(ordered(sent)).toEqual(ordered(requests));
  });

  it("whatever came of a request in the worker comes home as it was", async () => {
    const all: readonly Exchange[] = [
      { kind: "answer", status: 409, headers: { "retry-after": "3" }, text: '{"a":1.70}\n ü' },
      { kind: "not-sent", detail: 'no "connection"' },
      { kind: "torn", detail: "line 1\nline 2" },
    ];
    const { carry } = await sentBy(async ({ body }) => all[Number(body)] as Exchange);
    expect(await Promise.all(all.map((_, at) => carry(requestOf(String(at)))))).toEqual(all);
  });

  it("closing waits for the work in hand and brings its answer home", async () => {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const { promise: end, resolve: finish } = Promise.withResolvers<void>();
    const { carry, queue } = await sentBy(async () => {
      start();
      await end;
      return done("late");
    });
    const carrying = carry(requestOf("one"));
    await started;
    const closing = queue.close();
    finish();
    expect(await carrying).toEqual(done("late"));
    await closing;
  });

  it("those of one bundle go each its own way: a slow one holds up no other's answer, nor one that fails", async () => {
    const { promise: end, resolve: finish } = Promise.withResolvers<void>();
    const { carry, redis } = await sentBy(async ({ body }) => {
      if (body === "slow") await end;
      if (body === "bad") throw new Error("a fault of ours");
      return done(body);
    });
    const slow = carry(requestOf("slow"));
    const bad = carry(requestOf("bad"));
    expect(await carry(requestOf("quick"))).toEqual(done("quick"));
    const detail = "the worker failed while it sent: a fault of ours";
    expect(await bad).toEqual({ kind: "torn", detail });
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
      const { carry } = openTestSite(redis);
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
      const told = new Map<string, Exchange["kind"]>();
      const counted = (kind: Exchange["kind"]): number =>
        [...told.values()].filter((one) => one === kind).length;
      /** Of every kind some, however slow this machine is. */
      const enough = (): boolean =>
        counted("answer") > runs(10, 50) && counted("torn") > 0 && counted("not-sent") > 0;
      const trouble = { over: false };
      const sendAll = async (): Promise<void> => {
        while (!trouble.over) {
          const request = requestOf(String(Math.round(Math.random() * 40)));
          const { kind } = await carry(request);
          told.set(request.idempotencyKey, kind);
          if (kind === "not-sent") await pause(20);
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
        ([key, kind]) => (kind === "answer") !== sent.includes(key) && kind !== "torn",
      );
      expect(wrong).toEqual([]);
    },
  );
});
