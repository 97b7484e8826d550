import { expect, test } from "vitest";
import type { Policy } from "../../src/core/outcome.ts";
import { money } from "../../src/platform/sinks/write.ts";
import { numbers, runs } from "../support/runs.ts";
import { hostile, storm, type Weather } from "./model.ts";
import { simulate } from "./run.ts";

const RUNS = runs(10_000, 50_000);

function outcomes(runs: number, weather: Weather, policy: Policy, jumps = 0.25) {
  const counts = { doubled: 0, falseDone: 0, lost: 0, stuck: 0, done: 0, manual: 0 };
  for (let seed = 1; seed <= runs; seed++) {
    const { state, effects } = simulate(seed, weather, policy, jumps);
    counts.doubled += Number(effects > 1);
    counts.falseDone += Number(state === "done" && effects === 0);
    counts.lost += Number(state === "rejected" || state === "cancelled");
    counts.done += Number(state === "done");
    counts.manual += Number(state === "manual");
  }
  return { ...counts, stuck: runs - counts.done - counts.manual - counts.lost };
}

test.each([
  ["hostile", hostile, money],
  ["storm", storm, money],
  ["hostile, a new key after a timeout", hostile, { ...money, afterTimeout: "again" }],
  ["storm, a new key after a timeout", storm, { ...money, afterTimeout: "again" }],
] as const)(
  "at most one effect, none lost, none stuck, none falsely done: %s",
  numbers,
  (_, weather, policy) => {
    const { done, manual, ...bad } = outcomes(RUNS, weather, policy);
    expect(bad).toEqual({ doubled: 0, falseDone: 0, lost: 0, stuck: 0 });
    expect(done + manual).toBe(RUNS);
  },
);

test.each([
  ["the probe window is longer than the hold", { ...money, probeMs: 90_000 }, storm],
  ["nothing settles before it is read", { ...money, settleMs: 0, readGapMs: 0 }, hostile],
  ["the key is used for ever", { ...money, keyLifeMs: null, reads: 1, settleMs: 0 }, hostile],
] as const)("the simulation can fail: it doubles when %s", (_, policy, weather) => {
  expect(outcomes(50_000, weather, policy).doubled).toBeGreaterThan(0);
});

test("a run is reproduced from its seed", () => {
  expect(simulate(4711, storm, money, 0.25)).toEqual(simulate(4711, storm, money, 0.25));
});
