import { expect, test } from "vitest";
import { isLongRun, numbers } from "../support/runs.ts";
import { mean, percentile, simulate } from "./pace.ts";

test.runIf(isLongRun)(
  "months of a distributor: fresher than equal intervals of the same cost, close to an oracle, within the month",
  numbers,
  () => {
    const { auto, plain, fixed, oracle } = simulate(12, 7);
    expect(mean(auto.office)).toBeLessThan(0.6 * mean(fixed.office));
    expect(mean(auto.office)).toBeLessThan(1.15 * mean(oracle.office));
    expect(percentile(auto.office, 0.95)).toBeLessThan(5);
    expect(Math.max(...auto.requests)).toBeLessThanOrEqual(30_000);
    expect(mean(auto.own), "sooner after own writes").toBeLessThan(0.8 * mean(plain.own));
    expect(mean(auto.office)).toBeLessThan(1.05 * mean(plain.office));
  },
);
