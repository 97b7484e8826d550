/**
 * What a fault costs over Redis: the longest time without a write to the platform after it, with a daemon and two workers as processes,
 * a list of prices that changes without end, and flows that are told to look without end. What was killed is started again at once.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { remoteOffice } from "../src/office/remote.ts";
import { Random } from "../src/sandbox/scenes/random.ts";
import { Books } from "../test/drill/books.ts";
import { habitsOf } from "../test/drill/readings.ts";
import { SharedQueue } from "../test/drill/queue.ts";
import { openSite, type Site } from "../test/drill/site.ts";
import type { Running } from "../test/support/site-program.ts";
import { inFolder, say, verdict } from "./support.ts";

const REDIS = "/usr/bin/redis-server";
const EXPORT_EVERY_MS = 300;
const LOOK_EVERY_MS = 500;
/** A fault is watched so long. */
const WATCHED_MS = 15_000;
const TARGET_S = 10;

/** `rounds`: how often each fault comes. */
export async function benchFaults(rounds: number): Promise<void> {
  if (!existsSync(REDIS)) return say("faults: there is no Redis on this machine");
  await inFolder(async (folder) => {
    const queue = await SharedQueue.open(folder);
    const site = await openSite(folder, { settle: 2, more: queue.yaml });
    const started = new Map<string, Running>();
    const start = async (name: "site" | "worker 1" | "worker 2"): Promise<void> => {
      const running = site.start(name === "site" ? "run" : "worker");
      started.set(name, running);
      await running.said(name === "site" ? '"fuelbridge runs"' : '"fuelbridge works"');
    };
    const kill = async (...names: Parameters<typeof start>[0][]): Promise<void> => {
      for (const name of names) started.get(name)?.kill("SIGKILL");
      for (const name of names) await started.get(name)?.ended;
      await Promise.all(names.map(start));
    };
    const faults: Readonly<Record<string, () => Promise<unknown>>> = {
      "one worker killed": () => kill("worker 1"),
      "both workers killed": () => kill("worker 1", "worker 2"),
      "Redis killed, data kept": () => queue.killRedis().then(() => queue.startRedis()),
      "Redis killed, data gone": () =>
        queue.killRedis({ forgets: true }).then(() => queue.startRedis()),
      "Redis flushed": () => queue.flush(),
      "site killed": () => kill("site"),
    };
    const books = new Books(new Random(1), join(site.erp, "export"), 40, 1, habitsOf([]));
    books.exportNext();
    const exporting = setInterval(() => books.exportPrices(), EXPORT_EVERY_MS);
    const hurrying = setInterval(() => void lookNow(site), LOOK_EVERY_MS);
    for (const name of ["worker 1", "worker 2", "site"] as const) await start(name);
    await longestGap(site, async () => {});
    const all: number[] = [];
    for (const [name, fault] of Object.entries(faults)) {
      const those: number[] = [];
      for (let round = 0; round < rounds; round++) those.push(await longestGap(site, fault));
      say(`faults: ${name}: ${those.map((gap) => gap.toFixed(1)).join(", ")} s`);
      all.push(...those);
    }
    const most = Math.max(...all);
    const unharmed = await longestGap(site, async () => {});
    for (const timer of [exporting, hurrying]) clearInterval(timer);
    say(
      `faults: ${all.length}, the longest time without a write ${most.toFixed(1)} s (unharmed ${unharmed.toFixed(1)}; target < ${TARGET_S}) ${verdict(most < TARGET_S)}`,
    );
    for (const running of started.values()) running.kill("SIGKILL");
    await Promise.all([...started.values()].map(({ ended }) => ended));
    await queue.close();
    await site.platform.close();
  });
}

/** No interval is so short. */
async function lookNow({ state }: Site): Promise<void> {
  const office = await remoteOffice(state).catch(() => null);
  await office?.runNow("all").catch(() => {});
}

/** Seconds between two writes, or from the fault to the first one, at most. */
async function longestGap({ platform }: Site, fault: () => Promise<unknown>): Promise<number> {
  let writes = await platform.writes();
  const began = performance.now();
  let [last, longest] = [began, 0];
  const harming = fault();
  for (let isOver = false; !isOver;) {
    await pause(50);
    const now = performance.now();
    longest = Math.max(longest, now - last);
    const before = writes;
    writes = await platform.writes();
    if (writes > before) last = now;
    isOver = now - began > WATCHED_MS && last - began > WATCHED_MS / 2;
  }
  await harming;
  return longest / 1_000;
}
