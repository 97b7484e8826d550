import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { isThere } from "../../test/support/machine.ts";
import { startRedis } from "../../test/support/redis.ts";
import { isLongRun, numbers } from "../../test/support/runs.ts";
import { requestOf } from "../../test/support/shared-options.ts";
import { openTestSite } from "../../test/support/shared-queue.ts";
import { pastFirstMinute, scopeOf, siteOver } from "../../test/support/shared-site.ts";
import { layOut, openSite } from "../../test/support/site.ts";
import { astray } from "../../test/support/site-sides.ts";

describe.skipIf(!isThere("redis-server"))("fuelbridge worker", () => {
  it("sends what a daemon hands it, and brings the platform's words home", async () => {
    const redis = await startRedis();
    const site = await siteOver(redis);
    const scope = scopeOf(site);
    await pastFirstMinute(redis, site);
    const worker = site.start("worker");
    await worker.said("fuelbridge works");
    const { carry } = openTestSite(redis, { scope });
    const answer = await carry({ ...requestOf("{}"), path: "/invoices" });
    expect(answer).toMatchObject({ kind: "answer", status: 400 });
    expect(answer).toHaveProperty("text", expect.stringContaining("VALIDATION_ERROR"));
    expect(await site.world.writes()).toBe(1);
    worker.kill("SIGTERM");
    const { code, out } = await worker.ended;
    expect(code).toBe(143);
    expect(out).toContain('"job done"');
    expect(out).toContain("fuelbridge has stopped");
    expect(out).not.toContain(site.apiKey);
  });

  it.runIf(isLongRun)(
    "two workers and a daemon bring both sides in step: nothing is missing, nothing doubled",
    numbers,
    async () => {
      const redis = await startRedis();
      const site = await siteOver(redis);
      await pastFirstMinute(redis, site);
      const workers = [site.start("worker"), site.start("worker")];
      for (const worker of workers) await worker.said("fuelbridge works");
      const { inStep } = await site.askProgram<{ inStep: boolean }>("once");
      expect(inStep).toBe(true);
      expect(await astray(site)).toEqual([]);
      for (const worker of workers) worker.kill("SIGTERM");
      for (const worker of workers) expect((await worker.ended).out).toContain('"job done"');
    },
  );

  it("is useless where the daemon sends its requests itself, and says so", async () => {
    const folder = join(tempFolder(), "site");
    layOut(folder);
    const site = await openSite(folder);
    onTestFinished(() => site.close());
    const { code, err } = await site.here("worker");
    expect(code).toBe(2);
    expect(err).toContain("has no queue for workers");
    expect(err).toContain("type: bullmq");
  });

  it("waits for a Redis that is not there, and says what is wrong; stopping ends it", async () => {
    const redis = await startRedis();
    const site = await siteOver(redis);
    await redis.kill();
    const worker = site.start("worker");
    await worker.said("cannot be reached");
    await worker.said("fuelbridge works");
    await redis.start();
    await worker.said('"going on"');
    worker.kill("SIGTERM");
    expect((await worker.ended).code).toBe(143);
  });

  it("a daemon that waits for its place within the minute ends when it is told to, and gives its name back", async () => {
    const redis = await startRedis();
    const site = await siteOver(redis);
    const daemon = await site.daemon();
    daemon.kill("SIGTERM");
    expect((await daemon.ended).code).toBe(143);
    expect(await redis.client.keys("*:sites")).toEqual([]);
  });
});
