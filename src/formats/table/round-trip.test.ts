import { expect, test } from "vitest";
import { openProfile } from "./profile.ts";
import {
  bothWays,
  type Carrier,
  carriers,
  expectRoundTrip,
} from "../../../test/files/table-round-trip.ts";
import { isLongRun, numbers } from "../../../test/support/runs.ts";

test("profiles with one place for each field go both ways", () => {
  expect(bothWays.length).toBeGreaterThan(20);
  expect(bothWays).toContain(openProfile("tryton-export/customer-invoices", ""));
  expect(bothWays).toContain(openProfile("apprise/ar-invoices", ""));
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
