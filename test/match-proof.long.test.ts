/**
 * The proof of `fuelbridge match`: errors planted in months of 2,000 invoices, and how many are found.
 * @module-tag numbers
 */
import { expect, test } from "vitest";
import { runs } from "./support/runs.ts";
import { filled, monthOf, run, scoreOf } from "./support/matched.ts";

/** None of those that rules were written by: the proof was made with twenty of them. */
const SEEDS = Array.from({ length: runs(0, 8, 20) }, (_, at) => 7_001 + at);

test.each(SEEDS)("recall and precision of what was planted: seed %i", (seed) => {
  const { scene, truth } = monthOf({ trades: 1_000, faults: 200, seed });
  expect(truth).toHaveLength(200);
  const report = run(filled(scene));
  expect(report.invoices.all).toBeGreaterThanOrEqual(1_985);
  const { certain, probable, missed, wrong } = scoreOf(truth, report);
  process.stdout.write(
    `seed ${seed}: certain ${certain.recall.toFixed(4)} ${certain.precision.toFixed(4)}, probable ${probable.recall.toFixed(4)} ${probable.precision.toFixed(4)}; ${[...missed, ...wrong].join("; ")}\n`,
  );
  expect(certain.recall).toBeGreaterThanOrEqual(0.99);
  expect(certain.precision).toBeGreaterThanOrEqual(0.99);
  expect(probable.recall).toBeGreaterThanOrEqual(0.95);
  expect(probable.precision).toBeGreaterThanOrEqual(0.9);
});

test.each(SEEDS.slice(0, SEEDS.length / 4))(
  "a clean month has no certain finding: seed %i",
  (seed) => {
    const { findings } = run(filled(monthOf({ trades: 1_000, seed }).scene));
    expect(findings.filter(({ certainty }) => certainty === "certain")).toEqual([]);
  },
);
