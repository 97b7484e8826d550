import { expect, test } from "vitest";
import { Decimal } from "../../core/decimal.ts";
import { openProfile } from "./profile.ts";
import {
  bothWays,
  type Carrier,
  carriers,
  expectRoundTrip,
  plain,
} from "../../../test/files/table-round-trip.ts";
import { isLongRun, numbers } from "../../../test/support/runs.ts";

test("profiles with one place for each field go both ways", () => {
  expect(bothWays.length).toBeGreaterThan(20);
  expect(bothWays).toContain(openProfile("tryton-export/customer-invoices", ""));
  expect(bothWays).toContain(openProfile("apprise/ar-invoices", ""));
});

test("what is compared has every digit, more than a double holds, and no zeros that say nothing", () => {
  const [one, same, other] = [
    "12345678901234567.890",
    "12345678901234567.89",
    "12345678901234567.88",
  ];
  const digits = [one, same, other].map((text) => plain({ lines: [{ total: Decimal.of(text) }] }));
  expect(digits[0]).toEqual(digits[1]);
  expect(digits[0]).not.toEqual(digits[2]);
});

/**
 * In the long run 10,000 records and more in each encoding, half of them with each decimal sign; else 15 of each profile
 * in one of them.
 */
const FILES = isLongRun ? 5 : 3;
const RECORDS = isLongRun ? Math.ceil(5_000 / (FILES * bothWays.length)) : 5;
const MOST_MS = 1_200_000;
const carriersOf = (at: number): readonly Carrier[] =>
  isLongRun ? carriers : carriers.slice(at % carriers.length).slice(0, 1);

test(
  "random records are read back as they were written, to the cent and the character, with every profile",
  { ...numbers, timeout: MOST_MS },
  async () => {
    for (const [at, profile] of bothWays.entries())
      for (const carrier of carriersOf(at)) await expectRoundTrip(profile, carrier, FILES, RECORDS);
  },
);
