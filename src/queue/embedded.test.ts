import { describe, expect, it, onTestFinished } from "vitest";
import { embeddedQueue } from "./queue.ts";
import { itCarries, job } from "./queue.suite.ts";

describe("the embedded queue", () => {
  itCarries(async (sinks) => {
    const queue = embeddedQueue(sinks);
    onTestFinished(() => queue.close());
    return queue;
  });

  it("a sink that throws is a programming error and is heard", async () => {
    const queue = embeddedQueue({
      things: { send: () => Promise.reject(new Error("a fault of ours")) },
    });
    await expect(queue.carry(job("one"))).rejects.toThrow("a fault of ours");
  });
});
