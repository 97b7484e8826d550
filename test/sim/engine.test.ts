/**
 * The whole engine by seeds: faults, kills and people on both sides, and what both sides hold in the end.
 *
 * @module-tag numbers
 */
import { expect, test } from "vitest";
import { isLongRun, runs } from "../support/runs.ts";
import { answerNames } from "./engine/platform.ts";
import { faults, planOf, simulate } from "./engine/run.ts";

test("nothing is lost, doubled, wrong, silent or stuck, whatever fails and wherever the process dies", async () => {
  const hits = new Set<string>();
  let delivered = 0;
  const count = runs(10, 300);
  for (let seed = 1; seed <= count; seed++) {
    const verdict = await simulate(planOf(seed));
    expect({ seed, problems: verdict.problems }).toEqual({ seed, problems: [] });
    for (const name of verdict.hits.keys()) hits.add(name);
    delivered += verdict.delivered;
  }
  expect(delivered).toBeGreaterThan(8 * count);
  // In few seeds the rare ones need not occur.
  const expected = isLongRun ? [...faults, ...answerNames.map((name) => `answer ${name}`)] : [];
  expect(expected.filter((name) => !hits.has(name))).toEqual([]);
});

test("a seed is the same run each time", async () => {
  const [one, other] = [await simulate(planOf(7)), await simulate(planOf(7))];
  expect([...one.hits]).toEqual([...other.hits]);
  expect(one.notes).toEqual(other.notes);
});
