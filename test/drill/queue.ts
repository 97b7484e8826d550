/**
 * A drill's Redis and the worker that sends for the daemon. Either may die at any moment, and Redis may forget
 * everything or answer nothing for a while: the store is the truth, and a job is only a wish to send.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import type { Random } from "../../src/sandbox/scenes/random.ts";
import { type Running, until } from "../support/site-program.ts";
import type { Site } from "./site.ts";

export interface Harm {
  workersKilled: number;
  redisKilled: number;
  redisPaused: number;
  redisFlushed: number;
}

export class SharedQueue {
  readonly port: number;
  readonly harm: Harm = { workersKilled: 0, redisKilled: 0, redisPaused: 0, redisFlushed: 0 };
  readonly #folder: string;
  readonly #client: Redis;
  #redis: ChildProcess | null = null;
  #worker: Running | null = null;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
    this.#client = new Redis(port, { retryStrategy: () => 20 }).on("error", () => {});
    process.once("exit", () => this.#redis?.kill("SIGKILL"));
  }

  static async open(folder: string): Promise<SharedQueue> {
    const queue = new SharedQueue(await freePort(), join(folder, "redis"));
    await queue.startRedis();
    return queue;
  }

  /** What the configuration says of it. */
  get yaml(): string {
    return `queue: { type: bullmq, url: "redis://127.0.0.1:${this.port}" }\n`;
  }

  async startWorker(site: Site): Promise<void> {
    this.#worker = site.start("worker");
    await this.#worker.said('"fuelbridge works"');
  }

  /** One thing that happens to it while the daemon lives. */
  async disturb(site: Site, random: Random): Promise<void> {
    const draw = random.next();
    if (draw < 0.4) {
      this.#worker?.kill("SIGKILL");
      await this.#worker?.ended;
      this.harm.workersKilled++;
      await this.startWorker(site);
    } else if (draw < 0.6) {
      await this.flush();
      this.harm.redisFlushed++;
    } else if (draw < 0.8) {
      this.#redis?.kill("SIGSTOP");
      await pause(random.int(50, 1_500));
      this.#redis?.kill("SIGCONT");
      this.harm.redisPaused++;
    } else {
      await this.killRedis();
      this.harm.redisKilled++;
      await pause(random.int(0, 300));
      await this.startRedis();
    }
  }

  async close(): Promise<void> {
    this.#worker?.kill("SIGKILL");
    await this.#worker?.ended;
    this.#client.disconnect();
    await this.killRedis();
  }

  async flush(): Promise<void> {
    await this.#client.flushall();
  }

  /** It answers nobody for `ms`, and keeps everything. */
  async pauseFor(ms: number): Promise<void> {
    await this.#client.client("PAUSE", ms);
    await pause(ms);
  }

  /** All connections to it. */
  async cut(): Promise<void> {
    for (const type of ["normal", "pubsub"])
      await this.#client.call("CLIENT", "KILL", "TYPE", type);
  }

  async startRedis(): Promise<void> {
    mkdirSync(this.#folder, { recursive: true });
    const own = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#folder];
    const kept = ["--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"];
    this.#redis = spawn("redis-server", [...own, ...kept], { stdio: "ignore" });
    await until("Redis", async () => (await this.#client.ping()) === "PONG");
  }

  /** `forgets`: its disk, too. */
  async killRedis({ forgets = false } = {}): Promise<void> {
    const redis = this.#redis;
    this.#redis = null;
    if (redis === null) return;
    const ended = once(redis, "exit");
    redis.kill("SIGKILL");
    await ended;
    if (forgets) rmSync(this.#folder, { recursive: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
