/**
 * A Redis that stands still for half a minute, under the programs that people start and the times they have in earnest.
 *
 * @module-tag numbers
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isThere } from "../../test/support/machine.ts";
import { startRedis } from "../../test/support/redis.ts";
import { pastFirstMinute, siteOver } from "../../test/support/shared-site.ts";
import { until } from "../../test/support/site-program.ts";
import { astray } from "../../test/support/site-sides.ts";
import { remoteOffice } from "../office/remote.ts";
import type { Office } from "../office/questions.ts";

const PAUSE_MS = 30_000;

describe.skipIf(!isThere("redis-server"))("Redis stands still for 30 s", () => {
  it("nothing is lost and nothing doubled; the daemon says what is wrong meanwhile, and goes on afterwards", async () => {
    const redis = await startRedis();
    const site = await siteOver(redis);
    await pastFirstMinute(redis, site);
    const worker = site.start("worker");
    await worker.said('"fuelbridge works"');
    const daemon = await site.daemon();
    await until("a part of it is written", async () => (await site.world.writes()) >= 40);

    redis.pause();
    const overAt = performance.now() + PAUSE_MS;
    await daemon.said('"stopped"');
    let out = "";
    // What was handed over just before comes home first.
    await until("status says why", async () => {
      ({ out } = await site.command("status"));
      return /^Stopped: receiver, platform since .*: Redis at \S+ cannot be reached /m.test(out);
    });
    expect(out).toContain("needs attention");
    expect(out).toContain("work goes on by itself");
    // Those that were under way to the platform are written; no other one can be.
    const written = await site.world.writes();
    await until("the 30 s are over", () => performance.now() >= overAt);
    expect(await site.world.writes()).toBe(written);
    redis.resume();

    await daemon.said('"going on"');
    const office = (await remoteOffice(join(site.demo, "state"))) as Office;
    await until("all is delivered", async () => {
      const { flows, stops } = await office.status();
      const isThrough = flows.every(({ received, pending }) => received > 0 && pending === 0);
      return isThrough && stops.length === 0;
    });
    for (const one of [daemon, worker]) one.kill("SIGTERM");
    for (const one of [daemon, worker]) expect((await one.ended).code).toBe(143);
    expect(await site.world.writes()).toBeGreaterThan(written);
    expect(await astray(site)).toEqual([]);
  }, 600_000);
});
