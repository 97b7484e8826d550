import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Budget,
  forecast,
  leftFor,
  monthAt,
  purposes,
  reserveOf,
  type Spent,
  stretchOf,
  usedOf,
  usualBudget,
} from "./budget.ts";

const DAY = 86_400_000;
const at = (iso: string): number => Date.parse(iso);

const budgets: fc.Arbitrary<Budget> = fc.record({
  perMonth: fc.integer({ min: 1, max: 200_000 }),
  perMinute: fc.constant(600),
  reserve: fc.record({
    writes: fc.integer({ min: 0, max: 45 }),
    readBacks: fc.integer({ min: 0, max: 45 }),
  }),
});
const requests = fc.integer({ min: 0, max: 120_000 });
const spendings: fc.Arbitrary<Spent> = fc.record(
  { poll: requests, detail: requests, write: requests, "read-back": requests, lost: requests },
  { requiredKeys: [] },
);

describe("who may use the month", () => {
  test.each([
    ["nothing is used", {}, 35_000, 50_000],
    ["polls have used a part of theirs", { poll: 20_000, detail: 5_000 }, 10_000, 25_000],
    ["polls have used all of theirs", { poll: 34_000, audit: 1_000 }, 0, 15_000],
    ["writes use their reserve, which costs polls nothing", { write: 10_000 }, 35_000, 40_000],
    ["writes use more than their reserve", { write: 20_000 }, 25_000, 30_000],
    ["what was lost is used, whoever used it", { lost: 1_000 }, 34_000, 49_000],
    ["everything is used", { write: 60_000 }, 0, 0],
  ] satisfies [string, Spent, number, number][])("%s", (_, spent, polls, writes) => {
    expect(leftFor(usualBudget, spent, "poll")).toBe(polls);
    expect(leftFor(usualBudget, spent, "detail")).toBe(polls);
    expect(leftFor(usualBudget, spent, "audit")).toBe(polls);
    expect(leftFor(usualBudget, spent, "write")).toBe(writes);
    expect(leftFor(usualBudget, spent, "read-back")).toBe(writes);
  });

  test("no order of requests exceeds the month, and polling leaves writes and read-backs what they are owed", () => {
    const orders = fc.array(fc.constantFrom(...purposes), { maxLength: 400 });
    fc.assert(
      fc.property(budgets, orders, (many, order) => {
        const budget = { ...many, perMonth: (many.perMonth % 300) + 1 };
        const spent: Partial<Record<(typeof purposes)[number], number>> = {};
        for (const purpose of order)
          if (leftFor(budget, spent, purpose) > 0) spent[purpose] = (spent[purpose] ?? 0) + 1;
        expect(usedOf(spent)).toBeLessThanOrEqual(budget.perMonth);
        const reading = usedOf({ ...spent, write: 0, "read-back": 0 });
        const kept = reserveOf(budget, "write") + reserveOf(budget, "read-back");
        expect(reading).toBeLessThanOrEqual(Math.max(budget.perMonth - kept, 0));
      }),
    );
  });

  test("nobody has more left than the month, and writers never less than readers", () => {
    fc.assert(
      fc.property(budgets, spendings, (budget, spent) => {
        const [poll, write] = [leftFor(budget, spent, "poll"), leftFor(budget, spent, "write")];
        expect(poll).toBeGreaterThanOrEqual(0);
        expect(poll).toBeLessThanOrEqual(write);
        expect(write).toBe(Math.max(budget.perMonth - usedOf(spent), 0));
      }),
    );
  });
});

test("a month is one of UTC, from its first instant to the first of the next", () => {
  const month = { name: "2026-12", startMs: at("2026-12-01"), endMs: at("2027-01-01") };
  expect(monthAt(at("2026-12-01T00:00:00Z"))).toEqual(month);
  expect(monthAt(at("2026-12-31T23:59:59.999Z"))).toEqual(month);
  expect(monthAt(at("2027-01-01T00:00:00Z")).name).toBe("2027-01");
});

test.each([
  ["2026-11-01T23:59:00Z", 9_000, null],
  ["2026-11-16T00:00:00Z", 10_000, { expected: 20_000, runsOutAt: null }],
  ["2026-11-16T00:00:00Z", 40_000, { expected: 80_000, runsOutAt: "2026-11-19T18:00:00.000Z" }],
  ["2026-11-16T00:00:00Z", 50_000, { expected: 100_000, runsOutAt: "2026-11-16T00:00:00.000Z" }],
  ["2026-11-16T00:00:00Z", 0, { expected: 0, runsOutAt: null }],
])("at %s, with %i used, the forecast is %j", (now, used, expected) => {
  expect(forecast(50_000, used, at(now))).toEqual(expected);
});

describe("the stretch", () => {
  const start = at("2026-12-01");

  test.each([
    ["as configured when it suffices", { interval: 17_856, calendar: 60 }, 35_000, start, 1],
    ["four feeds every two minutes", { interval: 89_280, calendar: 0 }, 35_000, start, 2.55],
    ["times of the calendar come first", { interval: 40_000, calendar: 15_000 }, 35_000, start, 2],
    ["half a month, half of it left", { interval: 70_000, calendar: 0 }, 17_500, start, 4],
    ["half a month", { interval: 70_000, calendar: 0 }, 17_500, start + 15.5 * DAY, 2],
    ["never more than eight", { interval: 70_000, calendar: 0 }, 10, start, 8],
    ["eight when nothing is left", { interval: 10, calendar: 0 }, 0, start, 8],
    ["eight when the calendar takes all", { interval: 10, calendar: 100 }, 50, start, 8],
    ["nothing to poll", { interval: 0, calendar: 0 }, 0, start, 1],
  ])("%s", (_, need, left, now, expected) => {
    expect(stretchOf(need, left, now)).toBeCloseTo(expected, 2);
  });

  const months = fc.record({
    interval: fc.integer({ min: 0, max: 250_000 }),
    calendar: fc.integer({ min: 0, max: 9_000 }),
  });

  test("is from 1 to 8, and less is left means no smaller", () => {
    const now = fc.integer({ min: 0, max: 31 * DAY - 1 });
    fc.assert(
      fc.property(months, fc.nat(60_000), fc.nat(60_000), now, (need, left, less, elapsed) => {
        const factor = stretchOf(need, left, start + elapsed);
        expect(factor).toBeGreaterThanOrEqual(1);
        expect(factor).toBeLessThanOrEqual(8);
        expect(stretchOf(need, Math.max(left - less, 0), start + elapsed)).toBeGreaterThanOrEqual(
          factor,
        );
      }),
    );
  });

  test("makes polls last all but the month's last day, though walks cost up to half more than a look", () => {
    const walk = fc.integer({ min: 100, max: 150 });
    const share = fc.integer({ min: 5_000, max: 40_000 });
    fc.assert(
      fc.property(months, walk, share, ({ interval }, percent, share) => {
        const cost = (interval * percent) / 100;
        fc.pre(cost < share * 3);
        const need = { interval, calendar: 0 };
        let used = 0;
        for (let hour = 0; hour < 30 * 24; hour++)
          used += cost / 744 / stretchOf(need, share - used, start + hour * 3_600_000);
        expect(used).toBeLessThanOrEqual(share);
      }),
    );
  });
});
