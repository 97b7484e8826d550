import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  auditNeed,
  auditPace,
  type Backlog,
  type Budget,
  type Forecast,
  forecast,
  hasteAt,
  leftFor,
  monthAt,
  monthRefusal,
  type Need,
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
  share: fc.record({ audit: fc.integer({ min: 0, max: 45 }) }),
});
const requests = fc.integer({ min: 0, max: 120_000 });
const spendings: fc.Arbitrary<Spent> = fc.record(
  {
    poll: requests,
    detail: requests,
    audit: requests,
    write: requests,
    "read-back": requests,
    lost: requests,
  },
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
    const share = 5_000 - ((spent as Spent).audit ?? 0);
    expect(leftFor(usualBudget, spent, "audit")).toBe(Math.min(polls, share));
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
        const share = Math.floor((budget.perMonth * budget.share.audit) / 100);
        expect(spent.audit ?? 0).toBeLessThanOrEqual(share);
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

describe("the forecast", () => {
  /** Four feeds every ten minutes, in 31 days. */
  const usual: Need = { interval: 17_856, calendar: 0 };
  const noon = "2026-11-16T12:00:00Z";

  test.each<[string, string, Partial<Budget>, Need, Spent, Forecast]>([
    [
      "the first day: a first reading of everything is no habit",
      "2026-11-01T12:00:00Z",
      {},
      { interval: 14_880, calendar: 0 },
      { poll: 6_000, write: 4_000, "read-back": 4_000 },
      { expected: 28_160, stretch: 1, runsOut: null },
    ],
    [
      "half a month: writes go on at their pace",
      "2026-11-16T00:00:00Z",
      {},
      usual,
      { poll: 8_640, write: 5_000, "read-back": 5_000 },
      { expected: 37_280, stretch: 1, runsOut: null },
    ],
    [
      "writes that the month does not suffice for",
      "2026-11-16T00:00:00Z",
      {},
      { interval: 0, calendar: 0 },
      { write: 40_000 },
      {
        expected: 80_000,
        stretch: 1,
        runsOut: { at: "2026-11-19T18:00:00.000Z", stops: "everything" },
      },
    ],
    [
      "the last minute",
      "2026-11-30T23:59:00Z",
      {},
      usual,
      { poll: 34_999 },
      { expected: 34_999, stretch: 1, runsOut: null },
    ],
    [
      "all of it is used, to the request",
      noon,
      {},
      usual,
      { poll: 35_000, write: 15_000 },
      {
        expected: 65_076,
        stretch: 8,
        runsOut: { at: "2026-11-16T12:00:00.000Z", stops: "everything" },
      },
    ],
    [
      "all that polls may use is used, to the request",
      noon,
      {},
      usual,
      { poll: 35_000 },
      { expected: 36_044, stretch: 8, runsOut: { at: "2026-11-16T12:00:00.000Z", stops: "polls" } },
    ],
    [
      "1,000 a month: eight times as far apart does not suffice",
      "2026-12-01T00:00:00Z",
      { perMonth: 1_000 },
      usual,
      {},
      { expected: 2_232, stretch: 8, runsOut: { at: "2026-12-10T17:20:00.000Z", stops: "polls" } },
    ],
    [
      "times of the calendar alone are never slowed",
      "2026-12-01T00:00:00Z",
      { perMonth: 1_000 },
      { interval: 0, calendar: 700 },
      {},
      { expected: 700, stretch: 1, runsOut: null },
    ],
    [
      "times of the calendar alone that are too many",
      "2026-12-01T00:00:00Z",
      { perMonth: 1_000 },
      { interval: 0, calendar: 1_400 },
      {},
      { expected: 1_400, stretch: 1, runsOut: { at: "2026-12-16T12:00:00.000Z", stops: "polls" } },
    ],
  ])("%s", (_, now, limits, need, spent, expected) => {
    const budget = { ...usualBudget, ...limits };
    expect(forecast({ budget, need, spent, atMs: at(now) })).toEqual(expected);
  });

  /** Each is written, and looked for before. */
  const waiting = (documents: number): Backlog => ({
    documents,
    writes: documents,
    readBacks: documents,
  });

  test("counts what waits to be sent: 200,000 documents do not fit into the month, however little was sent so far", () => {
    const backlog = waiting(200_000);
    const of = {
      budget: usualBudget,
      need: usual,
      spent: { poll: 1_000 },
      atMs: at(noon),
      backlog,
    };
    const { expected, runsOut, backlog: told } = forecast(of);
    expect(expected).toBeGreaterThan(400_000);
    // 49,000 requests are left, 600 a minute.
    expect(runsOut).toEqual({ at: "2026-11-16T13:21:40.000Z", stops: "everything" });
    expect(told).toEqual(backlog);
    expect(forecast({ ...of, backlog: waiting(0) })).toMatchObject({ runsOut: null });
  });

  test("what waits and fits is in the sum, and leaves the rest of the month as it was", () => {
    const of = { budget: usualBudget, need: usual, spent: {}, atMs: at("2026-11-01T00:00:00Z") };
    const without = forecast(of);
    expect(forecast({ ...of, backlog: waiting(1_000) })).toEqual({
      expected: without.expected + 2_000,
      stretch: 1,
      runsOut: null,
      backlog: waiting(1_000),
    });
  });

  const backlogs = fc.record({
    documents: fc.constant(1),
    writes: fc.integer({ min: 0, max: 500_000 }),
    readBacks: fc.integer({ min: 0, max: 500_000 }),
  });

  test("never says that the month suffices beside a day on which it is used up", () => {
    const needs = fc.record({
      interval: fc.integer({ min: 0, max: 400_000 }),
      calendar: fc.integer({ min: 0, max: 60_000 }),
    });
    const now = fc.integer({ min: at("2026-11-01"), max: at("2027-03-01") });
    fc.assert(
      fc.property(
        budgets,
        needs,
        spendings,
        now,
        backlogs,
        (budget, need, spent, atMs, backlog) => {
          const { expected, stretch, runsOut } = forecast({ budget, need, spent, atMs, backlog });
          const { endMs } = monthAt(atMs);
          if (runsOut === null) expect(expected).toBeLessThanOrEqual(budget.perMonth);
          else {
            expect(Date.parse(runsOut.at)).toBeGreaterThanOrEqual(atMs);
            expect(Date.parse(runsOut.at)).toBeLessThan(endMs);
          }
          // Polls alone, slowed by less than the most there is, always last.
          const alone = { poll: spent.poll ?? 0 };
          const polls = forecast({ budget, need, spent: alone, atMs, backlog });
          if (stretch < 8 && polls.stretch < 8 && polls.stretch > 1)
            expect(polls.runsOut).toBeNull();
        },
      ),
    );
  });
});

describe("what reconciliation costs", () => {
  test.each([
    [{ documentsPerMonth: 0, payments: 0, parties: 0, prices: 0, days: 35 }, 13, 7],
    [{ documentsPerMonth: 2_000, payments: 0, parties: 150, prices: 300, days: 35 }, 40, 246],
    [{ documentsPerMonth: 2_000, payments: 24_000, parties: 150, prices: 300, days: 35 }, 279, 485],
    [{ documentsPerMonth: 20_000, payments: 0, parties: 900, prices: 900, days: 35 }, 342, 2_408],
  ])("%j", (held, nightly, sweep) => {
    const need = auditNeed(held);
    expect(need).toEqual({ nightly, sweep, perMonth: nightly * 31 + sweep });
  });

  test.each([
    ["fits", 10, { everyNights: 1, everyMonths: 1, wantsShare: null }],
    ["is done every other night", 2, { everyNights: 2, everyMonths: 1, wantsShare: null }],
    [
      "is done weekly, and all of it quarterly",
      0.55,
      { everyNights: 7, everyMonths: 3, wantsShare: null },
    ],
    [
      "does not fit even then, and says what would",
      0.2,
      { everyNights: 7, everyMonths: 3, wantsShare: 1 },
    ],
  ])("of 2,000 documents a month it %s", (_, audit, expected) => {
    const held = { documentsPerMonth: 2_000, payments: 0, parties: 150, prices: 300, days: 35 };
    const pace = auditPace({ perMonth: 50_000, share: { audit } }, auditNeed(held));
    expect(pace).toMatchObject(expected);
    if (pace.wantsShare === null) expect(pace.perMonth).toBeLessThanOrEqual(500 * audit);
  });
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

test("a first reading of 20,000 documents in each of six feeds is not slowed", () => {
  const nowMs = Date.UTC(2026, 10, 23);
  const haste = { requests: (6 * 20_000) / 100, atMs: nowMs };
  expect(hasteAt({ budget: usualBudget, spent: {}, haste, share: 1 }, nowMs).waitMs).toBe(0);
});

test("a feed that asks without end and writes at all times never exceed the month, and no write waits", () => {
  const HOUR = 3_600_000;
  const spent: Record<string, number> = {};
  let haste = { requests: 0, atMs: 0 };
  const known = () => ({ budget: usualBudget, spent, haste, share: 1 });
  const month = {
    spent: () => spent,
    closedUntil: () => null,
    haste: (nowMs: number) => hasteAt(known(), nowMs),
  };
  const isAdmitted = (purpose: "poll" | "write", nowMs: number): boolean => {
    if (monthRefusal(usualBudget, month, purpose, nowMs) !== null) return false;
    spent[purpose] = (spent[purpose] ?? 0) + 1;
    if (purpose === "poll") haste = { requests: hasteAt(known(), nowMs).requests + 1, atMs: nowMs };
    return true;
  };
  const { startMs, endMs } = monthAt(Date.UTC(2026, 10, 1));
  let refusedWrites = 0;
  for (let nowMs = startMs; nowMs < endMs; nowMs += HOUR) {
    for (let at = 0; at < 600; at++) isAdmitted("poll", nowMs + at * 1_000);
    for (let at = 0; at < 13; at++) if (!isAdmitted("write", nowMs + HOUR / 2)) refusedWrites++;
  }
  expect(usedOf(spent)).toBeLessThanOrEqual(usualBudget.perMonth);
  expect(refusedWrites).toBe(0);
  // Ten minutes of each hour are asked in: what is not kept for others is used all the same.
  expect(spent["poll"]).toBeGreaterThan(34_000);
});
