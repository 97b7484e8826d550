/** A site whose daemon and workers meet at a Redis. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { sha256 } from "../../src/core/keys.ts";
import { PRELUDE, prefixOf } from "../../src/queue/redis.ts";
import { tempFolder } from "./folder.ts";
import type { TestRedis } from "./redis.ts";
import { layOut, openSite, type Site } from "./site.ts";

/** Laid out and not yet run; it ends with the test. */
export async function siteOver(redis: TestRedis): Promise<Site> {
  const folder = join(tempFolder(), "site");
  layOut(folder, (yaml) => `${yaml}\nqueue: { type: bullmq, url: "${redis.url}" }\n`);
  const site = await openSite(folder);
  onTestFinished(() => site.close());
  return site;
}

/** As the program names the API key of a site. */
export const scopeOf = ({ apiKey }: Site): string => sha256(`live ${apiKey}`).slice(0, 16);

/** As after the first minute, in which nothing is sent. */
export async function pastFirstMinute({ client }: TestRedis, site: Site): Promise<void> {
  const open = `${PRELUDE} redis.call('HSET', gate, 'run', run, 'opens', 0)`;
  await client.eval(open, 1, prefixOf(scopeOf(site)), "{}");
}
