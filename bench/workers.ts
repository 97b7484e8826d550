/** Two workers over Redis beside the embedded queue, without faults: writes a second to the same sandbox, in turns, in one run. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { systemClock } from "../src/app/process.ts";
import { usualBudget } from "../src/core/budget.ts";
import type { Endpoint, Sink } from "../src/core/contract.ts";
import { freePort } from "../src/demo/sshd.ts";
import { openGovernor } from "../src/platform/client.ts";
import { type EndpointOptions, openPlatform } from "../src/platform/endpoint.ts";
import { openSharedSite, type SharedOptions } from "../src/queue/shared.ts";
import {
  inFolder,
  median,
  type Platform,
  root,
  say,
  startPlatform,
  stop,
  whole,
} from "./support.ts";

const REDIS = "/usr/bin/redis-server";
const IN_HAND = 16;
const MANY = 100_000_000;
const BUDGET = { ...usualBudget, perMonth: MANY, perMinute: MANY };

/** `jobs`: that each side sends in each of `rounds`. */
export async function benchWorkers(jobs: number, rounds: number): Promise<void> {
  if (!existsSync(REDIS)) return say("workers: there is no Redis on this machine");
  const platform = await startPlatform("empty");
  const port = await freePort();
  const started: ChildProcess[] = [];
  await inFolder(async (folder) => {
    const kept = ["--save", "", "--appendonly", "yes", "--maxmemory-policy", "noeviction"];
    started.push(
      spawn(REDIS, ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, ...kept], {
        stdio: "ignore",
      }),
    );
    await pause(500);
    for (const _ of [1, 2]) started.push(await workerOf(platform, port));
    const clock = systemClock();
    const ledger = { site: "main", spent: () => ({}), spend() {}, closedUntil: () => null };
    const site = openSharedSite({ ...sharedBy(port), budget: BUDGET, clock, ledger });
    const governor = openGovernor({ clock, budget: BUDGET, ledger });
    const endpoints = {
      embedded: platformOver(platform, { governor }),
      workers: platformOver(platform, {
        governor: site.governor,
        carry: (request) => site.queue.carry(request),
      }),
    };
    const rates: Record<keyof typeof endpoints, number[]> = { embedded: [], workers: [] };
    for (let round = 0; round <= rounds; round++)
      for (const name of ["embedded", "workers"] as const) {
        const rate = await rateOf(endpoints[name].sinks, jobs, `${name}${round}`);
        // The first round warms up.
        if (round > 0) rates[name].push(rate);
      }
    const [embedded, workers] = [median(rates.embedded), median(rates.workers)];
    say(
      "",
      `workers: ${whole(jobs)} writes, ${IN_HAND} in hand: embedded ${whole(embedded)}/s, two workers ${whole(workers)}/s, ratio ${(workers / embedded).toFixed(2)} (target >= 1)`,
    );
    await site.queue.close();
    for (const endpoint of Object.values(endpoints)) await endpoint.close();
  });
  for (const child of started) await stop(child);
  await platform.stop();
}

export const sharedBy = (port: number): SharedOptions => ({
  redis: { url: `redis://127.0.0.1:${port}`, username: null, password: null },
  scope: "bench",
  note: () => {},
});

export const platformOver = (
  { url, apiKey }: Pick<Platform, "url" | "apiKey">,
  sending: Pick<EndpointOptions, "governor" | "carry">,
): Endpoint =>
  openPlatform({
    url,
    apiKey,
    environment: "live",
    auth: "bearer",
    version: "bench",
    overlapMs: 300_000,
    settleMs: null,
    dayOf: (instant) => instant.slice(0, 10),
    clock: systemClock(),
    ...sending,
  });

async function workerOf({ url, apiKey }: Platform, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(root, "bench", "workers-side.ts")], {
    env: {
      ...process.env,
      FUELBRIDGE_URL: url,
      FUELBRIDGE_KEY: apiKey,
      FUELBRIDGE_REDIS: String(port),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}

const never = new AbortController().signal;

async function rateOf(sinks: Endpoint["sinks"], jobs: number, name: string): Promise<number> {
  const began = performance.now();
  let next = 0;
  const sendNext = async (): Promise<void> => {
    while (next < jobs) {
      const at = next++;
      const price = { terminalId: `T-${at % 40}`, product: `P-${at}`, price: 2.5, unit: "gal" };
      const request = {
        key: `fb1_bench_${name}_${at}`,
        target: "POST /pricing/bulk/rack",
        body: JSON.stringify({ prices: [price] }),
        items: [{ number: `${at}`, id: `${at}`, revision: "1" }],
        firstSentAt: null,
      };
      const { outcome, detail } = await (sinks["rackPrices"] as Sink).send(request, never);
      if (outcome !== "done") throw new Error(`${name}: ${outcome}: ${detail}`);
    }
  };
  await Promise.all(Array.from({ length: IN_HAND }, sendNext));
  return jobs / ((performance.now() - began) / 1_000);
}
