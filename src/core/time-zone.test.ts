import { expect, test } from "vitest";
import { faultOfTimeZone } from "./time-zone.ts";

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
