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
/** What is stopped, or away, is so for so long, which counts as time without a write. */
const AWAY_MS = 3_000;
/** Nothing is under way after so long without an export. */
const REST_MS = 2_500;
const TARGET_S = 10;

type Program = "site" | "worker 1" | "worker 2";

/** `rounds`: how often each fault comes. */
export async function benchFaults(rounds: number): Promise<void> {
  if (!existsSync(REDIS)) return say("faults: there is no Redis on this machine");
  await inFolder(async (folder) => {
    const queue = await SharedQueue.open(folder);
    const site = await openSite(folder, { settle: 2, more: queue.yaml });
    const started = new Map<string, Running>();
    const start = async (name: Program): Promise<void> => {
      const running = site.start(name === "site" ? "run" : "worker");
      started.set(name, running);
      await running.said(name === "site" ? '"fuelbridge runs"' : '"fuelbridge works"');
    };
    const signal = (name: Program, signal: NodeJS.Signals) => started.get(name)?.kill(signal);
    const again = async (how: NodeJS.Signals, ...names: readonly Program[]): Promise<void> => {
      for (const name of names) signal(name, how);
      for (const name of names) await started.get(name)?.ended;
      await Promise.all(names.map(start));
    };
    const stopped = async (name: Program): Promise<void> => {
      signal(name, "SIGSTOP");
      await pause(AWAY_MS);
      signal(name, "SIGCONT");
    };
    const redisAgain = async (meanwhile: () => Promise<unknown>, forgets = false) => {
      await queue.killRedis({ forgets });
      await meanwhile();
      await queue.startRedis();
    };
    let isAtRest = false;
    const nothing = async (): Promise<void> => {};
    const faults: Readonly<Record<string, () => Promise<unknown>>> = {
      "one worker killed": () => again("SIGKILL", "worker 1"),
      "one worker ended by SIGTERM": () => again("SIGTERM", "worker 1"),
      "one worker stopped for 3 s": () => stopped("worker 1"),
      "both workers killed": () => again("SIGKILL", "worker 1", "worker 2"),
      "both workers killed at rest": () => again("SIGKILL", "worker 1", "worker 2"),
      "site killed": () => again("SIGKILL", "site"),
      "site ended by SIGTERM": () => again("SIGTERM", "site"),
      "site stopped for 3 s": () => stopped("site"),
      "site killed while Redis is away": () => redisAgain(() => again("SIGKILL", "site")),
      "Redis killed, data kept": () => redisAgain(nothing),
      "Redis killed, data gone": () => redisAgain(nothing, true),
      "Redis away for 3 s": () => redisAgain(() => pause(AWAY_MS)),
      "Redis paused for 3 s": () => queue.pauseFor(AWAY_MS),
      "Redis flushed": () => queue.flush(),
      "connections to Redis cut": () => queue.cut(),
    };
    const books = new Books(new Random(1), join(site.erp, "export"), 40, 1, habitsOf([]));
    books.exportNext();
    const exporting = setInterval(() => isAtRest || books.exportPrices(), EXPORT_EVERY_MS);
    const hurrying = setInterval(() => void lookNow(site), LOOK_EVERY_MS);
    for (const name of ["worker 1", "worker 2", "site"] as const) await start(name);
    await longestGap(site, nothing);
    const all: number[] = [];
    for (const [name, fault] of Object.entries(faults)) {
      const told: string[] = [];
      for (let round = 0; round < rounds; round++) {
        isAtRest = name.endsWith("at rest");
        if (isAtRest) await pause(REST_MS);
        isAtRest = false;
        const { gap, back } = await longestGap(site, fault);
        all.push(gap);
        told.push(`${gap.toFixed(1)} (back after ${back.toFixed(1)})`);
      }
      say(`faults: ${name}: ${told.join(", ")} s`);
    }
    const most = Math.max(...all);
    const { gap: unharmed } = await longestGap(site, nothing);
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

/** Seconds: between two writes, or from the fault to the first one, at most; and until what was harmed is back. */
async function longestGap({ platform }: Site, fault: () => Promise<unknown>) {
  let writes = await platform.writes();
  const began = performance.now();
  let [last, longest, back] = [began, 0, 0];
  const harming = fault().then(() => (back = performance.now() - began));
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
  return { gap: longest / 1_000, back: back / 1_000 };
}
