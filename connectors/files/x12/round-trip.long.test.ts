/**
 * @module-tag numbers
 */
import { test } from "vitest";
import { roundTrips } from "./round-trip.suite.ts";

test(
  "10,000 documents of each kind, written as X12, read back to the cent and the character",
  { timeout: 600_000 },
  () => {
    roundTrips(10_000);
  },
);
