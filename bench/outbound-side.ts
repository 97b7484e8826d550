/**
 * One side of the comparison in a process of its own: so many jobs are entered, 200 a transaction, and then worked
 * off, ten at a time, by a worker that does nothing. All of it survives a power cut on every side.
 */
import Database from "better-sqlite3";
import { Queue as Bull, Worker } from "bullmq";
import { Redis } from "ioredis";
import { better, defineQueue, defineWorker } from "plainjob";
import type { Sink } from "../src/core/contract.ts";
import { deliver } from "../src/engine/deliver.ts";
import { freezeNext } from "../src/engine/daemon.ts";
import { pull } from "../src/engine/pull.ts";
import type { OutboundSide } from "./outbound.ts";
import { nothing, siteOf } from "./outbound-site.ts";

const {
  FUELBRIDGE_SIDE: side = "",
  FUELBRIDGE_FOLDER: folder = "",
  FUELBRIDGE_JOBS: count = "",
  FUELBRIDGE_REDIS: redisPort = "",
} = process.env;
const jobs = Number(count);
const AT_ONCE = 10;
const ROUND = 200;
const never = new AbortController().signal;

const documentOf = (at: number): object => ({
  customer: `C-${at % 97}`,
  product: "ULSD",
  gallons: 7_500 + (at % 500),
  price: 2.503,
  text: "a line of the size that lines have in documents of this kind, and a little more",
});

const sides: Readonly<Record<string, () => Promise<OutboundSide>>> = {
  fuelbridge,
  bullmq,
  plainjob,
};
process.stdout.write(`${JSON.stringify(await sides[side]?.())}\n`);

async function fuelbridge(): Promise<OutboundSide> {
  const sink: Sink = { ...nothing, atOnce: AT_ONCE };
  const { store, engine, flow } = siteOf(folder, sink, jobs, documentOf);
  let enterSeconds = await timed(() => pull(engine, flow, never));
  let drainSeconds = 0;
  // As the daemon does it: a round is frozen, and worked off before the next.
  for (let left = jobs; left > 0; left -= ROUND) {
    enterSeconds += await timed(async () => freezeNext(engine, flow, 0));
    drainSeconds += await timed(() => deliver(engine, flow, never));
  }
  expectAll(store.deliveries.counts(flow.flow).get("delivered") ?? 0);
  store.close();
  return { enterSeconds, drainSeconds };
}

async function bullmq(): Promise<OutboundSide> {
  const connection = (): Redis => new Redis(Number(redisPort), { maxRetriesPerRequest: null });
  const shared = connection();
  const queue = new Bull("jobs", { connection: shared });
  await queue.waitUntilReady();
  const enterSeconds = await timed(async () => {
    for (let first = 0; first < jobs; first += ROUND)
      await queue.addBulk(
        range(first).map((at) => ({
          name: "nothing",
          data: documentOf(at),
          opts: { attempts: 1 },
        })),
      );
  });
  const line = connection();
  const worker = new Worker("jobs", async () => ({ name: "done", ids: ["id"] }), {
    connection: line,
    concurrency: AT_ONCE,
    autorun: false,
  });
  await worker.waitUntilReady();
  const { promise, resolve } = Promise.withResolvers<void>();
  let done = 0;
  worker.on("completed", () => {
    if (++done === jobs) resolve();
  });
  const drainSeconds = await timed(() => {
    void worker.run();
    return promise;
  });
  expectAll(await queue.getCompletedCount());
  await worker.close();
  for (const one of [shared, line]) one.disconnect();
  return { enterSeconds, drainSeconds };
}

async function plainjob(): Promise<OutboundSide> {
  const database = new Database(`${folder}/plainjob.db`);
  const silent = { error() {}, warn() {}, info() {}, debug() {} };
  const queue = defineQueue({ connection: better(database), logger: silent });
  // It sets NORMAL itself, under which a power cut loses jobs that were done.
  database.pragma("synchronous = full");
  const enterSeconds = await timed(async () => {
    for (let first = 0; first < jobs; first += ROUND)
      queue.addMany("nothing", range(first).map(documentOf));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  let done = 0;
  const workers = Array.from({ length: AT_ONCE }, () =>
    defineWorker("nothing", async () => {}, {
      queue,
      logger: silent,
      onCompleted: () => {
        if (++done === jobs) resolve();
      },
    }),
  );
  const drainSeconds = await timed(() => {
    for (const worker of workers) void worker.start();
    return promise;
  });
  expectAll(done);
  for (const worker of workers) await worker.stop();
  queue.close();
  return { enterSeconds, drainSeconds };
}

function range(first: number): number[] {
  return Array.from({ length: Math.min(ROUND, jobs - first) }, (_, at) => first + at);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1_000;
}

function expectAll(done: number): void {
  if (done !== jobs) throw new Error(`${side}: ${done} of ${jobs} jobs are done`);
}
