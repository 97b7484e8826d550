import { assert, constantFrom, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { calendarOf, faultOfTimeZone, namedDay, timeOfDay, workingDays } from "./time.ts";

const chicago = calendarOf("America/Chicago");

test.each([
  ["20:47 in Chicago is that day", "2026-11-22T02:47:00Z", "2026-11-21"],
  ["a month's last evening is the month's", "2026-12-01T02:47:00.123456Z", "2026-11-30"],
  ["a year's last second", "2027-01-01T05:59:59.999Z", "2026-12-31"],
  ["a year's first", "2027-01-01T06:00:00.001Z", "2027-01-01"],
  ["clocks go back: before midnight, in summer time", "2026-11-01T04:59:59Z", "2026-10-31"],
  ["clocks go back: midnight, in summer time", "2026-11-01T05:00:00Z", "2026-11-01"],
  ["clocks go back: the day has 25 hours", "2026-11-02T05:59:59Z", "2026-11-01"],
  ["clocks go forward: the day has 23 hours", "2026-03-09T04:59:59Z", "2026-03-08"],
  ["clocks go forward: the next", "2026-03-09T05:00:00Z", "2026-03-09"],
  ["a leap day's evening", "2028-03-01T05:59:00Z", "2028-02-29"],
  ["a date without a time stays what it says", "2026-11-30", "2026-11-30"],
  ["midnight in Greenwich is an instant", "2026-12-01T00:00:00.000Z", "2026-11-30"],
  ["so is midnight in Berlin", "2026-12-01T00:00:00+01:00", "2026-11-30"],
  ["midnight there begins the day", "2026-12-01T00:00:00-06:00", "2026-12-01"],
  ["an instant with an offset", "2026-11-30T20:47:00-06:00", "2026-11-30"],
])("%s: %s", (_, instant, day) => {
  expect(chicago(instant)).toBe(day);
});

test.each([
  ["2026-12-01T00:00:00Z", "2026-12-01"],
  ["2026-12-01T00:00:00.000000+01:00", "2026-12-01"],
  ["2026-11-30T18:00:00-06:00", "2026-12-01"],
  ["2026-12-01T05:30:00.000+05:30", "2026-12-01"],
  ["2026-11-30T18:00:01-06:00", "2026-11-30"],
  ["2026-11-30T18:15:00-06:00", "2026-11-30"],
  ["2026-12-01T00:00:01Z", "2026-11-30"],
  ["2026-12-01T12:00:00Z", "2026-12-01"],
])("a field that names a day takes a midnight for that day: %s is %s", (instant, day) => {
  expect(chicago(namedDay(instant))).toBe(day);
});

test("a text that is no instant is an error, not a day", () => {
  expect(() => chicago("soon")).toThrow(RangeError);
});

test("in any zone days follow each other, 23 to 25 hours each", () => {
  const zones = constantFrom("America/Chicago", "America/Phoenix", "Europe/Berlin", "UTC");
  const hours = integer({ min: 0, max: 24 * 1461 });
  assert(
    property(zones, hours, (zone, hour) => {
      const dayOf = calendarOf(zone);
      const at = (hours: number): string =>
        dayOf(new Date(Date.UTC(2025, 0, 1, hours, 30)).toISOString());
      expect(at(hour) <= at(hour + 1)).toBe(true);
      const next = new Date(`${at(hour)}T12:00:00Z`);
      next.setUTCDate(next.getUTCDate() + 1);
      expect([next.toISOString().slice(0, 10), at(hour)]).toContain(at(hour + 23));
    }),
  );
});

test.each([
  "America/Chicago",
  "america/denver",
  "America/Indiana/Indianapolis",
  "US/Central",
  "Europe/London",
  "UTC",
  "Etc/UTC",
])("%s is a time zone", (name) => {
  expect(faultOfTimeZone(name)).toBeNull();
});

test.each([
  ["CST", "America/Chicago"],
  ["CDT", "America/Chicago"],
  ["CT", "America/Chicago"],
  ["CST6CDT", "America/Chicago"],
  ["EST", "America/New_York"],
  ["EST5EDT", "America/New_York"],
  ["MST", "America/Denver"],
  ["PST8PDT", "America/Los_Angeles"],
  ["AKST", "America/Anchorage"],
  ["HST", "Pacific/Honolulu"],
  ["GMT", "Europe/London"],
  ["BST", "Europe/London"],
  ["CEST", "Europe/Berlin"],
])("the abbreviation %s, which has no rules for summer time, is refused with %s", (name, city) => {
  expect(faultOfTimeZone(name)).toContain(`is an abbreviation`);
  expect(faultOfTimeZone(name)).toContain(city);
});

test.each(["GMT+6", "Etc/GMT+6", "UTC-6", "UTC+06:00", "-06:00", "-0600"])(
  "%s, a difference from UTC, is refused with America/Chicago",
  (name) => {
    expect(faultOfTimeZone(name)).toMatch(/without summer time: .*America\/Chicago/);
  },
);

test.each(["America/Texas", "Zulu", "Central", "", "CST/CDT"])("%j is not a time zone", (name) => {
  expect(faultOfTimeZone(name)).not.toBeNull();
});

test("the time of a day is that of the calendar, and none on a day on which clocks are set", () => {
  const dayOf = calendarOf("America/Chicago");
  expect(timeOfDay("2026-08-14T15:02:11Z", dayOf)).toBe("1002");
  expect(timeOfDay("2026-08-14T05:00:00Z", dayOf)).toBe("0000");
  expect(timeOfDay("2026-08-15T04:59:59Z", dayOf)).toBe("2359");
  expect(timeOfDay("2026-03-08T18:00:00Z", dayOf)).toBeNull();
  expect(timeOfDay("2026-11-01T18:00:00Z", dayOf)).toBeNull();
});

test("working days are Monday to Friday", () => {
  expect(workingDays("2026-11-20", "2026-11-23")).toBe(1);
  expect(workingDays("2026-11-20", "2026-11-27")).toBe(5);
});
