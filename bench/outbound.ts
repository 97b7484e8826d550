/**
 * What is sent: how many requests documents cost, batch by batch, over the real sandbox; and how many durable jobs a
 * second go from being entered to being done, against BullMQ and plainjob made as durable as our store.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { Redis } from "ioredis";
import { table } from "../src/views/text.ts";
import type { Governor } from "../src/core/budget.ts";
import type { Sink } from "../src/core/contract.ts";
import { runFlow } from "../src/engine/daemon.ts";
import { priceOf, siteOf } from "./outbound-site.ts";
import {
  inChild,
  inFolder,
  median,
  type Platform,
  say,
  startPlatform,
  stop,
  verdict,
  whole,
} from "./support.ts";
import { platformOver } from "./workers.ts";
import { freePort } from "../src/demo/sshd.ts";

export interface OutboundSide {
  /** From the source, or the caller, to a job that is ready to go. */
  readonly enterSeconds: number;
  /** From there to done. */
  readonly drainSeconds: number;
}

const PRICES = 1_000;
const BATCHES = [1, 10, 50, 200] as const;
const REDIS = "/usr/bin/redis-server";
const PEERS = ["bullmq", "plainjob"];
/** At least as fast: with work that is ready, and with all of it. */
const TARGET = 1;

/** `rounds`: how often each side has its turn. */
export async function benchOutbound(jobs: number, rounds: number): Promise<void> {
  await countRequests();
  say("", `outbound: ${whole(jobs)} durable jobs, ten at a time; jobs/s entered, drained, in all`);
  const sides: Record<string, OutboundSide[]> = { fuelbridge: [], bullmq: [], plainjob: [] };
  for (let round = 0; round < rounds; round++)
    for (const [name, results] of Object.entries(sides)) {
      const result = await sideOf(name, jobs);
      if (result === null) continue;
      results.push(result);
      say(`  ${name.padEnd(10)} ${figures(result, jobs).join("  ")}`);
    }
  compare(sides, jobs);
}

async function countRequests(): Promise<void> {
  const platform = await startPlatform("empty");
  try {
    const rows: string[][] = [];
    for (const batch of BATCHES) {
      const requests = await requestsFor(platform, batch);
      const least = Math.ceil(PRICES / batch);
      rows.push([
        String(batch),
        whole(requests),
        (requests / PRICES).toFixed(3),
        `<= ${whole(least)}`,
        verdict(requests <= least),
      ]);
    }
    say("", `outbound: requests for ${whole(PRICES)} rack prices`);
    say(table(["A REQUEST CARRIES", "REQUESTS", "A PRICE", "TARGET", ""], rows));
  } finally {
    await platform.stop();
  }
}

/** Counted by who admits them. */
async function requestsFor(platform: Platform, batch: number): Promise<number> {
  let requests = 0;
  const governor: Governor = {
    async admit() {
      requests++;
      return { admitted: true };
    },
    learn: () => {},
  };
  const endpoint = platformOver(platform, { governor });
  const sink = { ...(endpoint.sinks["rackPrices"] as Sink), itemsMax: batch };
  await inFolder(async (folder) => {
    const { store, engine, flow } = siteOf(folder, sink, PRICES, priceOf);
    await runFlow(engine, flow, new AbortController().signal);
    const delivered = store.deliveries.counts(flow.flow).get("delivered");
    store.close();
    if (delivered !== PRICES) throw new Error(`${delivered} of ${PRICES} prices were delivered`);
  });
  await endpoint.close();
  return requests;
}

/** In a process and with files of its own; null when there is no Redis on this machine. */
async function sideOf(name: string, jobs: number): Promise<OutboundSide | null> {
  if (name === "bullmq" && !existsSync(REDIS)) return null;
  return inFolder(async (folder) => {
    const env = {
      FUELBRIDGE_SIDE: name,
      FUELBRIDGE_FOLDER: folder,
      FUELBRIDGE_JOBS: String(jobs),
    };
    if (name !== "bullmq") return inChild<OutboundSide>("outbound-side.ts", env);
    const port = await freePort();
    const where = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder];
    const kept = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"];
    const redis = spawn(REDIS, [...where, ...kept], { stdio: "ignore" });
    try {
      await answering(port);
      return await inChild<OutboundSide>("outbound-side.ts", {
        ...env,
        FUELBRIDGE_REDIS: String(port),
      });
    } finally {
      await stop(redis);
    }
  });
}

async function answering(port: number): Promise<void> {
  const probe = new Redis(port, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  probe.on("error", () => {});
  await probe.ping();
  probe.disconnect();
}

function compare(sides: Readonly<Record<string, readonly OutboundSide[]>>, jobs: number): void {
  const middle = (name: string, of: (side: OutboundSide) => number): number =>
    median((sides[name] ?? []).map((side) => jobs / of(side)));
  const drain = (name: string): number => middle(name, ({ drainSeconds }) => drainSeconds);
  const all = (name: string): number => middle(name, allSeconds);
  const row = (what: string, peer: string, of: (name: string) => number) => {
    const ratio = of("fuelbridge") / of(peer);
    const [ours, theirs] = [of("fuelbridge"), of(peer)];
    const met = verdict(ratio >= TARGET);
    return [what, peer, whole(ours), whole(theirs), ratio.toFixed(2), `>= ${TARGET}`, met];
  };
  const rows = PEERS.filter((peer) => (sides[peer]?.length ?? 0) > 0).flatMap((peer) => [
    row("drain", peer, drain),
    row("in all", peer, all),
  ]);
  say("", table(["OUTBOUND", "PEER", "FUELBRIDGE/S", "PEER/S", "RATIO", "TARGET", ""], rows));
}

const allSeconds = ({ enterSeconds, drainSeconds }: OutboundSide): number =>
  enterSeconds + drainSeconds;

const figures = (side: OutboundSide, jobs: number): string[] =>
  [side.enterSeconds, side.drainSeconds, allSeconds(side)].map((seconds) =>
    whole(jobs / seconds).padStart(7),
  );
