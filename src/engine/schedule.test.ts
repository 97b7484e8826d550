import { expect, test } from "vitest";
import { nextDue, runsPerMonth } from "./schedule.ts";

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

test("an hourly job misses no hour when the clocks go back, and none when they go forward", () => {
  expect(next("0 * * * *", "2027-11-07T06:00:00Z")).toBe("2027-11-07T07:00:00.000Z");
  expect(next("0 * * * *", "2027-11-07T07:00:00Z")).toBe("2027-11-07T08:00:00.000Z");
  expect(next("0 * * * *", "2027-03-14T07:00:00Z")).toBe("2027-03-14T08:00:00.000Z");
});

test("a local time that does not exist on the day of the change is not met on that day", () => {
  expect(next("30 2 * * *", "2027-03-14T06:00:00Z")).toBe("2027-03-15T07:30:00.000Z");
});

test.each([
  ["0 6 * * 1-5", "2026-11-20T12:00:00Z", "2026-11-23T12:00:00.000Z"],
  ["0 6 1 * *", "2026-11-21T12:00:00Z", "2026-12-01T12:00:00.000Z"],
  ["30 23 31 12 *", "2020-01-01T12:00:00Z", "2021-01-01T05:30:00.000Z"],
  ["0 0 29 2 *", "2097-01-01T00:00:00Z", "2104-02-29T06:00:00.000Z"],
])("%s after %s is %s, however far off it is and whatever the time is here", (cron, after, due) => {
  expect(next(cron, after)).toBe(due);
});

test("an interval is stretched, never shortened, and not beyond the first of the next month", () => {
  const hourly = { everyMs: 3_600_000 };
  const from = at("2026-11-21T12:00:00Z");
  expect(nextDue(hourly, from, 2.5)).toBe(at("2026-11-21T14:30:00Z"));
  expect(nextDue(hourly, from, 0.1)).toBe(at("2026-11-21T13:00:00Z"));
  expect(nextDue(hourly, at("2026-11-30T22:00:00Z"), 8)).toBe(at("2026-12-01T00:00:00Z"));
  expect(nextDue(hourly, at("2026-11-30T23:30:00Z"), 8)).toBe(at("2026-12-01T00:30:00Z"));
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
