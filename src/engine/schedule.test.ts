import * as fc from "fast-check";
import { createTask } from "node-cron";
import { describe, expect, test, vi } from "vitest";
import { numbers, runs as times } from "../../test/support/runs.ts";
import { jumpBetween, later, type Moment } from "../core/time.ts";
import { dueAfterJump, dueFrom, nextDue, nightsAfter, runsPerMonth, untilDue } from "./schedule.ts";

const looks = vi.hoisted(() => ({ count: 0 }));
vi.mock("node-cron", async (original) => {
  const cron = await original<{ createTask: typeof createTask }>();
  const counting: typeof createTask = (...given) => {
    const task = cron.createTask(...given);
    const match = task.match.bind(task);
    task.match = (date) => {
      looks.count++;
      return match(date);
    };
    return task;
  };
  return { ...cron, createTask: counting };
});

const at = (iso: string): number => Date.parse(iso);
const next = (cron: string, after: string): string =>
  new Date(nextDue({ cron, timeZone: "America/Chicago" }, at(after))).toISOString();

test("an interval counts from the end of the last run", () => {
  expect(nextDue({ everyMs: 600_000 }, at("2026-11-21T12:00:00Z"))).toBe(
    at("2026-11-21T12:10:00Z"),
  );
});

test("a calendar schedule is read in the site's time zone, by the clock it is given", () => {
  expect(next("0 6 * * *", "2026-11-21T12:00:00Z")).toBe("2026-11-22T12:00:00.000Z");
  expect(next("0 6 * * *", "2026-07-21T10:59:59Z")).toBe("2026-07-21T11:00:00.000Z");
  expect(next("0 6 * * *", "2026-11-21T11:59:59Z")).toBe("2026-11-21T12:00:00.000Z");
});

test.each([
  ["2026-10-31T07:20:00Z", 2, "2026-11-02T08:20:00Z"],
  ["2026-10-31T09:50:00Z", 2, "2026-11-02T08:20:00Z"],
  ["2027-03-13T08:20:00Z", 2, "2027-03-15T07:20:00Z"],
  ["2026-10-31T07:20:00Z", 1, "2026-11-01T08:20:00Z"],
])(
  "each second night is that also where the clocks are set between: after %s, %i",
  (last, nights, due) => {
    const schedule = { cron: "20 2 * * *", timeZone: "America/Chicago" };
    expect(nightsAfter(schedule, at(last), nights)).toBe(at(due));
  },
);

test("an hourly job misses no hour when the clocks go back, and none when they go forward", () => {
  expect(next("0 * * * *", "2027-11-07T06:00:00Z")).toBe("2027-11-07T07:00:00.000Z");
  expect(next("0 * * * *", "2027-11-07T07:00:00Z")).toBe("2027-11-07T08:00:00.000Z");
  expect(next("0 * * * *", "2027-03-14T07:00:00Z")).toBe("2027-03-14T08:00:00.000Z");
});

describe("a time of the calendar beside a change of clocks", () => {
  const nextIn = (timeZone: string, cron: string, after: string): string =>
    new Date(nextDue({ cron, timeZone }, at(after))).toISOString();

  test("node-cron by itself never meets a minute that the change skips, and meets one that comes twice twice", () => {
    const task = createTask("20 2 * * *", () => {}, { timezone: "America/Chicago" });
    const met = (from: string): string[] =>
      Array.from({ length: 24 * 60 }, (_, minute) => at(from) + minute * 60_000)
        .filter((ms) => task.match(new Date(ms)))
        .map((ms) => new Date(ms).toISOString());
    expect(met("2027-03-14T06:00:00Z")).toEqual([]);
    const twice = createTask("20 1 * * *", () => {}, { timezone: "America/Chicago" });
    const fall = ["2027-11-07T06:20:00Z", "2027-11-07T07:20:00Z"].map((iso) => new Date(iso));
    expect(fall.map((one) => twice.match(one))).toEqual([true, true]);
  });

  test.each([
    ["America/Chicago", "20 2 * * *", "2027-03-14T06:00:00Z", "2027-03-14T08:00:00.000Z"],
    ["America/Chicago", "20 2 14 3 *", "2027-03-13T12:00:00Z", "2027-03-14T08:00:00.000Z"],
    ["America/Chicago", "20,40 2 * * 0", "2027-03-14T06:00:00Z", "2027-03-14T08:00:00.000Z"],
    ["America/Chicago", "20 2 * * *", "2027-03-14T08:00:00Z", "2027-03-15T07:20:00.000Z"],
    ["Europe/Berlin", "20 2 * * *", "2027-03-28T00:00:00Z", "2027-03-28T01:00:00.000Z"],
    ["Europe/London", "30 1 * * *", "2027-03-28T00:00:00Z", "2027-03-28T01:00:00.000Z"],
    ["Africa/Cairo", "20 0 * * *", "2027-04-29T20:00:00Z", "2027-04-29T22:00:00.000Z"],
    ["Australia/Lord_Howe", "10 2 * * *", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00.000Z"],
  ])("in %s, %s after %s is met at the next minute that exists: %s", (zone, cron, after, due) => {
    expect(nextIn(zone, cron, after)).toBe(due);
  });

  test.each([
    ["America/Chicago", "20 1 * * *", "2027-11-07T05:00:00Z", "2027-11-07T06:20:00.000Z"],
    ["America/Chicago", "20 1 * * *", "2027-11-07T06:20:00Z", "2027-11-08T07:20:00.000Z"],
    ["Europe/Berlin", "20 2 * * *", "2027-10-31T00:20:00Z", "2027-11-01T01:20:00.000Z"],
    ["Australia/Lord_Howe", "40 1 * * *", "2027-04-03T14:40:00Z", "2027-04-04T15:10:00.000Z"],
  ])("in %s, %s after %s comes twice and is met once: %s", (zone, cron, after, due) => {
    expect(nextIn(zone, cron, after)).toBe(due);
  });

  test("an expression that names every hour goes on through the hour that comes twice", () => {
    expect(next("*/30 * * * *", "2027-11-07T06:30:00Z")).toBe("2027-11-07T07:00:00.000Z");
    expect(next("*/30 * * * *", "2027-03-14T07:30:00Z")).toBe("2027-03-14T08:00:00.000Z");
  });
});

test.each([
  ["0 6 * * 1-5", "2026-11-20T12:00:00Z", "2026-11-23T12:00:00.000Z"],
  ["0 6 1 * *", "2026-11-21T12:00:00Z", "2026-12-01T12:00:00.000Z"],
  ["30 23 31 12 *", "2020-01-01T12:00:00Z", "2021-01-01T05:30:00.000Z"],
  ["0 0 29 2 *", "2097-01-01T00:00:00Z", "2104-02-29T06:00:00.000Z"],
])("%s after %s is %s, however far off it is and whatever the time is here", (cron, after, due) => {
  expect(next(cron, after)).toBe(due);
});

test("a day that is years off is found by some hundred looks, not one for each hour", () => {
  looks.count = 0;
  expect(next("30 4 29 2 *", "2096-03-01T00:00:00Z")).toBe("2104-02-29T10:30:00.000Z");
  expect(looks.count).toBeLessThan(2_000);
});

const HOUR = 3_600_000;

test("an interval is as long as it is told to be, and not longer than configured into the next month", () => {
  const hourly = { everyMs: 3_600_000 };
  const from = at("2026-11-21T12:00:00Z");
  expect(nextDue(hourly, from, 2.5 * HOUR)).toBe(at("2026-11-21T14:30:00Z"));
  expect(nextDue(hourly, from, HOUR / 10)).toBe(at("2026-11-21T12:06:00Z"));
  expect(nextDue(hourly, at("2026-11-30T22:00:00Z"), 8 * HOUR)).toBe(at("2026-12-01T00:00:00Z"));
  expect(nextDue(hourly, at("2026-11-30T23:30:00Z"), 8 * HOUR)).toBe(at("2026-12-01T00:30:00Z"));
});

test("a time of the calendar is not stretched", () => {
  const daily = { cron: "0 6 * * *", timeZone: "America/Chicago" };
  expect(nextDue(daily, at("2026-11-21T12:00:00Z"), 8)).toBe(at("2026-11-22T12:00:00Z"));
});

test.each([
  ["*/5 * * * *", 8_928],
  ["0 6,18 * * 1-5", 46],
  ["30 2 * * *", 31],
  ["0 6 1,15 * *", 2],
  ["0-10/5 8-17 * * 0", 120],
  ["0 6 * 7 *", 0],
])("%s comes round %i times in the 31 days of December", (cron, times) => {
  const schedule = { cron, timeZone: "America/Chicago" };
  expect(runsPerMonth(schedule, at("2026-12-13T12:00:00Z"))).toBe(times);
});

test("an interval comes round as often as it fits into 31 days", () => {
  expect(runsPerMonth({ everyMs: 600_000 }, at("2026-11-21T12:00:00Z"))).toBe(4_464);
});

describe("when the wall clock is set", () => {
  const hourly = { everyMs: 3_600_000 };
  const moment = (wall: string, monoMs = 0): Moment => ({ boot: "b", monoMs, wallMs: at(wall) });

  test("a stored time that lies further off than the schedule ever waits means now", () => {
    const now = moment("2026-11-21T12:00:00Z");
    expect(dueFrom(hourly, at("2026-11-21T12:40:00Z"), now)).toEqual(later(now, 2_400_000));
    expect(dueFrom(hourly, at("2026-11-22T14:00:00Z"), now)).toEqual(now);
    expect(dueFrom(hourly, at("2026-11-21T18:00:00Z"), now, 8 * HOUR)).toEqual(
      later(now, 6 * 3_600_000),
    );
    const daily = { cron: "0 6 * * *", timeZone: "America/Chicago" };
    expect(dueFrom(daily, at("2026-11-22T12:00:00Z"), now)).toEqual(later(now, 86_400_000));
    expect(dueFrom(daily, at("2026-11-23T12:00:00Z"), now)).toEqual(now);
  });

  test("an interval that is under way goes on by the monotonic clock", () => {
    const due = moment("2026-11-21T13:00:00Z", 3_600_000);
    const back = moment("2026-11-21T11:30:00Z", 1_800_000);
    expect(untilDue(hourly, due, back)).toBe(1_800_000);
    expect(dueAfterJump(hourly, due, back)).toEqual(later(back, 1_800_000));
    const ahead = moment("2026-11-22T14:00:00Z", 60_000);
    expect(dueAfterJump(hourly, due, ahead)).toEqual(ahead);
  });

  const MINUTE = 60_000;
  const DAY = 86_400_000;
  const everyMs = fc.integer({ min: 1, max: 36 * 60 }).map((minutes) => ({
    schedule: { everyMs: minutes * MINUTE },
    longestMs: minutes * MINUTE,
    shortestMs: minutes * MINUTE,
  }));
  const [HOUR, zones] = [3_600_000, ["America/Chicago", "Europe/Berlin", "Australia/Lord_Howe"]];
  // An hour that is skipped makes a day 25 hours long, an hour two, and a time within it comes a day later.
  const calendar = fc
    .record({
      times: fc.constantFrom(
        { cron: "0 * * * *", longestMs: 2 * HOUR },
        { cron: "0 6 * * *", longestMs: 25 * HOUR },
        { cron: "15 2 * * *", longestMs: 49 * HOUR },
      ),
      timeZone: fc.constantFrom(...zones),
    })
    .map(({ times: { cron, longestMs }, timeZone }) => ({
      schedule: { cron, timeZone },
      longestMs,
      shortestMs: MINUTE,
    }));
  const byMs = fc.oneof(
    fc.integer({ min: -10_000, max: 10_000 }),
    fc.integer({ min: -2 * 3_600_000, max: 2 * 3_600_000 }),
    fc.integer({ min: -40 * DAY, max: 40 * DAY }),
  );
  const events = fc.array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: DAY }),
      byMs,
      kind: fc.constantFrom("set" as const, "set" as const, "restart" as const),
    }),
    { maxLength: 6 },
  );
  /** Around both changes of the clock in each zone, a leap day, the ends of months and of a year. */
  const start = fc
    .constantFrom(
      "2026-11-01",
      "2027-03-14",
      "2027-03-28",
      "2026-10-25",
      "2028-02-29",
      "2026-12-31",
    )
    .chain((day) => fc.integer({ min: -DAY, max: DAY }).map((ms) => at(`${day}T06:00:00Z`) + ms));

  test(
    "no flow waits longer than its interval and a minute of real time, a time of the calendar than what the clock was set back besides; none runs in a tight loop",
    numbers,
    () => {
      const cases = fc.record({
        plan: fc.oneof(everyMs, calendar),
        stretch: fc.constantFrom(1, 1.5, 8),
        start,
        events,
      });
      fc.assert(
        fc.property(
          cases,
          ({ plan: { schedule, longestMs, shortestMs }, stretch, start, events }) => {
            const intervalMs = "cron" in schedule ? undefined : schedule.everyMs * stretch;
            const mostMs = longestMs * ("cron" in schedule ? 1 : stretch) + MINUTE;
            let now: Moment = { boot: "0", monoMs: 0, wallMs: start };
            let seen = now;
            let stored = 0;
            let due: Moment | null = null;
            let real = 0;
            let waitsSince = 0;
            // 06:00 is 06:00 by the wall clock: set back after it was met, the clock takes so much longer to the next.
            let setBackMs = 0;
            const expectNotLate = (): void => {
              const allowed = mostMs + ("cron" in schedule ? setBackMs : 0);
              expect(real - waitsSince).toBeLessThanOrEqual(allowed);
            };
            let runs = 0;
            let jumps = 0;
            let sets = 0;
            const happening = events.map((event, at) => ({
              ...event,
              atMs: events.slice(0, at + 1).reduce((sum, { afterMs }) => sum + afterMs, 0),
            }));
            const end = (happening.at(-1)?.atMs ?? 0) + 3 * DAY;
            while (real < end) {
              const event = happening[0];
              if (event !== undefined && real >= event.atMs) {
                happening.shift();
                sets++;
                now = { ...now, wallMs: now.wallMs + event.byMs };
                setBackMs += Math.min(Math.max(-event.byMs, 0), longestMs);
                if (event.kind === "restart") {
                  now = { ...now, boot: `${sets}`, monoMs: 10 };
                  seen = now;
                  due = null;
                  waitsSince = real;
                  setBackMs = 0;
                }
              }
              if (jumpBetween(seen, now) !== 0) {
                jumps++;
                due = dueAfterJump(
                  schedule,
                  due ?? dueFrom(schedule, stored, now, intervalMs),
                  now,
                );
                stored = due.wallMs;
              }
              seen = now;
              due ??= dueFrom(schedule, stored, now, intervalMs);
              const wait = untilDue(schedule, due, now);
              if (wait <= 0) {
                expectNotLate();
                waitsSince = real;
                setBackMs = 0;
                runs++;
                stored = nextDue(schedule, now.wallMs, intervalMs);
                due = later(now, stored - now.wallMs);
                continue;
              }
              const pause = Math.ceil(Math.min(wait, 30_000));
              real += pause;
              now = later(now, pause);
            }
            expectNotLate();
            expect(runs).toBeLessThanOrEqual(end / shortestMs + 2 * (jumps + sets) + 2);
          },
        ),
        { numRuns: times(10, 60) },
      );
    },
  );
});
