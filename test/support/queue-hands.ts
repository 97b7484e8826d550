/** Workers as processes, over one Redis. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { tempFolder } from "./folder.ts";
import type { TestRedis } from "./redis.ts";
import { program, type Running } from "./site-program.ts";

export interface Hands {
  /** The key of every send, in its order. */
  sent(): string[];
  start(): Promise<Running>;
}

/** Workers as processes, that write down what they carry out. */
export function hands(redis: TestRedis): Hands {
  const file = join(tempFolder(), "sent");
  return {
    sent: () => (existsSync(file) ? linesOf(file).map((line) => line.split(" ")[0] as string) : []),
    async start() {
      const worker = program(["test/support/queue-worker.ts", redis.url, file]);
      onTestFinished(async () => {
        worker.kill("SIGKILL");
        await worker.ended;
      });
      await worker.said("ready");
      return worker;
    },
  };
}

const linesOf = (file: string): string[] => readFileSync(file, "utf8").trimEnd().split("\n");
