import { expect, test } from "vitest";
import { nextDue } from "./schedule.ts";

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
