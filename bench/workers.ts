/**
 * Two workers over Redis beside the embedded queue, without faults: documents a second that are frozen and delivered to one sandbox as a
 * daemon does it, in turns, in one run, and what all processes of a side compute for each, which other work on the machine changes little.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { systemClock } from "../src/app/process.ts";
import { usualBudget } from "../src/core/budget.ts";
import type { Endpoint, Sink } from "../src/core/contract.ts";
import { sumOf } from "../src/core/groups.ts";
import { freePort } from "../src/demo/sshd.ts";
import { freezeNext } from "../src/engine/daemon.ts";
import { deliver } from "../src/engine/deliver.ts";
import { pull } from "../src/engine/pull.ts";
import { openGovernor } from "../src/platform/client.ts";
import { type EndpointOptions, openPlatform } from "../src/platform/endpoint.ts";
import { openSharedSite, type SharedOptions } from "../src/queue/shared.ts";
import { ledger, type StoreLedger } from "../src/store/journal.ts";
import { nothing, priceOf, siteOf } from "./outbound-site.ts";
import {
  cpuSecondsOf,
  inFolder,
  median,
  type Platform,
  root,
  say,
  startPlatform,
  stop,
  verdict,
  whole,
} from "./support.ts";

const REDIS = "/usr/bin/redis-server";
const MANY = 100_000_000;
const BUDGET = { ...usualBudget, perMonth: MANY, perMinute: MANY };
/** A round ends with the last of so many (engine/daemon.ts). */
const FROZEN_AT_ONCE = 200;
/** Of the embedded queue's rate. */
const TARGET = 1;
const never = new AbortController().signal;

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
    const opening = { platform, documents: (jobs + FROZEN_AT_ONCE) * (rounds + 1), folder };
    const embedded = await openSide(opening, "embedded", (ledger) => ({
      governor: openGovernor({ clock, budget: BUDGET, ledger }),
      close: async () => {},
    }));
    const workers = await openSide(opening, "workers", (ledger) => {
      const own = { weight: 1, budget: BUDGET, clock, ledger: { ...ledger, site: "main" } };
      const { governor, queue } = openSharedSite({ ...sharedBy(port), ...own });
      return { governor, carry: (request) => queue.carry(request), close: () => queue.close() };
    });
    const sides = [
      { name: "embedded", side: embedded, rates: [] as number[], costs: [] as number[] },
      { name: "two workers", side: workers, rates: [] as number[], costs: [] as number[] },
    ];
    const pids = [process.pid, platform.pid, ...started.map(({ pid }) => pid as number)];
    const computed = (): number => sumOf(pids.map(cpuSecondsOf));
    for (let round = 0; round <= rounds; round++)
      for (const { side, rates, costs } of sides) {
        const before = computed();
        const rate = await side.rateOf(jobs);
        // The first round warms up.
        if (round === 0) continue;
        rates.push(rate);
        costs.push(((computed() - before) * 1_000) / jobs);
      }
    const [alone = 0, shared = 0] = sides.map(({ rates }) => median(rates));
    const ratio = shared / alone;
    const told = sides.map(
      ({ name, rates, costs }) =>
        `${name} ${whole(median(rates))}/s (${median(costs).toFixed(2)} CPU ms each)`,
    );
    say(
      "",
      `workers: ${whole(jobs)} documents: ${told.join(", ")}, ratio ${ratio.toFixed(2)} (target >= ${TARGET}) ${verdict(ratio >= TARGET)}`,
    );
    for (const { side } of sides) await side.close();
  });
  for (const child of started) await stop(child);
  await platform.stop();
}

interface Opening {
  readonly platform: Platform;
  readonly documents: number;
  readonly folder: string;
}

type Carriers = Pick<EndpointOptions, "governor" | "carry"> & {
  readonly close: () => Promise<void>;
};

/** A store that has read its documents, and who carries them to the platform. */
async function openSide(
  { platform, documents, folder }: Opening,
  name: string,
  carriersOf: (ledger: StoreLedger) => Carriers,
) {
  mkdirSync(join(folder, name));
  const site = siteOf(join(folder, name), nothing, documents, priceOf);
  const { store } = site;
  await pull(site.engine, site.flow, never);
  const { close, ...carriers } = carriersOf(ledger(store, BUDGET));
  const endpoint = platformOver(platform, carriers);
  const sink = { ...(endpoint.sinks["rackPrices"] as Sink), itemsMax: 1 };
  const flow = { ...site.flow, sink };
  // The platform holds what one company sends twice for repeated.
  const engine = { ...site.engine, company: name, flows: [flow] };
  const delivered = (): number => store.deliveries.counts(flow.flow).get("delivered") ?? 0;
  return {
    /** Documents a second: a round is frozen, and worked off before the next. */
    async rateOf(jobs: number): Promise<number> {
      const [before, began] = [delivered(), performance.now()];
      while (delivered() < before + jobs) {
        freezeNext(engine, flow, 0);
        const { done } = await deliver(engine, flow, never);
        if (done === 0) throw new Error(`${name}: documents are left that nobody takes`);
      }
      return (delivered() - before) / ((performance.now() - began) / 1_000);
    },
    async close(): Promise<void> {
      await endpoint.close();
      await close();
      store.close();
    },
  };
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
