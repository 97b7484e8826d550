/**
 * `npm run sim -- --runs 1000000 --seed 1 [--storm] [--jumps 0.25] [--after-timeout again]`: the request machine
 * against a model of the platform. Prints counts; exits with 1 when anything was doubled, lost or got stuck, and says
 * the seed of the first such run, with which `--runs 1` repeats it.
 */
import { parseArgs } from "node:util";
import { money } from "../../src/platform/sinks/write.ts";
import { hostile, storm } from "./model.ts";
import { simulate } from "./run.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    storm: { type: "boolean", default: false },
    jumps: { type: "string", default: "0.25" },
    "after-timeout": { type: "string", default: "person" },
  },
});
const runs = Number(values.runs);
const firstSeed = Number(values.seed);
const weather = values.storm ? storm : hostile;
const policy = {
  ...money,
  afterTimeout: values["after-timeout"] === "again" ? "again" : "person",
} as const;

const counts = { done: 0, manual: 0, duplicates: 0, lost: 0, falseDone: 0, stuck: 0, steps: 0 };
let firstBad: number | null = null;
const startedMs = performance.now();
for (let run = 0; run < runs; run++) {
  const { state, effects, steps } = simulate(
    firstSeed + run,
    weather,
    policy,
    Number(values.jumps),
  );
  const bad = {
    doubled: effects > 1,
    falseDone: state === "done" && effects === 0,
    lost: state === "rejected" || state === "cancelled",
    stuck: state !== "done" && state !== "manual" && state !== "rejected" && state !== "cancelled",
  };
  counts.steps += steps;
  counts.done += Number(state === "done");
  counts.manual += Number(state === "manual");
  counts.duplicates += Number(bad.doubled);
  counts.falseDone += Number(bad.falseDone);
  counts.lost += Number(bad.lost);
  counts.stuck += Number(bad.stuck);
  if (firstBad === null && (bad.doubled || bad.falseDone || bad.lost || bad.stuck))
    firstBad = firstSeed + run;
}
const seconds = (performance.now() - startedMs) / 1_000;
process.stdout.write(
  `${[
    `runs ${runs}, seeds ${firstSeed}-${firstSeed + runs - 1}, ${values.storm ? "storm" : "hostile"}, clock jumps ${values.jumps}, after a timeout: ${policy.afterTimeout}`,
    `duplicates ${counts.duplicates}, lost ${counts.lost}, false DONE ${counts.falseDone}, stuck ${counts.stuck}`,
    `done ${counts.done}, for a person ${counts.manual} (${((100 * counts.manual) / runs).toFixed(2)} %), ${(counts.steps / runs).toFixed(1)} steps a run`,
    `${Math.round(runs / seconds)} runs/s`,
    ...(firstBad === null ? [] : [`first bad run: --seed ${firstBad} --runs 1`]),
  ].join("\n")}\n`,
);
process.exitCode = firstBad === null ? 0 : 1;
