import { expect, onTestFinished, test, vi } from "vitest";
import { untilSignal } from "./process.ts";

/** What a signal would call; sending one would reach the test runner too. */
function heard(signal: "SIGINT" | "SIGTERM"): void {
  process.listeners(signal).at(-1)?.(signal);
}

test("the first signal lets the work in hand be finished", async () => {
  const { promise: work, resolve: finish } = Promise.withResolvers<string>();
  const { promise: aborted, resolve: nowAborted } = Promise.withResolvers<void>();
  const ended = untilSignal((signal) => {
    signal.addEventListener("abort", () => nowAborted());
    return work;
  });
  heard("SIGTERM");
  await aborted;
  finish("finished");
  expect(await ended).toEqual({ result: "finished", exitCode: 143 });
});

test("a second signal stops waiting", async () => {
  const exit = vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
  onTestFinished(() => exit.mockRestore());
  const { promise: work, resolve: finish } = Promise.withResolvers<void>();
  const ended = untilSignal(() => work);
  heard("SIGTERM");
  expect(exit).not.toHaveBeenCalled();
  heard("SIGINT");
  expect(exit).toHaveBeenCalledWith(130);
  finish();
  await ended;
});

test("work that ends by itself has no signal's exit code, and leaves no listener", async () => {
  const before = process.listenerCount("SIGTERM");
  expect(await untilSignal(async () => 7)).toEqual({ result: 7, exitCode: null });
  expect(process.listenerCount("SIGTERM")).toBe(before);
});
