import { expect, test } from "vitest";
import {
  expected,
  HOURS_OF_A_WEEK,
  hourOfWeekIn,
  hoursBetween,
  learned,
  nextLookIn,
  nothingSeen,
  pacesOf,
  weightsOf,
} from "./pace.ts";

const HOUR = 3_600_000;
const at = (text: string): number => Date.parse(text);
const hourOf = hourOfWeekIn("America/Chicago", ["2026-11-26"]);
const FROM = at("2026-11-02T06:00:00Z");
const TO = at("2026-11-30T06:00:00Z");
const plain = { hours: hoursBetween(FROM, TO, hourOf), weights: weightsOf(null) };
const feed = { name: "orders", rates: nothingSeen, perLook: 1, leastMs: 15_000, mostMs: HOUR };

/** Four weeks of looks every half hour, which find two changes in working hours and nothing at night. */
const busyByDay = (() => {
  let rates = nothingSeen;
  for (let fromMs = FROM; fromMs < TO; fromMs += HOUR / 2) {
    const hour = hourOf(fromMs);
    const isBusy = hour < 120 && hour % 24 >= 7 && hour % 24 < 18;
    const look = { fromMs, toMs: fromMs + HOUR / 2, changes: isBusy ? 2 : 0 };
    rates = learned(rates, look, hourOf);
  }
  return rates;
})();

const costOf = (paces: readonly number[], perLook = 1): number =>
  paces.reduce((sum, ms, hour) => sum + (perLook * (plain.hours[hour] ?? 0) * HOUR) / ms, 0);

test("an hour of the week is the site's, over a change of its clocks, and a holiday is a Sunday", () => {
  expect(hourOf(at("2026-11-02T06:00:00Z"))).toBe(0);
  expect(hourOf(at("2026-10-26T05:00:00Z"))).toBe(0);
  expect(hourOf(at("2026-11-26T16:00:00Z"))).toBe(6 * 24 + 10);
  expect(hourOf(at("2026-11-27T16:00:00Z"))).toBe(4 * 24 + 10);
});

test("what is left of the month is spent, and no more, where the bounds allow it", () => {
  for (const requests of [2_000, 5_000, 20_000]) {
    const paces = pacesOf([feed], requests, plain).get("orders") ?? [];
    expect(costOf(paces)).toBeLessThanOrEqual(requests * 1.001);
    expect(costOf(paces)).toBeGreaterThan(requests * 0.98);
  }
});

test("looks are never closer than the flow's bound, and further apart than its other bound only for want of requests", () => {
  const rich = pacesOf([{ ...feed, rates: busyByDay }], 1e9, plain).get("orders") ?? [];
  expect(new Set(rich)).toEqual(new Set([15_000]));
  const poor = pacesOf([{ ...feed, rates: busyByDay }], 100, plain).get("orders") ?? [];
  expect(Math.min(...poor)).toBeGreaterThan(HOUR);
  expect(costOf(poor)).toBeLessThanOrEqual(101);
});

test("hours in which more changes are looked at more often, and none is given up", () => {
  const paces = pacesOf([{ ...feed, rates: busyByDay }], 5_000, plain).get("orders") ?? [];
  const [noon = 0, night = 0] = [paces[12], paces[2]];
  expect(noon * 2).toBeLessThan(night);
  expect(night).toBeLessThanOrEqual(HOUR);
  expect(expected(busyByDay)).toHaveLength(HOURS_OF_A_WEEK);
  expect(Math.min(...expected(busyByDay))).toBeGreaterThan(0);
});

test("a wait in office hours weighs more where the site names them", () => {
  const office = { days: [0, 1, 2, 3, 4], from: 7 * 60, to: 18 * 60 };
  const left = { ...plain, weights: weightsOf(office) };
  const paces = pacesOf([feed], 5_000, left).get("orders") ?? [];
  expect((paces[12] ?? 0) * 1.9).toBeLessThan(paces[2] ?? 0);
  expect(paces[6 * 24 + 12]).toBe(paces[2]);
});

test("a list that costs more for each look is looked at less often than another with as many changes", () => {
  const paces = pacesOf([feed, { ...feed, name: "payments", perLook: 9 }], 9_000, plain);
  expect((paces.get("payments")?.[0] ?? 0) / (paces.get("orders")?.[0] ?? 1)).toBeCloseTo(3, 1);
});

test("a first reading, and a time when nothing ran, teach nothing", () => {
  const long = { fromMs: FROM, toMs: FROM + 7 * HOUR, changes: 40 };
  expect(learned(nothingSeen, long, hourOf)).toBe(nothingSeen);
  expect(learned(nothingSeen, { ...long, toMs: FROM }, hourOf)).toBe(nothingSeen);
});

test("the next look comes sooner after a change, and a busy hour that begins is not slept through", () => {
  const paces = pacesOf([{ ...feed, rates: busyByDay }], 5_000, plain);
  const noon = { atMs: at("2026-11-03T18:00:00Z"), hourOf };
  const quiet = nextLookIn(paces, feed, { ...noon, changed: false });
  expect(nextLookIn(paces, feed, { ...noon, changed: true })).toBeLessThan(quiet);
  const beforeWork = { atMs: at("2026-11-03T12:55:00Z"), hourOf, changed: false };
  const night = paces.get("orders")?.[24 + 6] ?? 0;
  expect(nextLookIn(paces, feed, beforeWork)).toBeLessThan(night);
});
