/**
 * Carries out jobs of all sites that share an API key. It keeps nothing: a job is its own from taking the permit to
 * leaving the answer, and what it cannot answer is looked for by the site.
 */
import { randomUUID } from "node:crypto";
import { type Job as BullJob, Worker } from "bullmq";
import { FuelbridgeError } from "../core/errors.ts";
import { unanswered } from "../core/outcome.ts";
import type { Payload } from "./bullmq.ts";
import { type Errand, errands, type Sinks, unknownSink } from "./queue.ts";
import {
  type Hub,
  type Keys,
  PRELUDE,
  QUEUE,
  RedisTrouble,
  type Trouble,
  watch,
  type Watching,
  within,
} from "./redis.ts";
import { openPermits, type Settled, WORKER_ALIVE_MS } from "./permits.ts";

interface WorkerOptions extends Watching {
  readonly hub: Hub;
  readonly keys: Keys;
  /** What jobs may name. */
  readonly sinks: Sinks;
  /** Jobs that it has in hand at most. */
  readonly atOnce?: number;
}

export interface JobWorker {
  /** Once Redis was reached, or could not be. */
  readonly looked: Promise<void>;
  /** Rejects when nothing may be sent any more, whatever the job: an error of this installation. */
  readonly broken: Promise<never>;
  trouble(): Trouble | null;
  /** Takes no more jobs and finishes those in hand. */
  close(): Promise<void>;
}

const AT_ONCE = 16;
/** Longer than a job may take; it is renewed before, and a job whose lock is lost fails and is not repeated. */
const LOCK_MS = 120_000;
/** A site waits no longer for an answer. */
const SETTLE_MS = 60_000;
const SETTLE_AGAIN_MS = 500;
const CLOSE_MS = 5_000;

export function startWorker(options: WorkerOptions): JobWorker {
  const { hub, keys, sinks, note, atOnce = AT_ONCE } = options;
  const permits = openPermits(hub, keys);
  const id = randomUUID();
  const { promise: broken, reject: breakDown } = Promise.withResolvers<never>();
  // Whoever does not ask does not want to know.
  broken.catch(() => {});
  const inHand = new Set<Promise<unknown>>();
  let isClosing = false;

  /** What BullMQ keeps of it: why it was not carried out, or nothing. */
  async function work({ id: job = "", data }: BullJob<Payload>): Promise<string> {
    const { site, sink: name, request } = data;
    const sink = Object.hasOwn(sinks, name) ? sinks[name] : undefined;
    const home = keys.home(site);
    if (sink === undefined) return refused(job, home, unknownSink(name, sinks));
    const taking = await permits.take(job, id);
    if ("why" in taking) return refused(job, home, taking.why);
    const startByMs = performance.now() + taking.startMs;
    const errand: Errand = { site, startByMs, used: new Map() };
    const answer = await errands.run(errand, () =>
      sink.send(request, never).catch((error: unknown) => {
        if (error instanceof FuelbridgeError) breakDown(error);
        note("job failed", { job, sink: name, error });
        const words = error instanceof Error ? error.message : String(error);
        return unanswered(`the worker failed while it sent: ${words}`);
      }),
    );
    note("job done", { job, sink: name, answer: answer.outcome, detail: answer.detail });
    await settle(job, site, { answer, used: Object.fromEntries(errand.used) });
    return "";
  }

  function refused(job: string, home: string, why: string): string {
    note("job refused", { job, why });
    void hub.redis.publish(home, `${job} !${why}`).catch(() => {});
    return why;
  }

  /** Redis may be away just now: the answer is worth waiting for as long as its site does. */
  async function settle(job: string, site: string, settled: Settled): Promise<void> {
    const endMs = performance.now() + SETTLE_MS;
    for (;;)
      try {
        return await permits.settle(job, site, settled);
      } catch (error) {
        if (!(error instanceof RedisTrouble)) throw error;
        if (performance.now() > endMs) return note("answer lost", { job, why: error.message });
        await new Promise((resolve) => setTimeout(resolve, SETTLE_AGAIN_MS));
      }
  }

  const line = hub.waiting();
  const process = (job: BullJob<Payload>): Promise<string> => {
    const working = work(job).finally(() => inHand.delete(working));
    inHand.add(working);
    return working;
  };
  const worker = new Worker<Payload, string>(QUEUE, process, {
    connection: line,
    prefix: keys.prefix,
    skipVersionCheck: true,
    concurrency: atOnce,
    lockDuration: LOCK_MS,
    maxStalledCount: 0,
    runRetryDelay: 1_000,
  });
  worker.on("error", () => {});
  const { looked, stop, trouble } = watch(hub, options, {}, async (unfit) => {
    const sets = isClosing ? [keys.hands] : [keys.hands, keys.workers];
    if (unfit === null)
      for (const set of sets) await hub.run(PRESENT, [set], [id, WORKER_ALIVE_MS]);
    return null;
  });
  return {
    looked,
    broken,
    trouble,
    async close() {
      isClosing = true;
      // Sites offer nothing to a worker that is going; what it has in hand is its own until it is done.
      await hub.ask(hub.redis.zrem(keys.workers, id)).catch(() => {});
      await closed(worker, inHand);
      await stop();
      await hub.ask(hub.redis.zrem(keys.hands, id)).catch(() => {});
      line.disconnect();
    },
  };
}

/** Waits for the jobs in hand; but not for a Redis that is away. */
async function closed(worker: Worker, inHand: ReadonlySet<Promise<unknown>>): Promise<void> {
  const closing = worker.close();
  await Promise.allSettled(inHand);
  await within(CLOSE_MS, closing);
}

/** A send is finished whatever happens: it has a deadline of its own. */
const never = new AbortController().signal;

/** Those that went without a word are forgotten after a while. */
const PRESENT = `${PRELUDE}
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 2 * ARGV[2])`;
