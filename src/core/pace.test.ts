import { describe, expect, test } from "vitest";
import {
  expected,
  HOURS_OF_A_WEEK,
  hourOfWeekIn,
  hoursBetween,
  learned,
  lengthOf,
  nextLookIn,
  nothingSeen,
  pacesOf,
  planMonth,
  staleAt,
  stalenessOf,
  waitsOfLength,
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
  const quiet = nextLookIn(paces, feed, { ...noon, after: "nothing" });
  expect(nextLookIn(paces, feed, { ...noon, after: "change" })).toBeLessThan(quiet);
  const beforeWork = { atMs: at("2026-11-03T12:55:00Z"), hourOf, after: "nothing" } as const;
  const night = paces.get("orders")?.[24 + 6] ?? 0;
  expect(nextLookIn(paces, feed, beforeWork)).toBeLessThan(night);
});

test("how stale a plan leaves changes follows from the pace: half an interval on average, 19 of 20 within 95 % of it", () => {
  const always = Array.from({ length: HOURS_OF_A_WEEK }, () => 1);
  expect(staleAt(always.fill(600_000), expected(nothingSeen))).toEqual({
    meanMs: 300_000,
    p95Ms: 570_000,
  });
  // One of ten falls into hours that nobody looks in.
  const waits = [
    { fromMs: 0, toMs: 60_000, weight: 9 },
    { fromMs: 0, toMs: 3_600_000, weight: 1 },
  ];
  const { meanMs = 0, p95Ms = 0 } = stalenessOf(waits) ?? {};
  expect(meanMs).toBe(207_000);
  expect(p95Ms).toBeGreaterThan(60_000 * 25);
  expect(stalenessOf([])).toBeNull();
});

test("measured waits are told to a tenth, however long they were, and a clock that is ahead makes none negative", () => {
  for (const ms of [400, 5_000, 61_000, 600_000, HOUR, 72 * HOUR]) {
    const { fromMs, toMs } = waitsOfLength(lengthOf(ms), 1);
    expect(fromMs).toBeLessThan(ms);
    expect(toMs).toBeGreaterThanOrEqual(ms);
    const { meanMs = 0 } = stalenessOf([{ fromMs, toMs, weight: 1 }]) ?? {};
    expect(Math.abs(meanMs - ms)).toBeLessThanOrEqual(ms * 0.1 + 100);
  }
  expect(waitsOfLength(lengthOf(-90_000), 1).fromMs).toBe(0);
});

describe("the plan of a month", () => {
  const budget = {
    perMonth: 50_000,
    perMinute: 600,
    reserve: { writes: 20, readBacks: 10 },
    share: { audit: 10 },
  };
  const auto = { leastMs: 15_000, rates: busyByDay };
  const orders = { name: "orders", runs: 744, pages: null, everyMs: HOUR, auto };
  const bills = { name: "bills", runs: 4_464, pages: null, everyMs: HOUR / 6, auto: null };
  const at = { budget, spent: {}, atMs: FROM, hourOf, office: null };
  const monthMs = Date.UTC(2026, 11, 1) - FROM;
  const left = hoursBetween(FROM, FROM + monthMs, hourOf);
  const costIn = (pace: readonly number[] = []): number =>
    pace.reduce((sum, ms, hour) => sum + ((left[hour] ?? 0) * HOUR) / ms, 0);

  test("sites that share a key plan with their parts: together they spend what one alone would", () => {
    const costs = (share: number) => {
      const { paces } = planMonth({ ...at, looks: [orders, bills], share });
      return { auto: costIn(paces().get("orders")), plain: costIn(paces().get("bills")) };
    };
    const alone = costs(1);
    expect(alone.auto + alone.plain).toBeLessThanOrEqual(35_000 * 1.001);
    for (const sites of [2, 5]) {
      const { auto: one, plain } = costs(1 / sites);
      expect((one + plain) * sites, `${sites} sites`).toBeLessThanOrEqual(35_000 * 1.001);
      expect((one + plain) * sites, `${sites} sites`).toBeGreaterThan(34_000);
    }
    const twenty = costs(1 / 20);
    expect(twenty.plain, "a plain interval is stretched").toBeLessThan(alone.plain / 2);
    expect((twenty.auto + twenty.plain) * 20).toBeLessThanOrEqual(35_000 * 1.001);
  });
});
