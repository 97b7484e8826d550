/**
 * @module-tag numbers
 */
import { test } from "vitest";
import { roundTrips } from "../../../test/files/x12-round-trip.ts";

test(
  "10,000 documents of each kind, written as X12, read back to the cent and the character",
  { timeout: 600_000 },
  () => {
    roundTrips(10_000);
  },
);
