/** A Redis of the test's own: a free port, a folder, and whatever may happen to it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Redis } from "ioredis";
import { onTestFinished } from "vitest";
import { tempFolder } from "./folder.ts";
import { freePort } from "../../src/demo/sshd.ts";
import { until } from "./site-program.ts";

export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** A client of the test's own. */
  readonly client: Redis;
  /** SIGKILL: what its disk does not hold is gone. */
  kill(): Promise<void>;
  /** With the data of its folder; ready when it returns. */
  start(): Promise<void>;
  /** SIGSTOP: it answers nothing and loses nothing. */
  pause(): void;
  resume(): void;
  flush(): Promise<void>;
  config(name: string, value: string): Promise<void>;
}

const running = new Set<ChildProcess>();

/** None outlives the test process. */
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Ends with the test. `args`: more of redis-server's own, `--maxmemory 1mb`. */
export async function startRedis(...args: readonly string[]): Promise<TestRedis> {
  const server = new Server(await freePort(), tempFolder(), args);
  await server.start();
  const client = new Redis(server.port, { retryStrategy: () => 20 }).on("error", () => {});
  onTestFinished(async () => {
    client.disconnect();
    await server.kill();
  });
  return {
    url: `redis://127.0.0.1:${server.port}`,
    port: server.port,
    client,
    kill: () => server.kill(),
    start: () => server.start(),
    pause: () => server.signal("SIGSTOP"),
    resume: () => server.signal("SIGCONT"),
    flush: async () => void (await client.flushall()),
    config: async (name, value) => void (await client.config("SET", name, value)),
  };
}

class Server {
  readonly port: number;
  readonly #folder: string;
  readonly #args: readonly string[];
  #child: ChildProcess | null = null;

  constructor(port: number, folder: string, args: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#args = args;
  }

  async start(): Promise<void> {
    const own = ["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#folder];
    const kept = ["--appendonly", "yes", "--save", "", "--maxmemory-policy", "noeviction"];
    const child = spawn("redis-server", [...own, ...kept, ...this.#args], { stdio: "ignore" });
    this.#child = child;
    running.add(child);
    const probe = new Redis(this.port, { retryStrategy: () => 10, maxRetriesPerRequest: null });
    probe.on("error", () => {});
    await until("Redis", async () => (await probe.ping()) === "PONG");
    probe.disconnect();
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    running.delete(child);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }
}
